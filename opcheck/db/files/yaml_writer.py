"""Writing the database's YAML, one entry a line, and the digests of generated files."""

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from opcheck.files import read_bytes

_PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_./+=@<>-]*(::?[A-Za-z0-9_./-]+)*")
_RESERVED = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})


def scalar(value: bool | int | float | str) -> str:
    """One value; text is quoted unless it can only be read as that text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if _PLAIN.fullmatch(value) and value.lower() not in _RESERVED and not value.endswith(":"):
        return value
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def flow(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, Mapping):
        inner = ", ".join(f"{scalar(key)}: {flow(item)}" for key, item in value.items())
        return "{" + inner + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(flow(item) for item in value) + "]"
    return scalar(value)


def section(name: str, entries: Mapping[str, Any], comment: str = "") -> Iterable[str]:
    """A mapping with one entry a line, sorted by key."""
    yield from (f"# {line}" for line in comment.splitlines())
    yield f"{name}:" if entries else f"{name}: {{}}"
    for key in sorted(entries):
        yield f"  {scalar(key)}: {flow(entries[key])}"


def listing(name: str, entries: Iterable[Any], comment: str = "") -> Iterable[str]:
    """A list with one entry a line, in the order given."""
    lines = [f"  - {flow(entry)}" for entry in entries]
    yield from (f"# {line}" for line in comment.splitlines())
    yield f"{name}:" if lines else f"{name}: []"
    yield from lines


def end() -> Iterable[str]:
    """The last line of a file, which tells it from one cut short."""
    yield "complete: true"


DIGESTS = "SHA256SUMS"
_MOST_BYTES = 1 << 26
"""Of a generated file: the largest has some megabytes."""


def read_digests(folder: Path) -> Mapping[str, str]:
    """File name -> the digest that its importer noted; empty where none was noted."""
    try:
        lines = read_bytes(folder / DIGESTS, _MOST_BYTES).decode().splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    pairs = (line.split(maxsplit=1) for line in lines if len(line.split(maxsplit=1)) == 2)
    return {name.removeprefix("*"): digest for digest, name in pairs}


def digests(folder: Path) -> Mapping[str, str]:
    """Name of each YAML file that can be read -> its digest."""
    found = {}
    for path in sorted(folder.glob("*.yaml")):
        with suppress(OSError):  # an unreadable file is reported where it is read
            found[path.name] = sha256(read_bytes(path, _MOST_BYTES)).hexdigest()
    return found


def digests_text(folder: Path, texts: Mapping[str, str]) -> str:
    """What ``SHA256SUMS`` must say once these files, name to text, are written; others keep theirs.

    A file that is gone is no longer named.
    """
    kept = {
        name: digest for name, digest in read_digests(folder).items() if (folder / name).is_file()
    }
    written = {name: sha256(text.encode()).hexdigest() for name, text in texts.items()}
    return "".join(f"{digest}  {name}\n" for name, digest in sorted({**kept, **written}.items()))
