"""Padding, repeating and rolling without their kernels."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.lang.sentence import Sentence
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


def repeat_interleave(
    self: Tensor, repeats: int, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Expand a new dimension and merge it."""
    x = self.flatten() if dim is None or not self.dim() else self
    at = 0 if dim is None else dim % max(self.dim(), 1)
    sizes = [*x.shape[: at + 1], repeats, *x.shape[at + 1 :]]
    made = x.unsqueeze(at + 1).expand(sizes)
    return made.clone(memory_format=torch.contiguous_format).flatten(at, at + 1)


def places_repeated(repeats: Tensor, *, output_size: int | None = None) -> Tensor:
    """Count, for each element of the result, how many ends of repeats come before it."""
    if output_size is None:
        raise RuntimeError("the number of results is not known")
    ends = repeats.cumsum(0)
    places = torch.arange(output_size, device=repeats.device, dtype=repeats.dtype)
    return (places.unsqueeze(-1) >= ends).to(repeats.dtype).sum(-1, dtype=repeats.dtype)


def repeat_expanded(
    input: Tensor,
    repeats: Tensor | int | None = None,
    dim: int | None = None,
    *,
    output_size: int | None = None,
) -> Tensor:
    """Expand a new dimension and merge it, where one number says how often."""
    if isinstance(repeats, int):
        return repeat_interleave(input, repeats, dim, output_size=output_size)
    if repeats is None:
        return torch.repeat_interleave(input, output_size=output_size)
    return torch.repeat_interleave(input, repeats, dim, output_size=output_size)


def repeat_counted(
    input: Tensor,
    repeats: Tensor | int | None = None,
    dim: int | None = None,
    *,
    output_size: int | None = None,
) -> Tensor:
    """Select the element whose end of repeats is the first beyond each place."""
    if repeats is None:
        return places_repeated(input, output_size=output_size)
    if not isinstance(repeats, Tensor) or output_size is None:
        return torch.repeat_interleave(input, repeats, dim, output_size=output_size)
    x, at = (input.flatten(), 0) if dim is None else (input, dim)
    if repeats.numel() == 1:
        repeats = repeats.reshape(1).expand(x.size(at))
    return x.index_select(at, places_repeated(repeats, output_size=output_size))


class RepeatInterleaveByExpanding(Rule):
    """A new dimension after the one that repeats is expanded and merged into it."""

    name = "repeat-interleave-by-expanding"
    replaces: ClassVar[tuple[str, ...]] = ("aten::repeat_interleave.self_int",)
    summary = "Expand a new dimension and merge it"
    references = ("https://github.com/huggingface/diffusers/pull/10820",)
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.repeat_interleave": repeat_expanded, "Tensor.repeat_interleave": repeat_expanded
    }  # fmt: skip
    replace: ClassVar[Callable[..., Any]] = staticmethod(repeat_interleave)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Along any dimension, or flattened."""
        x = draw.tensor(draw.shape(0, 3, smallest=0), ANY)
        dim = draw.dim(x) if draw.flag() else None
        return (x, draw.integer(0, 3), dim), {}


class RepeatInterleaveByCounting(RepeatInterleaveByExpanding):
    """Element ``i`` of the result is of the repeat whose end is the first beyond ``i``.

    All ends are compared with all places: that takes their product in bytes. Only where the size
    of the result is given; without it, it depends on values.
    """

    name = "repeat-interleave-by-counting"
    replaces = ("aten::repeat_interleave.Tensor",)
    summary = "Count the ends of repeats before each place"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.repeat_interleave": repeat_counted, "Tensor.repeat_interleave": repeat_counted
    }  # fmt: skip
    replace = staticmethod(places_repeated)

    def refuses(self, call: Call) -> str:
        """Decline sizes that only values tell, and tables that are too large."""
        size = call.given("output_size")
        if size is None:
            return "the size of the result is not given, so it depends on values"
        held = call.args[0].numel() * size
        if held <= 1 << 26:
            return ""
        return Sentence("the table of comparisons has {count} elements", count=f"{held:,}")

    def example(self, op: str, draw: Draw) -> Arguments:
        """Any repeats, also none."""
        repeats = draw.indices([draw.integer(0, 5)], 4)
        return (repeats,), {"output_size": int(repeats.sum())}


def roll(self: Tensor, shifts: Sequence[int] | int, dims: Sequence[int] | int = ()) -> Tensor:
    """Exchange the two parts that each shift cuts a dimension into."""
    moves = [shifts] if isinstance(shifts, int) else list(shifts)
    along = [dims] if isinstance(dims, int) else list(dims)
    if not along:
        return roll(self.flatten(), moves, [0]).reshape(self.shape)
    if len(moves) != len(along):
        raise RuntimeError(f"{len(moves)} shifts for {len(along)} dimensions")
    for shift, dim in zip(moves, along, strict=True):
        size = self.size(dim)
        cut = -shift % size if size else 0
        if cut:
            parts = (self.narrow(dim, cut, size - cut), self.narrow(dim, 0, cut))
            self = torch.cat(parts, dim)
    return self.clone(memory_format=torch.contiguous_format)


class RollByJoining(Rule):
    """Each shift cuts a dimension in two; the parts are joined the other way round."""

    name = "roll-by-joining"
    replaces = ("aten::roll",)
    summary = "Join the two parts the other way round"
    spellings = ("torch.roll", "Tensor.roll")
    references = ("https://github.com/pytorch/pytorch/blob/main/torch/_refs/__init__.py",)
    replace = staticmethod(roll)

    def example(self, op: str, draw: Draw) -> Arguments:
        """With dimensions or flattened, shifts of any size and sign."""
        x = draw.tensor(dtypes=ANY)
        if not x.dim() or draw.flag():
            return (x, [draw.integer(-7, 7)]), {}
        dims = [draw.dim(x) for _ in range(draw.integer(1, 2))]
        return (x, [draw.integer(-7, 7) for _ in dims], dims), {}
