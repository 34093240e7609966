"""The models that were scanned against every target, from the table of docs/scanned-models.md."""

from collections.abc import Mapping, Sequence
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "scanned-models.md"
_COLUMNS = ("library", "model", "calls", "operators", "gaps", "runs_on", "not_on")
_MODES = {"## Inference": "inference", "## A token": "decode", "## A training": "train"}


def scanned_models(page: Path = PAGE) -> Mapping[str, Sequence[Mapping[str, str]]]:
    """Model -> a row of the table for each way in which it was scanned."""
    found: dict[str, list[Mapping[str, str]]] = {}
    mode = ""
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            mode = next((name for head, name in _MODES.items() if line.startswith(head)), "")
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if mode and line.startswith("|") and cells[2][:1].isdigit():
            row = dict(zip(_COLUMNS, cells, strict=False))
            found.setdefault(row["model"], []).append({**row, "mode": mode})
    return found
