"""Printing a device tensor asks the device for nothing, so that it works after the device closed.

Private torch API used here, checked on 2.13.0: ``torch._tensor_str._str``, which ``repr`` calls,
``torch._tensor_str._tensor_str``, which formats values, and ``_disable_current_modes``.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import _disable_current_modes

from opcheck.emulate.device import Device
from opcheck.emulate.memory import known_block


def printable() -> None:
    """Have tensors of emulated devices print what they hold, from now on: they outlive devices."""
    original: Any = torch._tensor_str._str
    if hasattr(original, "__wrapped__"):
        return

    @wraps(original)
    def show(tensor: Tensor, *, tensor_contents: str | None = None) -> str:
        if tensor_contents is None:
            with torch.no_grad(), _disable_current_modes():
                tensor_contents = _contents(tensor)
        return str(original(tensor, tensor_contents=tensor_contents))

    torch._tensor_str._str = show


@contextmanager
def printed(device: Device) -> Iterator[None]:
    """Count nothing that printing asks of an open device, as that of a tangent does."""
    original: Any = torch._tensor_str._str

    def show(tensor: Tensor, *, tensor_contents: str | None = None) -> str:
        with device.quiet():
            return str(original(tensor, tensor_contents=tensor_contents))

    torch._tensor_str._str = show
    try:
        yield
    finally:
        torch._tensor_str._str = original


def _contents(tensor: Tensor) -> str | None:
    """Values of a device tensor, sizes where those are not known; None for any other tensor."""
    block = known_block(tensor)
    if block is None:
        return None
    host = block.memory.host(tensor)
    if host is None:
        return f"..., size={tuple(tensor.shape)}"
    plain = type(tensor) in (Tensor, nn.Parameter)
    name = "tensor" if plain else type(tensor).__name__
    format_values: Any = torch._tensor_str._tensor_str
    return str(format_values(host, len(f"{name}(")))
