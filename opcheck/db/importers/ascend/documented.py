"""What Ascend's native-API tables agree on, as sections of a release's file."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct

from opcheck.db.importers.ascend.chips import known
from opcheck.db.importers.ascend.tables import (
    EVERY,
    OF_FIXED_RANK,
    Reading,
    Table,
    TableStatement,
    read_table,
    tables_of,
)
from opcheck.db.importers.base import source_files
from opcheck.db.importers.shared import operator_list
from opcheck.db.schema.tables import DTYPES

Chips = Mapping[Table, tuple[str, ...]]
"""Table -> chips that it is asked about."""
T = TypeVar("T")


class Restriction(Struct, frozen=True):
    """Overloads of one operator whose argument may not have every dtype on some chips."""

    ops: tuple[str, ...]
    argument: str
    chips: tuple[str, ...]
    dtypes: frozenset[str]
    at: tuple[str, ...]


def restrictions(readings: Mapping[Table, Reading], chips: Chips) -> Iterator[Restriction]:
    """Every restriction that the tables agree on, sorted by operator."""
    forms: dict[tuple[str, str], set[str]] = {}
    for reading in readings.values():
        for op, name in reading.arguments:
            forms.setdefault((_operator(op), name), set()).add(op)
    every = sorted({chip for asked in chips.values() for chip in asked})
    for (_, name), ops in sorted(forms.items()):
        yield from _of_operator(readings, every, name, sorted(ops))


def _of_operator(
    readings: Mapping[Table, Reading], chips: Iterable[str], name: str, ops: list[str]
) -> Iterator[Restriction]:
    """Restrictions of one argument of an operator, chips that fare alike together."""
    lists = {table: _joined(reading, ops, name) for table, reading in readings.items()}
    alike: dict[tuple[tuple[str, ...], frozenset[str], tuple[Table, ...]], list[str]] = {}
    for chip in chips:
        bound = tuple(op for op in ops if _is_bound(readings, op, name, chip))
        here = tuple(table for table, by_chip in lists.items() if chip in by_chip)
        dtypes = frozenset[str]().union(*(lists[table][chip] for table in here))
        if bound and here and dtypes != EVERY:
            alike.setdefault((bound, dtypes, here), []).append(chip)
    for (bound, dtypes, here), same in alike.items():
        at = {cited for table in here for op in ops for cited in _at(readings[table], op, name)}
        yield Restriction(bound, name, tuple(same), dtypes, tuple(sorted(at, key=place)))


def _operator(op: str) -> str:
    """Name without overload, and without the underscore of the in-place form."""
    return op.partition(".")[0].rstrip("_")


def _is_bound(readings: Mapping[Table, Reading], op: str, name: str, chip: str) -> bool:
    """Whether some API of this very overload, and none without a list, speaks of a chip."""
    said = [r.arguments[op, name].dtypes for r in readings.values() if (op, name) in r.arguments]
    here = [dtypes[chip] for dtypes in said if chip in dtypes]
    return bool(here) and EVERY not in here


def _joined(reading: Reading, ops: Iterable[str], name: str) -> dict[str, frozenset[str]]:
    """Chip -> dtypes that a list of any form of the operator has."""
    joined: dict[str, frozenset[str]] = {}
    for op in ops:
        said = reading.arguments.get((op, name), TableStatement())
        for chip, dtypes in said.dtypes.items():
            if dtypes != EVERY:
                joined[chip] = joined.get(chip, frozenset()) | dtypes
    return joined


def _at(reading: Reading, op: str, name: str) -> list[str]:
    return reading.arguments.get((op, name), TableStatement()).at


def place(at: str) -> tuple[str, str, int]:
    """Sort key of a citation: table, file, line."""
    table, file, line = (*at.split(":"), "", "0")[:3]
    return table, file, int(line)


class Remark(Struct, frozen=True):
    """Something that a table says of overloads, on the chips that it is about."""

    ops: tuple[str, ...]
    chips: tuple[str, ...]
    at: str
    argument: str = ""
    maximum: int = 0
    denied: str = ""


def not_running(readings: Mapping[Table, Reading]) -> Iterator[Remark]:
    """Overloads whose every API is marked, in every table, as not running on some chips."""
    groups: dict[str, set[str]] = {}
    for reading in readings.values():
        for op in reading.off:
            groups.setdefault(_operator(op), set()).add(op)
    for _, ops in sorted(groups.items()):
        said = [r.off[op] for r in readings.values() for op in ops if op in r.off]
        every = sorted({chip for marks in said for chip in marks})
        off = tuple(c for c in every if all(marks[c] for marks in said if c in marks))
        if off:
            at = [r.marked_at[op] for r in readings.values() for op in ops if op in r.marked_at]
            yield Remark(tuple(sorted(ops)), off, max(at, key=place))


def on_host(readings: Mapping[Table, Reading], chips: Chips) -> Iterator[Remark]:
    """Overloads that a table says may run on the host."""
    said = {table: reading.on_host for table, reading in readings.items()}
    for op, here, places in _by_operator(said, chips):
        yield Remark((op,), here, max(places, key=place))


def limited_rank(readings: Mapping[Table, Reading], chips: Chips) -> Iterator[Remark]:
    """Overloads with a documented limit on the number of dimensions."""
    said = {table: reading.maximum for table, reading in readings.items()}
    for op, here, limits in _by_operator(said, chips):
        name, most, at = max(limits, key=lambda limit: (limit[1], place(limit[2])))
        if not OF_FIXED_RANK.search(_operator(op)):
            yield Remark((op,), here, at, name, most)


def denied_values(readings: Mapping[Table, Reading], chips: Chips) -> Iterator[Remark]:
    """Overloads with a flag that may not have one of its values."""
    said = {table: reading.denied for table, reading in readings.items()}
    for op, here, values in _by_operator(said, chips):
        name, value, at = max(values, key=lambda value: place(value[2]))
        yield Remark((op,), here, at, name, denied=value)


def _by_operator(
    said: Mapping[Table, Mapping[str, T]], chips: Chips
) -> Iterator[tuple[str, tuple[str, ...], list[T]]]:
    """Overload, chips, and what the tables asked about just those chips say of it."""
    for op in sorted({op for by_op in said.values() for op in by_op}):
        found: dict[tuple[str, ...], list[T]] = {}
        for table, by_op in said.items():
            if op in by_op:
                found.setdefault(chips[table], []).append(by_op[op])
        for here, sayings in sorted(found.items()):
            yield op, here, sayings


_SHORT = {DTYPES[word]: word for word in reversed(DTYPES)}
_WORDS = tuple((word, name) for word, name in DTYPES.items() if _SHORT[name] == word)
"""The file's word for each dtype, and torch's name."""


_DENIED = (
    "value-not-supported",
    "unsupported",
    "the vendor's table does not allow {argument}={actual}",
)
_ANY_ORDER = (
    "sorted-all-the-same",
    "native",
    "the vendor's table has no {argument}={actual}: what it returns is sorted, which an unordered "
    "result may be",
)
"""``sorted=False`` asks for any order, and the tables say that the device sorts: nothing breaks."""


class Documented:
    """The tables that bear on one release, read for the overloads that run on the device."""

    def __init__(
        self, sources: Path, release: str, listed: Mapping[str, tuple[str, ...]], torch: str
    ) -> None:
        self._sources = sources
        self._listed = listed
        self._known = operator_list.functions(sources / "pytorch", torch)
        here = set(known(release))
        self.chips = {
            table: tuple(chip for chip in chips if chip in here)
            for table, chips in tables_of(release).items()
        }
        self.readings: Mapping[Table, Reading] = {
            table: read_table(sources, table, chips) for table, chips in self.chips.items()
        }

    def sources(self) -> dict[str, dict[str, str]]:
        """Entries of the file's table of sources: the folder of each table."""
        files = source_files(self._sources / "ascend")
        found = {}
        for table in self.chips:
            name = next(f for f in sorted(files) if f.startswith(f"native_apis/{table.path}"))
            source = files[name].as_data()
            if name.endswith(".md"):
                source["path"] = source["path"].rpartition("/")[0] + "/"
            found[table.id] = source
        return found

    def figures(self) -> str:
        """How much of each table was understood, one line a table."""
        return "\n".join(
            f"{table.id}: {reading.apis} APIs, {reading.mapped} of them call known overloads, "
            f"{reading.with_dtypes} of those with dtypes;\n"
            f"  {reading.not_understood} statements with a dtype in them were not understood."
            for table, reading in self.readings.items()
        )

    def dtypes(self) -> Iterator[dict[str, Any]]:
        """Lines of the section ``documented``."""
        for said in restrictions(self.readings, self.chips):
            ops = self._on_device(said.ops)
            left_out = EVERY - said.dtypes
            key, dtypes = (
                ("only", said.dtypes) if len(left_out) > len(said.dtypes) else ("not", left_out)
            )
            words = [word for word, name in _WORDS if name in dtypes]
            if ops:
                yield {
                    "ops": ops,
                    "argument": said.argument,
                    "chips": said.chips,
                    key: words,
                    "at": said.at,
                }

    def listed(self, op: str, argument: str, chip: str) -> frozenset[str]:
        """The dtypes that some table gives an argument on a chip, in any form of the operator."""
        return self._lists.get((_operator(op), argument, chip), frozenset())

    @cached_property
    def _lists(self) -> Mapping[tuple[str, str, str], frozenset[str]]:
        found: dict[tuple[str, str, str], frozenset[str]] = {}
        for reading in self.readings.values():
            for (op, argument), said in reading.arguments.items():
                for chip, dtypes in said.dtypes.items():
                    if dtypes != EVERY:
                        key = (_operator(op), argument, chip)
                        found[key] = found.get(key, frozenset()) | dtypes
        return found

    def conditions(self) -> Iterator[dict[str, Any]]:
        """Lines of the section ``conditions``."""
        for remark in not_running(self.readings):
            text = "the vendor's table marks this operator as not supported on {chip}"
            ops = tuple(op for op in remark.ops if op in self._listed)
            yield from self._condition(remark, ops, "not-supported-on-chip", "unsupported", text)
        for remark in limited_rank(self.readings, self.chips):
            test = {"subject": "rank", "argument": remark.argument, "maximum": remark.maximum}
            text = "{argument} has {actual} dimensions, and the vendor's table allows at most "
            ops = self._on_device(remark.ops)
            text = f"{text}{remark.maximum}"
            for line in self._condition(remark, ops, "rank-not-supported", "unsupported", text):
                yield {**line, "tests": [test]}
        for remark in denied_values(self.readings, self.chips):
            test = {"subject": "value", "argument": remark.argument, "one_of": [remark.denied]}
            code, verdict, text = _ANY_ORDER if remark.argument == "sorted" else _DENIED
            ops = self._on_device(remark.ops)
            for line in self._condition(remark, ops, code, verdict, text):
                yield {**line, "tests": [test]}
        for remark in on_host(self.readings, self.chips):
            text = "the vendor's table says that this operator may fall back to the CPU"
            ops = tuple(op for op in remark.ops if op in self._listed)
            yield from self._condition(remark, ops, "may-run-on-host", "native", text)

    @staticmethod
    def _condition(
        remark: Remark, ops: tuple[str, ...], code: str, verdict: str, text: str
    ) -> Iterator[dict[str, Any]]:
        if ops:
            yield {
                "ops": ops,
                "code": code,
                "verdict": verdict,
                "confidence": "medium",
                "method": "documented",
                "text": text,
                "at": [remark.at],
                "chips": remark.chips,
            }

    def _on_device(self, ops: tuple[str, ...]) -> tuple[str, ...]:
        """Of some overloads, those that the host does not compute anyway."""
        return tuple(op for op in ops if self._runs(op))

    def _runs(self, op: str) -> bool:
        function = self._known.get(op.removeprefix("aten::"))
        if op in self._listed or function is None:
            return op in self._listed
        delegate = f"aten::{function.delegate}" if function.delegate else ""
        return delegate in self._listed or function.kind.startswith("Composite")
