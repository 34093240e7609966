"""``linspace`` and ``logspace`` between ends that are tensors."""

import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.model.plan import Label
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import FLOATS, Draw


def linspace(
    start: Any,
    end: Any,
    steps: int,
    *,
    dtype: torch.dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool | None = None,
) -> Tensor:
    """Take multiples of a step, from the start to the middle and back from the end."""
    like = start if isinstance(start, Tensor) else end
    wanted = dtype or torch.get_default_dtype()
    wide = torch.float64 if wanted == torch.float64 else torch.float32
    first, last = (
        (e.detach() if isinstance(e, Tensor) else like.new_full([], e, dtype=wide)).to(wide)
        for e in (start, end)
    )
    if steps == 1:
        return first.reshape(1).to(wanted)
    count = torch.arange(steps, device=like.device).to(wide)
    step = (last - first) / max(steps - 1, 1)
    early = count < steps // 2
    return torch.where(early, first + step * count, last - step * (steps - 1 - count)).to(wanted)


def logspace(
    start: Any,
    end: Any,
    steps: int,
    base: float = 10.0,
    *,
    dtype: torch.dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool | None = None,
) -> Tensor:
    """Raise the base to multiples of a step."""
    wanted = dtype or torch.get_default_dtype()
    wide = torch.float64 if wanted == torch.float64 else torch.float32
    return (linspace(start, end, steps, dtype=wide) * math.log(base)).exp().to(wanted)


def linspace_of_any(
    start: Any,
    end: Any,
    steps: int,
    *,
    dtype: torch.dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Take multiples of a step where an end is a tensor."""
    if not isinstance(start, Tensor) and not isinstance(end, Tensor):
        plain: Tensor = torch.linspace(
            start, end, steps, dtype=dtype, device=device, requires_grad=requires_grad
        )
        return plain
    return linspace(start, end, steps, dtype=dtype).to(device).requires_grad_(requires_grad)


def logspace_of_any(
    start: Any,
    end: Any,
    steps: int,
    base: float = 10.0,
    *,
    dtype: torch.dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Raise the base to multiples of a step where an end is a tensor."""
    if not isinstance(start, Tensor) and not isinstance(end, Tensor):
        plain: Tensor = torch.logspace(
            start, end, steps, base, dtype=dtype, device=device, requires_grad=requires_grad
        )
        return plain
    found = logspace(start, end, steps, base, dtype=dtype)
    return found.to(device).requires_grad_(requires_grad)


class _Range(Rule):
    label = Label.TOLERANCE
    references: ClassVar[tuple[str, ...]] = (
        "https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/RangeFactories.cpp",
    )

    def refuses(self, call: Call) -> str:
        """Decline whole numbers, which PyTorch rounds in its own way."""
        dtype = call.given("dtype")
        if dtype is not None and not dtype.is_floating_point:
            return "its result is not floating point"
        return ""

    def example(self, op: str, draw: Draw) -> Arguments:
        """One end is a number, or none."""
        wanted = draw.choose((None, *FLOATS[:2]))
        dtype = (torch.float64 if wanted == torch.float64 else torch.float32,)
        parts = op.partition(".")[2].split("_")
        ends = [
            draw.tensor([], dtype, edges=False) if part == "Tensor" else draw.integer(-3, 3) / 2
            for part in parts
        ]
        return (*ends, draw.integer(0, 9)), {"dtype": wanted}


class LinspaceByMultiples(_Range):
    """Multiples of a step are added to the start, or taken from the end in the second half.

    The ends stay on the device; PyTorch reads them to the host first.
    """

    name = "linspace-by-multiples"
    tolerance = 4
    replaces = (
        "aten::linspace.Tensor_Tensor",
        "aten::linspace.Tensor_Scalar",
        "aten::linspace.Scalar_Tensor",
    )
    summary = "Multiply an arange by the step"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {"torch.linspace": linspace_of_any}
    replace = staticmethod(linspace)


class LogspaceByMultiples(_Range):
    """The exponential of multiples of a step times the logarithm of the base.

    The ends stay on the device; PyTorch reads them to the host first.
    """

    name = "logspace-by-multiples"
    tolerance = 32
    replaces = (
        "aten::logspace.Tensor_Tensor",
        "aten::logspace.Tensor_Scalar",
        "aten::logspace.Scalar_Tensor",
    )
    summary = "Multiply an arange by the step, and take the exponential"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {"torch.logspace": logspace_of_any}
    replace = staticmethod(logspace)
