from pathlib import Path

import pytest

from opcheck.db.importers.ascend.lists import (
    Derivative,
    Listed,
    OperatorList,
    read_derivatives,
    read_native_list,
    read_plugin_list,
)
from opcheck.db.importers.shared import operator_list
from opcheck.errors import DatabaseError

_PER_VERSION = """\
official:
 - func: abs(Tensor self) -> Tensor
   impl_ns: acl_op, op_api
 - func: gelu(Tensor self) -> Tensor
   impl_ns: op_api
custom:
  - func: npu_silu(Tensor self) -> Tensor
    impl_ns: acl_op
"""
_STRINGS = """\
all_version: [v1.11, v2.1, v2.2]
official:
  - func: abs(Tensor self) -> Tensor
    acl_op: all_version
    op_api: v2.1, v2.2
  - func: relu(Tensor self) -> Tensor
    acl_op: v1.11,v2.1
"""
_INTERVALS = """\
all_version: [v2.1, v2.2, v2.3, v2.10]
official:
  - func: abs(Tensor self) -> Tensor
    acl_op: [v2.1, v2.2]
    op_api: [v2.2, newest]
    gen_opapi:
      out: {size: self}
      exec: aclnnAbs
  - func: _coalesce(Tensor self) -> Tensor
    sparse: [v2.3, newest]
  - func: never(Tensor self) -> Tensor
autograd:
  - func: _thnn_fused_gru_cell(Tensor x) -> Tensor
    op_api: [v2.3, newest]
"""
_NATIVE = """\
backend: NPU
cpp_namespace: at_npu::native
supported:
  - view
  - func: clone
    op_api: True
custom:
  - func: npu_format_cast.Tensor(Tensor self, Tensor dst) -> Tensor
    exposed: True
"""


def _written(folder: Path, text: str) -> Path:
    path = folder / "list.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_one_file_a_torch_version(tmp_path: Path) -> None:
    assert read_plugin_list(_written(tmp_path, _PER_VERSION), "2.1") == OperatorList(
        ("2.1",),
        {
            "official": (
                Listed("abs", 2, {"2.1": ("acl_op", "op_api")}),
                Listed("gelu", 4, {"2.1": ("op_api",)}),
            ),
            "custom": (Listed("npu_silu", 7, {"2.1": ("acl_op",)}),),
        },
    )


def test_versions_in_strings(tmp_path: Path) -> None:
    both = ("acl_op", "op_api")
    assert read_plugin_list(_written(tmp_path, _STRINGS)).sections["official"] == (
        Listed("abs", 3, {"1.11": ("acl_op",), "2.1": both, "2.2": both}),
        Listed("relu", 6, {"1.11": ("acl_op",), "2.1": ("acl_op",)}),
    )


def test_closed_intervals(tmp_path: Path) -> None:
    read = read_plugin_list(_written(tmp_path, _INTERVALS))
    assert read == OperatorList(
        ("2.1", "2.2", "2.3", "2.10"),
        {
            "official": (
                Listed(
                    "abs",
                    3,
                    {
                        "2.1": ("acl_op",),
                        "2.2": ("acl_op", "op_api"),
                        "2.3": ("op_api",),
                        "2.10": ("op_api",),
                    },
                ),
                Listed("_coalesce", 9, {"2.3": ("sparse",), "2.10": ("sparse",)}),
                Listed("never", 11, {}),
            ),
            "autograd": (
                Listed("_thnn_fused_gru_cell", 13, {"2.3": ("op_api",), "2.10": ("op_api",)}),
            ),
        },
    )
    assert read.count("official", "2.2") == (1, 0, 0, 1)
    assert read.count("official", "2.3") == (2, 0, 1, 0)  # a sparse entry is in the total only


def test_native_entries_are_names_schemas_or_mappings(tmp_path: Path) -> None:
    every = {"": ("torch_npu",)}
    assert read_native_list(_written(tmp_path, _NATIVE)).sections == {
        "supported": (Listed("view", 4, every), Listed("clone", 5, every)),
        "custom": (Listed("npu_format_cast.Tensor", 8, every),),
    }


_DERIVATIVES = """\
all_version: [v2.1, v2.2, v2.10]
backward:
- name: kl_div(Tensor self, Tensor target, *, bool log_target=False) -> Tensor
  self: kl_div_backward(grad, self, target, log_target)
  target: non_differentiable
  result: auto_linear
  version: all_version

- name: npu_linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor
  output_differentiability: [true]
  input, weight: npu_linear_backward(grad, input, weight)
  version: [v2.2, newest]
"""


def test_derivatives(tmp_path: Path) -> None:
    assert read_derivatives(_written(tmp_path, _DERIVATIVES)) == (
        Derivative(
            "kl_div",
            3,
            ("2.1", "2.2", "2.10"),
            {("self",): "kl_div_backward(grad, self, target, log_target)"},
        ),
        Derivative(
            "npu_linear",
            9,
            ("2.2", "2.10"),
            {("input", "weight"): "npu_linear_backward(grad, input, weight)"},
        ),
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("official: [", "cannot read"),
        ("- a list\n", "expected sections of operators"),
        ("official:\n  - func: abs(Tensor self) -> Tensor\n", "lists no versions"),
    ],
)
def test_what_is_no_list_is_told(tmp_path: Path, text: str, expected: str) -> None:
    with pytest.raises(DatabaseError, match=expected):
        read_plugin_list(_written(tmp_path, text))


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match="cannot read"):
        read_native_list(tmp_path / "absent.yaml")


@pytest.mark.parametrize(
    "schema",
    [
        "renorm(Tensor self, Scalar p=[1, 2], *, Tensor? x=None) -> Tensor",
        "renorm_(Tensor(a!) self, Scalar p, *, Tensor? x=None) -> Tensor(a!)",
        "renorm.out(Tensor self, Scalar p, *, Tensor? x=None, Tensor(a!) out) -> Tensor(a!)",
    ],
)
def test_variants_share_a_signature(schema: str) -> None:
    assert operator_list.signature(schema) == "renorm(Tensor self, Scalar p, Tensor? x)"
    assert operator_list.arguments(schema)[:3] == ("self", "p", "x")


def test_what_is_no_schema_is_told() -> None:
    with pytest.raises(DatabaseError, match="not an operator schema: 'renorm'"):
        operator_list.signature("renorm")
