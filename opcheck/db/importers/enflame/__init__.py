"""Enflame: what the plugin Torch-FL registers in its build for the GCU."""

from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from opcheck.db.importers.base import Importer, ReleaseFile, VendorFile, load_yaml
from opcheck.db.importers.enflame.extract import CODE, LIST
from opcheck.db.importers.shared import facts, operator_list
from opcheck.db.versions import version_key
from opcheck.errors import DatabaseError
from opcheck.lang.sentence import Sentence

_REPO, _KEY = "flagos-ai/Torch-FL", "PrivateUse1"
_CODE = Path(__file__).with_name("enflame_code.yaml")
_OPERATORS = Path(__file__).with_name("enflame_operators.yaml")


class EnflameImporter(Importer):
    """Reads what Torch-FL registers; what its code says lies beside this module."""

    name = "enflame"

    def releases(self, sources: Path) -> tuple[str, ...]:
        """Releases of Torch-FL that were read."""
        return tuple(sorted(_listed(), key=version_key))

    def run(self, sources: Path, release: str) -> str:
        """Give the text of the matrix file of one release."""
        known = self.releases(sources)
        if release not in known:
            raise DatabaseError(
                Sentence("no list of Torch-FL {version} was read", version=release),
                Sentence("known releases: {list}", list=", ".join(known)),
            )
        return _release(sources, release).text()

    def common(self, sources: Path) -> Mapping[str, str]:
        """Give ``vendor.yaml``."""
        return {"vendor.yaml": _vendor().text()}


def registered(release: str, declared: Collection[str]) -> dict[str, dict[str, Any]]:
    """Overload -> entry, for one release: of those that the torch it is built for declares."""
    return {
        f"aten::{name}": {
            "at": f"{said['by']}:{said['at']}", "impl": [said["impl"]],
        }
        for name, said in _listed()[release].items()
        if name in declared
    }  # fmt: skip


def _release(sources: Path, release: str) -> ReleaseFile:
    torch = _code()["releases"][release]["torch"]
    operators = registered(release, operator_list.functions(sources / "pytorch", torch))
    return ReleaseFile(
        vendor=EnflameImporter.name,
        release=release,
        about=f"Operators that Torch-FL {release} registers",
        torch=(torch,),
        sources={
            "list": _source(release, LIST),
            "code": _source(release, CODE),
            "amp": _code()["sources"]["amp"],
        },
        operators=operators,
        conditions=tuple(facts.conditions(_facts(release), release, "list", operators)),
        key=_KEY,
    )


def _facts(release: str) -> Iterator[dict[str, Any]]:
    """The facts, each with its operators."""
    for fact in _code()["facts"]:
        if fact.get("kernels") == "list":
            ops = [
                f"aten::{name}" for name, said in _listed()[release].items() if said["by"] == "list"
            ]
            yield {**fact, "ops": sorted(ops)}
        else:
            yield fact


def _vendor() -> VendorFile:
    code = _code()
    parts = (*code["chips"].values(), code["fallback"], *code["notes"])
    cited = {at.partition(":")[0] for part in parts for at in part["at"]}
    cited |= {row["at"].partition(":")[0] for row in code["paired"]}
    return VendorFile(
        vendor=EnflameImporter.name,
        name="Enflame",
        device_type="flagos",
        dispatch_key=_KEY,
        sources={name: code["sources"][name] for name in sorted(cited)},
        chips=code["chips"],
        fallback=code["fallback"],
        pairing=tuple(code["paired"]),
        notes=tuple(code["notes"]),
    )


def _source(release: str, path: str) -> dict[str, str]:
    said = _code()["releases"][release]
    return {
        "repo": _REPO, "ref": said["ref"], "commit": said["commit"], "path": path,
        "date": said["date"],
    }  # fmt: skip


@cache
def _code() -> Mapping[str, Any]:
    data: Mapping[str, Any] = load_yaml(_CODE)
    return data


@cache
def _listed() -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    data: Mapping[str, Mapping[str, Mapping[str, Any]]] = load_yaml(_OPERATORS)
    return data
