"""Looks at a machine: packages by their metadata, toolkits and drivers by their own files."""

import re
from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace
from packaging.utils import canonicalize_name

from opcheck.commands.doctor.installation import (
    Build,
    Distribution,
    FoundDriver,
    FoundToolkit,
    Installation,
)
from opcheck.commands.doctor.machine import Machine, import_all
from opcheck.commands.doctor.packages import COMPANIONS, build_of
from opcheck.model.environment import Driver, Environment, Toolkit

_ALWAYS = ("TORCH_DEVICE_BACKEND_AUTOLOAD", "CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES")
"""Variables that matter whatever the vendor."""
_COMPILED = ("torch", *COMPANIONS)
Found = TypeVar("Found")


def look(machine: Machine, vendors: Iterable[Environment]) -> Installation:
    """All that is here of the vendors' software; nothing of theirs is imported."""
    asked = tuple(vendors)
    distributions, builds = _packages(machine)
    return Installation(
        python=machine.python,
        system=machine.system,
        machine=machine.machine,
        libc=machine.libc,
        macos=machine.macos,
        tags=machine.tags,
        distributions=distributions,
        builds=builds,
        toolkits=_known((each.vendor, _toolkit(machine, each.toolkit)) for each in asked),
        drivers=_known((each.vendor, _driver(machine, each.driver)) for each in asked),
        environ=_variables(machine, asked),
        compilers=frozenset(_compilers(machine)),
    )


def with_imports(
    here: Installation, machine: Machine, vendors: Iterable[Environment], seconds: float
) -> Installation:
    """The same with torch, its companions and the plugins imported, each in a process of its own.

    ``seconds``: how long one import may take.
    """
    if not (machine.interpreter and "torch" in here.distributions):
        return here
    plugins = {
        each.plugin.module: each.device_type
        for each in vendors
        if each.plugin and canonicalize_name(each.plugin.package) in here.distributions
    }
    modules = [name for name in _COMPILED if name in here.distributions]
    asked = {**dict.fromkeys(modules, ""), **plugins}
    return replace(here, imports=import_all(machine, asked, seconds))


def _compilers(machine: Machine) -> Iterator[str]:
    """Languages of which Triton and inductor find a compiler, by a variable or by its name."""
    for language, variable, names in (
        ("c", "CC", ("gcc", "clang")),
        ("c++", "CXX", ("clang++",) if machine.system == "Darwin" else ("g++",)),
    ):
        named = machine.environ.get(variable, "").split()
        if any(map(machine.has, named[:1] or names)):
            yield language


def _known(pairs: Iterable[tuple[str, Found | None]]) -> Mapping[str, Found]:
    return {vendor: found for vendor, found in pairs if found is not None}


def _packages(machine: Machine) -> tuple[Mapping[str, Distribution], Mapping[str, Build]]:
    """Every installed package; the first on the path is the one that is imported."""
    found: dict[str, Distribution] = {}
    builds: dict[str, Build] = {}
    for one in metadata.distributions(path=list(machine.packages)):
        said = one.metadata
        name = canonicalize_name(said["Name"] or "")
        if not name or name in found:
            continue
        wheel = one.read_text("WHEEL") or ""
        found[name] = Distribution(
            name=name,
            version=one.version or "",
            requires=tuple(one.requires or ()),
            requires_python=said["Requires-Python"] or "",
            tags=tuple(re.findall(r"(?m)^Tag: (\S+)", wheel)),
        )
        if name in _COMPILED:
            builds[name] = build_of(
                name, one.version, Path(str(one.locate_file(f"{name}/version.py")))
            )
    return found, builds


def _toolkit(machine: Machine, toolkit: Toolkit | None) -> FoundToolkit | None:
    """A toolkit where a variable or the usual place says; None where there is none."""
    if toolkit is None:
        return None
    places = [(name, machine.environ.get(name, "")) for name in toolkit.variables]
    places += [("", place) for place in toolkit.places]
    for variable, place in places:
        foreign = toolkit.foreign and toolkit.foreign in place.lower()
        home = machine.path(place) if place and not foreign else None
        if home is not None and home.is_dir():
            return FoundToolkit(
                home=machine.told(home),
                version=_version_in(machine, home, toolkit),
                by=variable,
                libraries={
                    name: version
                    for name, stem in toolkit.libraries.items()
                    if (version := _library(machine, home, stem))
                },
            )
    return None


def _version_in(machine: Machine, home: Path, toolkit: Toolkit) -> str:
    for pattern in toolkit.files:
        for path in machine.matching(home, pattern):
            if version := _first(toolkit.pattern, machine.text(path)):
                return version
    if not toolkit.command:
        return ""
    program = str(home / toolkit.command[0])
    return _first(toolkit.pattern, machine.output((program, *toolkit.command[1:])))


def _library(machine: Machine, home: Path, stem: str) -> str:
    """The version in a library's own name: ``libcnnl.so.1.26.6``; the most telling one."""
    names = [path.name for path in machine.matching(home, f"{stem}.*")]
    versions = [name.partition(".so.")[2] for name in names]
    return max(versions, key=lambda version: (version.count("."), version), default="")


def _driver(machine: Machine, driver: Driver | None) -> FoundDriver | None:
    """A driver by its files and its tool; None where there is no sign of one."""
    if driver is None:
        return None
    files = [machine.text(machine.path(file)) for file in driver.files]
    said = machine.output(driver.command) if driver.command else ""
    devices = [
        machine.told(path)
        for pattern in driver.devices
        for path in machine.matching(machine.root, pattern.lstrip("/"))
    ]
    if not (any(files) or said or devices):
        return None
    versions = (_first(driver.pattern, text) for text in (*files, said))
    chips = dict.fromkeys(re.findall(driver.chips, said)) if driver.chips else {}
    return FoundDriver(next(filter(None, versions), ""), tuple(devices), tuple(chips))


def _first(pattern: str, text: str) -> str:
    """What the pattern finds first; its groups with dots between them."""
    match = re.search(pattern, text) if pattern else None
    return ".".join(group for group in match.groups() if group) if match else ""


def _variables(machine: Machine, vendors: Iterable[Environment]) -> Mapping[str, str]:
    names = set(_ALWAYS)
    for vendor in vendors:
        names |= {setting.variable for setting in vendor.settings}
        names |= {*vendor.renamed, *vendor.renamed.values()}
        names |= set(vendor.toolkit.variables) if vendor.toolkit else set()
    return {name: machine.environ[name] for name in sorted(names & machine.environ.keys())}
