"""A process that outlives the one that it watches, to end whatever that leaves behind.

``python -m opcheck.sandbox.reaper MODULE`` runs a module as ``python -m MODULE`` does, in a child.
It is the subreaper of all that comes from there (Linux): what changes its session, empties
its environment or outlives its parents is still a descendant, and is ended with the child, or when
the process that started it is ended itself.
"""

import contextlib
import os
import runpy
import select
import signal
import sys
import time
from collections.abc import Collection
from pathlib import Path
from typing import NoReturn

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_ROUND_SECONDS = 0.002
"""Between two looks at what is left."""


def main() -> None:
    """Run the module in a child."""
    module = sys.argv.pop(1)
    if sys.platform == "linux":
        status = keep()
        if status is not None:
            end_as(status)
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def keep(but: int | None = None) -> int | None:
    """Copy this process; None in the copy, and in the reaper how it ended, as ``os.wait`` gives it.

    By then nothing that the copy started is left. The copy has a session of its own; of the files
    that are open the reaper keeps only ``but``: the end of a pipe to write to, if any, whose reader
    the copy ends with.
    """
    end_with_parent(signal.SIGTERM)
    adopt_orphans()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    child = os.fork()
    if not child:
        os.setsid()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        return None

    def end(number: int, frame: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)

    signal.signal(signal.SIGTERM, end)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    close_files(but)
    if but is not None:
        _wait_for_either(child, but)
    return watch(child)


def watch(child: int) -> int:
    """Wait until a child has ended, then end all that it left; gives how it ended."""
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == child:
            _end_rest()
            return status


def _wait_for_either(child: int, pipe: int) -> None:
    """Wait until a child has ended; end it once nobody can read from the pipe any more."""
    try:
        ended = os.pidfd_open(child)
    except OSError:  # before Linux 5.3: then it ends with this process alone
        return
    waiting = select.poll()
    waiting.register(ended, select.POLLIN)
    waiting.register(pipe, 0)  # an error is told unasked
    for file, _ in waiting.poll():
        if file == pipe:
            signal.pidfd_send_signal(ended, signal.SIGKILL)
    os.close(ended)


def end_with_parent(number: int) -> None:
    """Get this signal when the process that started this one ends, where the system can."""
    if sys.platform == "linux":
        _prctl(_PR_SET_PDEATHSIG, number)


def adopt_orphans() -> None:
    """Be the parent of whatever its own parent leaves behind, among all that comes from here."""
    if sys.platform == "linux":
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def end_as(status: int) -> NoReturn:
    """End as another process did, so that it looks the same from outside."""
    import resource

    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with contextlib.suppress(OSError):  # SIGKILL has no handler
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


def descendants(pid: int, most: int = sys.maxsize) -> Collection[int]:
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


def _end_rest() -> None:
    """End every descendant, however often it copies itself meanwhile."""
    while True:
        for pid in descendants(os.getpid()):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                pass
        except ChildProcessError:  # none is left
            return
        time.sleep(_ROUND_SECONDS)


def close_files(but: int | None) -> None:
    """Hold no file but one: others wait for the end of the streams that a copy has as well."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2 and int(name) != but:
            with contextlib.suppress(OSError):  # of the listing itself
                os.close(int(name))


def _prctl(option: int, value: int) -> None:
    import ctypes

    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    main()
