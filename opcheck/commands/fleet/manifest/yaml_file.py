"""A manifest in YAML: a list of models, or ``defaults`` and ``models``."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from opcheck.commands.fleet.manifest.fields import FIELDS, HINT, TRUST, Row
from opcheck.db.files import document
from opcheck.db.schema.checks import ListOf, Record, Shape, ShapeError, Text
from opcheck.db.schema.checks import Path as Where
from opcheck.errors import DatabaseError, UsageError

_NAME = Text(pattern=r"(?s).*\S.*", form="some text")


class _Any(Struct, frozen=True):
    """Whatever a field's own reader is to judge."""

    def check(self, value: object, path: Where) -> None:
        """Nothing is wrong yet."""


class _Model(Struct, frozen=True):
    """A source alone, or a mapping."""

    def check(self, value: object, path: Where) -> None:
        """Raise where ``value`` is neither."""
        if isinstance(value, str):
            _NAME.check(value, path)
        elif isinstance(value, dict):
            _ENTRY.check(value, path)
        else:
            raise ShapeError(path, "expected a source, or a mapping with the key 'source'")


_OPTIONS: Mapping[str, Shape] = dict.fromkeys((*FIELDS, TRUST), _Any())
_ENTRY = Record({"source": _NAME}, {"name": _NAME, **_OPTIONS})
_MODELS = ListOf(_Model(), least=1)
_WHOLE = Record({"models": _MODELS}, {"defaults": Record({}, _OPTIONS)})


class _Manifest(Struct, frozen=True):
    """The list alone, or a mapping that has it."""

    def check(self, value: object, path: Where) -> None:
        """Raise where ``value`` is neither."""
        shape = _WHOLE if isinstance(value, dict) else _MODELS
        shape.check(value, path)


def read_yaml(path: Path) -> tuple[Row, ...]:
    """The rows of a file.

    Raises:
        UsageError: it cannot be read, or is no manifest.
    """
    try:
        data: Any = document.read(path, _Manifest(), hint=HINT).data
        trail: Where = ("models",) if isinstance(data, dict) else ()
        models = data["models"] if isinstance(data, dict) else data
        lines = document.lines_of(path, [(*trail, at) for at in range(len(models))])
    except DatabaseError as error:
        raise UsageError(error.message, error.hint) from error
    defaults = data.get("defaults", {}) if isinstance(data, dict) else {}
    return tuple(
        _row(model, f"{path}:{line}", defaults) for model, line in zip(models, lines, strict=True)
    )


def _row(model: Any, where: str, defaults: Mapping[str, Any]) -> Row:
    given = {"source": model} if isinstance(model, str) else dict(model)
    source, name = given.pop("source"), given.pop("name", "")
    return Row(source, where, {**defaults, **given}, name)
