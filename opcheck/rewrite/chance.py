"""Two functions that draw random results: whether they draw from the same distribution."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map

from opcheck.rewrite.call import Call

FEW = 30
"""Draws that tell a wrong shape, dtype, sign or scale."""
_PROJECTIONS = 4
_ODDS = 1e-7
"""How often a right function may be taken for a wrong one, for each distribution compared."""


def unlike(call: Call, function: Callable[..., Any], draws: int = FEW) -> str:
    """Say how ``function`` is unlike the overload of a call; "" where no difference is seen.

    Shapes and dtypes must be the same. Every element of the results, and sums of them with
    random signs, must be distributed alike (two-sample Kolmogorov-Smirnov): by the theorem of
    Cramér and Wold the sums tell whether elements depend on each other as they should.

    Args:
        call: of an overload that draws.
        function: takes what the overload takes.
        draws: how often either is called; 2,000 see a difference of 0.1 in probability.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        try:
            wanted = [_drawn(call, call.func) for _ in range(draws)]
        except (RuntimeError, NotImplementedError):
            return ""  # nothing to be like
        torch.manual_seed(2)
        try:
            found = [_drawn(call, function) for _ in range(draws)]
        except Exception as error:
            return f"the stand-in fails on the host: {error}"
    for a, b in zip(wanted[0], found[0], strict=True):
        if (a.shape, a.dtype) != (b.shape, b.dtype):
            return f"{b.dtype}{list(b.shape)} instead of {a.dtype}{list(a.shape)}"
    pairs = zip(zip(*wanted, strict=True), zip(*found, strict=True), strict=True)
    distance = max((_distance(_flat(a), _flat(b)) for a, b in pairs), default=0.0)
    allowed = math.sqrt(-math.log(_ODDS / 2) / draws)
    return f"distributions are {distance:.2f} apart" if distance > allowed else ""


def _drawn(call: Call, function: Callable[..., Any]) -> list[Tensor]:
    def copied(value: object) -> object:
        return value.clone() if isinstance(value, Tensor) else value

    args, kwargs = tree_map(copied, (tuple(call.args), dict(call.kwargs)))
    return [r for r in tree_leaves(function(*args, **kwargs)) if isinstance(r, Tensor)]


def _flat(draws: Sequence[Tensor]) -> Tensor:
    """Draws by elements, with some sums of elements beside them."""
    drawn = torch.stack(list(draws)).reshape(len(draws), -1).double()
    signs = torch.randint(
        0, 2, (drawn.size(1), _PROJECTIONS), generator=torch.Generator().manual_seed(0)
    )
    return torch.cat([drawn, drawn.nan_to_num() @ (signs.double() * 2 - 1)], 1)


def _distance(a: Tensor, b: Tensor) -> float:
    """The largest distance between the distribution functions of two samples, by columns."""
    if not a.numel():
        return 0.0
    both = torch.cat([a, b]).t().contiguous()
    below = [
        torch.searchsorted(sample.t().contiguous().sort(-1).values, both, right=True)
        for sample in (a, b)
    ]
    return float((below[0] - below[1]).abs().max()) / len(a)
