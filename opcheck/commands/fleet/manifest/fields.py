"""What may be said of a model in a manifest: the options of ``opcheck scan``, by their names."""

import re
from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any, NoReturn

from msgspec import Struct, field
from msgspec.structs import replace

from opcheck.errors import OpcheckError, UsageError
from opcheck.model.dynamic import dynamic_inputs
from opcheck.model.request import CallSpec, ModelSpec, ScanRequest, TrainingSpec
from opcheck.source.inputs import InputSpec

HINT = "docs/fleet.md tells what a manifest may say of a model"
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


class FieldError(ValueError):
    """A value that a field does not take."""


def refuse_trust(where: str) -> NoReturn:
    """Say that a file cannot trust what it names.

    Raises:
        UsageError: always.
    """
    raise UsageError(
        f"{where}: a manifest cannot say that its models are trusted",
        f"leave {TRUST} out; who knows who wrote them all types opcheck fleet MANIFEST --trust",
    )


def request_of(row: Row, source: str, *, trust: bool) -> ScanRequest:
    """The request for one source of a row; ``trust`` is what was typed, and holds for every row.

    Raises:
        UsageError: a field is unknown, or its value is not one that it takes.
    """
    given: dict[str, Any] = {}
    for key, value in row.options.items():
        if key == TRUST:
            refuse_trust(row.where)
        if key not in FIELDS:
            known = ", ".join(["source", "name", *FIELDS])
            raise UsageError(f"{row.where}: unknown field {key!r}", f"known fields: {known}")
        try:
            given[key] = FIELDS[key](value)
        except FieldError as error:
            raise UsageError(f"{row.where}: {key}: {error}", HINT) from error
    try:
        return replace(
            _request(source, given), model=replace(_request(source, given).model, trust=trust)
        )
    except OpcheckError as error:
        raise UsageError(f"{row.where}: {error.message}", error.hint) from error


def _request(source: str, given: Mapping[str, Any]) -> ScanRequest:
    inputs = (*given.get("input", ()), *given.get("inputs", ()))
    sets = [text for text in inputs if _SETS.fullmatch(text)]
    single = tuple(text for text in inputs if text not in sets)
    if len(sets) > 1:
        raise UsageError(f"several functions that give inputs: {', '.join(sets)}", "name one")
    for text in single:
        InputSpec.parse(text)
    steps = given.get("step", ())
    train = given.get("train", bool(steps)) or bool(steps)
    if given.get("decode") and train:
        raise UsageError("a training step decodes nothing", "leave decode or train out")
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


def _texts(value: object) -> tuple[str, ...]:
    """A text, or a list of texts; a mapping as ``NAME=VALUE`` texts."""
    if isinstance(value, Mapping):
        value = [f"{name}={_said(one)}" for name, one in value.items()]
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, Sequence) or not all(isinstance(one, str) for one in value):
        raise FieldError(f"expected text or a list of texts, found {value!r:.60}")
    return tuple(value)


def _said(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _flag(value: object) -> bool:
    words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    found = value if isinstance(value, bool) else words.get(str(value).lower())
    if found is None:
        raise FieldError(f"expected true or false, found {value!r:.60}")
    return found


def _positive(value: object) -> float:
    try:
        number = float(value) if isinstance(value, str | int | float) else 0.0
    except (ValueError, OverflowError):
        number = 0.0
    if isinstance(value, bool) or not 0 < number < inf:
        raise FieldError(f"expected a positive number, found {value!r:.60}")
    return number


FIELDS: Mapping[str, Callable[[object], Any]] = {
    "input": _texts,
    "inputs": _texts,
    "decode": _flag,
    "train": _flag,
    "step": _texts,
    "dynamic": _texts,
    "schemas": _texts,
    "timeout": _positive,
    "memory": _positive,
}
"""Field -> what reads its value."""
LISTS = frozenset(("input", "inputs", "step", "dynamic", "schemas"))
"""Fields of which there may be several values."""
