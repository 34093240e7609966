"""The devices of ``torch.npu``, which one is chosen, and their streams and events.

Private torch API used here, checked on 2.13.0: ``torch._C._get_privateuse1_backend_name``, and that
the device guard of a Python backend gives streams and events which do nothing.
"""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch
from msgspec import Struct

from opcheck.trace.device.state import ONLY, Part


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


def _version(text: str) -> tuple[int, int] | None:
    """Two numbers with a dot between them; None for any other text."""
    major, _, minor = text.partition(".")
    return (int(major), int(minor)) if major.isdecimal() and minor.isdecimal() else None


class DeviceProperties(Struct, frozen=True):
    """What the device says of itself."""

    name: str
    total_memory: int
    major: int | None = None
    minor: int | None = None
    """None where the vendor has no compute capability, as on Ascend."""
    multi_processor_count: int = 32  # a round figure, as the memory's


class CudaProperties(DeviceProperties, frozen=True):
    """The same of a device of CUDA's; figures are those of an A100."""

    multi_processor_count: int = 108
    warp_size: int = 32
    max_threads_per_multi_processor: int = 2048
    regs_per_multiprocessor: int = 65536

    @property
    def gcnArchName(self) -> str:  # noqa: N802  # as it is called there
        """What a build for CUDA gives in place of an architecture of AMD's."""
        return self.name


class Devices(Part):
    """One device; choosing it changes nothing."""

    def is_available(self) -> bool:
        """Whether there is a device now."""
        return self._host().available()

    def device_count(self) -> int:
        """How many devices there are: as many as there are processes in a script's group."""
        return self._host().count if self.is_available() else 0

    def current_device(self) -> int:
        """Index of the chosen device."""
        return ONLY

    def set_device(self, device: Any) -> None:
        """Choose a device: only one is used."""
        self._host().index(device)

    def device(self, device: Any) -> AbstractContextManager[None]:
        """Choose a device inside the block; None and a negative index change nothing."""
        if not (isinstance(device, int) and device < 0):
            self._host().index(device)
        return nullcontext()

    def device_of(self, obj: Any) -> AbstractContextManager[None]:
        """Choose a tensor's device inside the block; one of the host changes nothing."""
        return nullcontext()

    def get_device_name(self, device: Any = None) -> str:
        """Name of the chip."""
        return self.get_device_properties(device).name

    def get_device_properties(self, device: Any = None) -> DeviceProperties:
        """What the device says of itself."""
        host = self._host()
        host.index(device)
        numbers = host.capability or (None, None)
        kind = CudaProperties if host.device_type == "cuda" else DeviceProperties
        return kind(host.name, host.total_memory, *numbers)

    def get_device_capability(self, device: Any = None) -> tuple[int, int] | None:
        """Major and minor version of the chip; None where the vendor has no such thing."""
        host = self._host()
        host.index(device)
        found = host.capability or _version(os.environ.get(host.capability_variable, ""))
        if found is None:
            host.met_without_capability()
        return found

    def can_device_access_peer(self, device: Any, peer_device: Any) -> bool:
        """Whether a device reads another's memory: there is no other."""
        self._host().index(device)
        self._host().index(peer_device)
        return False

    def synchronize(self, device: Any = None) -> None:
        """Wait for the device: it computes at once."""
        self._host().index(device)

    def utilization(self, device: Any = None) -> int:
        """Per cent of the time in which the device computes."""
        self._host().index(device)
        return 0

    def ipc_collect(self) -> None:
        """Give back memory shared with other processes: none is."""

    def get_sync_debug_mode(self) -> int:
        """Whether waiting for the device is reported: 0, it is not."""
        return int(self._host().options.get("sync_debug_mode", 0))

    def set_sync_debug_mode(self, debug_mode: int | str) -> None:
        """Choose whether waiting for the device is reported: it never waits."""
        modes = {"default": 0, "warn": 1, "error": 2}
        self._host().options["sync_debug_mode"] = modes.get(str(debug_mode), debug_mode)

    def is_initialized(self) -> bool:
        """Whether the device is ready."""
        return True

    def init(self) -> None:
        """Make the device ready: it is."""
