"""The page of a fix: what was written, what it follows, what it leaves, and the proof."""

from collections.abc import Iterator, Sequence

from opcheck.commands.fix.fused import Better
from opcheck.commands.fix.fused_page import WROTE, fused_text
from opcheck.commands.fix.padded import Padding
from opcheck.commands.fix.padded_page import padded_text
from opcheck.commands.fix.values import Fix, FixKind, Left
from opcheck.lang.sentence import Sentence, in_brackets, verbatim
from opcheck.lang.speech import tell
from opcheck.model.plan import Compared, Proof
from opcheck.views.formats import PLAIN, Page
from opcheck.views.terminal import words as common
from opcheck.views.terminal.canvas import Canvas, listed, phrase, split
from opcheck.views.terminal.head import mark
from opcheck.views.terminal.notation import plural
from opcheck.views.terminal.sections import write_heading

FOLLOWED = ("Followed", "overload, and what it is computed by now")
AT = "at"
WRITTEN_FOR = ("Written for", "overload that the target does not run, and where it is called")
UNBUILT = ("Proof", "none yet")
LEFT = ("Left", "as it was")
PROOF = ("Proof", "the changed model, run")
GONE = "the target is not asked any more for"
REMAINING = "it still refuses, or sends to the host:"


def verdict_sentence(found: Fix) -> Sentence:
    """What came of it."""
    if found.kind is FixKind.CUSTOM:
        return Sentence("a project is written, which nothing has built yet")
    if found.unseen:
        return Sentence("nothing to change was found, and not everything could be seen")
    if not found.followed and found.mended_nothing:
        return Sentence(
            "nothing could be changed, so what keeps it off the device is all still there"
        )
    if not found.followed:
        return Sentence("there is nothing to change")
    if found.proof is not None and not found.proof.holds:
        return Sentence("the proof failed, so nothing was written")
    done = _followed(found)
    if found.mended_nothing:
        return Sentence("nothing that keeps it from running was mended: {said}", said=done)
    return done


def _followed(found: Fix) -> Sentence:
    """How many suggestions, whether that is proved, and how many operators stay."""
    template = "{said} followed, not proved"
    if found.proof is not None:
        template = "{said} followed, and proved"
    stays = len({left.op for left in found.left})
    if stays:
        was = "it was" if stays == 1 else "they were"
        template = f"{template}; {{said_left}} left as {was}"
    suggestions = plural(len(found.followed), "suggestion")
    return Sentence(template, said=suggestions, said_left=plural(stays, "operator"))


def called_inside(op: str) -> Sentence:
    """Where an overload is called."""
    return Sentence("inside {op}", op=op)


def how_proved(proof: Proof) -> Sentence:
    """What was done to prove it."""
    runs = {True: "it runs", False: "it still does not run", None: "whether it runs is unknown"}
    template = {
        "emulated": "run with values on an emulated {target}: {said}",
        "scanned": "scanned again for {target}: {said}",
    }[proof.how]
    return Sentence(template, target=proof.target, said=Sentence(runs[proof.runs]))


def newer_sentence(found: Fix) -> Sentence:
    """What is not asked for on the target itself."""
    return Sentence(
        "only torch {version}, which it ran on, and not the target's own, asks for",
        version=found.torch_version,
    )


def compared(proof: Proof, trained: bool) -> Iterator[Sentence]:
    """How far results and gradients are off, and how far they may be; of a step, parameters too."""
    if proof.forward is not None:
        yield Sentence(
            "forward: {said} compared with the unchanged model's on the host: {said_how}",
            said=plural(proof.forward.results, "result"),
            said_how=_compared(proof.forward),
        )
    if proof.backward is not None and trained:
        yield Sentence(
            "step: {count} gradients and new parameters compared with the unchanged model's on the "
            "host: {said_how}",
            count=f"{proof.backward.results:,}",
            said_how=_compared(proof.backward),
        )
    elif proof.backward is not None:
        yield Sentence(
            "backward: {said} compared with the unchanged model's on the host: {said_how}",
            said=plural(proof.backward.results, "gradient"),
            said_how=_compared(proof.backward),
        )
    elif proof.no_backward:
        yield Sentence("backward: not compared, {said}", said=proof.no_backward)


def _compared(found: Compared) -> Sentence:
    if found.difference is None:
        return Sentence("{name} has NaN or infinity where the other has not", name=found.name)
    if found.difference == 0.0:
        return Sentence("equal to the last bit")
    off = f"{found.difference:.2g}"
    if found.allowed is None:
        return Sentence(
            "{name} is off by {figure}; no figure is promised for it", name=found.name, figure=off
        )
    return Sentence(
        "{name} is off by {figure}, and may be by {figure_b}",
        name=found.name,
        figure=off,
        figure_b=f"{found.allowed:.2g}",
    )


def render(found: Fix | Better | Padding, page: Page = PLAIN) -> str:
    """The whole answer as text."""
    if isinstance(found, Better):
        return fused_text(found, page)
    if isinstance(found, Padding):
        return padded_text(found, page)
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
    canvas.flow(split(verbatim(said), "dim"))
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
        inside = split(called_inside(way.op), "dim") if way.op != way.replaces else []
        label = tell(in_brackets(way.label.value))
        canvas.flow(
            [(way.replaces, "bold"), (canvas.marks.dot, "dim"), (way.rule, "green"),
             (label, "dim"), *inside],
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
        canvas.flow(split(Sentence("it ended early: {text}", text=proof.error), "red"), 2)
