"""The digest that names what was scanned."""

import hashlib
from pathlib import Path

from opcheck.files import MOST_MODEL_BYTES, open_regular

DIGITS = 16


def of_text(text: str) -> str:
    """Digest of a config or a name."""
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def of_file(path: Path) -> str:
    """Digest of a file's bytes."""
    with open_regular(path, MOST_MODEL_BYTES) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()[:DIGITS]
