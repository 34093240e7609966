"""A kernel of one's own as the last suggestion, where nothing that a target runs was found."""

from opcheck.lang.sentence import Sentence
from opcheck.model.matrix import SupportMatrix
from opcheck.model.plan import Declined, Label, Suggestion, Tier
from opcheck.model.trace import Node
from opcheck.rewrite.custom.base import of_vendor, refused
from opcheck.rewrite.custom.signature import complex_numbers, signature

RULE = "custom-operator"
UNMEASURED = "nothing computes until it is built; its own test holds it against the CPU"


def suggested(node: Node, matrix: SupportMatrix) -> Suggestion | Declined:
    """A project for an overload that a target does not run, or why none can be written."""
    op = str(node.op)
    chains = of_vendor(matrix.target.vendor)
    if not chains:
        return Declined(RULE, Tier.CUSTOM, refused(matrix.target.vendor))
    found = signature(op)
    if isinstance(found, str):
        return Declined(RULE, Tier.CUSTOM, found)
    if reason := complex_numbers([node]):
        return Declined(RULE, Tier.CUSTOM, reason)
    body = chains[0].body(found, matrix.target.chip)
    writes = (
        "opcheck fix --custom-op {op} writes a project for {text}, with its kernel, to build and "
        "to test"
    )
    if not body.written:
        writes = (
            "opcheck fix --custom-op {op} writes a project for {text}, with all but one function "
            "of its kernel ({said})"
        )
    project = Sentence(writes, op=op, text=chains[0].title, said=body.left)
    return Suggestion(
        rule=RULE,
        tier=Tier.CUSTOM,
        label=Label.TOLERANCE,
        replaces=op,
        summary=project if found.core else _without_first(project),
        gives_up=_given_up(op, matrix),
        unmeasured=UNMEASURED,
        evidence=chains[0].evidence,
    )


def _without_first(project: Sentence) -> Sentence:
    """What to look at before anything is built."""
    return Sentence(
        "It is no core operator of PyTorch's: write the model without it if you can; else {said}",
        said=project,
    )


def _given_up(op: str, matrix: SupportMatrix) -> str:
    if op in matrix.entries:
        return Sentence(
            "A kernel to build and to maintain, which nothing has proved; it takes the place of "
            "the vendor's kernel for every use"
        )
    return Sentence("A kernel to build and to maintain, which nothing has proved")
