"""What is installed, whether it goes together for a target, and what would."""

from enum import StrEnum

from msgspec import Struct

from opcheck.model.target import TargetSpec
from opcheck.model.verdict import Evidence

SCHEMA = "opcheck.doctor/1"


class Severity(StrEnum):
    """How much a finding matters, worst first."""

    ERROR = "error"
    """Known not to work."""
    WARNING = "warning"
    """May work, and has a catch."""
    UNKNOWN = "unknown"
    """Nobody has said."""

    @property
    def rank(self) -> int:
        """0 for the worst."""
        return list(Severity).index(self)


class DoctorRequest(Struct, frozen=True):
    """Which machine to look at, for which targets."""

    targets: tuple[TargetSpec, ...] = ()
    """Those of which something is installed, where it is empty."""
    databases: tuple[str, ...] = ()
    plan: bool = False
    """Whether to plan another machine, and look at nothing here."""
    imports: bool = True
    """Whether to import packages, each in a process of its own."""
    timeout: float | None = None
    """Seconds that one import may take."""
    write: tuple[str, ...] = ()
    """Files to write: a Dockerfile, requirements, a script that sets the environment."""
    force: bool = False
    """Whether a file may be replaced."""


class Part(Struct, frozen=True, order=True):
    """One thing that was found."""

    kind: str
    """``python``, ``system``, ``package``, ``toolkit``, ``driver``, ``variable``."""
    name: str
    version: str = ""
    note: str = ""


class DoctorFinding(Struct, frozen=True):
    """One thing that does not go together."""

    code: str
    """The check: ``torch-build``."""
    severity: Severity
    subject: str
    """What it is about: ``torch 2.7.1+cu126``."""
    text: str
    mends: tuple[str, ...] = ()
    """Commands that mend it; () where there is no one way."""
    evidence: tuple[Evidence, ...] = ()


class Component(Struct, frozen=True):
    """One part of a set that goes together."""

    name: str
    version: str
    evidence: tuple[Evidence, ...] = ()


class Setup(Struct, frozen=True):
    """A set of versions that a vendor puts together, and how to come by it."""

    release: str
    components: tuple[Component, ...]
    pythons: tuple[str, ...] = ()
    """Versions of Python that there are packages for; () where nobody has said."""
    systems: tuple[str, ...] = ()
    image: str = ""
    """A container image that the vendor's documents name."""
    complete_image: bool = False
    """Whether torch and the plugin are in it already."""
    by_hand: tuple[str, ...] = ()
    """What no command can do."""
    commands: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    """Commands that set the environment."""
    unknown: tuple[str, ...] = ()
    """What no source says."""


class DoctorTarget(Struct, frozen=True):
    """How the machine fares for one target, and what would suit it."""

    name: str
    """``ascend-910b``; a vendor where no chip was named."""
    vendor: str
    title: str
    """``Huawei Ascend``."""
    planned: bool
    """Whether nothing of the vendor's is here, so that nothing here was judged."""
    findings: tuple[DoctorFinding, ...] = ()
    setup: Setup | None = None
    """None where no source pairs anything."""

    @property
    def passed(self) -> bool:
        """Whether nothing is known not to work."""
        return not any(finding.severity is Severity.ERROR for finding in self.findings)


class Doctor(Struct, frozen=True):
    """What ``opcheck doctor`` found."""

    opcheck_version: str
    parts: tuple[Part, ...] = ()
    findings: tuple[DoctorFinding, ...] = ()
    """What does not go together whatever the device."""
    targets: tuple[DoctorTarget, ...] = ()
    written: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether nothing is known not to work."""
        errors = any(finding.severity is Severity.ERROR for finding in self.findings)
        return not errors and all(target.passed for target in self.targets)
