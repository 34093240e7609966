"""``torch.Generator`` for the emulated device: one of the host's that says that it is the device's.

torch asks the device's C++ hooks for one, which Python cannot give.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from opcheck.trace.device.state import DeviceState

_DEVICE = "_emulated_device"
_original = torch.Generator


class _Kind(type):
    """Has every generator be an instance, as it was before."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, _original)


class _DeviceGenerator(_original):
    """A generator of the host's, with the device that it was asked for."""

    @property
    def device(self) -> torch.device:  # type: ignore[override]  # of C, and never written
        """The emulated device."""
        found: torch.device = vars(self)[_DEVICE]
        return found


@contextmanager
def generators(state: DeviceState) -> Iterator[None]:
    """Have ``torch.Generator`` give ones of an emulated device inside the block."""

    class Generator(metaclass=_Kind):
        def __new__(cls, device_asked: Any = "cpu", /, **given: Any) -> Any:
            asked = torch.device(given.get("device", device_asked))
            if asked.type not in (state.device_type, state.stands_for):
                return _original(asked)
            made = _DeviceGenerator()
            vars(made)[_DEVICE] = torch.device(state.device_type, state.index(asked))
            return made

    Generator.__qualname__, Generator.__module__ = _original.__qualname__, _original.__module__
    torch.Generator = Generator  # type: ignore[misc]  # for the block
    try:
        yield
    finally:
        torch.Generator = _original  # type: ignore[misc]  # as above
