"""What a family's kernel is handed: contiguous tensors, how large they are, and numbers."""

from collections.abc import Mapping
from functools import cache

from msgspec import Struct

from opcheck.rewrite.custom.families import (
    attention,
    bags,
    convolutions,
    folds,
    gathers,
    orders,
    pools,
    products,
    resampling,
    sampling,
)
from opcheck.rewrite.custom.families.folds import Fold
from opcheck.rewrite.custom.families.gathers import Gather, Scatter
from opcheck.rewrite.custom.families.loops import Loops
from opcheck.rewrite.custom.families.products import Product
from opcheck.rewrite.custom.signature import Signature

Family = Fold | Gather | Scatter | Product | Loops
LOOPS: Mapping[str, Loops] = {
    **attention.TABLE, **bags.TABLE, **convolutions.TABLE, **orders.TABLE, **pools.TABLE,
    **resampling.TABLE, **sampling.TABLE,
}  # fmt: skip
"""Functional overload -> the loops that compute it."""


class Operand(Struct, frozen=True):
    """A tensor of the kernel."""

    name: str
    whole: bool = False
    """Whether it holds integers, whatever is computed in."""


class Interface(Struct, frozen=True):
    """The parameters of a kernel, in their order."""

    tensors: tuple[Operand, ...]
    sizes: tuple[str, ...]
    values: tuple[str, ...]
    results: tuple[Operand, ...]


@cache
def family(op: str) -> Family | None:
    """The family of an overload that gives a new result; None where it is in none."""
    tables: tuple[Mapping[str, Family], ...] = (
        folds.TABLE,
        gathers.TABLE,
        products.TABLE,
        LOOPS,
    )
    name = _PARTS.get(op, op)
    return next((table[name] for table in tables if name in table), None)


_PARTS = {
    "aten::_logcumsumexp": "aten::logcumsumexp",
    "aten::_adaptive_avg_pool2d": "aten::adaptive_avg_pool2d",
    "aten::_adaptive_avg_pool3d": "aten::adaptive_avg_pool3d",
}
"""What a composite runs as, with its own arguments -> the composite."""


def interface(found: Family, signature: Signature) -> Interface:
    """What the kernel of a family is handed for one overload."""
    one = (Operand("result0"),)
    match found:
        case Fold(inputs=inputs, whole_results=whole):
            results = tuple(Operand(f"result{i}", i in whole) for i in range(signature.results))
            tensors = tuple(map(Operand, inputs))
            return Interface(tensors, ("places", "length"), found.values(signature), results)
        case Gather(source=source, index=index):
            return Interface((Operand(source), Operand(index, whole=True)), _INDEXED, (), one)
        case Scatter(numbers=numbers, index=index, values=values):
            tensors = (Operand(index, whole=True), *([Operand("number")] if numbers else []))
            return Interface(tensors, _INDEXED, values, one)
        case Product(bias=bias, values=values):
            tensors = (Operand("left"), Operand("right"), *([Operand("bias")] if bias else []))
            return Interface(tensors, _MATRICES, values, one)
        case Loops(wholes=wholes, sizes=sizes, values=values):
            tensors = tuple(Operand(name, name in wholes) for name in found.tensors)
            whole = found.whole_results
            results = tuple(Operand(f"result{i}", i in whole) for i in range(signature.results))
            return Interface(tensors, ("places", *sizes), tuple(values), results)


_INDEXED = ("outer", "length", "inner", "count")
_MATRICES = ("batch", "rows", "inner", "columns")


def layout(found: Family | None) -> str:
    """The name of the templates that lay out tensors for the kernel of a family."""
    match found:
        case Fold():
            return "rows"
        case Gather() | Scatter():
            return "index"
        case Product():
            return "matrices"
        case Loops():
            return "places"
        case None:
            return ""


def operands(found: Family, signature: Signature) -> tuple[Operand, ...]:
    """The tensors of a kernel that may not find anything in its result: what it begins as, too."""
    tensors = interface(found, signature).tensors
    return (*tensors, Operand("base")) if isinstance(found, Scatter) else tensors
