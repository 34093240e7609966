"""The models that vllm-ascend's user guide lists, by the products that it runs on."""

import re
from collections.abc import Iterator, Mapping

from opcheck.db.importers.models.base import (
    ListReader,
    Row,
    by_outcome,
    tables,
    types_of,
)
from opcheck.db.importers.shared.repository import Repository
from opcheck.model.model_lists import Outcome

_PAGE = "docs/source/user_guide/support_matrix/supported_models.md"
_SIGNS = {
    "✅": Outcome.SUPPORTED,
    "🔵": Outcome.EXPERIMENTAL,
    "❌": Outcome.UNSUPPORTED,
    "🟡": Outcome.UNTESTED,
}
_PRECISIONS = {"BF16": "bfloat16", "W8A8": "w8a8"}
_HALF = "FP16"
"""How a note begins of a row that speaks of this precision alone."""
_CHIPS = {
    r"\bA2\b": "910b",
    r"\bA3\b": "910c",
    r"950": "950",
    r"300I DUO": "310p",
}
"""What a product is called in a cell -> the chip on it."""
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


class VllmAscend(ListReader):
    """Reads the tables of the page, each row with its sign."""

    name = "vllm-ascend"
    repo = "vllm-project/vllm-ascend"
    vendor = "ascend"
    engine = "vLLM"

    def sources(self, repository: Repository) -> Mapping[str, str]:
        """The page alone."""
        return {"page": _PAGE}

    def rows(self, repository: Repository) -> Iterator[Row]:
        """One row a model and a table."""
        for line, cell in tables(repository.text(_PAGE)):
            sign = _SIGNS.get(cell.get("Support", ""))
            if sign is not None:
                yield _row(line, cell, sign)


def _row(line: int, cell: Mapping[str, str], sign: Outcome) -> Row:
    name = cell["Model"].replace("<br>", ", ")
    hardware, note = cell.get("Supported Hardware", ""), cell.get("Note", "")
    half = note.startswith(_HALF)
    return {
        "name": name,
        "says": "" if half else str(sign),
        "in": by_outcome(_precisions(cell, sign)) if sign.runs else {},
        "chips": [chip for key, chip in _CHIPS.items() if re.search(key, hardware)],
        "types": types_of(cell["Model"]) or types_of(*cell["Model"].split(" / ")),
        "note": _LINK.sub(r"issue \1", note).replace("issue #", "issue "),
        "at": f"page:{line}",
    }


def _precisions(cell: Mapping[str, str], sign: Outcome) -> Iterator[tuple[str, Outcome | None]]:
    """What is said of each precision: no better than of the model as a whole."""
    if cell.get("Note", "").startswith(_HALF):
        yield "float16", sign
    for head, precision in _PRECISIONS.items():
        said = _SIGNS.get(cell.get(head, ""))
        if said is not None and said is not Outcome.UNTESTED:
            yield precision, max(said, sign, key=lambda each: each.rank)
