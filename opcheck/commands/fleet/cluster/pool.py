"""The workers that a run has on a cluster: actors of Ray on its nodes, and their jobs."""

import json
import os
import socket
import time
from collections import Counter, deque
from collections.abc import Callable
from typing import Any

import ray
from msgspec import Struct
from msgspec.structs import replace
from ray.exceptions import RayError, RayTaskError

from opcheck.commands.fleet.cluster.terms import Task, Terms, problem_here, problem_with
from opcheck.commands.fleet.engine import ATTEMPTS, lost
from opcheck.commands.fleet.values import Began, Done
from opcheck.commands.fleet.worker import Worker
from opcheck.errors import OpcheckError, UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.codec import from_json, sentence_from_json, to_json


class Node:
    """A worker on some node; models run in processes of their own, as they do without Ray."""

    def ready(self, terms: str, most: int, *, shipped: bool) -> tuple[str, Any]:
        """Take on the terms of a run.

        Args:
            terms: JSON of the ``Terms``.
            most: how many workers the run may have.
            shipped: whether Ray has brought the run's working directory, and begun us there.

        Returns:
            The name of this worker, and the problem that it has: message and hint, each as JSON,
            or nothing.
        """
        self._name = f"{socket.gethostname()}/{os.getpid()}"
        wanted = from_json(Terms, json.loads(terms))
        if not shipped and (problem := _enter(wanted.folder, self._name)):
            return self._name, _problem_value(problem)
        own = os.environ.get("PYTHONPATH", "")
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (wanted.python_path, own)))
        problem = problem_here(wanted, self._name)
        self._worker = Worker(replace(wanted.setup, workers=min(most, _processors())))
        return self._name, _problem_value(problem) if problem else ()

    def done(self, task: str) -> str:
        """JSON of the ``Done`` of a ``Task``, or message and hint of the problem with it."""
        wanted = from_json(Task, json.loads(task))
        problem = problem_with(wanted, self._name)
        if problem:
            return json.dumps(_problem_value(problem))
        begun = time.monotonic()
        outcome = self._worker.outcome(wanted.job)
        seconds = time.monotonic() - begun
        return _text(Done(wanted.job.position, outcome, seconds, self._name))

    def end(self) -> None:
        """End what is kept between jobs."""
        self._worker.__exit__(None, None, None)


def _processors() -> int:
    """How many workers this node has room for: they share its memory."""
    import ray

    here = ray.get_runtime_context().get_node_id()
    nodes = (node for node in ray.nodes() if node["NodeID"] == here)
    return max(1, *(int(node["Resources"].get("CPU", 1)) for node in nodes), 1)


def _enter(folder: str, name: str) -> UsageError | None:
    try:
        os.chdir(folder)
    except OSError as error:
        return UsageError(
            Sentence(
                "node {name} has no folder {text}: {text_why}",
                name=name,
                text=folder,
                text_why=error.strerror,
            ),
            Sentence(
                "start the run in a folder that every node has under the same path, or "
                "send it along with --ship"
            ),
        )
    return None


def _text(value: Any) -> str:
    return json.dumps(to_json(value), separators=(",", ":"))


LOOK_SECONDS = 1.0
"""So often the cluster is looked at while nothing happens on it."""
NO_NODE_LOOKS = 600
"""After so many looks at a cluster without any processor a run gives up."""


class _Member(Struct, frozen=True):
    """A worker on the cluster."""

    actor: Any
    name: str = ""


class Pool:
    """Workers on the cluster that this process is connected to, begun as there are jobs."""

    def __init__(
        self,
        terms: Terms,
        take: Callable[[], Task | None],
        tell: Callable[[Began | Done], None],
        *,
        shipped: bool,
    ) -> None:
        """Begin none yet.

        Args:
            terms: what every worker is held to.
            take: gives the next job; None: there are no more.
            tell: hears of what begins and what is over.
            shipped: whether Ray brings the working directory.
        """
        self._terms, self._take, self._tell, self._shipped = terms, take, tell, shipped
        self._text = json.dumps(to_json(terms))
        self._node = ray.remote(num_cpus=1, max_restarts=0)(Node)
        self._starting: dict[Any, _Member] = {}
        self._idle: list[_Member] = []
        self._busy: dict[Any, tuple[_Member, Task]] = {}
        self._waiting: deque[Task] = deque()
        self._ended: Counter[int] = Counter()
        """How many workers were ended over a job."""
        self._failed = 0
        """How many workers in a row were ended before they were ready."""
        self._looks = 0

    def work(self) -> None:
        """Do every job there is.

        Raises:
            UsageError: the cluster cannot do them.
        """
        more = True
        while True:
            most = self._most()
            while more and len(self._waiting) + len(self._busy) < most:
                task = self._take()
                more = task is not None
                if task is not None:
                    self._waiting.append(task)
            if not (self._waiting or self._busy):
                return
            self._hand_out()
            self._start(most)
            refs = [*self._busy, *self._starting]
            for ref in ray.wait(refs, timeout=LOOK_SECONDS)[0]:
                self._heard(ref)

    def end(self) -> None:
        """End what workers keep between jobs; those that have a job are ended by Ray."""
        ray.wait([m.actor.end.remote() for m in self._idle] or [ray.put(0)], timeout=LOOK_SECONDS)

    def _most(self) -> int:
        """How many workers there may be."""
        processors = int(ray.cluster_resources().get("CPU", 0))
        self._looks = 0 if processors else self._looks + 1
        if self._looks > NO_NODE_LOOKS:
            raise UsageError(
                Sentence("the Ray cluster has had no node with a processor for ten minutes"),
                Sentence("start nodes with ray start --address, then run the same command again"),
            )
        return self._terms.setup.workers or max(1, processors)

    def _hand_out(self) -> None:
        while self._waiting and self._idle:
            member, task = self._idle.pop(), self._waiting.popleft()
            self._tell(Began(task.job.position, member.name))
            self._busy[member.actor.done.remote(json.dumps(to_json(task)))] = member, task

    def _start(self, most: int) -> None:
        """Begin workers for the jobs that wait, as many as there may be."""
        workers = len(self._idle) + len(self._busy) + len(self._starting)
        for _ in range(min(most - workers, len(self._waiting) - len(self._starting))):
            actor = self._node.remote()
            ref = actor.ready.remote(self._text, most, shipped=self._shipped)
            self._starting[ref] = _Member(actor)

    def _heard(self, ref: Any) -> None:
        if ref in self._starting:
            self._began(self._starting.pop(ref), ref)
        else:
            self._over(*self._busy.pop(ref), ref)

    def _began(self, member: _Member, ref: Any) -> None:
        try:
            name, problem = ray.get(ref)
        except RayTaskError:
            raise
        except RayError as error:
            self._failed += 1
            if self._failed >= ATTEMPTS:
                raise UsageError(
                    Sentence("no worker begins on the Ray cluster: {text}", text=_last_line(error)),
                    Sentence("every node needs opcheck as it is installed here"),
                ) from error
            return
        self._failed = 0
        if problem:
            raise UsageError(*map(sentence_from_json, problem))
        self._idle.append(_Member(member.actor, name))

    def _over(self, member: _Member, task: Task, ref: Any) -> None:
        try:
            text = ray.get(ref)
        except RayTaskError:
            raise
        except RayError:  # the worker, its node, or what it had answered on it
            ray.kill(member.actor)
            self._ended[task.job.position] += 1
            if self._ended[task.job.position] < ATTEMPTS:
                self._waiting.appendleft(task)
            else:
                self._tell(Done(task.job.position, lost(), 0.0, member.name))
            return
        self._idle.append(member)
        answer = json.loads(text)
        if isinstance(answer, list):
            raise UsageError(*map(sentence_from_json, answer))
        self._tell(from_json(Done, answer))


def _problem_value(problem: OpcheckError) -> Any:
    return to_json((problem.message, problem.hint))


def _last_line(error: RayError) -> str:
    """What Ray says, of which the last line names the cause."""
    lines = str(error).strip().splitlines()
    return lines[-1].strip() if lines else type(error).__name__
