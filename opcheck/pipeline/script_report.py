"""A script's run in the form of a scan's answer, for all that reads those: formats and the gate."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec.structs import replace

from opcheck.lang.sentence import Sentence
from opcheck.model.emulation import Caution, Emulation, HostCalls, Refusal
from opcheck.model.plan import AfterTier, Declined, PlanSummary, Suggestion, Tier
from opcheck.model.report import (
    Finding,
    KernelCount,
    Place,
    Reason,
    Report,
    Summary,
    TargetReport,
    TraceInfo,
)
from opcheck.model.script import ENDED_WELL, Ending, Fact, ScriptPlan, ScriptRun
from opcheck.model.target import TargetSpec
from opcheck.model.trace import RUN_ENDED, Gap, OpName, Phase
from opcheck.model.verdict import Confidence, Verdict
from opcheck.resolve.findings import identity, outside
from opcheck.resolve.resolution import PLAIN, REGISTERED

_Calls = Refusal | HostCalls | Caution
_Facts = Mapping[tuple[str, str], Fact]
_ENDED = {
    Ending.EXITED: "the script ended with status {count}",
    Ending.FAILED: "the script failed: {text}",
    Ending.NOT_EMULATED: "the script came to what is not emulated: {text}",
    Ending.REFUSED: "the script ended with what the device refused: {text}",
    Ending.CUT: "the script was ended: {text}",
}
_KERNEL = "the device has a kernel of its own for {op}"


def report_of_script(found: ScriptRun) -> Report:
    """The run as a report on one target; a script that did not come to its end has a gap for it."""
    emulation = found.emulation
    gaps = (*emulation.gaps, *_ended(found))
    kernels = emulation.kernels
    advisories = {advisory.text for advisory in found.basis.advisories}
    return Report(
        opcheck_version=emulation.opcheck_version,
        torch_version=emulation.torch_version,
        model=emulation.model,
        trace=TraceInfo(
            mode=emulation.mode,
            device_type=found.basis.device_type,
            calls=sum(kernel.count for kernel in kernels),
            operators=len({kernel.op for kernel in kernels}),
            gaps=gaps,
            modules_not_called=(),
            notes=tuple(note for note in emulation.notes if note not in advisories),
        ),
        targets=(_target(found),),
    )


def without_end(report: Report) -> Report:
    """The report without the gap for an end of which the error has told already."""
    gaps = tuple(gap for gap in report.trace.gaps if gap.code != RUN_ENDED)
    return replace(report, trace=replace(report.trace, gaps=gaps))


def _ended(found: ScriptRun) -> Iterator[Gap]:
    """That the rest of the script was not seen, where it ended otherwise than was asked for."""
    said = _ENDED.get(found.ending)
    if said is not None:
        site = found.emulation.error_site
        where = found.script.name if site is None else f"{site.file}:{site.line}"
        text = found.emulation.error.partition("\n")[0]
        yield Gap(where, Sentence(said, count=found.status, text=text), RUN_ENDED)


def _target(found: ScriptRun) -> TargetReport:
    emulation = found.emulation
    spec = TargetSpec.parse(emulation.target)
    vendor, _, chip = spec.name.partition("-")
    findings = tuple(_findings(found))
    return TargetReport(
        target=emulation.target, vendor=vendor, chip=chip, sdk=spec.sdk, torch=spec.torch,
        database_digest=emulation.database_digest, database_date=found.basis.date,
        summary=_summary(found, findings), findings=findings, kernels=emulation.kernels,
        advisories=found.basis.advisories,
        plan=None if found.plan is None else _steps(found, findings, found.plan),
    )  # fmt: skip


def _findings(found: ScriptRun) -> Iterator[Finding]:
    """One for each overload, phase and reason; what has a kernel and no catch has no place."""
    for finding in _without_plan(found):
        yield finding if found.plan is None else _with_plan(finding, found.plan.findings)


def _without_plan(found: ScriptRun) -> Iterator[Finding]:
    emulation = found.emulation
    facts = {(fact.op, fact.code): fact for fact in found.basis.facts}
    told: Counter[tuple[str, Phase]] = Counter()
    for verdict, calls in (
        (Verdict.UNSUPPORTED, emulation.refusals),
        (Verdict.FALLBACK, emulation.host_calls),
    ):
        yield from (_finding(verdict, alike, facts) for alike in _alike(calls))
    for item in emulation.cautions:
        yield _finding(item.verdict, [item], facts)
    said: tuple[_Calls, ...]
    said = (*emulation.refusals, *emulation.host_calls, *emulation.cautions)
    for call in said:
        told[call.op, call.phase] += call.count
    for kernel in emulation.kernels:
        plain = kernel.count - told[kernel.op, kernel.phase]
        if plain > 0:
            yield _plain(kernel, plain)


def _with_plan(finding: Finding, plan: Sequence[Finding]) -> Finding:
    """The same finding with what was found for such calls, and the places that it holds for."""
    if finding.reason.code in PLAIN:
        return finding
    ways: dict[Suggestion, None] = {}
    declined: dict[Declined, None] = {}
    for one in plan:
        if (one.op, one.phase) != (finding.op, finding.phase):
            continue
        for way in one.suggestions:
            lines = {_line(one.uses[i]) for i in way.places}
            places = tuple(i for i, use in enumerate(finding.uses) if _line(use) in lines)
            if places:
                ways[replace(way, places=places)] = None
        declined.update(dict.fromkeys(one.declined))
    return replace(finding, suggestions=tuple(ways), declined=tuple(declined))


def _steps(found: ScriptRun, findings: Sequence[Finding], plan: ScriptPlan) -> PlanSummary:
    """What the script comes to once each tier is followed, all that it called counted."""
    operators = {one.op for one in findings}
    bad = {one.op for one in findings if not one.verdict.on_device}
    kept = {one.op for one in plan.findings}
    left = {one.verdict for one in findings if not one.verdict.on_device and one.op not in kept}
    tiers, gone, stuck = [], set[str](), bad
    for after in plan.summary.tiers:
        new = bad.intersection(after.operators) - gone
        gone |= new
        share = round((len(operators) - len(bad - gone)) / len(operators), 4) if operators else None
        tiers.append(AfterTier(after.tier, share, _runs(found, after, left), tuple(sorted(new))))
        stuck = stuck if after.tier is Tier.CUSTOM else bad - gone
    return PlanSummary(tuple(tiers), tuple(sorted(stuck)))


def _runs(found: ScriptRun, after: AfterTier, left: Collection[Verdict]) -> bool | None:
    """Whether the device takes the script after a tier; ``left``: of what no fix was looked for."""
    if after.runs is False or Verdict.UNSUPPORTED in left:
        return False
    whole = found.ending in ENDED_WELL and not found.emulation.gaps
    return after.runs if whole and Verdict.UNKNOWN not in left else None


def _line(place: Place) -> tuple[str, str, int]:
    return place.module, place.file, place.line


def _alike(calls: Sequence[_Calls]) -> list[list[_Calls]]:
    """Calls of which only the error differs, together."""
    found: dict[tuple[str, Phase, Reason], list[_Calls]] = {}
    for item in calls:
        found.setdefault((item.op, item.phase, item.reason), []).append(item)
    return [*found.values()]


def _finding(verdict: Verdict, calls: Sequence[_Calls], facts: _Facts) -> Finding:
    first = calls[0]
    op, phase, reason = first.op, first.phase, first.reason
    fact = facts.get((op, reason.code))
    uses = _places(calls)
    return Finding(
        id=identity(op, reason.code, phase, reason.text, "|", *sorted({u.module for u in uses})),
        op=op,
        verdict=verdict,
        confidence=Confidence.LOW if fact is None else fact.confidence,
        reason=reason,
        count=sum(item.count for item in calls),
        phase=phase,
        uses=uses,
        evidence=() if fact is None else fact.evidence,
    )


def _places(calls: Sequence[_Calls]) -> tuple[Place, ...]:
    counts: Counter[tuple[str, str, int]] = Counter()
    for item in calls:
        each = item.counts or (1,) * len(item.sites)  # how many of each is not known
        for site, count in zip(item.sites, each, strict=True):
            module = site.module or outside(OpName.parse(item.op), item.phase, site.file)
            counts[module, site.file, site.line] += count
    return tuple(Place(*site, (), (), count) for site, count in sorted(counts.items()))


def _plain(kernel: KernelCount, count: int) -> Finding:
    return Finding(
        id=identity(kernel.op, REGISTERED, kernel.phase),
        op=kernel.op,
        verdict=Verdict.NATIVE,
        confidence=Confidence.HIGH,
        reason=Reason(REGISTERED, Sentence(_KERNEL, op=kernel.op)),
        count=count,
        phase=kernel.phase,
        uses=(),
        evidence=(),
    )


def _summary(found: ScriptRun, findings: Sequence[Finding]) -> Summary:
    worst: dict[str, Verdict] = {}
    calls: Counter[Verdict] = Counter()
    for one in findings:
        worst[one.op] = max(worst.get(one.op, one.verdict), one.verdict, key=lambda v: v.rank)
        calls[one.verdict] += one.count
    operators = Counter(worst.values())
    good = sum(count for verdict, count in operators.items() if verdict.on_device)
    emulation: Emulation = found.emulation
    return Summary(
        support_rate=round(good / len(worst), 4) if worst else None,
        runs=found.runs,
        operators={verdict: operators[verdict] for verdict in Verdict},
        calls={verdict: calls[verdict] for verdict in Verdict},
        islands=emulation.islands,
        fallback_bytes=sum(item.nbytes for item in emulation.host_calls),
    )
