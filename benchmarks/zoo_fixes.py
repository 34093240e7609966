"""Models of the zoo fixed for a target, and run on it, emulated, with values."""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.zoo_models import source
from opcheck.commands.fix import answer as fix_answer
from opcheck.commands.fix.values import Fix, FixKind, FixRequest
from opcheck.errors import OpcheckError
from opcheck.model.plan import Compared, Label
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.target import TargetSpec

NOT_HELD = "the proof does not hold"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one model on one target."""

    model: str
    target: str
    allowed: str
    """The least close label that was followed; "" where nothing was."""
    whole: bool
    """Whether nothing leaves the device any more, and the results are what the labels allow."""
    forward: Compared | None = None
    """How far the results are from the unchanged model's."""
    backward: Compared | None = None
    """How far the gradients are."""
    why: tuple[str, ...] = ()
    """What is in the way of it being whole."""
    newer: tuple[str, ...] = ()
    """Overloads that only the running torch asks for, and not the target's own."""


def fixed(model: str, target: str) -> Outcome:
    """Write a shim with every suggestion that there is, and run the model with it."""
    with tempfile.TemporaryDirectory() as folder:
        scan = ScanRequest(ModelSpec(source(model)), (TargetSpec.parse(target),))
        shim = str(Path(folder) / "shim.py")
        try:
            found = fix_answer.fix(FixRequest(scan, FixKind.SHIM, shim, allow=Label.APPROXIMATE))
        except OpcheckError as error:
            return Outcome(model, target, "", whole=False, why=(error.message,))
        return outcome(model, found)


def outcome(model: str, found: Fix) -> Outcome:
    """Read from a fix what became of the model."""
    labels = [way.label for way in found.followed]
    allowed = max(labels, key=lambda label: label.rank) if labels else ""
    proof = found.proof
    if proof is None:
        return Outcome(model, found.target, allowed, whole=False, why=tuple(_why(found)))
    whole = proof.holds and not proof.remaining
    why = () if whole else tuple(_why(found))
    return Outcome(
        model, found.target, allowed, whole, proof.forward, proof.backward, why, proof.newer
    )


def _why(found: Fix) -> Iterator[str]:
    """Each reason once: of what stays, of what came to be asked for, of what does not agree."""
    known = dict.fromkeys(f"`{left.replaces}`: {left.reason}" for left in found.left)
    yield from known
    proof = found.proof
    if proof is None:
        yield from () if known else (found.unproven,)
        return
    left = {left.replaces for left in found.left}
    yield from (f"`{op}` is still asked for" for op in proof.remaining if op not in left)
    yield from filter(None, (proof.error,))
    if not proof.holds:
        yield NOT_HELD
