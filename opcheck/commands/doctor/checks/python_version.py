"""The version of Python that there are packages for."""

from collections.abc import Iterator

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from opcheck.commands.doctor.base import Check, Ground
from opcheck.commands.doctor.packages import family
from opcheck.commands.doctor.values import DoctorFinding, Severity
from opcheck.commands.doctor.versions import at_least, public
from opcheck.db.versions import major_minor
from opcheck.model.environment import Environment, Step


class PythonVersion(Check):
    """A Python that a release of the plugin or of torch has no packages for."""

    name = "python-version"
    about = "a Python that a package, or the vendor's table for this torch, leaves out"

    def general(self, ground: Ground) -> Iterator[DoctorFinding]:
        """Compare with what each package of the family says itself."""
        python = ground.here.python
        for one in family(ground.here):
            try:
                allowed = not one.requires_python or python in SpecifierSet(one.requires_python)
            except InvalidSpecifier:
                continue
            if not allowed:
                text = f"{one.name} {one.version} is for Python {one.requires_python}"
                yield self.finding(Severity.ERROR, f"Python {python}", text)

    def for_vendor(self, ground: Ground, vendor: Environment) -> Iterator[DoctorFinding]:
        """Compare with the vendor's table for the torch that is here."""
        python, torch = ground.here.python, ground.here.torch
        if torch is None:
            return
        for step, versions in vendor.pythons:
            if _is_of(step, torch.version) and major_minor(python) not in versions:
                known = ", ".join(versions)
                text = f"with torch {public(torch.version)} {vendor.name} has Python {known}"
                yield self.finding(Severity.ERROR, f"Python {python}", text, (), step.evidence)


def _is_of(step: Step, torch: str) -> bool:
    """Whether a row of the table is about this torch: one that it names, or a span."""
    if step.text:
        return step.text == public(torch)
    since = not step.since or at_least(torch, step.since)
    return since and not (step.until and at_least(torch, step.until))
