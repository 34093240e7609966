"""A model checked against targets' chips: what it costs there, and what would make it cost less."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from opcheck.commands.tune.advices.memory_capacity import largest_batch
from opcheck.commands.tune.base import Ground, advice, figure_of, first_of, places
from opcheck.commands.tune.values import ChipFigure, OperatorCost, TunedTarget, Tuning
from opcheck.costs.calls import TargetCalls, memory_need
from opcheck.costs.roofline import Leaf, product_of, roof_of, summed
from opcheck.db.store import Database
from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.costs import Chip
from opcheck.model.matrix import SupportMatrix
from opcheck.model.plan import Remedy
from opcheck.model.report import TargetReport
from opcheck.model.request import ScanRequest, TrainingSpec
from opcheck.model.text import plural
from opcheck.model.trace import Trace
from opcheck.model.verdict import Verdict
from opcheck.pipeline.database import Progress, matrices_for, open_database, require_age, silent
from opcheck.pipeline.reports import report_of
from opcheck.pipeline.traces import gathered, worked


def operator_costs(ground: Ground) -> tuple[OperatorCost, ...]:
    """All calls by overload, the dearest first; where nothing bounds them, by what they compute."""
    by_op: dict[str, list[Leaf]] = {}
    for leaf in ground.leaves:
        by_op.setdefault(leaf.op, []).append(leaf)
    found = [_cost(ground, op, leaves) for op, leaves in by_op.items()]
    return tuple(sorted(found, key=_order))


def _cost(ground: Ground, op: str, leaves: Sequence[Leaf]) -> OperatorCost:
    counted = [leaf.count * leaf.cost.flops for leaf in leaves if leaf.cost.flops is not None]
    bound = summed(map(ground.roof.bound, leaves))
    known = bound.seconds is not None and ground.bound.seconds
    return OperatorCost(
        op=op,
        calls=sum(leaf.count for leaf in leaves),
        flops=sum(counted) if len(counted) == len(leaves) else None,
        moved=sum(leaf.count * leaf.cost.moved for leaf in leaves),
        bound=bound,
        share=ground.share(bound.seconds) if known and bound.seconds is not None else None,
        module=places(ground, leaves)[0],
    )


def _order(cost: OperatorCost) -> tuple[float, int, int, str]:
    return -(cost.bound.seconds or 0.0), -(cost.flops or 0), -cost.moved, cost.op


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


def _unknown(ground: Ground) -> Iterator[Sentence]:
    """What kept a bound or an advice from being said."""
    if ground.product is None:
        yield Sentence(
            "no figure of {text} is known, so nothing bounds the run", text=ground.chip.name
        )
        return
    missing = [figure.name for figure in _figures(ground) if figure.value is None]
    if "float32" in missing and "tf32" in ground.roof.peaks:
        missing.remove("float32")
    for name in missing:
        known = name in ("memory", "bandwidth")
        what = "the {said} of {text} is not known"
        template = what if known else "the rate in {dtype} of {text} is not known"
        yield Sentence(template, said=name, dtype=name, text=ground.product.name)
    uncounted = [leaf for leaf in ground.leaves if leaf.cost.flops is None]
    if uncounted:
        yield Sentence(
            "the operations of {said} of {text} are not known",
            said=plural(sum(leaf.count for leaf in uncounted), "call"),
            text=first_of(sorted({leaf.op for leaf in uncounted})),
        )
    yield from _not_running(ground.leaves)
    if gaps := len(ground.running.trace.gaps):
        hides = (
            "{count} gap in the trace may hide work"
            if gaps == 1
            else "{count} gaps in the trace may hide work"
        )
        yield Sentence(hides, count=f"{gaps:,}")


def _not_running(leaves: Sequence[Leaf]) -> Iterator[Sentence]:
    """What is bounded as if it ran on the device, though it does not or nobody has said."""
    for verdict, template in (
        (Verdict.UNSUPPORTED, "not run there; bounded as if they did: {text}"),
        (Verdict.UNKNOWN, "not known to run there; bounded as if they did: {text}"),
        (Verdict.FALLBACK, "run on the host; in no bound: {text}"),
    ):
        ops = sorted({leaf.op for leaf in leaves if leaf.verdict is verdict})
        if ops:
            yield Sentence(template, text=first_of(ops))


TOO_MANY = 8
"""More targets than that nobody reads advice for side by side."""


def tune(
    request: ScanRequest, product: str = "", progress: Progress = silent, output: Progress = silent
) -> Tuning:
    """Say what a model costs on each of its targets, and what to change.

    ``product`` is what the chip is sold as; it needs one target.

    Raises:
        UsageError: an unknown target or product, or none or too many targets.
        SourceError, TraceError, DatabaseError: as :func:`opcheck.commands.scan.answer`.
    """
    database = open_database(request.databases)
    matrices = _matrices(database, request)
    if product and len(matrices) > 1:
        raise UsageError(
            Sentence("--product is of one target's chip"), Sentence("give one target with -t")
        )
    require_age(request, database, matrices)
    chips = [database.chip(matrix.target) for matrix in matrices]
    if product:
        product_of(chips[0], product)  # refused before the model is loaded
    progress(Sentence("reading {text}", text=request.model.source))
    scanned = gathered(worked(request, matrices, progress, output, costs=True))
    progress("holding what it costs against what the chips have")
    report = report_of(request.model.source, scanned, matrices)
    targets: list[TunedTarget] = []
    for matrix, chip, found in zip(matrices, chips, report.targets, strict=True):
        subject = Subject(
            request.model.source, scanned.of(matrix.target), matrix, found, request.model.step
        )
        remedies = database.remedies(matrix.target)
        targets.append(tuned(subject, chip, product, remedies))
    return Tuning(
        opcheck_version=report.opcheck_version,
        torch_version=report.torch_version,
        model=report.model,
        trace=report.trace,
        targets=tuple(targets),
    )


def _matrices(database: Database, request: ScanRequest) -> tuple[SupportMatrix, ...]:
    if not request.targets:
        raise UsageError(
            Sentence("tune is for targets that are named"),
            Sentence("name one with -t; opcheck targets lists them"),
        )
    matrices = matrices_for(database, request)
    if len(matrices) > TOO_MANY:
        raise UsageError(
            Sentence(
                "tune is for {count} targets at most, and these are {count_all}",
                count=TOO_MANY,
                count_all=len(matrices),
            ),
            Sentence("name single chips with -t"),
        )
    return matrices
