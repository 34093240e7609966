"""The vendor's own gradients, as the matrices give them."""

import pytest

from opcheck.db.store import Database
from opcheck.model.matrix import Formula, Gradient, SupportMatrix
from opcheck.model.predicates import Dtype, NoneOf, Outside, Rank, Size
from opcheck.model.target import TargetSpec
from opcheck.model.verdict import Evidence, Method

_COUNTS = {
    "5.0.0": 8,
    "6.0.0": 13,
    "7.1.0": 15,
    "7.2.0": 16,
    "7.3.0": 16,
    "26.0.0": 17,
    "26.1.0": 20,
}
_ATTENTION = "aten::scaled_dot_product_attention"
_KERNEL = "op_plugin/ops/opapi/ScaledDotProductAttentionKernelNpuOpApi.cpp"
_RECURRENT = "op_plugin/ops/aclops/GruKernelNpu.cpp"
_LIST = "op_plugin/config/derivatives.yaml"


def _matrix(database: Database, target: str) -> SupportMatrix:
    return database.matrix(database.resolve(TargetSpec.parse(target)))


def _read(line: int, path: str = _LIST, method: Method = Method.REGISTERED) -> Evidence:
    commit = "09024aa99e234be0456a41f02585f060389d488f"
    return Evidence(method, "Ascend/op-plugin", path, line, commit, "2026-08-21")


@pytest.mark.parametrize(("release", "count"), _COUNTS.items())
def test_how_many(database: Database, release: str, count: int) -> None:
    assert len(_matrix(database, f"ascend-910b@{release}").gradients) == count


@pytest.mark.parametrize("name", ["ascend-910a", "ascend-910b"])
def test_every_name_is_known_and_every_gradient_cited(database: Database, name: str) -> None:
    for target in database.releases(name):
        matrix = database.matrix(target)
        known = {*matrix.history, *matrix.entries}
        for op, gradient in matrix.gradients.items():
            assert op in matrix.entries, (target, op)
            assert gradient.kernels, (target, op)
            assert set(gradient.kernels) <= known, (target, op)
            assert all(e.line and e.commit and e.date for e in gradient.evidence[-1:]), op
            assert {k for f in gradient.formulas for k in f.kernels} == set(gradient.kernels)


def test_matmul_of_26_1_0(database: Database) -> None:
    calls = ("aten::matmul_backward",)
    gradients = _matrix(database, "ascend-910b@26.1.0").gradients
    assert gradients["aten::matmul"] == Gradient(
        calls, (_read(65),), (Formula(("self", "other"), calls),)
    )


def test_older_matmul_is_differentiated_by_pytorch(database: Database) -> None:
    matrix = _matrix(database, "ascend-910b@26.0.0")
    assert "aten::matmul" not in matrix.gradients
    assert matrix.entries["aten::matmul"].keys == ("PrivateUse1",)


def test_formulas_by_argument(database: Database) -> None:
    matrix = _matrix(database, "ascend-910b@26.1.0")
    assert matrix.gradients["aten::l1_loss"] == Gradient(
        ("npu::l1_loss_backward", "aten::mul.Scalar"),
        (_read(60),),
        (
            Formula(("self",), ("npu::l1_loss_backward",)),
            Formula(("target",), ("npu::l1_loss_backward", "aten::mul.Scalar")),
        ),
    )
    calls = matrix.gradients["aten::binary_cross_entropy_with_logits"].formulas
    assert [formula.arguments for formula in calls] == [("self",)]


def test_helpers_in_code_are_cited(database: Database) -> None:
    gradient = _matrix(database, "ascend-910b@26.1.0").gradients["aten::linalg_cholesky"]
    assert gradient.kernels == (
        "aten::mH",
        "aten::matmul",
        "aten::tril",
        "aten::add.Tensor",
        "aten::mul.Scalar",
        "aten::linalg_solve_triangular",
    )
    assert [(e.path, e.line) for e in gradient.evidence] == [
        (_LIST, 3),
        ("torch_npu/csrc/framework/autograd/FunctionsManual.cpp", 133),
    ]


@pytest.mark.parametrize(("torch", "line"), [("2.1", 257), ("2.2", 265), ("2.12", 265)])
def test_torch_versions_choose_between_lines(database: Database, torch: str, line: int) -> None:
    gradients = _matrix(database, f"ascend-910b@26.1.0+torch{torch}").gradients
    assert gradients["aten::repeat_interleave.self_int"].evidence == (_read(line),)


def test_in_place_overloads_share_a_gradient_from_its_torch_on(database: Database) -> None:
    older, newer = (
        _matrix(database, f"ascend-910b@26.1.0+torch{torch}").gradients for torch in ("2.6", "2.7")
    )
    assert "aten::renorm" not in older
    assert newer["aten::renorm_"] == newer["aten::renorm"]
    assert newer["aten::renorm"].kernels == ("npu::npu_renorm_backward",)
    assert "aten::renorm.out" not in newer


@pytest.mark.parametrize(
    ("target", "kernel", "line", "derivative"),
    [
        ("ascend-910b@26.1.0+torch2.12", "npu::npu_fusion_attention_grad_v3", 344, 143),
        ("ascend-950@26.1.0+torch2.12", "npu::npu_fusion_attention_grad", 352, 148),
        ("ascend-310b@26.1.0+torch2.4", "npu::npu_fusion_attention_grad", 231, 148),
    ],
)
def test_attention(
    database: Database, target: str, kernel: str, line: int, derivative: int
) -> None:
    assert _matrix(database, target).gradients[_ATTENTION] == Gradient(
        (kernel,),
        (_read(line, _KERNEL, Method.INFERRED), _read(derivative, method=Method.INFERRED)),
        (Formula(("query", "key", "value"), (kernel,)),),
        (
            Dtype("query", NoneOf(frozenset({"float16", "bfloat16", "float32"}))),
            Dtype("attn_mask", NoneOf(frozenset({"bool"}))),
            Rank("query", Outside(minimum=4, maximum=4)),
            Rank("key", Outside(minimum=4, maximum=4)),
            Rank("value", Outside(minimum=4, maximum=4)),
            Size("query", Outside(maximum=2048), dim=1),
            Size("query", Outside(maximum=512), dim=3),
            Size("key", Outside(maximum=2048), dim=1),
        ),
    )


@pytest.mark.parametrize("chip", ["310p", "910a", "910b", "950"])
def test_a_gru_is_differentiated_through_the_operator_that_its_kernel_calls(
    database: Database, chip: str
) -> None:
    """Weights and biases of that operator are the ``params`` of PyTorch's."""
    calls = ("npu::npu_gru_backward",)
    assert _matrix(database, f"ascend-{chip}@26.1.0").gradients["aten::gru.input"] == Gradient(
        calls,
        (_read(181, _RECURRENT, Method.INFERRED), _read(172, method=Method.INFERRED)),
        (Formula(("params", "input", "hx"), calls),),
    )


@pytest.mark.parametrize(("op", "kernel"), [("input", "npu_lstm"), ("data", "npu_lstm_data")])
def test_an_lstm_is_differentiated_through_the_operator_that_its_kernel_calls(
    database: Database, op: str, kernel: str
) -> None:
    """Newer releases have a second such operator, and the cells that PyTorch's own asks for."""
    for release in ("5.0.0", "6.0.0", "7.1.0", "7.3.0"):
        found = _matrix(database, f"ascend-910b@{release}").gradients[f"aten::lstm.{op}"]
        assert found.kernels == (f"npu::{kernel}_backward",)
        assert [formula.arguments for formula in found.formulas] == [(_OWN[op], "params", "hx")]
    assert f"aten::lstm.{op}" not in _matrix(database, "ascend-910b@26.0.0").gradients


_OWN = {"input": "input", "data": "data"}


def test_older_attention_asks_more_of_the_mask(database: Database) -> None:
    gradient = _matrix(database, "ascend-910b@7.3.0").gradients[_ATTENTION]
    assert gradient.kernels == ("npu::npu_fusion_attention_grad",)
    assert Rank("attn_mask", NoneOf(frozenset({"2", "4"}))) in gradient.unless


@pytest.mark.parametrize("target", ["ascend-910a@26.1.0", "ascend-310p@7.3.0", "ascend-910b@5.0.0"])
def test_no_fused_attention(database: Database, target: str) -> None:
    """Its kernel asks for Ascend910B1 or newer; the oldest release has none."""
    assert _ATTENTION not in _matrix(database, target).gradients
