"""LiteRT on the CPU: what calls come to, and the file of what was lowered and run."""

from pathlib import Path
from typing import Any

import pytest

from opcheck.db.importers.litert import LiteRtImporter
from opcheck.db.importers.litert.extract import facts, text, why
from opcheck.db.importers.litert.lowering import untried
from opcheck.db.importers.openvino.lowering import first_dtype
from opcheck.db.store import Database
from opcheck.errors import DatabaseError
from opcheck.model.target import TargetSpec
from opcheck.model.trace import Node, OpName, Value
from opcheck.model.verdict import Verdict
from opcheck.resolve.walk import Walk
from tests.db.calls import dense

TARGET = "litert-cpu"
CELLS = (
    ("aten::relu", "_jax_lowerings/lowerings.py", "lowering"),
    ("aten::relu_", "_jax_lowerings/lowerings.py", "aten::relu"),
    ("aten::convolution", "litert_torch/backend/lowerings/_convolution.py", "lowering"),
    ("aten::einsum", "_jax_lowerings/lowerings.py", "lowering"),
    ("aten::addmm", "litert_torch/fx_infra/decomp.py", "decomposition"),
)
FLOAT, WHOLE = dense(2, 4, dtype="float32"), dense(2, 4, dtype="int64")
CALLS: tuple[tuple[str, Value, Verdict, str], ...] = (
    ("aten::relu", FLOAT, Verdict.NATIVE, "registered"),
    ("aten::addcmul", FLOAT, Verdict.DECOMPOSED, "decomposed-before-conversion"),
    ("aten::cumprod", FLOAT, Verdict.UNSUPPORTED, "no-converter"),
    ("aten::abs", FLOAT, Verdict.NATIVE, "registered"),
    ("aten::abs", WHOLE, Verdict.UNSUPPORTED, "converter-raises"),
    ("aten::sort", FLOAT, Verdict.UNSUPPORTED, "converter-raises"),
    ("aten::relu", dense(2, dtype="uint16"), Verdict.UNSUPPORTED, "converter-raises"),
    ("aten::mul.Tensor", dense(2, dtype="complex64"), Verdict.UNSUPPORTED, "numbers-not-converted"),
    ("aten::abs", dense(2, dtype="complex64"), Verdict.UNKNOWN, "numbers-not-looked-up"),
    ("aten::_local_scalar_dense", FLOAT, Verdict.UNSUPPORTED, "converter-raises"),
    ("aten::detach_", dense(2, dtype="int8"), Verdict.DECOMPOSED, "decomposed-before-conversion"),
)  # fmt: skip
TRANSFORMS: tuple[tuple[tuple[int, ...], dict[str, Value], str], ...] = (
    ((2, 4), {}, "registered"),
    ((2, 6), {}, "runtime-refuses"),
    ((2, 4), {"onesided": False}, "converter-raises"),
    ((2, 4), {"normalization": 1}, "converter-raises"),
    ((2, 4), {"dim": (0, 1)}, "converter-raises"),
)
OK: dict[str, object] = {"stage": "ok"}
LEAF: dict[str, object] = {
    "stage": "conversion", "missing": ["aten.prod.dim_int"], "error": "Lowering not found",
}  # fmt: skip
RAISES: dict[str, object] = {"stage": "conversion", "missing": [], "error": "failed to legalize"}
EMPTY: dict[str, object] = {"stage": "runtime", "missing": [], "error": "Invalid tensor size."}


@pytest.mark.parametrize(("op", "path", "kernel"), CELLS)
def test_cells_cite_where_the_wheel_registers_a_lowering(
    op: str, path: str, kernel: str, database: Database
) -> None:
    entry = database.matrix(database.resolve(TargetSpec(TARGET))).entries[op]
    (evidence,) = entry.evidence
    assert entry.implementation == (kernel,)
    assert evidence.path.endswith(path)
    assert bool(evidence.line) is (kernel != "decomposition")


@pytest.mark.parametrize(("op", "given", "verdict", "code"), CALLS)
def test_calls_end_where_they_are_refused(
    op: str, given: Value, verdict: Verdict, code: str, database: Database
) -> None:
    matrix = database.matrix(database.resolve(TargetSpec(TARGET)))
    found = Walk([Node(OpName.parse(op), (("self", given),))], matrix, "2.13.0").resolution(0)
    assert (found.verdict, found.code) == (verdict, code)


@pytest.mark.parametrize(("shape", "options", "code"), TRANSFORMS)
def test_a_transform_is_of_the_last_dimension_and_of_a_power_of_two(
    shape: tuple[int, ...], options: dict[str, Value], code: str, database: Database
) -> None:
    matrix = database.matrix(database.resolve(TargetSpec(TARGET)))
    rest = {"dim": (1,), "normalization": 0, "onesided": True, **options}
    given = (("self", dense(*shape, dtype="float32")), *rest.items())
    node = Node(OpName.parse("aten::_fft_r2c"), given)
    assert Walk([node], matrix, "2.13.0").resolution(0).code == code


@pytest.mark.parametrize(
    ("size", "verdict", "code"),
    [
        ((2, 2), Verdict.DECOMPOSED, "decomposed-before-conversion"),
        ((4, 4), Verdict.UNSUPPORTED, "no-converter"),
    ],
)
def test_a_resize_is_a_view_in_the_graph_unless_it_enlarges(
    size: tuple[int, ...], verdict: Verdict, code: str, database: Database
) -> None:
    matrix = database.matrix(database.resolve(TargetSpec(TARGET)))
    node = Node(OpName.parse("aten::resize_"), (("self", FLOAT), ("size", size)))
    found = Walk([node], matrix, "2.13.0").resolution(0)
    assert (found.verdict, found.code) == (verdict, code)


class _Refusing:
    """Stands for the wheels: takes ``abs`` in float32 alone, and ``sin`` in nothing."""

    converted, decomposed = frozenset({"aten::abs", "aten::sin"}), frozenset({"aten::deg2rad"})

    def lowered(self, call: Any, args: Any, kwargs: Any) -> dict[str, object]:
        """Refuse by the name and the dtype."""
        name = call.name()
        if name == "aten::deg2rad":
            return LEAF
        return OK if (name, first_dtype(args, kwargs)) == ("aten::abs", "float32") else RAISES


def test_what_is_refused_in_float32_too_tells_nothing_of_another_dtype(tmp_path: Path) -> None:
    found = {("aten::abs", "float32"): [OK]}
    told = untried(_Refusing(), found, tmp_path / "calls.jsonl", ("float32", "int64"))
    stages = {(said["op"], said["dtype"]): said["stage"] for said in told}
    assert stages == {
        ("aten::abs", "int64"): "conversion",
        ("aten::deg2rad", "float32"): "conversion",
        ("aten::deg2rad", "int64"): "conversion",
        ("aten::sin", "float32"): "none",
        ("aten::sin", "int64"): "none",
    }


@pytest.mark.parametrize(
    ("said", "reason"),
    [(OK, ""), (LEAF, "leaf aten::prod.dim_int"), (RAISES, "conversion"), (EMPTY, "runtime")],
)
def test_why_a_call_does_not_come_through(said: dict[str, object], reason: str) -> None:
    assert why(said) == reason


def test_a_dtype_is_refused_where_none_of_its_calls_comes_through() -> None:
    calls: dict[tuple[str, str], list[dict[str, object]]] = {
        ("aten::a", "float32"): [RAISES, OK],
        ("aten::a", "int64"): [RAISES, RAISES],
        ("aten::a", "bool"): [EMPTY],  # a tensor without elements tells nothing of its dtype
        ("aten::a", "complex64"): [{"stage": "none", "error": "no input of a file"}],
        ("aten::b", "float32"): [LEAF],
        ("aten::elsewhere", "float32"): [OK],
    }
    found = facts(calls, {"aten::a": "file.py:3"}, {"aten::b", "aten::c"})
    assert found == {
        "aten::a": {
            "lowering": "file.py:3", "tried": ["float32", "int64"], "not": {"int64": "conversion"},
        },
        "aten::b": {"tried": ["float32"], "not": {"float32": "leaf aten::prod.dim_int"}},
        "aten::c": {},
    }  # fmt: skip
    written = text(found, {"torch": "2.13.0"}).splitlines()
    assert written[-1] == "decomposed: [aten::c]"
    assert '  aten::b: {tried: [float32], not: {float32: "leaf aten::prod.dim_int"}}' in written


def test_an_unknown_release_is_told(sources: Path) -> None:
    with pytest.raises(DatabaseError, match=r"nothing of LiteRT 0\.1 was read"):
        LiteRtImporter().run(sources, "0.1")
