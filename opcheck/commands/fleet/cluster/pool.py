"""The workers that a run has on a cluster, and the jobs that they have: lost ones go to others."""

import json
from collections import Counter, deque
from collections.abc import Callable
from typing import Any

import ray
from msgspec import Struct
from ray.exceptions import RayError, RayTaskError

from opcheck.commands.fleet.cluster.node import Node
from opcheck.commands.fleet.cluster.terms import Task, Terms
from opcheck.commands.fleet.engine import ATTEMPTS, lost
from opcheck.commands.fleet.values import Began, Done
from opcheck.errors import UsageError
from opcheck.model.codec import from_json, to_json

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
                "the Ray cluster has had no node with a processor for ten minutes",
                "start nodes with ray start --address, then run the same command again",
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
                    f"no worker begins on the Ray cluster: {_last_line(error)}",
                    "every node needs opcheck as it is installed here",
                ) from error
            return
        self._failed = 0
        if problem:
            raise UsageError(*problem)
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
            raise UsageError(*answer)
        self._tell(from_json(Done, answer))


def _last_line(error: RayError) -> str:
    """What Ray says, of which the last line names the cause."""
    lines = str(error).strip().splitlines()
    return lines[-1].strip() if lines else type(error).__name__
