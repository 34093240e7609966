"""Writes docs/held-back.md: ``python -m benchmarks.held_back``.

A third of PyTorch's operators loses its rows of dtypes, and every release but one is left out;
what opcheck then says of those operators is compared with the vendor's own tables of dtypes.
"""

import ast
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch
import yaml
from msgspec import Struct
from msgspec.structs import replace

from benchmarks.measure import ROOT
from opcheck.db.importers import intel
from opcheck.db.importers.shared import cuda
from opcheck.db.store import Database
from opcheck.errors import OpcheckError
from opcheck.model.matrix import SupportMatrix
from opcheck.model.report import Finding
from opcheck.model.target import TargetSpec
from opcheck.model.trace import Trace
from opcheck.model.verdict import Verdict
from opcheck.resolve.conditions import with_dtypes
from opcheck.resolve.findings import resolve
from opcheck.trace import trace_model

PAGE = ROOT / "docs" / "held-back.md"
RELEASE = "2.13.0"
"""The held-back release: the newest whose tables are at hand, those of the torch that runs this."""
TARGETS = {
    "nvidia": "nvidia-h100",
    "amd": "amd-mi300x",
    "intel": "intel-max",
    "apple": "apple-mps",
}
WANTED = 0.97
DTYPES = (
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32",
    "float64", "complex64", "complex128",
)  # fmt: skip
SUPPORTED, REFUSED, UNKNOWN = "supported", "refused", "unknown"
_TABLES = ("common_methods_invocations.py", "common_mps.py", "libtorch_cuda.so")
"""Where the vendors' tables stand, which the held-back rows cite, and what the same tests ran."""
_ONE_IN = 3
_FIRST = ("float32", "int64", "bool", "complex64")


class Cell(Struct, frozen=True):
    """One test of an operator in one dtype: what the vendor's table says, and what opcheck says."""

    op: str
    test: str
    dtype: str
    table: str
    said: str
    cause: str
    """Code of the reason that opcheck gives."""

    @property
    def agrees(self) -> bool:
        """Whether both say the same."""
        return self.table == self.said


class Test(Struct, frozen=True):
    """One of PyTorch's tests of an operator."""

    op: str
    name: str
    info: Any
    """The ``OpInfo``."""

    @property
    def host(self) -> frozenset[str]:
        """What the CPU takes."""
        return _names(self.info.dtypes)


def held(op: str) -> bool:
    """Whether the rows of an operator are held back; an operator is named without overload."""
    return int(sha256(op.encode()).hexdigest(), 16) % _ONE_IN == 0


def base(overload: str) -> str:
    """The operator of an overload: ``aten::add_.Tensor`` is of ``add``."""
    return overload.rpartition("::")[2].partition(".")[0].removesuffix("_")


def without_rows(root: Path, vendor: str, folder: Path) -> None:
    """Copy what is known of a vendor at the release, without the rows of held-back operators."""
    for path in root.iterdir():  # what is not a vendor's
        if path.is_dir() and not (path / "vendor.yaml").exists():
            shutil.copytree(path, folder / path.name)
    own = folder / vendor
    own.mkdir()
    shutil.copy(root / vendor / "vendor.yaml", own)
    said = yaml.load((root / vendor / f"{RELEASE}.yaml").read_text("utf-8"), yaml.CSafeLoader)
    said["conditions"] = [kept for each in said["conditions"] if (kept := _left(each, said))]
    (own / f"{RELEASE}.yaml").write_text(json.dumps(said, default=str), "utf-8")


def _left(condition: Mapping[str, Any], said: Mapping[str, Any]) -> dict[str, Any] | None:
    """A condition without held-back operators, if it is a row of a table."""
    if not of_a_table(condition, said):
        return dict(condition)
    ops = [op for op in condition["ops"] if op == "*" or not row_held(base(op))]
    return {**condition, "ops": ops} if ops else None


def of_a_table(condition: Mapping[str, Any], said: Mapping[str, Any]) -> bool:
    """Whether a condition of a release's file is a row of a table, and not what users met."""
    cited = [at.partition(":") for at in condition["at"]]
    paths = [said["sources"].get(name, {}).get("path", "") + rest for name, _, rest in cited]
    return any(table in path for table in _TABLES for path in paths)


def row_held(op: str) -> bool:
    """Whether the row of an operator is held back, or one that speaks of it beside another."""
    return held(op) or op in _spoken_of()


@cache
def _spoken_of() -> frozenset[str]:
    """The operators that held-back tests speak of."""
    rows = ({"op": test.name, "aten": test.op} for test in opinfo_tests())
    return frozenset(op for row in rows for op in cuda.spoken_of(row))


@cache
def opinfo_tests() -> tuple[Test, ...]:
    """PyTorch's tests of held-back operators, with the dtypes that a recent GPU takes."""
    import torch.testing._internal.common_cuda as gpu

    for name in dir(gpu):
        if name.startswith("SM") and name.endswith("OrLater"):
            setattr(gpu, name, True)
    from torch.testing._internal.common_methods_invocations import op_db

    found = []
    for info in op_db:
        op = cuda.aten_name(info.aten_name or info.name).removesuffix("_")
        name = f"{info.name}|{info.variant_test_name}".removesuffix("|")
        if held(op):
            found.append(Test(op, name, info))
    return tuple(found)


def listed(vendor: str, test: Test) -> frozenset[str] | None:
    """The dtypes that a vendor's own table lists for a test; None where it says nothing."""
    if vendor == "nvidia":
        return _names(test.info.dtypesIfCUDA)
    if vendor == "amd":
        return _names(test.info.dtypesIfROCM)
    if vendor == "intel":
        said = intel.tests_of(RELEASE)
        row = {"op": test.name, "cuda": sorted(_names(test.info.dtypesIfCUDA))}
        return said.dtypes(row) if said else None
    return _on_mps(test)


def _on_mps(test: Test) -> frozenset[str] | None:
    """What ``common_mps.py`` expects to work; None of a test that it skips or calls undefined."""
    key = test.name.replace("|", "")
    lists = _mps_lists()
    unsaid = ("SKIPLIST", "EMPTY_OPS_SKIPLIST", "UNDEFINED_XFAILLIST")
    if any(key in lists[name] for name in unsaid):
        return None
    failing = {"float64", "complex128"}
    if key not in lists["SUPPORTED_COMPLEX_OPS"]:
        failing.add("complex64")
    for name in ("UNIMPLEMENTED_XFAILLIST", "ON_MPS_XFAILLIST"):
        failing.update(lists[name].get(key, ()))
    return _names(test.info.dtypesIfMPS) - failing


@cache
def _mps_lists() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """The lists of ``mps_ops_modifier``, by name: test -> dtypes; all of them where it has None."""
    path = Path(torch.testing.__file__).parent / "_internal" / "common_mps.py"
    modifier = next(
        node
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name == "mps_ops_modifier"
    )
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for node in modifier.body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name) and isinstance(node.value, ast.Set):
                found[target.id] = {str(ast.literal_eval(key)): () for key in node.value.elts}
            elif isinstance(target, ast.Name) and isinstance(node.value, ast.Dict):
                pairs = zip(node.value.keys, node.value.values, strict=True)
                found[target.id] = {
                    str(ast.literal_eval(key)): _dtypes(value) for key, value in pairs if key
                }
    return found


def _dtypes(value: ast.expr) -> tuple[str, ...]:
    named = [each.attr for each in ast.walk(value) if isinstance(each, ast.Attribute)]
    return tuple(map(_full, named)) if isinstance(value, ast.List) else DTYPES


def cells(vendor: str, matrix: SupportMatrix, asked: Sequence[Test]) -> Iterator[Cell]:
    """Every dtype that the CPU or the device takes, by the tables, of some tests."""
    for test in asked:
        there = listed(vendor, test)
        if there is None:
            continue
        for dtype in DTYPES:
            if dtype in there | test.host and (said := _said(test, dtype, matrix)):
                table = SUPPORTED if dtype in there else REFUSED
                yield Cell(test.op, test.name, dtype, table, *said)


def _said(test: Test, dtype: str, matrix: SupportMatrix) -> tuple[str, str] | None:
    """What opcheck says of the first sample, and why; None where none can be traced."""
    traced = _traced(test.name, matrix.target.device_type)
    if traced is None:
        return None
    first, trace = traced
    nodes = tuple(with_dtypes(node, {first: dtype}) for node in trace.nodes)
    findings = resolve(replace(trace, nodes=nodes), matrix).findings
    for verdict, said in ((Verdict.UNSUPPORTED, REFUSED), (Verdict.UNKNOWN, UNKNOWN)):
        if worst := next((f for f in findings if f.verdict is verdict), None):
            return said, _cause(worst)
    return SUPPORTED, ""


def _cause(finding: Finding) -> str:
    return f"{finding.reason.code} of `{finding.op}`"


@cache
def _traced(name: str, device_type: str) -> tuple[str, Trace] | None:
    """The first sample of a test, in the first of some dtypes that the host takes, traced."""
    info = next(test.info for test in opinfo_tests() if test.name == name)
    host = _names(info.dtypes)
    dtype = next((each for each in _FIRST if each in host), "")
    if not dtype:
        return None
    try:
        sample = next(iter(info.sample_inputs("cpu", getattr(torch, dtype))), None)
        if sample is None:
            return None
        given = (sample.input, *sample.args)
        call = _Call(info.op)
        return dtype, trace_model(call, given, dict(sample.kwargs), device_type=device_type)
    except (OpcheckError, RuntimeError):  # what the host or the trace refuses
        return None


class _Call(torch.nn.Module):
    """Calls one function, as a model would."""

    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The function's result."""
        return self.function(*args, **kwargs)


def _names(dtypes: Any) -> frozenset[str]:
    return frozenset(str(dtype).removeprefix("torch.") for dtype in dtypes)


def _full(name: str) -> str:
    return str(getattr(torch, name)).removeprefix("torch.")


def held_back(vendor: str, asked: Sequence[Test] | None = None) -> list[Cell]:
    """The comparison for one vendor."""
    root = Database.open().root
    with tempfile.TemporaryDirectory() as folder:
        without_rows(root, vendor, Path(folder))
        database = Database.open(Path(folder), cached=False)
        target = database.resolve(TargetSpec.parse(f"{TARGETS[vendor]}@{RELEASE}"))
        matrix = database.matrix(target)
        return list(cells(vendor, matrix, opinfo_tests() if asked is None else asked))


def main() -> None:
    """Compare all vendors and write the page."""
    from benchmarks.held_back_page import page

    PAGE.write_text(page({vendor: held_back(vendor) for vendor in TARGETS}), "utf-8")


if __name__ == "__main__":
    main()
