"""``repeat_interleave`` without its kernel."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import ANY, Draw


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
        return "" if held <= 1 << 26 else f"the table of comparisons has {held:,} elements"

    def example(self, op: str, draw: Draw) -> Arguments:
        """Any repeats, also none."""
        repeats = draw.indices([draw.integer(0, 5)], 4)
        return (repeats,), {"output_size": int(repeats.sum())}
