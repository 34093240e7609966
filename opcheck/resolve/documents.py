"""A vendor's table on a composite, beside what its documents say of the kernels that it runs as.

Tables of PyTorch's functions have rows for composites, too, of which the vendor has no kernel: what
they run as decides what becomes of a call, and the documents of these kernels say it better.
"""

from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from opcheck.lang.sentence import Sentence
from opcheck.model.matrix import DOUBTED, NO_DTYPE, OVERRULED, Condition, SupportMatrix
from opcheck.model.predicates import Dtype
from opcheck.model.trace import Node
from opcheck.model.verdict import Confidence, Evidence, Verdict
from opcheck.resolve.conditions import matches
from opcheck.resolve.resolution import Part, Resolution, listed

RunsAs = Callable[[Node], Sequence[Part]]
"""What a call runs as; nothing where it is one kernel."""
_ANY_DTYPE = frozenset(
    {
        *("alias", "as_strided", "detach", "diagonal", "expand", "lift_fresh", "permute"),
        *("_reshape_alias", "select", "slice", "split", "split_with_sizes", "squeeze", "t"),
        *("transpose", "unbind", "unfold", "_unsafe_view", "unsqueeze", "view"),
        *("empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided"),
    }
)
"""Views and allocations, which compute nothing: no table has dtypes of them."""


def of_composite(
    node: Node, doubt: Condition, plain: Resolution, matrix: SupportMatrix, runs_as: RunsAs
) -> Resolution | None:
    """What becomes of a call of which a table leaves a dtype out, of a composite without a kernel.

    It runs where the documents of every kernel that it runs as list what that is given. None where
    the table is about a kernel, or about something else than a dtype.
    """
    found = matches(doubt, node)
    if (
        doubt.code != DOUBTED
        or not matrix.takes_apart(str(node.op), node.composite)
        or not plain.verdict.on_device
        or not found
        or not all(isinstance(predicate, Dtype) for predicate in doubt.predicates)
    ):
        return None
    kernels = list(dict.fromkeys(_kernels(node, runs_as)))
    rows = [_row(kernel, matrix) for kernel in kernels]
    known = None not in rows
    said = (
        "{argument} is {actual}, which the vendor's table leaves out of {op}; it runs as {list}, "
        "whose own documents list what they are given"
        if known
        else "{argument} is {actual}, which the vendor's table leaves out of {op}; it runs as "
        "{list}, and not for all of these a document lists what they are given"
    )
    (argument, actual), *_ = found
    names = listed(sorted({str(kernel.op) for kernel in kernels}))
    text = Sentence(said, argument=argument, actual=actual, op=str(node.op), list=names)
    listing = tuple(evidence for row in rows for evidence in (row or ()))
    return replace(
        plain,
        verdict=plain.verdict if known else Verdict.UNKNOWN,
        code=OVERRULED if known else DOUBTED,
        text=text,
        confidence=Confidence.MEDIUM if known else Confidence.LOW,
        evidence=tuple(dict.fromkeys((*doubt.evidence, *listing))),
        about="",
        names_part=False,
    )


def _kernels(node: Node, runs_as: RunsAs) -> Iterator[Node]:
    """The kernels that a call ends in, without those for which no dtype matters."""
    parts = runs_as(node)
    if not parts and node.tensors() and node.op.base.rstrip("_") not in _ANY_DTYPE:
        yield node
    for part, _, _ in parts:
        yield from _kernels(part, runs_as)


def _row(kernel: Node, matrix: SupportMatrix) -> tuple[Evidence, ...] | None:
    """What says that a kernel takes the dtypes of a call; None where no document tells of them."""
    rows = [
        condition
        for condition in matrix.conditions_for(str(kernel.op))
        if condition.code in (DOUBTED, NO_DTYPE, OVERRULED)
        and len(condition.predicates) == 1
        and isinstance(condition.predicates[0], Dtype)
    ]
    if any(row.code != OVERRULED and matches(row, kernel) is not None for row in rows):
        return None
    return next((row.evidence for row in rows), None)
