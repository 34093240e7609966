"""What was computed on the device compared with the host's, gradients of results included."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_map

from opcheck.errors import TraceError
from opcheck.lang.sentence import Sentence
from opcheck.model.emulation import Difference, gradient_of
from opcheck.model.trace import Phase
from opcheck.trace.running.training_step import differentiable

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


def gradients(
    module: nn.Module,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    begins: Callable[[Phase], None],
) -> Named:
    """Gradients of every parameter that is trained and every floating-point input, by name.

    Those that the results do not depend on are zeros.

    Raises:
        TraceError: nothing in the results has a gradient.
    """
    args, kwargs = tree_map(_leaf, (args, dict(kwargs)))
    wanted: Named = {
        gradient_of(name): p for name, p in module.named_parameters() if p.requires_grad
    }
    inputs = {**named_tensors(args, "input"), **named_tensors(kwargs, "input")}
    wanted |= {gradient_of(name): t for name, t in inputs.items() if t.requires_grad}
    with torch.enable_grad():
        begins(Phase.FORWARD)
        results = differentiable(module(*args, **kwargs))
    if not (results and wanted):
        raise TraceError(Sentence("nothing in the model's results has a gradient"))
    begins(Phase.BACKWARD)
    found = torch.autograd.grad(
        results, list(wanted.values()), _cotangents(results),
        allow_unused=True, materialize_grads=True,
    )  # fmt: skip
    return dict(zip(wanted, found, strict=True))


def _leaf(value: Any) -> Any:
    if not isinstance(value, Tensor):
        return value
    leaf = value.detach()
    return leaf.requires_grad_() if leaf.is_floating_point() or leaf.is_complex() else leaf


def _cotangents(results: list[Tensor]) -> list[Tensor]:
    random = torch.Generator().manual_seed(1)
    made = []
    for result in results:
        wide = torch.complex128 if result.is_complex() else torch.float64
        drawn = torch.randn(result.shape, generator=random, dtype=wide)
        made.append(drawn.to(result.dtype).to(result.device))
    return made
