"""The installed packages of the torch family: what they were built for, and all as a table."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from opcheck.commands.doctor.installation import Build, Distribution, Installation, Outcome
from opcheck.commands.doctor.pairing import local
from opcheck.commands.doctor.values import Part
from opcheck.files import MOST_SOURCE_BYTES, read_bytes
from opcheck.lang.sentence import Sentence, chained
from opcheck.model.environment import Environment

COMPANIONS = ("torchvision", "torchaudio")
"""Compiled packages that are built along with torch."""
_FAMILY = re.compile(r"torch.*|triton.*|tensorrt")
_STATED = re.compile(r"(?m)^(cuda|hip|xpu)\b[^=\n]*=\s*['\"]([^'\"]+)['\"]")
_VERSION = re.compile(r"(?m)^__version__\b[^=\n]*=\s*['\"]([^'\"]+)['\"]")
_LOCAL = (
    (re.compile(r"cu(\d+)(\d)$"), "cuda"),
    (re.compile(r"rocm(\d+(?:\.\d+)*)"), "rocm"),
    (re.compile(r"xpu()"), "xpu"),
    (re.compile(r"cpu()"), "cpu"),
)
_KINDS = {"cuda": "cuda", "hip": "rocm", "xpu": "xpu"}


def family(here: Installation) -> Iterator[Distribution]:
    """Torch and what is built for it, by name."""
    for name in sorted(here.distributions):
        if _FAMILY.fullmatch(name):
            yield here.distributions[name]


def build_of(name: str, version: str, file: Path) -> Build:
    """What a package was built for, by its ``version.py``, which is read and never run.

    Of torch itself the file names CUDA, HIP or XPU, or none of them; a companion's names only the
    version with its local part.
    """
    try:
        text = read_bytes(file, MOST_SOURCE_BYTES).decode("utf-8", "replace")
    except OSError:
        text = ""
    stated = _VERSION.search(text)
    version = stated[1] if stated else version
    for variable, number in _STATED.findall(text) if name == "torch" else ():
        return Build(version, _KINDS[variable], ".".join(number.split(".")[:2]))
    by_local = _by_local(version)
    if by_local.kind:
        return by_local
    return Build(version, "cpu") if name == "torch" and text else by_local


def _by_local(version: str) -> Build:
    for pattern, kind in _LOCAL:
        if match := pattern.match(local(version)):
            return Build(version, kind, ".".join(group for group in match.groups() if group))
    return Build(version, "")


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
        for_ = f"for {names[build.kind]}"
        said.append(Sentence(f"{for_} {{version}}" if build.number else for_, version=build.number))
    found = here.imports.get(name.replace("-", "_"))
    if found:
        loaded = found.outcome is Outcome.LOADED
        said.append(Sentence("imports" if loaded else f"import {found.outcome}"))
    return chained(said, ", ")
