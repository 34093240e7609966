"""The vendor's toolkit and driver, and the releases that they are for."""

from collections.abc import Iterator

from opcheck.commands.doctor.base import Check, Ground
from opcheck.commands.doctor.installation import FoundToolkit
from opcheck.commands.doctor.pairing import Fit, fit, older, readable, row_here, rows_here
from opcheck.commands.doctor.values import DoctorFinding, Severity
from opcheck.db.versions import version_key
from opcheck.lang.sentence import Sentence
from opcheck.model.environment import Environment, Pairing, Toolkit


class ToolkitPairing(Check):
    """A toolkit that is missing, or of another release than the plugin or torch was built with."""

    name = "toolkit"
    about = "a toolkit, or a library in it, that is missing or of a release that is not paired"

    def for_vendor(self, ground: Ground, vendor: Environment) -> Iterator[DoctorFinding]:
        """Compare the toolkit with the vendor's table, or with what torch was built for."""
        toolkit = vendor.toolkit
        if toolkit is None:
            return
        found = ground.here.toolkits.get(vendor.vendor)
        if found is None:
            if not toolkit.optional:
                places = ", ".join((*(f"${name}" for name in toolkit.variables), *toolkit.places))
                text = Sentence(
                    "{text} was not found (looked at {list})", text=toolkit.name, list=places
                )
                yield self.finding(Severity.ERROR, toolkit.name, text, (), toolkit.evidence)
            return
        subject = f"{toolkit.name} {found.version}".strip()
        if not found.version:
            tells = toolkit.files or toolkit.command
            text = Sentence("{place} does not say which release it is", place=found.home)
            text = (
                text
                if tells
                else Sentence(
                    "no source says how {toolkit} tells its release", toolkit=toolkit.name
                )
            )
            yield self.finding(Severity.UNKNOWN, subject, text, (), toolkit.evidence)
        if vendor.plugin is None:
            yield from self._of_build(ground, toolkit, found, subject)
        else:
            yield from self._of_table(rows_here(ground.here, vendor), toolkit, found, subject)
        if row := row_here(ground.here, vendor):
            yield from self._libraries(row, found)

    def _of_build(
        self, ground: Ground, toolkit: Toolkit, found: FoundToolkit, subject: str
    ) -> Iterator[DoctorFinding]:
        """Compare with what torch was built for: only the first two numbers say anything."""
        torch = ground.here.torch
        if torch is None or torch.kind != toolkit.package or not found.version:
            return
        if fit(found.version, torch.number) is Fit.DIFFERENT:
            text = Sentence(
                "{place} is not the ROCm {version} that torch was built for",
                place=found.home,
                version=torch.number,
            )
            mends = tuple(_builds_for(ground, found.version))
            yield self.finding(Severity.ERROR, subject, text, mends, toolkit.evidence)

    def _of_table(
        self,
        rows: tuple[Pairing, ...],
        toolkit: Toolkit,
        found: FoundToolkit,
        subject: str,
    ) -> Iterator[DoctorFinding]:
        said = [row.packages[toolkit.package] for row in rows if toolkit.package in row.packages]
        if not (said and found.version):
            return
        best = min((fit(found.version, each) for each in said), key=list(Fit).index)
        wanted = " or ".join(dict.fromkeys(said))
        cited = tuple(dict.fromkeys(fact for row in rows for fact in row.evidence))
        told = Sentence(
            "the vendor pairs {text} with what is installed", text=f"{toolkit.name} {wanted}"
        )
        match best:
            case Fit.DIFFERENT:
                yield self.finding(Severity.ERROR, subject, told, (), cited)
            case Fit.NEAR:
                yield self.finding(Severity.WARNING, subject, told, (), cited)
            case Fit.UNREADABLE:
                text = Sentence(
                    "the vendor's table says {text}, which is no version to compare with",
                    text=wanted,
                )
                yield self.finding(Severity.UNKNOWN, subject, text, (), cited)
            case Fit.SAME:
                return

    def _libraries(self, row: Pairing, found: FoundToolkit) -> Iterator[DoctorFinding]:
        for name, version in sorted(found.libraries.items()):
            said = row.packages.get(name, "")
            if said and fit(version, said) is Fit.DIFFERENT:
                text = Sentence(
                    "release {release} is built with {library} {version}",
                    release=row.release,
                    library=name,
                    version=said,
                )
                yield self.finding(Severity.WARNING, f"{name} {version}", text, (), row.evidence)


def _builds_for(ground: Ground, version: str) -> Iterator[str]:
    """The newest build of torch for this ROCm that pytorch.org is known to have."""
    tag = f"rocm{'.'.join(version.split('.')[:2])}"
    releases = sorted(ground.torch.releases.items(), key=lambda one: version_key(one[0]))
    for torch, release in reversed(releases):
        build = next((build for build in release.builds if _is_of(build, tag)), "")
        if build:
            packages = f"torch=={torch} torchvision=={release.torchvision}"
            index = f"https://download.pytorch.org/whl/{build}"
            yield f"pip install --force-reinstall {packages} --index-url {index}"
            return


def _is_of(build: str, tag: str) -> bool:
    return build == tag or build.startswith(f"{tag}.")


class DriverAge(Check):
    """No driver, or one that is too old for what is installed."""

    name = "driver"
    about = "a driver that is missing, or older than the toolkit or the build of torch needs"

    def for_vendor(self, ground: Ground, vendor: Environment) -> Iterator[DoctorFinding]:
        """Compare the driver with what torch was built for, and with the vendor's table."""
        driver, torch = vendor.driver, ground.here.torch
        if driver is None:
            return
        found = ground.here.drivers.get(vendor.vendor)
        if found is None:
            text = Sentence(
                "no sign of the {text} on this machine: its devices cannot be used here",
                text=driver.name,
            )
            yield self.finding(Severity.WARNING, driver.name, text, (), driver.evidence)
            return
        if not readable(found.version):
            return
        subject = f"{driver.name} {found.version}"
        major = torch.number.partition(".")[0] if torch and torch.kind == "cuda" else ""
        least = driver.least.get(major, "")
        if torch and least and older(found.version, least):
            text = Sentence(
                "torch {version} is for CUDA {cuda}, which needs {least} or newer",
                version=torch.version,
                cuda=torch.number,
                least=least,
            )
            yield self.finding(Severity.ERROR, subject, text, (), driver.evidence)
        row = row_here(ground.here, vendor)
        needed = row.packages.get(driver.package, "") if row and driver.package else ""
        if row and readable(needed) and older(found.version, needed):
            text = Sentence(
                "release {release} requires {least} or newer", release=row.release, least=needed
            )
            yield self.finding(Severity.ERROR, subject, text, (), row.evidence)
