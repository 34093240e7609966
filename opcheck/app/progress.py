"""What is going on, on stderr, once it has taken a second."""

import os
import sys
import threading
import time
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Self

from opcheck.lang.speech import tell
from opcheck.model.text import printable

if TYPE_CHECKING:
    from rich.status import Status
    from rich.text import Text

WORKING = "working"
"""Said before the first phase."""
DELAY = 1.0
"""Seconds that pass before anything is shown."""


def may_show(environment: Mapping[str, str], is_terminal: bool) -> bool:
    """Whether a line may be drawn over and over: somebody watches, and the terminal can."""
    return is_terminal and not environment.get("CI") and environment.get("TERM") != "dumb"


class Progress:
    """Shows the phase that it was last called with, and for how long all has taken.

    Silent where nobody watches stderr; nothing of it is left behind.
    """

    def __init__(self, quiet: bool = False, delay: float = DELAY) -> None:
        self._timer = threading.Timer(delay, self._show)
        self._timer.daemon = True
        self._lock = threading.Lock()
        self._status: Status | None = None
        self._line = _Line()
        self._quiet = quiet
        self._over = False

    def __call__(self, phase: str) -> None:
        """Note a phase as begun, or how far it is."""
        self._line.phase = tell(phase)  # it is drawn ten times a second

    def __enter__(self) -> Self:
        is_terminal = sys.stderr is not None and sys.stderr.isatty()
        if not self._quiet and may_show(os.environ, is_terminal):
            self._timer.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._timer.cancel()
        with self._lock:
            self._over = True
            if self._status is not None:
                self._status.stop()

    def _show(self) -> None:
        from rich.console import Console

        with self._lock:
            if not self._over:
                console = Console(stderr=True)
                unicode = console.encoding.startswith("utf")
                self._line.dot = "·" if unicode else "-"
                self._status = console.status(self._line, spinner="dots" if unicode else "line")
                self._status.start()


class _Line:
    """The line as it stands whenever it is drawn."""

    def __init__(self) -> None:
        self.phase = tell(WORKING)
        self.dot = "-"
        self._begun = time.monotonic()

    def __rich__(self) -> "Text":
        from rich.text import Text

        seconds = f" {self.dot} {time.monotonic() - self._begun:,.0f} s"
        text = Text(printable(self.phase, kept=""), no_wrap=True, overflow="ellipsis")
        return text.append(seconds, "dim")


def forward_output(line: str) -> None:
    """Pass on to stderr what the model's own code printed."""
    if sys.stderr is not None:
        print(printable(line), file=sys.stderr, flush=True)


def discard_output(line: str) -> None:
    """Keep to oneself what the model's own code printed: its libraries print a lot."""
