"""What is seen of a process from outside: files that it opens, sockets, processes it leaves."""

import contextlib
import ctypes
import os
import signal
import socket
import struct
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self

_IN_OPEN, _IN_NONBLOCK = 0x20, 0o4000
_PR_SET_CHILD_SUBREAPER = 36
GRACE_SECONDS = 5.0
"""How long processes may take to end once their command has."""
_LIBC = ctypes.CDLL(None, use_errno=True)


class Opened:
    """Which of some files are opened, by whomever (inotify): also where nothing can be written."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._file = _LIBC.inotify_init1(_IN_NONBLOCK)
        if self._file < 0:
            raise OSError(ctypes.get_errno(), "inotify_init1")
        self._names: dict[int, Path] = {}
        for path in paths:
            watch = _LIBC.inotify_add_watch(self._file, os.fsencode(path), _IN_OPEN)
            if watch < 0:
                raise OSError(ctypes.get_errno(), "inotify_add_watch", str(path))
            self._names[watch] = path

    def seen(self, *, end: bool = True) -> set[Path]:
        """The files that were opened since the last time; the watch ends with the last one."""
        found: set[Path] = set()
        with contextlib.suppress(BlockingIOError):
            while events := os.read(self._file, 2**16):
                while events:
                    watch, mask, _, size = struct.unpack_from("iIII", events)
                    events = events[16 + size :]
                    if mask & _IN_OPEN:
                        found.add(self._names[watch])
        if end:
            os.close(self._file)
        return found


class Listeners:
    """Sockets of four kinds that nobody has a reason to speak to."""

    def __init__(self) -> None:
        self._tcp = socket.create_server(("127.0.0.1", 0))
        self.number: int = self._tcp.getsockname()[1]
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(("127.0.0.1", self.number))
        self._unix: dict[str, socket.socket] = {}

    def listen(self, path: Path, abstract: str) -> None:
        """Have unix sockets too, one with a path and one without."""
        for name, address in (("unix", str(path)), ("abstract unix", f"\0{abstract}")):
            self._unix[name] = socket.socket(socket.AF_UNIX)
            self._unix[name].bind(address)
            self._unix[name].listen(8)

    def heard(self) -> dict[str, bytes]:
        """What was said at each since the last time; those of unix are closed."""
        said: dict[str, bytes] = {}
        for name, listening in {"tcp": self._tcp, **self._unix}.items():
            listening.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                while True:
                    connection, _ = listening.accept()
                    with connection, contextlib.suppress(OSError):
                        connection.settimeout(0.2)
                        said[name] = said.get(name, b"") + connection.recv(2**16)
        self._udp.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                said["udp"] = said.get("udp", b"") + self._udp.recv(2**16)
        for listening in self._unix.values():
            listening.close()
        self._unix.clear()
        return said

    def close(self) -> None:
        """Stop listening."""
        self._tcp.close()
        self._udp.close()


class Processes:
    """Which processes a command leaves behind: by descent, and by a word on their command lines."""

    def __enter__(self) -> Self:
        _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # orphans become children of this process
        self._before = frozenset(_descendants())
        return self

    def __exit__(self, *_: object) -> None:
        _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)

    def left(self, word: str, grace: float) -> tuple[str, ...]:
        """The command lines of what is still there after some seconds; they are ended."""
        until = time.monotonic() + grace
        while (found := self._now(word)) and time.monotonic() < until:
            time.sleep(0.05)
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        _reap({pid for pid, _ in frozenset(_descendants()) - self._before})
        return tuple(sorted(found.values()))

    def _now(self, word: str) -> Mapping[int, str]:
        later = {pid for pid, _ in frozenset(_descendants()) - self._before}
        marked = {pid for pid in _all() if word in _command_line(pid)}
        return {pid: _command_line(pid) for pid in later | marked if not _ended(pid)}


def _reap(pids: set[int]) -> None:
    """Take leave of orphans that became children of this process, and have ended."""
    for pid in pids:
        if (fields := _status(pid)) and int(fields[1]) == os.getpid() and _ended(pid):
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)


def _all() -> Iterator[int]:
    return (int(name) for name in os.listdir("/proc") if name.isdigit())


def _descendants() -> Iterator[tuple[int, str]]:
    """Processes below this one, each with the time of its start: numbers are used again."""
    fields = {pid: _status(pid) for pid in _all()}
    below = {os.getpid()}
    while (
        more := {pid for pid, found in fields.items() if found and int(found[1]) in below} - below
    ):
        below |= more
    return ((pid, fields[pid][19]) for pid in below if pid != os.getpid())


def _status(pid: int) -> list[str]:
    """The fields of ``/proc/PID/stat`` after the name."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return []


def _ended(pid: int) -> bool:
    fields = _status(pid)
    return not fields or fields[0] in "ZX"


def _command_line(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").replace("\0", " ")
    return ""
