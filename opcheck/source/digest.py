"""The digest that names what was scanned."""

import hashlib
from pathlib import Path

DIGITS = 16


def of_text(text: str) -> str:
    """Digest of a config or a name."""
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def of_file(path: Path) -> str:
    """Digest of a file's bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()[:DIGITS]
