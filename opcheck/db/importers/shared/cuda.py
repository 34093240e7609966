"""What vendors share whose kernels PyTorch registers under CUDA - lists, and OpInfo's dtypes."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from msgspec import Struct

from opcheck.db.importers.base import ReleaseFile, VendorFile, load_yaml
from opcheck.db.importers.shared import (
    in_tree,
    operator_list,
    refused_dtypes,
    torchvision_kernels,
)
from opcheck.db.importers.shared import in_tree as in_tree_facts
from opcheck.db.importers.shared.in_tree import TORCH
from opcheck.db.importers.shared.operator_list import Function
from opcheck.db.versions import major_minor, version_key
from opcheck.errors import DatabaseError
from opcheck.lang.sentence import Sentence

LIST = "opinfo_dtypes@torch-2.13.0.yaml"
TESTED = "2.13.0"
"""The torch release whose tests the list was taken from."""
PATH = "torch/testing/_internal/common_methods_invocations.py"
_CHANGED = Path(__file__).with_name("in_tree_dtypes.yaml")
_FACTS = Path(__file__).with_name("cuda_facts.yaml")
_CHECKS = Path(__file__).with_name("cuda_checks.yaml")
_INFERRED = {"confidence": "low", "method": "inferred"}
_HALF = frozenset({"float16", "bfloat16"})
_UNTESTED = frozenset({"complex32"})
"""Tested only where the list has it, so that its absence says nothing."""
_MODULES = re.compile(r"(nn\.functional|torch\.ops\.aten)\.")
_DOTTED = re.compile(r"(special|linalg|fft)\.")
_BRANCHES = frozenset({"einsum", "inner", "linalg_matrix_power", "lu_unpack"})
"""Operators that take any dtype on some way: nothing is summed, or the tests ask for more."""
_ANOTHER_WAY = frozenset({"median", "nanmedian"})
"""Overloads that sort, where the others of that operator, and their tests, call one kernel."""
_TEXT = (
    "{argument} is {actual}, which PyTorch's own tests of this operator leave out for DEVICE "
    "(they list DTYPES): a dtype left out must fail there"
)


class Gap(Struct, frozen=True):
    """Dtypes that one operator does not take on a device."""

    denied: frozenset[str]
    listed: frozenset[str]


class Tests(Struct, frozen=True):
    """Who runs PyTorch's tests of operators with CUDA's dtypes, and what is otherwise there."""

    device: str = "CUDA"
    alone: frozenset[str] = frozenset()
    """The only tests with these dtypes, as PyTorch names them; empty where all have them."""
    skipped: frozenset[str] = frozenset()
    """Tests that do not run, by their names with underscores."""
    more: Mapping[str, frozenset[str]] = {}
    """By test: dtypes that work beside CUDA's."""
    at: tuple[str, ...] = ()
    """What is cited beside the tests themselves."""

    def dtypes(self, test: Mapping[str, Any]) -> frozenset[str] | None:
        """What one test lists for the device; None where it says nothing."""
        name = test["op"].partition("|")[0]
        if (self.alone and name not in self.alone) or _flat(test["op"]) in self.skipped:
            return None
        return frozenset(test["cuda"]) | self.more.get(name, frozenset())


_CUDA = Tests()


def dtype_conditions(
    sources: Path, release: str, tested: Mapping[str, str], tests: Tests = _CUDA
) -> Iterator[dict[str, Any]]:
    """Conditions of one torch release; ``tested`` is their method and confidence.

    They cite ``torch`` for that release's own tests, ``tests`` for those of ``TESTED``. An operator
    without tests in an older release is inferred to have taken no more then; in a newer one it may
    take more, and nothing is said of it.
    """
    functions = operator_list.functions(sources / "pytorch", major_minor(release))
    own = gaps(listed(sources, release), tests)
    later = gaps(listed(sources, TESTED), tests) if _older(release) else {}
    inferred = {name: gap for name, gap in later.items() if name not in own}
    grouped: dict[tuple[Gap, tuple[str, ...], bool], list[str]] = {}
    for name, function in functions.items():
        for said in (own, inferred):
            bases = (function.base, function.base.removesuffix("_"))
            base = next((base for base in bases if base in said), "")
            judged = function.tensors and not function.takes_dtype and name not in _ANOTHER_WAY
            if base and judged and said[base].denied:
                group = (said[base], _arguments(function), said is own)
                grouped.setdefault(group, []).append(f"aten::{name}")
    for (gap, arguments, same), ops in sorted(grouped.items(), key=lambda item: min(item[1])):
        denied = sorted(gap.denied)
        yield {
            "ops": sorted(ops),
            "code": "dtype-not-supported",
            "verdict": "unsupported",
            **(tested if same else _INFERRED),
            "text": _TEXT.replace("DEVICE", tests.device).replace(
                "DTYPES", ", ".join(sorted(gap.listed))
            ),
            "at": [f"torch:{PATH}" if same else "tests", *tests.at],
            "tests": [{"subject": "dtype", "argument": a, "one_of": denied} for a in arguments],
        }


def _older(release: str) -> bool:
    return version_key(release) < version_key(TESTED)


def listed(sources: Path, release: str) -> list[dict[str, Any]]:
    """The tests that a torch release has, each with what it lists; none where nobody compared."""
    differs = _compared().get(release)
    if differs is None:
        return []
    less, more = (_by_test(differs.get(word, ())) for word in ("less", "more"))
    there = (test for test in _list(sources / "amd" / LIST) if test["op"] not in differs["absent"])
    none = frozenset[str]()
    return [_of_release(t, less.get(t["op"], none), more.get(t["op"], none)) for t in there]


def _by_test(groups: Iterable[Mapping[str, Any]]) -> dict[str, frozenset[str]]:
    return {name: frozenset(group["dtypes"]) for group in groups for name in group["tests"]}


def _of_release(
    test: Mapping[str, Any], less: frozenset[str], more: frozenset[str]
) -> dict[str, Any]:
    """A test with the list of another release; what that lacks is asked for all the same."""
    cuda = sorted(frozenset(test["cuda"]) - less | more)
    return {**test, "cuda": cuda, "cpu": sorted(less.union(test["cpu"]))}


@cache
def _list(path: Path) -> list[Mapping[str, Any]]:
    read: list[Mapping[str, Any]] = load_yaml(path)["ops"]
    return read


@cache
def _said() -> Mapping[str, Any]:
    read: Mapping[str, Any] = load_yaml(_CHANGED)
    return read


def _compared() -> Mapping[str, Mapping[str, Any]]:
    found: Mapping[str, Mapping[str, Any]] = _said()["releases"]
    return found


def spoken_of(test: Mapping[str, Any]) -> tuple[str, ...]:
    """The operators, without overload, that a test speaks of."""
    return tuple(_said()["runs_as"].get(test["op"], (aten_name(test["aten"]),)))


def gaps(rows: Iterable[Mapping[str, Any]], tests: Tests = _CUDA) -> dict[str, Gap]:
    """By operator, without its overload, what no test of it takes on the device."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for test in rows:
        for name in spoken_of(test):
            found.setdefault(name, []).append(test)
    return {name: _gap(own, tests) for name, own in found.items() if name not in _BRANCHES}


def _gap(listed: list[Mapping[str, Any]], tests: Tests) -> Gap:
    said = [dtypes for test in listed if (dtypes := tests.dtypes(test)) is not None]
    if len(said) < len(listed):  # what does not run may have shown more
        return Gap(frozenset(), frozenset())
    there = frozenset[str]().union(*said)
    on_cpu = frozenset(dtype for test in listed for dtype in test["cpu"])
    wanted = (on_cpu | _HALF if "float32" in there else on_cpu) - _UNTESTED
    return Gap(wanted - there if there else frozenset(), there)


def _flat(name: str) -> str:
    """A test's name as the names of its cases have it: ``nn_functional_conv2d``."""
    return name.replace(".", "_").replace("|", "_")


def aten_name(name: str) -> str:
    """Give the operator's name as aten spells it: ``special.zeta`` is ``special_zeta``."""
    plain = _MODULES.sub("", name).removesuffix(".default")
    return _DOTTED.sub(lambda match: f"{match[1]}_", plain)


def _arguments(function: Function) -> tuple[str, ...]:
    """The arguments that must be of such a dtype: all that are promoted, else the first."""
    promoted = all(name in _PROMOTED for name in function.tensors)
    return function.tensors if promoted else function.tensors[:1]


_PROMOTED = frozenset({"self", "other", "x", "n", "real", "imag", "abs", "angle"})
"""What the lists call the tensor arguments of operators that promote them to one dtype."""


def _moved(line: int, inserted: Mapping[int, int]) -> int:
    """The line of a copy of a list in which lines were inserted after others."""
    return line + sum(more for after, more in inserted.items() if line > after)


_KEY = "CUDA"
_LIST = "list"
_TESTS = "tests"
_BOUND = "library_bound_ops@torch-2.13.0.yaml"
_REGISTERED = "registered"
_ARCHITECTURE = "ARCH"


class CudaVendor(Struct, frozen=True, dict=True):
    """One vendor: its folder's name, its curated file, and how sure its cells are."""

    name: str
    curated: Path
    tested: Mapping[str, str]
    """Confidence and method of what PyTorch's own tests say."""
    method: str = _REGISTERED
    """How its entries are known."""
    wheels: bool = False
    """Whether torch's wheels of the package index are this vendor's builds."""
    own_kernels: bool = False
    """Whether what PyTorch's CUDA code refuses is not known to be so in its builds."""

    @cached_property
    def said(self) -> Mapping[str, Any]:
        """What the curated file says, with what is so in each build of PyTorch's CUDA code."""
        read: Mapping[str, Any] = load_yaml(self.curated)
        if self.own_kernels:
            return read
        shared, own = load_yaml(_FACTS), self.curated.with_name(f"{self.name}_checks.yaml")
        checks = [*load_yaml(own)["facts"], *load_yaml(_CHECKS)["facts"]]
        return {
            **read,
            "sources": {**shared["sources"], **read["sources"]},
            "facts": [*read["facts"], *shared["facts"], *checks],
        }

    def releases(self, sources: Path) -> tuple[str, ...]:
        """Torch releases, up to the newest that the curated file knows of, if it names one."""
        until = self.said.get("until")
        listed = in_tree.releases(sources / "pytorch")
        return tuple(r for r in listed if until is None or version_key(r) <= version_key(until))

    def release_file(self, sources: Path, release: str) -> str:
        """Give the text of one release's file."""
        known = self.releases(sources)
        if release not in known:
            message = Sentence(
                "{text} has no torch release {version}", text=self.name, version=release
            )
            raise DatabaseError(
                message, Sentence("known releases: {list}", list=", ".join(known) or "none")
            )
        conditions = (
            *self._facts(sources, release),
            *dtype_conditions(sources, release, self.tested),
            *torchvision_kernels.conditions(release, _KEY),
        )
        if self.wheels:
            functions = operator_list.functions(sources / "pytorch", major_minor(release))
            said = refused_dtypes.denied(conditions)
            conditions += tuple(refused_dtypes.conditions(release, functions, said))
        advisories = tuple(in_tree_facts.told(self.said.get("advisories", ()), release))
        return ReleaseFile(
            vendor=self.name,
            release=release,
            about=f"Operators that torch {release} registers under {_KEY}",
            torch=(major_minor(release),),
            sources=self._sources(sources / "pytorch", release, (*conditions, *advisories)),
            operators=self._operators(sources, release),
            conditions=tuple(map(self._sure, conditions)),
            advisories=advisories,
            key=_KEY,
            method=_REGISTERED if self._own_list(release) else self.method,
        ).text()

    def vendor_file(self, pairing: Iterable[Mapping[str, str]], used: Mapping[str, Any]) -> str:
        """Give the text of ``vendor.yaml``; ``used`` are the sources that ``pairing`` cites."""
        said = self.said
        parts = (*said["chips"].values(), said["fallback"], *said.get("notes", ()))
        cited = {at.partition(":")[0] for part in parts for at in part["at"]}
        return VendorFile(
            vendor=self.name,
            name=said["name"],
            device_type="cuda",
            dispatch_key=_KEY,
            sources={**{name: said["sources"][name] for name in sorted(cited)}, **used},
            chips=said["chips"],
            fallback=said["fallback"],
            pairing=tuple(pairing),
            notes=tuple(said.get("notes", ())),
        ).text()

    def _operators(self, sources: Path, release: str) -> dict[str, Any]:
        """Overload -> entry."""
        listed = in_tree.declared(sources / "pytorch", release)
        inserted = self._own_list(release).get("inserted", {})
        own = {
            f"aten::{name}": {
                "at": f"{_LIST}:{_moved(kernel.line, inserted)}",
                "impl": [kernel.name],
            }
            for name, kernel in in_tree.on_device(listed, _KEY).items()
        }
        return own | torchvision_kernels.entries(release, _KEY)

    def _own_list(self, release: str) -> Mapping[str, Any]:
        """The vendor's copy of PyTorch's list: its source, and how many lines it has more."""
        found: Mapping[str, Any] = self.said.get("lists", {}).get(release, {})
        return found

    def _facts(self, sources: Path, release: str) -> Iterator[dict[str, Any]]:
        declared = operator_list.functions(sources / "pytorch", major_minor(release))
        known = {f"aten::{name}" for name in declared}
        bound = bound_operators(sources / "amd" / _BOUND)
        facts = [one for fact in self.said["facts"] for one in self._by_architecture(fact)]
        yield from in_tree_facts.conditions(facts, release, known, bound)

    def _by_architecture(self, fact: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        """A fact whose text names the architecture of its chips, once for each of these."""
        if _ARCHITECTURE not in fact["text"]:
            yield fact
            return
        alike: dict[str, list[str]] = {}
        for chip in fact["chips"]:
            alike.setdefault(self.said["chips"][chip]["arch"], []).append(chip)
        for name, chips in sorted(alike.items()):
            text = fact["text"].replace(_ARCHITECTURE, name)
            yield {**fact, "chips": chips, "text": text}

    def _sources(
        self, folder: Path, release: str, saying: Iterable[Mapping[str, Any]]
    ) -> dict[str, Any]:
        """The list, and whatever the conditions and advisories cite."""
        tests = in_tree_facts.torch_source(folder, TESTED)
        own = {**self.said["sources"], _TESTS: {**tests, "path": PATH}}
        own |= torchvision_kernels.sources(release)
        copied = self._own_list(release).get("source")
        used = {_LIST: copied or in_tree.list_source(folder, release)}
        for name in sorted({at.partition(":")[0] for said in saying for at in said["at"]}):
            read_in = name.removeprefix(TORCH).removeprefix("-") or release
            used[name] = own.get(name) or in_tree_facts.torch_source(folder, read_in)
        return used

    def _sure(self, condition: dict[str, Any]) -> dict[str, Any]:
        """A condition, as sure as this vendor's cells can be."""
        doubt = {"confidence": "low", "method": self.method}
        return condition if self.method == _REGISTERED else {**condition, **doubt}


def bound_operators(path: Path) -> dict[str, list[str]]:
    """Library -> the operators whose CUDA kernels call it, as ``aten::…``."""
    found: dict[str, list[str]] = {}
    for row in load_yaml(path)["ops"]:
        if row["cuda_dispatch"]:
            found.setdefault(row["library"], []).append(f"aten::{row['op']}")
    return found
