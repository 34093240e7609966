"""The process that is connected to a cluster, as the run sees it: fed with jobs, and heard."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from opcheck.errors import UsageError
from opcheck.model.codec import to_json

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
            f"the connection to the Ray cluster is gone{self._last_line()}",
            "see that its head is up, then run the same command again: it goes on where it was",
        )

    def _last_line(self) -> str:
        size = self._said.seek(0, os.SEEK_END)
        self._said.seek(max(0, size - _TAIL))
        lines = self._said.read().decode(errors="replace").strip().splitlines()
        return f": {lines[-1].strip()}" if lines else ""
