"""What every importer offers, and the citations and texts of the files that it writes."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from opcheck.db.files import yaml_writer
from opcheck.db.files.document import uncollected
from opcheck.db.schema.vendor import MATRIX, MOST_OFTEN, VENDOR
from opcheck.errors import DatabaseError
from opcheck.lang.sentence import Sentence


class Importer(ABC):
    """Turns a folder of vendor files into files of ``compat_db``; same input, same bytes."""

    name: str
    """Folder name of the vendor, in the sources and in ``compat_db``."""

    @abstractmethod
    def releases(self, sources: Path) -> tuple[str, ...]:
        """Releases that ``sources`` holds files of, oldest first."""

    @abstractmethod
    def run(self, sources: Path, release: str) -> str:
        """Give the text of ``compat_db/<name>/<release>.yaml``."""

    @abstractmethod
    def common(self, sources: Path) -> Mapping[str, str]:
        """Give the files of ``compat_db/<name>/`` that belong to no release, name to text."""


class SourceFile(Struct, frozen=True):
    """One file of a vendor, at one commit."""

    repo: str
    ref: str
    commit: str
    path: str
    date: str
    """ISO date of the commit; empty where the collection does not say."""

    def as_data(self) -> dict[str, str]:
        """The mapping written under ``sources:``."""
        data = {"repo": self.repo, "ref": self.ref, "commit": self.commit, "path": self.path}
        return {**data, "date": self.date} if self.date else data


@cache
def loaded(path: Path) -> Mapping[str, Any]:
    """A file beside an importer, read once."""
    found: Mapping[str, Any] = load_yaml(path)
    return found


def load_yaml(path: Path) -> Any:
    """Parse one YAML file with the C loader."""
    import yaml

    try:
        with uncollected():
            return yaml.load(path.read_bytes(), yaml.CSafeLoader)
    except (OSError, yaml.YAMLError) as error:
        raise DatabaseError(
            Sentence("cannot read {text_file}: {text}", text_file=path, text=error),
            Sentence("give the folder of sources"),
        ) from error


@cache
def source_files(folder: Path) -> Mapping[str, SourceFile]:
    """Every file at one commit that ``SOURCES.yaml`` of a folder describes, by its local name."""
    described = load_yaml(folder / "SOURCES.yaml")
    listed = described.get("files", described.get("sources", ()))
    return {item["file"]: _source_file(item) for item in listed if "commit" in item}


def _source_file(item: Mapping[str, str]) -> SourceFile:
    date = item.get("commit_date", item.get("date", ""))
    return SourceFile(item["repo"], str(item["ref"]), item["commit"], item["path"], str(date))


Entry = Mapping[str, Any]
"""One mapping of a file, as its shape wants it."""

_PLUGIN = "PrivateUse1"
_OPERATORS = """\
overload: {at: source and line, impl: the vendor's kernel paths, keys: if not {key} alone,
torch: spans of versions, method: if not {method}}. A list where torch versions differ."""
_PACKAGE = "package: what brings the kernel, where that is neither torch nor the vendor."
_CONDITIONS = """\
Uses that fare otherwise than the lists suggest; ops "*" is every operator. All tests must match.
What does not say otherwise is unsupported, with high confidence, by what the vendor registers."""
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
    opsets: Entry | None = None
    """Versions of ONNX's operators that a converter writes; None: it writes none."""

    def text(self) -> str:
        """Give the file."""
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterable[str]:
        command = f"opcheck.db.importers {self.vendor} SOURCES --release {self.release}"
        yield f"# {self.about}. Written by"
        yield f"# `python -m {command}`; do not edit."
        yield f"schema: {MATRIX}"
        yield f"vendor: {self.vendor}"
        yield f"release: {yaml_writer.scalar(self.release)}"
        yield f'date: "{max(str(source.get("date", "")) for source in self.sources.values())}"'
        yield f"torch: {yaml_writer.flow(self.torch)}"
        if self.opsets:
            yield f"opsets: {yaml_writer.flow(self.opsets)}"
        if self.method != "registered":
            yield f"method: {self.method}"
        yield from yaml_writer.section("sources", self.sources)
        if self.not_aten:
            yield from yaml_writer.section("not_aten", self.not_aten)
        about = _OPERATORS.replace("{key}", self.key).replace("{method}", self.method)
        if any("package" in entry for entry in self.operators.values()):
            about += f"\n{_PACKAGE}"
        yield from yaml_writer.section("operators", self.operators, about)
        if self.advisories:
            yield from yaml_writer.listing("advisories", self.advisories, _ADVISORIES)
        yield from conditions_section(self.conditions)
        yield from yaml_writer.end()


def conditions_section(conditions: Iterable[Entry]) -> Iterable[str]:
    """The conditions of a release's file."""
    return yaml_writer.listing("conditions", map(_shortened, conditions), _CONDITIONS)


def _shortened(condition: Entry) -> dict[str, Any]:
    """A condition without what holds of those that do not say it."""
    return {key: said for key, said in condition.items() if MOST_OFTEN.get(key) != said}


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
    kind: str = ""
    """What its targets are, where they are no devices."""
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
            yield f"inherits: {yaml_writer.flow(self.inherits)}"
        if self.kind:
            yield f"kind: {self.kind}"
        yield from yaml_writer.section("sources", self.sources)
        yield from yaml_writer.section("chips", self.chips)
        yield from yaml_writer.section("fallback", self.fallback)
        yield from yaml_writer.listing("pairing", self.pairing, "As the vendor lists it.")
        if self.compat_layer:
            yield from yaml_writer.listing("compat_layer", self.compat_layer)
        if self.notes:
            yield from yaml_writer.listing("notes", self.notes)
        yield from yaml_writer.end()
