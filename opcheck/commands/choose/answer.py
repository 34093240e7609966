"""A model checked against targets and ranked: each target's report, products and costs."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from opcheck.commands.choose.ranking import ranked
from opcheck.commands.choose.values import PEAK, Choice, Choosing, Fit, Offer, Way, spelled
from opcheck.costs.calls import TargetCalls, memory_need
from opcheck.costs.roofline import Leaf, MemoryNeed, roof_of
from opcheck.lang.sentence import Sentence
from opcheck.model.costs import Chip, Figure, Grade, Product
from opcheck.model.plan import AfterTier, NodePlan, Tier
from opcheck.model.report import TargetReport
from opcheck.model.request import ScanRequest
from opcheck.model.trace import Gap
from opcheck.model.verdict import Verdict
from opcheck.pipeline.database import Progress, matrices_for, open_database, require_age, silent
from opcheck.pipeline.reports import report_of, with_plans
from opcheck.pipeline.traces import gathered, worked

FEW = 0.01
"""A dtype with a smaller part of all operations is bounded by the bytes that move alone."""
_SHORT = {"float32": "tf32"}
"""What calls in a dtype may be computed in besides, by the rules of a roof."""


def computed(leaves: Iterable[Leaf]) -> Mapping[str, int]:
    """Operations of products of matrices by dtype, the most first."""
    found = Counter[str]()
    for leaf in leaves:
        if leaf.cost.flops:
            found[leaf.dtype] += leaf.cost.flops * leaf.count
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def offers(chip: Chip, device_type: str, leaves: Sequence[Leaf], need: int) -> tuple[Offer, ...]:
    """Every product with the chip in it, in the order of the chip's data."""
    flops = computed(leaf for leaf in leaves if leaf.verdict is not Verdict.FALLBACK)
    least = FEW * sum(flops.values())
    weighty = [
        leaf
        for leaf in leaves
        if leaf.cost.flops and leaf.verdict is not Verdict.FALLBACK and flops[leaf.dtype] >= least
    ]
    return tuple(_offer(each, device_type, leaves, weighty, need) for each in chip.products)


def _offer(
    product: Product, device_type: str, leaves: Sequence[Leaf], weighty: Sequence[Leaf], need: int
) -> Offer:
    roof = roof_of(product, device_type)
    slow = dict.fromkeys(leaf.dtype for leaf in weighty if roof.peak(leaf) is None)
    used = dict.fromkeys(name for leaf in weighty for name in (leaf.dtype, _SHORT.get(leaf.dtype)))
    figures = {"memory": product.memory, "bandwidth": product.bandwidth}
    return Offer(
        name=product.name,
        memory=product.memory,
        bandwidth=product.bandwidth,
        peaks={name: rate for name in used if name and (rate := product.peak(name))},
        fits=_fits(need, product.memory),
        bound=roof.total(leaves),
        missing=(
            *(name for name, figure in figures.items() if figure is None),
            *(f"{PEAK}{dtype}" for dtype in slow),
        ),
    )


def _fits(need: int, memory: Figure | None) -> bool | None:
    """Whether there is room; not known where it hangs on which bytes a vendor's GB are."""
    if memory is None:
        return None
    return True if need <= memory.value else None if need <= memory.most else False


def fit_of(found: Sequence[Offer]) -> Fit:
    """Whether there is room for a run in what the chip is sold as."""
    fits = [offer.fits for offer in found]
    if not fits or (True not in fits and None in fits):
        return Fit.UNKNOWN
    if True not in fits:
        return Fit.NONE
    return Fit.EVERY if all(fits) else Fit.SOME


def unknown_figures(found: Sequence[Offer]) -> tuple[str, ...]:
    """What nobody has said of the products, and what nobody but the press has."""
    if not found:
        return (Sentence("no source says its memory, bandwidth or peak rates"),)
    missing: dict[str, list[str]] = {}
    press: dict[str, list[str]] = {}
    for offer in found:
        for name in offer.missing:
            missing.setdefault(name, []).append(offer.name)
        figures = {"memory": offer.memory, "bandwidth": offer.bandwidth}
        figures |= {f"{PEAK}{dtype}": rate for dtype, rate in offer.peaks.items()}
        for name, figure in figures.items():
            if figure is not None and figure.grade is Grade.PRESS:
                press.setdefault(name, []).append(offer.name)
    said = (("no source says its {said}", missing), ("only the press says its {said}", press))
    return tuple(
        _of(template, spelled(name), whom, found)
        for template, names in said
        for name, whom in names.items()
    )


def _of(template: str, figure: Sentence, whom: Sequence[str], found: Sequence[Offer]) -> Sentence:
    """What is not known, and of which products where it is not of all of them."""
    if len(whom) == len(found):
        return Sentence(template, said=figure)
    return Sentence(f"{template}, of {{text}}", said=figure, text=", ".join(whom))


def choice_of(
    report: TargetReport,
    chip: Chip,
    device_type: str,
    leaves: Sequence[Leaf],
    need: MemoryNeed,
    gaps: Sequence[Gap] = (),
) -> Choice:
    """The target without its place; ``report`` has a plan where one was made."""
    found = offers(chip, device_type, leaves, need.total)
    way, tier = _way(report)
    after = _tiers(report)
    return Choice(
        target=report.target,
        vendor=report.vendor,
        chip=report.chip,
        name=chip.name,
        way=way,
        fit=fit_of(found),
        need=need,
        offers=found,
        support_rate=report.summary.support_rate,
        repaired_rate=after[-1].support_rate if after else None,
        tier=tier,
        blocking=_blocking(report, way),
        host_calls=report.summary.calls.get(Verdict.FALLBACK, 0),
        host_bytes=report.summary.fallback_bytes,
        unseen=_unseen(report, gaps),
        untold=unknown_figures(found),
    )


def _tiers(report: TargetReport) -> list[AfterTier]:
    """What a plan comes to without an operator of one's own."""
    tiers = report.plan.tiers if report.plan else ()
    return [after for after in tiers if after.tier < Tier.CUSTOM]


def _way(report: TargetReport) -> tuple[Way, Tier | None]:
    runs = report.summary.runs
    if runs:
        on_host = report.summary.calls.get(Verdict.FALLBACK, 0)
        return (Way.HOST if on_host else Way.ITSELF), None
    after = _tiers(report)
    for each in after:
        if each.runs:
            return Way.REPAIRED, each.tier
    runs = after[-1].runs if after else runs
    return (Way.UNKNOWN if runs is None else Way.NOT), None


def _blocking(report: TargetReport, way: Way) -> tuple[str, ...]:
    """Operators that keep it from running, the most called first."""
    hinders = {Way.NOT: Verdict.UNSUPPORTED, Way.UNKNOWN: Verdict.UNKNOWN}.get(way)
    found = [finding for finding in report.findings if finding.verdict is hinders]
    stuck = set(report.plan.stuck) if report.plan else set()
    left = [finding for finding in found if finding.op in stuck] or found
    return tuple(dict.fromkeys(f.op for f in sorted(left, key=lambda f: (-f.count, f.op))))


def _unseen(report: TargetReport, gaps: Sequence[Gap]) -> tuple[str, ...]:
    unknown = report.summary.operators.get(Verdict.UNKNOWN, 0)
    said = []
    if unknown:
        whether = (
            "nobody has said whether it has {count} operator of the model's"
            if unknown == 1
            else "nobody has said whether it has {count} operators of the model's"
        )
        said.append(Sentence(whether, count=f"{unknown:,}"))
    if gaps:
        said.append(Sentence("parts of the model were not seen, and may ask for more"))
    return tuple(said)


UNCOUNTED = (
    "nobody has said how many operations these take, so that their bytes alone bound them: {list}"
)


def choose(
    request: ScanRequest, progress: Progress = silent, output: Progress = silent
) -> Choosing:
    """Rank targets for a model: whether each runs it, has room for it, and how fast at best.

    Raises:
        UsageError, SourceError, TraceError, DatabaseError: as :func:`opcheck.commands.scan.answer`.
    """
    database = open_database(request.databases)
    matrices = matrices_for(database, request)
    require_age(request, database, matrices)
    progress(Sentence("reading {text}", text=request.model.source))
    results = worked(request, matrices, progress, output, plan=True, costs=True)
    plans: dict[str, tuple[NodePlan, ...]] = {}
    for result in results:
        plans.update(result.plans)
    scanned = gathered(results)
    report = report_of(request.model.source, scanned, matrices)
    report = with_plans(report, scanned, matrices, plans, database)
    progress("ranking")
    choices: list[Choice] = []
    dtypes: Mapping[str, int] = {}
    uncounted: set[str] = set()
    for found, matrix in zip(report.targets, matrices, strict=True):
        running = TargetCalls(scanned.of(matrix.target), matrix)
        leaves = running.leaves()
        need = memory_need(running)
        chip, device_type = database.chip(matrix.target), matrix.target.device_type
        choices.append(choice_of(found, chip, device_type, leaves, need, report.trace.gaps))
        dtypes = dtypes or computed(leaves)
        uncounted |= {leaf.op for leaf in leaves if leaf.cost.flops is None}
    return Choosing(
        report.opcheck_version,
        report.torch_version,
        report.model,
        report.trace,
        ranked(choices),
        dtypes,
        (Sentence(UNCOUNTED, list=", ".join(sorted(uncounted))),) if uncounted else (),
    )
