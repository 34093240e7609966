"""Ascend's native-API tables by overload: what each table says of the overloads its APIs call.

What several APIs say of one overload is joined in favour of the user: a dtype counts as left out
only where no API that calls the overload lists it, and an API documented without a list lists all.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import Struct

from opcheck.db.importers import ascend_documents as documents
from opcheck.db.importers.ascend_apis import argument, overloads
from opcheck.db.importers.ascend_documents import Api
from opcheck.db.importers.ascend_notes import (
    ON_HOST,
    DtypeNote,
    Note,
    RankNote,
    ValueNote,
    mentions_dtype,
    read_notes,
)
from opcheck.db.importers.upstream import Function
from opcheck.db.versions import version_key
from opcheck.model.trace import DTYPE_BYTES

EVERY = frozenset(DTYPE_BYTES)
_NEW = ("910b", "910c", "950")
_OLD = ("310b", "310p", "910a")
_FILLS = re.compile(r"empty|zeros|ones|full|new_\w+|\w+_like")
"""Operators that make a tensor and read none: the tables list what was tried."""

OF_FIXED_RANK = re.compile(r"[123]d$")
"""Operators that take one rank anyway, so that a limit on it says nothing."""
_METADATA = re.compile(r"(detach|requires_grad|resize_as|set|squeeze|t|transpose|unsqueeze)_")
"""In-place forms that change no element."""


class Table(Struct, frozen=True):
    """One vendor table, and what it is asked about."""

    id: str
    path: str
    torch: str
    """The torch version whose API it describes."""
    release: str
    """First release that shipped it."""
    chips: tuple[str, ...]
    """Chips that it is about; empty where it names none."""


TABLES = (
    Table("t26.1-2.7", "zh-26.1.0-torch2.7.1", "2.7", "26.1.0", _NEW),
    Table("t26.1-2.12", "zh-26.1.0-torch2.12", "2.12", "26.1.0", _NEW),
    Table("t26.0-2.6", "zh-26.0.0-torch2.6", "2.6", "26.0.0", ()),
    Table("t26.0-2.7", "zh-26.0.0-torch2.7.1", "2.7", "26.0.0", ()),
    Table("t5.0-2.1", "en-torch2.1-torch_npu_apis.tsv", "2.1", "5.0.0", ()),
)


@dataclass(slots=True)
class Said:
    """What one table says of one argument of one overload, over all APIs that call it."""

    dtypes: dict[str, frozenset[str]] = field(default_factory=dict)
    """Chip -> dtypes that some API allows there."""
    at: list[str] = field(default_factory=list)
    """Where the lists stand."""


@dataclass(slots=True)
class Reading:
    """Everything one table says, by overload."""

    arguments: dict[tuple[str, str], Said] = field(default_factory=dict)
    """(overload, argument) -> dtypes."""
    mentioned: set[str] = field(default_factory=set)
    maximum: dict[str, tuple[str, int, str]] = field(default_factory=dict)
    """Overload -> argument, most dimensions, where that stands."""
    denied: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    """Overload -> argument, the truth value it may not have, where that stands."""
    on_host: dict[str, str] = field(default_factory=dict)
    """Overload -> where it is said that it may run on the host."""
    off: dict[str, dict[str, bool]] = field(default_factory=dict)
    """Overload -> chip -> every API that calls it is marked as not running there."""
    marked_at: dict[str, str] = field(default_factory=dict)
    apis: int = 0
    mapped: int = 0
    with_dtypes: int = 0
    not_understood: int = 0
    """Statements with a dtype in them that are of no known form, so say nothing here."""


def tables_of(release: str) -> dict[Table, tuple[str, ...]]:
    """Tables that bear on a release -> chips that they are asked about there.

    26.1.0 has tables for new chips; the older ones keep those of 26.0.0. Releases before 26.0.0
    shipped one file with nearly the same list for every API; what that leaves out counts only
    where the tables of 26.0.0 leave it out too.
    """
    if version_key(release) >= version_key("26.1.0"):
        return {t: t.chips or _OLD for t in TABLES if t.release != "5.0.0"}
    wanted = {"26.0.0"} if version_key(release) >= version_key("26.0.0") else {"5.0.0", "26.0.0"}
    return {t: (*_OLD, *_NEW) for t in TABLES if t.release in wanted}


def read_table(sources: Path, table: Table, chips: Iterable[str]) -> Reading:
    """Read one table for some chips."""
    reading = Reading()
    for api in _apis(sources / "ascend" / "native_apis" / table.path, table):
        called = overloads(api.name, sources / "pytorch", table.torch)
        notes = tuple(read_notes(api.notes))
        reading.apis += 1
        reading.mapped += bool(called)
        reading.with_dtypes += bool(called) and any(isinstance(n, DtypeNote) for n in notes)
        reading.not_understood += sum(
            mentions_dtype(text) and not any(read_notes([text])) for text in api.notes
        )
        for function in called:
            _take(reading, table, api, function, notes, tuple(chips))
    return reading


def _apis(path: Path, table: Table) -> Iterator[Api]:
    if path.suffix == ".tsv":
        return documents.read_tsv(path)
    return documents.read_headings(path) if table.chips else documents.read_rows(path)


def _take(
    reading: Reading,
    table: Table,
    api: Api,
    function: Function,
    notes: tuple[Note, ...],
    chips: tuple[str, ...],
) -> None:
    """Add what one API says of one overload that it calls."""
    op = f"aten::{function.name}"
    # the oldest file was rearranged when it was collected, so its lines mean nothing
    at = f"{table.id}:{api.file}:{api.line}" if table.path != api.file else table.id
    reading.mentioned.add(op)
    for name, listed in _by_argument(function, notes, chips).items():
        said = reading.arguments.setdefault((op, name), Said())
        if any(dtypes != EVERY for dtypes in listed.values()):
            said.at.append(at)
        for chip, dtypes in listed.items():
            said.dtypes[chip] = said.dtypes.get(chip, frozenset()) | dtypes
    for note in notes:
        if isinstance(note, RankNote) and (target := _ranked(function, note)):
            reading.maximum.setdefault(op, (target, note.maximum, at))
        if isinstance(note, ValueNote) and note.argument in function.flags:
            reading.denied.setdefault(op, (note.argument, note.denied, at))
    if not _computes(function):
        return
    if ON_HOST in api.notes:
        reading.on_host.setdefault(op, at)
    off = reading.off.setdefault(op, dict.fromkeys(chips, True))
    for chip in chips:
        off[chip] = off[chip] and api.marks.get(chip) is False
    reading.marked_at.setdefault(op, at)


def _ranked(function: Function, note: RankNote) -> str:
    return note.argument if note.argument == "*" else argument(function, note.argument)


def _by_argument(
    function: Function, notes: tuple[Note, ...], chips: tuple[str, ...]
) -> dict[str, dict[str, frozenset[str]]]:
    """Argument -> chip -> dtypes; every argument that a kernel might look at."""
    if not _computes(function):
        return {}
    names = (*function.tensors, *(("dtype",) if function.takes_dtype else ()))
    found: dict[str, dict[str, frozenset[str]]] = {}
    for name in names:
        mine = [n for n in notes if isinstance(n, DtypeNote) and _names(function, n, name)]
        found[name] = {chip: _allowed(mine, chip) for chip in chips}
    return found


def _computes(function: Function) -> bool:
    """Whether a kernel looks at the elements of an argument."""
    return function.gives_tensor and not (
        function.view or _FILLS.fullmatch(function.base) or _METADATA.fullmatch(function.base)
    )


def _names(function: Function, note: DtypeNote, name: str) -> bool:
    return name == ("dtype" if note.argument == "dtype" else argument(function, note.argument))


def _allowed(notes: Iterable[DtypeNote], chip: str) -> frozenset[str]:
    here = [note for note in notes if not note.chips or chip in note.chips]
    lists = [note.dtypes for note in here if note.allowed]
    denied = frozenset[str]().union(*(note.dtypes for note in here if not note.allowed))
    return (frozenset[str]().union(*lists) if lists else EVERY) - denied
