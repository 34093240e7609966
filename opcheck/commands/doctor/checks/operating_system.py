"""The operating system and the machine that the vendor's software is made for."""

from collections.abc import Iterator

from opcheck.commands.doctor.base import Check, Ground
from opcheck.commands.doctor.values import DoctorFinding, Severity
from opcheck.commands.doctor.versions import at_least, older
from opcheck.model.environment import Environment

_MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}


class OperatingSystem(Check):
    """Vendors without packages for Windows, macOS or this kind of machine."""

    name = "operating-system"
    about = "an operating system or machine that the vendor has no packages for"

    def for_vendor(self, ground: Ground, vendor: Environment) -> Iterator[DoctorFinding]:
        """Compare this machine with what there are packages for."""
        here, systems = ground.here, vendor.systems
        if here.system not in systems.names:
            text = f"{vendor.name} has packages for {_listed(systems.names)} alone"
            yield self.finding(Severity.ERROR, here.system, text, (), systems.evidence)
        elif systems.machines and _plain(here.machine) not in map(_plain, systems.machines):
            text = f"{vendor.name} has packages for {_listed(systems.machines)} alone"
            yield self.finding(Severity.ERROR, here.machine, text, (), systems.evidence)
        torch = here.torch
        for since, least in systems.macos:
            if torch and here.macos and at_least(torch.version, since) and older(here.macos, least):
                text = f"torch {since} and newer needs macOS {least} for this device"
                yield self.finding(
                    Severity.ERROR, f"macOS {here.macos}", text, (), systems.evidence
                )


def _plain(machine: str) -> str:
    """One name for one kind of machine: Windows and macOS have their own."""
    return _MACHINES.get(machine.lower(), machine.lower())


def _listed(names: tuple[str, ...]) -> str:
    return " and ".join(names)
