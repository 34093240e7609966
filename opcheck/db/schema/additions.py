"""What is added to targets - overlays, advisories, remedies, size rules, and libraries."""

from opcheck.db.schema.checks import Flag, ListOf, MapOf, OneOrMore, Record, Shape, ShapeError, Text
from opcheck.db.schema.tables import (
    CITATIONS,
    CODE,
    COMPLETE,
    DATE,
    METHOD,
    OPEN_SPANS,
    OPERATOR,
    OPERATORS,
    SOURCE,
    TEST,
    TEXTS,
    WHERE,
    WHY,
)
from opcheck.lang.sentence import Sentence
from opcheck.model.dynamic import SiteKind, Taking
from opcheck.model.plan import Label
from opcheck.model.verdict import Confidence, Verdict

OVERLAY = "opcheck.overlay/1"
ADVISORY = "opcheck.advisory/1"

OVERLAY_FILE = Record(
    {
        "schema": Text(frozenset({OVERLAY})),
        "vendor": Text(),
        "reason": WHY,
        "method": METHOD,
        "sources": MapOf(
            Record(
                {"repo": Text()},
                {"ref": Text(), "commit": Text(), "path": Text(), "date": DATE, "note": Text()},
            )
        ),
    },
    {
        **WHERE,
        "releases": OPEN_SPANS,
        "date": DATE,
        "operators": MapOf(
            OneOrMore(
                Record(
                    {"at": Text()},
                    {
                        **WHERE,
                        "registered": Flag(),
                        "impl": TEXTS,
                        "keys": TEXTS,
                        "method": METHOD,
                    },
                )
            ),
            OPERATOR,
        ),
        "conditions": ListOf(
            Record(
                {
                    "ops": OPERATORS,
                    "code": CODE,
                    "verdict": Text(frozenset(Verdict)),
                    "confidence": Text(frozenset(Confidence)),
                    "text": WHY,
                    "at": CITATIONS,
                },
                {**WHERE, "method": METHOD, "tests": ListOf(TEST)},
            )
        ),
        "withdrawn": ListOf(Record({"ops": OPERATORS, "code": CODE, "at": CITATIONS}, WHERE)),
        "complete": COMPLETE,
    },
)
"""What others add to the targets of a vendor, or correct."""
EFFECTS = frozenset({
    "wrong-values", "wrong-shape", "memory-corruption", "may-crash", "may-hang", "slow",
})  # fmt: skip
"""What goes wrong with a use that runs, or runs on one machine and not on another."""
MILD = frozenset({"less-precise"})
"""What is worth knowing of a use that runs well enough."""
ENDINGS = frozenset({"crash", "hang"})
"""What becomes of each use that never runs."""
ADVISORY_FILE = Record(
    {
        "schema": Text(frozenset({ADVISORY})),
        "id": CODE,
        "title": WHY,
        "date": DATE,
        "effect": Text(EFFECTS | ENDINGS | MILD),
        "affects": ListOf(Record({"vendor": Text()}, {**WHERE, "releases": OPEN_SPANS}), least=1),
        "uses": ListOf(Record({"ops": OPERATORS}, {"tests": ListOf(TEST)}), least=1),
        "text": WHY,
        "confidence": Text(frozenset(Confidence)),
        "method": METHOD,
        "reason": WHY,
        "references": ListOf(
            Record({"url": Text(pattern=r"https?://\S+", form="an address"), "date": DATE}),
            least=1,
        ),
    },
    {"fixed_in": Text(), "workaround": Text(), "complete": COMPLETE},
)
"""Operators that have a kernel, which does something else than it should."""


REMEDY = "opcheck.remedy/1"
DYNAMIC = "opcheck.dynamic/1"

REMEDY_FILE = Record(
    {
        "schema": Text(frozenset({REMEDY})),
        "id": CODE,
        "for": ListOf(Record({"vendor": Text()}, {**WHERE, "releases": OPEN_SPANS}), least=1),
        "summary": WHY,
        "write": Text(),
        "on_device": Flag(),
        "label": Text(frozenset(Label)),
        "confidence": Text(frozenset(Confidence)),
        "method": METHOD,
        "reason": WHY,
        "sources": MapOf(SOURCE),
        "at": TEXTS,
    },
    {
        "codes": TEXTS,
        "ops": OPERATORS,
        "dtypes": TEXTS,
        "gives_up": WHY,
        "complete": COMPLETE,
    },
)
"""What a vendor ships against a finding."""
DYNAMIC_FILE = Record(
    {
        "schema": Text(frozenset({DYNAMIC})),
        "id": CODE,
        "for": ListOf(Record({"vendor": Text()}, {**WHERE, "releases": OPEN_SPANS}), least=1),
        "says": ListOf(
            Record(
                {
                    "sites": ListOf(Text(frozenset(SiteKind)), least=1),
                    "how": Text(frozenset(Taking)),
                    "text": WHY,
                    "at": CITATIONS,
                },
                {"ops": OPERATORS, "varies": Text()},
            ),
            least=1,
        ),
        "confidence": Text(frozenset(Confidence)),
        "method": METHOD,
        "reason": WHY,
        "sources": MapOf(
            Record(
                {"repo": Text(), "path": Text()},
                {"ref": Text(), "commit": Text(), "date": DATE, "note": Text()},
            )
        ),
    },
    {"complete": COMPLETE},
)
"""How targets take sizes that are not always the same."""


SCHEMA = "opcheck.schemas/1"
_NAME = r"[A-Za-z_]\w*"
_DTYPES = frozenset(
    {"bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32",
     "float64", "complex64", "complex128", "float8_e4m3fn", "float8_e5m2"}
)  # fmt: skip


class _Constant:
    """A value that an argument can have."""

    def check(self, value: object, path: tuple[str | int, ...]) -> None:
        if value is not None and not isinstance(value, bool | int | float | str):
            raise ShapeError(path, Sentence("expected text, a number, true, false or null"))


def _text(pattern: str, form: str) -> Text:
    return Text(pattern=pattern, form=form)


_WORD = _text(_NAME, "a name")
_OPERATOR = _text(rf"{_NAME}::{_NAME}", "an operator (namespace::name)")
_DOTTED = _text(rf"{_NAME}(\.{_NAME})+", "a name with its module (package.module.name)")
_MODULE = _text(rf"{_NAME}(\.{_NAME})*", "a module (package.module)")
_SIGNATURE = _text(
    r"(?s:\(.{0,4000}\) -> .{1,400})", "(arguments) -> results, as PyTorch writes it"
)
_ARGUMENTS = _text(r"(?s:\(.{0,4000}\))", "(arguments), as PyTorch writes them")
_SIZES: Shape = ListOf(_text(rf"({_NAME}(\.\.\.)?)|\d{{1,9}}", "a name, name... or a number"))
_EXPRESSION = _text(r"[\w\s+\-*/%(),.\[\]]{1,200}", "a size (names, numbers, + - * // %)")
_SHAPE: Shape = ListOf(_EXPRESSION)
_PARAMETER = Record({"shape": _SHAPE}, {"when": _WORD})
_RETURNED = Record(
    {"like": _WORD},
    {
        "shape": _SHAPE,
        "dtype": Text(_DTYPES),
        "dtype_of": _WORD,
        "along": _WORD,
        "size": _EXPRESSION,
    },
)
_KERNEL = Record({"at": Text()}, {**WHERE, "version": OPEN_SPANS})
_OPERATOR_SAID = Record(
    {"signature": _SIGNATURE, "returns": ListOf(_RETURNED)},
    {
        "at": Text(),
        "kernels": MapOf(_KERNEL),
        "sizes": MapOf(_SIZES, _WORD),
        "only": MapOf(_Constant(), _WORD),
        "ignores": ListOf(_WORD),
        "gradient": _OPERATOR,
        "letters": MapOf(_WORD, _WORD),
    },
)
LIBRARY_FILE = Record(
    {"schema": Text(frozenset({SCHEMA})), "library": _WORD},
    {
        "version": Text(),
        "source": Record({"repo": Text(), "ref": Text(), "commit": Text()}),
        "sources": MapOf(SOURCE),
        "conditions": ListOf(
            Record(
                {
                    "vendor": Text(),
                    "ops": ListOf(_OPERATOR, 1),
                    "code": CODE,
                    "verdict": Text(frozenset(Verdict)),
                    "confidence": Text(frozenset(Confidence)),
                    "method": METHOD,
                    "text": WHY,
                    "at": CITATIONS,
                },
                {**WHERE, "tests": ListOf(TEST), "version": OPEN_SPANS},
            )
        ),
        "releases": Record(
            {"package": _WORD, "assumed": MapOf(Text(), OPEN_SPANS), "at": CITATIONS}
        ),
        "refuses": Text(),
        "device": Record(
            {"type": _WORD}, {"modules": ListOf(_MODULE), "answers": MapOf(_Constant(), _WORD)}
        ),
        "modules": ListOf(_DOTTED),
        "answers": MapOf(_Constant(), _DOTTED),
        "passes": ListOf(_DOTTED),
        "operators": MapOf(_OPERATOR_SAID, _OPERATOR),
        "functions": MapOf(_OPERATOR, _DOTTED),
        "layers": MapOf(
            Record(
                {"arguments": _ARGUMENTS, "calls": _OPERATOR},
                {"parameters": MapOf(_PARAMETER, _WORD)},
            ),
            _DOTTED,
        ),
        "markers": MapOf(MapOf(_Constant(), _WORD), _DOTTED),
    },
)
