"""A model run on the host with inputs of other sizes, and two runs compared."""

import copy
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from msgspec import Struct
from torch import Generator, Tensor, nn
from torch.utils._pytree import keystr, tree_leaves, tree_map
from torch.utils._pytree import tree_flatten_with_path as with_paths

from opcheck.trace.calls.modules import raise_if_bug, reason_of
from opcheck.trace.sizes.runs import Sizes, resized

DRAWS = 2
"""Sets of values at each choice of sizes: those of the example repeated, and drawn ones."""
WIDE_BYTES = 4 << 30
"""A model with more bytes of parameters than this as float64 is not computed in it."""
_ALLOWED = {torch.float64: 2.0**20, torch.float32: 2.0**8}
"""dtype -> by how many ``eps`` of its largest element a result may be off."""


class Ran(Struct, frozen=True):
    """What came of one run."""

    leaves: tuple[Any, ...]
    names: tuple[str, ...]
    """Of the leaves."""
    error: str = ""


def run(model: nn.Module, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Ran:
    """Run a model; inputs stay as they are."""
    given, named = copy.deepcopy((tuple(args), dict(kwargs)))
    try:
        with torch.no_grad(), torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            found = model(*given, **named)
    except MemoryError:
        raise
    except Exception as error:  # of the user's model with these sizes: an answer
        raise_if_bug(error)
        return Ran((), (), reason_of(error))
    return Ran(tuple(tree_leaves(found)), _names(found))


@contextmanager
def given_to(module: nn.Module) -> Iterator[dict[int | str, Any]]:
    """What a model is called with inside the block, by position or name."""
    seen: dict[int | str, Any] = {}

    def note(_: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        seen.update(enumerate(args))
        seen.update(kwargs)

    hook = module.register_forward_pre_hook(note, with_kwargs=True)
    try:
        yield seen
    finally:
        hook.remove()


def size_of(value: Any, dim: int) -> int:
    """How many elements the first tensor of an input has in a dimension."""
    tensor = next(leaf for leaf in tree_leaves(value) if isinstance(leaf, Tensor))
    return int(tensor.shape[dim])


def _names(found: Any) -> tuple[str, ...]:
    """Paths of the leaves: ``output.logits``, ``output[0]``."""
    try:
        paths = [keystr(path) for path, _ in with_paths(found)[0]]
    except ValueError:  # a container that gives no paths
        paths = [f"[{place}]" for place in range(len(tree_leaves(found)))]
    return tuple("output" + path.replace("['", ".").replace("']", "") for path in paths)


def widened(model: nn.Module, args: Sequence[Any], kwargs: Mapping[str, Any]) -> torch.dtype:
    """Compute in float64 where the model can, else float32; the model is changed to it."""
    held = sum(p.numel() for p in model.parameters())
    if held * 8 <= WIDE_BYTES:
        model.to(torch.float64)
        wide = cast(torch.float64, args, kwargs)
        if not run(model, *wide).error:
            return torch.float64
    model.to(torch.float32)
    return torch.float32


def cast(
    dtype: torch.dtype, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The inputs with floating-point ones in a dtype."""

    def change(one: Any) -> Any:
        return one.to(dtype) if isinstance(one, Tensor) and one.is_floating_point() else one

    given, named = tree_map(change, (tuple(args), dict(kwargs)))
    return given, named


def inputs(
    model: nn.Module,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    names: Sequence[str],
    sizes: Sizes,
    seed: int,
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The inputs with other sizes: their values repeated, with a seed drawn anew.

    Masks and truth values are as in the example.
    """
    given, named = resized(args, kwargs, sizes)
    if not seed:
        return given, named
    generator = Generator().manual_seed(seed)
    rows = min(
        (m.num_embeddings for m in model.modules() if isinstance(m, nn.Embedding)), default=2
    )

    def draw(one: Any) -> Any:
        return _drawn(one, rows, generator)

    by_place = [
        value if place < len(names) and "mask" in names[place] else tree_map(draw, value)
        for place, value in enumerate(given)
    ]
    by_name = {
        name: value if "mask" in name else tree_map(draw, value) for name, value in named.items()
    }
    return tuple(by_place), by_name


def _drawn(one: Any, rows: int, generator: Generator) -> Any:
    """Another tensor of the kind; integers are in the range of the example's."""
    if not isinstance(one, Tensor) or one.dtype == torch.bool or not one.numel():
        return one
    if one.is_floating_point():
        return torch.randn(one.shape, generator=generator, dtype=one.dtype)
    if one.is_complex() or one.dim() == 0:
        return one
    low, high = int(one.min()), int(one.max())
    if low == high:  # ids that are all alike tell nothing
        low, high = min(low, 0), max(high, rows - 1)
    return torch.randint(low, high + 1, one.shape, generator=generator, dtype=one.dtype)


class Compared(Struct, frozen=True):
    """The result that is furthest off of what it may be."""

    name: str
    difference: float | None
    """None where shapes differ, or one side has NaN or infinity that the other has not."""
    allowed: float

    @property
    def excess(self) -> float:
        """The difference in units of what is allowed."""
        if self.difference is None:
            return float("inf")
        if not self.difference:
            return 0.0
        return self.difference / self.allowed if self.allowed else float("inf")


def compared(plain: Ran, wrapped: Ran, dtype: torch.dtype) -> Compared:
    """Results of the model itself, and of the wrapped one."""
    rows = [Compared("output", 0.0, 0.0)]
    for place, leaf in enumerate(plain.leaves):
        if not isinstance(leaf, Tensor):
            continue
        other = wrapped.leaves[place] if place < len(wrapped.leaves) else None
        limit = 0.0
        if leaf.is_floating_point() and leaf.numel():
            largest = float(leaf.nan_to_num(0.0, 0.0, 0.0).abs().max())
            limit = _ALLOWED[dtype] * torch.finfo(dtype).eps * largest
        rows.append(Compared(plain.names[place], _difference(leaf, other), limit))
    return max(rows, key=lambda row: row.excess)


def _difference(one: Tensor, other: Any) -> float | None:
    if not isinstance(other, Tensor) or one.shape != other.shape:
        return None
    if not one.numel():
        return 0.0
    wide = torch.complex128 if one.is_complex() or other.is_complex() else torch.float64
    a, b = one.to(wide), other.to(wide)
    equal = (a == b) | (a.isnan() & b.isnan())
    apart = torch.where(equal, torch.zeros((), dtype=wide), a - b).abs()
    return float(apart.max()) if bool(apart.isfinite().all()) else None
