"""What an engine is: whatever has jobs done somewhere, and gives what came of each."""

import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import ClassVar

from msgspec import Struct

import opcheck.commands.fleet.engines
from opcheck.commands.fleet.values import Began, Done, Ending, Job, Outcome
from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence
from opcheck.registry import discover


def processors() -> int:
    """How many processors this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Setup(Struct, frozen=True):
    """What every worker of a run has in common; its JSON is :func:`opcheck.model.codec.to_json`."""

    workers: int | None = None
    """How many jobs are done at a time; None: as many as there are processors."""
    address: str = ""
    """Where a cluster is, for engines that have one."""
    databases: tuple[str, ...] = ()
    """Folders of overlays."""
    libraries: tuple[str, ...] = ()
    """Modules that the models of the run are made with: workers import them once, before."""
    ship: bool = False
    """Whether the working directory is sent to the nodes of a cluster, which do not see it."""
    targets: tuple[str, ...] = ()
    """``str(Target)`` of every target of the run."""


class Engine(ABC):
    """Does jobs; a new one is a subclass in a file of ``opcheck.commands.fleet.engines``.

    Whatever it is, the outcomes are those of :class:`opcheck.commands.fleet.worker.Worker`, and the
    same bytes. A worker that is ended from outside costs an engine no job: it has another do it,
    and after :data:`ATTEMPTS` gives ``Ending.LOST``.
    """

    name: ClassVar[str]
    """The value of ``--engine``."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup

    @abstractmethod
    def run(self, jobs: Iterable[Job], began: Callable[[Began], None]) -> Iterator[Done]:
        """Do every job and give each as soon as it is over, in whatever order that is.

        Jobs are taken from the iterable as there is room for them. ``began`` hears of each that is
        begun. Closing the iterator ends what is still at work.

        Raises:
            UsageError: the engine cannot work here.
        """


ATTEMPTS = 3
"""How many workers may be ended over one job."""


def lost() -> Outcome:
    """What came of a job over which so many workers were ended."""
    reason = Sentence("the worker that did it was ended {count} times", count=ATTEMPTS)
    return Outcome(Ending.LOST, reason, Sentence("run the same command again"))


def engines() -> tuple[type[Engine], ...]:
    """Every engine, by name."""
    return discover(opcheck.commands.fleet.engines, Engine)  # type: ignore[type-abstract]  # mypy #4717


def engine_named(name: str) -> type[Engine]:
    """The engine called ``name``.

    Raises:
        UsageError: there is none.
    """
    known = {engine.name: engine for engine in engines()}
    if name not in known:
        raise UsageError(
            Sentence("unknown engine: {text}", text=repr(name)),
            Sentence("known engines: {list}", list=", ".join(known)),
        )
    return known[name]
