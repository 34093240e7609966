"""Padding without its kernels."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import ANY, COMPLEX, INTEGERS, Draw

_WIDE = (torch.float32, torch.float64, *COMPLEX, *INTEGERS)
"""Gradients in half precision may be rounded at other times."""


def _picked(x: Tensor, places: Sequence[Tensor]) -> Tensor:
    """Elements of the last dimensions at each combination of places, which may have any shape.

    All at once: gradients then add up in the order of the result, as they do in PyTorch.
    """
    count = len(places)
    shapes = [place.shape for place in places]
    where = places[0].reshape(-1)
    for number in range(1, count):
        where = where.unsqueeze(-1) * x.size(number - count) + places[number].reshape(-1)
        where = where.reshape(-1)
    picked = x.flatten(-count).index_select(-1, where)
    return picked.reshape([*x.shape[:-count], *(size for shape in shapes for size in shape)])


def replication_pad(self: Tensor, padding: Sequence[int]) -> Tensor:
    """Read at places that stop at the border."""
    places = []
    for number in reversed(range(len(padding) // 2)):
        size = self.size(self.dim() - 1 - number)
        before, after = padding[2 * number], padding[2 * number + 1]
        place = torch.arange(-before, size + after, device=self.device)
        places.append(place.clamp(0, size - 1))
    return _picked(self, places)


def reflection_pad(self: Tensor, padding: Sequence[int]) -> Tensor:
    """Read at places that turn round at the border."""
    places = []
    for number in reversed(range(len(padding) // 2)):
        last = self.size(self.dim() - 1 - number) - 1
        before, after = padding[2 * number], padding[2 * number + 1]
        if before > last or after > last:
            raise RuntimeError(f"padding {before} and {after} of {last + 1} elements")
        place = torch.arange(-before, last + 1 + after, device=self.device).abs()
        places.append(last - (last - place).abs())
    return _picked(self, places)


def constant_pad_nd(self: Tensor, pad: Sequence[int], value: complex = 0) -> Tensor:
    """Join what is there and what is filled."""
    x = self
    for number in range(len(pad) // 2):
        dim = self.dim() - 1 - number
        before, after = pad[2 * number], pad[2 * number + 1]
        start, end = max(-before, 0), x.size(dim) - max(-after, 0)
        if end < start:
            raise RuntimeError(f"padding {before} and {after} leaves nothing of {x.size(dim)}")
        parts = [x.narrow(dim, start, end - start)]
        for count, place in ((before, 0), (after, len(parts))):
            if count > 0:
                sizes = [*x.shape[:dim], count, *x.shape[dim + 1 :]]
                filled = torch.full(sizes, value, dtype=self.dtype, device=self.device)
                parts.insert(place if place == 0 else len(parts), filled)
        x = torch.cat(parts, dim) if len(parts) > 1 else parts[0]
    return x.clone(memory_format=torch.contiguous_format) if x.numel() else x.contiguous()


def pad_replicating(
    input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None
) -> Tensor:
    """Read at places that stop at the border."""
    if mode == "replicate":
        return replication_pad(input, pad)
    return torch.nn.functional.pad(input, pad, mode, value)


def pad_reflecting(
    input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None
) -> Tensor:
    """Read at places that turn round at the border."""
    if mode == "reflect":
        return reflection_pad(input, pad)
    return torch.nn.functional.pad(input, pad, mode, value)


def pad_joining(
    input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None
) -> Tensor:
    """Join what is there and what is filled."""
    if mode == "constant":
        return constant_pad_nd(input, pad, 0 if value is None else value)
    return torch.nn.functional.pad(input, pad, mode, value)


class ReplicationPadByIndex(Rule):
    """Elements are picked by their index; places beyond the border stop there."""

    name = "replication-pad-by-index"
    replaces: ClassVar[tuple[str, ...]] = (
        "aten::replication_pad1d", "aten::replication_pad2d", "aten::replication_pad3d"
    )  # fmt: skip
    summary = "Pick elements at places that stop at the border"
    gives_up = "in half precision, the order in which gradients of one element are added"
    references: ClassVar[tuple[str, ...]] = (
        "https://github.com/pytorch/pytorch/blob/main/torch/_decomp/decompositions.py",
    )
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.nn.functional.pad": pad_replicating
    }
    replace: ClassVar[Callable[..., Any]] = staticmethod(replication_pad)

    def refuses(self, call: Call) -> str:
        """Decline padding that leaves nothing."""
        padded = call.args[0].shape[-len(call.args[1]) // 2 :]
        return "" if all(padded) else "there is nothing to repeat"

    def example(self, op: str, draw: Draw) -> Arguments:
        """With and without batch; negative padding takes elements away."""
        dims = int(op[-2])
        lead = [draw.integer(0, 2), 2] if draw.flag() else [draw.integer(1, 2)]
        sizes = [draw.integer(2, 5) for _ in range(dims)]
        pad = [draw.integer(0 if "refl" in op else -1, 1 if "refl" in op else 3) for _ in sizes * 2]
        return (draw.tensor([*lead, *sizes], _WIDE), pad), {}


class ReflectionPadByIndex(ReplicationPadByIndex):
    """Elements are picked by their index; places beyond the border turn round there."""

    name = "reflection-pad-by-index"
    replaces = ("aten::reflection_pad1d", "aten::reflection_pad2d", "aten::reflection_pad3d")
    summary = "Pick elements at places that turn round at the border"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.nn.functional.pad": pad_reflecting
    }
    replace = staticmethod(reflection_pad)


class ConstantPadByJoining(Rule):
    """Along each dimension, filled blocks are joined to both ends; negative padding cuts."""

    name = "constant-pad-by-joining"
    replaces = ("aten::constant_pad_nd",)
    summary = "Join filled blocks to both ends"
    spellings = ("torch.constant_pad_nd",)
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {"torch.nn.functional.pad": pad_joining}
    replace = staticmethod(constant_pad_nd)

    def refuses(self, call: Call) -> str:
        """Decline layouts that would change."""
        x = call.args[0]
        return "" if x.is_contiguous() else "the result would lose the layout of the input"

    def example(self, op: str, draw: Draw) -> Arguments:
        """Any number of dimensions, padded, cut or left."""
        x = draw.tensor(draw.shape(1, 4, smallest=1), ANY)
        pad = [draw.integer(-1, 3) for _ in range(2 * draw.integer(0, x.dim()))]
        return (x, pad, draw.choose((0, 1, 2))), {}
