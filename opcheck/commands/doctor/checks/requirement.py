"""What the packages of the torch family ask of others."""

from collections.abc import Iterator

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion

from opcheck.commands.doctor.base import Check, Ground
from opcheck.commands.doctor.installation import Distribution, Installation
from opcheck.commands.doctor.packages import family
from opcheck.commands.doctor.values import DoctorFinding, Severity


class RequirementUnmet(Check):
    """A torchvision for another torch, a plugin for another numpy: pip warns once and goes on."""

    name = "requirement"
    about = "a package of the torch family whose own requirements are not met"

    def general(self, ground: Ground) -> Iterator[DoctorFinding]:
        """Hold the requirements of each package against what is installed."""
        for one in family(ground.here):
            for text in one.requires:
                yield from self._unmet(ground.here, one, text)

    def _unmet(self, here: Installation, one: Distribution, text: str) -> Iterator[DoctorFinding]:
        try:
            wanted = Requirement(text)
        except InvalidRequirement:
            return
        if wanted.marker and not wanted.marker.evaluate({**_marks(here), "extra": ""}):
            return
        found = here.distributions.get(canonicalize_name(wanted.name))
        subject = f"{one.name} {one.version}"
        mends = (f"pip install '{wanted.name}{wanted.specifier}'",)
        if found is None:
            missing = f"it needs {wanted.name}{wanted.specifier}, which is not installed"
            yield self.finding(Severity.ERROR, subject, missing, mends)
            return
        try:
            met = wanted.specifier.contains(found.version, prereleases=True)
        except InvalidVersion:
            return
        if not met:
            told = f"it needs {wanted.name}{wanted.specifier}; here is {found.name} {found.version}"
            yield self.finding(Severity.ERROR, subject, told, mends)


def _marks(here: Installation) -> dict[str, str]:
    """What markers ask of the machine that was looked at."""
    return {
        "python_version": ".".join(here.python.split(".")[:2]),
        "python_full_version": here.python,
        "platform_system": here.system,
        "platform_machine": here.machine,
        "sys_platform": {"Linux": "linux", "Windows": "win32", "Darwin": "darwin"}.get(
            here.system, here.system.lower()
        ),
    }
