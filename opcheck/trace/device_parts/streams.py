"""``torch.npu.streams``: streams and events of a device that computes at once.

Private torch API used here, checked on 2.13.0: ``torch._C._get_privateuse1_backend_name``, and that
the device guard of a Python backend gives streams and events which do nothing.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from opcheck.trace.device_parts.state import ONLY, Part


def _device() -> torch.device:
    return torch.device(torch._C._get_privateuse1_backend_name(), ONLY)


class Stream(torch.Stream):
    """A queue in which everything is done already; all streams are equal."""

    def __new__(cls, device: Any = None, priority: int = 0, **_: Any) -> "Stream":
        """Make one; which device and priority are asked for makes no difference."""
        return super().__new__(cls, device=_device(), priority=priority)


class Event(torch.Event):
    """A moment on the device; it is over as soon as it is recorded, and takes no time."""

    def __new__(
        cls,
        enable_timing: bool = False,
        blocking: bool = False,
        interprocess: bool = False,
        **_: Any,
    ) -> "Event":
        """Make one on the only device."""
        return super().__new__(
            cls,
            device=_device(),
            enable_timing=enable_timing,
            blocking=blocking,
            interprocess=interprocess,
        )

    def synchronize(self) -> None:
        """Wait for it: the guard of a Python backend cannot, and there is nothing to wait for."""

    def elapsed_time(self, end_event: torch.Event) -> float:
        """Milliseconds from here to ``end_event``: no time passes on the device."""
        return 0.0


class Streams(Part):
    """Which stream is chosen; it makes no difference."""

    Stream = Stream
    Event = Event

    def default_stream(self, device: Any = None) -> torch.Stream:
        """The stream that is chosen where none is."""
        self._host().index(device)
        return Stream()

    def current_stream(self, device: Any = None) -> torch.Stream:
        """The chosen stream."""
        return self._host().stream or self.default_stream(device)

    def set_stream(self, stream: torch.Stream | None) -> None:
        """Choose a stream; None changes nothing."""
        if stream is not None:
            self._host().stream = stream

    @contextmanager
    def stream(self, stream: torch.Stream | None) -> Iterator[None]:
        """Choose a stream inside the block; None changes nothing."""
        host = self._host()
        before = host.stream
        self.set_stream(stream)
        try:
            yield
        finally:
            host.stream = before

    StreamContext = stream

    def is_current_stream_capturing(self) -> bool:
        """Whether a graph is being captured: there are no graphs."""
        return False
