"""Calls for every operator of a family: sizes, layouts, dtypes and edges, for all toolchains."""

import importlib
import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from opcheck.rewrite.custom.families import folds, gathers, products
from opcheck.rewrite.custom.families.interface import LOOPS, Family
from opcheck.source.building import torchvision_operators
from tests.rewrite.custom.loop_samples import LIBRARY, deformed, loop_calls

torchvision_operators.prepare()
torchvision_operators.compute()
LIBRARY.impl("deform_conv2d", deformed, "CPU")
importlib.import_module("torchvision")  # which has the rules for their shapes
FAMILIES: dict[str, Family] = {**folds.TABLE, **gathers.TABLE, **products.TABLE, **LOOPS}
Call = dict[str, Any]
_DRAWN = torch.Generator()


def drawn(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    if dtype.is_floating_point:
        return torch.randn(shape, generator=_DRAWN, dtype=torch.float64).to(dtype)
    return torch.randint(-3, 4, shape, generator=_DRAWN).to(dtype)


def calls(op: str) -> list[Call]:
    """Arguments of an overload of a family, by name."""
    _DRAWN.manual_seed(0)
    if op in folds.TABLE:
        return list(_folds(op))
    if op in gathers.TABLE:
        return list(_gathers(op))
    if op in LOOPS:
        return list(loop_calls(op, drawn))
    return list(_products(op))


def _tensors() -> Iterator[Tensor]:
    """Rows that are no whole blocks, one row, strides, no rows, a single number, edges."""
    yield drawn(3, 5)
    yield drawn(2, 1500)
    yield drawn(5, 4, 3).transpose(0, 2)[:, ::2]
    yield drawn(4, 6, dtype=torch.float64)
    yield drawn(3, 40, dtype=torch.float16)
    yield torch.tensor(1.5)
    yield torch.tensor([[2.0, math.inf, 1.0], [-math.inf, 3.0, -math.inf], [0.0, math.nan, 5.0]])
    yield torch.full((2, 3), -math.inf)
    yield torch.tensor([[1.0, 3.0, 3.0, 2.0], [0.0, -1.0, 0.0, -1.0]])


_OF_INTEGERS = ("sum", "prod", "amax", "amin", "max", "min", "argmax", "argmin", "aminmax", "any",
                "all", "count_nonzero", "cumsum", "cumprod", "cummax", "cummin")  # fmt: skip


def _folds(op: str) -> Iterator[Call]:
    base, _, overload = op.removeprefix("aten::").partition(".")
    tensors = list(_tensors())
    if base in _OF_INTEGERS:
        tensors += [drawn(3, 7, dtype=torch.int64), drawn(2, 5, dtype=torch.int32) > 0]
    for x in tensors:
        if op.endswith("_backward_data"):
            other = drawn(*x.shape, dtype=x.dtype)
            yield {"grad_output": other, "output": x, "dim": -1, "input_dtype": x.dtype}
            continue
        for more in _dims(base, overload, x.dim()):
            if x.numel() < 1000 or more.get("dim") not in (0, [0]):  # many short rows tell no more
                yield {"self": x, **more, **_others(base, overload)}
    if base == "linalg_vector_norm":
        for order in (0, 1, 3, -2, 0.5, math.inf, -math.inf):
            yield {"self": drawn(4, 6) + 5, "ord": order, "dim": [1]}
        yield {"self": torch.tensor([[0.0, 2.0], [0.0, 0.0]]), "ord": 3, "dim": [1]}
    if base in ("sum", "cumsum"):
        dim = {"dim": 0} if base == "cumsum" else {"dim": [0]} if overload else {}
        yield {"self": drawn(4, 3), **dim, "dtype": torch.float64}
    if base in ("sum", "logsumexp", "var", "std", "mean", "any", "all", "prod"):
        empty = torch.empty(3, 0)
        for more in _dims(base, overload, 2):
            yield {"self": empty, **more, **_others(base, overload)}


def _dims(base: str, overload: str, count: int) -> list[Call]:
    if overload in ("correction", "dim_IntList", "dims") or op_takes_list(base, overload):
        some: list[Call] = [{"dim": [-1]}, {"dim": [0] if base in _NEVER_EMPTY else []}]
        return [*some, {"dim": [0, -1], "keepdim": True}] if count > 1 and _keeps(base) else some
    if overload in ("dim", "dim_int") or base in (*_SCANS, *_SOFTMAXES):
        return [{"dim": -1}, {"dim": 0}]
    if base in ("argmax", "argmin", "aminmax"):
        return [{"dim": None}, {"dim": 0, "keepdim": True}]
    return [{}]


_NEVER_EMPTY = ("logsumexp", "nansum")
"""Of an empty list of dimensions the CPU's kernel and PyTorch's shape function differ."""
_SCANS = ("cumsum", "cumprod", "logcumsumexp", "cummax", "cummin")
_SOFTMAXES = ("_softmax", "_log_softmax")


def op_takes_list(base: str, overload: str) -> bool:
    """Whether the argument `dim` is a list of dimensions."""
    return base in ("amax", "amin", "logsumexp", "nansum", "linalg_vector_norm") or (
        base in ("mean", "var", "std") and overload == "dim"
    )


def _keeps(base: str) -> bool:
    return base != "count_nonzero"


def _others(base: str, overload: str) -> Call:
    if base in _SOFTMAXES:
        return {"half_to_float": False}
    if overload == "correction":
        return {"correction": 0.5}
    return {}


def _gathers(op: str) -> Iterator[Call]:
    picked = torch.tensor([3, 0, 3, 1])
    match op:
        case "aten::embedding":
            for weight in (drawn(5, 7), drawn(5, 40).half(), drawn(7, 5).t()):
                yield {"weight": weight, "indices": picked.reshape(2, 2)}
            yield {"weight": drawn(5, 7), "indices": picked[:0]}
        case "aten::take":
            yield {"self": drawn(5, 4).t(), "index": torch.tensor([[0, -1], [7, 19]])}
        case _:
            for x, dim in _indexed():
                yield from _picked(op, x, dim)
            if op == "aten::index_add":  # nothing is there to be added to
                none = {"self": torch.empty(0, 3), "dim": 0, "index": picked}
                yield {**none, "source": drawn(4, 3), "alpha": 2}


def _indexed() -> Iterator[tuple[Tensor, int]]:
    yield drawn(5, 3), 0
    yield drawn(3, 6, 5).transpose(0, 1), -1
    yield drawn(4, 1300), 0
    yield drawn(5, 4, dtype=torch.int64), 0
    yield drawn(2, 4, 3, dtype=torch.float64), 1
    yield drawn(4, 0), 0


def _picked(op: str, x: Tensor, dim: int) -> Iterator[Call]:
    family = FAMILIES[op]
    single = isinstance(family, gathers.Gather | gathers.Scatter) and family.single
    index = torch.tensor([3, 0, 3, 1])
    sizes = [4 if place == dim % x.dim() else size for place, size in enumerate(x.shape)]
    if single:
        index = index.reshape([4 if n == dim % x.dim() else 1 for n in range(x.dim())])
        index = index.expand(sizes)[:, : max(x.shape[1] - 1, 0)].contiguous()
    call: Call = {"self": x, "dim": dim, "index": index}
    new = isinstance(family, gathers.Scatter) and family.numbers
    if new:
        call[new] = drawn(*sizes, dtype=x.dtype)
    if op.endswith(("value", "Scalar")):
        call["value"] = 2
    if op == "aten::index_add":
        call["alpha"] = 2
    if op in ("aten::index_copy", "aten::scatter.src"):  # of equal places any may win
        call["index"] = torch.where(index == 3, 2, index) if single else torch.tensor([3, 0, 2, 1])
        if single:
            call["index"] = (
                torch.arange(4)
                .reshape([4 if n == dim % x.dim() else 1 for n in range(x.dim())])
                .expand(index.shape if index.shape[dim] == 4 else sizes)[:, : index.shape[1]]
            )
    yield call


def _products(op: str) -> Iterator[Call]:
    for rows, inner, columns in ((5, 3, 4), (33, 70, 17), (2, 0, 3), (0, 3, 2)):
        for dtype in (torch.float32, torch.float64, torch.float16):
            if dtype is torch.float16 and inner == 70:
                continue
            yield from _multiplied(op, rows, inner, columns, dtype)


def _multiplied(op: str, rows: int, inner: int, columns: int, dtype: torch.dtype) -> Iterator[Call]:
    left, right = drawn(inner, rows, dtype=dtype).t(), drawn(inner, columns, dtype=dtype)
    vector = drawn(inner, dtype=dtype)
    scaled = {"beta": 0.5, "alpha": 2}
    match op.removeprefix("aten::"):
        case "mm":
            yield {"self": left, "mat2": right}
        case "bmm":
            yield {"self": left.expand(2, rows, inner), "mat2": drawn(2, inner, columns).to(dtype)}
        case "mv":
            yield {"self": left, "vec": vector}
        case "dot":
            yield {"self": vector, "tensor": drawn(inner, dtype=dtype)}
        case "addmm":
            yield {"self": drawn(columns).to(dtype), "mat1": left, "mat2": right, **scaled}
            unknown = torch.full((1, columns), math.nan, dtype=dtype)
            yield {"self": unknown, "mat1": left, "mat2": right, "beta": 0}
        case "baddbmm":
            batch = left.expand(2, rows, inner), drawn(2, inner, columns).to(dtype)
            bias = drawn(2, 1, columns).to(dtype)
            yield {"self": bias, "batch1": batch[0], "batch2": batch[1], **scaled}
        case "addmv":
            yield {"self": drawn(rows).to(dtype), "mat": left, "vec": vector, **scaled}
        case "_addmm_activation":
            for use_gelu in (True, False):
                bias = drawn(columns).to(dtype)
                given = {"self": bias, "mat1": left, "mat2": right}
                yield {**given, **scaled, "use_gelu": use_gelu}
        case "linear":
            yield {"input": left.expand(2, rows, inner), "weight": right.t(), "bias": None}
            yield {"input": left, "weight": right.t(), "bias": drawn(columns).to(dtype)}
