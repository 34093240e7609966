"""How far a run over many models is, on stderr: a table that is drawn again, or plain lines."""

import os
import sys
import time
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

from opcheck.app.progress import may_show
from opcheck.commands.fleet.values import Began, Done, Ending, Entry
from opcheck.lang.speech import tell
from opcheck.model.text import printable

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
        self._names = [entry.name for entry in entries]
        self._left = left
        self._begun = time.monotonic()
        if left < len(entries):
            told = f"going on: {len(entries) - left:,} of {len(entries):,} models are over already"
            self.note(told)
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
            print(printable(line), file=sys.stderr, flush=True)

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
        parts = [tell(f"{over:,} of {self._left:,} models")]
        if self._known:
            parts.append(tell(f"{self._known:,} known"))
        if self._troubled:
            parts.append(tell(f"{self._troubled:,} not scanned well"))
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
