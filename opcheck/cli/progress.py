"""What is going on, on stderr, once it has taken a second."""

import sys
import threading
from types import TracebackType
from typing import TYPE_CHECKING, Self

from opcheck.model.text import printable

if TYPE_CHECKING:
    from rich.status import Status
    from rich.text import Text

WORKING = "working"
"""Said before the first phase."""
DELAY = 1.0
"""Seconds that pass before anything is shown."""


class Progress:
    """Shows the phase that it was last called with; silent where stderr is no terminal."""

    def __init__(self, quiet: bool = False, delay: float = DELAY) -> None:
        self._timer = threading.Timer(delay, self._show)
        self._timer.daemon = True
        self._lock = threading.Lock()
        self._status: Status | None = None
        self._phase = ""
        self._over = False

    def __call__(self, phase: str) -> None:
        """Note a phase as begun."""
        with self._lock:
            self._phase = phase
            if self._status is not None:
                self._status.update(_shown(phase))

    def __enter__(self) -> Self:
        if sys.stderr is not None and sys.stderr.isatty():
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
                spinner = "dots" if console.encoding.startswith("utf") else "line"
                self._status = console.status(_shown(self._phase), spinner=spinner)
                self._status.start()


def said(line: str) -> None:
    """Pass on to stderr what the model's own code printed."""
    if sys.stderr is not None:
        print(printable(line), file=sys.stderr, flush=True)


def unsaid(line: str) -> None:
    """Keep to oneself what the model's own code printed: its libraries print a lot."""


def _shown(phase: str) -> "Text":
    from rich.text import Text

    return Text(f"{printable(phase or WORKING)} ...")
