"""``torch.Generator`` of a device that is not there: one of the host's, which names the device.

torch asks the backend's C++ hooks for one, and Python can give no such hook (see ``memory.py``).
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import torch

from opcheck.trace.device.philox import DeviceGenerator
from opcheck.trace.device.tensors import DeviceTensor

_Host = torch.Generator


class _AnyGenerator(type(torch.Generator)):  # type: ignore[misc]  # found at run time
    """Takes every generator for an instance, those that were made before as well."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, _Host)


UNCLEAR = "makes a torch.Generator of its device, and whether PyTorch can there is not known here"
"""Of XLA devices, which no source of the database has."""


@contextmanager
def generators_of(
    device: torch.device,
    unclear: Callable[[str], None] = lambda _: None,
    other: Callable[[], str] = lambda: "",
) -> Iterator[None]:
    """Have ``torch.Generator(device)`` be possible for a device inside the block.

    Args:
        device: the traced or the emulated one.
        unclear: told where it may not be on the target.
        other: the type that is taken for the device's at the time; "": none.
    """
    ours = {(DeviceTensor.shown or device).type, device.type}
    own = device.type

    class Generator(_Host, metaclass=_AnyGenerator):
        def __new__(cls, device: Any = "cpu") -> Any:
            wanted = torch.device(device)
            if wanted.type == other():
                wanted = torch.device(own, wanted.index or 0)
            if wanted.type not in ours:
                return _Host(device)
            if wanted.type == "xla":
                unclear(UNCLEAR)
            return DeviceGenerator(f"{wanted.type}:{wanted.index or 0}")

    with patch.object(torch, "Generator", Generator):
        yield
