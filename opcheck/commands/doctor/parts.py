"""What was found, as a table for people and programs."""

from collections.abc import Iterator, Mapping

from opcheck.commands.doctor.installation import Build, Installation, Outcome
from opcheck.commands.doctor.packages import family
from opcheck.commands.doctor.values import Part
from opcheck.model.environment import Environment

_BESIDE = ("numpy",)
"""Packages that are not of the family, and matter to it."""


def parts(here: Installation, vendors: Mapping[str, Environment]) -> tuple[Part, ...]:
    """Everything that was found, in the order in which one asks for it."""
    return tuple(_parts(here, vendors))


def _parts(here: Installation, vendors: Mapping[str, Environment]) -> Iterator[Part]:
    yield Part("python", "Python", here.python)
    libc = f"glibc {here.libc}" if here.libc else ""
    yield Part("system", here.system, here.macos, ", ".join(filter(None, (here.machine, libc))))
    if here.torch is None:
        yield Part("package", "torch", "", "not installed")
    for one in family(here):
        build = here.builds.get(one.name)
        version = build.version if build else one.version
        yield Part("package", one.name, version, _note(here, one.name, build))
    for name in _BESIDE:
        if name in here.distributions:
            yield Part("package", name, here.distributions[name].version)
    for vendor, found in here.toolkits.items():
        toolkit = vendors[vendor].toolkit
        yield Part("toolkit", toolkit.name if toolkit else vendor, found.version, found.home)
        for name, version in sorted(found.libraries.items()):
            yield Part("toolkit", name, version, found.home)
    for vendor, driver in here.drivers.items():
        named = vendors[vendor].driver
        note = ", ".join((*driver.chips, *driver.devices))
        yield Part("driver", named.name if named else vendor, driver.version, note)
    for name, value in here.environ.items():
        yield Part("variable", name, "", value)


def _note(here: Installation, name: str, build: Build | None) -> str:
    """What it was built for, and whether it can be imported."""
    said = []
    if build and build.kind:
        names = {"cpu": "CPU", "cuda": "CUDA", "rocm": "ROCm", "xpu": "XPU"}
        said.append(f"for {names[build.kind]} {build.number}".strip())
    found = here.imports.get(name.replace("-", "_"))
    if found:
        loaded = found.outcome is Outcome.LOADED
        said.append("imports" if loaded else f"import {found.outcome}")
    return ", ".join(said)
