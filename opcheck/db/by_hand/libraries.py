"""Libraries that models import and that are not installed - one file each, and the users' own."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from opcheck.db.by_hand.overlays import Addition
from opcheck.db.files import document
from opcheck.db.files.document import Document
from opcheck.db.files.folder import read_folder
from opcheck.db.library_releases import releases_of
from opcheck.db.schema.additions import LIBRARY_FILE
from opcheck.errors import DatabaseError, UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.schemas import (
    DeviceSchema,
    LayerSchema,
    LibrarySchema,
    OperatorSchema,
    ParameterSchema,
    Returned,
)
from opcheck.model.verdict import Method

FOLDER = "schemas"
_HINT = Sentence("docs/extensions.md tells what such a file holds")


def additions(folder: Path, cache: Path | None) -> Iterator[Addition]:
    """What the files of a database say of the kernels that libraries bring for each vendor."""
    for found in read_folder(folder, LIBRARY_FILE, cache, _HINT):
        require_known(found.path, found.data)
        operators = found.data.get("operators", {})
        vendors = {vendor for said in operators.values() for vendor in said.get("kernels", {})}
        vendors |= {said["vendor"] for said in found.data.get("conditions", ())}
        for vendor in sorted(vendors):
            yield _kernels(vendor, found)


def _kernels(vendor: str, found: Document) -> Addition:
    source = found.data["source"]
    sources: dict[str, dict[str, str]] = dict(found.data.get("sources", {}))
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
    conditions = [
        {key: value for key, value in said.items() if key != "vendor"}
        for said in found.data.get("conditions", ())
        if said["vendor"] == vendor
    ]
    return Addition(
        vendor,
        "",
        reason,
        found.digest,
        Method.REGISTERED.value,
        sources,
        operators=entries,
        conditions=conditions,
        library=releases_of(found.data),
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
        return replace(read(path), users=True)
    except DatabaseError as error:
        raise UsageError(error.message, error.hint) from error


def read(path: Path) -> LibrarySchema:
    """Read one file.

    Raises:
        DatabaseError: it is damaged, or names what it does not have.
    """
    data = document.read(path, LIBRARY_FILE, hint=_HINT).data
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
        _device(data.get("device")),
        tuple(data.get("modules", ())),
        data.get("answers", {}),
        tuple(data.get("passes", ())),
    )


def _device(said: Mapping[str, Any] | None) -> DeviceSchema | None:
    if said is None:
        return None
    return DeviceSchema(said["type"], tuple(said.get("modules", ())), said.get("answers", {}))


def _operator(op: str, said: Mapping[str, Any]) -> OperatorSchema:
    return OperatorSchema(
        op,
        " ".join(said["signature"].split()),
        tuple(map(_returned, said["returns"])),
        {name: tuple(sizes) for name, sizes in said.get("sizes", {}).items()},
        said.get("only", {}),
        tuple(said.get("ignores", ())),
        said.get("letters", {}),
        said.get("gradient", ""),
    )


def _returned(said: Mapping[str, Any]) -> Returned:
    shape = _tuple(said.get("shape"))
    keys = ("dtype", "along", "size", "dtype_of")
    return Returned(said["like"], shape, *(said.get(key, "") for key in keys))


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
    for section in ("modules", "passes"):
        for place, name in enumerate(data.get(section, ())):
            _require_inside(path, (section, place), name, prefix)
    for section in ("functions", "layers", "markers", "answers"):
        for name, said in data.get(section, {}).items():
            _require_inside(path, (section, name), name, prefix)
            op = {"functions": said, "layers": said}.get(section, "")
            op = op["calls"] if isinstance(op, dict) and section == "layers" else op
            if section in ("functions", "layers") and op not in known:
                _refuse(
                    path,
                    (section, name),
                    Sentence("{text} is none of the operators of this file", text=repr(op)),
                )
    _require_cited(path, data)
    for op, said in known.items():
        if said.get("kernels") and "source" not in data:
            expected = Sentence("expected the key 'source' in this file, as it tells of kernels")
            _refuse(path, ("operators", op, "kernels"), expected)


def _require_cited(path: Path, data: Mapping[str, Any]) -> None:
    """Refuse conditions on operators, or by sources, that the file does not have."""
    known, sources = data.get("operators", {}), data.get("sources", {})
    for at in data.get("releases", {}).get("at", ()):
        if at.partition(":")[0] not in sources:
            wrong = Sentence("{text} is none of the sources of this file", text=repr(at))
            _refuse(path, ("releases", "at"), wrong)
    for place, said in enumerate(data.get("conditions", ())):
        for op in said["ops"]:
            if op not in known:
                wrong = Sentence("{text} is none of the operators of this file", text=repr(op))
                _refuse(path, ("conditions", place), wrong)
        for at in said["at"]:
            if at.partition(":")[0] not in sources:
                wrong = Sentence("{text} is none of the sources of this file", text=repr(at))
                _refuse(path, ("conditions", place), wrong)


def _require_inside(path: Path, where: tuple[str | int, ...], name: str, prefix: str) -> None:
    if not name.startswith(prefix):
        _refuse(
            path,
            where,
            Sentence("expected a name in {prefix}*, found {text}", prefix=prefix, text=repr(name)),
        )


def _refuse(path: Path, where: tuple[str | int, ...], expected: Sentence) -> None:
    trail = " > ".join(map(str, where))
    line = document.line_of(path, where)
    raise DatabaseError(
        Sentence(
            "{text_file}:{line}: {said} (at {text})",
            text_file=path,
            line=line,
            said=expected,
            text=trail,
        ),
        _HINT,
    )
