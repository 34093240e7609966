"""Which installed packages belong to the torch family, and what they were built for."""

import re
from collections.abc import Iterator
from pathlib import Path

from opcheck.commands.doctor.installation import Build, Distribution, Installation
from opcheck.commands.doctor.versions import local
from opcheck.files import MOST_SOURCE_BYTES, read_bytes

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
