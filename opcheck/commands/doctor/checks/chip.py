"""The chip that is here, by the names that it gives itself."""

from collections.abc import Iterator

from opcheck.commands.doctor.base import Check, Ground
from opcheck.commands.doctor.values import DoctorFinding, Severity
from opcheck.model.environment import Environment


class Chip(Check):
    """``Ascend910B`` is the old die: a 910B is ``Ascend910B1`` to ``Ascend910B4``."""

    name = "chip"
    about = "a device that is another chip than the one asked for, old dies with new names included"

    def for_vendor(self, ground: Ground, vendor: Environment) -> Iterator[DoctorFinding]:
        """Hold the names that the driver's tool gives against the vendor's list."""
        driver, found = vendor.driver, ground.here.drivers.get(vendor.vendor)
        if driver is None or found is None:
            return
        for name in found.chips:
            chip = chip_of(vendor, f"{driver.prefix}{name}")
            if chip and ground.chip and chip != ground.chip:
                note = vendor.chip_notes.get(chip, "")
                text = f"it is {vendor.vendor}-{chip}, not {vendor.vendor}-{ground.chip}"
                yield self.finding(
                    Severity.ERROR,
                    f"{driver.prefix}{name}",
                    f"{text}; {note}" if note else text,
                    (f"opcheck doctor -t {vendor.vendor}-{chip}",),
                    vendor.chip_evidence.get(chip, ()),
                )
            elif not chip and any(vendor.chips.values()):
                text = "no chip in the vendor's list has this name"
                yield self.finding(Severity.UNKNOWN, f"{driver.prefix}{name}", text)


def chip_of(vendor: Environment, name: str) -> str:
    """The chip that a device's own name stands for; "" where no list has it."""
    wanted = _plain(name)
    own = {_plain(chip): chip for chip in vendor.chips}
    named = {_plain(soc): chip for chip, socs in vendor.chips.items() for soc in socs}
    return {**own, **named}.get(wanted, "")


def _plain(name: str) -> str:
    return name.lower().replace("-", "_").replace(" ", "")
