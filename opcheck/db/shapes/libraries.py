"""A library that models import and that is not installed."""

from opcheck.db.shape import ListOf, MapOf, Record, Shape, ShapeError, Text

SCHEMA = "opcheck.schemas/1"
_NAME = r"[A-Za-z_]\w*"
_DTYPES = frozenset(
    {"bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32",
     "float64", "complex64", "complex128"}
)  # fmt: skip


class _Constant:
    """A value that an argument can have."""

    def check(self, value: object, path: tuple[str | int, ...]) -> None:
        if value is not None and not isinstance(value, bool | int | float | str):
            raise ShapeError(path, "expected text, a number, true, false or null")


def _text(pattern: str, form: str) -> Text:
    return Text(pattern=pattern, form=form)


_WORD = _text(_NAME, "a name")
_OPERATOR = _text(rf"{_NAME}::{_NAME}", "an operator (namespace::name)")
_DOTTED = _text(rf"{_NAME}(\.{_NAME})+", "a name with its module (package.module.name)")
_MODULE = _text(rf"{_NAME}(\.{_NAME})*", "a module (package.module)")
_SIGNATURE = _text(r"(?s)\(.{0,4000}\) -> .{1,400}", "(arguments) -> results, as PyTorch writes it")
_ARGUMENTS = _text(r"(?s)\(.{0,4000}\)", "(arguments), as PyTorch writes them")
_SIZES: Shape = ListOf(_text(rf"({_NAME}(\.\.\.)?)|\d{{1,9}}", "a name, name... or a number"))
_EXPRESSION = _text(r"[\w\s+\-*/%(),.\[\]]{1,200}", "a size (names, numbers, + - * // %)")
_SHAPE: Shape = ListOf(_EXPRESSION)
_PARAMETER = Record({"shape": _SHAPE}, {"when": _WORD})
_RETURNED = Record(
    {"like": _WORD}, {"shape": _SHAPE, "dtype": Text(_DTYPES), "along": _WORD, "size": _EXPRESSION}
)
_KERNEL = Record({"at": Text()}, {"chips": ListOf(Text())})
_OPERATOR_SAID = Record(
    {"signature": _SIGNATURE, "returns": ListOf(_RETURNED, 1)},
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
