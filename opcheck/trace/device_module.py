"""What ``torch.npu`` answers: a whole device module for one device that is traced or emulated."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from opcheck.trace.answering import now
from opcheck.trace.device_parts.accelerator import answering
from opcheck.trace.device_parts.amp import AutocastState, MixedPrecision
from opcheck.trace.device_parts.device import Devices
from opcheck.trace.device_parts.legacy import legacy_types
from opcheck.trace.device_parts.memory import Memory
from opcheck.trace.device_parts.npu_options import NpuOptions
from opcheck.trace.device_parts.random_numbers import RandomNumbers
from opcheck.trace.device_parts.state import DeviceState, Part
from opcheck.trace.device_parts.streams import Streams


class DeviceModule(ModuleType):
    """The module of one device type: what its parts give, from the state that its host sets."""

    _initialized = True  # checkpointing keeps a device's random numbers only if it reads this

    def __init__(self, device_type: str) -> None:
        super().__init__(f"torch.{device_type}", __doc__)
        self.host = traced(device_type)
        """What it answers from."""
        memory, random = Memory(self._now), RandomNumbers(self._now)
        streams, amp = Streams(self._now), MixedPrecision(self._now)
        vendor = (NpuOptions(self._now),) if device_type == "npu" else ()
        self._parts: tuple[Part, ...] = (
            Devices(self._now), memory, random, streams, AutocastState(self._now), *vendor,
        )  # fmt: skip
        self.submodules: dict[str, Part] = {
            "amp": amp, "memory": memory, "random": random, "streams": streams,
        }  # fmt: skip
        """What can be imported from it, by name."""
        vars(self).update(self.submodules, **legacy_types(device_type))

    def _now(self) -> DeviceState:
        return self.host

    @contextmanager
    def hosted(self, state: DeviceState) -> Iterator[None]:
        """Answer from ``state`` inside the block; nothing that is set there outlives it."""
        before, self.host = self.host, state
        try:
            with answering(self):
                yield
        finally:
            self.host = before

    def publish(self) -> None:
        """Let Python import the submodules, as ``import torch.npu.amp`` does."""
        for name, part in self.submodules.items():
            sys.modules[f"{self.__name__}.{name}"] = part  # type: ignore[assignment]  # any object does

    def _lazy_init(self) -> None: ...

    def _lazy_call(self, function: Callable[[], Any]) -> None:
        function()

    def _is_in_bad_fork(self) -> bool:
        return False

    def _is_compiled(self) -> bool:
        return True

    def _sleep(self, cycles: int) -> None: ...

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_"):
            for part in self._parts:
                if hasattr(part, name):
                    return getattr(part, name)
        raise AttributeError(
            f"module {self.__name__!r} has no attribute {name!r}; it is emulated by opcheck, which "
            "offers what programs commonly ask a device for"
        )

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *(name for part in self._parts for name in dir(part))})


def traced(device_type: str) -> DeviceState:
    """Give the device as a trace presents it: there while a model runs, taking no memory."""

    def running() -> bool:
        return getattr(now(), "device_type", None) == device_type

    return DeviceState(
        device_type=device_type,
        available=running,
        name=f"{device_type} (emulated)",
    )
