"""Intel Gaudi in eager mode: what the bridge registers where PT_HPU_LAZY_MODE is 0."""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from opcheck.db.importers import habana
from opcheck.db.importers.base import Importer, ReleaseFile, VendorFile, load_yaml
from opcheck.db.importers.habana import dtypes
from opcheck.db.importers.shared import facts, operator_list
from opcheck.db.versions import version_key
from opcheck.errors import DatabaseError
from opcheck.lang.sentence import Sentence

_KEY = "HPU"
_CODE = Path(__file__).with_name("habana_eager_code.yaml")
Known = Mapping[str, operator_list.Function]


class HabanaEagerImporter(Importer):
    """Reads the list of the bridge as its generator does for eager mode."""

    name = "habana-eager"

    def releases(self, sources: Path) -> tuple[str, ...]:
        """Releases of which the generator was read."""
        return tuple(sorted(_code()["releases"], key=version_key))

    def run(self, sources: Path, release: str) -> str:
        """Give the text of the matrix file of one release."""
        known = self.releases(sources)
        if release not in known:
            raise DatabaseError(
                Sentence("no list of the Gaudi bridge {version} was read", version=release),
                Sentence("known releases: {list}", list=", ".join(known)),
            )
        torch = _code()["releases"][release]
        return _release(release, torch, operator_list.functions(sources / "pytorch", torch)).text()

    def common(self, sources: Path) -> Mapping[str, str]:
        """Give ``vendor.yaml``."""
        return {"vendor.yaml": _vendor().text()}


def generated(release: str, known: Known) -> dict[str, Mapping[str, Any]]:
    """Operator of the list -> what that says, for those that eager mode registers.

    Of PyTorch's own these are those without a composite kernel (``get_dtdf``), and some by name.
    """
    return {
        name: said
        for name, said in habana.listed()[release].items()
        if "namespace" in said or _has_no_composite(known[name]) or _named(known[name])
    }


def registered(release: str, known: Known) -> dict[str, dict[str, Any]]:
    """Overload -> entry: generated of the list, and registered by code alone."""
    found: dict[str, dict[str, Any]] = {
        habana.overload(name, said): {
            "at": f"list:{said['at']}", "impl": [said.get("impl", "manual")],
        }
        for name, said in generated(release, known).items()
    }  # fmt: skip
    for op, said in _code()["registrations"].items():
        keys = {"keys": said["keys"]} if "keys" in said else {}
        found[op] = {"at": f"list:{said['seen']}", "impl": ["manual"], **keys}
    return found


def _has_no_composite(function: operator_list.Function) -> bool:
    return not function.kind


def _named(function: operator_list.Function) -> bool:
    """Whether the schema has one of the names that are registered anyway in it."""
    return any(name in f"{function.name} {function.signature}" for name in _code()["anyway"])


def _release(release: str, torch: str, known: Known) -> ReleaseFile:
    operators = registered(release, known)
    return ReleaseFile(
        vendor=HabanaEagerImporter.name,
        release=release,
        about=f"Operators that the Gaudi bridge {release} registers in eager mode",
        torch=(torch,),
        sources={"list": habana.source(release)},
        operators=operators,
        conditions=(
            *dtypes.conditions(generated(release, known), known, dtypes.EAGER),
            *facts.conditions(_code()["facts"], release, "list", operators),
        ),
        advisories=tuple(_advisories(release)),
        key=_KEY,
    )


def _advisories(release: str) -> Iterator[dict[str, Any]]:
    for said in _code()["advisories"]:
        if at := facts.citation(said["seen"], release, "list"):
            chips = list(_code()["chips"])
            yield {"code": said["code"], "text": said["text"], "at": [at], "chips": chips}


def _vendor() -> VendorFile:
    code = _code()
    return VendorFile(
        vendor=HabanaEagerImporter.name,
        name="Intel Gaudi (eager mode)",
        device_type="hpu",
        dispatch_key=_KEY,
        sources={**code["sources"], **code["pairing"]},
        chips=code["chips"],
        fallback=code["fallback"],
        pairing=tuple(code["paired"]),
        notes=tuple(code["notes"]),
    )


@cache
def _code() -> Mapping[str, Any]:
    data: Mapping[str, Any] = load_yaml(_CODE)
    return data
