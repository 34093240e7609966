"""Ways for calls that select by a mask: the user's own line, over everything."""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from opcheck.lang.sentence import Sentence, chained
from opcheck.model.matrix import SupportMatrix
from opcheck.model.plan import Label, Suggestion, Tier
from opcheck.model.trace import Node, TensorMeta
from opcheck.rewrite.structural.line_proof import Both, Prover
from opcheck.rewrite.structural.lines import Site
from opcheck.rewrite.structural.masked_lines import Masked, Use, masked
from opcheck.rewrite.structural.writing import (
    Metas,
    arguments,
    function_of,
    not_finite,
    own_names,
    plain_names,
    written,
)

RULE = "where-instead-of-mask"
_SELECTS = ("index", "masked_select")
_WRITES = ("index_put_", "index_put", "_index_put_impl_")
_COSTS = "Every element is computed, also those that the mask leaves out"
_EMPTY = "where the mask is true nowhere, the original raises and this gives an infinity"
_NEW = "what is written to becomes a new tensor, and views of the old one keep old values"


def mask_of(node: Node) -> TensorMeta | None:
    """The mask that a call selects or writes by; None where it goes by anything else."""
    given = dict(node.arguments)
    mask = given.get("mask") if node.op.base == "masked_select" else given.get("indices")
    if isinstance(mask, tuple) and len(mask) == 1:
        mask = mask[0]
    return mask if isinstance(mask, TensorMeta) and mask.dtype == "bool" else None


def selects(node: Node) -> bool:
    """Whether a call selects by a mask."""
    return node.op.base in _SELECTS and mask_of(node) is not None


def over_everything(
    node: Node, site: Site, nodes: Sequence[Node], matrix: SupportMatrix, prover: Prover
) -> Suggestion | str:
    """The line of a call that selects by a mask, over everything; why it stays, where it does.

    Args:
        node: the call.
        site: its line.
        nodes: all that this line calls, in the order in which they are first called.
        matrix: what the target supports.
        prover: records and measures.
    """
    found = masked(site.text, site.line)
    if isinstance(found, str):
        return found
    metas = _metas(found, nodes)
    if isinstance(metas, str):
        return metas
    ways: list[Suggestion] = []
    for use in found.uses:
        way = _way(node, found, use, metas, nodes, matrix, prover)
        if isinstance(way, str):
            return way
        ways.append(way)
    return _together(ways)


def _metas(found: Masked, nodes: Sequence[Node]) -> Metas | str:
    """The tensors of a line, each beside the expression that it comes from."""
    indexing = [node for node in nodes if node.op.base in _SELECTS]
    calls = [(node, mask) for node in indexing if (mask := mask_of(node)) is not None]
    if len(calls) < len(indexing):
        return "its line has more than one index"
    masks = {mask.shape for _, mask in calls}
    bases = [dict(node.arguments)["self"] for node, _ in calls]
    known = tuple(base for base in bases if isinstance(base, TensorMeta))
    if len(known) == 1:
        known *= len(found.chosen)
    if len(masks) != 1 or len(known) != len(found.chosen):
        return "its line is called with tensors of several shapes"
    mask = calls[0][1]
    if any(base.shape[: len(mask.shape)] != mask.shape for base in known):
        return "its mask is broadcast"
    return Metas(known, mask)


def _way(
    node: Node,
    found: Masked,
    use: Use,
    metas: Metas,
    nodes: Sequence[Node],
    matrix: SupportMatrix,
    prover: Prover,
) -> Suggestion | str:
    """One use of what is selected, proven."""
    if why := not_finite(found, use, metas):
        return why
    names, own = plain_names(found, use), own_names(found, use)
    plain, shown = written(found, use, names, metas), written(found, use, own, metas)
    if isinstance(plain, str) or isinstance(shown, str):
        return str(plain)
    target = next((n for n in nodes if n.op.base in _WRITES and mask_of(n) is not None), None)
    given = dict(zip(names.bases, metas.bases, strict=True)) | {"mask": metas.mask}
    if "y" in arguments(names):
        written_to = dict(target.arguments)["self"] if target else None
        if not isinstance(written_to, TensorMeta):
            return "what its line writes to is not known"
        given["y"] = written_to
    way = Suggestion(
        rule=RULE,
        tier=Tier.STRUCTURAL,
        label=Label.TOLERANCE if _rounds(use) else Label.EXACT,
        replaces=str(node.op),
        summary=Sentence(
            "Write {text} for {text_before} in line {count}",
            text=shown.after,
            text_before=use.shown,
            count=use.line,
        ),
        gives_up=chained([_COSTS, *_more(use)], "; "),
        by_hand=True,
    )
    before = function_of(plain.before, names, writes=bool(names.target))
    both = Both(before, function_of(plain.after, names), given)
    return prover.proven(way, both, (plain.after, tuple(given.items())), matrix)


def _rounds(use: Use) -> bool:
    """Whether elements are added up, in whatever order."""
    return use.reduced is not None and use.reduced.kind in ("sum", "mean")


def _more(use: Use) -> Iterator[str]:
    if use.reduced is None:
        yield _NEW
    elif use.reduced.kind in ("max", "min", "amax", "amin"):
        yield _EMPTY


def _together(ways: Sequence[Suggestion]) -> Suggestion:
    """One way of the ways for each use of one line."""
    worst = max(ways, key=lambda way: (way.label.rank, _far(way)))
    return replace(
        worst,
        summary=chained(dict.fromkeys(way.summary for way in ways), "; "),
        gives_up=chained(dict.fromkeys(p for way in ways for p in way.gives_up.split("; ")), "; "),
        runs_as=tuple(sorted({op for way in ways for op in way.runs_as})),
        calls=sum(way.calls for way in ways),
        memory=sum(way.memory for way in ways),
    )


def _far(way: Suggestion) -> float:
    return way.measured.forward.relative if way.measured else float("inf")
