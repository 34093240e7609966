"""Findings, worst first: verdict, overload, where, why, evidence; said once for all targets."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from opcheck.model.report import Finding, Place, Reason, TargetReport
from opcheck.model.trace import Phase
from opcheck.model.verdict import Confidence, Evidence, Verdict
from opcheck.report.order import WORST_FIRST
from opcheck.report.terminal import words
from opcheck.report.terminal.canvas import Atom, Canvas, listed, split
from opcheck.report.terminal.compare import short_names
from opcheck.report.terminal.head import STYLES
from opcheck.report.terminal.units import plural, source
from opcheck.resolve.fate import PLAIN

FINDINGS, PLACES, EVIDENCE, NAMES = 20, 3, 2, 6
"""How many of each are shown unless all are asked for."""


@dataclass(frozen=True, slots=True)
class Group:
    """One finding as several targets share it; only what is said of it may differ."""

    first: Finding
    said: Mapping[tuple[str, tuple[Evidence, ...]], tuple[str, ...]]
    """(reason, evidence) -> the targets of which it is said."""

    @property
    def targets(self) -> tuple[str, ...]:
        """Every target that has the finding."""
        return tuple(name for names in self.said.values() for name in names)


@dataclass(frozen=True, slots=True)
class Section:
    """Findings under one heading."""

    heading: tuple[str, str]
    style: str
    groups: tuple[Group, ...]


def sections(targets: Sequence[TargetReport], verbose: bool) -> tuple[Section, ...]:
    """What to read first; native and decomposed operators in full only when asked for."""
    groups = _grouped(targets)
    shown = WORST_FIRST if verbose else [v for v in WORST_FIRST if not v.on_device]
    found = [
        Section(words.HEADINGS[verdict], STYLES[verdict], tuple(matching))
        for verdict in shown
        if (matching := [g for g in groups if g.first.verdict is verdict and not _caution(g)])
    ]
    cautions = tuple(group for group in groups if _caution(group))
    if cautions:
        place = sum(section.heading[0] not in _QUIET for section in found)
        found.insert(place, Section(words.CAUTIONS, "yellow", cautions))
    return tuple(found)


_QUIET = {words.HEADINGS[verdict][0] for verdict in Verdict if verdict.on_device}


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


def _grouped(targets: Sequence[TargetReport]) -> list[Group]:
    said: dict[Finding, dict[tuple[str, tuple[Evidence, ...]], list[str]]] = {}
    first: dict[Finding, Finding] = {}
    for target in targets:
        for finding in target.findings:
            key = replace(finding, id="", reason=Reason(finding.reason.code, ""), evidence=())
            first.setdefault(key, finding)
            what = (finding.reason.text, finding.evidence)
            said.setdefault(key, {}).setdefault(what, []).append(target.target)
    groups = [
        Group(first[key], {what: tuple(names) for what, names in by_text.items()})
        for key, by_text in said.items()
    ]
    return sorted(groups, key=_urgency)


def _urgency(group: Group) -> tuple[int, int, int, str, str]:
    finding = group.first
    worst = WORST_FIRST.index(finding.verdict)
    return worst, finding.confidence.rank, -len(group.targets), finding.op, finding.id


def _caution(group: Group) -> bool:
    return group.first.verdict.on_device and group.first.reason.code not in PLAIN


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
        canvas.field("" if i else words.WHERE, atoms, 4)
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
