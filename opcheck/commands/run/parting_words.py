"""What every format says of where a run parts from one on the CPU."""

from collections.abc import Iterator

from opcheck.lang.sentence import NOTHING, Sentence, chained
from opcheck.model.comparison import Comparison, Kind, Moment, Parting, Recast, Why
from opcheck.views.terminal import words
from opcheck.views.terminal.notation import plural

HEADING = ("Where the numbers part", "the run on the device and one on the CPU")
ALIKE = "no numbers part, in {said}"
NOTHING_COMPARED = "nothing to compare: the runs share no output, loss or optimizer step"
HOW, DTYPES, WITHIN, NEXT = "apart", "dtypes", "within", "then"

_WHAT = {
    Kind.OUTPUT: "the output of {module}, call {count}",
    Kind.LOSS: "what backward is called on, call {count}",
    Kind.STEP: "the parameters after step {count} of {module}",
}
_PART = {
    Kind.OUTPUT: "{name} of the output of {module}, call {count}",
    Kind.LOSS: "{name} of what backward is called on, call {count}",
    Kind.STEP: "{name} after step {count} of {module}",
}
_ALONE = {
    Why.CPU_ONLY: "the run on the device has no such tensor",
    Why.DEVICE_ONLY: "the run on the CPU has no such tensor",
}


def what(one: Parting | Recast) -> Sentence:
    """Which tensor it is, in a few words."""
    moment: Moment = one.moment
    kind = Kind.OUTPUT if moment.kind is Kind.WITHIN else moment.kind
    template = (_PART if one.path else _WHAT)[kind]
    return Sentence(template, name=one.path.lstrip("."), module=moment.module, count=moment.call)


def briefly(parting: Parting) -> Sentence:
    """In what way it parts, without what is allowed."""
    if parting.why in _ALONE:
        return Sentence(_ALONE[parting.why])
    if parting.why is Why.SHAPE:
        return _both(tuple(map(_shape, parting.shapes)))
    if parting.absolute is None:
        return Sentence(words.NO_NUMBER)
    return Sentence("off by {figure}", figure=f"{parting.absolute:.3g}")


def how(parting: Parting) -> Sentence:
    """In what way it parts, and what is allowed."""
    if parting.absolute is None:
        return briefly(parting)
    figure, allowed = f"{parting.absolute:.3g}", parting.allowed
    told = "off by {figure}, where {figure_allowed} is allowed"
    if allowed[1]:
        told = "off by {figure}, where {figure_allowed} + {figure_part} of the value is allowed"
    off = Sentence(
        told, figure=figure, figure_allowed=f"{allowed[0]:g}", figure_part=f"{allowed[1]:g}"
    )
    if parting.relative is None:
        return off
    share = Sentence("largest relative error {figure}", figure=f"{parting.relative:.3g}")
    return chained((off, share), "; ")


def dtypes(parting: Parting) -> Sentence:
    """Its dtypes where it has one on the device that it has not on the CPU; else nothing."""
    cpu, device = parting.dtypes
    return _both(parting.dtypes) if cpu and device and cpu != device else NOTHING


def _both(told: tuple[str, ...]) -> Sentence:
    cpu, device = told
    return Sentence("{text} on the CPU, {text_device} on the device", text=cpu, text_device=device)


def _shape(shape: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, shape))}]"


def place(one: Parting | Recast) -> str:
    """Its line of the user's; "" where none is known."""
    return f"{one.file}:{one.line}" if one.file else ""


def told(parting: Parting) -> Sentence:
    """All that is said of one place, but for the place."""
    parts = [what(parting), how(parting), dtypes(parting)]
    parts += [
        Sentence("within it first {said} at {text}", said=what(one), text=place(one) or "?")
        for one in parting.within
    ]
    return chained([part for part in parts if part], "; ")


def headline(found: Comparison) -> Sentence:
    """That numbers part first in a tensor, or that they agree."""
    if not found.compared and not found.partings:
        return Sentence(NOTHING_COMPARED)
    if found.first is None:
        return Sentence(ALIKE, said=plural(found.compared, "tensor"))
    return Sentence("the numbers part first here: {said}", said=told(found.first))


def agreeing(found: Comparison) -> Sentence:
    """How many tensors agree of those that part somewhere."""
    of = plural(found.compared, "tensor")
    return Sentence("{count} of {said} agree", count=f"{found.agreeing:,}", said=of)


def notes(found: Comparison) -> Iterator[Sentence]:
    """What the answer rests on, and what was not compared."""
    if found.first is not None and found.first.drawn_apart:
        yield Sentence("by then one run had drawn more random numbers than the other")
    if found.recast is not None:
        yield _recast(found.recast)
    if found.cpu_error:
        error = found.cpu_error.partition("\n")[0]
        yield Sentence("the run on the CPU ended early: {text}", text=error)
    if found.alone:
        yield Sentence("in one of the runs alone: {said}", said=plural(found.alone, "tensor"))
    if found.left_out:
        yield Sentence("not kept to compare: {said}", said=plural(found.left_out, "tensor"))
    if not found.seeded:
        yield Sentence("the script sets no seed of torch's: both runs began with the same one")


def _recast(recast: Recast) -> Sentence:
    first = place(recast)
    template = "of another dtype on the device: {said}, first {said_what} ({said_dtypes})"
    if first:
        template = (
            "of another dtype on the device: {said}, first {said_what} at {text} ({said_dtypes})"
        )
    return Sentence(
        template,
        said=plural(recast.count, "tensor"),
        said_what=what(recast),
        text=first,
        said_dtypes=_both(recast.dtypes),
    )
