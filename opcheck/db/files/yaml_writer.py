"""Writing the database's YAML, one entry a line."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

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
