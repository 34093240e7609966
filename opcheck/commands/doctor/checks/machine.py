"""The machine: its chip, its operating system, and its environment variables."""

from collections.abc import Iterator

from opcheck.commands.doctor.base import Check, Ground
from opcheck.commands.doctor.pairing import at_least, older
from opcheck.commands.doctor.values import DoctorFinding, Severity
from opcheck.lang.sentence import Sentence, chained, from_data, verbatim
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
                text = Sentence(
                    "it is {chip}, not {other}",
                    chip=f"{vendor.vendor}-{chip}",
                    other=f"{vendor.vendor}-{ground.chip}",
                )
                yield self.finding(
                    Severity.ERROR,
                    f"{driver.prefix}{name}",
                    chained([text, verbatim(note)], "; ") if note else text,
                    (f"opcheck doctor -t {vendor.vendor}-{chip}",),
                    vendor.chip_evidence.get(chip, ()),
                )
            elif not chip and any(vendor.chips.values()):
                text = Sentence("no chip in the vendor's list has this name")
                yield self.finding(Severity.UNKNOWN, f"{driver.prefix}{name}", text)


def chip_of(vendor: Environment, name: str) -> str:
    """The chip that a device's own name stands for; "" where no list has it."""
    wanted = _plain_name(name)
    own = {_plain_name(chip): chip for chip in vendor.chips}
    named = {_plain_name(soc): chip for chip, socs in vendor.chips.items() for soc in socs}
    return {**own, **named}.get(wanted, "")


def _plain_name(name: str) -> str:
    return name.lower().replace("-", "_").replace(" ", "")


_MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}


class OperatingSystem(Check):
    """Vendors without packages for Windows, macOS or this kind of machine."""

    name = "operating-system"
    about = "an operating system or machine that the vendor has no packages for"

    def for_vendor(self, ground: Ground, vendor: Environment) -> Iterator[DoctorFinding]:
        """Compare this machine with what there are packages for."""
        here, systems = ground.here, vendor.systems
        if here.system not in systems.names:
            text = Sentence(
                "{text} has packages for {text2} alone",
                text=vendor.name,
                text2=_listed(systems.names),
            )
            yield self.finding(Severity.ERROR, here.system, text, (), systems.evidence)
        elif systems.machines and _plain_platform(here.machine) not in map(
            _plain_platform, systems.machines
        ):
            text = Sentence(
                "{text} has packages for {text2} alone",
                text=vendor.name,
                text2=_listed(systems.machines),
            )
            yield self.finding(Severity.ERROR, here.machine, text, (), systems.evidence)
        torch = here.torch
        for since, least in systems.macos:
            if torch and here.macos and at_least(torch.version, since) and older(here.macos, least):
                text = Sentence(
                    "torch {version} and newer needs macOS {macos} for this device",
                    version=since,
                    macos=least,
                )
                yield self.finding(
                    Severity.ERROR, f"macOS {here.macos}", text, (), systems.evidence
                )


def _plain_platform(machine: str) -> str:
    """One name for one kind of machine: Windows and macOS have their own."""
    return _MACHINES.get(machine.lower(), machine.lower())


def _listed(names: tuple[str, ...]) -> str:
    return " and ".join(names)


class Settings(Check):
    """``set_env.sh`` that was not sourced, a library folder that is not on the loader's path."""

    name = "environment"
    about = "an environment variable that is not set, or leaves out what it must hold"

    def for_vendor(self, ground: Ground, vendor: Environment) -> Iterator[DoctorFinding]:
        """Look at each variable that the vendor names."""
        found = ground.here.toolkits.get(vendor.vendor)
        usual = vendor.toolkit.places if vendor.toolkit else ()
        home = found.home if found else next(iter(usual), "")
        for setting in vendor.settings:
            value = ground.here.environ.get(setting.variable, "")
            wanted = setting.contains.format(home=home)
            if not value:
                text = Sentence("it is not set: {said}", said=from_data(setting.text))
            elif wanted and wanted not in value:
                text = Sentence(
                    "{text} is not in it: {said}", text=wanted, said=from_data(setting.text)
                )
            else:
                continue
            yield self.finding(
                Severity.ERROR, setting.variable, text, (setting.command,), setting.evidence
            )


_ENDING = "_VISIBLE_DEVICES"


class VisibleDevices(Check):
    """``CUDA_VISIBLE_DEVICES`` on a machine whose devices have another variable."""

    name = "visible-devices"
    about = "a variable that hides every device, or that is CUDA's and does nothing here"

    def for_vendor(self, ground: Ground, vendor: Environment) -> Iterator[DoctorFinding]:
        """Look at the variables of CUDA that the vendor has its own names for."""
        environ = ground.here.environ
        own = {name for name in vendor.renamed.values() if name.endswith(_ENDING)}
        if vendor.device_type == "cuda":
            own = {"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"} & environ.keys()
        for name in sorted(own & environ.keys()):
            if environ[name].strip() in ("", "-1"):
                text = Sentence("{text} hides every device", text=repr(environ[name]))
                yield self.finding(Severity.WARNING, name, text, (f"unset {name}",))
        for name, use in sorted(vendor.renamed.items()):
            if name in environ and use not in environ:
                text = Sentence(
                    "it is CUDA's and does nothing here; {text} has {use}",
                    text=vendor.name,
                    use=use,
                )
                mends = (f"export {use}={environ[name]!r}",)
                yield self.finding(Severity.WARNING, name, text, mends)
