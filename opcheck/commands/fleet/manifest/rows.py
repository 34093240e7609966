"""The rows of a manifest, YAML or CSV: models with the options of ``opcheck scan`` by name."""

import csv
import io
import re
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, NoReturn

from msgspec import Struct, field
from msgspec.structs import replace

from opcheck.commands.fleet.manifest.fields import (
    FIELDS,
    LISTS,
    SCRIPT_FIELDS,
    SCRIPT_ONLY,
    FieldError,
)
from opcheck.db.files import document
from opcheck.db.schema.checks import ListOf, Record, Shape, ShapeError, Text
from opcheck.db.schema.checks import Path as Where
from opcheck.errors import DatabaseError, OpcheckError, UsageError
from opcheck.files import read_bytes
from opcheck.lang.sentence import Sentence, sentence_of
from opcheck.model.dynamic import dynamic_inputs
from opcheck.model.request import CallSpec, ModelSpec, ScanRequest, TrainingSpec
from opcheck.source.inputs import InputSpec

HINT = Sentence("docs/fleet.md tells what a manifest may say of a model")
SOURCE, SCRIPT = "source", "script"
BOTH = Sentence("expected 'source' or 'script', found both")
TRUST = "trust"
"""What no file may say."""
_SETS = re.compile(r".+\.py:[^:=]+")
"""``inputs`` that name a function, and not one input."""


class Row(Struct, frozen=True):
    """One model, or a pattern for several, as a manifest has it."""

    source: str
    where: str
    """``models.yaml:12``, for messages; the manifest itself where there are no lines."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Everything beside ``source`` and ``name``, as it was written."""
    name: str = ""
    script: object = None
    """The command line of a script in place of ``source``, as it was written: a text, or a list of
    words; None of a model."""


def refuse_trust(where: str) -> NoReturn:
    """Say that a file cannot trust what it names.

    Raises:
        UsageError: always.
    """
    raise UsageError(
        Sentence("{text_file}: a manifest cannot say that its models are trusted", text_file=where),
        Sentence(
            "leave {name} out; who knows who wrote them all types opcheck fleet MANIFEST --trust",
            name=TRUST,
        ),
    )


def request_of(row: Row, source: str, *, trust: bool) -> ScanRequest:
    """The request for one source of a row; ``trust`` is what was typed, and holds for every row.

    Raises:
        UsageError: a field is unknown, or its value is not one that it takes.
    """
    given = values_of(row, SOURCE, FIELDS)
    try:
        return replace(
            _request(source, given), model=replace(_request(source, given).model, trust=trust)
        )
    except OpcheckError as error:
        raise UsageError(
            Sentence("{error}: {text}", error=row.where, text=error.message), error.hint
        ) from error


def values_of(
    row: Row, first: str, fields: Mapping[str, Callable[[object], Any]]
) -> dict[str, Any]:
    """The options of a row as values, by what reads each; ``first`` is the key beside ``name``.

    Raises:
        UsageError: a field is unknown, or its value is not one that it takes.
    """
    given: dict[str, Any] = {}
    for key, value in row.options.items():
        if key == TRUST:
            refuse_trust(row.where)
        if key not in fields:
            known = ", ".join([first, "name", *fields])
            raise UsageError(
                Sentence("{text}: unknown field {text_key}", text=row.where, text_key=repr(key)),
                Sentence("known fields: {list}", list=known),
            )
        try:
            given[key] = fields[key](value)
        except FieldError as error:
            raise field_problem(row, key, sentence_of(error)) from error
    return given


def field_problem(row: Row, key: str, said: Sentence) -> UsageError:
    """That a field of a row has a value that it does not take."""
    return UsageError(Sentence("{where}: {key}: {said}", where=row.where, key=key, said=said), HINT)


def _request(source: str, given: Mapping[str, Any]) -> ScanRequest:
    inputs = (*given.get("input", ()), *given.get("inputs", ()))
    sets = [text for text in inputs if _SETS.fullmatch(text)]
    single = tuple(text for text in inputs if text not in sets)
    if len(sets) > 1:
        raise UsageError(
            Sentence("several functions that give inputs: {list}", list=", ".join(sets)),
            Sentence("name one"),
        )
    for text in single:
        InputSpec.parse(text)
    steps = given.get("step", ())
    train = given.get("train", bool(steps)) or bool(steps)
    if given.get("decode") and train:
        raise UsageError(
            Sentence("a training step decodes nothing"), Sentence("leave decode or train out")
        )
    return ScanRequest(
        ModelSpec(
            source,
            single,
            step=TrainingSpec.parse(steps) if train else None,
            calls=CallSpec.parse(sets[0] if sets else "", decode=given.get("decode", False)),
            dynamic=dynamic_inputs(given.get("dynamic", ())),
            schemas=given.get("schemas", ()),
            timeout=given.get("timeout"),
            memory=given.get("memory"),
        ),
        (),
    )


SEPARATOR = ";"
"""Between several values in one cell."""
_MOST_BYTES = 1 << 28
"""Of a manifest: a million models in rows of two hundred bytes and more."""


def read_csv(path: Path) -> tuple[Row, ...]:
    """The rows of a file.

    Raises:
        UsageError: it cannot be read, or is no manifest.
    """
    try:
        text = read_bytes(path, _MOST_BYTES).decode("utf-8-sig")
        table = csv.reader(io.StringIO(text, newline=""), strict=True)
        columns = [name.strip() for name in next(table, [])]
        _check(columns, path)
        found = [
            _csv_row(dict(zip(columns, cells, strict=True)), f"{path}:{table.line_num}")
            for cells in table
            if any(map(str.strip, cells)) and _fits(cells, columns, path, table.line_num)
        ]
    except OSError as error:
        raise UsageError(
            Sentence(
                "cannot read {text_file}: {text}", text_file=path, text=error.strerror or error
            ),
            HINT,
        ) from error
    except (csv.Error, UnicodeDecodeError) as error:
        raise UsageError(
            Sentence(
                "{text_file}: expected a table in UTF-8, but {text}", text_file=path, text=error
            ),
            HINT,
        ) from error
    if not found:
        raise UsageError(Sentence("{text_file}: names no model", text_file=path), HINT)
    return tuple(found)


def _check(columns: list[str], path: Path) -> None:
    known = ["source", "script", "name", *FIELDS, *SCRIPT_ONLY]
    if not {"source", "script"} & {*columns}:
        raise UsageError(_no_source(columns, known, path), HINT)
    for column in columns:
        if column == TRUST:
            refuse_trust(f"{path}:1")
        if column not in known:
            hint = Sentence("known columns: {list}", list=", ".join(known))
            raise UsageError(
                Sentence(
                    "{text_file}:1: unknown column {text}", text_file=path, text=f"{column!r:.60}"
                ),
                hint,
            )
        if columns.count(column) > 1:
            raise UsageError(
                Sentence(
                    "{text_file}:1: the column {text} stands twice",
                    text_file=path,
                    text=repr(column),
                ),
                Sentence("take one out"),
            )


def _no_source(columns: list[str], known: Collection[str], path: Path) -> Sentence:
    """Shows known columns alone: the first line of another file may be a key."""
    found = ", ".join(name for name in columns if name in known) if columns else "nothing"
    if not found:
        return Sentence(
            "{text_file}:1: expected a column 'source', found none of a manifest's columns",
            text_file=path,
        )
    return Sentence(
        "{text_file}:1: expected a column 'source', found {text}", text_file=path, text=found
    )


def _fits(cells: list[str], columns: list[str], path: Path, line: int) -> bool:
    if len(cells) != len(columns):
        raise UsageError(
            Sentence(
                "{text_file}:{count_line}: expected {count} cells, found {count_found}",
                text_file=path,
                count_line=line,
                count=len(columns),
                count_found=len(cells),
            ),
            Sentence("put what has commas in quotes"),
        )
    return True


def _csv_row(cells: Mapping[str, str], where: str) -> Row:
    given = {name: cell.strip() for name, cell in cells.items() if cell.strip()}
    source, name = given.pop("source", ""), given.pop("name", "")
    script = given.pop("script", None)
    if source and script:
        raise UsageError(Sentence("{where}: {said}", where=where, said=BOTH), HINT)
    if not (source or script):
        raise UsageError(Sentence("{where}: expected a source, found nothing", where=where), HINT)
    options: dict[str, Any] = {
        key: [part.strip() for part in cell.split(SEPARATOR)] if key in LISTS else cell
        for key, cell in given.items()
    }
    return Row(source, where, options, name, script)


_NAME = Text(pattern=r"(?s).*\S.*", form="some text")


class _Any(Struct, frozen=True):
    """Whatever a field's own reader is to judge."""

    def check(self, value: object, path: Where) -> None:
        """Nothing is wrong yet."""


class _Model(Struct, frozen=True):
    """A source alone, or a mapping: of a model or of a script."""

    def check(self, value: object, path: Where) -> None:
        """Raise where ``value`` is neither."""
        if isinstance(value, str):
            _NAME.check(value, path)
        elif isinstance(value, dict):
            if {SOURCE, SCRIPT} <= value.keys():
                raise ShapeError((*path, SCRIPT), BOTH)
            (_SCRIPT if SCRIPT in value else _ENTRY).check(value, path)
        else:
            raise ShapeError(
                path, Sentence("expected a source, or a mapping with the key 'source' or 'script'")
            )


_OPTIONS: Mapping[str, Shape] = dict.fromkeys((*FIELDS, TRUST), _Any())
_SCRIPT = Record(
    {SCRIPT: _Any()}, {"name": _NAME, **dict.fromkeys((*SCRIPT_FIELDS, TRUST), _Any())}
)
_ENTRY = Record({"source": _NAME}, {"name": _NAME, **_OPTIONS})
_MODELS = ListOf(_Model(), least=1)
_WHOLE = Record({"models": _MODELS}, {"defaults": Record({}, {**_OPTIONS, **_SCRIPT.optional})})


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
        row_of(model, f"{path}:{line}", defaults) for model, line in zip(models, lines, strict=True)
    )


def row_of(model: Any, where: str, defaults: Mapping[str, Any]) -> Row:
    """One entry of a manifest: a source alone, or a mapping of a model or a script."""
    given = {SOURCE: model} if isinstance(model, str) else dict(model)
    source, name, script = given.pop(SOURCE, ""), given.pop("name", ""), given.pop(SCRIPT, None)
    known = FIELDS if script is None else SCRIPT_FIELDS  # the others are meant for other entries
    meant = {key: value for key, value in defaults.items() if key in (*known, TRUST)}
    return Row(source, where, {**meant, **given}, name, script)
