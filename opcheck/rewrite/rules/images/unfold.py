"""``unfold`` and ``fold`` of images without their kernels."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.lang.sentence import Sentence
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import FLOATS, Draw

LARGEST = 1 << 28
"""Elements of all blocks beyond which no one wants to hold them."""


def _count(size: int, kernel: int, dilation: int, padding: int, stride: int) -> int:
    return (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1


def _two(given: Sequence[int] | int) -> list[int]:
    full = [given] if isinstance(given, int) else list(given)
    return full * 2 if len(full) == 1 else full


def im2col(
    self: Tensor, kernel_size: Sequence[int] | int, dilation: Sequence[int] | int,
    padding: Sequence[int] | int, stride: Sequence[int] | int,
) -> Tensor:  # fmt: skip
    """Pick the elements of all blocks by index."""
    kernel, apart, pad, step = _two(kernel_size), _two(dilation), _two(padding), _two(stride)
    batched = self.dim() == 4
    x = self if batched else self.unsqueeze(0)
    if any(pad):
        x = torch.constant_pad_nd(x, [pad[1], pad[1], pad[0], pad[0]])
    places = []
    for number, size in enumerate(self.shape[-2:]):
        count = _count(size, kernel[number], apart[number], pad[number], step[number])
        if count < 1:
            raise RuntimeError(f"no block of {kernel[number]} fits into {size}")
        inner = torch.arange(kernel[number], device=self.device).unsqueeze(-1) * apart[number]
        places.append(inner + torch.arange(count, device=self.device) * step[number])
    (rows, down), (columns, across) = places[0].shape, places[1].shape
    where = (places[0] * x.size(3)).reshape(rows, 1, down, 1) + places[1].unsqueeze(1)
    made = x.flatten(2).index_select(2, where.reshape(-1))
    made = made.reshape(x.size(0), x.size(1) * rows * columns, down * across)
    return made if batched else made.squeeze(0)


def unfold(
    input: Tensor, kernel_size: Sequence[int] | int, dilation: Sequence[int] | int = 1,
    padding: Sequence[int] | int = 0, stride: Sequence[int] | int = 1,
) -> Tensor:  # fmt: skip
    """Pick the elements of all blocks by index."""
    return im2col(input, kernel_size, dilation, padding, stride)


def col2im(
    self: Tensor, output_size: Sequence[int] | int, kernel_size: Sequence[int] | int,
    dilation: Sequence[int] | int, padding: Sequence[int] | int, stride: Sequence[int] | int,
) -> Tensor:  # fmt: skip
    """Add each element of the blocks where it belongs, one place in the block after the other."""
    kernel, apart, pad, step = _two(kernel_size), _two(dilation), _two(padding), _two(stride)
    out = _two(output_size)
    rows, columns = (_count(out[d], kernel[d], apart[d], pad[d], step[d]) for d in (0, 1))
    x = self if self.dim() == 3 else self.unsqueeze(0)
    if rows < 1 or columns < 1 or x.size(2) != rows * columns:
        raise RuntimeError(f"{x.size(2)} blocks are not {rows} x {columns}")
    x = x.reshape(x.size(0), -1, kernel[0], kernel[1], rows, columns)
    made = x.new_zeros(x.size(0), x.size(1), out[0] + 2 * pad[0], out[1] + 2 * pad[1])
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            top, left = i * apart[0], j * apart[1]
            bottom, right = top + step[0] * (rows - 1) + 1, left + step[1] * (columns - 1) + 1
            made[:, :, top : bottom : step[0], left : right : step[1]] += x[:, :, i, j]
    made = made[:, :, pad[0] : pad[0] + out[0], pad[1] : pad[1] + out[1]]
    return (made if self.dim() == 3 else made.squeeze(0)).contiguous()


def fold(
    input: Tensor, output_size: Sequence[int] | int, kernel_size: Sequence[int] | int,
    dilation: Sequence[int] | int = 1, padding: Sequence[int] | int = 0,
    stride: Sequence[int] | int = 1,
) -> Tensor:  # fmt: skip
    """Add each element of the blocks where it belongs, one place in the block after the other."""
    return col2im(input, output_size, kernel_size, dilation, padding, stride)


class UnfoldByIndex(Rule):
    """The elements of all blocks are picked by their index in the padded image, at once.

    Gradients add up in the order of PyTorch's kernel, in half precision with other roundings. A
    convolution with an identity kernel gives the same and is what one TPU user chose; others found
    it slow, so an index is used here.
    """

    name = "unfold-by-index"
    replaces: ClassVar[tuple[str, ...]] = ("aten::im2col",)
    summary = "Pick the elements of all blocks by index"
    references: ClassVar[tuple[str, ...]] = ("https://github.com/pytorch/xla/issues/2932",)
    spellings: ClassVar[tuple[str, ...]] = ("torch._C._nn.im2col",)
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {"torch.nn.functional.unfold": unfold}
    replace: ClassVar[Callable[..., Any]] = staticmethod(im2col)

    def refuses(self, call: Call) -> str:
        """Decline more blocks than fit."""
        kernel, step = _two(call.given("kernel_size")), _two(call.given("stride"))
        held = call.args[0].numel() * math.prod(kernel) // max(math.prod(step), 1)
        if held <= LARGEST:
            return ""
        return Sentence("the blocks together have {count} elements", count=f"{held:,}")

    def example(self, op: str, draw: Draw) -> Arguments:
        """With and without batch, overlapping and apart."""
        kernel = [draw.integer(1, 3), draw.integer(1, 3)]
        dilation = [draw.integer(1, 2), draw.integer(1, 2)]
        padding, stride = [draw.integer(0, 2) for _ in "hw"], [draw.integer(1, 3) for _ in "hw"]
        sizes = [d * (k - 1) + draw.integer(1, 4) for d, k in zip(dilation, kernel, strict=True)]
        lead = [draw.integer(1, 2), draw.integer(1, 2)][draw.integer(0, 1) :]
        if "col2im" not in op:
            return (draw.tensor([*lead, *sizes], FLOATS[:2]), kernel, dilation, padding, stride), {}
        counts = [
            _count(*given) for given in zip(sizes, kernel, dilation, padding, stride, strict=True)
        ]
        blocks = [*lead[:-1], lead[-1] * math.prod(kernel), math.prod(counts)]
        x = draw.tensor(blocks, FLOATS[:2])
        return (x, sizes, kernel, dilation, padding, stride), {}


class FoldByAdding(UnfoldByIndex):
    """A zero image to which the blocks are added, one of their places after the other.

    That is the order of PyTorch's kernel; it takes one addition for each place in the block.
    """

    name = "fold-by-adding"
    replaces = ("aten::col2im",)
    summary = "Add the blocks to a zero image, one of their places after the other"
    spellings = ("torch._C._nn.col2im",)
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {"torch.nn.functional.fold": fold}
    replace = staticmethod(col2im)

    def refuses(self, call: Call) -> str:
        """Decline blocks of many places."""
        places = math.prod(_two(call.given("kernel_size")))
        if places <= 256:
            return ""
        return Sentence("blocks have {count} places, each takes an addition", count=places)
