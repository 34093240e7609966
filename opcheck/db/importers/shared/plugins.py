"""What importers of PrivateUse1 plugins share whose lists were extracted from their checkouts.

Beside such an importer stand two files: ``code_file`` with releases, chips and facts that were read
in the code, and ``operators_file`` with what its ``extract.py`` found. They are its sources, and
PyTorch's list of operators is the only one that is read from a folder.
"""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from opcheck.db.importers.base import Importer, ReleaseFile, VendorFile, loaded
from opcheck.db.importers.shared import facts, operator_list
from opcheck.db.versions import version_key
from opcheck.errors import DatabaseError
from opcheck.lang.sentence import Sentence

_KEY = "PrivateUse1"
LIST, CODE = "list", "code"
"""Names of the sources: what the plugin's generator reads or writes, and what C++ registers."""
Listed = Mapping[str, Mapping[str, Any]]
"""Overload without namespace -> ``at`` (line), ``impl`` (kernel) and ``by`` (a source)."""


class PluginImporter(Importer):
    """Writes what a plugin registers in its lists, as far as the torch it is for declares it."""

    title: str
    """What the plugin is called."""
    vendor_name: str
    """What the vendor is called."""
    device_type: str
    repo: str
    """Owner and name of the plugin's repository."""
    paths: ClassVar[Mapping[str, str]]
    """Source -> its file in the repository, for :data:`LIST` and :data:`CODE`."""
    code_file: Path
    operators_file: Path

    @property
    def code(self) -> Mapping[str, Any]:
        """What ``code_file`` says."""
        return loaded(self.code_file)

    def listed(self, release: str) -> Listed:
        """What a release registers."""
        found: Listed = loaded(self.operators_file)[release]
        return found

    def releases(self, sources: Path) -> tuple[str, ...]:
        """Releases of the plugin that were read."""
        return tuple(sorted(loaded(self.operators_file), key=version_key))

    def run(self, sources: Path, release: str) -> str:
        """Give the text of the matrix file of one release."""
        known = self.releases(sources)
        if release not in known:
            raise DatabaseError(
                Sentence("nothing of {name} {version} was read", name=self.title, version=release),
                Sentence("known releases: {list}", list=", ".join(known)),
            )
        torch = self.code["releases"][release]["torch"]
        operators = self.registered(release, operator_list.functions(sources / "pytorch", torch))
        return ReleaseFile(
            vendor=self.name,
            release=release,
            about=f"Operators that {self.title} {release} registers",
            torch=(torch,),
            sources=self.sources_of(release),
            operators=operators,
            conditions=tuple(self.conditions(release, operators)),
            advisories=tuple(self.advisories(release)),
            key=_KEY,
        ).text()

    def common(self, sources: Path) -> Mapping[str, str]:
        """Give ``vendor.yaml``."""
        code = self.code
        parts = (*code["chips"].values(), code["fallback"], *code["notes"], *code["paired"])
        cited = {at.partition(":")[0] for part in parts for at in _cited(part)}
        text = VendorFile(
            vendor=self.name,
            name=self.vendor_name,
            device_type=self.device_type,
            dispatch_key=_KEY,
            sources={name: code["sources"][name] for name in sorted(cited)},
            chips=code["chips"],
            fallback=code["fallback"],
            pairing=tuple(code["paired"]),
            notes=tuple(code["notes"]),
        ).text()
        return {"vendor.yaml": text}

    def registered(self, release: str, declared: Collection[str]) -> dict[str, dict[str, Any]]:
        """Overload -> entry, for one release: of those that the torch it is built for declares."""
        return {
            f"aten::{name}": {"at": f"{said['by']}:{said['at']}", "impl": [said["impl"]]}
            for name, said in self.listed(release).items()
            if name in declared
        }

    def sources_of(self, release: str) -> dict[str, dict[str, str]]:
        """The files that the entries and conditions of a release cite."""
        said = self.code["releases"][release]
        return {
            name: {
                "repo": self.repo, "ref": said["ref"], "commit": said["commit"], "path": path,
                "date": said["date"],
            }
            for name, path in self.paths.items()
        }  # fmt: skip

    def conditions(self, release: str, operators: Collection[str]) -> Iterator[dict[str, Any]]:
        """What the facts say of the operators of a release."""
        yield from facts.conditions(self._facts(release), release, LIST, operators)

    def advisories(self, release: str) -> Iterator[dict[str, Any]]:
        """What holds of a whole release; nothing unless an importer says so."""
        yield from ()

    def _facts(self, release: str) -> Iterator[dict[str, Any]]:
        """The facts, each with its operators: those of a source where it names that alone."""
        for fact in self.code["facts"]:
            if "kernels" in fact:
                ops = sorted(
                    f"aten::{name}"
                    for name, said in self.listed(release).items()
                    if said["by"] == fact["kernels"] and name not in fact.get("but", ())
                )
                yield {**fact, "ops": ops}
            else:
                yield fact


def _cited(part: Mapping[str, Any]) -> tuple[str, ...]:
    at = part["at"]
    return (at,) if isinstance(at, str) else tuple(at)
