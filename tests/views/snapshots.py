"""Whole outputs, kept as files under tests/snapshots and compared byte by byte."""

import os
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "snapshots"


def check(name: str, text: str) -> None:
    """Compare with the kept output; OPCHECK_WRITE_SNAPSHOTS=1 keeps this one instead.

    One that is not there yet is written, and fails once, so that somebody looks at it.
    """
    path = FOLDER / name
    found = path.read_text(encoding="utf-8") if path.exists() else None
    if found is None or os.environ.get("OPCHECK_WRITE_SNAPSHOTS"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
        found = text if found is not None or os.environ.get("OPCHECK_WRITE_SNAPSHOTS") else ""
    assert text == found, f"{path} is new or differs; look at it, then OPCHECK_WRITE_SNAPSHOTS=1"
