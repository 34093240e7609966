"""What a check of the environment is, and what it is given to judge."""

from collections.abc import Iterator
from functools import cache
from typing import ClassVar

from msgspec import Struct

import opcheck.commands.doctor.checks
from opcheck.commands.doctor.installation import Installation
from opcheck.commands.doctor.values import DoctorFinding, Severity
from opcheck.model.environment import Environment, TorchEnvironment
from opcheck.model.verdict import Evidence
from opcheck.registry import discover


class Ground(Struct, frozen=True):
    """What is here, and what must be said of it."""

    here: Installation
    torch: TorchEnvironment
    vendor: Environment | None = None
    """None: whatever the device."""
    chip: str = ""
    """The chip that was asked for; "" where none was."""


class Check:
    """One trap; a file in ``checks`` is all that a new one needs."""

    name: ClassVar[str]
    """The code of its findings: ``torch-build``."""
    about: ClassVar[str]
    """What it looks for, for the documentation."""

    def general(self, ground: Ground) -> Iterator[DoctorFinding]:
        """Findings whatever the device."""
        return iter(())

    def for_vendor(self, ground: Ground, vendor: Environment) -> Iterator[DoctorFinding]:
        """Findings for one vendor's devices."""
        return iter(())

    def finding(
        self,
        severity: Severity,
        subject: str,
        text: str,
        mends: tuple[str, ...] = (),
        evidence: tuple[Evidence, ...] = (),
    ) -> DoctorFinding:
        """A finding of this check."""
        return DoctorFinding(self.name, severity, subject, text, mends, evidence)


@cache
def checks() -> tuple[Check, ...]:
    """Every check, by name."""
    kinds = discover(opcheck.commands.doctor.checks, Check)
    return tuple(kind() for kind in kinds)


def judge(ground: Ground) -> tuple[DoctorFinding, ...]:
    """All that the checks find, the worst first."""
    found: list[DoctorFinding] = []
    for check in checks():
        if ground.vendor is None:
            found += check.general(ground)
        else:
            found += check.for_vendor(ground, ground.vendor)
    return tuple(sorted(dict.fromkeys(found), key=lambda f: (f.severity.rank, f.code, f.subject)))
