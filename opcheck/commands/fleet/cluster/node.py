"""What runs on the nodes: a worker that Ray keeps as an actor, so that torch is loaded once."""

import json
import os
import socket
import time
from typing import Any

from msgspec.structs import replace

from opcheck.commands.fleet.cluster.terms import Task, Terms, problem_here, problem_with
from opcheck.commands.fleet.values import Done
from opcheck.commands.fleet.worker import Worker
from opcheck.errors import UsageError
from opcheck.model.codec import from_json, to_json


class Node:
    """A worker on some node; models run in processes of their own, as they do without Ray."""

    def ready(self, terms: str, most: int, *, shipped: bool) -> tuple[str, tuple[str, ...]]:
        """Take on the terms of a run.

        Args:
            terms: JSON of the ``Terms``.
            most: how many workers the run may have.
            shipped: whether Ray has brought the run's working directory, and begun us there.

        Returns:
            The name of this worker, and the problem that it has: message and hint, or nothing.
        """
        self._name = f"{socket.gethostname()}/{os.getpid()}"
        wanted = from_json(Terms, json.loads(terms))
        if not shipped and (problem := _enter(wanted.folder, self._name)):
            return self._name, (problem.message, problem.hint)
        own = os.environ.get("PYTHONPATH", "")
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (wanted.python_path, own)))
        problem = problem_here(wanted, self._name)
        self._worker = Worker(replace(wanted.setup, workers=min(most, _processors())))
        return self._name, (problem.message, problem.hint) if problem else ()

    def done(self, task: str) -> str:
        """JSON of the ``Done`` of a ``Task``, or message and hint of the problem with it."""
        wanted = from_json(Task, json.loads(task))
        problem = problem_with(wanted, self._name)
        if problem:
            return _text((problem.message, problem.hint))
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
            f"node {name} has no folder {folder}: {error.strerror}",
            "start the run in a folder that every node has under the same path, or send it along "
            "with --ship",
        )
    return None


def _text(value: Any) -> str:
    return json.dumps(to_json(value), separators=(",", ":"))
