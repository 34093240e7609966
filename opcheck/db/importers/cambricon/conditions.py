"""Cambricon: what torch_mlu's kernels refuse, narrow or leave out, from a release's tables."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from msgspec import Struct

from opcheck.db.importers.base import load_yaml
from opcheck.db.importers.cambricon.lists import (
    CODE,
    DENSE,
    ITERATOR,
    Kernel,
    Listed,
    Row,
    Table,
    Tables,
)
from opcheck.db.importers.shared import facts

_DATA = Path(__file__).with_name("cambricon_code.yaml")
_CHECKS = Path(__file__).with_name("cambricon_checks.yaml")
_PARAMETERS = f"{CODE}/aten/operators/cnnl/cnnlOpParams.cpp"
_COMPLEX = ("complex32", "complex64", "complex128")
_ACTUAL = {
    "dtype": "{argument} is {actual}",
    "rank": "{argument} has {actual} dimensions",
    "size": "a size of {argument} is {actual}",
    "value": "{argument}={actual}",
}
_NAMES = {"UInt16": "uint16", "UInt32": "uint32", "UInt64": "uint64"}
"""Of dtypes as the tables write them, where torch's names differ in more than case."""

Fact = Mapping[str, Any]
Line = dict[str, Any]


@cache
def code() -> Mapping[str, Any]:
    """What was read in the code beyond the folder's tables."""
    data: Mapping[str, Any] = load_yaml(_DATA)
    return data


class Conditions(Struct, frozen=True, dict=True):
    """Lines of the section ``conditions`` of one release."""

    tables: Tables
    listed: tuple[Listed, ...]
    kernels: Mapping[str, Kernel]

    def lines(self) -> Iterator[Line]:
        """Every condition, those of all operators last."""
        yield from self._iterated()
        yield from self._dispatched()
        yield from self._checked()
        yield from self._narrowed()
        yield from self._limited()
        stated = (*code()["stated"], *load_yaml(_CHECKS)["facts"])
        yield from facts.conditions(stated, self.tables.release, "code", self._dense)

    @cached_property
    def _dense(self) -> tuple[str, ...]:
        return tuple(op for op, kernel in self.kernels.items() if DENSE in kernel.keys)

    def ops(self, names: Iterable[str]) -> tuple[str, ...]:
        """Registered overloads that names of the curated file stand for."""
        wanted = tuple(names)
        return tuple(op for op in self._dense if any(_stands_for(name, op) for name in wanted))

    def _iterated(self) -> Iterator[Line]:
        """Kernels behind TensorIterator: their common dtype must be in CNNL's list."""
        table = self.tables.dtypes
        rows = {row["name"]: row for row in table.rows}
        for name, ops in self._structured().items():
            argument = "*" if name in code()["asking"] else "return"
            at = f"{table.source}:{_PARAMETERS}"
            yield from _not_in_list(table, _row(rows, name), name, argument, ops, [at])
        for fact in code()["iterated"]:
            at = f"{table.source}:{fact['file']}"
            ops = self.ops(fact["ops"])
            cited = [f"{table.source}:{_PARAMETERS}", at]
            row = _row(rows, fact["name"])
            for line in _not_in_list(table, row, fact["name"], fact["argument"], ops, cited):
                yield from _among(line, fact["reached_by"]) if "reached_by" in fact else (line,)

    def _structured(self) -> dict[str, tuple[str, ...]]:
        """Names that the code generator gives TensorIteratorBridge -> the overloads so built."""
        outs = {
            entry.op.removeprefix("aten::")
            for entry in self.listed
            if entry.fields.get("structured_inherits") == ITERATOR
        }
        found: dict[str, list[str]] = {}
        for entry in self.listed:
            name = entry.op.removeprefix("aten::")
            out = entry.fields.get("structured_delegate", name)
            if out in outs and entry.op in self._dense:
                found.setdefault(out.partition(".")[0], []).append(entry.op)
        return {name: tuple(ops) for name, ops in sorted(found.items())}

    def _dispatched(self) -> Iterator[Line]:
        """Kernels behind a dispatch macro: the dtype that it looks at must be among its own."""
        table = self.tables.dispatched
        for fact in code()["dispatched"]:
            rows = [row for row in table.rows if row["label"] == fact["label"]]
            row, ops = _nth(rows, fact), self.ops(fact["ops"])
            if row is None or not row["dtypes"] or not ops:
                continue
            test = _only(fact["argument"], row["dtypes"])
            raised = f"'\"{row['label']}\" not implemented for'"
            text = f"{_ACTUAL['dtype']}: torch_mlu raises {raised}"
            at = f"{table.source}:{row['file']}:{row['line']}"
            yield _refused(table, ops, text, [test], [at])

    def _checked(self) -> Iterator[Line]:
        """Kernels that look before they compute."""
        table = self.tables.checked
        for fact in code()["checked"]:
            rows = [row for row in table.rows if _is_about(row, fact)]
            row, ops = _nth(rows, fact), self.ops(fact["ops"])
            if row is None or not ops:
                continue
            tests = fact.get("tests") or [_only(fact["argument"], fact["dtypes"])]
            text = f'{_ACTUAL[tests[0]["subject"]]}: torch_mlu raises "{fact["says"]}"'
            at = f"{table.source}:{row['file']}:{row['line']}"
            yield _refused(table, ops, text, tests, [at])

    def _narrowed(self) -> Iterator[Line]:
        """Kernels that compute int64 as int32, in silence but for one warning a process."""
        table = self.tables.narrowed
        files = {row["file"] for row in table.rows}
        for fact in code()["narrowed"]:
            ops = self.ops(fact["ops"])
            if fact["file"] not in files or not ops:
                continue
            test = {"subject": "dtype", "argument": fact["argument"], "one_of": ["int64"]}
            yield {
                "ops": ops,
                "code": "int64-narrowed-to-int32",
                "verdict": "native",
                **table.evidence("high", "registered"),
                "text": "{argument} is int64, which the kernel computes as int32: values beyond it "
                "overflow, unseen unless ENABLE_MLU_OVERFLOW_CHECK=1",
                "at": [f"{table.source}:{fact['file']}"],
                "tests": [test, *fact.get("tests", ())],
            }

    def _limited(self) -> Iterator[Line]:
        """Public APIs that the vendor's list does not promise in every form."""
        table = self.tables.apis
        for fact in code()["limited"]:
            said = (r for r in table.rows if r["api"] == fact["api"] and fact["says"] in r["says"])
            row, ops = next(said, None), (*self.ops(fact.get("ops", ())), *fact.get("also", ()))
            if row is None or not ops:
                continue
            line: Line = {
                "ops": ops,
                "code": fact.get("code", "value-not-supported"),
                "verdict": fact.get("verdict", "unsupported"),
                **table.evidence("medium", "documented"),
                "text": fact["text"],
                "at": [f"{table.source}:{row['line']}"],
            }
            line |= {key: fact[key] for key in ("chips", "tests") if key in fact}
            # of a release without a list of its own, it is inferred from another's
            yield line if line["method"] == "documented" else {**line, "document": True}


def gradients(release: str, kernels: Mapping[str, Kernel]) -> dict[str, dict[str, Any]]:
    """Overload -> the gradient that the vendor gives it."""
    return {
        fact["op"]: {"at": [at], "formulas": fact["formulas"]}
        for fact in code()["gradients"]
        if fact["op"] in kernels and (at := facts.citation(fact["seen"], release, "code"))
    }


def _row(rows: Mapping[str, Row], name: str) -> Row:
    """The row of CNNL's list for a name; the default's where it has none."""
    return rows.get(name, rows["default"])


def _not_in_list(
    table: Table, row: Row, name: str, argument: str, ops: tuple[str, ...], at: list[str]
) -> Iterator[Line]:
    """The condition that a row of CNNL's list makes of a kernel."""
    if row.get("types_check_closed") or not ops:
        return
    raised = f"MLU {name} don't support tensor dtype"
    test = _only(argument, row["dtypes"])
    if row["implicit_convert"]:  # to a listed dtype that holds it: only complex ones may have none
        if set(_COMPLEX) & set(row["dtypes"]):
            return
        raised = f"MLU {name} Can't get a promote dtype when common dtype is"
        test = {"subject": "dtype", "argument": argument, "one_of": _COMPLEX}
    yield _refused(table, ops, f'{_ACTUAL["dtype"]}: torch_mlu raises "{raised}"', [test], at)


def _among(line: Line, dtypes: Iterable[str]) -> Iterator[Line]:
    """A condition on what is not listed, held to the dtypes that reach the kernel."""
    test = line["tests"][0]
    left = [dtype for dtype in dtypes if dtype not in test["none_of"]]
    if left:
        bound = {"subject": "dtype", "argument": test["argument"], "one_of": left}
        yield {**line, "tests": [bound]}


def _refused(
    table: Table, ops: tuple[str, ...], text: str, tests: list[Mapping[str, Any]], at: list[str]
) -> Line:
    return {
        "ops": ops,
        "code": f"{tests[0]['subject']}-not-supported",
        "verdict": "unsupported",
        **table.evidence("high", "registered"),
        "text": text,
        "at": at,
        "tests": tests,
    }


def _only(argument: str, dtypes: Iterable[str]) -> dict[str, Any]:
    allowed = sorted({_NAMES.get(name, name.lower()) for name in dtypes})
    return {"subject": "dtype", "argument": argument, "none_of": allowed}


def _is_about(row: Row, fact: Fact) -> bool:
    """Whether a check is the one that a fact is about."""
    within = fact.get("functions", (row["function"],))
    return fact["says"] in row["message"] and row["function"] in within


def _nth(rows: list[Row], fact: Fact) -> Row | None:
    """The row that a fact is about, if the table has it."""
    number = fact.get("nth", 0)
    return rows[number] if number < len(rows) else None


def _stands_for(name: str, op: str) -> bool:
    """Whether a name of the curated file means an overload."""
    if "::" in name:
        return name == op
    exact, dotted = name.startswith("="), "." in name
    own = op.removeprefix("aten::")
    return own == name.lstrip("=") if exact or dotted else _base(own) == name


def _base(name: str) -> str:
    """``mul`` of ``mul_.Tensor``."""
    base = name.partition(".")[0]
    return base if base.endswith("__") else base.removesuffix("_")
