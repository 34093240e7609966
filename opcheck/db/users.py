"""YAML files that users write: no larger and no deeper nested than such a file needs to be."""

import contextlib
from pathlib import Path

from opcheck.db.document import repeated_keys
from opcheck.errors import UsageError

MOST_BYTES = 1 << 20
"""No file may be larger."""
_DEEPEST = 16
"""Levels of nesting that a file may have."""


def require_reasonable(path: Path, hint: str) -> None:
    """Refuse a file that is very large, or nested very deep.

    Raises:
        UsageError: it is.
        OSError: it cannot be read.
    """
    if path.stat().st_size > MOST_BYTES:
        raise UsageError(f"{path}: expected at most {MOST_BYTES:,} bytes", hint)
    _require_shallow(path, hint)


def require_distinct(path: Path, hint: str) -> None:
    """Refuse a file in which a mapping has a key twice, or that only a lenient reader takes.

    Raises:
        UsageError: it is such a file.
    """
    import yaml

    try:
        for line, key in repeated_keys(path.read_bytes()):
            raise UsageError(f"{path}:{line}: expected the key {key!r} once, found it again", hint)
    except yaml.YAMLError as error:
        raise UsageError(f"{path}: expected valid YAML, but {error}", hint) from error


def _require_shallow(path: Path, hint: str) -> None:
    """Refuse what is nested so deep that a YAML library written in C overruns its stack."""
    import yaml

    depth = 0
    with contextlib.suppress(yaml.YAMLError, ValueError):  # told by whoever reads it
        for event in yaml.parse(path.read_bytes(), getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > _DEEPEST:
                line = event.start_mark.line + 1 if event.start_mark else 1
                message = f"{path}:{line}: expected at most {_DEEPEST} levels of nesting"
                raise UsageError(message, hint)
