"""Where an interpreter, its packages and a machine's own facts lie: what any worker reads."""

import os
import re
import site
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

SYSTEM = (
    "/usr", "/lib", "/lib64", "/lib32", "/bin", "/sbin", "/nix/store", "/etc/ld.so.cache",
    "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld.so.preload", "/etc/alternatives",
    "/etc/localtime", "/etc/timezone", "/etc/passwd", "/etc/group", "/etc/nsswitch.conf",
    "/etc/os-release", "/etc/mime.types", "/etc/fonts", "/etc/machine-id", "/proc",
    "/sys/devices", "/sys/fs/cgroup", "/sys/kernel/mm", "/sys/class", "/sys/bus",
    "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom",
)  # fmt: skip
"""Libraries, and what a C library, Python or torch asks of a machine; no keys, no passwords."""
DEVICES = ("/dev/null", "/dev/zero", "/dev/full")
"""What may be written to: nothing is kept."""
_LOADER = re.compile(r"(/\S+/ld[-.]\S*)$", re.MULTILINE)
"""What loads programs, among the files that this process has mapped."""
_ROOT = Path(__file__).resolve().parents[3]
MOST_ENTRIES = 512
"""Of a project's folder: where there are more, only what holds code is read, since each costs."""
_MOST_LOOKED_AT = 20_000
_WEIGHTS = (".safetensors", ".gguf", ".bin", ".pt", ".pth")


def interpreter() -> Iterator[Path]:
    """The interpreter and the packages that it imports from, opcheck among them."""
    for folder in (sys.prefix, sys.base_prefix, sys.exec_prefix, *_libraries()):
        path = Path(folder)
        if path.is_absolute() and path.parent != path:
            yield path
    program = Path(sys.executable)
    yield from (program.parent, program.resolve().parent)
    yield _ROOT / "opcheck"
    yield _ROOT / "compat_db"


def listed() -> tuple[str, ...]:
    """Folders whose names alone are read: where packages are looked for."""
    return existing((_ROOT, *filter(os.path.isabs, sys.path)))


def _libraries() -> Iterator[str]:
    """Folders of packages on the path, and of shared libraries."""
    for entry in sys.path:
        if entry.endswith((".zip", "site-packages", "dist-packages", "lib-dynload")):
            yield entry
    if site.ENABLE_USER_SITE and site.USER_SITE:
        yield site.USER_SITE
    yield from filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep))


def programs() -> Iterator[Path]:
    """What has to be executable for this interpreter to be started."""
    yield Path(sys.executable).resolve()
    maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace")
    for loader in set(_LOADER.findall(maps)):
        yield Path(loader)


_LISTED: dict[Path, tuple[str, ...]] = {}
"""What lay in folders when this process could list them; confined, it can no more."""


def _names(folder: Path) -> tuple[str, ...]:
    """The names in a folder, or those that were there before this process was confined."""
    folder = Path(os.path.realpath(folder))
    try:
        with os.scandir(folder) as entries:
            names = tuple(entry.name for entry in islice(entries, _MOST_LOOKED_AT))
    except PermissionError:
        return _LISTED.get(folder, ())
    except OSError:
        return ()
    _LISTED[folder] = names
    return names


def configs_beside(path: Path) -> tuple[Path, ...]:
    """The JSON files beside a config, or beside a file of weights that has one."""
    if path.suffix != ".json" and path.suffix not in _WEIGHTS:
        return ()
    names = sorted(name for name in _names(path.parent) if name.endswith(".json"))
    found = path.suffix == ".json" or (path.is_file() and "config.json" in names)
    return tuple(path.parent / name for name in names) if found else ()


def project(folder: Path) -> Iterator[Path]:
    """What lies in a project's folder, but for names that begin with a dot.

    Nothing where it is no project: the root, or a folder that the user's home is in.
    """
    folder, home = folder.resolve(), Path.home().resolve()
    if folder == Path("/") or folder in home.parents:
        return
    shown = [folder / name for name in _names(folder) if not name.startswith(".")]
    if len(shown) > MOST_ENTRIES:
        shown = [path for path in shown if path.suffix == ".py" or path.is_dir()][:MOST_ENTRIES]
    yield from sorted(shown)


def existing(places: Iterable[str | Path]) -> tuple[str, ...]:
    """Those that are there, in full and each once; a link stands for what it leads to."""
    return tuple(dict.fromkeys(os.path.abspath(p) for p in places if _exists(p)))


def _exists(place: str | Path) -> bool:
    try:
        return os.path.exists(place)
    except ValueError:  # a NUL in the name
        return False
