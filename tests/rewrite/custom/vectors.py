"""Kernels of families in languages of whole vectors, called as a project's binding calls them."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from opcheck.rewrite.custom.families.gathers import Gather
from opcheck.rewrite.custom.families.interface import Family, layout
from tests.rewrite.custom.hosted import NotComputedError, Start, interface_of
from tests.rewrite.custom.samples import FAMILIES

TILE = 512
Run = Callable[[Sequence[Tensor], Sequence[int], Sequence[float]], None]
"""Starts a kernel of whole vectors: tensors and results, sizes, values."""


def filled(tensor: Tensor, tile: int) -> Tensor:
    """Its last dimension in whole tiles, as a binding hands it over."""
    return torch.nn.functional.pad(tensor, (0, -tensor.shape[-1] % tile)).contiguous()


class Call(NamedTuple):
    """A call of a kernel as code in Python lays it out."""

    family: Family
    run: Run
    whole_results: bool
    """Whether numbers that are gathered one by one fill whole tiles."""
    given: Sequence[Tensor]
    results: Sequence[Tensor]
    sizes: Sequence[int]
    values: Sequence[float]


def vector_start(op: str, run: Run, whole_results: bool) -> Start:
    """Starts a kernel that a host compiler has read, with tensors as a binding lays them out."""
    laid_out = {"rows": _of_rows, "index": _of_index, "matrices": _of_matrices,
                "places": _of_places}  # fmt: skip

    def start(*laid: Any) -> None:
        call = Call(FAMILIES[op], run, whole_results, *laid)
        operands = zip(call.given, interface_of(op).tensors, strict=True)
        numbers = [x for x, a in operands if not a.whole]
        if any(x.dtype is not torch.float32 for x in (numbers or call.results)):
            raise NotComputedError
        laid_out[layout(call.family)](call)

    return start


def _of_rows(call: Call) -> None:
    places, length = call.sizes
    across = [filled(x.t(), TILE) for x in call.given]
    count = across[0].shape[1]
    shape = (count,) if call.family.kind == "reduction" else (length, count)
    made = [torch.empty(shape) for _ in call.results]
    call.run([*across, *made], (count, length), call.values)
    for result, one in zip(call.results, made, strict=True):
        result.copy_(one[:places] if one.dim() == 1 else one[:, :places].t())


def _of_index(call: Call) -> None:
    outer, length, inner, count = call.sizes
    middle = length if call.family.kind == "scatter" else count
    whole = call.results[0].reshape(outer, middle, inner)
    if getattr(call.family, "single", False):
        made = whole.clone()
        if isinstance(call.family, Gather) and call.whole_results:
            made = filled(made.reshape(-1), TILE)
        call.run([*call.given, made], call.sizes, call.values)
        found = made.reshape(-1)[: whole.numel()]
    else:
        numbers = [x.reshape(outer, -1, inner) for x in call.given if x.dtype.is_floating_point]
        blocks = iter([filled(x, 8) for x in numbers])
        tensors = [next(blocks) if x.dtype.is_floating_point else x for x in call.given]
        made = filled(whole.clone(), 8)
        call.run([*tensors, made], (outer, length, made.shape[2], count), call.values)
        found = made[:, :, :inner]
    call.results[0].copy_(found.reshape(call.results[0].shape))


def _of_matrices(call: Call) -> None:
    batch, rows, inner, columns = call.sizes
    left, *others = call.given
    laid = [left, *(filled(x.reshape(batch, -1, columns), TILE) for x in others)]
    made = torch.empty(batch, rows, laid[1].shape[2])
    call.run([*laid, made], (batch, rows, inner, made.shape[2]), call.values)
    call.results[0].copy_(made[:, :, :columns])


def _of_places(call: Call) -> None:
    made = [torch.empty(x.shape) for x in call.results]
    if call.whole_results:
        made = [torch.empty(-(-x.numel() // TILE) * TILE) for x in call.results]
    call.run([*call.given, *made], call.sizes, call.values)
    for result, one in zip(call.results, made, strict=True):
        result.copy_(one.reshape(-1)[: result.numel()].reshape(result.shape))
