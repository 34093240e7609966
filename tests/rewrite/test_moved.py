"""Overloads of the host that are moved by as much as what replaces them may be off."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from opcheck.model.jobs import Tolerance
from opcheck.rewrite.perturbation import CAN_MOVE, DRAWS, HEADROOM, forms, moving, places, roundings

pytestmark = pytest.mark.skipif(not CAN_MOVE, reason="this torch does not give kernels")
EPS = torch.finfo(torch.float32).eps


def moved(
    op: str, function: Callable[[Tensor], Tensor], x: Tensor, draw: int
) -> tuple[Tensor, Tensor]:
    with moving({op: 4.0}, draw) as seen:
        found = function(x)
        (gradient,) = torch.autograd.grad(found.sum(), x)
    assert seen.met
    return found.detach(), gradient


@pytest.mark.parametrize("draw", range(DRAWS))
@pytest.mark.parametrize(
    ("op", "function"),
    [
        ("aten::std.correction", lambda x: x.std(-1)),  # a kernel, called by a composite
        ("aten::std.dim", lambda x: x.std(-1)),  # a composite
        ("aten::exp.out", torch.exp),  # another form of it is called
        ("aten::add.Tensor", lambda x: x + 1),  # a number in place of a tensor
        ("aten::exp", lambda x: (x * 1).exp_()),
        ("aten::einsum", lambda x: torch.einsum("ij,kj->ik", x, x)),
    ],
)
def test_results_and_gradients_move_by_what_is_stated(
    op: str, function: Callable[[Tensor], Tensor], draw: int
) -> None:
    x = torch.linspace(-1, 2, 12).reshape(3, 4).requires_grad_()
    plain = function(x)
    (gradient,) = torch.autograd.grad(plain.sum(), x)
    found, other = moved(op, function, x, draw)
    far = HEADROOM * 4.0 * EPS * float(plain.detach().abs().max())
    assert far / 2 < float((found - plain.detach()).abs().max()) < far * 1.1
    if op != "aten::exp":  # what is written in place is moved after autograd has seen it
        largest = float(gradient.abs().max())
        assert 0 < float((other - gradient).abs().max()) < HEADROOM * 16 * EPS * largest
    assert torch.equal(function(x), plain)
    assert torch.equal(torch.autograd.grad(function(x).sum(), x)[0], gradient)


def test_each_draw_moves_otherwise_and_always_so() -> None:
    x = torch.ones(8, 8, requires_grad=True)
    found = [moved("aten::exp", torch.exp, x, draw)[0] for draw in (0, 1, 2, 1)]
    assert torch.equal(found[1], found[3])
    assert not torch.equal(found[1], found[2])
    assert len(found[0].unique()) == 1


def test_what_is_exact_moves_gradients_alone() -> None:
    x = torch.ones(4, requires_grad=True)
    with moving({"aten::roll": 0.0}, 0):
        found = x.roll(1)
        (gradient,) = torch.autograd.grad(found.sum(), x)
    assert torch.equal(found, torch.ones(4))
    assert 0 < float((gradient - 1).abs().max()) <= HEADROOM * EPS


def test_a_composite_moves_without_autograd_too() -> None:
    x = torch.linspace(-1, 2, 12)
    for mode in (torch.no_grad(), torch.inference_mode()):
        with mode, moving({"aten::celu": 1.0}, 0) as seen:
            assert not torch.equal(torch.celu(x), torch.where(x > 0, x, x.exp() - 1))
        assert seen.met == {"aten::celu"}


def test_forms_of_an_overload() -> None:
    assert forms("aten::relu_") == ("aten::relu", "aten::relu.out", "aten::relu_")


@pytest.mark.parametrize("draw", range(DRAWS))
def test_numbers_that_only_mask_do_not_count_as_the_largest(draw: int) -> None:
    masked = torch.tensor([1.0, 2.0, torch.finfo(torch.float32).min], requires_grad=True)
    found, _ = moved("aten::mul.Tensor", lambda x: x * x.new_tensor(1.0), masked, draw)
    assert float((found - masked.detach()).abs().max()) < HEADROOM * 5 * EPS * 2


@pytest.mark.parametrize("draw", range(DRAWS))
def test_a_gradient_that_masks_with_the_lowest_number_stays_a_number(draw: int) -> None:
    x = torch.linspace(-1, 2, 12).reshape(3, 4).requires_grad_()
    _, gradient = moved("aten::logcumsumexp", lambda x: x.logcumsumexp(1).sin(), x, draw)
    assert not gradient.isnan().any()


def test_a_call_that_runs_without_what_is_replaced_is_moved_itself() -> None:
    """On the host attention is one kernel, while products of others are met beside it."""
    heads = torch.ones(1, 1, 2, 8)
    tolerances = {
        "aten::matmul": Tolerance(8192.0, ("aten::scaled_dot_product_attention", "aten::matmul")),
        "aten::std.correction": Tolerance(2.0, ("aten::std.dim",)),
        "aten::mul.Tensor": Tolerance(1.0, ("aten::celu",)),
    }

    def run() -> None:
        torch.nn.functional.scaled_dot_product_attention(heads, heads, heads)
        heads @ heads.mT
        heads.std(-1)
        torch.celu(heads)

    assert places(run, tolerances) == {
        "aten::matmul": 8192.0, "aten::scaled_dot_product_attention": 8192.0,
        "aten::std.correction": 2.0, "aten::celu": 1.0,
    }  # fmt: skip


def test_a_gradient_may_be_off_by_a_rounding_of_the_largest() -> None:
    found = roundings({
        "grad of scale": torch.tensor([-4.0, torch.inf]),
        "grad of bias": torch.tensor([1e-9]),
        "grad of none": torch.empty(0),
        "bias after the step": torch.tensor([64.0]),
    })  # fmt: skip
    assert found == {"grad of scale": 4 * EPS, "grad of bias": 4 * EPS}
