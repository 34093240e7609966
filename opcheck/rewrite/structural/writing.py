"""The line to write instead: every element computed, and those chosen that the mask names."""

import ast
from collections.abc import Callable, Sequence
from typing import Any

import torch
from msgspec import Struct
from torch import Tensor

from opcheck.lang.sentence import Sentence
from opcheck.model.trace import TensorMeta
from opcheck.rewrite.structural.lines import Reduction, swapped
from opcheck.rewrite.structural.masked_lines import Masked, Use

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


class Names(Struct, frozen=True):
    """How the tensors of a line are written."""

    bases: tuple[str, ...]
    mask: str
    target: str
    """What is written to; "" where nothing is."""


class Metas(Struct, frozen=True):
    """The tensors of a line, as they were seen."""

    bases: tuple[TensorMeta, ...]
    mask: TensorMeta

    @property
    def dtypes(self) -> tuple[torch.dtype, ...]:
        """Of what is selected from."""
        return tuple(getattr(torch, meta.dtype) for meta in self.bases)


class Written(Struct, frozen=True):
    """A use as it stands, and as it might."""

    before: str
    after: str


def own_names(found: Masked, use: Use) -> Names:
    """As the user writes them."""
    texts = tuple(ast.unparse(select.base) for select in found.chosen)
    target = "" if use.target is None else ast.unparse(use.target)
    return Names(texts, ast.unparse(found.chosen[0].mask), target)


def plain_names(found: Masked, use: Use) -> Names:
    """As arguments of a function."""
    own = own_names(found, use)
    bases = tuple(f"x{index}" for index in range(len(found.chosen)))
    target = dict(zip(own.bases, bases, strict=True)).get(own.target, own.target and "y")
    return Names(bases, "mask", target)


def written(found: Masked, use: Use, names: Names, metas: Metas) -> Written | str:
    """One use as it stands and as it might; why it cannot, where it cannot."""
    whole = metas.bases[0].shape[len(metas.mask.shape) :]
    wide = f"{_atom(names.mask)}[..., {', '.join('None' for _ in whole)}]" if whole else names.mask
    leaves = {
        node: _parsed(f"torch.where({wide}, {names.bases[base]}, {zero(metas.dtypes[base])})")
        for node, base in found.ids.items()
    }
    if is_alone(found, use):
        leaves = {node: _parsed(names.bases[base]) for node, base in found.ids.items()}
    texts = [ast.unparse(swapped(part, leaves)) for part in use.parts]
    picked = {
        node: _parsed(f"{_atom(names.bases[base])}[{names.mask}]")
        for node, base in found.ids.items()
    }
    if use.reduced is None:
        old = ast.unparse(swapped(use.parts[0], picked))
        new = f"{names.target} = torch.where({wide}, {texts[0]}, {names.target})"
        return Written(f"{_atom(names.target)}[{names.mask}] = {old}", new)
    dtype = evaluated(found, use.parts[0], [torch.ones(1, dtype=d) for d in metas.dtypes]).dtype
    full = f"{wide}.expand_as({names.bases[0]})" if whole else _atom(names.mask)
    over = Over(wide, full, _atom(names.mask), len(metas.mask.shape), dtype)
    after = brought(over, use.reduced, texts)
    if not after:
        return Sentence(
            "{op} of {text} has nothing that could stand for what is left out",
            op=use.reduced.kind,
            text=dtype,
        )
    return Written(ast.unparse(swapped(use.reduced.node, picked)), after)


def function_of(text: str, names: Names, *, writes: bool = False) -> Callable[..., Any]:
    """A use as a function of its tensors; one with a target gives that.

    Args:
        text: the use.
        names: of the tensors in it.
        writes: whether it writes to the target itself, which is copied before.
    """
    lines = [f"return {text}"]
    if names.target:
        own = [f"{names.target} = {names.target}.clone()"] if writes else []
        lines = [*own, text, f"return {names.target}"]
    body = "".join(f"    {line}\n" for line in lines)
    return _made(f"def line({', '.join(arguments(names))}):\n{body}")


def arguments(names: Names) -> tuple[str, ...]:
    """The tensors that a use is given."""
    return tuple(dict.fromkeys([*names.bases, names.mask, *filter(None, [names.target])]))


def is_alone(found: Masked, use: Use) -> bool:
    """Whether what is selected is brought together as it is."""
    return use.reduced is not None and not use.reduced.loss and id(use.parts[0]) in found.ids


def evaluated(found: Masked, part: ast.expr, leaves: Sequence[Tensor]) -> Tensor:
    """An expression with other tensors for what it selects."""
    names = {node: _parsed(f"x{base}") for node, base in found.ids.items()}
    given = ", ".join(f"x{base}" for base in range(len(leaves)))
    text = ast.unparse(swapped(part, names))
    return _made(f"def line({given}):\n    return {text}\n")(*leaves)  # type: ignore[no-any-return]


def not_finite(found: Masked, use: Use, metas: Metas) -> str:
    """Say what has no value or no gradient at zero, which stands in where the mask is false."""
    if is_alone(found, use):
        return ""
    leaves = [torch.zeros(1, dtype=dtype) for dtype in metas.dtypes]
    leaves = [leaf.requires_grad_(leaf.is_floating_point()) for leaf in leaves]
    for part in use.parts:
        try:
            result = evaluated(found, part, leaves)
            values = [result]
            if result.requires_grad:
                wanted = [leaf for leaf in leaves if leaf.requires_grad]
                found_ = torch.autograd.grad(result.sum(), wanted, allow_unused=True)
                values += [gradient for gradient in found_ if gradient is not None]
        except Exception as error:  # in the user's expression
            return Sentence(
                "{text} cannot be computed at zero: {text_error}",
                text=ast.unparse(part),
                text_error=error,
            )
        if not all(bool(value.isfinite().all()) for value in values):
            return Sentence(
                "{text} is not finite at zero, or its gradient is not", text=ast.unparse(part)
            )
    return ""


def _made(text: str) -> Callable[..., Any]:
    """A function, of text that was put together here from what was taken apart."""
    space: dict[str, Any] = {"torch": torch, "F": torch.nn.functional, "nn": torch.nn}
    exec(text, space)
    return space["line"]  # type: ignore[no-any-return]  # just defined


def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _atom(text: str) -> str:
    """A text that an index or a call may follow."""
    plain = isinstance(_parsed(text), ast.Name | ast.Attribute | ast.Call | ast.Subscript)
    return text if plain else f"({text})"
