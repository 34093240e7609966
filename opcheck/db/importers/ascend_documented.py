"""Ascend: what the native-API tables say of one release, as sections of its file."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from opcheck.db.importers import upstream
from opcheck.db.importers.ascend_agreement import (
    Remark,
    denied_values,
    limited_rank,
    not_running,
    on_host,
    restrictions,
)
from opcheck.db.importers.ascend_chips import known
from opcheck.db.importers.ascend_tables import EVERY, Reading, Table, read_table, tables_of
from opcheck.db.importers.sources import source_files
from opcheck.db.shapes.values import DTYPES

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
        self._known = upstream.functions(sources / "pytorch", torch)
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
