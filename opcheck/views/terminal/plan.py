"""The page of a plan: what each tier brings, then the suggestions for each finding."""

from collections.abc import Iterator, Sequence

from opcheck.lang.sentence import Sentence, chained, verbatim
from opcheck.lang.speech import tell
from opcheck.model.plan import Declined, PlanSummary, Suggestion, Tier
from opcheck.model.report import Finding, Report, TargetReport
from opcheck.views.formats import Page
from opcheck.views.terminal import plan_words
from opcheck.views.terminal import words as common
from opcheck.views.terminal.canvas import COLUMN_CONTEXT, Atom, Canvas, listed, phrase, split
from opcheck.views.terminal.evidence import write_evidence
from opcheck.views.terminal.findings import (
    about,
    after_dot,
    first_place,
    most_costly,
    write_left_out,
    write_steps,
)
from opcheck.views.terminal.head import mark, unbroken
from opcheck.views.terminal.model_lists import write_lists
from opcheck.views.terminal.notation import STYLES, percent, plural
from opcheck.views.terminal.sections import write_code, write_heading

DECLINED = 3
"""How many declined ways are listed unless all are asked for."""
OVERLOADS = 6
"""How many overloads that a way runs as are named unless all are asked for."""
OPERATORS = 4
"""How many operators stand in a row of the steps, where there is room for them."""


def plan_page(report: Report, page: Page) -> str:
    """The whole plan as text."""
    canvas = Canvas(page)
    if report.trace.ended is not None:
        canvas.flow(split(common.partial(report.trace.ended.where), "bold magenta"))
        canvas.blank()
    for index, target in enumerate(report.targets):
        if index:
            canvas.blank()
        _write_target(canvas, report, target)
    _write_footer(canvas, report)
    return canvas.text()


def plan_lines(report: Report, page: Page) -> str:
    """How much of each target's trouble there is a suggestion of."""
    canvas = unbroken(page)
    for target in report.targets:
        write_verdict(canvas, report, target)
    return canvas.text()


def write_verdict(canvas: Canvas, report: Report, target: TargetReport) -> None:
    """How much of a target's trouble there is a suggestion of, in one line."""
    bad, _ = _troubled(target)
    sign = mark(target.summary.runs, canvas.marks)
    said = phrase(
        common.VERDICT_OF_PLAN,
        model=[(report.model.source, "bold")],
        target=[(target.target, "bold")],
        said=split(outcome(target), sign[1] if bad else ""),
    )
    canvas.flow([sign, *said])


def outcome(target: TargetReport) -> Sentence:
    """How much needs a fix, and how much of it has one."""
    bad, harmed = _troubled(target)
    if target.plan is None:
        return plan_words.unplanned(len(bad))
    if not bad:
        return plan_words.nothing(len(harmed))
    stuck = [finding for finding in bad if _open(finding, target)]
    own = [finding for finding in stuck if _own(finding)]
    return plan_words.verdict(len(bad), len(stuck), len(own))


def _troubled(target: TargetReport) -> tuple[list[Finding], list[Finding]]:
    """What leaves the device, and what runs there with a catch that there is a way around."""
    bad = [finding for finding in target.findings if not finding.verdict.on_device]
    return bad, [f for f in target.findings if f.verdict.on_device and f.suggestions]


def _write_target(canvas: Canvas, report: Report, target: TargetReport) -> None:
    write_verdict(canvas, report, target)
    write_lists(canvas, target.model)
    if target.plan is not None:
        write_steps_and_ways(canvas, target)


def write_steps_and_ways(canvas: Canvas, target: TargetReport) -> None:
    """What each tier brings, the suggestions for each finding, and the findings without one."""
    bad, harmed = _troubled(target)
    if bad:
        _write_steps(canvas, target)
    some = [f for f in bad if not all(way.is_advice for way in f.suggestions)]
    alone = [finding for finding in some if all(w.tier is Tier.CUSTOM for w in finding.suggestions)]
    groups = {
        plan_words.WAYS: [finding for finding in some if finding not in alone],
        plan_words.OWN: alone,
        plan_words.STUCK: [finding for finding in bad if finding not in some],
        plan_words.HARMED: harmed,
    }
    left = canvas.page.top
    for heading, findings in groups.items():
        if findings:
            write_heading(canvas, heading, "", "")
        shown = findings if left is None else most_costly(findings)[:left]
        for finding in shown:
            canvas.blank()
            _write_finding(canvas, finding)
        write_left_out(canvas, len(findings) - len(shown))
        left = None if left is None else left - len(shown)


def _own(finding: Finding) -> bool:
    """Whether a kernel of one's own would do it."""
    return any(way.tier is Tier.CUSTOM for way in finding.suggestions)


def _open(finding: Finding, target: TargetReport) -> bool:
    return target.plan is not None and finding.op in target.plan.stuck


def _write_steps(canvas: Canvas, target: TargetReport) -> None:
    plan = target.plan
    if plan is None:
        return
    write_heading(canvas, plan_words.STEPS, "", "")
    for named in range(OPERATORS, 0, -1):
        rows = list(_steps(canvas, target, plan, named))
        if canvas.has_room(rows, 2):
            break
    canvas.table(rows, left=(0, 1, 3, 4))


def _steps(
    canvas: Canvas, target: TargetReport, plan: PlanSummary, named: int
) -> Iterator[list[Atom]]:
    summary = target.summary
    yield [(tell(name, COLUMN_CONTEXT), "dim") for name in plan_words.STEP_COLUMNS]
    share = "" if summary.support_rate is None else percent(summary.support_rate)
    runs = tell(common.runs_cell(target))
    yield [("", ""), (tell(plan_words.TODAY), ""), (share, ""), (runs, ""), ("", "")]
    for after in plan.tiers:
        rate, there = plan_words.step(after)
        style = "" if after.operators else "dim"
        yield [
            (str(int(after.tier)), style),
            (tell(plan_words.TIERS[after.tier]), style),
            (rate, style),
            (tell(there), mark(after.runs, canvas.marks)[1] if after.operators else "dim"),
            (_few(after.operators, named), style),
        ]


def _few(operators: Sequence[str], named: int) -> str:
    shown = ", ".join(op.removeprefix("aten::") for op in operators[:named])
    more = len(operators) - named
    return f"{shown} {tell(common.and_more(more, 'operator'))}" if more > 0 else shown


def _write_finding(canvas: Canvas, finding: Finding) -> None:
    style = STYLES[finding.verdict]
    canvas.flow([(finding.op, f"bold {style}"), *about(canvas, finding)], 2)
    canvas.field(common.WHERE, first_place(finding.uses), 4)
    canvas.field(common.WHY, split(finding.reason.text), 4)
    for way in _shown(canvas, finding):
        _write_way(canvas, finding, way)
    if all(way.is_advice for way in finding.suggestions):
        canvas.field(plan_words.WAY, split(plan_words.NO_WAY, "red"), 4)
    _write_declined(canvas, finding.declined)
    if canvas.page.explain:
        write_evidence(canvas, finding.evidence)
    write_steps(canvas, finding)


def _shown(canvas: Canvas, finding: Finding) -> Iterator[Suggestion]:
    """The best way for each overload that has to go, with advice before it, or every way."""
    seen: set[tuple[str, tuple[int, ...]]] = set()
    for way in finding.suggestions:
        key = (way.replaces, way.places)
        if canvas.page.verbose or key not in seen:
            seen |= set() if way.is_advice else {key}
            yield way


def _write_way(canvas: Canvas, finding: Finding, way: Suggestion) -> None:
    name = split(plan_words.named(way, finding.op), "bold green")
    about = [*after_dot(canvas, plan_words.kind(way))]
    for word in filter(None, (plan_words.host(way), plan_words.hand(way))):
        about += after_dot(canvas, word)
    some = len(way.places) < len(finding.uses)
    if some:
        about += after_dot(canvas, plan_words.some_places(len(way.places), len(finding.uses)))
    canvas.field(plan_words.ADVICE if way.is_advice else plan_words.WAY, [*name, *about], 4)
    canvas.field("", split(way.summary), 4)
    if way.gives_up:
        canvas.field(plan_words.GIVES_UP, split(way.gives_up, "yellow"), 4)
    if way.runs_as:
        cost = split(plan_words.cost(way), "dim")
        canvas.field(plan_words.RUNS_AS, [*_named(canvas, way.runs_as), *cost], 4)
    if way.backward_as:
        canvas.field(plan_words.BACKWARD, _named(canvas, way.backward_as), 4)
    if figures := plan_words.figures(way):
        canvas.field(plan_words.FIGURES, split(figures), 4)
    if canvas.page.verbose and way.code:
        canvas.field(plan_words.CODE, [], 4)
        write_code(canvas, way.code, 6)
    _write_declined(canvas, way.declined)


def _named(canvas: Canvas, overloads: Sequence[str]) -> list[Atom]:
    """The overloads that it runs as, or the first of them."""
    more = 0 if canvas.page.verbose else max(0, len(overloads) - OVERLOADS)
    names = overloads[: len(overloads) - more]
    return [*listed(names), *(split(common.and_more(more, "overload")) if more else [])]


def _write_declined(canvas: Canvas, declined: Sequence[Declined]) -> None:
    shown = declined if canvas.page.verbose else declined[:DECLINED]
    for index, way in enumerate(shown):
        label = plan_words.DECLINED if not index else ""
        canvas.field(label, [(f"{way.rule}:", "dim"), *split(way.reason, "dim")], 4)
    if len(declined) > len(shown):
        canvas.field("", split(common.more(len(declined) - len(shown), "way"), "dim"), 4)


def _write_footer(canvas: Canvas, report: Report) -> None:
    dot, trace = canvas.marks.dot, report.trace
    said = [
        trace.mode,
        plural(trace.calls, "call"),
        common.traced(trace.device_type, report.torch_version),
        verbatim(f"opcheck {report.opcheck_version}"),
    ]
    canvas.blank()
    canvas.flow(split(chained(said, f" {dot} "), "dim"))
