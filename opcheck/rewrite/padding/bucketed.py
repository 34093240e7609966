"""A model whose inputs are padded to few sizes, and whose results are cut back."""

from bisect import bisect_left
from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten


class Padded(NamedTuple):
    """A dimension of an input that is padded."""

    key: int | str
    """Position among the inputs, or name."""
    dim: int
    axis: str
    """The key of ``BUCKETS``."""
    value: float | None
    """None: its own first element again."""


class Made(NamedTuple):
    """A mask of ones that is made where it is not given."""

    key: str
    like: int | str
    """The input that has its shape."""


class Cut(NamedTuple):
    """A dimension of a result that has ``(size * times + plus) // per`` elements."""

    result: int
    dim: int
    axis: str
    times: int
    plus: int
    per: int


class Plan(NamedTuple):
    """What is padded and cut."""

    names: tuple[str, ...]
    """Parameters of the model's forward, by position."""
    buckets: Mapping[str, tuple[int, ...]]
    padded: tuple[Padded, ...]
    made: tuple[Made, ...]
    cuts: tuple[Cut, ...]


class Bucketed(nn.Module):
    """Calls a model with inputs of few sizes alone; takes every size up to the largest of them."""

    def __init__(self, model: nn.Module, plan: Plan) -> None:
        super().__init__()
        self.model = model
        self.plan = plan

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Pad, call the model, and cut its results.

        Raises:
            ValueError: a size is larger than every bucket, or inputs of one size differ in it.
        """
        places = {name: place for place, name in enumerate(self.plan.names)}
        named = {places.get(name, name): name for name in kwargs}
        inputs: dict[int | str, Any] = dict(enumerate(args))
        inputs.update({key: kwargs[name] for key, name in named.items()})
        for mask in self.plan.made:
            key = places.get(mask.key, mask.key)
            if inputs.get(key) is None:
                inputs[key] = torch.ones_like(inputs[mask.like], dtype=torch.int64)
                named[key] = mask.key
        sizes = self._sizes(inputs)
        for one in self.plan.padded:
            if inputs.get(one.key) is not None:
                size = self._bucket(one.axis, sizes[one.axis])
                inputs[one.key] = _grown(inputs[one.key], one.dim, size, one.value)
        by_place = [inputs[place] for place in range(len(args))]
        found = self.model(*by_place, **{name: inputs[key] for key, name in named.items()})
        return self._cut(found, sizes)

    def _sizes(self, inputs: Mapping[int | str, Any]) -> dict[str, int]:
        sizes: dict[str, int] = {}
        for one in self.plan.padded:
            tensors = [t for t in tree_flatten(inputs.get(one.key))[0] if isinstance(t, Tensor)]
            for tensor in tensors:
                if tensor.dim() <= one.dim:
                    continue
                size = int(tensor.shape[one.dim])
                if sizes.setdefault(one.axis, size) != size:
                    raise ValueError(f"{one.axis}: {size} and {sizes[one.axis]} at once")
        return sizes

    def _bucket(self, axis: str, size: int) -> int:
        buckets = self.plan.buckets[axis]
        place = bisect_left(buckets, size)
        if place == len(buckets):
            raise ValueError(f"{axis}: {size} is more than the largest bucket, {buckets[-1]}")
        return buckets[place]

    def _cut(self, found: Any, sizes: Mapping[str, int]) -> Any:
        leaves, spec = tree_flatten(found)
        for one in self.plan.cuts:
            if one.axis in sizes:
                size = (sizes[one.axis] * one.times + one.plus) // one.per
                leaves[one.result] = leaves[one.result].narrow(one.dim, 0, size)
        plain = (Tensor, int, float, str)
        kept = [leaf if isinstance(leaf, plain) else None for leaf in leaves]
        return tree_unflatten(kept, spec)


def _grown(value: Any, dim: int, size: int, fill: float | None) -> Any:
    """Every tensor with so many elements in a dimension."""

    def grow(one: Any) -> Any:
        if not isinstance(one, Tensor) or one.dim() <= dim or one.shape[dim] == size:
            return one
        missing = [*one.shape]
        missing[dim] = size - one.shape[dim]
        if fill is None:
            more = one.narrow(dim, 0, 1).expand(missing)
        else:
            more = one.new_full(missing, fill)
        return torch.cat((one, more), dim)

    return tree_map(grow, value)
