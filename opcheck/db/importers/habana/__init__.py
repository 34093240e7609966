"""Intel Gaudi: the bridge of PyTorch to Habana's devices."""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from opcheck.db.importers.base import Importer, ReleaseFile, VendorFile, load_yaml
from opcheck.db.importers.habana import dtypes
from opcheck.db.importers.shared import facts, operator_list
from opcheck.db.versions import version_key
from opcheck.errors import DatabaseError
from opcheck.lang.sentence import Sentence

_REPO, _LIST = "HabanaAI/gaudi-pytorch-bridge", "scripts/hpu_op.yaml"
_KEY, _AUTOGRAD = "HPU", "AutogradHPU"
_CODE = Path(__file__).with_name("habana_code.yaml")
_OPERATORS = Path(__file__).with_name("habana_operators.yaml")
_NOT_LAZY = frozenset({"convolution", "convolution_backward"})
"""What lazy mode leaves to the overrideable overloads (``lazy_frontend_blacklist``)."""
_ABOVE_AUTOGRAD = frozenset({"dropout", "matmul", "softmax.int"})
"""Registered for autograd, and not for the device (``_FN_AUTOGRAD_HPU``)."""


class HabanaImporter(Importer):
    """Reads what the bridge registers in lazy mode; what it says lies beside this module."""

    name = "habana"

    def releases(self, sources: Path) -> tuple[str, ...]:
        """Releases of the bridge whose list was read."""
        return tuple(sorted(listed(), key=version_key))

    def run(self, sources: Path, release: str) -> str:
        """Give the text of the matrix file of one release."""
        known = self.releases(sources)
        if release not in known:
            raise DatabaseError(
                Sentence("no list of the Gaudi bridge {version} was read", version=release),
                Sentence("known releases: {list}", list=", ".join(known)),
            )
        return _release(sources, release).text()

    def common(self, sources: Path) -> Mapping[str, str]:
        """Give ``vendor.yaml``."""
        return {"vendor.yaml": _vendor().text()}


def registered(release: str) -> dict[str, dict[str, Any]]:
    """Overload -> entry, for one release: listed, and registered by code alone."""
    found = {}
    for name, said in listed()[release].items():
        if name not in _NOT_LAZY:
            keys = {"keys": [_AUTOGRAD]} if name in _ABOVE_AUTOGRAD else {}
            found[overload(name, said)] = {
                "at": f"list:{said['at']}", "impl": [said.get("impl", "manual")], **keys,
            }  # fmt: skip
    for op, seen in _code()["registrations"].items():
        if at := facts.citation(seen, release, "list"):
            keys = {"keys": [_KEY, _AUTOGRAD]} if "keys" in found.get(op, {}) else {}
            found[op] = {"at": at, "impl": ["manual"], **keys}
    return found


def overload(name: str, said: Mapping[str, Any]) -> str:
    """The overload that an entry of the list is of."""
    return f"{said.get('namespace', 'aten')}::{name}"


def _release(sources: Path, release: str) -> ReleaseFile:
    operators, torch = registered(release), _code()["releases"][release]["torch"]
    return ReleaseFile(
        vendor=HabanaImporter.name,
        release=release,
        about=f"Operators that the Gaudi bridge {release} registers in lazy mode",
        torch=(torch,),
        sources={"list": source(release)},
        operators=operators,
        conditions=(
            *dtypes.conditions(
                listed()[release], operator_list.functions(sources / "pytorch", torch)
            ),
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
        vendor=HabanaImporter.name,
        name="Intel Gaudi",
        device_type="hpu",
        dispatch_key=_KEY,
        sources={**{name: code[name] for name in ("code", "kernels", "ops")}, **code["pairing"]},
        chips=code["chips"],
        fallback=code["fallback"],
        pairing=tuple(code["paired"]),
        notes=tuple(code["notes"]),
    )


def source(release: str) -> dict[str, str]:
    """The list of operators at the commit of a release."""
    said = _code()["releases"][release]
    return {
        "repo": _REPO, "ref": f"v{release}", "commit": said["commit"], "path": _LIST,
        "date": said["date"],
    }  # fmt: skip


@cache
def _code() -> Mapping[str, Any]:
    data: Mapping[str, Any] = load_yaml(_CODE)
    return data


@cache
def listed() -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    """Release -> operator -> what the list says of it."""
    data: Mapping[str, Mapping[str, Mapping[str, Any]]] = load_yaml(_OPERATORS)
    return data
