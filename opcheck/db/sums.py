"""The digests of a folder's generated files, so that one edited by hand is noticed.

They stand in ``SHA256SUMS`` beside the files, in the form that ``sha256sum --check`` reads.
"""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

NAME = "SHA256SUMS"


def read(folder: Path) -> Mapping[str, str]:
    """File name -> the digest that its importer noted; empty where none was noted."""
    try:
        lines = (folder / NAME).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    pairs = (line.split(maxsplit=1) for line in lines if len(line.split(maxsplit=1)) == 2)
    return {name.removeprefix("*"): digest for digest, name in pairs}


def digests(folder: Path) -> Mapping[str, str]:
    """Name of each YAML file that is there -> its digest."""
    files = sorted(folder.glob("*.yaml"))
    return {path.name: sha256(path.read_bytes()).hexdigest() for path in files}


def note(folder: Path, texts: Mapping[str, str]) -> str:
    """What ``SHA256SUMS`` must say once these files, name to text, are written; others keep theirs.

    A file that is gone is no longer named.
    """
    kept = {name: digest for name, digest in read(folder).items() if (folder / name).is_file()}
    written = {name: sha256(text.encode()).hexdigest() for name, text in texts.items()}
    return "".join(f"{digest}  {name}\n" for name, digest in sorted({**kept, **written}.items()))
