"""Processes that a script starts: of several that run one function, the first is run here.

``torch.multiprocessing.spawn`` starts a process for each device; accelerate's ``notebook_launcher``
and Lightning's ``ddp_spawn`` go by it. The first of them is run in this process, as groups that it
opens have no peers anyhow. Any other process that runs the user's own function is a gap: the
emulated device is not there in it. Workers of a ``DataLoader`` and of pools run a library's.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing.process import BaseProcess
from typing import Any

import torch.multiprocessing

from opcheck.emulate.patches import set_until
from opcheck.emulate.record import Record
from opcheck.lang.sentence import Sentence
from opcheck.model.trace import Gap
from opcheck.source.user_code import is_users
from opcheck.trace.calls.call_site import from_stack

_SPAWN = "torch.multiprocessing.spawn"
"""A module, which a function of that name hides."""
_STARTS = ("spawn", "start_processes")
"""Two functions, of which the first takes a part of what the second does."""


class _Done:
    """What ``start_processes(join=False)`` gives: processes that have ended."""

    processes: tuple[BaseProcess, ...] = ()

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Whether all have ended: they have."""
        return True

    def pids(self) -> list[int]:
        """The numbers of processes: there are none."""
        return []


@contextmanager
def followed(record: Record) -> Iterator[None]:
    """Run the first of spawned processes here, and note every other one, inside the block."""

    def start_processes(
        fn: Callable[..., Any],
        args: tuple[Any, ...] = (),
        nprocs: int = 1,
        join: bool = True,
        daemon: bool = False,
        start_method: str = "spawn",
        numa_options: Any = None,
    ) -> _Done | None:
        __tracebackhide__ = True
        processes = "process" if nprocs == 1 else "processes"
        record.note(
            Sentence(
                f"starts {{count}} {processes}: run as number 0 of them, the others are not there",
                count=nprocs,
            )
        )
        fn(0, *args)
        return None if join else _Done()

    start = BaseProcess.start

    def start_noticed(process: BaseProcess) -> None:
        name = _own_function(process)
        if name:
            file, line = from_stack(1, None)
            reason = Sentence("starts a process that runs {name}, which is not followed", name=name)
            record.gap(Gap(f"{file}:{line}", reason))
        start(process)

    with ExitStack() as undo:
        for owner in (torch.multiprocessing, sys.modules[_SPAWN]):
            for name in _STARTS:
                set_until(undo, owner, name, start_processes)
        set_until(undo, BaseProcess, "start", start_noticed)
        yield


def _own_function(process: BaseProcess) -> str:
    """The name of the user's function that a process is to run; "" for a library's."""
    run = type(process).run
    function: Any = vars(process).get("_target") if run is BaseProcess.run else run
    while hasattr(function, "func"):  # a partial
        function = function.func
    code = getattr(function, "__code__", None)
    if code is None or not is_users(code.co_filename):
        return ""
    return str(function.__qualname__)
