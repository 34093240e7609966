"""What the C++ of a derivative calls, name by name."""

import pytest

from opcheck.db.importers.ascend.gradients import Names
from opcheck.db.importers.shared.operator_list import Function
from opcheck.errors import DatabaseError


def _functions(*names: str, gives_tensor: bool = True) -> dict[str, Function]:
    return {
        name: Function(name, (), view=False, kind="", gives_tensor=gives_tensor) for name in names
    }


_NAMES = Names(
    vendor={"npu_gather_backward", "l1_loss_backward"},
    upstream={
        **_functions("matmul", "mH", "mT", "contiguous", "_cdist_backward", "transpose.int"),
        **_functions("dim", "size.int", gives_tensor=False),
    },
    helpers={"cholesky_backward": ("aten::mH", "aten::tril"), "maybe_multiply": ()},
)


@pytest.mark.parametrize(
    ("formula", "calls"),
    [
        ("grad", ()),
        ("npu_gather_backward(grad, self.sym_sizes(), dim, index)", ("npu::npu_gather_backward",)),
        ("l1_loss_backward(grad) * -1", ("npu::l1_loss_backward", "aten::mul.Scalar")),
        (
            "-at::matmul(result.mH(), at::matmul(grad, result.mH()))",
            ("aten::neg", "aten::matmul", "aten::mH"),
        ),
        (
            "_cdist_backward(grad.mT().contiguous(), x2, x1, p)",
            ("aten::_cdist_backward", "aten::mT", "aten::contiguous"),
        ),
        ("_cdist_backward(at::Tensor(), self.size(dim.back()))", ("aten::_cdist_backward",)),
        (
            "_cdist_backward(grad, (!p.has_value() ? 1 : 1.0 - p))",
            ("aten::_cdist_backward",),
        ),
        ("cholesky_backward(grad, upper, result)", ("aten::mH", "aten::tril")),
        ("maybe_multiply(grad, 1)", ()),
    ],
)
def test_calls(formula: str, calls: tuple[str, ...]) -> None:
    assert _NAMES.called(formula) == calls


@pytest.mark.parametrize(
    ("formula", "told"),
    [
        ("sum_to(grad, self.sym_sizes())", "'sum_to' in the formula"),
        ("grad.transpose(0, 1)", "calls .transpose(), which is one of several overloads"),
    ],
)
def test_what_cannot_be_told_is_not_guessed(formula: str, told: str) -> None:
    with pytest.raises(DatabaseError, match=told.replace("(", r"\(").replace(")", r"\)")):
        _NAMES.called(formula)
