"""What a list of whole models must say beyond its form - citations, chips, and something at all."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from opcheck.db.audit import content
from opcheck.db.audit.content import FileProblem, Known


def problems(data: Mapping[str, Any], path: Path, known: Known) -> Iterator[FileProblem]:
    """Problems of a list of whole models."""
    yield from content.name(data, "name", path.stem)
    yield from content.evidence(data, data["sources"])
    vendor, others = data["vendor"], data.get("other_chips", {})
    for number, said in enumerate(data["models"]):
        chips = [chip for chip in said.get("chips", ()) if chip not in others]
        yield from content.vendors(
            [({"vendor": vendor, "chips": chips}, ("models", number))], known
        )
        if not said.keys() & {"says", "in"}:
            yield FileProblem("says-nothing", "the row says nothing", ("models", number))
