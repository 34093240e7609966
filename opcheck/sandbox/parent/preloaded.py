"""A process that has loaded PyTorch, of which workers are copies instead of loading it anew.

A worker that is a copy is like any other to those who look: of a session and an environment of its
own, and ended with the process that asked for it.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import IO

_COMMAND = (sys.executable, "-P", "-m", "opcheck.sandbox.child.preloaded")
_HEAD = 16
"""Bytes of what it says once it is ready."""
_LATER = (
    "OMP_NUM_THREADS", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "PYTEST_CURRENT_TEST",
    "PWD", "OLDPWD", "SHLVL", "_",  # a shell's own
    "TMPDIR",  # a command that has confined itself has a folder of its own
)  # fmt: skip
"""Variables that a copy can still be given, or that nothing reads while it loads."""
_MOST = 2
"""Environments to have a process for: that of the user's code, and that of files."""
_Environment = tuple[tuple[str, str], ...]
_Running = tuple[subprocess.Popen[bytes], socket.socket]


class Copy:
    """A worker that is a copy, as ``Popen`` shows one that was started."""

    def __init__(
        self, pid: int, status: IO[str], streams: Sequence[IO[str]], requests: socket.socket
    ) -> None:
        self.pid = pid
        self._requests = requests
        self.stdin, self.stdout, self.stderr = streams
        self._status = status
        self._code: int | None = None
        self._waiting = threading.Lock()

    def wait(self) -> int:
        """Its exit code, negative where a signal ended it."""
        with self._waiting:
            if self._code is None:
                with self._status:
                    # nothing is told where what waits for it was killed, and it with that
                    self._code = int(self._status.readline() or -signal.SIGKILL)
            return self._code

    def end(self) -> None:
        """End it with all that it started, which its reaper does."""
        if self._code is None:
            try:
                os.kill(self.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            except PermissionError:  # this process is confined, what is copied is not
                with contextlib.suppress(OSError):  # it has ended, and its copies with it
                    self._requests.send(f"end {self.pid}".encode())
        self.wait()


class Template:
    """Processes to copy, one for each environment: started when they are needed."""

    def __init__(self, libraries: Sequence[str] = ()) -> None:
        """``libraries``: modules that most of what is copied comes to import."""
        self.libraries = libraries
        self._lock = threading.Lock()
        self._running: dict[_Environment, _Running] = {}
        """The one that was used last is the last."""
        self._asked: _Environment | None = None

    def copy(self, environment: Mapping[str, str], files: Collection[int]) -> Copy | None:
        """A worker that has these files open beside its streams; None where there can be none."""
        with self._lock:
            last, self._asked = self._asked, _alike(environment)
            if self._asked not in self._running and self._running and self._asked != last:
                return None  # it may be wanted once only
            _, requests = self._started(self._asked, environment)
            with contextlib.suppress(OSError):
                found = _copied(requests, environment, files)
                if found is not None:
                    return found
            self._close(self._asked)  # it has ended
            return None

    def load(self, environment: Mapping[str, str]) -> None:
        """Start a process where there is none, and return once it has loaded everything."""
        with self._lock:
            self._asked = _alike(environment)
            if self._asked not in self._running:
                _, requests = self._started(self._asked, environment)
                with contextlib.suppress(OSError):  # where it has ended, what asks next finds out
                    requests.recv(_HEAD)

    def close(self) -> None:
        """End the processes, once their copies have ended."""
        for one in [*self._running]:
            self._close(one)

    def _started(self, wanted: _Environment, environment: Mapping[str, str]) -> _Running:
        running = self._running.pop(wanted, None)
        if running is None:
            if len(self._running) == _MOST:
                self._close(next(iter(self._running)))
            running = _started(environment, self.libraries)
        self._running[wanted] = running
        return running

    def _close(self, one: _Environment) -> None:
        process, requests = self._running.pop(one)
        with contextlib.suppress(OSError), requests:
            requests.send(b"close")
        process.wait()


_CURRENT: ContextVar[Template | None] = ContextVar("template", default=None)


def current() -> Template | None:
    """What workers are to be copied from; None: each is to load PyTorch itself."""
    return _CURRENT.get()


@contextlib.contextmanager
def loaded_once() -> Iterator[None]:
    """Have PyTorch loaded once for all workers that are started inside, where that can be."""
    if current() is not None or sys.platform != "linux":
        yield
        return
    template = Template()
    try:
        with copied_from(template):
            yield
    finally:
        template.close()


@contextlib.contextmanager
def copied_from(template: Template) -> Iterator[None]:
    """Have workers that are started inside be copies of a process at hand, where that can be."""
    token = _CURRENT.set(template if sys.platform == "linux" else None)
    try:
        yield
    finally:
        _CURRENT.reset(token)


@contextlib.contextmanager
def loaded_anew() -> Iterator[None]:
    """Have each worker that is started inside load PyTorch itself."""
    token = _CURRENT.set(None)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def _alike(environment: Mapping[str, str]) -> _Environment:
    return tuple(sorted((name, text) for name, text in environment.items() if name not in _LATER))


def _started(environment: Mapping[str, str], libraries: Sequence[str]) -> _Running:
    requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(
            [*_COMMAND, str(theirs.fileno()), *libraries],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # threads would be missing in a copy
            env={**environment, "OMP_NUM_THREADS": "1"},
            cwd="/",
            start_new_session=True,
            pass_fds=[theirs.fileno()],
        )
    return process, requests


def _copied(
    requests: socket.socket, environment: Mapping[str, str], files: Collection[int]
) -> Copy | None:
    """Ask for a copy, and wait until it is there."""
    asked = {
        "environment": dict(environment),
        "folder": str(Path.cwd()),
        "files": [0, 1, 2, *files],
    }
    with contextlib.ExitStack() as opened:
        (stdin, feed), (out, stdout), (err, stderr), (told, tell) = (os.pipe() for _ in range(4))
        ours = [
            opened.enter_context(os.fdopen(file, mode, encoding="utf-8", errors="replace"))
            for file, mode in ((told, "r"), (feed, "w"), (out, "r"), (err, "r"))
        ]
        theirs = [tell, stdin, stdout, stderr]
        try:
            with os.fdopen(os.memfd_create("opcheck"), "w", encoding="utf-8") as request:
                json.dump(asked, request)
                request.flush()
                socket.send_fds(requests, [b"copy"], [request.fileno(), *theirs, *files])
        finally:
            for file in theirs:
                os.close(file)
        status, *streams = ours
        pid = status.readline()
        if not pid:
            return None
        opened.pop_all()
        return Copy(int(pid), status, streams, requests)
