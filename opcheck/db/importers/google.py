"""Google TPU: torch_xla."""

import re
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from opcheck.db.importers.base import Importer, ReleaseFile, VendorFile, load_yaml, source_files
from opcheck.db.importers.shared import facts, in_tree, operator_list
from opcheck.db.versions import major_minor, nearest_not_newer, version_key
from opcheck.errors import DatabaseError
from opcheck.lang.sentence import Sentence

_FOLDER = "google-tpu"
_LIST = re.compile(r"xla_native_functions@(r[\d.]+)\.yaml")
_DATA = Path(__file__).with_name("google_code.yaml")
_KEY, _AUTOGRAD = "XLA", "AutogradXLA"
_COMPOSITE = "CompositeExplicitAutograd"
_LOWERED = ("full_codegen", "supported")
_SECTIONS = (*_LOWERED, "autograd")
"""What registers kernels; ``symint`` and ``ir_gen`` say more of operators that these name."""
_NAME = re.compile(r"\s+- (?P<name>[\w.]+)")
_HEAD = re.compile(r"(?P<section>\w+):\s*")


class GoogleImporter(Importer):
    """Reads what torch_xla lowers, and adds the forms that its lists leave to functionalisation."""

    name = "google"

    def releases(self, sources: Path) -> tuple[str, ...]:
        """Release branches of torch_xla that the folder holds the list of."""
        found = (_LIST.fullmatch(path.name) for path in (sources / _FOLDER).iterdir())
        return tuple(sorted((match[1] for match in found if match), key=version_key))

    def run(self, sources: Path, release: str) -> str:
        """Give the text of the matrix file of one release."""
        known = self.releases(sources)
        if release not in known:
            raise DatabaseError(
                Sentence(
                    "{text} has no list of torch_xla {version}",
                    text=sources / _FOLDER,
                    version=release,
                ),
                Sentence("known releases: {list}", list=", ".join(known) or "none"),
            )
        return _release(sources, release).text()

    def common(self, sources: Path) -> Mapping[str, str]:
        """Give ``vendor.yaml``."""
        return {"vendor.yaml": _vendor(sources, self.releases(sources)).text()}


def read_list(text: str) -> dict[str, dict[str, int]]:
    """Section -> names in it -> the line of each, 1-based."""
    found: dict[str, dict[str, int]] = {}
    section: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if head := _HEAD.fullmatch(line):
            section = found.setdefault(head["section"], {})
        elif name := _NAME.match(line):
            section[name["name"]] = number
    return found


def registered(sources: Path, release: str) -> dict[str, dict[str, Any]]:
    """Overload -> entry, for one release: listed, registered by code, and served by another."""
    path = sources / _FOLDER / f"xla_native_functions@{release}.yaml"
    listed = read_list(path.read_text(encoding="utf-8"))
    lowered = {name: line for section in _LOWERED for name, line in listed[section].items()}
    found = {
        f"aten::{name}": {"at": f"list:{line}", "impl": [section], "keys": keys}
        for section, keys in _keys().items()
        for name, line in listed[section].items()
    }
    for name, form in _forms(sources, release, lowered).items():
        at, impl = f"list:{lowered[form]}", [f"aten::{form}"]
        found[f"aten::{name}"] = {"at": at, "impl": impl, "method": "dispatcher"}
    found |= _inherited(sources, release, found)
    for op, seen in _code()["registrations"].items():
        if at := facts.citation(seen, release, "list"):
            keys = [_KEY, *(key for key in found.get(op, {}).get("keys", ()) if key != _KEY)]
            found[op] = {"at": at, "impl": ["manual"], "keys": keys}
    return {op: _plain(entry) for op, entry in found.items()}


def _keys() -> dict[str, list[str]]:
    """Section -> dispatch keys that its kernels are registered under."""
    return {section: [_AUTOGRAD if section == "autograd" else _KEY] for section in _SECTIONS}


def _plain(entry: dict[str, Any]) -> dict[str, Any]:
    """An entry without what goes without saying."""
    return {key: value for key, value in entry.items() if (key, value) != ("keys", [_KEY])}


def _forms(sources: Path, release: str, lowered: Mapping[str, int]) -> dict[str, str]:
    """Unlisted in-place, ``out=`` and view overloads -> the lowered one that serves them."""
    folder, torch = sources / "pytorch", torch_of(release)
    listed = operator_list.versions(folder)
    functions = operator_list.functions(folder, nearest_not_newer(torch, listed))
    # torch 1.13 is older than every list: what came later is told by the history
    later = operator_list.newer_than(folder, torch) if torch not in listed else frozenset()
    known = {name: function for name, function in functions.items() if name not in later}
    return {
        **operator_list.written_forms(lowered, known),
        **operator_list.view_forms(lowered, known),
    }


def _inherited(sources: Path, release: str, listed: Collection[str]) -> dict[str, dict[str, Any]]:
    """Structured overloads whose composite kernel is not of the kind that XLA goes without."""
    declared = in_tree.declared(sources / "pytorch", _torch_release(sources, release))
    return {
        f"aten::{name}": {
            "at": f"torch:{overload.kernels[_COMPOSITE].line}",
            "impl": ["composite"],
            "method": "dispatcher",
        }
        for name, overload in declared.items()
        if overload.delegate and _COMPOSITE in overload.kernels and f"aten::{name}" not in listed
    }


def _torch_release(sources: Path, release: str) -> str:
    """The torch release, of those whose list is at hand, that a release is nearest to."""
    full = {major_minor(known): known for known in in_tree.releases(sources / "pytorch")}
    return full[nearest_not_newer(torch_of(release), tuple(full))]


def torch_of(release: str) -> str:
    """The torch version that a release is built for: ``2.9`` for ``r2.9``."""
    return release.removeprefix("r")


def _release(sources: Path, release: str) -> ReleaseFile:
    operators = registered(sources, release)
    served = {op: said["impl"][0] for op, said in operators.items() if "method" in said}
    found = facts.conditions(_code()["facts"], release, "list", operators)
    return ReleaseFile(
        vendor=GoogleImporter.name,
        release=release,
        about=f"Operators that torch_xla {release} lowers, and those served by one that it lowers",
        torch=(torch_of(release),),
        sources={
            "list": _source(sources, release),
            "torch": in_tree.list_source(sources / "pytorch", _torch_release(sources, release)),
        },
        operators=operators,
        conditions=tuple(facts.for_every_form(found, served)),
        key=_KEY,
    )


def _vendor(sources: Path, releases: Iterable[str]) -> VendorFile:
    code = _code()
    newest = version_key(code["newest_package"])
    paired = [r for r in releases if version_key(torch_of(r)) <= newest]
    return VendorFile(
        vendor=GoogleImporter.name,
        name="Google TPU (torch_xla)",
        device_type="xla",
        dispatch_key=_KEY,
        inherits=("CIA", "CEA"),
        sources={"code": code["code"], "pairing": code["pairing"]},
        chips=code["chips"],
        fallback=code["fallback"],
        pairing=tuple(
            {"torch": torch_of(release), "release": release, "at": "pairing"} for release in paired
        ),
        notes=tuple(code["notes"]),
    )


def _source(sources: Path, release: str) -> dict[str, str]:
    return source_files(sources / _FOLDER)[f"xla_native_functions@{release}.yaml"].as_data()


@cache
def _code() -> Mapping[str, Any]:
    data: Mapping[str, Any] = load_yaml(_DATA)
    return data
