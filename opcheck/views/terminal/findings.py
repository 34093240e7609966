"""Findings, worst first: verdict, overload, where, why, evidence; what they share is said once."""

from collections.abc import Iterable, Mapping, Sequence

from opcheck.lang.sentence import chained, in_brackets
from opcheck.lang.speech import tell
from opcheck.model.report import Finding, Place, TargetReport
from opcheck.model.trace import Phase
from opcheck.model.verdict import Confidence
from opcheck.views.targets import short_names
from opcheck.views.terminal import words
from opcheck.views.terminal.canvas import PLACE, Atom, Canvas, joined, listed, split
from opcheck.views.terminal.evidence import first_source, write_evidence
from opcheck.views.terminal.groups import Block, CitedReason, Row, Section
from opcheck.views.terminal.notation import plural

Counted = tuple[Place, int]
"""A place, and how many calls come from it."""


def merged(uses: Iterable[Place]) -> list[Counted]:
    """Uses that differ in their inputs alone are one place to look at."""
    first: dict[tuple[str, str, int], Place] = {}
    counts: dict[tuple[str, str, int], int] = {}
    for use in uses:
        key = (use.file, use.module, use.line)
        first.setdefault(key, use)
        counts[key] = counts.get(key, 0) + use.count
    return sorted(((place, counts[key]) for key, place in first.items()), key=_urgency)


def where(place: Place) -> list[Atom]:
    """The line of code and the module pattern, as far as they are known."""
    code: list[Atom] = [(f"{place.file}:{place.line}", f"bold {PLACE}")] if place.file else []
    if place.module.startswith("("):  # what stands outside the model
        return code or split(place.module.strip("()"))
    if not place.module:
        return code or split(words.ROOT)
    return [*code, (tell(words.in_module(place.module)), "")] if code else [(place.module, "")]


def first_place(uses: Iterable[Place]) -> list[Atom]:
    """The place with the most calls, and how many others there are."""
    places = merged(uses)
    if not places:
        return split(words.ROOT)
    atoms = where(places[0][0])
    if len(places) > 1:
        atoms.append((tell(words.and_more(len(places) - 1, "place")), "dim"))
    return atoms


def _urgency(counted: Counted) -> tuple[bool, int]:
    place, count = counted
    return not place.file, -count


def most_costly(findings: Iterable[Finding]) -> list[Finding]:
    """The worst verdict first; of one verdict, the most called first."""
    return sorted(findings, key=lambda finding: (-finding.verdict.rank, -finding.count))


def write_left_out(canvas: Canvas, count: int, noun: str = "finding") -> None:
    """How many entries a list does not show, and how to see them unless so few were asked for."""
    if not count:
        return
    more = words.more if canvas.page.top is None else words.and_more
    canvas.blank()
    canvas.flow(split(more(count, noun), "dim"), 2)


BLOCKS, ROWS, PLACES, NAMES = 20, 20, 3, 6
"""How many of each are shown unless all are asked for."""


def write_section(
    canvas: Canvas, section: Section, targets: Sequence[TargetReport], most: int | None = None
) -> int:
    """A heading, then one entry a finding, or one for all findings of which the same is said.

    Args:
        canvas: what to write on.
        section: the findings.
        targets: whose they are.
        most: how many entries may be shown, the most called first; None: what there is room for.

    Returns:
        how many entries were shown.
    """
    blocks = section.blocks
    operators = {group.first.op for block in blocks for group in block.groups}
    title, meaning = section.heading
    about = split(chained([plural(len(operators), "operator"), meaning], ", "), "dim")
    canvas.flow([(tell(title), f"bold {section.style}"), (canvas.marks.dot, "dim"), *about])
    shown = _shown(canvas, blocks, most)
    names = short_names(targets)
    for block in shown:
        canvas.blank()
        _write_block(canvas, block, names, section.style)
    left_out = sum(len(block.groups) for block in blocks if block not in shown)
    write_left_out(canvas, left_out)
    return len(shown)


def _shown(canvas: Canvas, blocks: Sequence[Block], most: int | None) -> Sequence[Block]:
    if most is not None:
        return sorted(blocks, key=lambda block: -block.count)[:most]
    return blocks if canvas.page.full else blocks[:BLOCKS]


def _write_block(canvas: Canvas, block: Block, names: Mapping[str, str], style: str) -> None:
    finding, one = block.first, len(block.groups) == 1
    head: list[Atom] = [(finding.op if one else finding.reason.code, f"bold {style}")]
    if not one:
        head += after_dot(canvas, plural(block.operators, "operator"))
    head += after_dot(canvas, plural(block.count, "call"))
    if one and finding.phase is not Phase.FORWARD:
        head += after_dot(canvas, finding.phase.value)
    if finding.confidence is not Confidence.HIGH:
        head += after_dot(canvas, words.confidence(finding.confidence.value))
    canvas.flow(head, 2)
    if len(names) > 1:
        canvas.field(words.ON, _targets(block.targets, names), 4)
    if one:
        write_places(canvas, finding.uses)
    _write_reasons(canvas, block.said, names)
    if one:
        _write_runs_as(canvas, finding)
        write_steps(canvas, finding)
    else:
        write_rows(canvas, block.rows, style)


def write_steps(canvas: Canvas, finding: Finding) -> None:
    """What was looked at, and the names that it has for machines, where all is to be explained."""
    if not canvas.page.explain:
        return
    for i, step in enumerate(finding.steps):
        canvas.field("" if i else words.TRIED, split(step), 4)
    canvas.field(words.ID, [(finding.id, ""), *after_dot(canvas, finding.reason.code)], 4)


def after_dot(canvas: Canvas, text: str) -> list[Atom]:
    """One more thing said in a headline."""
    return [(canvas.marks.dot, "dim"), *split(text)]


def about(canvas: Canvas, finding: Finding) -> list[Atom]:
    """What a headline says behind an operator: how it fares, how often, and when."""
    said = [*after_dot(canvas, finding.verdict.value)]
    said += after_dot(canvas, plural(finding.count, "call"))
    if finding.phase is not Phase.FORWARD:
        said += after_dot(canvas, finding.phase.value)
    return said


def write_rows(canvas: Canvas, rows: Sequence[Row], style: str) -> None:
    """A table where the page is wide enough, else two lines a row."""
    table = [_cells(canvas, row, style) for row in rows[:ROWS]]
    canvas.blank()
    if canvas.has_room(table, 4) and not any(row.evidence for row in rows):
        canvas.table(table, 4, left=(0, 2))
    else:
        for row, ((name, _), (count, _), _) in zip(rows, table, strict=False):
            canvas.flow([*split(name, style), *after_dot(canvas, count)], 4)
            canvas.flow(first_place(row.uses), 6)
            if row.evidence:
                canvas.flow(first_source(row.evidence), 6)
    if len(rows) > ROWS:
        canvas.flow(split(words.more(len(rows) - ROWS, "operator"), "dim"), 4)


def _cells(canvas: Canvas, row: Row, style: str) -> list[Atom]:
    name = f"{row.op} {canvas.marks.arrow} {', '.join(row.runs_as)}" if row.runs_as else row.op
    place = joined(first_place(row.uses))
    count = tell(plural(row.count, "call"))
    if row.phase is not Phase.FORWARD:
        count += f" {canvas.marks.dot} {tell(row.phase.value)}"
    return [(name, style), (count, ""), (place, PLACE)]


def _write_reasons(
    canvas: Canvas, said: Mapping[CitedReason, Sequence[str]], names: Mapping[str, str]
) -> None:
    told = list(said.items())
    for i, ((reason, evidence), targets) in enumerate(told):
        whom = [] if len(told) == 1 else listed((names[target] for target in targets), end=":")
        canvas.field(words.WHY, [*whom, *split(reason)], 4)
        if i + 1 == len(told) or told[i + 1][0][1] != evidence:
            write_evidence(canvas, evidence)


def _targets(targets: Sequence[str], names: Mapping[str, str]) -> list[Atom]:
    if len(targets) == len(names):
        return split(words.EVERY_TARGET)
    return listed(names[target] for target in names if target in targets)


def write_places(canvas: Canvas, uses: Sequence[Place], *, counted: bool = True) -> None:
    """The places with the most calls; ``counted`` unless how many of each is not known."""
    places = merged(uses)
    shown = places if canvas.page.full else places[:PLACES]
    for i, (place, count) in enumerate(shown):
        atoms = where(place)
        if len(places) > 1 and counted:
            atoms.append((tell(in_brackets(plural(count, "call"))), "dim"))
        canvas.field("" if i and not canvas.page.full else words.WHERE, atoms, 4)
        if canvas.page.full and place.inputs:
            canvas.field(words.INPUTS, listed(place.inputs, "dim"), 4)
    if len(places) > len(shown):
        canvas.field("", split(words.more(len(places) - len(shown), "place"), "dim"), 4)


def _write_runs_as(canvas: Canvas, finding: Finding) -> None:
    names = sorted({op for place in finding.uses for op in place.decomposed_into})
    if not names:
        return
    atoms = listed(names)
    if not canvas.page.full and len(names) > NAMES:
        more = split(words.more(len(names) - NAMES, "operator"), "dim")
        atoms = [*listed(names[:NAMES]), *more]
    canvas.field(words.RUNS_AS, atoms, 4)
