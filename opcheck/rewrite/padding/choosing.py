"""What inputs may be padded with, masks that may be made, and how results follow from sizes."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from opcheck.lang.sentence import Sentence
from opcheck.rewrite.padding.axes import Group
from opcheck.rewrite.padding.bucketed import Cut, Made, Padded, Plan
from opcheck.rewrite.padding.runs import Ran

MASK = "attention_mask"
"""The parameter of the models of transformers that takes ones where there is text."""
_MOST = 24
"""How many ways to pad are tried at most."""
_TIMES = (1, 2, 4, 8, 16, 32, 3, 5, 6)
_PER = (1, 2, 4, 8, 16, 32, 64, 3, 5, 6)

Inputs = Mapping[int | str, Any]
Fill = float | None


def plans(
    model: nn.Module, names: Sequence[str], inputs: Inputs, groups: Sequence[Group]
) -> list[Plan]:
    """Ways to pad, the likeliest first, without cuts."""
    places = [(axis, group) for group in groups for axis in group.axes]
    values = [_values(model, names, axis.key, inputs[axis.key], axis.dim) for axis, _ in places]
    made = list(_masks(names, inputs, groups))
    found: list[Plan] = []
    buckets = {group.name: group.buckets for group in groups}
    for masks in ([], made) if made else ([],):
        more = [Padded(_place(one.key, names), 1, _axis_of(one, names, groups), 0) for one in masks]
        for chosen in itertools.islice(itertools.product(*values), _MOST):
            padded = [
                Padded(_place(axis.key, names), axis.dim, group.name, value)
                for (axis, group), value in zip(places, chosen, strict=True)
            ]
            found.append(Plan(tuple(names), buckets, (*padded, *more), tuple(masks), ()))
    return found


def _values(
    model: nn.Module, names: Sequence[str], key: int | str, value: Any, dim: int
) -> tuple[Fill, ...]:
    """Numbers that an input may be padded with; None: its own first element."""
    tensor = next(leaf for leaf in tree_leaves(value) if isinstance(leaf, Tensor))
    name = key if isinstance(key, str) else names[key] if key < len(names) else ""
    if dim == 0:
        return (None,)  # of a batch: what the model takes anyhow
    if tensor.dtype == torch.bool:
        return (False, True)
    if "mask" in name:
        return (0.0, float("-inf")) if tensor.is_floating_point() else (0, 1)
    if tensor.is_floating_point():
        return (0.0, None)
    token = getattr(getattr(model, "config", None), "pad_token_id", None)
    ids = (token,) if isinstance(token, int) and "id" in name and token >= 0 else ()
    return (*ids, 0, None)


def _masks(names: Sequence[str], inputs: Inputs, groups: Sequence[Group]) -> Iterator[Made]:
    """The mask of a model that takes one and is given none."""
    there = MASK in inputs or (MASK in names and inputs.get(names.index(MASK)) is not None)
    if MASK not in names or there:
        return
    for axis in (axis for group in groups for axis in group.axes):
        value = inputs[axis.key]
        ids = isinstance(value, Tensor) and value.dim() == 2 and not value.is_floating_point()
        if ids and axis.dim == 1:
            yield Made(MASK, _place(axis.key, names))
            return


def _axis_of(mask: Made, names: Sequence[str], groups: Sequence[Group]) -> str:
    return next(
        group.name
        for group in groups
        for axis in group.axes
        if axis.dim == 1 and _place(axis.key, names) == mask.like
    )


def _place(key: int | str, names: Sequence[str]) -> int | str:
    """The position of an input that has one, however it is given."""
    return names.index(key) if isinstance(key, str) and key in names else key


def cuts(seen: Sequence[tuple[Mapping[Group, int], Ran]]) -> tuple[Cut, ...] | str:
    """How sizes of results follow from those of inputs; why that cannot be told, where not."""
    first = seen[0][1]
    found: list[Cut] = []
    for place, leaf in enumerate(first.leaves):
        if not isinstance(leaf, Tensor):
            continue
        shapes = [_shape(ran, place) for _, ran in seen]
        if any(len(shape) != leaf.dim() for shape in shapes):
            return Sentence("{name} has not always as many dimensions", name=first.names[place])
        for dim in range(leaf.dim()):
            rows = [(seen[at][0], shape[dim]) for at, shape in enumerate(shapes)]
            if len({size for _, size in rows}) == 1:
                continue
            cut = _cut(place, dim, rows)
            if cut is None:
                return Sentence(
                    "how large dimension {dim} of {name} is does not follow from one of the sizes",
                    dim=dim,
                    name=first.names[place],
                )
            found.append(cut)
    return tuple(found)


def _shape(ran: Ran, place: int) -> tuple[int, ...]:
    leaf = ran.leaves[place] if place < len(ran.leaves) else None
    return tuple(leaf.shape) if isinstance(leaf, Tensor) else ()


def _cut(place: int, dim: int, rows: Sequence[tuple[Mapping[Group, int], int]]) -> Cut | None:
    """The simplest ``(size * times + plus) // per`` that gives every size of a result."""
    for group in rows[0][0]:
        for per, times in itertools.product(_PER, _TIMES):
            low = max(out * per - chosen[group] * times for chosen, out in rows)
            high = min(out * per - chosen[group] * times + per - 1 for chosen, out in rows)
            if low <= high:
                plus = next((n for n in (0, per - 1) if low <= n <= high), high)
                return Cut(place, dim, group.name, times, plus, per)
    return None
