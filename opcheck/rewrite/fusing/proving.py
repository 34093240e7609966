"""The proof of fused calls: each against the kernel's formula, and the whole model as it was."""

import copy
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Generator, Tensor
from torch.export.graph_signature import InputKind
from torch.fx import GraphModule, Interpreter, Node
from torch.utils._pytree import tree_leaves

from opcheck.model.fusing import ModelCheck, ValueCheck
from opcheck.rewrite.fusing.base import Fusion, drawn
from opcheck.rewrite.fusing.folding import folded
from opcheck.rewrite.fusing.nodes import example_of, writes
from opcheck.rewrite.fusing.program import FusedProgram, Site

if TYPE_CHECKING:
    from torch.export import ExportedProgram

DRAWS = 3
"""Sets of numbers that each fusion and the whole model are tried on."""
HEADROOM = 4.0
"""How many times its tolerance a fused result is moved to find what may come of it."""
_LARGEST = 1 << 24
"""Elements of an argument above which a place is not tried by itself: the whole model tries it."""


def checked(sites: Sequence[Site]) -> tuple[ValueCheck, ...]:
    """The places of one fusion, each kind once, against the kernel's formula in every dtype."""
    fusion = sites[0].fusion
    found: list[ValueCheck] = []
    for dtype in fusion.dtypes:
        errors = [_error(site, dtype, seed) for site in _kinds(sites) for seed in range(DRAWS)]
        if errors:
            name = str(dtype).removeprefix("torch.")
            found.append(ValueCheck(name, DRAWS, max(errors), fusion.tolerance))
    return tuple(found)


def _kinds(sites: Sequence[Site]) -> Iterator[Site]:
    """One place of each variant and shape."""
    known: set[Any] = set()
    for site in sites:
        tensors = _tensors(site)
        shapes = tuple(map(_shape, tensors.values()))
        kind = (site.match.variant, *shapes)
        if kind not in known and all(math.prod(shape) <= _LARGEST for shape in shapes):
            known.add(kind)
            yield site


def _tensors(site: Site) -> Mapping[str, Tensor]:
    return {name: node.meta["val"] for name, node in site.match.tensors.items()}


def _shape(tensor: Tensor) -> tuple[int, ...]:
    """Sizes; what the program leaves open as it was when it was exported."""
    return tuple(map(example_of, tensor.shape))


def _error(site: Site, dtype: torch.dtype, seed: int) -> float:
    """How far the calls are off the kernel's formula, in ``eps`` of the largest result."""
    generator = Generator().manual_seed(seed)
    given: dict[str, Tensor] = {}
    for name, like in _tensors(site).items():
        kind = dtype if like.is_floating_point() else like.dtype
        like = torch.empty(_shape(like), dtype=kind, device="meta")
        given[name] = site.fusion.draw(name, like, generator)
    numbers = {name: _held(number, dtype) for name, number in site.match.numbers.items()}
    with torch.no_grad():
        as_it_was = site.match.variant.function(*given.values(), **numbers)
        by_kernel = type(site.fusion).replace(**given, **numbers)
    largest = float(as_it_was.abs().max())
    off = float((as_it_was.double() - by_kernel.double()).abs().max())
    return off / (torch.finfo(dtype).eps * largest) if largest else off


def _held(number: Any, dtype: torch.dtype) -> Any:
    """The nearest number that a dtype can hold, where that is not infinite."""
    if not isinstance(number, float) or math.isinf(number):
        return number
    limits = torch.finfo(dtype)
    return min(max(number, limits.min), limits.max)


class Before:
    """A program as it was, to compare with."""

    def __init__(self, program: "ExportedProgram", seeds: int = DRAWS) -> None:
        self._graph: GraphModule = copy.deepcopy(program.graph_module)
        self._inputs = [inputs(program, seed) for seed in range(seeds)]
        self._results = [_run(self._graph, given) for given in self._inputs]

    def compared(self, found: FusedProgram) -> "tuple[ExportedProgram, ModelCheck]":
        """The changed program on the same inputs, then once more with joined weights.

        Gives the program as it is to be written as well; ``found`` is changed to it.
        """
        tolerances = {site.match.output.name: _of(site.fusion) for site in found.sites}
        rows: list[_Row] = []
        for seed, (given, known) in enumerate(zip(self._inputs, self._results, strict=True)):
            moved = _run(self._graph, given, tolerances, seed)
            allowed = {place: _difference(moved[place], known[place]) or 0.0 for place in known}
            if seed == 0:
                first = allowed
            rows += _rows(_run(found.program.graph_module, given), known, allowed)
        written = folded(found.program, found.of_weights)
        if found.of_weights:
            results = _run(written.graph_module, inputs(written, 0))
            rows += _rows(results, self._results[0], first)
        name, difference, allowed_here = max(rows, key=_excess, default=_NONE)
        return written, ModelCheck(
            results=len(self._results[0]),
            draws=len(self._inputs),
            name=name,
            difference=difference,
            allowed=allowed_here,
            holds=all(_excess(row) <= 1.0 for row in rows),
        )


_Row = tuple[str, float | None, float]
"""A result, how far it is off, and how far it may be."""
_NONE: _Row = ("", 0.0, 0.0)


def _rows(
    results: Mapping[str, Tensor], known: Mapping[str, Tensor], allowed: Mapping[str, float]
) -> Iterator[_Row]:
    for place, before in known.items():
        yield place, _difference(results[place], before), allowed[place]


def _of(fusion: Fusion) -> float:
    return HEADROOM * fusion.tolerance


def _excess(row: _Row) -> float:
    _, difference, allowed = row
    if difference is None:
        return float("inf")
    return difference / allowed if allowed else (float("inf") if difference else 0.0)


def _difference(one: Tensor, other: Tensor) -> float | None:
    """The largest difference; None where just one side is NaN or infinite."""
    if not one.numel():
        return 0.0
    a, b = _real(one), _real(other)
    finite = a.isfinite() & b.isfinite()
    if not torch.equal(
        torch.where(finite, 0, a.nan_to_num(7.0)), torch.where(finite, 0, b.nan_to_num(7.0))
    ):
        return None
    return float(torch.where(finite, a - b, 0).abs().max())


def _real(tensor: Tensor) -> Tensor:
    """Its numbers as float64; of complex ones both parts."""
    return (torch.view_as_real(tensor) if tensor.is_complex() else tensor).double()


def inputs(program: "ExportedProgram", seed: int) -> list[Any]:
    """What a program's graph takes: weights, and inputs as it was exported with or drawn alike."""
    args, kwargs = program.example_inputs or ((), {})
    given = iter(tree_leaves((args, kwargs)))
    generator = Generator().manual_seed(seed)
    found: list[Any] = []
    for spec in program.graph_signature.input_specs:
        if spec.kind is InputKind.USER_INPUT:
            found.append(_alike(next(given, None), generator, seed))
            continue
        target = spec.target or ""
        held = program.state_dict if target in program.state_dict else program.constants
        tensor = held[target].detach()
        if spec.kind is InputKind.PARAMETER:
            found.append(_trained(tensor, generator, seed))
        else:
            found.append(tensor.clone())
    return found


def _trained(weight: Tensor, generator: Generator, seed: int) -> Tensor:
    """A weight as it is, and for later seeds a vector moved: new models scale by just 1."""
    if seed == 0 or weight.dim() != 1 or not weight.is_floating_point():
        return weight
    return weight + 0.1 * drawn(weight, generator)


def _alike(given: Any, generator: Generator, seed: int) -> Any:
    """An input as it is, and for later seeds another: numbers drawn anew, integers in new order."""
    if not isinstance(given, Tensor) or not given.numel():
        return given
    if seed == 0:
        return given.detach().clone()
    if given.is_floating_point():
        return drawn(given, generator)
    if given.dtype == torch.bool or given.dim() == 0:
        return given.clone()
    return given.flatten()[torch.randperm(given.numel(), generator=generator)].view(given.shape)


class _Moved(Interpreter):
    """Runs a graph; what some nodes give is moved up or down by so many ``eps`` of the largest."""

    def __init__(self, graph: GraphModule, tolerances: Mapping[str, float], seed: int) -> None:
        super().__init__(graph)
        self._tolerances = tolerances
        self._generator = Generator().manual_seed(seed)

    def run_node(self, n: Node) -> Any:
        """Run one node."""
        result = super().run_node(n)
        far = self._tolerances.get(n.name)
        if far is None:
            return result
        size = far * torch.finfo(result.dtype).eps * float(result.abs().max())
        signs = torch.randint(0, 2, result.shape, generator=self._generator) * 2 - 1
        return result + (signs * size).to(result.dtype)


def _run(
    graph: GraphModule,
    given: Sequence[Any],
    tolerances: Mapping[str, float] | None = None,
    seed: int = 0,
) -> dict[str, Tensor]:
    """The results of a graph, by their places."""
    fresh = copy.deepcopy(list(given)) if any(map(writes, graph.graph.nodes)) else given
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)  # what the model draws is the same each time
        found = tree_leaves(_Moved(graph, tolerances or {}, seed).run(*fresh))
    tensors = [one for one in found if isinstance(one, Tensor)]
    return {f"result {place}": one for place, one in enumerate(tensors) if one.numel()}
