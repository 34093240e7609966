"""What chips have, one file a vendor, every figure with its source."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from opcheck.db.by_hand.overlays import CHIPS
from opcheck.db.files import document
from opcheck.db.files.document import Document
from opcheck.db.reading import Citations
from opcheck.db.schema.by_hand import CHIPS_FILE, RATES, READINGS, SIZES
from opcheck.errors import DatabaseError
from opcheck.lang.sentence import Sentence, from_data
from opcheck.model.costs import Chip, Cited, Compiler, Figure, Format, Grade, Multiple, Product
from opcheck.model.verdict import Method

_HINT = Sentence("correct the file, or restore it from the release")
Said = Mapping[str, Any]
_Units = Mapping[str, float]


def chip(root: Path, vendor: Document, wanted: str, cache: Path | None) -> Chip:
    """What is known of a vendor's chip; without products where nobody has said.

    Raises:
        DatabaseError: the file is damaged, is of another vendor, or names a product it has not.
    """
    name = str(vendor.data["vendor"])
    title = str(vendor.data["chips"][wanted]["name"])
    path = root / CHIPS / f"{name}.yaml"
    if not path.is_file():
        return Chip(name, wanted, title)
    said = document.read(path, CHIPS_FILE, cache, _HINT).data
    if said["vendor"] != name:
        message = Sentence(
            "{text_file}:1: expected the vendor {vendor}, found {text}",
            text_file=path,
            vendor=name,
            text=repr(said["vendor"]),
        )
        raise DatabaseError(message, _HINT)
    for other in said["chips"].get(wanted, {}).get("any_of", ()):
        if other not in said["chips"]:
            message = Sentence(
                "{text_file}: chip {chip}: no chip is called {text}",
                text_file=path,
                chip=wanted,
                text=repr(other),
            )
            raise DatabaseError(message, _HINT)
    found = _Reader(said).chip(name, wanted, title)
    if found.default and found.single is None:
        known = ", ".join(each.name for each in found.products)
        message = Sentence(
            "{text_file}: chip {chip}: no product is called {text} (has: {text_has})",
            text_file=path,
            chip=wanted,
            text=repr(found.default),
            text_has=known,
        )
        raise DatabaseError(message, _HINT)
    return found


class _Reader:
    """Reads one vendor's file into chips."""

    def __init__(self, said: Said) -> None:
        self._said = said
        self._cited = Citations(said["sources"])

    def chip(self, vendor: str, wanted: str, title: str) -> Chip:
        own: Said = self._said["chips"].get(wanted, {})
        common: Said = self._said.get("common", {})
        default = own.get("default", {})
        return Chip(
            vendor=vendor,
            chip=wanted,
            name=title,
            products=tuple(sorted(self._products(own), key=lambda each: each.name)),
            default=default.get("product", ""),
            why=default.get("why", ""),
            multiples=self._multiples(own.get("multiples") or common.get("multiples")),
            formats=tuple(
                Format(each["format"], from_data(each["text"]), self._evidence(each))
                for each in own.get("formats", common.get("formats", ()))
            ),
            compilers=tuple(
                Compiler(each["name"], from_data(each["text"]), self._evidence(each))
                for each in own.get("compilers", common.get("compilers", ()))
            ),
            note=own.get("note", ""),
        )

    def _products(self, own: Said) -> Iterator[Product]:
        """A chip's own, and those of the chips that it stands for."""
        for chip in (own, *(self._said["chips"][other] for other in own.get("any_of", ()))):
            for name, each in chip.get("products", {}).items():
                yield self._product(name, each, chip)

    def _product(self, name: str, said: Said, chip: Said) -> Product:
        """A product; rates that its chip has in every product stand with the chip."""
        return Product(
            name=name,
            memory=self._figure(said.get("memory"), "size", SIZES, READINGS),
            bandwidth=self._figure(said.get("bandwidth"), "rate", _SPEEDS, {}),
            matrix=self._rates(said.get("matrix") or chip.get("matrix")),
            vector=self._rates(said.get("vector") or chip.get("vector")),
            socs=tuple(said.get("socs", ())),
            note=said.get("note", ""),
        )

    def _figure(
        self, said: Said | None, key: str, units: _Units, readings: _Units
    ) -> Figure | None:
        return None if said is None else self._of(said[key], said, units, readings)

    def _rates(self, said: Said | None) -> Mapping[str, Figure]:
        if said is None:
            return {}
        return {dtype: self._of(text, said, RATES, {}) for dtype, text in said["rates"].items()}

    def _of(self, text: str, said: Said, units: _Units, readings: _Units) -> Figure:
        number, unit = text.split(" ")
        return Figure(
            float(number) * units[unit],
            self._grade(said["at"]),
            self._evidence(said),
            said.get("note", ""),
            float(number) * readings[unit] if unit in readings else None,
        )

    def _multiples(self, said: Said | None) -> Mapping[str, Multiple]:
        if said is None:
            return {}
        note = said.get("note", "")
        return {
            dtype: Multiple(elements, self._evidence(said), note)
            for dtype, elements in said["by"].items()
        }

    def _grade(self, at: Sequence[str]) -> Grade:
        sources: Mapping[str, Said] = self._said["sources"]
        names = (text.partition(":")[0] for text in at)
        grades = [Grade(sources[name]["grade"]) for name in names if name in sources]
        return min(grades, key=lambda grade: grade.rank, default=Grade.PRESS)

    def _evidence(self, said: Said) -> Cited:
        return self._cited.all(said["at"], Method.DOCUMENTED)


_SPEEDS = {f"{unit}/s": size for unit, size in SIZES.items()}
