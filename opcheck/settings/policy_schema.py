"""What a policy file must look like."""

import re
from collections.abc import Callable
from datetime import date, datetime

from msgspec import Struct

from opcheck.db.schema.checks import Flag, ListOf, Path, Record, Shape, ShapeError, Text
from opcheck.lang.sentence import Sentence
from opcheck.model.policy import SCHEMA, TargetRange
from opcheck.model.target import TargetSpec
from opcheck.model.verdict import Confidence, Verdict

_MOST = 2**63 - 1
_ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class _Count(Struct, frozen=True):
    """A whole number from 0 on."""

    def check(self, value: object, path: Path) -> None:
        """Raise where ``value`` is no such number."""
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MOST:
            raise ShapeError(
                path,
                Sentence("expected a whole number from 0 on, found {text}", text=_shown(value)),
            )


class _Rate(Struct, frozen=True):
    """A number from 0 to 1."""

    def check(self, value: object, path: Path) -> None:
        """Raise where ``value`` is no such number."""
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            found = _shown(value)
            raise ShapeError(
                path, Sentence("expected a number from 0 to 1, as 0.95, found {text}", text=found)
            )


class _Day(Struct, frozen=True):
    """A date, which YAML and TOML have themselves, or its ISO text."""

    def check(self, value: object, path: Path) -> None:
        """Raise where ``value`` is no date."""
        if day_of(value) is None:
            raise ShapeError(
                path, Sentence("expected a date, as 2027-03-31, found {text}", text=_shown(value))
            )


class _Parsed(Struct, frozen=True):
    """Text that ``parse`` reads; its complaint says what it wants."""

    parse: Callable[[str], object]

    def check(self, value: object, path: Path) -> None:
        """Raise where ``value`` is no text, or not what ``parse`` takes."""
        Text().check(value, path)
        try:
            self.parse(str(value))
        except ValueError as error:
            raise ShapeError(
                path, Sentence("expected another value: {text}", text=error)
            ) from error


class _OneOf(Struct, frozen=True):
    """A record that has exactly one of two keys."""

    record: Record
    keys: tuple[str, str]

    def check(self, value: object, path: Path) -> None:
        """Raise where the record does not fit, or has none or both of the keys."""
        self.record.check(value, path)
        if isinstance(value, dict) and len([key for key in self.keys if key in value]) != 1:
            one, other = self.keys
            raise ShapeError(
                path,
                Sentence(
                    "expected one of the keys {name} and {other}", name=repr(one), other=repr(other)
                ),
            )


class _Source(Struct, frozen=True):
    """A source alone, or a mapping of one; whoever checks the project reads its options."""

    def check(self, value: object, path: Path) -> None:
        """Raise where ``value`` is neither."""
        if isinstance(value, str) and value.strip():
            return
        keys = value.keys() & {"source", "script"} if isinstance(value, dict) else ()
        if len(keys) != 1:
            said = Sentence("expected a source, or a mapping with the key 'source' or 'script'")
            raise ShapeError(path, said)


def day_of(value: object) -> date | None:
    """The date that a value is or spells; None where it is none."""
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    if not isinstance(value, str) or not _ISO.fullmatch(value):
        return None
    try:
        return date.fromisoformat(value)
    except ValueError:
        return None


def _shown(value: object) -> str:
    match value:
        case None:
            return "nothing"
        case dict() | list():
            return "a mapping" if isinstance(value, dict) else "a list"
        case int() if abs(value) > _MOST:
            return "a number beyond all measure"  # of thousands of digits, it has no text
        case str():
            return repr(value[:40])
        case bool():
            return str(value).lower()
        case _:
            return str(value)


FAILING = frozenset(verdict.value for verdict in Verdict if verdict is not Verdict.NATIVE)
_FILLED = Text(pattern=r"(?s).*\S.*", form="some text")
_GLOB = Text(pattern=r"\S+", form="a pattern without spaces, as npu-*")
_OPERATOR = Text(pattern=r"\S+::\S+", form="an operator or a glob on it, as aten::view_as_*")
_WAIVER = _OneOf(
    Record(
        {"reason": _FILLED, "expires": _Day()},
        {
            "operator": _OPERATOR,
            "finding": Text(pattern=r"\S+", form="the id of a finding"),
            "module": _GLOB,
            "target": _Parsed(TargetRange.parse),
        },
    ),
    ("operator", "finding"),
)
_KEYS: dict[str, Shape] = {
    "schema": Text(frozenset({SCHEMA})),
    "targets": ListOf(_Parsed(TargetSpec.parse)),
    "fail-on": Record({}, {"verdict": ListOf(Text(FAILING)), "reason": ListOf(_GLOB)}),
    "allow-unknown": Flag(),
    "allow-advisories": Flag(),
    "confidence": Text(frozenset(Confidence)),
    "min-support-rate": _Rate(),
    "max-islands": _Count(),
    "max-fallback-bytes": _Count(),
    "max-age": _Count(),
    "baseline": _FILLED,
    "waivers": ListOf(_WAIVER),
    "sources": ListOf(_Source()),
}
POLICY = Record({}, _KEYS)
"""The whole of an ``opcheck.yaml``, and of the table ``[tool.opcheck]``."""
