"""``opcheck fleet MANIFEST``: every model of it compared with every target, and how far it is."""

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Self

import typer

from opcheck.app import model_options, options
from opcheck.app.options import Detail
from opcheck.app.output import Output
from opcheck.app.progress import may_show
from opcheck.commands.fleet.values import Began, Done, Ending, Entry, FleetRequest
from opcheck.lang.sentence import Sentence
from opcheck.lang.speech import tell
from opcheck.model.text import printable
from opcheck.views.formats import command_view

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live


_ROWS = 16
"""Models at work that are shown; a wide engine has more."""
_TIMES_A_SECOND = 4


class FleetProgress:
    """Tells of a run what is at work, what is over and what is left.

    Where somebody watches, a table that is gone in the end; else a line for each model.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet or sys.stderr is None
        self._drawn = not self._quiet and may_show(os.environ, sys.stderr.isatty())
        self._live: Live | None = None
        self._names: Sequence[str] = ()
        self._left = self._done = self._known = self._troubled = 0
        self._at_work: dict[int, tuple[str, float]] = {}
        self._begun = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def planned(self, entries: Sequence[Entry], left: int) -> None:
        """How many models there are, and how many have no answer yet."""
        self._names = [entry.label for entry in entries]
        self._left = left
        self._begun = time.monotonic()
        if left < len(entries):
            self.note(
                Sentence(
                    "going on: {count} of {count_all} models are over already",
                    count=f"{len(entries) - left:,}",
                    count_all=f"{len(entries):,}",
                )
            )
        if self._drawn:
            self._draw()

    def began(self, event: Began) -> None:
        """A model is being scanned."""
        self._at_work[event.position] = (event.worker, time.monotonic())

    def done(self, event: Done) -> None:
        """A model is over."""
        self._at_work.pop(event.position, None)
        self._done += 1
        outcome = event.outcome
        self._troubled += outcome.ending is not Ending.SCANNED
        reason = f": {outcome.reason}" if outcome.reason else ""
        self._line(event.position, f"{tell(outcome.ending)} {event.seconds:.1f} s{reason}")

    def known(self, position: int) -> None:
        """A model is answered by what the store has."""
        self._known += 1
        self._line(position, tell("known"))

    def note(self, text: str) -> None:
        """Something to know about the run."""
        if not self._quiet:
            print(printable(f"opcheck: {tell(text)}"), file=sys.stderr, flush=True)

    def _line(self, position: int, told: str) -> None:
        if not (self._quiet or self._drawn):
            over = self._done + self._known
            line = f"[{over}/{self._left}] {self._names[position]} {told}"
            print(printable(line, kept=""), file=sys.stderr, flush=True)

    def _draw(self) -> None:
        from rich.console import Console
        from rich.live import Live

        console = Console(stderr=True)
        self._live = Live(
            get_renderable=self._table,
            console=console,
            refresh_per_second=_TIMES_A_SECOND,
            transient=True,
        )
        self._live.start()

    def _table(self) -> "RenderableType":
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
        table.add_column(justify="right", style="dim", no_wrap=True)
        table.add_column(overflow="ellipsis", no_wrap=True)
        table.add_column(justify="right", no_wrap=True)
        now = time.monotonic()
        for position, (worker, begun) in sorted([*self._at_work.items()])[:_ROWS]:
            table.add_row(worker, printable(self._names[position], kept=""), f"{now - begun:.0f} s")
        return Group(Text(self._head(now), "bold", no_wrap=True, overflow="ellipsis"), table)

    def _head(self, now: float) -> str:
        over, spent = self._done + self._known, now - self._begun
        models = Sentence("{shown} of {all} models", shown=f"{over:,}", all=f"{self._left:,}")
        parts = [tell(models)]
        if self._known:
            parts.append(tell(Sentence("{count} known", count=f"{self._known:,}")))
        if self._troubled:
            parts.append(tell(Sentence("{count} not scanned well", count=f"{self._troubled:,}")))
        parts.append(_clock(spent))
        if self._done and over < self._left:
            left = tell("left")
            parts.append(f"{_clock(spent / self._done * (self._left - over))} {left}")
        return ", ".join(parts)


def _clock(seconds: float) -> str:
    """``2:05``, or with hours ``1:02:05``."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


TIMEOUT = 600.0

STORE = "opcheck-fleet.db"

Manifest = Annotated[
    str,
    typer.Argument(
        metavar="MANIFEST", help="Models, in one of the forms below.", show_default=False
    ),
]
StoreFile = Annotated[
    str,
    typer.Option("--store", metavar="FILE", help="The SQLite file that keeps what is found."),
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        parser=options.workers,
        metavar="N",
        help="How many models are scanned at a time.",
        show_default="one for each processor",
    ),
]
EngineName = Annotated[
    str, typer.Option("--engine", metavar="NAME", help="What scans them: local or ray.")
]
Address = Annotated[
    str,
    typer.Option(
        "--address",
        metavar="HOST:PORT",
        help="Where the Ray cluster is.",
        show_default="the one that this machine is a node of",
    ),
]
Ship = Annotated[
    bool,
    typer.Option(
        "--ship",
        help="Send the working directory to the nodes of the cluster, where they do not see it.",
    ),
]
Retry = Annotated[
    bool,
    typer.Option(
        "--retry",
        help="Scan models again whose scan did not end well.",
        show_default="only where a limit was raised",
    ),
]


def run(
    manifest: Manifest,
    target: options.Targets = None,
    store: StoreFile = STORE,
    workers: Workers = None,
    timeout: model_options.Timeout = TIMEOUT,
    memory: model_options.Memory = None,
    trust: model_options.Trust = False,
    retry: Retry = False,
    engine: EngineName = "local",
    address: Address = "",
    ship: Ship = False,
    database: options.Databases = None,
    format: Annotated[str, options.format_of("fleet")] = "text",
    output: options.OutputFile = None,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
) -> None:
    """Scan many models, and list which run where.

    Each has a process and limits of its own; what stops one stops no other. The store keeps each
    model that is over, and the same command goes on where it was ended. What is known already is
    not done again.
    """
    view, out = command_view("fleet", format), Output(output)
    given = {"timeout": timeout, "memory": memory}
    request = FleetRequest(
        manifest, tuple(target or ()), store,
        {name: value for name, value in given.items() if value},
        tuple(database or ()), engine, workers, address, retry, ship, trust,
    )  # fmt: skip
    from opcheck.commands.fleet import run as answer
    from opcheck.commands.fleet.store.store import whole

    with FleetProgress(quiet=quiet) as progress:
        found = answer.run_fleet(request, progress)
    with whole(Path(store)):
        out.write(view.render(found, out.page(Detail(verbose, quiet))))
