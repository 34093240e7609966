"""Average pools of every kind without their kernels."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.lang.sentence import Sentence
from opcheck.model.plan import Label, Tier
from opcheck.rewrite.base import Arguments, Rule, dims_of
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import FLOATS, Draw

_MOST = 64
"""Shifted copies of the input that are added at most."""


def _each(given: Sequence[int] | int | None, count: int) -> list[int]:
    full = [given] if isinstance(given, int) else list(given or ())
    return full * count if len(full) == 1 else full


def _shape(count: int, dim: int) -> list[int]:
    shape = [1] * count
    shape[dim] = -1
    return shape


def _averaged(
    self: Tensor,
    windows: Sequence[tuple[int, int, int]],
    ceil_mode: bool,
    include: bool,
    divisor: int | None,
) -> Tensor:
    """Average the last dimensions over windows: kernel size, stride and padding of each."""
    total = self.float() if self.dtype in (torch.float16, torch.bfloat16) else self
    counts: Tensor | float = 1.0
    for number, (kernel, stride, padding) in enumerate(windows):
        dim = self.dim() - len(windows) + number
        size = self.size(dim)
        span = size + 2 * padding - kernel
        out = (span + stride - 1 if ceil_mode else span) // stride + 1
        if ceil_mode and (out - 1) * stride >= size + padding:
            out -= 1
        if out < 1 or padding > kernel // 2:
            raise RuntimeError(f"no window of {kernel} fits into {size}")
        reach = (out - 1) * stride + kernel
        after = max(reach - size - padding, 0)
        if padding or after:
            around = [0] * (2 * (self.dim() - 1 - dim)) + [padding, after]
            total = torch.constant_pad_nd(total, around)
        shifted = [
            total.narrow(dim, shift, reach - kernel + 1)[
                (slice(None),) * dim + (slice(None, None, stride),)
            ]
            for shift in range(kernel)
        ]
        total = shifted[0]
        for part in shifted[1:]:
            total = total + part
        if not padding and not after:
            counts = counts * kernel
            continue
        start = torch.arange(out, device=self.device) * stride - padding
        end = (start + kernel).clamp(0, size + padding)
        if not include:
            start, end = start.clamp(0, size), end.clamp(0, size)
        counts = (end - start).to(total.dtype).reshape(_shape(len(windows), number)) * counts
    return (total / (counts if divisor is None else divisor)).to(self.dtype)


def avg_pool1d(
    self: Tensor, kernel_size: Sequence[int] | int, stride: Sequence[int] | int | None = (),
    padding: Sequence[int] | int = 0, ceil_mode: bool = False, count_include_pad: bool = True,
) -> Tensor:  # fmt: skip
    """Add shifted copies and divide."""
    kernel = _each(kernel_size, 1)
    steps = _each(stride, 1) or kernel
    windows = list(zip(kernel, steps, _each(padding, 1), strict=True))
    return _averaged(self, windows, ceil_mode, count_include_pad, None)


def avg_pool2d(
    self: Tensor, kernel_size: Sequence[int] | int, stride: Sequence[int] | int | None = (),
    padding: Sequence[int] | int = 0, ceil_mode: bool = False, count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:  # fmt: skip
    """Add shifted copies and divide."""
    kernel = _each(kernel_size, 2)
    steps = _each(stride, 2) or kernel
    windows = list(zip(kernel, steps, _each(padding, 2), strict=True))
    return _averaged(self, windows, ceil_mode, count_include_pad, divisor_override)


def avg_pool3d(
    self: Tensor, kernel_size: Sequence[int] | int, stride: Sequence[int] | int | None = (),
    padding: Sequence[int] | int = 0, ceil_mode: bool = False, count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:  # fmt: skip
    """Add shifted copies and divide."""
    kernel = _each(kernel_size, 3)
    steps = _each(stride, 3) or kernel
    windows = list(zip(kernel, steps, _each(padding, 3), strict=True))
    return _averaged(self, windows, ceil_mode, count_include_pad, divisor_override)


def adaptive_avg_pool(self: Tensor, output_size: Sequence[int]) -> Tensor:
    """Average one dimension after the other over windows as even as sizes allow."""
    x = self.float() if self.dtype in (torch.float16, torch.bfloat16) else self
    for number, out in enumerate(output_size):
        dim = self.dim() - len(output_size) + number
        size = self.size(dim)
        if size % out == 0:
            x = x.unflatten(dim, (out, size // out)).mean(dim + 1)
            continue
        width = max(-(-(i + 1) * size // out) - i * size // out for i in range(out))
        places = torch.arange(out, device=self.device).unsqueeze(-1)
        start, end = places * size // out, ((places + 1) * size + out - 1) // out
        place = start + torch.arange(width, device=self.device)
        windows = x.index_select(dim, place.clamp(0, size - 1).reshape(-1))
        windows = windows.unflatten(dim, (out, width))
        shape = [1] * windows.dim()
        shape[dim], shape[dim + 1] = out, width
        inside = (place < end).reshape(shape)
        windows = torch.where(inside, windows, torch.zeros_like(windows))
        shape[dim + 1] = 1
        x = windows.sum(dim + 1) / (end - start).to(x.dtype).reshape(shape).squeeze(dim + 1)
    return x.to(self.dtype)


def even_avg_pool(self: Tensor, output_size: Sequence[int]) -> Tensor:
    """Average over windows of one size and one step."""
    x = self
    for number, out in enumerate(output_size):
        dim = self.dim() - len(output_size) + number
        step = self.size(dim) // out
        kernel = self.size(dim) - (out - 1) * step
        if kernel == step:
            x = x.unflatten(dim, (out, step)).mean(dim + 1)
            continue
        before = (slice(None),) * dim
        parts = [x[(*before, slice(i, i + (out - 1) * step + 1, step))] for i in range(kernel)]
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        x = total / kernel
    return x


def _wanted(x: Tensor, output_size: Sequence[int | None] | int, count: int) -> list[int]:
    """Sizes as users give them: one for all, and None for what the input has."""
    full = [output_size] * count if isinstance(output_size, int) else list(output_size)
    return [
        have if want is None else want for want, have in zip(full, x.shape[-count:], strict=True)
    ]


def adaptive_avg_pool1d(input: Tensor, output_size: Sequence[int] | int) -> Tensor:
    """Average rows over windows as even as sizes allow."""
    return adaptive_avg_pool(input, _wanted(input, output_size, 1))


def adaptive_avg_pool2d(input: Tensor, output_size: Sequence[int | None] | int) -> Tensor:
    """Average images over windows as even as sizes allow."""
    return adaptive_avg_pool(input, _wanted(input, output_size, 2))


def adaptive_avg_pool3d(input: Tensor, output_size: Sequence[int | None] | int) -> Tensor:
    """Average volumes over windows as even as sizes allow."""
    return adaptive_avg_pool(input, _wanted(input, output_size, 3))


def even_avg_pool1d(input: Tensor, output_size: Sequence[int] | int) -> Tensor:
    """Average rows over windows of one size and one step."""
    return even_avg_pool(input, _wanted(input, output_size, 1))


def even_avg_pool2d(input: Tensor, output_size: Sequence[int | None] | int) -> Tensor:
    """Average images over windows of one size and one step."""
    return even_avg_pool(input, _wanted(input, output_size, 2))


def even_avg_pool3d(input: Tensor, output_size: Sequence[int | None] | int) -> Tensor:
    """Average volumes over windows of one size and one step."""
    return even_avg_pool(input, _wanted(input, output_size, 3))


class AvgPoolByAdding(Rule):
    """Copies of the input, each shifted by one element of the window, are added and divided.

    One dimension after the other, so a window of 3 x 3 takes four additions; with any divisor. Half
    precision adds up in float32, as in PyTorch; the order of additions differs.
    """

    name = "avg-pool-by-adding"
    label: ClassVar[Label] = Label.TOLERANCE
    tolerance = 256.0
    functions: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "aten::avg_pool1d": avg_pool1d,
        "aten::avg_pool2d": avg_pool2d,
        "aten::avg_pool3d": avg_pool3d,
    }
    replaces = tuple(functions)
    summary = "Add shifted copies of the input and divide"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.avg_pool1d": avg_pool1d,
        "torch.nn.functional.avg_pool1d": avg_pool1d,
        "torch.nn.functional.avg_pool2d": avg_pool2d,
        "torch.nn.functional.avg_pool3d": avg_pool3d,
    }

    def refuses(self, call: Call) -> str:
        """Decline integers, and windows so wide that their copies are too many."""
        x = call.args[0]
        if not x.is_floating_point():
            return "the values are not real floating-point"
        kernel = _each(call.given("kernel_size"), dims_of(call.func.name()))
        if sum(kernel) > _MOST:
            return Sentence(
                "a window of {text} takes {count} additions", text=kernel, count=sum(kernel)
            )
        return ""

    def example(self, op: str, draw: Draw) -> Arguments:
        """With and without batch, strides, padding and a last window that overhangs."""
        dims = dims_of(op)
        lead = [draw.integer(0, 2), draw.integer(1, 2)] if draw.flag() else [draw.integer(1, 3)]
        kernel = [draw.integer(1, 3) for _ in range(dims)]
        stride = [draw.integer(1, 3) for _ in range(dims)] if draw.flag() else []
        padding = [draw.integer(0, k // 2) for k in kernel]
        x = draw.tensor([*lead, *(k + draw.integer(0, 4) for k in kernel)], FLOATS, edges=False)
        given = [x, kernel, stride, padding, draw.flag(), draw.flag()]
        if dims > 1:
            given.append(draw.choose((None, 3)))
        return tuple(given), {}


class AdaptiveAvgPoolByWindows(Rule):
    """One dimension after the other is averaged over windows as even as its size allows.

    Window ``i`` of ``n`` over ``size`` goes from ``floor(i * size / n)`` up to ``ceil((i + 1) *
    size / n)``. Where the sizes divide, a window is a part of a reshaped dimension. Where they do
    not, windows are laid side by side at the width of the widest, and what lies beyond each is left
    out.
    """

    name = "adaptive-avg-pool-by-windows"
    label: ClassVar[Label] = Label.TOLERANCE
    tolerance = 256.0
    replaces: ClassVar[tuple[str, ...]] = (
        "aten::adaptive_avg_pool1d", "aten::adaptive_avg_pool2d", "aten::_adaptive_avg_pool2d",
        "aten::adaptive_avg_pool3d", "aten::_adaptive_avg_pool3d",
    )  # fmt: skip
    summary = "Average the windows of one dimension after the other"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.adaptive_avg_pool1d": adaptive_avg_pool1d,
        "torch.nn.functional.adaptive_avg_pool1d": adaptive_avg_pool1d,
        "torch.nn.functional.adaptive_avg_pool2d": adaptive_avg_pool2d,
        "torch.nn.functional.adaptive_avg_pool3d": adaptive_avg_pool3d,
    }
    references: ClassVar[tuple[str, ...]] = (
        "https://github.com/pytorch/pytorch/issues/97109",
        "https://github.com/pytorch/pytorch/pull/169973",
    )
    replace: ClassVar[Callable[..., Any]] = staticmethod(adaptive_avg_pool)

    def refuses(self, call: Call) -> str:
        """Decline integers and empty outputs."""
        if not call.args[0].is_floating_point():
            return "the values are not real floating-point"
        return "" if math.prod(call.given("output_size")) else "the output is empty"

    def example(self, op: str, draw: Draw) -> Arguments:
        """Sizes that divide and that do not, outputs larger than inputs as well."""
        dims = int(op[-2])
        lead = [draw.integer(1, 2), draw.integer(1, 2)] if draw.flag() else [draw.integer(1, 3)]
        sizes = [draw.integer(1, 7) for _ in range(dims)]
        x = draw.tensor([*lead, *sizes], FLOATS, edges=False)
        return (x, [draw.integer(1, 8) for _ in range(dims)]), {}


class AdaptiveAvgPoolByEvenWindows(AdaptiveAvgPoolByWindows):
    """All windows get one size and one step, ``size // n``.

    So do converters that know pools of fixed size alone. Where the sizes divide, nothing changes.
    """

    name = "adaptive-avg-pool-by-even-windows"
    tier = Tier.STRUCTURAL
    label = Label.APPROXIMATE
    tolerance = 0.0
    summary = "Average over windows of one size and one step"
    gives_up = "Where sizes do not divide, windows are wider than PyTorch's and not as spread"
    references = ("https://github.com/pytorch/pytorch/issues/97109",)
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.adaptive_avg_pool1d": even_avg_pool1d,
        "torch.nn.functional.adaptive_avg_pool1d": even_avg_pool1d,
        "torch.nn.functional.adaptive_avg_pool2d": even_avg_pool2d,
        "torch.nn.functional.adaptive_avg_pool3d": even_avg_pool3d,
    }
    replace = staticmethod(even_avg_pool)

    def refuses(self, call: Call) -> str:
        """Decline outputs larger than inputs, and windows with too many additions."""
        declined = super().refuses(call)
        out = call.given("output_size")
        sizes = call.args[0].shape[-len(out) :]
        if declined:
            return declined
        if any(o > s for o, s in zip(out, sizes, strict=True)):
            return "the output is larger than the input"
        uneven = [(s, o) for s, o in zip(sizes, out, strict=True) if s % o]
        wide = max((s - (o - 1) * (s // o) for s, o in uneven), default=0)
        if wide <= _MOST:
            return ""
        return Sentence("a window of {text} takes as many additions", text=wide)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Sizes that divide and that do not."""
        dims = int(op[-2])
        out = [draw.integer(1, 4) for _ in range(dims)]
        sizes = [o + draw.integer(0, 6) for o in out]
        return (draw.tensor([draw.integer(1, 2), 2, *sizes], FLOATS, edges=False), out), {}
