"""Copies of the worker: the model is loaded once, and each copy runs it once.

What a model keeps from one run to the next, as in a table of its module, no other run finds.

A copy goes on as a process of its own that has the model, and PyTorch's PrivateUse1 device still
without a name there. It answers as a worker does. The one that it was copied from passes its
answers on, and ends as a copy ended that could give none.
"""

import os
import pickle
import random
import signal
import sys
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn, TypeVar

from opcheck.python_state import freeze
from opcheck.sandbox.child import streams
from opcheck.sandbox.child.alike import Alike, One
from opcheck.sandbox.child.process import Process
from opcheck.sandbox.reaper import end_as

T = TypeVar("T")


class CopyEndedError(Exception):
    """A copy ended before it was done, with this status as ``os.wait`` gives it."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


@dataclass(slots=True)
class _Copy:
    """One copy, as it is seen from the process that was copied."""

    pid: int
    answers: int
    """The file in memory that it writes to."""
    place: int
    """A number that no other copy has while it works."""
    status: int | None = None
    """As ``os.wait`` gives it; None while it works."""


def can_copy(process: Process) -> bool:
    """Whether the process may be copied: a thread of the user's would be missing in a copy."""
    return sys.platform == "linux" and process.is_alone()


def spread(alike: Alike, process: Process) -> Sequence[One]:
    """Have a copy of this process do each work, some copies at a time.

    Gives each copy the work that is its own, and the process itself none: by then the answers of
    all copies have been passed on, in the order in which they were begun. Nothing is begun that
    one of the first may have done for it, before these have ended.

    Raises:
        CopyEndedError: a copy ended before it had answered.
    """
    copies = _Copies(process)
    for number, one in enumerate(alike.works):
        copies.wait(process.at_once - 1)
        if number >= process.at_once:
            copies.wait_for_first(alike.leaders)
        if alike.is_done(one):
            continue
        if copies.start(heard=not number):
            return [one]
    copies.wait(0)
    return ()


def aside(process: Process, works: Sequence[Callable[[], T]]) -> Sequence[Callable[[], T]]:
    """Begin works in copies of this process, one after the other; gives what waits for each.

    Each finds everything as it is now, whatever this process or another work comes to leave in
    caches. There are no more copies of the process afterwards.
    """
    streams.hold()
    results = [os.memfd_create("opcheck") for _ in works]
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    freeze()  # the collector would write to what both share
    pid = _forked()
    if not pid:
        process.go_on_aside()
        _do_each(process, works, results)
    process.watch_time()
    process.end_copying()
    ended: list[int] = []

    def wait(result: int) -> T:
        if not ended:
            ended.append(os.waitpid(pid, 0)[1])
        found: T = _read(result, ended[0])
        return found

    return [partial(wait, result) for result in results]


def _do_each(process: Process, works: Sequence[Callable[[], Any]], results: Sequence[int]) -> None:
    """Do works, each in a copy that has done no other; the last one here."""
    for work, result in zip(works[:-1], results[:-1], strict=True):
        pid = _forked()
        if not pid:
            process.go_on_aside()
            _do(process, work, result)
        status = os.waitpid(pid, 0)[1]
        if status:
            end_as(status)
    _do(process, works[-1], results[-1])


def _do(process: Process, work: Callable[[], Any], result: int) -> NoReturn:
    process.end_copying()
    told: tuple[bool, Any]
    try:
        told = True, work()
    except BaseException as error:  # raised again where it is waited for
        told = False, error
    try:
        text = pickle.dumps(told)
        pickle.loads(text)
    except Exception:  # some exceptions cannot be sent
        text = pickle.dumps((False, RuntimeError(repr(told[1]))))
    with open(result, "wb") as file:
        file.write(text)
    streams.flush()
    end_as(0)


def _read(result: int, status: int) -> Any:
    with open(result, "rb") as file:
        file.seek(0)
        text = file.read()
    if not text:
        raise CopyEndedError(status)
    done, value = pickle.loads(text)
    if not done:
        raise value
    return value


def _forked() -> int:
    """A copy of this process, in which this is 0; it draws the same numbers."""
    streams.flush()  # or a copy would say it again
    numbers = random.getstate()  # Python seeds a copy anew
    pid = os.fork()
    if not pid:
        random.setstate(numbers)
    return pid


class _Copies:
    """The copies of this process that are at work, or whose answers are not passed on yet."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._working: dict[int, _Copy] = {}
        self._untold: deque[_Copy] = deque()
        self._made: list[_Copy] = []
        """All that were made, in that order."""
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # ignored, it would take their status away

    def start(self, *, heard: bool) -> bool:
        """Copy the process; whether this is the copy."""
        taken = {copy.place for copy in self._working.values()}
        place = next(place for place in range(self._process.at_once) if place not in taken)
        streams.hold()
        answers = os.memfd_create("opcheck")
        pid = _forked()
        if pid:
            copy = self._working[pid] = _Copy(pid, answers, place)
            self._untold.append(copy)
            self._made.append(copy)
            return False
        self._process.go_on_as_copy(answers, place, heard=heard)
        return True

    def wait(self, most: int) -> None:
        """Wait until at most so many are at work."""
        while len(self._working) > most:
            pid, status = os.wait()
            if pid in self._working:  # not a process that the user's code started
                self._working.pop(pid).status = status
                self._tell()

    def wait_for_first(self, count: int) -> None:
        """Wait until the first copies that were made, so many, have ended."""
        while any(copy in self._made[:count] for copy in self._working.values()):
            self.wait(len(self._working) - 1)

    def _tell(self) -> None:
        """Pass on what is there to tell, in the order of the copies."""
        while self._untold and self._untold[0].status is not None:
            copy = self._untold.popleft()
            if not self._process.pass_on(copy.answers):
                self._end()
                raise CopyEndedError(copy.status or 0)

    def _end(self) -> None:
        for pid in self._working:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
