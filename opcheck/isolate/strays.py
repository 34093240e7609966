"""What the user's code started beside the model's process, found so that nothing of it is left."""

import contextlib
import os
import signal
import sys
from collections.abc import Collection
from pathlib import Path

MARK = "OPCHECK_WORKER"
"""The environment variable that a model's process has, and hence whatever it starts."""
NO_MARK = "0" * 32
"""The mark of what no worker started, as long as any."""
_ROUNDS = 10
"""How often strays are looked for: one may start another while it is ended."""


def descendants(pid: int, most: int) -> Collection[int]:
    """The children of a process and theirs, until there are ``most``; none but on Linux."""
    found: set[int] = set()
    todo = [pid]
    while todo and len(found) < most:
        parent = todo.pop()
        with contextlib.suppress(OSError):  # it has just ended
            for task in os.listdir(f"/proc/{parent}/task"):
                children = Path(f"/proc/{parent}/task/{task}/children").read_bytes()
                todo += [child for child in map(int, children.split()) if child not in found]
        found.update(todo)
    return found


def end_marked(mark: str) -> None:
    """End every process of ours whose environment has the mark, also in sessions of their own.

    On Linux; elsewhere, and for one that emptied its environment, its process group has to do.
    """
    if sys.platform != "linux":
        return
    wanted = f"{MARK}={mark}".encode()
    for _ in range(_ROUNDS):
        strays = [pid for pid in _processes() if wanted in _environment(pid)]
        if not strays:
            return
        for pid in strays:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)


def _processes() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()]


def _environment(pid: int) -> bytes:
    """Empty for one that has ended, or is another user's."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/environ").read_bytes()
    return b""
