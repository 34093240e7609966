"""Calls whose results have a size that depends on values, and the same in a fixed size.

Each way gives as many rows as it is told, those of the call first, and how many of them count.
What is shown of it is the body of the function that is tried.
"""

import inspect
from collections.abc import Callable, Sequence
from textwrap import dedent

import torch
from msgspec import Struct
from torch import Generator, Tensor

from opcheck.model.padding import FixedCode

DRAWS = 6
"""Inputs that each way is tried on, among them none and all of what is looked for."""
_SIZE = 24


def _nonzero(x: Tensor, size: int) -> tuple[Tensor, Tensor]:
    found = torch.nonzero_static(x, size=size, fill_value=-1)
    count = x.count_nonzero()
    return found, count


def _nonzero_by_sort(x: Tensor, size: int) -> tuple[Tensor, Tensor]:
    there = x.flatten() != 0
    order = (~there).to(torch.int32).sort(stable=True).indices[:size]
    found = torch.stack(torch.unravel_index(order, x.shape), dim=1)
    count = there.sum()
    return found, count


def _masked(x: Tensor, mask: Tensor, size: int) -> tuple[Tensor, Tensor]:
    order = (~mask.flatten()).to(torch.int32).sort(stable=True).indices[:size]
    found = x.flatten(0, mask.dim() - 1)[order]
    count = mask.sum()
    return found, count


def _put(x: Tensor, mask: Tensor, value: Tensor) -> tuple[Tensor, int]:
    found = torch.where(mask, value, x)
    return found, len(found)


def _unique(x: Tensor, size: int) -> tuple[Tensor, Tensor]:
    ordered = x.flatten().sort().values
    first = ordered.diff(prepend=ordered[:1] - 1) != 0
    found = ordered[(~first).to(torch.int32).sort(stable=True).indices[:size]]
    count = first.sum()
    return found, count


def _repeated(x: Tensor, repeats: Tensor, size: int) -> tuple[Tensor, Tensor]:
    ends = repeats.cumsum(0)
    rows = torch.searchsorted(ends, torch.arange(size, device=x.device), right=True)
    found = x[rows.clamp(max=len(x) - 1)]
    count = ends[-1]
    return found, count


def _counted(x: Tensor, size: int) -> tuple[Tensor, Tensor]:
    none = torch.zeros(size, dtype=torch.int64, device=x.device)
    found = none.scatter_add(0, x, torch.ones_like(x))
    count = x.max() + 1
    return found, count


class FixedForm(Struct, frozen=True):
    """One way to compute in a fixed size what an overload gives in a size of its own."""

    ops: frozenset[str]
    needs: str
    """The overload that not every target has a kernel for."""
    call: Callable[..., Tensor]
    """What the overload gives."""
    instead: Callable[..., tuple[Tensor, Tensor | int]]
    draw: Callable[[int], tuple[Tensor, ...]]
    sized: bool = True
    """Whether ``instead`` is told a size."""

    @property
    def code(self) -> str:
        """The body of ``instead``, without what it returns."""
        lines = inspect.getsource(self.instead).splitlines()[1:]
        return dedent("\n".join(lines[:-1]))

    def tried(self) -> FixedCode:
        """Compare with the call on several inputs."""
        runs = [self._run(seed) for seed in range(DRAWS)]
        fixed = len({rows for _, rows in runs}) == 1
        right = sum(same for same, _ in runs) if fixed else 0
        return FixedCode(tuple(sorted(self.ops)), self.code, self.needs, DRAWS, right)

    def _run(self, seed: int) -> tuple[bool, int]:
        """Whether the rows that count are those of the call, and how many rows there are."""
        given = self.draw(seed)
        wanted = self.call(*given)
        found, count = self.instead(*given, *((_SIZE,) if self.sized else ()))
        same = int(count) == len(wanted) and torch.equal(found[: len(wanted)], wanted)
        return same, len(found)


def _mask(seed: int) -> Tensor:
    """One of none, of all, and of some."""
    if seed < 2:
        return torch.full((4, 6), bool(seed))
    return torch.rand((4, 6), generator=Generator().manual_seed(seed)) < 0.5


def _numbers(seed: int) -> Tensor:
    return torch.randn((4, 6), generator=Generator().manual_seed(seed))


def _few(seed: int) -> Tensor:
    """Numbers of which several are alike, at first all."""
    high = 1 if not seed else 3 * seed
    return torch.randint(0, high, (_SIZE,), generator=Generator().manual_seed(seed))


FORMS: Sequence[FixedForm] = (
    FixedForm(
        frozenset({"aten::nonzero"}), "aten::nonzero_static",
        torch.nonzero, _nonzero, lambda seed: (_mask(seed) * _numbers(seed),),
    ),
    FixedForm(
        frozenset({"aten::nonzero"}), "aten::sort.stable",
        torch.nonzero, _nonzero_by_sort, lambda seed: (_mask(seed) * _numbers(seed),),
    ),
    FixedForm(
        frozenset({"aten::index.Tensor", "aten::masked_select"}), "aten::sort.stable",
        lambda x, mask: x[mask], _masked, lambda seed: (_numbers(seed), _mask(seed)),
    ),
    FixedForm(
        frozenset({"aten::index_put", "aten::index_put_", "aten::_index_put_impl_"}),
        "aten::where.self",
        lambda x, mask, value: x.index_put((mask,), value), _put,
        lambda seed: (_numbers(seed), _mask(seed), torch.tensor(float(seed))),
        sized=False,
    ),
    FixedForm(
        frozenset({"aten::_unique", "aten::_unique2"}), "aten::sort.stable",
        torch.unique, _unique, lambda seed: (_few(seed),),
    ),
    FixedForm(
        frozenset({"aten::repeat_interleave.Tensor"}), "aten::searchsorted.Tensor",
        lambda x, repeats: x.repeat_interleave(repeats, 0), _repeated,
        lambda seed: (_numbers(seed), torch.tensor([seed, 0, 1, 2 + seed])),
    ),
    FixedForm(
        frozenset({"aten::bincount"}), "aten::scatter_add",
        torch.bincount, _counted, lambda seed: (_few(seed),),
    ),
)  # fmt: skip
"""In the order in which they are to be chosen."""


def fixed_forms(ops: Sequence[str]) -> tuple[FixedCode, ...]:
    """The ways to compute what these overloads give, each tried."""
    return tuple(form.tried() for form in FORMS if not form.ops.isdisjoint(ops))
