"""``docs/coverage.md``: how many of the checks in vendors' kernels conditions rest on."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct

CHECKS = Path(__file__).with_name("checks")
_READ = Path(__file__).with_name("read.yaml")
_APPLE = Path(__file__).with_name("apple.yaml")
_APPLE_RELEASE, _APPLE_CODE = "2.15.0", "texts of the macOS wheels of 2.0.1 to 2.15.0"
_HEAD = """\
# Coverage

Written by `python -m benchmarks.coverage` (`make coverage`); do not edit.

A registered kernel may still refuse a call: its code checks dtypes, sizes, layouts and values.
This page counts those checks (`TORCH_CHECK`, `AT_ERROR`, `AT_DISPATCH_…`, `XLA_CHECK` and the
like) in the code of each vendor whose kernels are public, at the commit of the newest release,
and what the database makes of them, so that the next import can be chosen by what it would
settle.

* *as on the host*: PyTorch's library for the CPU has the same text, so that the host refuses the
  call too, and no condition is wanted.
* *expressed*: a condition in `compat_db` cites these lines.
* *not expressible*: read, and no condition can say it; the causes are below.
* *unread*: nobody has held them against the database yet. Until then, a green answer for these
  kernels rests on their registration, on what the vendor documents, and on what users have met.

Of MPS, the texts that the macOS wheels of all releases carry are counted, and internal checks
count as the host's (`benchmarks/coverage/apple.yaml` has each that cannot be expressed).

Checks in the functions of private operators (`npu_…`) are left out of the figures; shared
functions and internal assertions stand in the same files and are counted with the rest.
"""
_TABLE = """\
| vendor | release | code | files | checks | as on the host | expressed | not expressible | unread |
| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |"""
_MOST = 10
"""Files that are listed of each vendor."""


class Counted(Struct, frozen=True):
    """What became of the checks of some code."""

    found: int
    host: int
    expressed: int
    inexpressible: int

    @property
    def unread(self) -> int:
        """Those that are none of the others."""
        return self.found - self.host - self.expressed - self.inexpressible


class Vendor(Struct, frozen=True):
    """One vendor's code, and what became of its checks, by file."""

    name: str
    release: str
    code: str
    """Repository and commit."""
    files: Mapping[str, Counted]
    causes: Mapping[str, int]
    """Why checks that were read cannot be expressed."""

    @property
    def whole(self) -> Counted:
        """All files together."""
        every = self.files.values()
        return Counted(
            sum(each.found for each in every),
            sum(each.host for each in every),
            sum(each.expressed for each in every),
            sum(each.inexpressible for each in every),
        )


def vendors(database: Path) -> Iterator[Vendor]:
    """Every vendor whose checks were counted, held against the files of the database."""
    read: Mapping[str, Any] = _load(_READ) or {}
    for path in sorted(CHECKS.glob("*.yaml")):
        said = _load(path)
        matrix = _load(database / path.stem / f"{said['release']}.yaml")
        yield counted(path.stem, said, cited(matrix, said["repo"]), read.get(path.stem, {}))
    yield apple()


def apple() -> Vendor:
    """MPS, whose checks were counted by their texts in the wheels, and read one by one."""
    said = _load(_APPLE)
    files = {
        path: Counted(each["found"], each["same"] + each["internal"], each["expressed"],
                      each["inexpressible"])
        for path, each in said["counts"].items()
    }  # fmt: skip
    causes = Counter(each["reason"] for each in said["inexpressible"])
    return Vendor("apple", _APPLE_RELEASE, _APPLE_CODE, files, causes)


def counted(
    name: str, said: Mapping[str, Any], cited: Mapping[str, set[int]], read: Mapping[str, Any]
) -> Vendor:
    """Hold the checks of one vendor against the lines that conditions cite, by file.

    ``read``: file -> line on which a check begins -> why no condition can express it.
    """
    files = {}
    causes: Counter[str] = Counter()
    for path, lines in said["files"].items():
        own, host = (list(map(_span, lines.get(kind, ()))) for kind in ("own", "host"))
        known = {span for span in (*own, *host) if cited.get(path, set()).intersection(span)}
        reasons = [read.get(path, {}).get(span[0]) for span in own if span not in known]
        why = [reason for reason in reasons if reason]
        causes.update(why)
        files[path] = Counted(
            len(own) + len(host), sum(span not in known for span in host), len(known), len(why)
        )
    commit = said["commit"][:7]
    return Vendor(name, said["release"], f"{said['repo']}@{commit}", files, causes)


def cited(matrix: Mapping[str, Any], repository: str) -> dict[str, set[int]]:
    """File of a repository -> the lines of it that conditions of a release cite."""
    found: dict[str, set[int]] = {}
    for condition in matrix.get("conditions", ()):
        for at in condition.get("at", ()):
            source, _, place = at.partition(":")
            path, _, line = place.rpartition(":")
            if matrix["sources"][source]["repo"] == repository and line.isdigit() and path:
                found.setdefault(path, set()).add(int(line))
    return found


def page(found: Iterable[Vendor]) -> str:
    """The text of the page."""
    every = list(found)
    rows = [
        f"| {vendor.name} | {vendor.release} | `{vendor.code}` | {len(vendor.files)} "
        f"| {_figures(vendor.whole)} |"
        for vendor in every
    ]
    parts = [_HEAD, "\n".join([_TABLE, *rows]), ""]
    for vendor in every:
        parts += _files(vendor)
    return "\n".join(parts)


def _files(vendor: Vendor) -> list[str]:
    """A section with the files that have the most to be read, and the causes."""
    most = sorted(vendor.files.items(), key=lambda item: (-item[1].unread, item[0]))[:_MOST]
    rows = [f"| `{path}` | {_figures(each)} |" for path, each in most if each.unread]
    parts = [f"## {vendor.name}", "", "The files with the most that is unread:", ""]
    parts += ["| file | checks | as on the host | expressed | not expressible | unread |"]
    parts += ["| --- | ---: | ---: | ---: | ---: | ---: |", *rows, ""]
    if vendor.causes:
        parts += ["| why not expressible | checks |", "| --- | ---: |"]
        parts += [f"| {cause} | {many} |" for cause, many in sorted(vendor.causes.items())]
        parts += [""]
    return parts


def _figures(counted: Counted) -> str:
    figures = (counted.found, counted.host, counted.expressed, counted.inexpressible)
    return " | ".join(f"{figure:,}" for figure in (*figures, counted.unread))


def _span(lines: int | str) -> range:
    first, _, last = str(lines).partition("-")
    return range(int(first), int(last or first) + 1)


def _load(path: Path) -> Any:
    return yaml.load(path.read_bytes(), yaml.CSafeLoader)
