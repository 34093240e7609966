"""Intel GPUs: what PyTorch and torch-xpu-ops, which it is built with, register under XPU."""

import csv
import gzip
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from opcheck.db.importers.base import Importer, ReleaseFile, VendorFile, load_yaml, source_files
from opcheck.db.importers.shared import cuda, host_kernels, in_tree, operator_list
from opcheck.db.importers.shared import facts as stated
from opcheck.db.versions import major_minor, nearest_not_newer, version_key
from opcheck.errors import DatabaseError
from opcheck.lang.sentence import Sentence

_FOLDER = "intel-xpu"
_KEY = "XPU"
_DATA = Path(__file__).with_name("intel_code.yaml")
_CHECKS = Path(__file__).with_name("intel_checks.yaml")
_TESTS = Path(__file__).with_name("intel_tests.yaml")
_TESTS_PATH = "test/xpu/xpu_test_utils.py"
_ISSUES_SKIP_SINCE = "2.10"
"""From here on, tests are skipped by open issues as well."""
_OLDEST = "2.4"
_IN_TREE_SINCE = "2.14"
"""The first torch whose own list holds every XPU key."""
_FLAT = re.compile(r"xpu_functions@([\d.]+)\.yaml")
_DECLARED = re.compile(r"native_functions\.xpu@([\d.]+)\.yaml\.gz")
_DECLARED_SINCE = "2.6"
"""From here on the flat list is stale, and the list of declarations counts."""
_NAME = re.compile(r"  - (?P<name>[\w.]+)\s*(?:#.*)?")
_HOST = "cpu_fallback"
_LIMITS = ("float64", "allocation")
"""What chips lack for every operator."""


class IntelImporter(Importer):
    """Unites the lists of PyTorch and of torch-xpu-ops, and adds what always runs on the CPU."""

    name = "intel"

    def releases(self, sources: Path) -> tuple[str, ...]:
        """Torch releases from the first that XPU is part of."""
        listed = in_tree.releases(sources / "pytorch")
        return tuple(r for r in listed if version_key(major_minor(r)) >= version_key(_OLDEST))

    def run(self, sources: Path, release: str) -> str:
        """Give the text of the matrix file of one release."""
        known = self.releases(sources)
        if release not in known:
            raise DatabaseError(
                Sentence("{text} has no torch release {version}", text=self.name, version=release),
                Sentence("known releases: {list}", list=", ".join(known) or "none"),
            )
        return _release(sources, release).text()

    def common(self, sources: Path) -> Mapping[str, str]:
        """Give ``vendor.yaml``."""
        return {"vendor.yaml": _vendor(sources, self.releases(sources)).text()}


def flat_list(text: str) -> dict[str, int]:
    """Name -> line, 1-based, of a list that only names its operators."""
    found = (_NAME.fullmatch(line) for line in text.splitlines())
    return {match["name"]: number for number, match in enumerate(found, 1) if match}


def listed(sources: Path, release: str) -> dict[str, dict[str, Any]]:
    """Overload -> entry, of the lists of PyTorch and of torch-xpu-ops."""
    own = in_tree.declared(sources / "pytorch", release)
    found = {
        f"aten::{name}": {"at": f"torch:{kernel.line}", "impl": [kernel.name]}
        for name, kernel in in_tree.on_device(own, _KEY).items()
    }
    file = _list_file(sources / _FOLDER, release)
    if _FLAT.fullmatch(file):
        lines = flat_list((sources / _FOLDER / file).read_text(encoding="utf-8"))
        return found | {f"aten::{name}": {"at": f"ops:{line}"} for name, line in lines.items()}
    if file:
        declared = in_tree.read_list(gzip.decompress((sources / _FOLDER / file).read_bytes()))
        found |= {
            f"aten::{name}": {"at": f"ops:{kernel.line}", "impl": [kernel.name]}
            for name, kernel in in_tree.registered(declared, _KEY).items()
        }
    return found


def host_only(sources: Path, release: str) -> tuple[str, ...]:
    """Overloads that torch-xpu-ops registers the CPU for, by the list of the nearest release."""
    with (sources / _FOLDER / "xpu-cpu-fallback-matrix.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    columns = tuple(column for column in rows[0] if column != "aten_op")
    column = nearest_not_newer(major_minor(release), columns)
    return tuple(f"aten::{row['aten_op']}" for row in rows if row[column])


def registered(sources: Path, release: str) -> dict[str, dict[str, Any]]:
    """Overload -> entry, for one release."""
    code = _code()
    found = _matmul(sources, release) | listed(sources, release)
    for op, source in code["in_torch"].items():
        found[op] = {"at": source, "impl": ["manual"]}
    for op, seen in code["registrations"].items():
        if at := stated.citation(seen, release, "code"):
            found[op] = {"at": at, "impl": ["manual"]}
    branch = _branch(sources / _FOLDER, release)
    at, how = f"code:{branch['fallback_path']}", _seen(sources, release)
    for op in host_only(sources, release):
        found.setdefault(op, {"at": at, "impl": [_HOST], **how})
    for op, where in branch["torchvision"].items():
        line = code["torchvision"][op][_version(branch)]
        impl = ["manual" if where == "native" else _HOST]
        found[op] = {"at": f"{at}:{line}", "impl": impl, **how}
    known = operator_list.functions(sources / "pytorch", major_minor(release))
    return {op: said for op, said in found.items() if _known(op, known)}


def _known(op: str, known: Mapping[str, operator_list.Function]) -> bool:
    return not op.startswith("aten::") or op.removeprefix("aten::") in known


def _matmul(sources: Path, release: str) -> dict[str, dict[str, Any]]:
    """Matrix products of the releases that register them in C++, by the first list with them."""
    said = _code()["matmul"]
    if release not in said["releases"]:
        return {}
    kernels = in_tree.kernels(sources / "pytorch", said["first"], _KEY)
    return {
        f"aten::{name}": {"at": f"later:{kernel.line}", "impl": ["manual"], "method": "inferred"}
        for name, kernel in kernels.items()
    }


def _seen(sources: Path, release: str) -> dict[str, str]:
    """How an entry is known that the branch of a release states, or of the nearest before it."""
    own = major_minor(release) in _branches(sources / _FOLDER)
    return {} if own else {"method": "inferred"}


def _release(sources: Path, release: str) -> ReleaseFile:
    operators = registered(sources, release)
    conditions = tuple(_conditions(sources, release, operators))
    cited = [at for said in conditions for at in said["at"]]
    return ReleaseFile(
        vendor=IntelImporter.name,
        release=release,
        about=f"Operators that torch {release} and its torch-xpu-ops register under {_KEY}",
        torch=(major_minor(release),),
        sources=_sources(sources, release, [*cited, *(said["at"] for said in operators.values())]),
        operators=operators,
        conditions=conditions,
        key=_KEY,
    )


def _conditions(
    sources: Path, release: str, operators: Mapping[str, Mapping[str, Any]]
) -> Iterator[dict[str, Any]]:
    """What always runs on the CPU, what kernels refuse, and what a chip lacks for all of them."""
    code = _code()
    on_host = [op for op, said in operators.items() if said.get("impl") == [_HOST]]
    sure = {"confidence": "high", "method": "registered"}
    unsure = {"confidence": "low", "method": "inferred"}
    branch = _branch(sources / _FOLDER, release)
    how = unsure if _seen(sources, release) else sure
    at = f"code:{branch['fallback_path']}"
    yield {"ops": on_host, **code["computed_on_host"], **how, "at": [at]}
    yield from host_kernels.conditions(sources, release, on_host, ("torch", "tests"))
    if tests := tests_of(release):
        yield from cuda.dtype_conditions(sources, release, _tested(release), tests)
    natively = [op for op in operators if op not in on_host]
    refused = [*map(_dtypes, code["torchvision_dtypes"]), *load_yaml(_CHECKS)["facts"]]
    facts = [{**fact, **how} for fact in refused]
    yield from stated.conditions(facts, _version(branch), "code", natively)
    if version_key(release) >= version_key(code["chips"]["arc"]["since"]):
        for name in _LIMITS:
            limit = {key: value for key, value in code[name].items() if key != "cases"}
            yield from ({"ops": ["*"], **limit, "tests": tests} for tests in code[name]["cases"])


def tests_of(release: str) -> cuda.Tests | None:
    """What the tests of the branch of a release say, or of the nearest before it."""
    if (version := _tests_version(release)) is None:
        return None
    branches: Mapping[str, Mapping[str, Any]] = load_yaml(_TESTS)["branches"]
    said = branches[version]
    before = [v for v in branches if version_key(v) < version_key(_ISSUES_SKIP_SINCE)]
    skipped = said["skipped"] if version in before else [
        *said["skipped"], *branches[before[-1]]["skipped"]
    ]  # fmt: skip
    return cuda.Tests(
        device=_KEY,
        alone=frozenset(said.get("alone", ())),
        skipped=frozenset(skipped),
        more={name: frozenset(more["dtypes"]) for name, more in said.get("more", {}).items()},
        at=(f"xpu-tests:{said['rule']}",),
    )


def _tests_version(release: str) -> str | None:
    """The torch version whose branch of torch-xpu-ops is taken; None before the first."""
    known = load_yaml(_TESTS)["branches"]
    torch = major_minor(release)
    older = any(version_key(version) <= version_key(torch) for version in known)
    return nearest_not_newer(torch, tuple(known)) if older else None


def _tested(release: str) -> Mapping[str, str]:
    """How sure the tests of a release are."""
    version = _tests_version(release)
    if version != major_minor(release):
        return {"confidence": "low", "method": "inferred"}
    by_issues = version_key(version) >= version_key(_ISSUES_SKIP_SINCE)
    return {"confidence": "medium" if by_issues else "high", "method": "tested"}


def _dtypes(said: Mapping[str, Any]) -> dict[str, Any]:
    """The fact that a kernel is not made for other dtypes than those said."""
    return {
        "ops": said["ops"],
        "code": "dtype-not-supported",
        "verdict": "unsupported",
        "text": "{argument} is {actual}: torch-xpu-ops raises "
        f"""'"{said["kernel"]}" not implemented for'""",
        "tests": [
            {"subject": "dtype", "argument": said["argument"], "none_of": said["dtypes"]},
        ],
        "seen": said["seen"],
    }


def _sources(sources: Path, release: str, at: Iterable[str]) -> dict[str, Any]:
    code, torch = _code(), sources / "pytorch"
    branch = _branch(sources / _FOLDER, release)
    used: dict[str, Any] = {
        "torch": in_tree.list_source(torch, release),
        "code": {
            "repo": "intel/torch-xpu-ops", "ref": branch["branch"], "commit": branch["commit"],
            "path": branch["fallback_path"], "date": branch["date"],
        },
        "tests": {**in_tree.list_source(torch, release), "path": cuda.PATH},
        "later": in_tree.list_source(torch, code["matmul"]["first"]),
        "xpu-tests": _tests_source(release),
        **code["sources"],
    }  # fmt: skip
    if file := _list_file(sources / _FOLDER, release):
        used["ops"] = source_files(sources / _FOLDER)[file].as_data()
        if major_minor(release) not in file.partition("@")[2]:
            used["ops"]["note"] = f"of the release before {release}, whose own was not at hand"
    limits = (place for name in _LIMITS for place in code[name]["at"])
    cited = {place.partition(":")[0] for place in at}.union(limits)
    return {name: used[name] for name in sorted(cited)}


def _tests_source(release: str) -> dict[str, str]:
    version = _tests_version(release)
    if version is None:
        return {}
    branch = load_yaml(_TESTS)["branches"][version]
    return {
        "repo": "intel/torch-xpu-ops", "ref": f"release/{version}", "commit": branch["commit"],
        "path": _TESTS_PATH, "date": branch["date"],
    }  # fmt: skip


def _list_file(folder: Path, release: str) -> str:
    """The list of torch-xpu-ops for a release, or of the nearest before it; "" if it has none."""
    torch = major_minor(release)
    if version_key(torch) >= version_key(_IN_TREE_SINCE):
        return ""
    declared = version_key(torch) >= version_key(_DECLARED_SINCE)
    pattern = _DECLARED if declared else _FLAT
    found = {m[1]: m[0] for path in folder.iterdir() if (m := pattern.fullmatch(path.name))}
    return found[nearest_not_newer(torch, tuple(found))]


@cache
def _branches(folder: Path) -> Mapping[str, Mapping[str, Any]]:
    """By torch version: what was read of the branch of torch-xpu-ops that it is built with."""
    said = load_yaml(folder / "xpu-release-summary.yaml")
    return {_version(branch): branch for branch in said}


def _branch(folder: Path, release: str) -> Mapping[str, Any]:
    branches = _branches(folder)
    return branches[nearest_not_newer(major_minor(release), tuple(branches))]


def _version(branch: Mapping[str, Any]) -> str:
    """The torch version whose branch of torch-xpu-ops that is."""
    return str(branch["branch"]).removeprefix("release/")


def _vendor(sources: Path, releases: Iterable[str]) -> VendorFile:
    code, torch = _code(), sources / "pytorch"
    cited = {at.partition(":")[0] for chip in code["chips"].values() for at in chip["at"]}
    return VendorFile(
        vendor=IntelImporter.name,
        name="Intel GPU (torch.xpu)",
        device_type="xpu",
        dispatch_key=_KEY,
        sources={
            **{name: code["sources"][name] for name in (*sorted(cited), "fallback")},
            **{f"v{release}": in_tree.list_source(torch, release) for release in releases},
        },
        chips=code["chips"],
        fallback=code["fallback"],
        pairing=tuple(_pairs(sources / _FOLDER, releases)),
        notes=tuple(code["notes"]),
    )


def _pairs(folder: Path, releases: Iterable[str]) -> Iterator[dict[str, Any]]:
    for release in releases:
        branch = _branches(folder).get(major_minor(release))
        packages = {"packages": {"torch-xpu-ops": branch["branch"]}} if branch else {}
        yield {"torch": release, "release": release, **packages, "at": f"v{release}"}


@cache
def _code() -> Mapping[str, Any]:
    data: Mapping[str, Any] = load_yaml(_DATA)
    return data
