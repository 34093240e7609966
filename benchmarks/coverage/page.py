"""``docs/coverage.md``: how many of the checks in vendors' kernels conditions rest on."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct, convert

CHECKS = Path(__file__).with_name("checks")
_READ = Path(__file__).with_name("read")
_APPLE = Path(__file__).with_name("apple.yaml")
_APPLE_RELEASE, _APPLE_CODE = "2.15.0", "texts of the macOS wheels of 2.0.1 to 2.15.0"
_HEAD = """\
# Coverage

Written by `python -m benchmarks.coverage` (`make coverage`); do not edit.

A registered kernel may still refuse a call: its code checks dtypes, sizes, layouts and values.
This page counts those checks (`TORCH_CHECK`, `AT_ERROR`, `AT_DISPATCH_…`, `XLA_CHECK` and the
like) in the code of each vendor whose kernels are public, at the commit of the newest release
that could be had, and what the database makes of them, so that the next import can be chosen by
what it would settle. NVIDIA's and AMD's kernels are PyTorch's own, of which 2.9.1 was read whole;
which checks newer releases have is known by the texts in the wheel of 2.14.1, and which dtypes a
newer kernel takes only where PyTorch's tests say it or that wheel was run.

* *as on the host*: the host refuses the same call, so that no condition is wanted: PyTorch's
  library for the CPU has the same text, or reading found the same check in other words.
* *internal*: read; no call of a model fails it: an assertion of the kernel about itself, a failed
  allocation, an operator that only the vendor's own libraries call.
* *expressed*: a condition in `compat_db` cites these lines, or one from another source (a test, a
  document) is about the same quantity of the same operator.
* *not expressible*: read, and no condition can say it; the causes are below.
* *unread*: nobody has compared them with the database yet. Until then, a green answer for these
  kernels rests on their registration, on what the vendor documents, and on what users have met.
* *share*: expressed, of what is neither internal nor as on the host.

Which is which stands in `benchmarks/coverage/read/`, line by line. Of MPS, the texts that the
macOS wheels of all releases carry are counted (`benchmarks/coverage/apple.yaml`).

Checks in the functions of private operators (`npu_…`) are left out of the figures; shared
functions and internal assertions stand in the same files and are counted with the rest.
"""
_TABLE = """\
| vendor | release | code | files | checks | as on the host | internal | expressed \
| not expressible | unread | share |
| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"""
_FILES_TABLE = """\
| file | checks | as on the host | internal | expressed | not expressible | unread |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |"""
_MOST = 10
"""Files that are listed of each vendor."""


class Counted(Struct, frozen=True):
    """What became of the checks of some code."""

    found: int
    host: int
    internal: int
    expressed: int
    inexpressible: int

    @property
    def unread(self) -> int:
        """Those that are none of the others."""
        return self.found - self.host - self.internal - self.expressed - self.inexpressible

    @property
    def share(self) -> float | None:
        """Expressed, of those that a model's call on the device alone may meet."""
        own = self.found - self.host - self.internal
        return self.expressed / own if own else None


class Read(Struct, frozen=True, forbid_unknown_fields=True):
    """What reading the checks of one vendor found, by file; a check is named by its first line."""

    same: Mapping[str, tuple[int, ...]] = {}
    """The host refuses the same calls, in other words."""
    internal: Mapping[str, tuple[int, ...]] = {}
    """No call of a model fails them."""
    covered: Mapping[str, Mapping[int, str]] = {}
    """A condition from another source is about the same: ``aten::roll dtype``."""
    inexpressible: Mapping[str, Mapping[int, str]] = {}
    """No condition can say it; why."""
    beside: str = ""
    """Another file of the folder, of code that is this vendor's too."""


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
            sum(each.internal for each in every),
            sum(each.expressed for each in every),
            sum(each.inexpressible for each in every),
        )


def vendors(database: Path) -> Iterator[Vendor]:
    """Every vendor whose checks were counted, compared with the files of the database."""
    for path in sorted(CHECKS.glob("*.yaml")):
        said = _load(path)
        matrix = _load(database / path.stem / f"{said['release']}.yaml")
        read = read_of(path.stem)
        _prove(read, matrix, path.stem)
        lines = cited(matrix, said["repo"], said["commit"])
        yield counted(path.stem, said, lines, read)
    yield apple()


def read_of(vendor: str) -> Read:
    """What reading the checks of a vendor found."""
    path = _READ / f"{vendor}.yaml"
    read = convert(_load(path) or {}, Read) if path.exists() else Read()
    return _joined(read, read_of(read.beside)) if read.beside else read


def _joined(one: Read, other: Read) -> Read:
    """What both found; no line stands in both."""
    return Read(
        _lines(one.same, other.same),
        _lines(one.internal, other.internal),
        _named(one.covered, other.covered),
        _named(one.inexpressible, other.inexpressible),
    )


def _lines(
    one: Mapping[str, tuple[int, ...]], other: Mapping[str, tuple[int, ...]]
) -> Mapping[str, tuple[int, ...]]:
    return {path: one.get(path, ()) + other.get(path, ()) for path in {**one, **other}}


def _named(
    one: Mapping[str, Mapping[int, str]], other: Mapping[str, Mapping[int, str]]
) -> Mapping[str, Mapping[int, str]]:
    return {path: {**one.get(path, {}), **other.get(path, {})} for path in {**one, **other}}


def _prove(read: Read, matrix: Mapping[str, Any], vendor: str) -> None:
    """A condition that is named for a check is there."""
    known = {
        f"{op} {subject}"
        for condition in matrix.get("conditions", ())
        for op in condition["ops"]
        for subject in _subjects(condition)
    }
    for path, named in read.covered.items():
        for line, condition in named.items():
            if condition not in known:
                raise ValueError(f"{vendor}, {path}:{line}: there is no condition {condition!r}")


def _subjects(condition: Mapping[str, Any]) -> Iterator[str]:
    """What a condition is about: quantities of arguments, some chips, or every call."""
    yield from (test["subject"] for test in condition.get("tests", ()))
    if "chips" in condition:
        yield "chips"
    elif not condition.get("tests"):
        yield "always"


def apple() -> Vendor:
    """MPS, whose checks were counted by their texts in the wheels, and read one by one."""
    said = _load(_APPLE)
    files = {
        path: Counted(
            each["found"], each["same"], each["internal"], each["expressed"], each["inexpressible"]
        )
        for path, each in said["counts"].items()
    }
    causes = Counter(each["reason"] for each in said["inexpressible"])
    return Vendor("apple", _APPLE_RELEASE, _APPLE_CODE, files, causes)


def counted(
    name: str, said: Mapping[str, Any], cited: Mapping[str, set[int]], read: Read
) -> Vendor:
    """Compare the checks of one vendor with the lines that conditions cite, by file."""
    files = {}
    causes: Counter[str] = Counter()
    for path, lines in said["files"].items():
        own, host = (list(map(_span, lines.get(kind, ()))) for kind in ("own", "host"))
        quoted = cited.get(path, set())
        known = {span for span in (*own, *host) if quoted.intersection(span)}
        known |= {span for span in own if span[0] in read.covered.get(path, ())}
        left = [span[0] for span in own if span not in known]
        same = [line for line in left if line in read.same.get(path, ())]
        internal = [line for line in left if line in read.internal.get(path, ())]
        reasons = [read.inexpressible.get(path, {}).get(line) for line in left]
        why = [reason for reason in reasons if reason]
        causes.update(why)
        files[path] = Counted(
            len(own) + len(host), sum(span not in known for span in host) + len(same),
            len(internal), len(known), len(why),
        )  # fmt: skip
    commit = said["commit"][:7]
    return Vendor(name, said["release"], f"{said['repo']}@{commit}", files, causes)


def cited(matrix: Mapping[str, Any], repository: str, commit: str) -> dict[str, set[int]]:
    """File of a repository -> the lines of it, at a commit, that conditions of a release cite."""
    found: dict[str, set[int]] = {}
    for condition in matrix.get("conditions", ()):
        for at in condition.get("at", ()):
            name, _, place = at.partition(":")
            path, _, line = place.rpartition(":")
            source = matrix["sources"][name]
            same = (source["repo"], source.get("commit")) == (repository, commit)
            if same and line.isdigit() and path:
                found.setdefault(_within(source, path), set()).add(int(line))
    return found


def _within(source: Mapping[str, str], path: str) -> str:
    """A file as its repository names it; of a source that is a folder, it is named from there."""
    folder = source.get("path", "")
    return f"{folder}{path}" if folder.endswith("/") else path


def page(found: Iterable[Vendor]) -> str:
    """The text of the page."""
    every = list(found)
    rows = [
        f"| {vendor.name} | {vendor.release} | `{vendor.code}` | {len(vendor.files)} "
        f"| {_figures(vendor.whole)} | {_share(vendor.whole)} |"
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
    parts += [
        "| file | checks | as on the host | internal | expressed | not expressible | unread |"
    ]
    parts += ["| --- | ---: | ---: | ---: | ---: | ---: | ---: |", *rows, ""]
    if vendor.causes:
        parts += ["| why not expressible | checks |", "| --- | ---: |"]
        parts += [f"| {cause} | {many} |" for cause, many in sorted(vendor.causes.items())]
        parts += [""]
    return parts


def _figures(counted: Counted) -> str:
    figures = (
        counted.found, counted.host, counted.internal, counted.expressed, counted.inexpressible,
        counted.unread,
    )  # fmt: skip
    return " | ".join(f"{figure:,}" for figure in figures)


def _share(counted: Counted) -> str:
    return "—" if counted.share is None else f"{counted.share:.0%}"


def _span(lines: int | str) -> range:
    first, _, last = str(lines).partition("-")
    return range(int(first), int(last or first) + 1)


def _load(path: Path) -> Any:
    return yaml.load(path.read_bytes(), yaml.CSafeLoader)
