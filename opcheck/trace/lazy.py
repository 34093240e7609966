"""When lazy conjugates and negatives are resolved in a run below autograd.

Everywhere else C++ takes a composite apart under autograd's keys, and only what it becomes meets
the keys that resolve: ``matmul`` of a lazy conjugate is an ``mm`` of it. Below autograd those keys
would come first, so they are off, and a call is sent through them when it has got to a kernel.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from opcheck.model.trace import Composite
from opcheck.trace.dispatcher import leaving_lazy, resolving_lazy


class Lazy(threading.local):
    """How far a thread is with the call that it answers."""

    def __init__(self) -> None:
        self.below = False
        """Inside a kernel that C++ runs below autograd: the keys are on."""
        self.sent = False
        """What arrives now has passed the keys."""

    @property
    def due(self) -> bool:
        """Whether a call that gets to a kernel is still to be sent through the keys."""
        return not (self.below or self.sent)

    def send(self, call: Callable[[], Any]) -> Any:
        """Have C++ resolve the arguments of ``call``; each call that comes of it arrives sent."""
        with self._at(self.below, sent=True), resolving_lazy():
            return call()

    def receive(self, answer: Callable[[], Any]) -> Any:
        """Answer a call that was sent; those that it makes are not."""
        with self._at(self.below, sent=False):
            return answer()

    @contextmanager
    def inside(self, kind: Composite) -> Iterator[None]:
        """Inside is a composite kernel, which C++ runs above autograd or below."""
        below = self.below or kind is not Composite.IMPLICIT
        with self._at(below, sent=False), resolving_lazy() if below else leaving_lazy():
            yield

    @contextmanager
    def _at(self, below: bool, *, sent: bool) -> Iterator[None]:
        before = self.below, self.sent
        self.below, self.sent = below, sent
        try:
            yield
        finally:
            self.below, self.sent = before
