"""The texts of ``vendor.yaml`` and of a release's file, for importers with all of it in hand."""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct, field

from opcheck.db.importers import yamltext
from opcheck.db.shapes.release import MATRIX
from opcheck.db.shapes.vendor import VENDOR

Entry = Mapping[str, Any]
"""One mapping of a file, as its shape wants it."""

_PLUGIN = "PrivateUse1"
_OPERATORS = """\
overload: {at: source and line, impl: the vendor's kernel paths, keys: if not {key} alone,
torch: spans of versions, method: if not {method}}. A list where torch versions differ."""
_PACKAGE = "package: what brings the kernel, where that is neither torch nor the vendor."
_CONDITIONS = """\
Uses that fare otherwise than the lists suggest; ops "*" is every operator. All tests must bite."""
_ADVISORIES = "What holds for the target as a whole, whatever runs on it."


class ReleaseFile(Struct, frozen=True):
    """What one release's file says."""

    vendor: str
    release: str
    about: str
    """What the operators are, for the first line: ``Operators that torch_xla r2.9 lowers``."""
    torch: tuple[str, ...]
    sources: Mapping[str, Entry]
    operators: Mapping[str, Any]
    """Overload -> entry, or entries where torch versions differ."""
    conditions: tuple[Entry, ...] = ()
    advisories: tuple[Entry, ...] = ()
    not_aten: Mapping[str, list[str]] = field(default_factory=dict)
    key: str = _PLUGIN
    """The dispatch key that entries without ``keys`` are registered under."""
    method: str = "registered"
    """How entries without ``method`` are known."""

    def text(self) -> str:
        """Give the file."""
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterable[str]:
        command = f"opcheck.db.importers {self.vendor} SOURCES --release {self.release}"
        yield f"# {self.about}. Written by"
        yield f"# `python -m {command}`; do not edit."
        yield f"schema: {MATRIX}"
        yield f"vendor: {self.vendor}"
        yield f"release: {yamltext.scalar(self.release)}"
        yield f'date: "{max(str(source.get("date", "")) for source in self.sources.values())}"'
        yield f"torch: {yamltext.flow(self.torch)}"
        if self.method != "registered":
            yield f"method: {self.method}"
        yield from yamltext.section("sources", self.sources)
        if self.not_aten:
            yield from yamltext.section("not_aten", self.not_aten)
        about = _OPERATORS.replace("{key}", self.key).replace("{method}", self.method)
        if any("package" in entry for entry in self.operators.values()):
            about += f"\n{_PACKAGE}"
        yield from yamltext.section("operators", self.operators, about)
        if self.advisories:
            yield from yamltext.listing("advisories", self.advisories, _ADVISORIES)
        yield from yamltext.listing("conditions", self.conditions, _CONDITIONS)
        yield from yamltext.end()


class VendorFile(Struct, frozen=True):
    """What holds for every release of a vendor."""

    vendor: str
    name: str
    device_type: str
    dispatch_key: str
    sources: Mapping[str, Entry]
    chips: Mapping[str, Entry]
    fallback: Entry
    pairing: tuple[Entry, ...]
    """As the vendor lists it."""
    inherits: tuple[str, ...] = ()
    """Kinds of composites that run where there is no kernel; empty: all."""
    compat_layer: tuple[Entry, ...] = ()
    notes: tuple[Entry, ...] = ()

    def text(self) -> str:
        """Give the file."""
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterable[str]:
        yield f"# What holds for every release of {self.name}. Written by"
        yield f"# `python -m opcheck.db.importers {self.vendor} SOURCES`; do not edit."
        yield f"schema: {VENDOR}"
        yield f"vendor: {self.vendor}"
        yield f"name: {self.name}"
        yield f"device_type: {self.device_type}"
        yield f"dispatch_key: {self.dispatch_key}"
        if self.inherits:
            yield f"inherits: {yamltext.flow(self.inherits)}"
        yield from yamltext.section("sources", self.sources)
        yield from yamltext.section("chips", self.chips)
        yield from yamltext.section("fallback", self.fallback)
        yield from yamltext.listing("pairing", self.pairing, "As the vendor lists it.")
        if self.compat_layer:
            yield from yamltext.listing("compat_layer", self.compat_layer)
        if self.notes:
            yield from yamltext.listing("notes", self.notes)
        yield from yamltext.end()
