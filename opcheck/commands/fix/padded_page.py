"""The page of ``opcheck fix --dynamic``: buckets, what that brings, and the proof."""

from collections.abc import Iterator, Sequence

from opcheck.commands.fix.padded import Padding, VaryingPlace
from opcheck.lang.sentence import Sentence, chained, verbatim
from opcheck.model.dynamic import Taking
from opcheck.model.padding import PadCheck, PaddedAxis, PaddedInput, PadRun, StaticCache
from opcheck.model.text import plural
from opcheck.views.formats import Page
from opcheck.views.terminal import words as common
from opcheck.views.terminal.canvas import PLACE, Canvas, listed, phrase, split
from opcheck.views.terminal.evidence import cited
from opcheck.views.terminal.head import mark
from opcheck.views.terminal.sections import write_heading

SIZES = ("Sizes", "what varies, and what it is padded to")
SHAPES = ("Shapes", "that the target is given, before and after")
BY_DATA = ("By values", "places whose size, or what follows, depends on them")
CACHE = ("Cache", "of keys and values, while text is generated")
PROOF = ("Proof", "the wrapper beside the model itself, run on the host")
READS = Sentence("the model reads values: what it decides by others than these, padding may change")
WROTE, VARIES, BUCKETS, INPUTS = "wrote", "sizes", "buckets", "inputs"
CUT, FROM = "cut", "from"


def padded_text(found: Padding, page: Page) -> str:
    """The whole answer as text."""
    canvas = Canvas(page)
    sign = mark(found.holds, canvas.marks)
    verdict = phrase(
        common.VERDICT_OF_PLAN,
        model=[(found.model.source, "bold")],
        target=[(found.target, "bold")],
        said=split(padded_sentence(found), sign[1]),
    )
    canvas.flow([sign, *verdict])
    for file in found.files:
        canvas.flow([*split(WROTE), (file, "bold")], 2)
    _write_sizes(canvas, found.run)
    if found.holds:
        _write_shapes(canvas, found)
    _write_proof(canvas, found.run)
    if found.holds and found.reads_values:
        canvas.flow(split(READS, "yellow"), 2)
    if found.places:
        _write_places(canvas, found.places)
    if found.run.cache is not None:
        write_heading(canvas, CACHE, "", "")
        for line in cache_sentences(found.run.cache):
            canvas.flow(split(line), 2)
    canvas.blank()
    for note in found.run.notes:
        canvas.flow(split(note, "dim"))
    said = f"torch {found.torch_version} {canvas.marks.dot} opcheck {found.opcheck_version}"
    canvas.flow(split(verbatim(said), "dim"))
    return canvas.text()


def padded_sentence(found: Padding) -> Sentence:
    """What came of it."""
    if found.run.reason:
        return Sentence("no wrapper can be proved, so nothing was written")
    if not found.holds:
        return Sentence("padding changes what the model gives, so nothing was written")
    template = "{said} can become {count}, and it is proved"
    if found.files:
        template = "{said} become {count}, and it is proved"
    shapes = plural(found.shapes_before, "shape")
    return Sentence(template, said=shapes, count=f"{found.shapes_after:,}")


def input_sentence(one: PaddedInput) -> Sentence:
    """What a dimension is padded with."""
    if one.made:
        return Sentence(
            "{name} is made of ones, and padded with {value}", name=one.name, value=one.value
        )
    if not one.value:
        return Sentence("{name} is padded with its first element", name=one.name)
    return Sentence("{name} is padded with {value}", name=one.name, value=one.value)


def cut_sentences(run: PadRun, axis: PaddedAxis) -> Iterator[Sentence]:
    """How results that follow an axis are cut back."""
    for cut in run.cuts:
        if cut.axis == axis.name:
            yield Sentence(
                "dimension {dim} of {name} to {size}", dim=cut.dim, name=cut.name, size=cut.size
            )


def shapes_sentence(found: Padding) -> Sentence:
    """How many shapes there are of all sizes up to the largest bucket, and how many are left."""
    return Sentence(
        "{said} become {count}, with {figure} times as many elements over all sizes",
        said=plural(found.shapes_before, "shape"),
        count=f"{found.shapes_after:,}",
        figure=f"{found.padded_share:.2f}",
    )


def gain_sentence(found: Padding) -> Sentence:
    """What fewer shapes are worth on the target."""
    if found.taken is None:
        return Sentence("no call of the model is given a size that varies")
    gains = {
        Taking.RECOMPILES: "each new shape is compiled there: {said}",
        Taking.NOT_ALLOWED: "the target does not take sizes that vary: {said}",
        Taking.UNKNOWN: "how the target takes sizes that vary is not known: {said}",
        Taking.FINE: "the target takes each size as it comes, so that padding only adds work: "
        "{said}",
    }
    return Sentence(gains[found.taken.how], said=found.taken.text)


def check_sentence(check: PadCheck) -> Sentence:
    """The result that is furthest off, and at which sizes."""
    where = {"text": check.sizes, "text_bucket": check.bucket}
    if check.error:
        return Sentence(
            "with {text} padded to {text_bucket} the model fails: {text_why}",
            **where,
            text_why=check.error,
        )
    if check.difference is None:
        return Sentence(
            "{name} has another shape, NaN or infinity with {text} padded to {text_bucket}",
            name=check.result,
            **where,
        )
    return Sentence(
        "{name} is off by {figure} with {text} padded to {text_bucket}, and may be by {figure_b}",
        name=check.result,
        figure=f"{check.difference:.2g}",
        figure_b=f"{check.allowed:.2g}",
        **where,
    )


def nearest_sentence(run: PadRun, worst: PadCheck) -> Sentence:
    """How near results are that are near enough."""
    if not worst.difference:
        return Sentence("equal to the last bit")
    if worst.excess < _ROUNDING:
        return Sentence("equal up to the rounding of {dtype}", dtype=run.dtype)
    return check_sentence(worst)


def tried_sentence(run: PadRun) -> Sentence:
    """What was compared."""
    return Sentence(
        "{said} at {said_sizes}, on {count} sets of values, computed in {dtype}",
        said=plural(run.results, "result"),
        said_sizes=plural(len(run.checks), "size"),
        count=run.draws,
        dtype=run.dtype,
    )


def cache_sentences(cache: StaticCache) -> Iterator[Sentence]:
    """How a library's cache keeps one size, and where it says so."""
    if cache.taken:
        yield Sentence(
            'generate(..., cache_implementation="static") keeps the cache at one size, which '
            "otherwise grows with each token"
        )
    else:
        yield Sentence("the model's class does not say that it takes a cache of one size")
    yield Sentence(
        "{library}, {file}:{line}", library=cache.library, file=cache.file, line=cache.line
    )


def _write_places(canvas: Canvas, places: Sequence[VaryingPlace]) -> None:
    write_heading(canvas, BY_DATA, "", "")
    for one in places:
        site = one.site
        where = [(f"{site.file}:{site.line}", f"bold {PLACE}")] if site.file else []
        dot = (canvas.marks.dot, "dim")
        canvas.flow([*where, (site.op, ""), dot, *split(one.advice)], 2)
        for fact in one.evidence[:1]:
            canvas.field(FROM, cited(fact), 4)
        if one.code is None:
            continue
        for line in one.code.code.splitlines():
            canvas.flow(split(verbatim(line), "green"), 4)
        if not one.there:
            lacks = Sentence("no kernel of the target is known for {op}", op=one.code.needs)
            canvas.flow(split(lacks, "yellow"), 4)


def failed_checks(run: PadRun) -> list[PadCheck]:
    """Those that do not hold, the furthest off first."""
    failed = [check for check in run.checks if not check.holds]
    return sorted(failed, key=lambda check: -check.excess)


def _write_sizes(canvas: Canvas, run: PadRun) -> None:
    if not run.axes:
        return
    write_heading(canvas, SIZES, "", "")
    for axis in run.axes:
        canvas.flow(listed(axis.members, "bold"), 2)
        canvas.field(VARIES, split(_range(axis)), 4)
        canvas.field(BUCKETS, listed(map(str, axis.buckets)), 4)
        names = axis.members
        own = [one for one in run.inputs if one.name in names or _made_for(one, axis, run)]
        _write_list(canvas, INPUTS, [input_sentence(one) for one in own])
        _write_list(canvas, CUT, list(cut_sentences(run, axis)))


def _made_for(one: PaddedInput, axis: PaddedAxis, run: PadRun) -> bool:
    """Whether the wrapper makes an input that has the size of an axis."""
    return one.made and axis.name.rpartition(":")[2] == one.name.rpartition(":")[2]


def _range(axis: PaddedAxis) -> Sentence:
    return Sentence("all from {low} to {high}", low=axis.smallest, high=axis.buckets[-1])


def _write_list(canvas: Canvas, label: str, sentences: Sequence[Sentence]) -> None:
    if sentences:
        canvas.field(label, split(chained(list(sentences), "; ")), 4)


def _write_shapes(canvas: Canvas, found: Padding) -> None:
    write_heading(canvas, SHAPES, "", "")
    canvas.flow(split(shapes_sentence(found)), 2)
    canvas.flow(split(gain_sentence(found)), 2)
    for fact in found.taken.evidence[:1] if found.taken is not None else ():
        canvas.field(FROM, cited(fact), 2)


def _write_proof(canvas: Canvas, run: PadRun) -> None:
    write_heading(canvas, PROOF, "", "")
    if run.reason:
        canvas.flow(split(run.reason, "yellow"), 2)
        return
    canvas.flow(split(tried_sentence(run)), 2)
    failed = failed_checks(run)
    shown = failed if canvas.page.full else failed[:_SHOWN]
    for check in shown:
        canvas.flow(split(check_sentence(check), "yellow"), 2)
    if len(failed) > len(shown):
        canvas.flow(split(common.more(len(failed) - len(shown), "size"), "dim"), 2)
    if not failed and run.worst is not None:
        canvas.flow(split(nearest_sentence(run, run.worst)), 2)


_ROUNDING = 0.01
"""Of what is allowed; what is less is told as rounding."""
_SHOWN = 3
"""Sizes that are named where results are off."""
