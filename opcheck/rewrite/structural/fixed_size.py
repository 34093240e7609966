"""Results of a chosen size in place of those whose size depends on values."""

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch
from msgspec import Struct
from torch import Tensor

from opcheck.lang.sentence import Sentence
from opcheck.model.matrix import SupportMatrix
from opcheck.model.plan import Label, Suggestion, Tier
from opcheck.model.trace import Node
from opcheck.rewrite.structural.line_proof import Both, Prover
from opcheck.rewrite.structural.mask_to_where import mask_of
from opcheck.rewrite.text import standalone

Pair = tuple[Tensor, Tensor]
"""As many as were asked for, and which of them are there."""


def masked_select_padded(x: Tensor, mask: Tensor, size: int) -> Pair:
    """Give ``x[mask]`` in the first places of ``size``, and which places those are."""
    flat = mask.reshape(-1)
    ranks = flat.long().cumsum(0) - 1
    slots = torch.where(flat & (ranks < size), ranks, torch.full_like(ranks, size))
    places = torch.arange(flat.numel(), device=x.device)
    none = flat.numel()  # the place of a row of zeros behind all others
    found = ranks.new_full([size + 1], none).scatter(0, slots, places)[:size]
    rows = x.reshape([flat.numel(), *x.shape[mask.dim() :]])
    rows = torch.cat([rows, rows.new_zeros([1, *rows.shape[1:]])]).index_select(0, found)
    return rows, torch.arange(size, device=x.device) < flat.sum()


def nonzero_padded(x: Tensor, size: int) -> Pair:
    """Give ``x.nonzero()`` in the first places of ``size``, and which places those are."""
    places = torch.arange(x.numel(), device=x.device)
    steps = [math.prod(x.shape[dim + 1 :]) for dim in range(x.dim())]
    columns = [
        places // max(step, 1) % max(length, 1) for step, length in zip(steps, x.shape, strict=True)
    ]
    table = torch.stack(columns, 1) if columns else places.reshape([1, 1])[:, :0]
    return masked_select_padded(table, (x != 0).reshape(-1), size)


def unique_padded(x: Tensor, size: int) -> Pair:
    """Give ``x.unique()`` in the first places of ``size``, and which places those are."""
    ordered = x.reshape(-1).sort().values
    first = torch.cat([torch.ones_like(ordered[:1], dtype=torch.bool), ordered[1:] != ordered[:-1]])
    return masked_select_padded(ordered, first, size)


def repeat_interleave_padded(repeats: Tensor, size: int) -> Pair:
    """Give ``torch.repeat_interleave(repeats)`` in the first places of ``size``, and which."""
    ends = repeats.cumsum(0)
    places = torch.arange(size, device=repeats.device)
    found = (places.unsqueeze(-1) >= ends).long().sum(-1)
    return found.clamp(max=max(repeats.numel() - 1, 0)), places < repeats.sum()


class Padded(Struct, frozen=True):
    """A function for an overload, and how the two are called alike."""

    function: Callable[..., Pair]
    original: Callable[..., Any]
    arguments: tuple[str, ...]
    """Of the overload, that the function is given."""
    most: int = 1
    """How many results there may be for each element of the last argument, where it is tried."""


PADDED: Mapping[str, Padded] = {
    "aten::index.Tensor": Padded(masked_select_padded, lambda x, m: x[m], ("self", "indices")),
    "aten::masked_select": Padded(masked_select_padded, torch.masked_select, ("self", "mask")),
    "aten::nonzero": Padded(nonzero_padded, torch.nonzero, ("self",)),
    "aten::_unique2": Padded(unique_padded, torch.unique, ("self",)),
    "aten::repeat_interleave.Tensor": Padded(
        repeat_interleave_padded, torch.repeat_interleave, ("repeats",), most=4
    ),
}
"""By overload."""


RULE = "fixed-size"
_COSTS = (
    "A size has to be chosen: what does not fit into it is lost, and what is left of it is padding "
    "that the second result marks, which what comes after has to heed"
)


def of_fixed_size(node: Node, matrix: SupportMatrix, prover: Prover) -> Suggestion | str:
    """The same with a size that is chosen; why there is none, where there is none."""
    known = PADDED.get(str(node.op))
    given = [tensor for name, tensor in node.tensors() if known and name in known.arguments]
    if known is None or not given:
        return ""
    if str(node.op) == "aten::index.Tensor" and mask_of(node) is None:
        return "it is not indexed by one mask alone"
    if len(given) > 1 and given[0].shape[: len(given[1].shape)] != given[1].shape:
        return "its mask is broadcast"
    name = known.function.__name__
    way = Suggestion(
        rule=RULE,
        tier=Tier.STRUCTURAL,
        label=Label.APPROXIMATE,
        replaces=str(node.op),
        summary=Sentence(
            "Choose the largest size that there can be, and call {func}(..., size)", func=name
        ),
        code=standalone(known.function),
        function=name,
        gives_up=_COSTS,
        by_hand=True,
    )
    size = max(1, known.most * given[-1].numel)
    names = ("x", "mask")[: len(given)]
    both = Both(
        known.original,
        partial(known.function, size=size),
        dict(zip(names, given, strict=True)),
        lambda pair: pair[0][pair[1]],
    )
    return prover.proven(way, both, (name, tuple(given)), matrix)
