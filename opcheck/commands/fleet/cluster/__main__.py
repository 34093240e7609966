"""What speaks to Ray, as a process of its own: ``python -m opcheck.commands.fleet.cluster``.

Ray prints on stdout what happens to its nodes, takes signals, and may end the process that it is
connected from. On stdin there are the terms, a job for each that was asked for, and null after the
last; on stdout a line a message. Where stdin ends, it ends, and Ray ends the workers.
"""

import contextlib
import json
import os
import queue
import sys
import threading
import traceback
from collections.abc import Iterator
from typing import Any

from opcheck.commands.fleet.cluster.terms import Task, Terms
from opcheck.commands.fleet.values import Began, Done
from opcheck.errors import OpcheckError, UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.codec import from_json, to_json

_CONNECT_SECONDS = 60.0
_HINT = Sentence(
    "the address is what ray start --head tells, without it the cluster "
    "that this machine is a node of; all nodes have the same Ray and Python"
)


class _Channel:
    """The run that this process works for."""

    def __init__(self) -> None:
        self._out = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()

    def read(self) -> Any:
        """The next message of the run."""
        return json.loads(self._lines.get())

    def send(self, message: object) -> None:
        """Tell the run something."""
        self._out.write(json.dumps(message, separators=(",", ":")) + "\n")
        self._out.flush()

    def take(self) -> Task | None:
        """The next job, None where there are no more."""
        self.send("more")
        found = self.read()
        return None if found is None else from_json(Task, found)

    def tell(self, event: Began | Done) -> None:
        """Pass on what happened to a job."""
        self.send(to_json(event))

    def _listen(self) -> None:
        for line in sys.stdin:
            self._lines.put(line)
        os._exit(0)  # Ray ends the workers of a driver that is gone


def main() -> None:
    """Work a run off."""
    channel = _Channel()
    terms = from_json(Terms, channel.read())
    try:
        _work(terms, channel)
    except OpcheckError as error:
        channel.send({"error": [to_json(error.message), to_json(error.hint)]})
    except Exception:
        channel.send({"crash": traceback.format_exc()})
    channel.send("over")


def _work(terms: Terms, channel: _Channel) -> None:
    import ray

    from opcheck.commands.fleet.cluster.pool import Pool

    with _in_time(terms, channel):
        shipped = _connect(terms)
    try:
        pool = Pool(terms, channel.take, channel.tell, shipped=shipped)
        pool.work()
        pool.end()
    finally:
        ray.shutdown()


def _connect(terms: Terms) -> bool:
    """Connect to the cluster; whether it brings the working directory to its nodes."""
    import ray

    try:
        ray.init(
            address=terms.setup.address,
            logging_level="error",
            log_to_driver=False,
            runtime_env=_environment(terms),
        )
    except (Exception, SystemExit) as error:  # whatever Ray makes of it
        raise UsageError(
            Sentence(
                "cannot use the Ray cluster at {text}: {text_why}",
                text=terms.setup.address,
                text_why=_first_line(error),
            ),
            _HINT,
        ) from error
    return "working_dir" in ray.get_runtime_context().runtime_env


@contextlib.contextmanager
def _in_time(terms: Terms, channel: _Channel) -> Iterator[None]:
    """Give up where nothing comes of what is done in the block: Ray tries for two minutes."""

    def give_up() -> None:
        what = Sentence("what answers at {text} is no Ray cluster", text=terms.setup.address)
        channel.send({"error": [to_json(what), to_json(_HINT)]})
        os._exit(0)

    timer = threading.Timer(_CONNECT_SECONDS, give_up)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _environment(terms: Terms) -> dict[str, Any]:
    if not terms.setup.ship:
        return {}
    return {"working_dir": terms.folder, "excludes": [".git", "__pycache__", "*.db", "*.db-*"]}


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


if __name__ == "__main__":
    main()
