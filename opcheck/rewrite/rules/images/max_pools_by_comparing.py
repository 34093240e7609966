"""Max pools that give no indices, from one comparison for each place in the window."""

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.rewrite.base import Arguments, Rule, dims_of
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import Draw

_FLOATS = (torch.float32, torch.float64)  # PyTorch rounds each sum of half-precision gradients


def _each(given: Sequence[int] | int, count: int) -> list[int]:
    full = [given] if isinstance(given, int) else list(given)
    return full * count if len(full) == 1 else full


def _windows(size: int, window: Sequence[int], ceil: bool) -> int:
    """How many windows there are: of a kernel size, stride, padding and dilation."""
    kernel, stride, padding, dilation = window
    span = size + 2 * padding - dilation * (kernel - 1) - 1
    out = (span + stride - 1 if ceil else span) // stride + 1
    if ceil and (out - 1) * stride >= size + padding:
        out -= 1
    if out < 1 or kernel < 1 or padding > kernel // 2:
        raise RuntimeError(f"no window of {kernel} fits into {size}")
    return out


def _begins(
    out: Sequence[int], windows: Sequence[Sequence[int]], offsets: Sequence[int], x: Tensor
) -> Tensor:
    """Which windows have no place inside of the tensor before the offsets."""
    found = torch.ones([1] * len(out), dtype=torch.bool, device=x.device)
    for number, (count, window, offset) in enumerate(zip(out, windows, offsets, strict=True)):
        _, stride, padding, dilation = window
        place = torch.arange(count, device=x.device) * stride + (offset * dilation - padding)
        inside = place >= 0 if not offset else torch.logical_and(place >= 0, place < dilation)
        found = torch.logical_and(found, inside.reshape([-1, *[1] * (len(out) - 1 - number)]))
    return found


def _pooled(
    self: Tensor, count: int, arguments: Sequence[Sequence[int] | int], ceil: bool
) -> Tensor:
    full = [_each(argument, count) for argument in arguments]
    full[1] = full[1] or full[0]
    windows = list(zip(*full, strict=True))
    sizes = self.shape[self.dim() - count :]
    out = [_windows(size, w, ceil) for size, w in zip(sizes, windows, strict=True)]
    pads: list[int] = []
    for size, number, (kernel, stride, padding, dilation) in zip(sizes, out, windows, strict=True):
        reach = (number - 1) * stride + dilation * (kernel - 1) + 1
        pads = [padding, max(0, reach - size - padding), *pads]
    lowest = float("-inf") if self.is_floating_point() else torch.iinfo(self.dtype).min
    x = torch.nn.functional.pad(self, pads, value=lowest) if any(pads) else self
    best: Tensor | None = None
    for offsets in product(*(range(kernel) for kernel in full[0])):
        part = x
        for number, (_, stride, _, dilation) in enumerate(windows):
            start, dim = offsets[number] * dilation, self.dim() - count + number
            end = start + (out[number] - 1) * stride + 1
            part = part[(slice(None),) * dim + (slice(start, end, stride),)]
        if best is None:
            best = part
            continue
        best = torch.where(part > best, part, best)
        if self.is_floating_point():
            best = torch.where(part != part, part, best)
        if any(full[2]):
            best = torch.where(_begins(out, windows, offsets, x), part, best)
    assert best is not None
    return best.contiguous()


def max_pool1d(
    self: Tensor, kernel_size: Sequence[int] | int, stride: Sequence[int] | int | None = None,
    padding: Sequence[int] | int = 0, dilation: Sequence[int] | int = 1, ceil_mode: bool = False,
) -> Tensor:  # fmt: skip
    """Take the largest of each window."""
    return _pooled(self, 1, (kernel_size, stride or (), padding, dilation), ceil_mode)


def max_pool2d(
    self: Tensor, kernel_size: Sequence[int] | int, stride: Sequence[int] | int | None = None,
    padding: Sequence[int] | int = 0, dilation: Sequence[int] | int = 1, ceil_mode: bool = False,
) -> Tensor:  # fmt: skip
    """Take the largest of each window."""
    return _pooled(self, 2, (kernel_size, stride or (), padding, dilation), ceil_mode)


def max_pool3d(
    self: Tensor, kernel_size: Sequence[int] | int, stride: Sequence[int] | int | None = None,
    padding: Sequence[int] | int = 0, dilation: Sequence[int] | int = 1, ceil_mode: bool = False,
) -> Tensor:  # fmt: skip
    """Take the largest of each window."""
    return _pooled(self, 3, (kernel_size, stride or (), padding, dilation), ceil_mode)


class MaxPoolWithoutIndices(Rule):
    """The largest so far is compared with the next place of all windows at once.

    As many rounds as a window has places, each of a few calls the size of the result; nothing is
    gathered. Of equal values the first counts, and NaN counts as larger than all, as in PyTorch,
    and so the gradient goes where PyTorch sends it.
    """

    name = "max-pool-without-indices"
    functions: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "aten::max_pool1d": max_pool1d,
        "aten::max_pool2d": max_pool2d,
        "aten::max_pool3d": max_pool3d,
    }
    replaces = tuple(functions)
    summary = "Compare the places of a window one after the other, for all windows at once"
    references = ("https://github.com/pytorch/pytorch/pull/190065",)

    def refuses(self, call: Call) -> str:
        """Decline what has no order, and windows that lie wholly in the padding."""
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
