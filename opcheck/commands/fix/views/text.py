"""The page of a fix: what was written, what it follows, what it leaves, and the proof."""

from collections.abc import Sequence

from opcheck.commands.fix.terminal import words
from opcheck.commands.fix.values import Fix, FixKind, Left
from opcheck.lang.speech import tell
from opcheck.model.plan import Proof
from opcheck.views.page import PLAIN, Page
from opcheck.views.terminal import words as common
from opcheck.views.terminal.canvas import Canvas, listed, phrase, split
from opcheck.views.terminal.head import mark
from opcheck.views.terminal.rest import write_heading


def render(found: Fix, page: Page = PLAIN) -> str:
    """The whole answer as text."""
    canvas = Canvas(page)
    sign = mark(_sign(found), canvas.marks)
    verdict = phrase(
        common.VERDICT_OF_PLAN,
        model=[(found.model.source, "bold")],
        target=[(found.target, "bold")],
        said=split(words.verdict(found), sign[1]),
    )
    canvas.flow([sign, *verdict])
    for file in found.files:
        canvas.flow([*split(words.WROTE), (file, "bold")], 2)
    if found.followed:
        _write_followed(canvas, found)
    if found.left:
        _write_left(canvas, found.left)
    if found.proof is not None:
        _write_proof(canvas, found, found.proof)
    elif found.unproven and found.followed:
        write_heading(canvas, words.UNBUILT if _own(found) else words.PROOF, "", "")
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
    write_heading(canvas, words.WRITTEN_FOR if _own(found) else words.FOLLOWED, "", "")
    for way in found.followed:
        inside = words.inside(way.op) if way.op != way.replaces else ""
        canvas.flow(
            [(way.replaces, "bold"), (canvas.marks.dot, "dim"), (way.rule, "green"),
             (tell(f"({way.label.value})"), "dim"), *split(inside, "dim")],
            2,
        )  # fmt: skip
        if way.places:
            canvas.flow([*split(words.AT, "dim"), *listed(way.places)], 4)


def _write_left(canvas: Canvas, left: Sequence[Left]) -> None:
    write_heading(canvas, words.LEFT, "", "")
    for rest in dict.fromkeys(left):
        canvas.flow([(f"{rest.replaces}:", "bold"), *split(rest.reason)], 2)


def _write_proof(canvas: Canvas, found: Fix, proof: Proof) -> None:
    write_heading(canvas, words.PROOF, "", "")
    canvas.flow(split(words.how(proof)), 2)
    if proof.gone:
        canvas.flow([*split(words.GONE), *listed(proof.gone, "green")], 2)
    if proof.remaining:
        canvas.flow([*split(words.REMAINING), *listed(proof.remaining, "yellow")], 2)
    if proof.newer:
        canvas.flow([*split(words.newer(found)), *listed(proof.newer, "dim")], 2)
    for told in words.compared(proof, found.trained):
        canvas.flow(split(told), 2)
    if proof.note:
        canvas.flow(split(proof.note, "dim"), 2)
    if proof.error:
        canvas.flow(split(f"{words.ENDED} {proof.error}", "red"), 2)
