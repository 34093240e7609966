"""Ascend's native-API tables by overload - what each says of the overloads its APIs call."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from msgspec import Struct

from opcheck.db.importers.ascend import documents
from opcheck.db.importers.ascend.documents import (
    ON_HOST,
    Api,
    DtypeNote,
    Note,
    RankNote,
    ValueNote,
    mentions_dtype,
    read_notes,
)
from opcheck.db.importers.shared import operator_list
from opcheck.db.importers.shared.operator_list import Function
from opcheck.db.versions import version_key
from opcheck.model.trace import DTYPE_BYTES

_PREFIXES = {"torch.fft.": "fft_", "torch.linalg.": "linalg_", "torch.special.": "special_"}
_FUNCTIONAL = "torch.nn.functional."
_MODULE = "torch.nn."
_METHOD = "torch.Tensor."

_UPSAMPLE = (
    "upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d", "upsample_linear1d",
    "upsample_bilinear2d", "upsample_bicubic2d", "upsample_trilinear3d",
)  # fmt: skip
_OTHER_NAMES: Mapping[str, tuple[str, ...]] = {
    # functional -> what its Python body calls, where the names differ
    "affine_grid": ("affine_grid_generator",),
    "cross_entropy": ("cross_entropy_loss",),
    "fold": ("col2im",),
    "grid_sample": ("grid_sampler",),
    "interpolate": _UPSAMPLE,
    "logsigmoid": ("log_sigmoid",),
    "nll_loss": ("nll_loss_nd",),
    "unfold": ("im2col",),
    "upsample": ("upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d"),
    "upsample_bilinear": ("upsample_bilinear2d",),
    "upsample_nearest": ("upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d"),
}


def overloads(api: str, folder: Path, torch: str) -> tuple[Function, ...]:
    """Overloads that an API calls in one torch version; none where that is not plain."""
    bases = _by_base(folder, torch)
    variant = "method" if api.startswith(_METHOD) else "function"
    found = (function for base in _bases(api, bases) for function in bases.get(base, ()))
    return tuple(f for f in found if variant in f.variants or f.module == "nn")


def argument(function: Function, documented: str) -> str:
    """Schema name of a documented tensor argument; "" where the overload has no such."""
    if documented in function.tensors:
        return documented
    names = ("self", "input", "tensors") if documented in ("input", "self") else ()
    return next((name for name in names if name in function.tensors), "")


@cache
def _by_base(folder: Path, torch: str) -> Mapping[str, tuple[Function, ...]]:
    found: dict[str, list[Function]] = {}
    for function in operator_list.functions(folder, torch).values():
        found.setdefault(function.base, []).append(function)
    return {base: tuple(listed) for base, listed in found.items()}


def _bases(api: str, known: Mapping[str, object]) -> Iterable[str]:
    for module, prefix in _PREFIXES.items():
        if api.startswith(module):
            return (prefix + api.removeprefix(module),)
    if api.startswith(_FUNCTIONAL):
        return _functional(api.removeprefix(_FUNCTIONAL))
    if api.startswith(_METHOD):
        return (api.removeprefix(_METHOD),)
    if api.startswith(_MODULE):
        return _class(api.removeprefix(_MODULE), known)
    name = api.removeprefix("torch.")
    return (name,) if "." not in name else ()


def _functional(name: str) -> tuple[str, ...]:
    return _OTHER_NAMES.get(name, (name,))


def _class(name: str, known: Mapping[str, object]) -> tuple[str, ...]:
    """The functional whose name, without underscores, is the class's in lower case."""
    if not name[:1].isupper() or "." in name:
        return ()
    spelled = name.lower()
    for functional in (*_OTHER_NAMES, *sorted(known)):
        if functional.replace("_", "") == spelled and not functional.startswith("_"):
            return _functional(functional)
    return ()


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
class TableStatement:
    """What one table says of one argument of one overload, over all APIs that call it."""

    dtypes: dict[str, frozenset[str]] = field(default_factory=dict)
    """Chip -> dtypes that some API allows there."""
    at: list[str] = field(default_factory=list)
    """Where the lists stand."""


@dataclass(slots=True)
class Reading:
    """Everything one table says, by overload."""

    arguments: dict[tuple[str, str], TableStatement] = field(default_factory=dict)
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
        said = reading.arguments.setdefault((op, name), TableStatement())
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
