"""Libraries that models import and that are not installed: one file each, and the users' own."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from opcheck.db import document
from opcheck.db.addition import Addition
from opcheck.db.document import Document
from opcheck.db.shape import ListOf, MapOf, Record, Shape, ShapeError, Text
from opcheck.errors import DatabaseError, UsageError
from opcheck.model.schemas import (
    LayerSchema,
    LibrarySchema,
    OperatorSchema,
    ParameterSchema,
    Returned,
)
from opcheck.model.verdict import Method

SCHEMA = "opcheck.schemas/1"
FOLDER = "schemas"
_HINT = "docs/extensions.md tells what such a file holds"
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
    },
)
FILE = Record(
    {"schema": Text(frozenset({SCHEMA})), "library": _WORD},
    {
        "version": Text(),
        "source": Record({"repo": Text(), "ref": Text(), "commit": Text()}),
        "refuses": Text(),
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


def additions(folder: Path, cache: Path | None) -> Iterator[Addition]:
    """What the files of a database say of the kernels that libraries bring for each vendor."""
    for path in sorted(folder.glob("*.yaml")):
        found = document.read(path, FILE, cache, _HINT)
        require_known(path, found.data)
        operators = found.data.get("operators", {})
        for vendor in sorted({v for said in operators.values() for v in said.get("kernels", {})}):
            yield _kernels(vendor, found)


def _kernels(vendor: str, found: Document) -> Addition:
    source = found.data["source"]
    sources: dict[str, dict[str, str]] = {}
    entries: dict[str, list[dict[str, Any]]] = {}
    for op, said in found.data["operators"].items():
        if vendor not in said.get("kernels", {}):
            continue
        kernel = said["kernels"][vendor]
        path, _, line = kernel["at"].partition("#L")
        sources[path] = {**source, "path": path}
        entry = {
            **kernel,
            "at": f"{path}:{line}" if line else path,
            "package": found.data["library"],
        }
        for name in (op, f"{op}_backward"):
            entries[name] = [{**entry, "impl": [name.partition("::")[2]]}]
    reason = f"{found.data['library']} brings kernels of its own"
    return Addition(
        vendor, "", reason, found.digest, Method.REGISTERED.value, sources, operators=entries
    )


class Schemas:
    """What is known of libraries; the users' files are read at once, the others when asked for."""

    def __init__(self, folder: Path, files: Iterable[Path] = ()) -> None:
        self._folder = folder
        self._own: dict[str, LibrarySchema] = {}
        for path in files:
            found = users_file(path)
            self._own[found.name] = found

    def __call__(self, package: str) -> LibrarySchema | None:
        """What is known of a package; a file of the user's holds against the one that is here."""
        path = self._folder / f"{package}.yaml"
        if package in self._own or not path.is_file():
            return self._own.get(package)
        return read(path)


def users_file(path: Path) -> LibrarySchema:
    """Read a file of the user's.

    Raises:
        UsageError: it cannot be read, or is not what such a file is to be.
    """
    try:
        return read(path)
    except DatabaseError as error:
        raise UsageError(error.message, error.hint) from error


def read(path: Path) -> LibrarySchema:
    """Read one file.

    Raises:
        DatabaseError: it is damaged, or names what it does not have.
    """
    data = document.read(path, FILE, hint=_HINT).data
    operators = {op: _operator(op, said) for op, said in data.get("operators", {}).items()}
    layers = {name: _layer(said) for name, said in data.get("layers", {}).items()}
    require_known(path, data)
    return LibrarySchema(
        data["library"],
        str(path),
        data.get("version", ""),
        operators,
        data.get("functions", {}),
        layers,
        data.get("markers", {}),
        " ".join(data.get("refuses", "").split()),
    )


def _operator(op: str, said: Mapping[str, Any]) -> OperatorSchema:
    return OperatorSchema(
        op,
        " ".join(said["signature"].split()),
        tuple(map(_returned, said["returns"])),
        {name: tuple(sizes) for name, sizes in said.get("sizes", {}).items()},
        said.get("only", {}),
        tuple(said.get("ignores", ())),
    )


def _returned(said: Mapping[str, Any]) -> Returned:
    shape = _tuple(said.get("shape"))
    dtype, along, size = (said.get(key, "") for key in ("dtype", "along", "size"))
    return Returned(said["like"], shape, dtype, along, size)


def _layer(said: Mapping[str, Any]) -> LayerSchema:
    parameters = said.get("parameters", {}).items()
    return LayerSchema(
        " ".join(said["arguments"].split()),
        said["calls"],
        {name: ParameterSchema(tuple(p["shape"]), p.get("when", "")) for name, p in parameters},
    )


def _tuple(listed: list[str] | None) -> tuple[str, ...] | None:
    return None if listed is None else tuple(listed)


def require_known(path: Path, data: Mapping[str, Any]) -> None:
    """Refuse names outside the library, operators that it does not have, kernels of no source.

    Raises:
        DatabaseError: it names such a one.
    """
    known, prefix = data.get("operators", {}), f"{data['library']}."
    for section in ("functions", "layers", "markers"):
        for name, said in data.get(section, {}).items():
            if not name.startswith(prefix):
                _refuse(path, (section, name), f"expected a name in {prefix}*, found {name!r}")
            op = {"functions": said, "layers": said}.get(section, "")
            op = op["calls"] if isinstance(op, dict) and section == "layers" else op
            if section != "markers" and op not in known:
                _refuse(path, (section, name), f"{op!r} is none of the operators of this file")
    for op, said in known.items():
        if said.get("kernels") and "source" not in data:
            expected = "expected the key 'source' in this file, as it tells of kernels"
            _refuse(path, ("operators", op, "kernels"), expected)


def _refuse(path: Path, where: tuple[str | int, ...], expected: str) -> None:
    trail = " > ".join(map(str, where))
    line = document.line_of(path, where)
    raise DatabaseError(f"{path}:{line}: {expected} (at {trail})", _HINT)
