"""The page of a fix: what was written, what it follows, what it leaves, and the proof."""

from collections.abc import Iterator, Sequence

from opcheck.commands.fix.values import Fix, FixKind, Left
from opcheck.lang.speech import tell
from opcheck.model.plan import Compared, Proof
from opcheck.views.formats import PLAIN, Page
from opcheck.views.terminal import words as common
from opcheck.views.terminal.canvas import Canvas, listed, phrase, split
from opcheck.views.terminal.head import mark
from opcheck.views.terminal.notation import plural
from opcheck.views.terminal.sections import write_heading

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


def verdict_sentence(found: Fix) -> str:
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


def called_inside(op: str) -> str:
    """Where an overload is called."""
    return f"inside {op}"


def how_proved(proof: Proof) -> str:
    """What was done to prove it."""
    runs = {True: "it runs", False: "it still does not run", None: "whether it runs is unknown"}
    way = {"emulated": "run with values on an emulated", "scanned": "scanned again for"}[proof.how]
    return f"{way} {proof.target}: {runs[proof.runs]}"


def newer_sentence(found: Fix) -> str:
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


def render(found: Fix, page: Page = PLAIN) -> str:
    """The whole answer as text."""
    canvas = Canvas(page)
    sign = mark(_sign(found), canvas.marks)
    verdict = phrase(
        common.VERDICT_OF_PLAN,
        model=[(found.model.source, "bold")],
        target=[(found.target, "bold")],
        said=split(verdict_sentence(found), sign[1]),
    )
    canvas.flow([sign, *verdict])
    for file in found.files:
        canvas.flow([*split(WROTE), (file, "bold")], 2)
    if found.followed:
        _write_followed(canvas, found)
    if found.left:
        _write_left(canvas, found.left)
    if found.proof is not None:
        _write_proof(canvas, found, found.proof)
    elif found.unproven and found.followed:
        write_heading(canvas, UNBUILT if _own(found) else PROOF, "", "")
        canvas.flow(split(found.unproven, "yellow"), 2)
    canvas.blank()
    said = f"torch {found.torch_version} {canvas.marks.dot} opcheck {found.opcheck_version}"
    canvas.flow(split(said, "dim"))
    return canvas.text()


def _sign(found: Fix) -> bool | None:
    """True where it holds, None where that is not proved or more may be open."""
    if not found.holds:
        return None if found.unseen else False
    return None if found.proof is None and found.files else True


def _own(found: Fix) -> bool:
    """Whether what was written is a kernel of one's own."""
    return found.kind is FixKind.CUSTOM


def _write_followed(canvas: Canvas, found: Fix) -> None:
    write_heading(canvas, WRITTEN_FOR if _own(found) else FOLLOWED, "", "")
    for way in found.followed:
        inside = called_inside(way.op) if way.op != way.replaces else ""
        canvas.flow(
            [(way.replaces, "bold"), (canvas.marks.dot, "dim"), (way.rule, "green"),
             (tell(f"({way.label.value})"), "dim"), *split(inside, "dim")],
            2,
        )  # fmt: skip
        if way.places:
            canvas.flow([*split(AT, "dim"), *listed(way.places)], 4)


def _write_left(canvas: Canvas, left: Sequence[Left]) -> None:
    write_heading(canvas, LEFT, "", "")
    for rest in dict.fromkeys(left):
        canvas.flow([(f"{rest.replaces}:", "bold"), *split(rest.reason)], 2)


def _write_proof(canvas: Canvas, found: Fix, proof: Proof) -> None:
    write_heading(canvas, PROOF, "", "")
    canvas.flow(split(how_proved(proof)), 2)
    if proof.gone:
        canvas.flow([*split(GONE), *listed(proof.gone, "green")], 2)
    if proof.remaining:
        canvas.flow([*split(REMAINING), *listed(proof.remaining, "yellow")], 2)
    if proof.newer:
        canvas.flow([*split(newer_sentence(found)), *listed(proof.newer, "dim")], 2)
    for told in compared(proof, found.trained):
        canvas.flow(split(told), 2)
    if proof.note:
        canvas.flow(split(proof.note, "dim"), 2)
    if proof.error:
        canvas.flow(split(f"{ENDED} {proof.error}", "red"), 2)
