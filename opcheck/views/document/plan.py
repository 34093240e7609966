"""Suggestions, their proofs and their sum as JSON, and back."""

import math

from opcheck.lang.sentence import Sentence
from opcheck.model.plan import (
    AfterTier,
    Compared,
    Declined,
    Difference,
    Label,
    Measured,
    PlanSummary,
    Proof,
    Suggestion,
    Tier,
)
from opcheck.views.document.parts import Json, evidence_value
from opcheck.views.document.reading import Node, read_evidence


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
        no_backward=node.sentence("no_backward"),
        error=node.text("error"),
        note=node.sentence("note"),
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


def suggestion_value(found: Suggestion) -> Json:
    """One suggestion."""
    return {
        "rule": found.rule,
        "tier": int(found.tier),
        "label": found.label.value,
        "replaces": found.replaces,
        "summary": found.summary,
        "patch": found.code,
        "function": found.function,
        "gives_up": found.gives_up,
        "whole": found.whole,
        "runs_as": list(found.runs_as),
        **({"backward_as": list(found.backward_as)} if found.backward_as else {}),
        "calls": found.calls,
        "memory": found.memory,
        "measured": None if found.measured is None else _measured(found.measured),
        "unmeasured": found.unmeasured,
        "tolerance": found.tolerance,
        "on_device": found.on_device,
        "by_hand": found.by_hand,
        "places": list(found.places),
        "evidence": [evidence_value(evidence) for evidence in found.evidence],
        "proof": None if found.proof is None else proof_value(found.proof),
        "declined": [declined_value(declined) for declined in found.declined],
    }


def plan_value(plan: PlanSummary) -> Json:
    """What a plan comes to."""
    return {
        "tiers": [
            {
                "tier": int(after.tier),
                "support_rate": after.support_rate,
                "runs": after.runs,
                "operators": list(after.operators),
            }
            for after in plan.tiers
        ],
        "stuck": list(plan.stuck),
    }


def read_suggestion(node: Node) -> Suggestion:
    """The suggestion that a document holds."""
    measured, proof = node.optional("measured"), node.optional("proof")
    return Suggestion(
        rule=node.text("rule"),
        tier=_tier(node),
        label=node.member("label", Label),
        replaces=node.text("replaces"),
        summary=node.sentence("summary"),
        code=node.text("patch"),
        function=node.text("function"),
        gives_up=node.sentence("gives_up"),
        whole=node.truth("whole"),
        runs_as=node.texts("runs_as"),
        backward_as=node.texts("backward_as") if node.has("backward_as") else (),
        calls=node.number("calls"),
        memory=node.number("memory"),
        measured=None if measured is None else _read_measured(measured),
        unmeasured=node.sentence("unmeasured"),
        tolerance=node.at("tolerance").as_size(),
        on_device=node.truth("on_device"),
        by_hand=node.truth("by_hand"),
        places=tuple(place.as_number() for place in node.items("places")),
        evidence=tuple(map(read_evidence, node.items("evidence"))),
        declined=tuple(map(read_declined, node.items("declined"))),
        proof=None if proof is None else read_proof(proof),
    )


def read_plan(node: Node) -> PlanSummary:
    """What a document's plan comes to."""
    return PlanSummary(tuple(map(_read_after, node.items("tiers"))), node.texts("stuck"))


def _measured(found: Measured) -> Json:
    return {
        "inputs": list(found.inputs),
        "forward": _difference(found.forward),
        "backward": None if found.backward is None else _difference(found.backward),
    }


def _difference(found: Difference) -> Json | None:
    """JSON has no infinity; a difference without a figure is null in both places."""
    sizes = {"absolute": found.absolute, "relative": found.relative}
    return {name: size if math.isfinite(size) else None for name, size in sizes.items()}


def declined_value(declined: Declined) -> Json:
    """A way that is none."""
    return {"rule": declined.rule, "tier": int(declined.tier), "reason": declined.reason}


def _tier(node: Node) -> Tier:
    number = node.at("tier")
    if number.as_number() not in set(Tier):
        number.fail(Sentence("expected a tier from 1 to 4"))
    return Tier(number.as_number())


def _read_measured(node: Node) -> Measured:
    backward = node.optional("backward")
    return Measured(
        node.texts("inputs"),
        _read_difference(node.at("forward")),
        None if backward is None else _read_difference(backward),
    )


def _read_difference(node: Node) -> Difference:
    sizes = (node.optional("absolute"), node.optional("relative"))
    return Difference(*(math.inf if size is None else size.as_size() for size in sizes))


def read_declined(node: Node) -> Declined:
    """The way that a document says is none."""
    return Declined(node.text("rule"), _tier(node), node.sentence("reason"))


def _read_after(node: Node) -> AfterTier:
    rate, runs = node.optional("support_rate"), node.optional("runs")
    return AfterTier(
        tier=_tier(node),
        support_rate=None if rate is None else rate.as_rate(),
        runs=None if runs is None else runs.as_bool(),
        operators=node.texts("operators"),
    )
