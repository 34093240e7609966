"""What is accepted: baselines, made, written and read; and uses that waivers hide."""

import json
from collections.abc import Mapping, Sequence, Set
from datetime import date
from fnmatch import fnmatchcase

from msgspec import Struct
from msgspec.structs import replace

from opcheck.commands.gate.values import GateResult
from opcheck.db.versions import covers
from opcheck.lang.sentence import Sentence
from opcheck.model.policy import (
    BASELINE_SCHEMA,
    Accepted,
    AcceptedTarget,
    Baseline,
    TargetRange,
    Waiver,
)
from opcheck.model.report import Finding, Place, TargetReport
from opcheck.model.target import target_name
from opcheck.model.verdict import Verdict
from opcheck.version import __version__
from opcheck.views.document.parts import Json
from opcheck.views.document.reading import Node, opened

_HINT = Sentence("a baseline is what opcheck gate --write-baseline writes")


def baseline_text(baseline: Baseline) -> str:
    """The file of a baseline; every byte follows from it."""
    return json.dumps(baseline_document(baseline), indent=2, allow_nan=False) + "\n"


def baseline_document(baseline: Baseline) -> Json:
    """A baseline as JSON."""
    return {
        "schema": BASELINE_SCHEMA,
        "opcheck_version": baseline.opcheck_version,
        "targets": [_target(target) for target in baseline.targets],
    }


def baseline_from_json(text: str, name: str) -> Baseline:
    """The baseline that ``text`` holds; ``name`` is the file, for messages and answers.

    Raises:
        UsageError: it is none.
    """
    root = opened(text, name, BASELINE_SCHEMA, _HINT)
    targets = tuple(map(_read_target, root.items("targets")))
    return Baseline(root.text("opcheck_version"), targets, name)


def _target(target: AcceptedTarget) -> Json:
    return {
        "target": target.target,
        "support_rate": target.support_rate,
        "islands": target.islands,
        "fallback_bytes": target.fallback_bytes,
        "findings": [_finding(finding) for finding in target.findings],
    }


def _finding(finding: Accepted) -> Json:
    return {
        "id": finding.id,
        "op": finding.op,
        "verdict": finding.verdict.value,
        "reason": finding.reason,
        "modules": list(finding.modules),
    }


def _read_target(node: Node) -> AcceptedTarget:
    rate = node.optional("support_rate")
    return AcceptedTarget(
        target=node.text("target"),
        support_rate=None if rate is None else rate.as_rate(),
        islands=node.number("islands"),
        fallback_bytes=node.number("fallback_bytes"),
        findings=tuple(map(_read_finding, node.items("findings"))),
    )


def _read_finding(node: Node) -> Accepted:
    return Accepted(
        id=node.text("id"),
        op=node.text("op"),
        verdict=node.member("verdict", Verdict),
        reason=node.text("reason"),
        modules=node.texts("modules"),
    )


class AcceptedHere:
    """What a baseline accepts of one target."""

    def __init__(self, targets: Sequence[AcceptedTarget]) -> None:
        self._targets = targets
        self._findings: dict[str, list[Accepted]] = {}
        for target in targets:
            for one in target.findings:
                self._findings.setdefault(one.id, []).append(one)

    def has(self, finding: Finding) -> bool:
        """Whether a finding was there before, as bad and in as many places."""
        return any(
            one.verdict.rank >= finding.verdict.rank and _modules(finding) <= set(one.modules)
            for one in self._findings.get(finding.id, ())
        )

    def gone(self, ids: Set[str]) -> int:
        """How many of its findings are not among these."""
        return len(self._findings.keys() - ids)

    @property
    def support_rates(self) -> Sequence[float | None]:
        """The shares that were accepted."""
        return [target.support_rate for target in self._targets]

    @property
    def islands(self) -> int | None:
        """The most islands that were accepted; None for no such target."""
        return max((target.islands for target in self._targets), default=None)

    @property
    def fallback_bytes(self) -> int | None:
        """The most bytes that were accepted; None for no such target."""
        return max((target.fallback_bytes for target in self._targets), default=None)


def accepted_of(baseline: Baseline | None, target: TargetReport) -> AcceptedHere:
    """What a baseline says of a target; of another release of it, where it has not this one."""
    said = () if baseline is None else baseline.targets
    exact = tuple(one for one in said if one.target == target.target)
    name = short(target.target)
    return AcceptedHere(exact or [one for one in said if short(one.target) == name])


def baseline_of(result: GateResult) -> Baseline:
    """What accepts all that fails in ``result``, and nothing more: not what is waived."""
    return Baseline(
        __version__,
        tuple(
            AcceptedTarget(
                target=target.target,
                support_rate=target.summary.support_rate,
                islands=target.summary.islands,
                fallback_bytes=target.summary.fallback_bytes,
                findings=tuple(sorted({_accepted(one.finding) for one in target.failing})),
            )
            for target in result.targets
        ),
    )


def _accepted(finding: Finding) -> Accepted:
    modules = tuple(sorted(_modules(finding)))
    return Accepted(finding.id, finding.op, finding.verdict, finding.reason.code, modules)


def _modules(finding: Finding) -> set[str]:
    """Where a finding is, as far as waivers tell places apart."""
    return {use.module for use in finding.uses}


def short(target: str) -> str:
    """The vendor and chip of a target."""
    return target.partition("@")[0]


_NOWHERE = (Place("", "", 0, (), (), 0),)
"""Stands for the uses of a finding that has none."""


class Waived(Struct, frozen=True):
    """What waivers make of one finding."""

    left: Finding | None
    """It with the uses that nothing hides; None where all are hidden."""
    hiding: tuple[int, ...]
    """The waivers that hide uses of it."""
    about: tuple[int, ...]
    """Those, and the expired ones that would."""


class Waivers:
    """The waivers of a policy on one target, on one day."""

    def __init__(self, waivers: Sequence[Waiver], target: TargetReport, today: date) -> None:
        here = [(i, waiver) for i, waiver in enumerate(waivers) if within(waiver.target, target)]
        self._here = here
        self._expired = {i for i, waiver in here if waiver.expired(today)}

    def of(self, finding: Finding) -> Waived:
        """What is left of a finding, and which waivers are about it."""
        named = [(i, waiver) for i, waiver in self._here if _names(waiver, finding)]
        left, about = dict[int, Place](), set[int]()
        for index, use in enumerate(finding.uses or _NOWHERE):
            matching = {i for i, waiver in named if fnmatchcase(use.module, waiver.module)}
            about |= matching
            if not matching - self._expired:
                left[index] = use
        hiding = tuple(sorted(about - self._expired))
        if not left:
            return Waived(None, hiding, tuple(sorted(about)))
        if len(left) < len(finding.uses):
            finding = _only(finding, left)
        return Waived(finding, hiding, tuple(sorted(about)))


def _only(finding: Finding, left: Mapping[int, Place]) -> Finding:
    """A finding with some of its uses, and the suggestions of those."""
    numbers = {before: now for now, before in enumerate(left)}
    kept = (
        replace(way, places=tuple(numbers[i] for i in way.places if i in numbers))
        for way in finding.suggestions
        if not way.places or not numbers.keys().isdisjoint(way.places)
    )
    uses = tuple(left.values())
    count = sum(use.count for use in uses)
    return replace(finding, uses=uses, count=count, suggestions=tuple(kept))


def within(wanted: TargetRange, target: TargetReport) -> bool:
    """Whether a target lies in a range of targets."""
    return (
        _is_named(target_name(target.vendor, target.chip), wanted.name)
        and (not wanted.sdk or covers(wanted.sdk, target.sdk))
        and (not wanted.torch or covers(wanted.torch, target.torch))
    )


def _is_named(name: str, glob: str) -> bool:
    """Whether a short name is one that a glob is for: the chip and the graph mode each."""
    chip, _, mode = name.partition(":")
    wanted, _, wanted_mode = glob.partition(":")
    return glob == "*" or (fnmatchcase(chip, wanted) and fnmatchcase(mode, wanted_mode))


def _names(waiver: Waiver, finding: Finding) -> bool:
    if waiver.finding:
        return waiver.finding == finding.id
    return bool(finding.op) and fnmatchcase(finding.op, waiver.operator)
