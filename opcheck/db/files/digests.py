"""The digests of generated files, as they are noted beside them."""

import os
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from opcheck.files import read_bytes

NAME = "SHA256SUMS"
_MOST_BYTES = 1 << 26
"""Of a generated file: the largest has some megabytes."""


def noted(folder: Path | str) -> Mapping[str, str]:
    """File name -> the digest that its importer noted; empty where none was noted."""
    try:
        lines = read_bytes(os.path.join(folder, NAME), _MOST_BYTES).decode().splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    pairs = (pair for line in lines if len(pair := line.split(maxsplit=1)) == 2)
    return {name.removeprefix("*"): digest for digest, name in pairs}


def of_files(folder: Path) -> Mapping[str, str]:
    """Name of each YAML file that can be read -> its digest."""
    found = {}
    for path in sorted(folder.glob("*.yaml")):
        with suppress(OSError):  # an unreadable file is reported where it is read
            found[path.name] = sha256(read_bytes(path, _MOST_BYTES)).hexdigest()
    return found


def listing(folder: Path, texts: Mapping[str, str]) -> str:
    """What ``SHA256SUMS`` must say once these files, name to text, are written; others keep theirs.

    A file that is gone is no longer named.
    """
    kept = {name: digest for name, digest in noted(folder).items() if (folder / name).is_file()}
    written = {name: sha256(text.encode()).hexdigest() for name, text in texts.items()}
    return "".join(f"{digest}  {name}\n" for name, digest in sorted({**kept, **written}.items()))
