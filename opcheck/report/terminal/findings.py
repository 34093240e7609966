"""Findings, worst first: verdict, overload, where, why, evidence; said once for all targets."""

from collections.abc import Iterable, Mapping, Sequence

from opcheck.model.report import Finding, Place, TargetReport
from opcheck.model.trace import Phase
from opcheck.model.verdict import Confidence, Evidence
from opcheck.report.terminal import words
from opcheck.report.terminal.canvas import Atom, Canvas, listed, split
from opcheck.report.terminal.compare import short_names
from opcheck.report.terminal.groups import Group, Section
from opcheck.report.terminal.units import plural, source

FINDINGS, PLACES, EVIDENCE, NAMES = 20, 3, 2, 6
"""How many of each are shown unless all are asked for."""


def write_section(canvas: Canvas, section: Section, targets: Sequence[TargetReport]) -> None:
    """A heading, then one entry a finding."""
    groups = section.groups
    operators = plural(len({group.first.op for group in groups}), "operator")
    title, meaning = section.heading
    dot = canvas.marks.dot
    canvas.flow(
        [(title, f"bold {section.style}"), (dot, "dim"), *split(f"{operators}, {meaning}", "dim")]
    )
    shown = groups if canvas.page.verbose else groups[:FINDINGS]
    names = short_names(targets)
    for group in shown:
        canvas.blank()
        _write_group(canvas, group, names, section.style)
    if len(groups) > len(shown):
        canvas.blank()
        canvas.flow(split(words.more(len(groups) - len(shown), "finding"), "dim"), 2)


def _write_group(canvas: Canvas, group: Group, names: Mapping[str, str], style: str) -> None:
    finding, verbose = group.first, canvas.page.verbose
    dot = (canvas.marks.dot, "dim")
    head: list[Atom] = [(finding.op, f"bold {style}"), dot, (plural(finding.count, "call"), "")]
    if finding.phase is not Phase.FORWARD:
        head += [dot, (finding.phase.value, "")]
    if finding.confidence is not Confidence.HIGH:
        head += [dot, *split(words.confidence(finding.confidence.value))]
    canvas.flow(head, 2)
    if len(names) > 1:
        canvas.field(words.ON, _targets(group.targets, names), 4)
    _write_places(canvas, finding)
    _write_reasons(canvas, group, names)
    runs_as = sorted({op for place in finding.uses for op in place.decomposed_into})
    if runs_as:
        canvas.field(words.RUNS_AS, _names(runs_as, verbose), 4)


def _write_reasons(canvas: Canvas, group: Group, names: Mapping[str, str]) -> None:
    said = list(group.said.items())
    for i, ((reason, evidence), targets) in enumerate(said):
        whom = [] if len(said) == 1 else listed((names[target] for target in targets), end=":")
        canvas.field(words.WHY, [*whom, *split(reason)], 4)
        if i + 1 == len(said) or said[i + 1][0][1] != evidence:
            _write_evidence(canvas, evidence)


def _targets(targets: Sequence[str], names: Mapping[str, str]) -> list[Atom]:
    if len(targets) == len(names):
        return split(words.EVERY_TARGET)
    return listed(names[target] for target in names if target in targets)


def _write_places(canvas: Canvas, finding: Finding) -> None:
    places = _merged(finding.uses)
    shown = places if canvas.page.verbose else places[:PLACES]
    for i, (place, count) in enumerate(shown):
        atoms = _where(place)
        if len(places) > 1:
            atoms.append((f"({plural(count, 'call')})", "dim"))
        canvas.field("" if i and not canvas.page.verbose else words.WHERE, atoms, 4)
        if canvas.page.verbose and place.inputs:
            canvas.field(words.INPUTS, listed(place.inputs, "dim"), 4)
    if len(places) > len(shown):
        canvas.field("", split(words.more(len(places) - len(shown), "place"), "dim"), 4)


def _merged(uses: Iterable[Place]) -> list[tuple[Place, int]]:
    """Uses that differ in their inputs alone are one place to look at."""
    first: dict[tuple[str, str, int], Place] = {}
    counts: dict[tuple[str, str, int], int] = {}
    for use in uses:
        key = (use.file, use.module, use.line)
        first.setdefault(key, use)
        counts[key] = counts.get(key, 0) + use.count
    return [(place, counts[key]) for key, place in first.items()]


def _where(place: Place) -> list[Atom]:
    code: list[Atom] = [(f"{place.file}:{place.line}", "bold")] if place.file else []
    if not place.module:
        return code or split(words.ROOT)
    return [*code, (f"{words.IN} {place.module}", "")] if code else [(place.module, "")]


def _write_evidence(canvas: Canvas, evidence: Sequence[Evidence]) -> None:
    verbose = canvas.page.verbose
    shown = evidence if verbose else evidence[:EVIDENCE]
    for i, fact in enumerate(shown):
        atoms = split(f"{fact.method.value}: {source(fact, verbose)}", "dim")
        canvas.field("" if i else words.EVIDENCE, atoms, 4)
    if len(evidence) > len(shown):
        canvas.field("", split(words.more(len(evidence) - len(shown), "source"), "dim"), 4)


def _names(names: Sequence[str], verbose: bool) -> list[Atom]:
    if verbose or len(names) <= NAMES:
        return listed(names)
    return [*listed(names[:NAMES]), *split(words.more(len(names) - NAMES, "operator"), "dim")]
