"""What users call chips, vendors and releases, one file a vendor."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from opcheck.db.by_hand.overlays import NAMES
from opcheck.db.files import document
from opcheck.db.schema.target_names import OTHER_VENDORS_FILE, TARGET_NAMES_FILE
from opcheck.lang.sentence import Sentence

OTHERS = "others"
"""Stem of the file with the vendors that the database has nothing of."""
_HINT = Sentence("correct the file, or restore it from the release")


class ToolkitNames(Struct, frozen=True):
    """How releases of a vendor's toolkit are named, and where it stands what goes with them."""

    word: str
    """As it stands before a version: ``cann``."""
    name: str
    """As its vendor spells it: ``CANN``."""
    package: str = ""
    """Its key in the vendor's table of pairs."""
    pattern: str = ""
    """What its versions are in a text of that table, where that has others too."""
    build: str = ""
    """How builds of torch for it begin: ``cu`` of ``cu124``."""
    chips: tuple[str, ...] = ()
    """Those that it is for; (): all."""
    pairs: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """A version of it, and the torch versions that go with it, where no table has them."""


class RefusedChip(Struct, frozen=True):
    """A chip that the vendor's plugin raises on, whatever its release."""

    name: str
    words: tuple[str, ...]
    """What users call it."""
    package: str
    """The plugin: ``torch_npu``."""
    error: str
    near: tuple[str, ...]
    """Chips that may be meant."""


class VendorNames(Struct, frozen=True):
    """What users call one vendor and its chips."""

    also: tuple[str, ...] = ()
    """Other names of the vendor, its runtime and its brands."""
    chips: Mapping[str, tuple[str, ...]] = {}
    """Chip -> other names of it; the most used chip first."""
    toolkits: tuple[ToolkitNames, ...] = ()
    refused: tuple[RefusedChip, ...] = ()


def vendor_names(root: Path, vendor: str, cache: Path | None) -> VendorNames:
    """What users call a vendor and its chips; nothing where nobody has said."""
    path = root / NAMES / f"{vendor}.yaml"
    if not path.is_file():
        return VendorNames()
    said = document.read(path, TARGET_NAMES_FILE, cache, _HINT).data
    return VendorNames(
        tuple(said["also"]),
        {chip: tuple(words) for chip, words in said["chips"].items()},
        tuple(_toolkit(word, each) for word, each in said.get("toolkits", {}).items()),
        tuple(_refused(word, each) for word, each in said.get("refused", {}).items()),
    )


def _refused(word: str, said: Mapping[str, Any]) -> RefusedChip:
    words = (word, *said["also"])
    return RefusedChip(said["name"], words, said["package"], said["error"], tuple(said["near"]))


def _toolkit(word: str, said: Mapping[str, Any]) -> ToolkitNames:
    return ToolkitNames(
        word,
        said["name"],
        said.get("package", ""),
        said.get("pattern", ""),
        said.get("build", ""),
        tuple(said.get("chips", ())),
        tuple((pair["version"], tuple(pair["torch"])) for pair in said.get("pairs", ())),
    )


def other_vendors(root: Path, cache: Path | None) -> Mapping[str, tuple[str, tuple[str, ...]]]:
    """Folder that a vendor would have -> its name, and others that it has."""
    path = root / NAMES / f"{OTHERS}.yaml"
    if not path.is_file():
        return {}
    said = document.read(path, OTHER_VENDORS_FILE, cache, _HINT).data
    return {key: (each["name"], tuple(each["also"])) for key, each in said["vendors"].items()}
