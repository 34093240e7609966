"""Whether anything of a vendor's is on a machine."""

from collections.abc import Iterator, Mapping

from opcheck.commands.doctor.installation import FoundDriver, Installation
from opcheck.commands.doctor.pairing import found_plugin
from opcheck.model.environment import Environment

_TELLING = frozenset({"cuda", "rocm", "xpu"})
"""Builds of torch that are for one kind of device."""


def present(here: Installation, vendor: Environment) -> bool:
    """Whether a plugin, a toolkit, a driver or a build of torch of this vendor's is here."""
    return _owned(here, vendor) or _built(here, vendor)


def present_vendors(here: Installation, vendors: Mapping[str, Environment]) -> Iterator[str]:
    """The vendors of which something is here, by name.

    A build of torch alone counts only where nothing else tells whose it is: DTK's is for ROCm too.
    """
    owned = [name for name in sorted(vendors) if _owned(here, vendors[name])]
    built = [name for name in sorted(vendors) if _built(here, vendors[name])]
    told = {vendors[name].torch.build for name in owned}
    yield from owned
    for name in built:
        build = vendors[name].torch.build
        if name not in owned and build not in told and vendors[name].plugin is None:
            told.add(build)
            yield name


def _owned(here: Installation, vendor: Environment) -> bool:
    if vendor.plugin is not None:
        if found_plugin(here, vendor.plugin) is not None:
            return True
        if vendor.torch.build in _TELLING:
            return False  # the driver and the toolkit are those of another vendor's name
    if vendor.systems.names == ("Darwin",):
        return here.system == "Darwin"
    own = here.drivers.get(vendor.vendor)
    toolkit = here.toolkits.get(vendor.vendor)
    return toolkit is not None or (own is not None and _is_own(own))


def _is_own(driver: FoundDriver) -> bool:
    """Whether a driver was told by more than a device file that vendors share."""
    return bool(driver.version or driver.chips) or driver.devices != ("/dev/kfd",)


def _built(here: Installation, vendor: Environment) -> bool:
    torch = here.torch
    return torch is not None and torch.kind in _TELLING and torch.kind == vendor.torch.build
