"""Entries read by hand in the vendor's files, compared with the database."""

import pytest

from opcheck.db.store import Database
from opcheck.model.matrix import Entry
from opcheck.model.target import TargetSpec
from opcheck.model.verdict import Evidence, Method

_PLUGIN = "op_plugin/config/op_plugin_functions.yaml"
_NATIVE = "torch_npu/csrc/aten/npu_native_functions.yaml"
_BOTH = ("acl_op", "op_api")
_DENSE = ("PrivateUse1",)
_OVERRIDE = ("PrivateUse1", "AutogradPrivateUse1")


def _plugin(line: int) -> Evidence:
    commit = "09024aa99e234be0456a41f02585f060389d488f"
    return Evidence(Method.REGISTERED, "Ascend/op-plugin", _PLUGIN, line, commit, "2026-08-21")


def _native(line: int) -> Evidence:
    commit = "42d8c46e6bb0ededf8cf3e4f324b670e4bddc316"
    return Evidence(Method.REGISTERED, "Ascend/pytorch", _NATIVE, line, commit, "2026-08-22")


@pytest.mark.parametrize(
    ("op", "at", "implementation", "keys"),
    [
        ("aten::__ilshift__.Scalar", _plugin(3), _BOTH, _DENSE),
        ("aten::_adaptive_avg_pool2d", _plugin(43), _BOTH, _DENSE),
        ("aten::matmul", _plugin(3354), _BOTH, _OVERRIDE),
        ("aten::isclose", _plugin(2769), _BOTH, _DENSE),
        ("aten::logit", _plugin(5522), ("op_api",), _DENSE),
        ("aten::polar", _plugin(4008), _BOTH, _DENSE),
        ("aten::_thnn_fused_gru_cell", _plugin(5537), ("op_api",), _OVERRIDE),
        ("aten::add.out", _plugin(914), _BOTH, (*_DENSE, "SparsePrivateUse1")),
        ("aten::view", _native(55), ("torch_npu",), _DENSE),
        ("aten::contiguous", _native(16), ("torch_npu",), _OVERRIDE),
        ("npu::npu_renorm_backward", _plugin(5569), ("op_api",), _DENSE),
    ],
)
def test_entry(
    database: Database,
    op: str,
    at: Evidence,
    implementation: tuple[str, ...],
    keys: tuple[str, ...],
) -> None:
    matrix = database.matrix(database.resolve(TargetSpec.parse("ascend-910b@26.1.0+torch2.12")))
    assert matrix.entries[op] == Entry(op, (at,), implementation, keys)


@pytest.mark.parametrize("op", ["aten::gelu", "aten::_coalesce", "aten::copy_memory_", "aten::x"])
def test_no_entry(database: Database, op: str) -> None:
    """Served through ``.out``, sparse only, no aten overload, nothing at all."""
    matrix = database.matrix(database.resolve(TargetSpec.parse("ascend-910b@26.1.0")))
    assert op not in matrix.entries
    assert matrix.entries.get(op) is None


@pytest.mark.parametrize(
    ("torch", "line"), [("2.6", 171), ("2.7", 176), ("2.12", 176), ("2.13", 176)]
)
def test_torch_versions_choose_between_lines(database: Database, torch: str, line: int) -> None:
    target = database.resolve(TargetSpec.parse(f"ascend-910b@26.1.0+torch{torch}"))
    assert database.matrix(target).entries["aten::_conv_depthwise2d.out"].evidence[0].line == line


def test_an_overload_that_its_torch_lost_is_not_registered(database: Database) -> None:
    older, newer = (
        database.matrix(database.resolve(TargetSpec.parse(f"ascend-910b@26.1.0+torch{torch}")))
        for torch in ("2.12", "2.13")
    )
    assert "aten::softmax.Dimname" in older.entries
    assert "aten::softmax.Dimname" not in newer.entries


def test_oldest_release(database: Database) -> None:
    matrix = database.matrix(database.resolve(TargetSpec.parse("ascend-910a@5.0.0")))
    assert str(matrix.target) == "ascend-910a@5.0.0+torch2.1"
    assert matrix.entries["aten::__ilshift__.Scalar"].implementation == ("acl_op",)
    assert matrix.entries["aten::to.dtype"].evidence[0].commit.startswith("1e295da")
