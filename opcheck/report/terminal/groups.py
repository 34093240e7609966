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
    plain = [group for group in groups if not _caution(group)]
    cautions = tuple(group for group in groups if _caution(group))
    return (
        *_by_verdict(plain, [verdict for verdict in WORST_FIRST if not verdict.on_device]),
        *([Section(words.CAUTIONS, "yellow", cautions)] if cautions else ()),
        *(_by_verdict(plain, [v for v in WORST_FIRST if v.on_device]) if verbose else ()),
    )


def _by_verdict(groups: Sequence[Group], verdicts: Sequence[Verdict]) -> list[Section]:
    found = {v: tuple(group for group in groups if group.first.verdict is v) for v in verdicts}
    return [Section(words.HEADINGS[v], STYLES[v], alike) for v, alike in found.items() if alike]


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
        what = (text.replace(_CHIP, chips), evidence)
        named[what] = (*named.get(what, ()), *(target.target for target in targets))
    return Group(first, named)


def _urgency(group: Group) -> tuple[int, int, int, str, str]:
    finding = group.first
    worst = WORST_FIRST.index(finding.verdict)
    return worst, finding.confidence.rank, -len(group.targets), finding.op, finding.id


def _caution(group: Group) -> bool:
    return group.first.verdict.on_device and group.first.reason.code not in PLAIN
