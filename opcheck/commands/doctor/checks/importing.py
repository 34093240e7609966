"""Packages that cannot be imported, whatever their versions say."""

from collections.abc import Iterator

from opcheck.commands.doctor.base import Check, Ground
from opcheck.commands.doctor.installation import Imported, Outcome
from opcheck.commands.doctor.packages import COMPANIONS
from opcheck.commands.doctor.values import DoctorFinding, Severity
from opcheck.model.environment import Environment

_SAID = {
    Outcome.FAILED: "importing it fails",
    Outcome.CRASHED: "importing it ends the process",
    Outcome.HUNG: "importing it does not end",
}


class ImportFails(Check):
    """Each was imported in a process of its own, with a limit."""

    name = "import"
    about = "a package that fails, crashes or hangs where it is imported, or sees no device then"

    def general(self, ground: Ground) -> Iterator[DoctorFinding]:
        """Say what became of torch and its companions."""
        for name in ("torch", *COMPANIONS):
            if name in ground.here.imports:
                yield from self._said(ground.here.imports[name])

    def for_vendor(self, ground: Ground, vendor: Environment) -> Iterator[DoctorFinding]:
        """Say what became of the plugin, and whether torch sees the driver's devices."""
        module = vendor.plugin.module if vendor.plugin else "torch"
        found = ground.here.imports.get(module)
        if found is None:
            return
        if vendor.plugin is not None:
            yield from self._said(found)
        driver = ground.here.drivers.get(vendor.vendor)
        asked = vendor.plugin is not None or vendor.device_type == "cuda"
        if asked and found.devices == 0 and driver and driver.devices:
            text = f"it sees no device, where the driver has {', '.join(driver.devices)}"
            yield self.finding(Severity.ERROR, module, text)

    def _said(self, found: Imported) -> Iterator[DoctorFinding]:
        if found.outcome is not Outcome.LOADED:
            text = f"{_SAID[found.outcome]}: {found.text}"
            yield self.finding(Severity.ERROR, found.module, text)
