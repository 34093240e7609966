"""Python and its packages: versions, wheels, what packages require, and whether they import."""

from collections.abc import Iterator

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.tags import parse_tag
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion

from opcheck.commands.doctor.base import Check, Ground
from opcheck.commands.doctor.installation import Distribution, Imported, Installation, Outcome
from opcheck.commands.doctor.packages import COMPANIONS, family
from opcheck.commands.doctor.pairing import at_least, public
from opcheck.commands.doctor.values import DoctorFinding, Severity
from opcheck.db.versions import major_minor
from opcheck.lang.sentence import Sentence
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
                text = Sentence(
                    "{package} {version} is for Python {list}",
                    package=one.name,
                    version=one.version,
                    list=one.requires_python,
                )
                yield self.finding(Severity.ERROR, f"Python {python}", text)

    def for_vendor(self, ground: Ground, vendor: Environment) -> Iterator[DoctorFinding]:
        """Compare with the vendor's table for the torch that is here."""
        python, torch = ground.here.python, ground.here.torch
        if torch is None:
            return
        for step, versions in vendor.pythons:
            if _is_of(step, torch.version) and major_minor(python) not in versions:
                known = ", ".join(versions)
                text = Sentence(
                    "with torch {version} {text} has Python {list}",
                    version=public(torch.version),
                    text=vendor.name,
                    list=known,
                )
                yield self.finding(Severity.ERROR, f"Python {python}", text, (), step.evidence)


def _is_of(step: Step, torch: str) -> bool:
    """Whether a row of the table is about this torch: one that it names, or a span."""
    if step.text:
        return step.text == public(torch)
    since = not step.since or at_least(torch, step.since)
    return since and not (step.until and at_least(torch, step.until))


class WheelTag(Check):
    """Files that were copied from another machine, or installed past pip's own check."""

    name = "wheel-tag"
    about = "a package whose wheel is of another Python, machine or C library (glibc)"

    def general(self, ground: Ground) -> Iterator[DoctorFinding]:
        """Hold each wheel's own tags against those that this Python can install."""
        here = ground.here
        for one in family(here) if here.tags else ():
            tags = {str(tag) for text in one.tags for tag in parse_tag(text)}
            if tags and not tags & here.tags:
                libc = f", glibc {here.libc}" if here.libc else ""
                text = Sentence(
                    "its wheel is {list}; here is Python {version}, {text}",
                    list=", ".join(sorted(one.tags)),
                    version=here.python,
                    text=f"{here.system} {here.machine}{libc}",
                )
                mends = (f"pip install --force-reinstall --no-deps {one.name}=={one.version}",)
                yield self.finding(Severity.ERROR, f"{one.name} {one.version}", text, mends)


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
            missing = Sentence(
                "it needs {package}, which is not installed",
                package=f"{wanted.name}{wanted.specifier}",
            )
            yield self.finding(Severity.ERROR, subject, missing, mends)
            return
        try:
            met = wanted.specifier.contains(found.version, prereleases=True)
        except InvalidVersion:
            return
        if not met:
            told = Sentence(
                "it needs {package}; here is {text}",
                package=f"{wanted.name}{wanted.specifier}",
                text=f"{found.name} {found.version}",
            )
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


_SAID = {
    Outcome.FAILED: "importing it fails: {text}",
    Outcome.CRASHED: "importing it ends the process: {text}",
    Outcome.HUNG: "importing it does not end: {text}",
}


class ImportFails(Check):
    """Each was imported in a process of its own, with a limit."""

    name = "import"
    about = "a package that fails, crashes or hangs where it is imported, or sees no device then"

    def general(self, ground: Ground) -> Iterator[DoctorFinding]:
        """Say what became of torch and its companions."""
        for name in ("torch", *COMPANIONS):
            if name in ground.here.imports:
                yield from self._import_findings(ground.here.imports[name])

    def for_vendor(self, ground: Ground, vendor: Environment) -> Iterator[DoctorFinding]:
        """Say what became of the plugin, and whether torch sees the driver's devices."""
        module = vendor.plugin.module if vendor.plugin else "torch"
        found = ground.here.imports.get(module)
        if found is None:
            return
        if vendor.plugin is not None:
            yield from self._import_findings(found)
        driver = ground.here.drivers.get(vendor.vendor)
        asked = vendor.plugin is not None or vendor.device_type == "cuda"
        if asked and found.devices == 0 and driver and driver.devices:
            text = Sentence(
                "it sees no device, where the driver has {list}", list=", ".join(driver.devices)
            )
            yield self.finding(Severity.ERROR, module, text)

    def _import_findings(self, found: Imported) -> Iterator[DoctorFinding]:
        if found.outcome is not Outcome.LOADED:
            text = Sentence(_SAID[found.outcome], text=found.text)
            yield self.finding(Severity.ERROR, found.module, text)
