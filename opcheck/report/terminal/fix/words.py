"""Every sentence of the page of a fix."""

from opcheck.model.fix import Fix, FixKind, Proof
from opcheck.report.terminal.units import plural

WROTE = "wrote"
FOLLOWED = ("Followed", "overload, and what it is computed by now")
AT = "at"
WRITTEN_FOR = ("Written for", "overload that the target does not run, and where it is called")
UNBUILT = ("Proof", "none yet")
LEFT = ("Left", "as it was")
PROOF = ("Proof", "the changed model, run")
GONE = "the target is not asked any more for"
REMAINING = "it still refuses, or sends to the host:"
ENDED = "it ended early:"


def verdict(found: Fix) -> str:
    """What came of it."""
    if found.kind is FixKind.CUSTOM:
        return "a project is written, which nothing has built yet"
    if not found.followed:
        return "there is nothing to change" if not found.left else "nothing could be changed"
    if found.proof is None:
        return f"{plural(len(found.followed), 'suggestion')} followed, not proved"
    if not found.proof.holds:
        return "the proof failed, so nothing was written"
    return f"{plural(len(found.followed), 'suggestion')} followed, and proved"


def inside(op: str) -> str:
    """Where an overload is called."""
    return f"inside {op}"


def how(proof: Proof) -> str:
    """What was done to prove it."""
    runs = {True: "it runs", False: "it still does not run", None: "whether it runs is unknown"}
    way = {"emulated": "run with values on an emulated", "scanned": "scanned again for"}[proof.how]
    return f"{way} {proof.target}: {runs[proof.runs]}"


def compared(proof: Proof) -> str:
    """How far the results are off."""
    if proof.largest is None:
        return ""
    what = f"{plural(proof.compared, 'result')} compared with the unchanged model's on the host:"
    if proof.largest.largest is None:
        return f"{what} {proof.largest.name} has NaN or infinity where the other has not"
    if proof.largest.largest == 0.0:
        return f"{what} equal to the last bit"
    return f"{what} the largest difference is {proof.largest.largest:.2g}, in {proof.largest.name}"
