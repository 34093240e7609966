"""``--engine ray``: the processors of a Ray cluster that is there already."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from msgspec.structs import replace

from opcheck.commands.fleet.cluster.terms import task, terms
from opcheck.commands.fleet.engine import Engine
from opcheck.commands.fleet.keys import unchanged
from opcheck.commands.fleet.values import Began, Done, Job
from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.codec import from_json, sentence_from_json, to_json

_END_SECONDS = 10.0
"""So long it has to leave the cluster, before it is ended."""
_TAIL = 2**12


class Driver:
    """The process; leaving the ``with`` block ends it, and with it all it has on the cluster."""

    def __init__(self) -> None:
        package = str(Path(__file__).resolve().parents[3])
        paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
        self._said = tempfile.TemporaryFile()  # noqa: SIM115  # for its life
        self._popen = subprocess.Popen(
            [sys.executable, "-P", "-m", "opcheck.commands.fleet.cluster"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            text=True,
            encoding="utf-8",
            env={**os.environ, "PYTHONPATH": os.pathsep.join([*paths, package])},
            start_new_session=True,  # Ctrl-C is for the run, which ends it
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._popen.stdin and self._popen.stdout  # asked for above
        with contextlib.suppress(BrokenPipeError):
            self._popen.stdin.close()
        try:
            self._popen.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            self._popen.wait()
        self._popen.stdout.close()
        self._said.close()

    def send(self, value: Any) -> None:
        """Tell it something; one that is gone is noticed later."""
        assert self._popen.stdin is not None  # asked for above
        text = json.dumps(None if value is None else to_json(value), separators=(",", ":"))
        with contextlib.suppress(BrokenPipeError):
            self._popen.stdin.write(f"{text}\n")
            self._popen.stdin.flush()

    def messages(self) -> Iterator[Any]:
        """What it says, until it is done.

        Raises:
            UsageError: it ended before.
        """
        assert self._popen.stdout is not None  # asked for above
        for line in self._popen.stdout:
            with contextlib.suppress(ValueError):  # a line that was cut short
                message = json.loads(line)
                if message == "over":
                    return
                yield message
        raise UsageError(
            self._gone(),
            Sentence(
                "see that its head is up, then run the same command again: it goes on where it was"
            ),
        )

    def _gone(self) -> Sentence:
        size = self._said.seek(0, os.SEEK_END)
        self._said.seek(max(0, size - _TAIL))
        lines = self._said.read().decode(errors="replace").strip().splitlines()
        gone = Sentence("the connection to the Ray cluster is gone")
        return Sentence("{said}: {text}", said=gone, text=lines[-1].strip()) if lines else gone


_ADDRESS = "RAY_ADDRESS"
"""The environment variable that Ray's own tools read the address from."""
_CONNECT_SECONDS = 10.0


class RayCluster(Engine):
    """Has jobs done on the nodes of a Ray cluster."""

    name = "ray"

    def run(self, jobs: Iterable[Job], began: Callable[[Began], None]) -> Iterator[Done]:
        """Do every job and give each as soon as it is over.

        Raises:
            UsageError: Ray is not installed, the cluster cannot be reached, or a node has other
                versions, data or files than this machine.
        """
        if find_spec("ray") is None:
            raise UsageError(
                Sentence("--engine ray needs Ray"), Sentence("pip install 'opcheck[ray]'")
            )
        setup = replace(self.setup, address=_address(self.setup.address))
        more = iter(jobs)
        first = next(more, None)
        if first is None:
            return
        tasks = map(task, chain((first,), more))
        with Driver() as driver:
            driver.send(terms(setup, first.request))
            for message in driver.messages():
                match message:
                    case "more":
                        driver.send(next(tasks, None))
                    case {"Began": _}:
                        began(from_json(Began, message))
                    case {"Done": _}:
                        yield _checked(from_json(Done, message))
                    case {"error": [what, hint]}:
                        raise UsageError(sentence_from_json(what), sentence_from_json(hint))
                    case {"crash": text}:
                        raise RuntimeError(f"opcheck failed on the cluster:\n{text}")


def _address(given: str) -> str:
    """Where the cluster is; ``auto``: the one that this machine is a node of.

    Raises:
        UsageError: nothing answers there. Ray itself would try for two minutes.
    """
    address = given or os.environ.get(_ADDRESS, "") or "auto"
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not (colon and port.isdecimal()):
        return address
    try:
        socket.create_connection((host.strip("[]"), int(port)), _CONNECT_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise UsageError(
            Sentence(
                "nothing answers at {text}: {text_why}",
                text=address,
                text_why=getattr(error, "strerror", None) or error,
            ),
            Sentence(
                "--address is what ray start --head tells, HOST:PORT; without it, the "
                "cluster that this machine is a node of"
            ),
        ) from error
    return address


def _checked(done: Done) -> Done:
    """The same, where the node has read no file that is another one here."""
    for file, digest in done.outcome.files.items():
        if Path(file).is_file() and not unchanged({file: digest}):
            raise UsageError(
                Sentence(
                    "node {name} has another {text} than there is here", name=done.worker, text=file
                ),
                Sentence(
                    "have the models where every node sees the same files, or send the "
                    "working directory along with --ship"
                ),
            )
    return done
