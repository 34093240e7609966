"""Printing a device tensor asks the device for nothing that counts.

Private torch API used here, checked on 2.13.0: ``torch._tensor_str._str``, which ``repr`` calls.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from opcheck.emulate.device import Device


@contextmanager
def printed(device: Device) -> Iterator[None]:
    """Show the values of device tensors where they are known; only sizes and dtype elsewhere."""
    original: Any = torch._tensor_str._str

    def show(tensor: Tensor, *, tensor_contents: str | None = None) -> str:
        if tensor.device != device.torch_device:
            return str(original(tensor, tensor_contents=tensor_contents))
        with device.quiet():
            if tensor.layout is torch.strided and device.memory.host(tensor) is None:
                tensor_contents = f"..., size={tuple(tensor.shape)}"
            return str(original(tensor, tensor_contents=tensor_contents))

    torch._tensor_str._str = show
    try:
        yield
    finally:
        torch._tensor_str._str = original
