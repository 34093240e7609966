"""Reductions over what a mask names, written over everything."""

import ast
from collections.abc import Sequence

import torch
from msgspec import Struct

from opcheck.rewrite.structural.expressions import Reduction

_HALF = (torch.float16, torch.bfloat16)


class Over(Struct, frozen=True):
    """What a reduction goes over."""

    wide: str
    """The mask, with a dimension for each that it leaves whole."""
    counted: str
    """What has as many true elements as there are elements to reduce."""
    mask: str
    """The mask itself."""
    dims: int
    """Of the mask."""
    dtype: torch.dtype
    """Of what is reduced."""


def brought(over: Over, how: Reduction, texts: Sequence[str]) -> str:
    """The text of a reduction; "" where what is left out cannot be told from what is not."""
    if how.loss:
        assert isinstance(how.node, ast.Call)
        others = [keyword for keyword in how.node.keywords if keyword.arg != "reduction"]
        more = [f"{keyword.arg}={ast.unparse(keyword.value)}" for keyword in others]
        given = ", ".join([*texts, *more, "reduction='none'"])
        loss = f"{ast.unparse(how.node.func)}({given})"
        return _added(over, loss, mean=how.kind == "mean", rows=False)
    if how.kind in ("sum", "mean"):
        return _added(over, texts[0], mean=how.kind == "mean", rows=how.rows)
    if how.kind in ("any", "all"):
        if over.dtype is not torch.bool:
            return ""
        return f"{_chosen(over, texts[0], str(how.kind == 'all'))}.{how.kind}()"
    if over.dtype is torch.bool:
        return ""
    chosen = _chosen(over, texts[0], _least(over.dtype, how.kind))
    return f"{chosen}.{how.kind}({_dims(over, how.rows)})"


def zero(dtype: torch.dtype) -> str:
    """What stands where the mask is false."""
    return "False" if dtype is torch.bool else "0"


def _added(over: Over, text: str, *, mean: bool, rows: bool) -> str:
    chosen, dims = _chosen(over, text, zero(over.dtype)), _dims(over, rows)
    if not mean:
        return f"{chosen}.sum({dims})"
    count = f"{over.mask if rows else over.counted}.sum()"
    if over.dtype not in _HALF:
        return f"{chosen}.sum({dims}) / {count}"
    wide = ", ".join(filter(None, [dims, "dtype=torch.float32"]))  # as mean does within itself
    return f"({chosen}.sum({wide}) / {count}).to({over.dtype})"


def _chosen(over: Over, text: str, otherwise: str) -> str:
    return f"torch.where({over.wide}, {text}, {otherwise})"


def _dims(over: Over, rows: bool) -> str:
    if not rows:
        return ""
    return "0" if over.dims == 1 else str(tuple(range(over.dims)))


def _least(dtype: torch.dtype, kind: str) -> str:
    """What no maximum, or no minimum, is."""
    top = kind in ("min", "amin")
    if dtype.is_floating_point:
        return f"float('{'' if top else '-'}inf')"
    info = torch.iinfo(dtype)
    return str(info.max if top else info.min)
