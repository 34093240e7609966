"""What a model costs on one target, and what to do about it."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from opcheck.commands.tune.advices.batch_size import largest_batch
from opcheck.commands.tune.base import Ground, advice, figure_of, first
from opcheck.commands.tune.operators import operator_costs
from opcheck.commands.tune.values import ChipFigure, TunedTarget
from opcheck.costs.calls import TargetCalls, memory_need
from opcheck.costs.roofline import Leaf, product_of, roof_of
from opcheck.model.costs import Chip
from opcheck.model.matrix import SupportMatrix
from opcheck.model.plan import Remedy
from opcheck.model.report import TargetReport
from opcheck.model.request import TrainingSpec
from opcheck.model.text import plural
from opcheck.model.trace import Trace
from opcheck.model.verdict import Verdict


class Subject(Struct, frozen=True):
    """One model on one target, as it was traced."""

    source: str
    trace: Trace
    matrix: SupportMatrix
    report: TargetReport
    step: TrainingSpec | None = None


def tuned(
    subject: Subject, chip: Chip, product: str = "", remedies: Sequence[Remedy] = ()
) -> TunedTarget:
    """Judge it by the chip's product of this name, or the one that is meant where none is.

    Raises:
        UsageError: the chip has no such product.
    """
    chosen = product_of(chip, product)
    running = TargetCalls(subject.trace, subject.matrix)
    leaves = running.leaves()
    roof = roof_of(chosen, subject.matrix.target.device_type)
    ground = Ground(
        running=running,
        leaves=leaves,
        chip=chip,
        product=chosen,
        roof=roof,
        bound=roof.total(leaves),
        memory=memory_need(running),
        report=subject.report,
        source=subject.source,
        remedies=tuple(remedies),
        step=subject.step,
    )
    return TunedTarget(
        target=str(subject.matrix.target),
        vendor=subject.matrix.target.vendor,
        chip=subject.matrix.target.chip,
        title=chip.name,
        product=chosen.name if chosen else "",
        others=tuple(each.name for each in chip.products if each is not chosen),
        runs=subject.report.summary.runs,
        figures=tuple(_figures(ground)),
        flops=sum(leaf.count * (leaf.cost.flops or 0) for leaf in leaves),
        elements=sum(leaf.count * leaf.cost.elements for leaf in leaves),
        moved=sum(leaf.count * leaf.cost.moved for leaf in leaves),
        bound=ground.bound,
        operators=operator_costs(ground),
        memory=ground.memory,
        largest_batch=largest_batch(ground),
        advice=advice(ground),
        unknown=tuple(_unknown(ground)),
    )


def _figures(ground: Ground) -> Iterator[ChipFigure]:
    """The chip's memory and bandwidth, and its rate in each dtype that the run computes in."""
    rates = {leaf.dtype for leaf in ground.leaves if leaf.cost.flops}
    if "float32" in rates and "tf32" in ground.roof.peaks:
        rates.add("tf32")
    for name in ("memory", "bandwidth", *sorted(rates)):
        figure = figure_of(ground.product, name)
        if figure is None:
            yield ChipFigure(name, None)
        else:
            yield ChipFigure(name, figure.value, figure.evidence)


def _unknown(ground: Ground) -> Iterator[str]:
    """What kept a bound or an advice from being said."""
    if ground.product is None:
        yield f"no figure of {ground.chip.name} is known, so nothing bounds the run"
        return
    missing = [figure.name for figure in _figures(ground) if figure.value is None]
    if "float32" in missing and "tf32" in ground.roof.peaks:
        missing.remove("float32")
    for name in missing:
        what = name if name in ("memory", "bandwidth") else f"rate in {name}"
        yield f"the {what} of {ground.product.name} is not known"
    uncounted = [leaf for leaf in ground.leaves if leaf.cost.flops is None]
    if uncounted:
        ops = ", ".join(first(sorted({leaf.op for leaf in uncounted})))
        calls = plural(sum(leaf.count for leaf in uncounted), "call")
        yield f"the operations of {calls} of {ops} are not known"
    yield from _not_running(ground.leaves)
    if ground.running.trace.gaps:
        yield f"{plural(len(ground.running.trace.gaps), 'gap')} in the trace may hide work"


def _not_running(leaves: Sequence[Leaf]) -> Iterator[str]:
    """What is bounded as if it ran on the device, though it does not or nobody has said."""
    for verdict, what in (
        (Verdict.UNSUPPORTED, "not run there; bounded as if they did"),
        (Verdict.UNKNOWN, "not known to run there; bounded as if they did"),
        (Verdict.FALLBACK, "run on the host; in no bound"),
    ):
        ops = sorted({leaf.op for leaf in leaves if leaf.verdict is verdict})
        if ops:
            yield f"{what}: {', '.join(first(ops))}"
