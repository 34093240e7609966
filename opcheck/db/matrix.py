"""One target's support matrix, from the vendor's file and the release's file."""

from collections.abc import Mapping
from functools import cache, partial
from hashlib import sha256
from typing import Any

from msgspec import Struct, field

from opcheck.db.by_hand.deterministic import cautions_of
from opcheck.db.collectives import collectives_of
from opcheck.db.compilers import compilers_of
from opcheck.db.conditions import (
    Made,
    advisories,
    conditions_by_operator,
    gradients_by_operator,
)
from opcheck.db.files.document import Document
from opcheck.db.files.parts import limits
from opcheck.db.reading import Chosen, Citations, LateMapping, LazyMapping
from opcheck.db.schema.tables import KINDS
from opcheck.db.tables import Tables, inherited
from opcheck.db.triton import cuda_sources_of, triton_of
from opcheck.db.versions import within
from opcheck.lang.sentence import from_data
from opcheck.model.launches import SourceBuilder, TritonCompiler
from opcheck.model.matrix import Entry, Fallback, Message, SupportMatrix
from opcheck.model.target import Target, TargetKind
from opcheck.model.trace import Composite
from opcheck.model.verdict import Evidence, Method

_PLUGIN = "PrivateUse1"
_CHOOSING = frozenset({"rbln"})
"""What PrivateUse1 is named by plugins that choose in C++ what no trace can show without them."""
Registered = Mapping[str, Mapping[str, Any]]
"""Overload -> its entry, as a release's file has it."""


class Shared(Struct):
    """What the chips of a vendor have in common, made for the one that asks first."""

    conditions: Made = field(default_factory=dict)
    entries: dict[tuple[int, str], tuple[object, Mapping[str, Entry]]] = field(default_factory=dict)
    """Identity of a release's operators, and torch -> these, and the kernels that they name."""
    everywhere: dict[Method, "_Everywhere"] = field(default_factory=dict)
    """How the lists of a release are known -> what the vendor's file says of every target."""


class _Everywhere(Struct, frozen=True):
    """What a vendor's file says of all its targets."""

    fallback: Fallback
    autocast: Mapping[str, tuple[str, ...]]
    messages: Mapping[str, Message]
    inherits: frozenset[Composite]
    cuda_sources: SourceBuilder | None


def build_matrix(
    target: Target,
    vendor: Document,
    release: Document,
    tables: Tables,
    *,
    paired: bool,
    shared: Shared,
) -> SupportMatrix:
    """Apply chip and torch version to what the two files say.

    ``shared``: what was made for the vendor's other chips, and is added to.
    """
    cited = Citations(release.data["sources"], vendor.data["sources"])
    key = str(vendor.data.get("dispatch_key", _PLUGIN))
    method = Method(release.data.get("method", Method.REGISTERED))
    shown = key == _PLUGIN and target.device_type not in _CHOOSING
    branches = None if shown else tables.choices(target.torch)
    among, compilers, triton = tables.collectives, tables.compilers, tables.triton
    modes, chip = tables.deterministic, vendor.data["chips"][target.chip]
    if method not in shared.everywhere:
        shared.everywhere[method] = _everywhere(vendor, method, target, triton)
    same = shared.everywhere[method]
    everywhere = (branches, among, compilers, triton, modes)
    kept = [table.digest for table in everywhere if table]
    digests = "".join((vendor.digest, release.digest, tables.digest, *kept)).encode()
    return SupportMatrix(
        target=target,
        entries=_entries(release, target.torch, cited, key, method, shared),
        conditions=conditions_by_operator(target, release.data, cited, shared.conditions),
        fallback=same.fallback,
        history=tables.history,
        whole=tables.whole,
        extensions=tables.extensions,
        advisories=advisories(target, release.data, cited, paired=paired),
        database_digest=sha256(digests).hexdigest()[:16],
        database_date=release.data["date"],
        gradients=gradients_by_operator(target, release.data, cited),
        autocast=same.autocast,
        messages=same.messages,
        dispatch_key=key,
        choices=tables.choices_of(target) if branches else {},
        inherited=inherited(tables, branches.data["torch"]) if branches else {},
        inherits=same.inherits,
        earlier=tables.earlier,
        collectives=LateMapping(lambda: collectives_of(target, among.data)) if among else {},
        compilers=LateMapping(lambda: compilers_of(target, compilers.data)) if compilers else {},
        find_triton=cache(partial(_triton_of, target, tables)),
        cuda_sources=same.cuda_sources,
        sparse=tables.sparse(target, key, partial(_listed, release, target.torch, cited, method)),
        cautions=cautions_of(target, modes.data) if modes else (),
        chip_name=chip["name"],
        capability=tuple(chip["capability"]) if "capability" in chip else None,
        kind=TargetKind(vendor.data.get("kind", TargetKind.DEVICE)),
    )


def _triton_of(target: Target, tables: Tables) -> TritonCompiler | None:
    said = tables.triton
    return triton_of(target, said.data, tables.triton_limits) if said else None


def _everywhere(
    vendor: Document, method: Method, target: Target, triton: Document | None
) -> _Everywhere:
    return _Everywhere(
        fallback=_fallback(vendor, method),
        autocast=_autocast(vendor),
        messages=_messages(vendor),
        inherits=_inherits(vendor),
        cuda_sources=cuda_sources_of(target, triton.data) if triton else None,
    )


def _entries(
    release: Document, torch: str, cited: Citations, key: str, method: Method, shared: Shared
) -> Mapping[str, Entry]:
    """Overloads with a kernel for dense tensors on this torch, each made when first asked for."""
    operators = release.data["operators"]
    place = (id(operators), torch)
    if place not in shared.entries:
        chosen = _registered(release, torch, key, (key,))
        made = LazyMapping(chosen, lambda op, said: _entry(op, said, cited, key, method))
        shared.entries[place] = operators, made
    return shared.entries[place][1]


def _entry(op: str, said: Mapping[str, Any], cited: Citations, key: str, method: Method) -> Entry:
    return Entry(
        op=op,
        evidence=cited.all((said["at"],), Method(said.get("method", method))),
        implementation=tuple(said.get("impl", ())),
        keys=tuple(said.get("keys", (key,))),
        package=said.get("package", ""),
    )


def _registered(release: Document, torch: str, key: str, plain: tuple[str, ...]) -> Registered:
    """Overloads with a kernel under a key; ``plain`` are the keys of entries that name none."""
    versions = release.data["torch"]

    def holds(variant: Mapping[str, Any]) -> bool:
        spans = variant.get("torch")
        served = spans is None or within(torch, spans, versions)
        return served and key in variant.get("keys", plain)

    return Chosen(release.data["operators"], holds)


def _listed(
    release: Document, torch: str, cited: Citations, method: Method, key: str
) -> Mapping[str, Evidence]:
    """Overloads that a release's list has a kernel for under a key other than the dense one."""
    found = _registered(release, torch, key, ())
    limited = sorted(name for _, names in limits(release.data["operators"]) for name in names)
    return {
        op: cited.all((said["at"],), Method(said.get("method", method)))[0]
        for op in limited
        if (said := found.get(op)) is not None
    }


def _fallback(vendor: Document, method: Method) -> Fallback:
    """What becomes of the rest, as sure as the lists are that say what there is."""
    said = vendor.data["fallback"]
    cited = Citations(vendor.data["sources"])
    return Fallback(
        to_cpu=said["to_cpu"],
        text=from_data(said["text"]),
        evidence=cited.all(said["at"], method),
        disable=said.get("disable", ""),
        enable=said.get("enable", ""),
        elsewhere=from_data(said.get("elsewhere", "")),
        raises=said.get("raises", False),
    )


def _inherits(vendor: Document) -> frozenset[Composite]:
    """Every kind of composite, unless the vendor's file names those that its targets run."""
    said = vendor.data.get("inherits")
    return frozenset(kind for name, kind in KINDS.items() if kind and name in (said or KINDS))


def _autocast(vendor: Document) -> dict[str, tuple[str, ...]]:
    said = vendor.data.get("autocast", {"policies": {}})
    return {policy: tuple(ops) for policy, ops in said["policies"].items()}


def _messages(vendor: Document) -> Mapping[str, Message]:
    cited = Citations(vendor.data["sources"])

    def read(_: str, said: Mapping[str, Any]) -> Message:
        evidence = cited.all(said["at"], Method.REGISTERED)
        return Message(said["text"], said["raises"], evidence, said.get("number", ""))

    return LazyMapping(vendor.data.get("messages", {}), read)
