"""Which uses of a finding the waivers of a policy hide."""

from collections.abc import Mapping, Sequence
from datetime import date
from fnmatch import fnmatchcase

from msgspec import Struct
from msgspec.structs import replace

from opcheck.db.versions import covers
from opcheck.model.policy import TargetRange, Waiver
from opcheck.model.report import Finding, Place, TargetReport
from opcheck.model.target import target_name

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
    """A finding with some of its uses, and the ways out of those."""
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
        fnmatchcase(target_name(target.vendor, target.chip), wanted.name)
        and (not wanted.sdk or covers(wanted.sdk, target.sdk))
        and (not wanted.torch or covers(wanted.torch, target.torch))
    )


def _names(waiver: Waiver, finding: Finding) -> bool:
    if waiver.finding:
        return waiver.finding == finding.id
    return bool(finding.op) and fnmatchcase(finding.op, waiver.operator)
