"""What was computed on the device held against what the host computes."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import torch
from torch import Tensor

from opcheck.model.emulation import Difference

Named = dict[str, Tensor]


def named_tensors(value: Any, name: str) -> Named:
    """Every tensor of a nested output with its path: ``output.logits``, ``output[0]``."""
    return dict(_tensors(value, name))


def _tensors(value: Any, name: str) -> Iterator[tuple[str, Tensor]]:
    if isinstance(value, Tensor):
        yield name, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _tensors(item, f"{name}.{key}")
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from _tensors(item, f"{name}[{index}]")
    elif is_dataclass(value) and not isinstance(value, type):
        for part in fields(value):
            yield from _tensors(getattr(value, part.name), f"{name}.{part.name}")


def differences(device: Named, host: Named) -> tuple[Difference, ...]:
    """Compare tensor by tensor, in the host's order; one that is missing on a side counts."""
    names = [*host, *(name for name in device if name not in host)]
    return tuple(_difference(name, device.get(name), host.get(name)) for name in names)


def _difference(name: str, device: Tensor | None, host: Tensor | None) -> Difference:
    shown = host if host is not None else device
    assert shown is not None, "named by one of the sides"
    largest = None
    if device is not None and host is not None and device.shape == host.shape:
        largest = _largest(device.detach().cpu(), host.detach())
    dtype = str(shown.dtype).removeprefix("torch.")
    return Difference(name, tuple(shown.shape), dtype, largest)


def _largest(device: Tensor, host: Tensor) -> float | None:
    """Largest absolute difference; None where just one side has a NaN or an infinity."""
    if host.numel() == 0:
        return 0.0
    wide = torch.complex128 if host.is_complex() or device.is_complex() else torch.float64
    a, b = device.to(wide), host.to(wide)
    equal = (a == b) | (a.isnan() & b.isnan())
    apart = torch.where(equal, torch.zeros((), dtype=wide), a - b).abs()
    return float(apart.max()) if bool(apart.isfinite().all()) else None
