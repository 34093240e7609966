"""What hostile code would try, each a function that raises where it is refused.

``python -m tests.sandbox.tries SCRATCH OUTSIDE PORT PARENT`` confines itself and prints, as JSON,
what came of each: ``done``, or the error.
"""

import contextlib
import ctypes
import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from opcheck.model.limits import Filter, Profile
from opcheck.sandbox.limits.confine import confine

SCRATCH, OUTSIDE = (Path(text) for text in sys.argv[1:3])
PORT, PARENT = (int(text) for text in sys.argv[3:5])
libc = ctypes.CDLL(None, use_errno=True)


def native(result: int) -> None:
    if result < 0:
        raise OSError(ctypes.get_errno(), "native")


def in_a_thread(function: Callable[[], object]) -> None:
    errors: list[BaseException] = []

    def run() -> None:
        try:
            function()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]


def connect(family: int, address: object, kind: int = socket.SOCK_STREAM) -> None:
    with socket.socket(family, kind) as made:
        made.connect(address)  # type: ignore[arg-type]  # by family


def link_and_read() -> None:
    link = SCRATCH / "link"
    link.symlink_to(OUTSIDE / "secret")
    link.read_text()


def fork() -> None:
    pid = os.fork()
    if not pid:
        os._exit(0)
    os.waitpid(pid, 0)


TRIES: dict[str, Callable[[], object]] = {
    "write scratch": lambda: (SCRATCH / "made").write_text("x"),
    "rename scratch": lambda: (SCRATCH / "made").rename(SCRATCH / "moved"),
    "remove scratch": lambda: (SCRATCH / "moved").unlink(),
    "write null": lambda: Path(os.devnull).write_text("x"),
    "write": lambda: (OUTSIDE / "kept").write_text("x"),
    "append": lambda: (OUTSIDE / "kept").open("a").close(),
    "create": lambda: (OUTSIDE / "new").open("x").close(),
    "truncate": lambda: os.truncate(OUTSIDE / "kept", 0),
    "remove": lambda: (OUTSIDE / "kept").unlink(),
    "rename": lambda: (OUTSIDE / "kept").rename(OUTSIDE / "other"),
    "move in": lambda: os.rename(OUTSIDE / "kept", SCRATCH / "taken"),
    "link in": lambda: os.link(OUTSIDE / "kept", SCRATCH / "hard"),
    "mkdir": lambda: (OUTSIDE / "folder").mkdir(),
    "sqlite": lambda: sqlite3.connect(OUTSIDE / "kept.db").execute("create table t (a)"),
    "native write": lambda: native(
        libc.open(os.fsencode(OUTSIDE / "native"), os.O_WRONLY | os.O_CREAT, 0o600)
    ),
    "write in a thread": lambda: in_a_thread(lambda: (OUTSIDE / "kept").write_text("x")),
    "chmod": lambda: (OUTSIDE / "kept").chmod(0o777),
    "chown": lambda: os.chown(OUTSIDE / "kept", 1, 1),
    "utime": lambda: os.utime(OUTSIDE, (0, 0)),
    "xattr": lambda: os.setxattr(OUTSIDE / "kept", "user.mark", b"1"),
    "read": lambda: (OUTSIDE / "secret").read_text(),
    "read by a link": link_and_read,
    "list": lambda: os.listdir(OUTSIDE),
    "read home": lambda: (Path(os.path.expanduser("~root")) / ".profile").read_text(),
    "environment of the parent": lambda: Path(f"/proc/{PARENT}/environ").read_bytes(),
    "tcp": lambda: connect(socket.AF_INET, ("127.0.0.1", PORT)),
    "tcp in a thread": lambda: in_a_thread(lambda: connect(socket.AF_INET, ("127.0.0.1", PORT))),
    "udp": lambda: connect(socket.AF_INET, ("127.0.0.1", 53), socket.SOCK_DGRAM),
    "unix": lambda: connect(socket.AF_UNIX, str(OUTSIDE / "socket")),
    "abstract unix": lambda: connect(socket.AF_UNIX, "\0opcheck-tries"),
    "netlink": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).close(),
    "names": lambda: socket.getaddrinfo("localhost.invalid", 80),
    "native socket": lambda: native(libc.socket(2, 1, 0)),
    "io_uring": lambda: native(libc.syscall(425, 1, ctypes.create_string_buffer(128))),
    "program": lambda: subprocess.run(["/bin/true"], check=True),
    "interpreter": lambda: subprocess.run([sys.executable, "-c", ""], check=True),
    "shell": lambda: native(-os.system("true")),
    "fork": fork,
    "thread": lambda: in_a_thread(lambda: None),
    "signal to the parent": lambda: os.kill(PARENT, signal.SIGCONT),
    "trace the parent": lambda: native(libc.ptrace(16, PARENT, 0, 0)),
    "limits of the parent": lambda: native(libc.prlimit(PARENT, 7, None, None)),
    "new namespace": lambda: native(libc.unshare(0x10000000)),
    "mount": lambda: native(libc.mount(b"none", b"/mnt", b"tmpfs", 0, None)),
}


PROFILES: dict[str, Profile] = {
    "file": Profile(str(SCRATCH), reads=(str(Path.cwd()),)),
    "alone": Profile(str(SCRATCH), reads=(), filter=Filter(processes=False)),
    "code": Profile(
        str(SCRATCH), filter=Filter(programs=True, local_sockets=True, modes=True),
        shared_memory=True,
    ),
    "trusted": Profile(str(SCRATCH), filter=Filter(programs=True, modes=True)),
    "command": Profile(
        str(SCRATCH), reads=(), filter=Filter(programs=True), interpreter=True
    ),
}  # fmt: skip


def main() -> None:
    profile = PROFILES[sys.argv[5]]
    confine(profile)
    if "twice" in sys.argv:  # as a worker is inside a command
        confine(replace(profile, reads=(*(profile.reads or ()), str(OUTSIDE))))
    found = {}
    for name, attempt in TRIES.items():
        with contextlib.ExitStack():
            try:
                attempt()
                found[name] = "done"
            except OSError as error:
                found[name] = type(error).__name__
            except subprocess.CalledProcessError:
                found[name] = "CalledProcessError"
            except sqlite3.Error:
                found[name] = "sqlite3.Error"
    print(json.dumps(found))
    shutil.rmtree(SCRATCH, ignore_errors=True)


if __name__ == "__main__":
    main()
