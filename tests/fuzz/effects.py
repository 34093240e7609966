"""What a reader does beside reading, seen in the process itself: cheap enough for every input.

Python's audit events show what code of Python does; what native code does shows at the canaries: a
folder whose files no reader has a reason to change, or to open. Names in hostile inputs begin with
``hostile``, so that what is imported or run by such a name was named by the input.
"""

import os
import sys
import tempfile
from collections.abc import Collection
from pathlib import Path
from types import CodeType
from typing import Any

from tests.hostile.watching import Opened

MARK = "hostile"
"""Every name that an input makes up has this in it."""
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_OF_TORCH = ("TORCHINDUCTOR_CACHE_DIR", "/torchinductor_")
"""What torch does by itself the first time that it looks at some graphs."""
_NEVER = frozenset((
    "os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.chmod", "os.chown", "os.link",
    "os.symlink", "os.truncate", "os.utime", "os.setxattr", "os.removexattr", "os.putenv",
    "os.unsetenv", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty", "os.kill",
    "os.killpg", "os.chroot", "os.startfile", "pty.spawn", "subprocess.Popen", "shutil.copyfile",
    "shutil.copymode", "shutil.copystat", "shutil.copytree", "shutil.make_archive", "shutil.move",
    "shutil.rmtree", "shutil.unpack_archive", "socket.__new__", "socket.bind", "socket.connect",
    "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "socket.sendmsg",
    "urllib.Request", "webbrowser.open", "sqlite3.load_extension", "sqlite3.enable_load_extension",
    "ctypes.dlopen", "signal.pthread_kill",
    "sys.settrace", "sys.setprofile", "sys._current_frames", "resource.setrlimit", "syslog.syslog",
))  # fmt: skip
"""Events that no reader has a reason for, but where it always does as much for valid files."""


class Canaries:
    """A folder whose files inputs name: ``checkpoint.pt``, ``payload.so``, a key and others."""

    names = ("checkpoint.pt", "payload.so", "payload.pt", "hostile_import.py", "id_rsa")

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        for name in self.names:
            (folder / name).write_bytes(b"raise SystemError('hostile')\n" * 4)
        self._opened = Opened([folder / name for name in self.names])
        self._before = self._state()

    def changed(self) -> list[str]:
        """What happened to them since the last time."""
        after = self._state()
        found = [f"{OPENED}{path.name}" for path in sorted(self._opened.seen(end=False))]
        if after != self._before:
            found += [f"changed {name}" for name, *_ in sorted(after ^ self._before)]
            self._before = after
        return found

    def _state(self) -> frozenset[tuple[str, int, int, int]]:
        with os.scandir(self.folder) as entries:
            states = [(entry.name, entry.stat(follow_symlinks=False)) for entry in entries]
        return frozenset((name, s.st_mode, s.st_size, s.st_mtime_ns) for name, s in states)


OPENED = "opened "
"""Before the name of a canary that somebody opened."""
READS = "to read "
"""Before the path of a file that is opened to be read."""


class Watch:
    """Records what a reader does that it has no reason to do; one for a process, for good.

    Once it has learned what valid files need, it refuses what would reach beyond the process.
    """

    def __init__(self, canaries: Canaries | None = None, own: Collection[Path] = ()) -> None:
        """``own``: folders that whoever gives the inputs writes to."""
        self.canaries = canaries
        self._own = tuple(map(str, own))
        self._allowed: set[tuple[str, str]] = set()
        self._seen: list[tuple[str, str]] = []
        self._at_work = self._learned = False
        sys.addaudithook(self._hear)

    def learn(self) -> None:
        """Have what was seen since ``begin`` be allowed from now on: valid files need it."""
        self._at_work = False
        self._learned = True
        self._allowed.update(self._seen)

    def begin(self) -> None:
        """Look from now on."""
        self._seen.clear()
        if self.canaries is not None:
            self.canaries.changed()
        self._at_work = True

    def end(self) -> list[str]:
        """Look no more; what was seen that is not allowed."""
        self._at_work = False
        found = [f"{event} {what}" for event, what in self._seen if not self._may(event, what)]
        return found + (self.canaries.changed() if self.canaries is not None else [])

    def _may(self, event: str, what: str) -> bool:
        return (event, what) in self._allowed or any(word in what for word in _OF_TORCH)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self._at_work:
            return
        what = _what(event, arguments)
        if what is None or (event == "open" and what.removeprefix(READS).startswith(self._own)):
            return
        self._seen.append((event, what))
        if self._learned and event in _NEVER and not self._may(event, what):
            raise PermissionError(f"{event} is refused to what is fuzzed")  # before it does harm


def _what(event: str, arguments: tuple[Any, ...]) -> str | None:
    """What an event is about, where it is one that should not be."""
    match event:
        case "open":
            path, mode, flags = arguments
            writes = flags & _WRITING if isinstance(flags, int) else set(mode or "") & set("wax+")
            if writes:
                return str(path)
            return f"{READS}{path}" if MARK in str(path) else None
        case "import" | "pickle.find_class":
            name = ".".join(map(str, arguments[: 1 + (event != "import")]))
            return name if MARK in name or event != "import" else None
        case "exec":
            return _named(arguments[0])
        case _ if event in _NEVER:
            return _short(arguments)
    return None


def _named(code: object, depth: int = 0) -> str | None:
    """What in code comes from an input."""
    if not isinstance(code, CodeType) or depth > 5:
        return None
    for value in (*code.co_names, *code.co_varnames, *code.co_consts):
        if isinstance(value, str) and MARK in value:
            return value[:80]
        if isinstance(value, CodeType) and (found := _named(value, depth + 1)):
            return found
    return None


def _short(arguments: tuple[Any, ...]) -> str:
    try:
        return repr(arguments[:1])[:120]
    except Exception:  # a repr of whatever the input made
        return "something"


def folder() -> Path:
    """Where canaries can be."""
    return Path(tempfile.mkdtemp(prefix=f"{MARK}-canary-"))
