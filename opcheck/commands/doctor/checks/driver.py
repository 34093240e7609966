"""The driver, and what it must be for the toolkit or the build of torch."""

from collections.abc import Iterator

from opcheck.commands.doctor.base import Check, Ground
from opcheck.commands.doctor.pairing import row_here
from opcheck.commands.doctor.values import DoctorFinding, Severity
from opcheck.commands.doctor.versions import older, readable
from opcheck.model.environment import Environment


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
            text = f"no sign of the {driver.name} on this machine: its devices cannot be used here"
            yield self.finding(Severity.WARNING, driver.name, text, (), driver.evidence)
            return
        if not readable(found.version):
            return
        subject = f"{driver.name} {found.version}"
        major = torch.number.partition(".")[0] if torch and torch.kind == "cuda" else ""
        least = driver.least.get(major, "")
        if torch and least and older(found.version, least):
            text = f"torch {torch.version} is for CUDA {torch.number}, which needs {least} or newer"
            yield self.finding(Severity.ERROR, subject, text, (), driver.evidence)
        row = row_here(ground.here, vendor)
        needed = row.packages.get(driver.package, "") if row and driver.package else ""
        if row and readable(needed) and older(found.version, needed):
            text = f"release {row.release} requires {needed} or newer"
            yield self.finding(Severity.ERROR, subject, text, (), row.evidence)
