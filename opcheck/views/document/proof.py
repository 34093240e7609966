"""Proofs as JSON, and back."""

from opcheck.model.plan import Compared, Proof
from opcheck.views.document.node import Node
from opcheck.views.document.parts import Json


def proof_value(proof: Proof) -> Json:
    """What running a changed model came to."""
    return {
        "how": proof.how,
        "target": proof.target,
        "holds": proof.holds,
        "gone": list(proof.gone),
        "remaining": list(proof.remaining),
        "newer": list(proof.newer),
        "runs": proof.runs,
        "forward": None if proof.forward is None else _compared(proof.forward),
        "backward": None if proof.backward is None else _compared(proof.backward),
        "no_backward": proof.no_backward,
        "error": proof.error,
        "note": proof.note,
    }


def read_proof(node: Node) -> Proof:
    """The proof that a document holds."""
    runs, forward, backward = (node.optional(key) for key in ("runs", "forward", "backward"))
    return Proof(
        how=node.text("how"),
        target=node.text("target"),
        holds=node.truth("holds"),
        gone=node.texts("gone"),
        remaining=node.texts("remaining"),
        newer=node.texts("newer"),
        runs=None if runs is None else runs.as_bool(),
        forward=None if forward is None else _read_compared(forward),
        backward=None if backward is None else _read_compared(backward),
        no_backward=node.text("no_backward"),
        error=node.text("error"),
        note=node.text("note"),
    )


def _compared(found: Compared) -> Json:
    return {
        "results": found.results,
        "name": found.name,
        "dtype": found.dtype,
        "difference": found.difference,
        "allowed": found.allowed,
        "holds": found.holds,
    }


def _read_compared(node: Node) -> Compared:
    difference, allowed = node.optional("difference"), node.optional("allowed")
    return Compared(
        results=node.number("results"),
        name=node.text("name"),
        dtype=node.text("dtype"),
        difference=None if difference is None else difference.as_size(),
        allowed=None if allowed is None else allowed.as_size(),
        holds=node.truth("holds"),
    )
