"""Max pools of every kind without their kernels."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.lang.sentence import Sentence
from opcheck.rewrite.base import Arguments, Rule, dims_of
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import Draw

LARGEST = 1 << 28
"""Elements of all windows side by side beyond which no one wants to hold them."""
_Spelled = Mapping[str, Callable[..., Any]]
_Gather = Callable[[Tensor, int, Tensor], Tensor]
_FLOATS = (torch.float32, torch.float64)  # PyTorch rounds each sum of half-precision gradients


def _first_best(windows: Tensor, inside: Tensor) -> Tensor:
    """Where each window, along the last dimension, is largest: first, but for NaN last."""
    size = windows.size(-1)
    order = torch.arange(size, device=windows.device)
    lowest = -math.inf if windows.is_floating_point() else torch.iinfo(windows.dtype).min
    windows = torch.where(inside, windows, torch.full_like(windows, lowest))
    largest = windows.max(-1, keepdim=True).values
    rank = torch.where(windows == largest, size - order, torch.zeros_like(order))
    rank = torch.where(windows != windows, size + 1 + order, rank)
    rank = torch.where(inside, rank, torch.full_like(rank, -1))
    best = rank.max(-1).values
    return torch.where(best > size, best - size - 1, size - best)


def _pooled(
    self: Tensor, places: Sequence[tuple[Tensor, Tensor]], gather: _Gather = torch.gather
) -> tuple[Tensor, Tensor]:
    """Pool the last dimensions over windows: [out, width] places, and which of them are inside."""
    count = len(places)
    windows = self.detach()
    inside: Tensor | None = None
    where = torch.zeros((), dtype=torch.int64, device=self.device)
    for number, (place, valid) in enumerate(places):
        dim = self.dim() - count + 2 * number
        shape = [1] * (2 * count)
        shape[2 * number : 2 * number + 2] = place.shape
        windows = windows.index_select(dim, place.reshape(-1)).unflatten(dim, place.shape)
        valid = valid.reshape(shape)
        inside = valid if inside is None else inside & valid
        where = where * self.shape[number - count] + place.reshape(shape)
    assert inside is not None
    lead = list(range(self.dim() - count))
    axes = [*range(0, 2 * count, 2), *range(1, 2 * count, 2)]
    windows = windows.permute(*lead, *(len(lead) + axis for axis in axes)).flatten(-count)
    where = where.permute(axes).flatten(-count)
    best = _first_best(windows, inside.permute(axes).flatten(-count))
    where = where.expand(*best.shape, -1)
    indices = gather(where, -1, best.unsqueeze(-1)).squeeze(-1)
    read = _read(self.flatten(-count), indices.flatten(-count), gather)
    return read.reshape(indices.shape), indices


def _read(flat: Tensor, indices: Tensor, gather: _Gather = torch.gather) -> Tensor:
    """Read values along the last dimension; gradients add up in float32 at least."""
    if flat.dtype in (torch.float16, torch.bfloat16):
        return gather(flat.float(), -1, indices).to(flat.dtype)
    return gather(flat, -1, indices)


def _selected(self: Tensor, dim: int, index: Tensor) -> Tensor:
    """What ``gather`` gives along the last dimension, counted as places in one row."""
    rows = torch.arange(math.prod(index.shape[:-1]), device=index.device) * self.size(dim)
    places = index + rows.reshape([*index.shape[:-1], 1])
    return self.reshape(-1).index_select(0, places.reshape(-1)).reshape(index.shape)


def _fixed(self: Tensor, dim: int, window: Sequence[int], ceil: bool) -> tuple[Tensor, Tensor]:
    """Places of windows of one width: kernel size, stride, padding and dilation."""
    kernel, stride, padding, dilation = window
    size = self.size(dim)
    span = size + 2 * padding - dilation * (kernel - 1) - 1
    out = (span + stride - 1 if ceil else span) // stride + 1
    if ceil and (out - 1) * stride >= size + padding:
        out -= 1
    if out < 1 or kernel < 1 or padding > kernel // 2:
        raise RuntimeError(f"no window of {kernel} fits into {size}")
    start = torch.arange(out, device=self.device).unsqueeze(-1) * stride - padding
    place = start + torch.arange(kernel, device=self.device) * dilation
    return place.clamp(0, size - 1), (place >= 0) & (place < size)


def _each(given: Sequence[int] | int, count: int) -> list[int]:
    full = [given] if isinstance(given, int) else list(given)
    return full * count if len(full) == 1 else full


def _windows(
    self: Tensor, count: int, arguments: Sequence[Sequence[int] | int], ceil_mode: bool,
    gather: _Gather = torch.gather,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Pool the last dimensions over windows of one size: the largest of each, and where it is."""
    full = [_each(argument, count) for argument in arguments]
    full[1] = full[1] or full[0]
    dims = range(self.dim() - count, self.dim())
    each = zip(*full, strict=True)
    places = [_fixed(self, d, w, ceil_mode) for d, w in zip(dims, each, strict=True)]
    return _pooled(self, places, gather)


def max_pool1d_with_indices(
    self: Tensor, kernel_size: Sequence[int] | int, stride: Sequence[int] | int = (),
    padding: Sequence[int] | int = 0, dilation: Sequence[int] | int = 1, ceil_mode: bool = False,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Take the largest of each window, and where it is."""
    return _windows(self, 1, (kernel_size, stride, padding, dilation), ceil_mode)


def max_pool2d_with_indices(
    self: Tensor, kernel_size: Sequence[int] | int, stride: Sequence[int] | int = (),
    padding: Sequence[int] | int = 0, dilation: Sequence[int] | int = 1, ceil_mode: bool = False,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Take the largest of each window, and where it is."""
    return _windows(self, 2, (kernel_size, stride, padding, dilation), ceil_mode)


def max_pool2d_with_indices_by_selecting(
    self: Tensor, kernel_size: Sequence[int] | int, stride: Sequence[int] | int = (),
    padding: Sequence[int] | int = 0, dilation: Sequence[int] | int = 1, ceil_mode: bool = False,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Take the largest of each window, and where it is."""
    return _windows(self, 2, (kernel_size, stride, padding, dilation), ceil_mode, _selected)


def max_pool3d_with_indices(
    self: Tensor, kernel_size: Sequence[int] | int, stride: Sequence[int] | int = (),
    padding: Sequence[int] | int = 0, dilation: Sequence[int] | int = 1, ceil_mode: bool = False,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Take the largest of each window, and where it is."""
    return _windows(self, 3, (kernel_size, stride, padding, dilation), ceil_mode)


def max_pool1d(
    self: Tensor, kernel_size: Sequence[int] | int, stride: Sequence[int] | int | None = None,
    padding: Sequence[int] | int = 0, dilation: Sequence[int] | int = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """Take the largest of each window, and where it is if that is asked for."""
    found = _windows(self, 1, (kernel_size, stride or (), padding, dilation), ceil_mode)
    return found if return_indices else found[0]


def max_pool2d(
    self: Tensor, kernel_size: Sequence[int] | int, stride: Sequence[int] | int | None = None,
    padding: Sequence[int] | int = 0, dilation: Sequence[int] | int = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """Take the largest of each window, and where it is if that is asked for."""
    found = _windows(self, 2, (kernel_size, stride or (), padding, dilation), ceil_mode)
    return found if return_indices else found[0]


def max_pool3d(
    self: Tensor, kernel_size: Sequence[int] | int, stride: Sequence[int] | int | None = None,
    padding: Sequence[int] | int = 0, dilation: Sequence[int] | int = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """Take the largest of each window, and where it is if that is asked for."""
    found = _windows(self, 3, (kernel_size, stride or (), padding, dilation), ceil_mode)
    return found if return_indices else found[0]


def adaptive_max_pool(self: Tensor, output_size: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Take the largest of each window, and where it is; windows as even as sizes allow."""
    places = []
    for number, out in enumerate(output_size):
        size = self.size(self.dim() - len(output_size) + number)
        width = max((-(-(i + 1) * size // out) - i * size // out for i in range(out)), default=0)
        number_out = torch.arange(out, device=self.device).unsqueeze(-1)
        start = number_out * size // out
        place = start + torch.arange(width, device=self.device)
        end = ((number_out + 1) * size + out - 1) // out
        places.append((place.clamp(0, size - 1), place < end))
    return _pooled(self, places)


def _adapted(x: Tensor, size: Sequence[int | None] | int, count: int, both: bool) -> Any:
    """As users ask for it: one size for all dimensions, None for that of the input."""
    full = [size] * count if isinstance(size, int) else size
    have = x.shape[-count:]
    found = adaptive_max_pool(x, [h if w is None else w for w, h in zip(full, have, strict=True)])
    return found if both else found[0]


def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Take the largest of each window, and where it is if that is asked for."""
    return _adapted(input, output_size, 1, return_indices)


def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Take the largest of each window, and where it is if that is asked for."""
    return _adapted(input, output_size, 2, return_indices)


def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Take the largest of each window, and where it is if that is asked for."""
    return _adapted(input, output_size, 3, return_indices)


def _lost(call: Call) -> str:
    """Say why a call has no largest value in each window; "" where it has."""
    x, dims = call.args[0], dims_of(call.func.name())
    if x.dtype.is_complex or x.dtype is torch.bool:
        return "the values have no order"
    kernel = _each(call.given("kernel_size"), dims)
    stride = _each(call.given("stride") or kernel, dims)
    padding, dilation = (_each(call.given(n), dims) for n in ("padding", "dilation"))
    windows = zip(kernel, stride, padding, dilation, strict=True)
    for size, (k, step, pad, apart) in zip(x.shape[-dims:], windows, strict=True):
        starts = range(-pad, size + pad, step)
        if any(all(not 0 <= s + i * apart < size for i in range(k)) for s in starts if s < 0):
            return "a window lies wholly in the padding"
    return ""


class MaxPoolByWindows(Rule):
    """The windows are laid side by side, and the largest of each is looked up.

    That takes the memory of all windows, kernel size over stride times the input in each
    dimension. Of equal values the first counts, and NaN counts as larger than all, as in PyTorch;
    the value is read at the index, so the gradient goes where PyTorch sends it. Where windows
    overlap, gradients in half precision add up in float32, which is closer than PyTorch's own sum.
    """

    name = "max-pool-by-windows"
    functions: ClassVar[_Spelled] = {
        "aten::max_pool1d": max_pool1d,
        "aten::max_pool2d": max_pool2d,
        "aten::max_pool3d": max_pool3d,
        "aten::max_pool1d_with_indices": max_pool1d_with_indices,
        "aten::max_pool2d_with_indices": max_pool2d_with_indices,
        "aten::max_pool3d_with_indices": max_pool3d_with_indices,
    }
    replaces: ClassVar[tuple[str, ...]] = tuple(functions)
    summary = "Lay the windows side by side and look up the largest of each"
    references: ClassVar[tuple[str, ...]] = ("https://github.com/pytorch/pytorch/pull/190065",)
    spelled: ClassVar[_Spelled] = {
        f"{place}.max_pool{dims}d": function
        for place in ("torch", "torch.nn.functional")
        for dims, function in ((1, max_pool1d), (2, max_pool2d), (3, max_pool3d))
    }

    def refuses(self, call: Call) -> str:
        """Decline more windows than fit side by side."""
        dims = dims_of(call.func.name())
        kernel = _each(call.given("kernel_size"), dims)
        stride = _each(call.given("stride") or kernel, dims)
        held = call.args[0].numel() * math.prod(k / s for k, s in zip(kernel, stride, strict=True))
        lost = _lost(call)
        if lost or held <= LARGEST:
            return lost
        return Sentence("the windows together have {count} elements", count=f"{held:,.0f}")

    def example(self, op: str, draw: Draw) -> Arguments:
        """With and without batch, strides, padding, dilation and a last window that overhangs."""
        dims = range(dims_of(op))
        lead = [draw.integer(0, 2), draw.integer(1, 2)] if draw.flag() else [draw.integer(1, 3)]
        kernel = [draw.integer(1, 3) for _ in dims]
        stride = [draw.integer(1, 3) for _ in dims] if draw.flag() else []
        padding = [draw.integer(0, k // 2) for k in kernel]
        dilation = [draw.integer(1, 2) for _ in dims]
        spans = [apart * (k - 1) for apart, k in zip(dilation, kernel, strict=True)]
        x = draw.tensor([*lead, *(span + draw.integer(1, 4) for span in spans)], _FLOATS)
        return (x, kernel, stride, padding, dilation, draw.flag()), {}


class MaxPoolBySelecting(MaxPoolByWindows):
    """The windows are laid side by side, and the largest of each is selected from one row.

    They take kernel size over stride times the memory of the input, in both dimensions. Where a
    value lies is counted instead of gathered, since an Ascend 310B has no kernel for ``gather``.
    """

    name = "max-pool-by-selecting"
    functions: ClassVar[_Spelled] = {}
    replaces: ClassVar[tuple[str, ...]] = ("aten::max_pool2d_with_indices",)
    summary = "Lay the windows side by side and select the largest of each by its place"
    spelled: ClassVar[_Spelled] = {}
    replace = staticmethod(max_pool2d_with_indices_by_selecting)


class AdaptiveMaxPoolByWindows(Rule):
    """Windows as even as sizes allow are laid side by side, and the largest of each is looked up.

    Window ``i`` of ``n`` over ``size`` goes from ``floor(i * size / n)`` up to ``ceil((i + 1) *
    size / n)``; all are laid out at the width of the widest. Sizes need not divide each other. Of
    equal values the first counts, NaN counts as larger.
    """

    name = "adaptive-max-pool-by-windows"
    replaces = tuple(f"aten::adaptive_max_pool{dims}d" for dims in (1, 2, 3))
    summary = "Lay the windows side by side and look up the largest of each"
    references = ("https://github.com/pytorch/pytorch/issues/190064",)
    spelled: ClassVar[_Spelled] = {
        "torch.nn.functional.adaptive_max_pool1d": adaptive_max_pool1d,
        "torch.nn.functional.adaptive_max_pool2d": adaptive_max_pool2d,
        "torch.nn.functional.adaptive_max_pool3d": adaptive_max_pool3d,
    }
    replace = staticmethod(adaptive_max_pool)

    def refuses(self, call: Call) -> str:
        """Decline more windows than fit side by side."""
        x = call.args[0]
        if x.dtype.is_complex or x.dtype is torch.bool:
            return "the values have no order"
        held = x.numel() * 2 ** len(call.given("output_size"))
        if held <= LARGEST:
            return ""
        return Sentence("the windows together may have {count} elements", count=f"{held:,}")

    def example(self, op: str, draw: Draw) -> Arguments:
        """Sizes that divide and that do not, outputs larger than inputs as well."""
        dims = int(op[-2])
        lead = [draw.integer(0, 2), draw.integer(1, 2)] if draw.flag() else [draw.integer(1, 3)]
        x = draw.tensor([*lead, *(draw.integer(1, 7) for _ in range(dims))], _FLOATS)
        return (x, [draw.integer(1, 8) for _ in range(dims)]), {}
