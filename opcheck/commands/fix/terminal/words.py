"""Every sentence of the page of a fix."""

from collections.abc import Iterator

from opcheck.commands.fix.values import Fix, FixKind
from opcheck.model.plan import Compared, Proof
from opcheck.views.terminal.units import plural

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
    if found.unseen:
        return "nothing to change was found, and not everything could be seen"
    if not found.followed and found.mended_nothing:
        return "nothing could be changed, so what keeps it off the device is all still there"
    if not found.followed:
        return "there is nothing to change"
    if found.proof is not None and not found.proof.holds:
        return "the proof failed, so nothing was written"
    proved = "not proved" if found.proof is None else "and proved"
    stays = len({left.op for left in found.left})
    left = f"; {plural(stays, 'operator')} left as {'it was' if stays == 1 else 'they were'}"
    done = f"{plural(len(found.followed), 'suggestion')} followed, {proved}{left if stays else ''}"
    return (
        f"nothing that keeps it from running was mended: {done}" if found.mended_nothing else done
    )


def inside(op: str) -> str:
    """Where an overload is called."""
    return f"inside {op}"


def how(proof: Proof) -> str:
    """What was done to prove it."""
    runs = {True: "it runs", False: "it still does not run", None: "whether it runs is unknown"}
    way = {"emulated": "run with values on an emulated", "scanned": "scanned again for"}[proof.how]
    return f"{way} {proof.target}: {runs[proof.runs]}"


def newer(found: Fix) -> str:
    """What is not asked for on the target itself."""
    return f"only torch {found.torch_version}, which it ran on, and not the target's own, asks for"


def compared(proof: Proof, trained: bool) -> Iterator[str]:
    """How far results and gradients are off, and how far they may be; of a step, parameters too."""
    if proof.forward is not None:
        yield f"forward: {plural(proof.forward.results, 'result')} {_compared(proof.forward)}"
    if proof.backward is not None:
        count = proof.backward.results
        if trained:
            yield f"step: {count:,} gradients and new parameters {_compared(proof.backward)}"
        else:
            yield f"backward: {plural(count, 'gradient')} {_compared(proof.backward)}"
    elif proof.no_backward:
        yield f"backward: not compared, {proof.no_backward}"


def _compared(found: Compared) -> str:
    what = "compared with the unchanged model's on the host:"
    if found.difference is None:
        return f"{what} {found.name} has NaN or infinity where the other has not"
    if found.difference == 0.0:
        return f"{what} equal to the last bit"
    off = f"{what} {found.name} is off by {found.difference:.2g}"
    if found.allowed is None:
        return f"{off}; no figure is promised for it"
    return f"{off}, and may be by {found.allowed:.2g}"
