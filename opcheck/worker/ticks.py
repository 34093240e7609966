"""How far a run is, told now and then to whoever watches."""

import time

from opcheck.worker.process import Process

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
        self._process.send({"stage": "trace", "progress": phase})

    def calls(self, count: int) -> None:
        """Tell how many calls were recorded, unless that was told just now."""
        now = time.monotonic()
        if self._process.heard and now - self._told >= EVERY:
            self._told = now
            self._process.send({"stage": "trace", "progress": self._phase, "calls": count})
