"""What a gate is asked to hold: what fails, limits, what is waived, what was accepted before."""

import re
from collections.abc import Mapping
from datetime import date
from typing import Any

from msgspec import Struct

from opcheck.lang.sentence import Sentence
from opcheck.model.target import TargetSpec
from opcheck.model.verdict import Confidence, Verdict

SCHEMA = "opcheck.policy/1"
BASELINE_SCHEMA = "opcheck.baseline/1"

_VERSION = r"v?[0-9][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*"
_SPAN = rf"(?:{_VERSION}(?:\.\.(?:{_VERSION})?)?|\.\.{_VERSION})"
_SPANS = rf"{_SPAN}(?:, {_SPAN})*"
_RANGE = re.compile(
    rf"(?P<name>[a-z0-9*?-]+(?::[a-z0-9*?]+)?)(?:@(?P<sdk>{_SPANS}))?(?:\+torch(?P<torch>{_SPANS}))?"
)


class TargetRange(Struct, frozen=True, order=True):
    """Targets that a waiver is for: ``ascend-910*``, ``ascend-910b@..26.0+torch2.1..2.7``."""

    name: str = "*"
    """A glob on the target's short name; without a colon it is of no graph mode, but ``*`` is."""
    sdk: str = ""
    """Spans of SDK releases, ``..6.0, 26.0..``; empty for every one."""
    torch: str = ""
    """Spans of torch versions; empty for every one."""

    @classmethod
    def parse(cls, text: str) -> "TargetRange":
        """Read ``NAME-GLOB[@SDK-SPANS][+torchSPANS]``; ``str()`` gives back exactly ``text``."""
        match = _RANGE.fullmatch(text)
        if match is None:
            raise ValueError(
                Sentence(
                    "not a range of targets: {text} (want NAME[@A..B][+torchX..Y])", text=repr(text)
                )
            )
        return cls(match["name"], match["sdk"] or "", match["torch"] or "")

    def __str__(self) -> str:
        sdk = f"@{self.sdk}" if self.sdk else ""
        torch = f"+torch{self.torch}" if self.torch else ""
        return f"{self.name}{sdk}{torch}"


class Waiver(Struct, frozen=True):
    """Findings that do not fail the gate, why, and until when; of operator and finding one is set.

    What is not set matches everything.
    """

    reason: str
    expires: date
    """The last day on which it holds."""
    operator: str = ""
    """A glob on overloads: ``aten::view_as_*``."""
    finding: str = ""
    """The id of one finding, or of a gap of the trace."""
    module: str = "*"
    """A glob on the module path of a use; other uses of the same finding are not hidden."""
    target: TargetRange = TargetRange()

    def expired(self, today: date) -> bool:
        """Whether it holds no more."""
        return today > self.expires


class Limits(Struct, frozen=True):
    """Figures that a target must keep to; None for any figure."""

    min_support_rate: float | None = None
    max_islands: int | None = None
    max_fallback_bytes: int | None = None


class ListedSource(Struct, frozen=True):
    """One source of a project, as its policy lists it."""

    given: str | Mapping[str, Any]
    """A source alone, or a mapping: of a model or a script, with the options of it."""
    where: str
    """``opcheck.yaml:12``, for messages."""


class Policy(Struct, frozen=True):
    """What passes; the defaults are those of a run without a policy file."""

    path: str = ""
    """The file that it was read from, as people are told of it; empty for the defaults."""
    targets: tuple[TargetSpec, ...] = ()
    fail_verdicts: frozenset[Verdict] = frozenset({Verdict.UNSUPPORTED})
    fail_reasons: tuple[str, ...] = ()
    """Globs on reason codes, of findings of any verdict and of advisories on a whole target."""
    allow_unknown: bool = False
    allow_advisories: bool = False
    """Whether uses pass that run, but that an advisory says give wrong results."""
    confidence: Confidence = Confidence.LOW
    """Findings that are less sure than this do not fail; what is unknown does all the same."""
    limits: Limits = Limits()
    max_age: int | None = None
    """Days that the vendors' data may be old."""
    baseline: str = ""
    """Path of what was accepted before; empty for none."""
    waivers: tuple[Waiver, ...] = ()
    sources: tuple[ListedSource, ...] = ()
    """What of the project is checked where its folder is named; empty: what is found there."""


class Accepted(Struct, frozen=True, order=True):
    """One finding of a baseline."""

    id: str
    op: str
    verdict: Verdict
    reason: str
    """Its code."""
    modules: tuple[str, ...] = ()
    """Where it failed; uses that were waived elsewhere are not accepted with it."""


class AcceptedTarget(Struct, frozen=True):
    """What was accepted of one target: findings, and figures that break a limit."""

    target: str
    support_rate: float | None
    islands: int
    fallback_bytes: int
    findings: tuple[Accepted, ...]


class Baseline(Struct, frozen=True):
    """What failed on the day that it was written, and is accepted."""

    opcheck_version: str
    targets: tuple[AcceptedTarget, ...]
    path: str = ""
    """The file that it was read from, as people are told of it."""
