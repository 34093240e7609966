"""Where a worker's messages go, what it may use, and when its time is over."""

import contextlib
import faulthandler
import json
import os
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

from msgspec.structs import replace

from opcheck.model.codec import to_json
from opcheck.model.jobs import JOURNAL, STACK_SECONDS, Job
from opcheck.sandbox.limits.confine import allow
from opcheck.sandbox.reaper import end_with_parent

_STAGE = '{"stage":'
"""How a message begins that tells what is being done."""
_NOWHERE = Path(os.devnull)
_END = "end\n"
"""What a copy writes when it is done, whatever came of it."""


class Process:
    """What a worker has to itself; a copy of it goes on with its own."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self.at_once = job.at_once
        """How many copies of it may work side by side."""
        self._messages = self._stages = private_channel()
        self._is_copy = self._alone = False
        self._early = STACK_SECONDS
        """How long before time runs out it writes where the code stands."""
        self._stack = open(job.stack, "w", encoding="utf-8")  # noqa: SIM115  # for its life
        faulthandler.enable(self._stack)
        end_with_parent(signal.SIGKILL)
        self.watch_time()
        _limit_memory(job.memory)
        _limit_files(job.memory)

    def send(self, message: Mapping[str, Any]) -> None:
        """Tell something; a stage by its key ``stage`` first of all."""
        text = json.dumps(message)
        self._write(self._stages if text.startswith(_STAGE) else self._messages, text + "\n")

    def begin(self, stage: str, doing: str, calls: int | None = None) -> None:
        """Tell what is being done from now on, and how many calls that has recorded."""
        counted = {} if calls is None else {"calls": calls}
        self.send({"stage": stage, "progress": to_json(doing), **counted})

    @property
    def heard(self) -> bool:
        """Whether what is told of stages is read at once, and not when all is done."""
        return not self._is_copy or self._stages is not self._messages

    def journal(self, number: int) -> Path:
        """The file for what is recorded towards the answer of this number."""
        return Path(self._job.journals, JOURNAL.format(number)) if self._job.journals else _NOWHERE

    def pass_on(self, answers: int) -> bool:
        """Tell what a copy wrote to the file ``answers``; whether it was done."""
        with open(answers, encoding="utf-8") as file:
            file.seek(0)
            text = file.read()
        self._write(self._messages, text.removesuffix(_END))
        return text.endswith(_END)

    def end(self) -> None:
        """Note that there is nothing more to tell."""
        if self._is_copy:
            self._write(self._messages, _END)

    def watch_time(self) -> None:
        """Have a thread write where the code stands shortly before time runs out."""
        if self._job.ends is not None:
            left = self._job.ends - time.time() - self._early
            faulthandler.dump_traceback_later(max(left, 0.01), file=self._stack)

    def is_alone(self) -> bool:
        """Whether no thread but this one is there, so that a copy lacks none; ends the watch."""
        faulthandler.cancel_dump_traceback_later()
        for _ in range(20):
            if len(os.listdir("/proc/self/task")) == 1:
                return True
            time.sleep(0.005)  # one that has just ended is seen for a moment
        self.watch_time()
        return False

    def go_on_as_copy(self, answers: int, place: int, *, heard: bool) -> None:
        """Be a copy, which answers to a file: ``place`` among those at work.

        Of one that is ``heard``, stages and what the model prints are heard at once.
        """
        self._is_copy = True
        end_with_parent(signal.SIGKILL)
        self._messages = open(answers, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        if not heard:
            self._stages = self._messages
            if self._job.aside is not None:
                os.dup2(self._job.aside, 1)
                os.dup2(self._job.aside, 2)
        # what two write to one file at a time could not be read
        self._early = STACK_SECONDS * (self.at_once - place) / self.at_once
        self.watch_time()
        if self._job.shared:
            taken = _data()
            _limit_memory(taken + (self._job.memory - taken) // self.at_once)

    def go_on_aside(self) -> None:
        """Be a copy that tells nothing of what it does; what has it copied waits for its result."""
        end_with_parent(signal.SIGKILL)
        self._is_copy = True
        self._messages = self._stages = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        if self._job.aside is not None:
            os.dup2(self._job.aside, 1)
            os.dup2(self._job.aside, 2)

    def end_copying(self) -> None:
        """Have no more copies of a process that reads a model file, whatever code gets to run."""
        if self._job.limits is not None and not self._job.code and not self._alone:
            self._alone = True
            allow(replace(self._job.limits.filter, processes=False))

    @staticmethod
    def _write(channel: TextIO, text: str) -> None:
        channel.write(text)
        channel.flush()


def private_channel() -> TextIO:
    """The stdout that we were given; from now on it is stderr for everyone else."""
    sys.stdout.flush()
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.stdin.close()
    sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115  # for the process's life
    return channel


def _limit_memory(limit: int) -> None:
    """Let allocations beyond ``limit`` bytes fail, where the platform can."""
    try:
        import resource
    except ImportError:  # Windows
        return
    # address space would count the libraries that torch maps; data counts what is allocated
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    with contextlib.suppress(ValueError):  # a copy of one that is at its limit keeps it
        resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))


def _limit_files(limit: int) -> None:
    """Let no file grow beyond ``limit`` bytes, and no process leave its memory in one."""
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(ValueError):  # the user's shell allows less
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))


def _data() -> int:
    """Bytes that count against the limit of memory by now, of Linux."""
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    return next(int(row.split()[1]) * 1024 for row in status.splitlines() if "VmData" in row)


EVERY = 0.2
"""Seconds that pass between two of them; so much is seen, and costs nothing."""


class Ticks:
    """The phase that a trace is in, and how many calls it has recorded."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._phase = ""
        self._told = time.monotonic()

    def begin(self, phase: str) -> None:
        """Tell that a phase began."""
        self._phase = phase
        self._process.begin("trace", phase)

    def calls(self, count: int) -> None:
        """Tell how many calls were recorded, unless that was told just now."""
        now = time.monotonic()
        if self._process.heard and now - self._told >= EVERY:
            self._told = now
            self._process.begin("trace", self._phase, count)
