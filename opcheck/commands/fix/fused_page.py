"""The page of ``opcheck fix --better``: what was fused, what that brings, and the proof."""

from collections.abc import Iterator, Sequence

from opcheck.commands.fix.fused import Better
from opcheck.lang.sentence import Sentence, chained, in_brackets, verbatim
from opcheck.lang.speech import tell
from opcheck.model.fusing import FusedCalls, LeftCalls, ModelCheck, ValueCheck
from opcheck.model.text import duration, plural, size
from opcheck.views.formats import Page
from opcheck.views.terminal import words as common
from opcheck.views.terminal.canvas import PLACE, Canvas, listed, phrase, split
from opcheck.views.terminal.evidence import cited
from opcheck.views.terminal.head import mark
from opcheck.views.terminal.sections import module_patterns, write_heading

FUSED = ("Fused", "calls of the model, and the one kernel that computes them")
LEFT = ("Left", "what could be fused by what it computes")
PROOF = ("Proof", "the model with calls fused, run on the host")
WROTE, WHERE, GAIN, VALUES, FROM = "wrote", "where", "gain", "values", "from"
ANEW = "written anew:"
OFF = "it leaves the device now, or is refused there:"


def fused_text(found: Better, page: Page) -> str:
    """The whole answer as text."""
    canvas = Canvas(page)
    sign = mark(found.holds, canvas.marks)
    verdict = phrase(
        common.VERDICT_OF_PLAN,
        model=[(found.model.source, "bold")],
        target=[(found.target, "bold")],
        said=split(fused_sentence(found), sign[1]),
    )
    canvas.flow([sign, *verdict])
    for file in found.files:
        canvas.flow([*split(WROTE), (file, "bold")], 2)
    for layer in found.layers:
        canvas.flow([*split(ANEW), (layer, "bold")], 2)
    if found.fused:
        write_heading(canvas, FUSED, "", "")
    for one in found.fused:
        _write_fused(canvas, found, one)
    if found.left:
        _write_left(canvas, found.left)
    if found.check is not None:
        _write_proof(canvas, found, found.check)
    canvas.blank()
    said = f"torch {found.torch_version} {canvas.marks.dot} opcheck {found.opcheck_version}"
    canvas.flow(split(verbatim(said), "dim"))
    return canvas.text()


def fused_sentence(found: Better) -> Sentence:
    """What came of it."""
    if not found.fused:
        return Sentence("nothing to fuse was found")
    if not found.holds:
        return Sentence("the proof failed, so nothing was written")
    places = sum(len(one.modules) for one in found.fused)
    template = "{said} can be fused, and it is proved"
    if found.files or found.text:
        template = "{said} fused, and proved"
    return Sentence(template, said=plural(places, "place"))


def gain_sentences(found: Better, one: FusedCalls) -> Iterator[Sentence]:
    """Calls and bytes before and after, and the time that the bytes are worth."""
    yield Sentence(
        "{count} calls become {count_after}",
        count=f"{one.calls_before:,}",
        count_after=f"{one.calls_after:,}",
    )
    yield Sentence(
        "{size} moved become {size_after}",
        size=size(one.bytes_before),
        size_after=size(one.bytes_after),
    )
    if one.seconds is None:
        yield Sentence("how long that takes is not known")
    else:
        yield Sentence(
            "{text} less by the bandwidth of {product}",
            text=duration(one.seconds),
            product=found.product,
        )


def values_sentence(check: ValueCheck) -> Sentence:
    """How far results of one dtype are off, and how far they may be."""
    return Sentence(
        "{dtype} off by {figure} eps of the largest, and may be by {figure_b}",
        dtype=check.dtype,
        figure=f"{check.error:.2g}",
        figure_b=f"{check.allowed:g}",
    )


def model_sentence(check: ModelCheck) -> Sentence:
    """How far the whole model's results are off, and how far they may be."""
    given = {"said": plural(check.results, "result"), "count": check.draws, "name": check.name}
    if check.difference is None:
        return Sentence(
            "{said} on {count} sets of inputs: {name} has NaN or infinity where the other has not",
            **given,
        )
    if not check.difference:
        return Sentence("{said} on {count} sets of inputs: equal to the last bit", **given)
    return Sentence(
        "{said} on {count} sets of inputs: {name} is off by {figure}, and may be by {figure_b}",
        **given,
        figure=f"{check.difference:.2g}",
        figure_b=f"{check.allowed:.2g}",
    )


def share_sentence(found: Better) -> Sentence:
    """What all of it saves of the whole program."""
    return Sentence(
        "in all {count} of {count_all} calls and {size} of {size_all} moved are saved",
        count=f"{found.calls_saved:,}",
        count_all=f"{found.calls:,}",
        size=size(found.bytes_saved),
        size_all=size(found.moved),
    )


def _write_fused(canvas: Canvas, found: Better, one: FusedCalls) -> None:
    label = tell(in_brackets(one.label.value))
    canvas.flow(
        [(one.kernel, "bold"), (canvas.marks.dot, "dim"), (one.rule, "green"), (label, "dim")], 2
    )
    canvas.field(WHERE, listed(module_patterns(list(map(_place, one.modules))), PLACE), 4)
    canvas.field(GAIN, split(chained(list(gain_sentences(found, one)), "; ")), 4)
    for place, check in enumerate(one.checks):
        canvas.field("" if place else VALUES, split(values_sentence(check)), 4)
    for place, fact in enumerate(one.evidence[:1]):
        canvas.field("" if place else FROM, cited(fact), 4)
    for address in one.references if canvas.page.full else ():
        canvas.field("", split(verbatim(address), "dim"), 4)


def _place(module: str) -> str:
    return module or tell(Sentence("the model"))


def _write_left(canvas: Canvas, left: Sequence[LeftCalls]) -> None:
    write_heading(canvas, LEFT, "", "")
    places: dict[tuple[str, str], list[str]] = {}
    for one in left:
        places.setdefault((one.rule, one.reason), []).append(_place(one.module))
    for (rule, reason), modules in places.items():
        canvas.flow([(f"{rule}:", "bold"), *split(reason)], 2)
        canvas.field(WHERE, listed(module_patterns(modules), PLACE), 4)


def _write_proof(canvas: Canvas, found: Better, check: ModelCheck) -> None:
    write_heading(canvas, PROOF, "", "")
    canvas.flow(split(model_sentence(check)), 2)
    canvas.flow(split(share_sentence(found)), 2)
    if found.newly_off:
        canvas.flow([*split(OFF), *listed(found.newly_off, "yellow")], 2)
