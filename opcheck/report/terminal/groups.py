"""Which findings to show under which heading; one that several targets share stands once."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from opcheck.model.report import Finding, Reason, TargetReport
from opcheck.model.verdict import Evidence, Verdict
from opcheck.report.order import WORST_FIRST
from opcheck.report.terminal import words
from opcheck.report.terminal.head import STYLES
from opcheck.resolve.fate import PLAIN

Said = tuple[str, tuple[Evidence, ...]]
"""A reason and its evidence."""


@dataclass(frozen=True, slots=True)
class Group:
    """One finding as several targets share it; only what is said of it may differ."""

    first: Finding
    said: Mapping[Said, tuple[str, ...]]
    """What is said -> the targets of which it is."""

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


def _grouped(targets: Sequence[TargetReport]) -> list[Group]:
    said: dict[Finding, dict[Said, list[TargetReport]]] = {}
    first: dict[Finding, Finding] = {}
    for target in targets:
        for finding in target.findings:
            key = replace(finding, id="", reason=Reason(finding.reason.code, ""), evidence=())
            first.setdefault(key, finding)
            chip = re.compile(rf"\b{re.escape(target.chip)}\b")
            what = (chip.sub(_CHIP, finding.reason.text), finding.evidence)
            said.setdefault(key, {}).setdefault(what, []).append(target)
    return sorted((_group(first[key], by_text) for key, by_text in said.items()), key=_urgency)


_CHIP = "\0"
"""Stands for the target's chip in a reason, so that one sentence serves several chips."""


def _group(first: Finding, said: Mapping[Said, Sequence[TargetReport]]) -> Group:
    named: dict[Said, tuple[str, ...]] = {}
    for (text, evidence), targets in said.items():
        chips = f" {words.OR} ".join(dict.fromkeys(target.chip for target in targets))
        named[text.replace(_CHIP, chips), evidence] = tuple(t.target for t in targets)
    return Group(first, named)


def _urgency(group: Group) -> tuple[int, int, int, str, str]:
    finding = group.first
    worst = WORST_FIRST.index(finding.verdict)
    return worst, finding.confidence.rank, -len(group.targets), finding.op, finding.id


def _caution(group: Group) -> bool:
    return group.first.verdict.on_device and group.first.reason.code not in PLAIN
