"""What the database says without a model: its targets, and operators explained."""

from collections.abc import Sequence

from opcheck.model.explanation import Explanation, TargetRow
from opcheck.model.matrix import Condition
from opcheck.model.verdict import Confidence, Verdict
from opcheck.report.base import Page
from opcheck.report.conditions import sentence, when
from opcheck.report.terminal import words
from opcheck.report.terminal.canvas import Atom, Canvas, listed, split
from opcheck.report.terminal.head import STYLES
from opcheck.report.terminal.units import source


def targets_page(rows: Sequence[TargetRow], page: Page) -> str:
    """A table of the newest target of every chip, then the releases of every vendor."""
    canvas = Canvas(page)
    if not rows:
        canvas.flow(split(words.NO_TARGETS_KNOWN))
        return canvas.text()
    header: list[Atom] = [(name, "dim") for name in words.TARGET_COLUMNS]
    canvas.table([header, *(_row(row) for row in rows)], indent=0, left=4)
    releases: dict[tuple[str, ...], list[str]] = {}
    for row in rows:
        releases.setdefault(row.releases, []).append(row.target.name)
    canvas.blank()
    for versions, names in releases.items():
        whom = [words.EVERY_TARGET] if len(names) == len(rows) else names
        canvas.flow([*split(words.RELEASES_OF), *listed(whom, end=":")])
        canvas.flow(listed(versions), 2)
    canvas.blank()
    canvas.flow(split(words.HOW_TO_NAME, "dim"))
    return canvas.text()


def explanations_page(explanations: Sequence[Explanation], page: Page) -> str:
    """One block for each operator on each target."""
    canvas = Canvas(page)
    if not explanations:
        canvas.flow(split(words.NOTHING_TO_EXPLAIN))
    for i, explanation in enumerate(explanations):
        if i:
            canvas.blank()
        _write_explanation(canvas, explanation)
    return canvas.text()


def _row(row: TargetRow) -> list[Atom]:
    torch = row.torch_versions
    span = torch[0] if len(torch) == 1 else f"{torch[-1]} to {torch[0]}" if torch else ""
    return [
        (row.target.name, "bold"),
        (row.device_name, ""),
        (row.target.sdk, ""),
        (span, ""),
        (f"{row.registered:,}", ""),
        (row.date, "dim"),
    ]


def _write_explanation(canvas: Canvas, found: Explanation) -> None:
    style = STYLES[found.verdict]
    canvas.flow([(found.op, "bold"), (words.ON, ""), (str(found.target), "bold")])
    sign = _sign(canvas, found.verdict)
    sure = found.confidence
    how_sure = "" if sure is Confidence.HIGH else f"({words.confidence(sure.value)})"
    canvas.flow([(sign, style), (found.verdict.value, f"bold {style}"), *split(how_sure, "dim")], 2)
    canvas.field(words.WHY, split(found.reason.text), 4)
    if found.implementation:
        canvas.field(words.PATH, listed(found.implementation), 4)
    for i, branch in enumerate(found.branches):
        canvas.field(words.OR_AS if i else words.RUNS_AS, listed(branch), 4)
    for condition in found.conditions:
        _write_condition(canvas, condition, found.target.chip)
    if found.registered_in:
        canvas.field(words.RELEASES, listed(found.registered_in), 4)
    if found.torch_range:
        canvas.field(words.TORCH, split(words.torch_range(*found.torch_range)), 4)
    for i, fact in enumerate(found.evidence):
        atoms = split(f"{fact.method.value}: {source(fact, verbose=True)} {fact.date}", "dim")
        canvas.field("" if i else words.EVIDENCE, atoms, 4)


def _write_condition(canvas: Canvas, condition: Condition, chip: str) -> None:
    verdict = condition.verdict
    label = words.CAUTION if verdict is Verdict.NATIVE else verdict.value
    atoms: list[Atom] = [(f"{label}:", STYLES[verdict]), *split(sentence(condition, chip))]
    if condition.confidence is not Confidence.HIGH:
        atoms += split(f"({words.confidence(condition.confidence.value)})", "dim")
    canvas.field(words.BUT, atoms, 4)
    test = when(condition)
    if test:
        canvas.field("", split(f"{words.WHEN} {test}", "dim"), 4)
    for fact in condition.evidence[:1]:
        text = f"{fact.method.value}: {source(fact, canvas.page.verbose)}"
        canvas.field("", split(text, "dim"), 4)


def _sign(canvas: Canvas, verdict: Verdict) -> str:
    marks = canvas.marks
    match verdict:
        case Verdict.NATIVE | Verdict.DECOMPOSED:
            return marks.good
        case Verdict.FALLBACK:
            return marks.part
        case Verdict.UNSUPPORTED:
            return marks.bad
        case Verdict.UNKNOWN:
            return marks.open
