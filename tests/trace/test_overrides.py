"""Composites overridden under autograd: asked for whole, with the right gradients, and undone."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from opcheck.db.store import Database
from opcheck.model.target import TargetSpec
from opcheck.trace.predict import Prediction, predicting
from opcheck.trace.running.training import Registrations
from opcheck.trace.torch_internals.overrides import Gradient

Gradients = Mapping[str, tuple[str, ...] | Gradient]
EVERYTHING = frozenset(
    name for name in torch._C._dispatch_get_all_op_names() if name.startswith("aten::")
)
COMPOSITES = (
    "matmul", "softmax.int", "scaled_dot_product_attention", "adaptive_avg_pool2d", "contiguous",
    "kl_div", "lstm.input", "one_hot", "where", "l1_loss", "stft", "cdist", "log_sigmoid",
    "repeat_interleave.self_int", "slogdet", "fill_diagonal_",
)  # fmt: skip


def ran(
    function: Callable[..., Any],
    *given: Any,
    overrides: Collection[str] = COMPOSITES,
    gradients: Gradients | None = None,
    backward: bool = True,
) -> Prediction:
    names = frozenset(f"aten::{name}" for name in overrides)
    composites = frozenset(f"aten::{name}" for name in COMPOSITES)
    kernels = (_not_implicit() - composites - _NOBODYS) | names
    with predicting("npu", Registrations(kernels, names, gradients or {})) as predictor:
        return predictor.call(function, given, {}, backward=backward)


_NOBODYS = {"aten::detach", "aten::alias"}
"""No device registers them; autograd and the dispatch mode call them on their own."""


def _not_implicit() -> frozenset[str]:
    return frozenset(
        name
        for name in EVERYTHING
        if "CompositeImplicitAutograd[alias]" not in torch._C._dispatch_dump(name)
    )


def asked(prediction: Prediction, phase: str) -> dict[str, int]:
    return {
        str(kernel.op).removeprefix("aten::"): kernel.count
        for kernel in prediction.kernels
        if kernel.phase == phase and str(kernel.op) != "aten::ones_like"
    }


def matrix(*shape: int) -> Tensor:
    torch.default_generator.manual_seed(sum(shape))
    return torch.rand(shape).add_(0.1).requires_grad_()


@pytest.mark.slow
def test_every_table_is_as_before_afterwards() -> None:
    database = Database.open()
    entries = database.matrix(database.resolve(TargetSpec.parse("ascend-910b"))).entries
    names = sorted(EVERYTHING & entries.keys())
    before = {name: torch._C._dispatch_dump_table(name) for name in names}
    overrides = frozenset(n for n, e in entries.items() if "AutogradPrivateUse1" in e.keys)
    gradients = {"aten::gather": ("npu::npu_gather_backward",)}
    with predicting("npu", Registrations(frozenset(entries), overrides, gradients)):
        inside = {name: torch._C._dispatch_dump_table(name) for name in names}
    after = {name: torch._C._dispatch_dump_table(name) for name in names}
    changed = {name for name in names if inside[name] != before[name]}
    assert changed >= {"aten::matmul", "aten::softmax.int", "aten::gather", "aten::isclose"}
    assert after == before


def test_an_overload_that_this_torch_lacks_or_takes_apart_otherwise_is_left_alone() -> None:
    found = ran(torch.exp, matrix(2), overrides=["no_such_operator", "gelu", "exp"])
    assert asked(found, "forward") == {"exp": 1}
    assert asked(found, "backward") == {"mul.Tensor": 1}


def test_with_gradients_the_overload_arrives_whole_and_its_backward_is_pytorchs_formula() -> None:
    found = ran(lambda x: F.softmax(x, -1), matrix(3, 4))
    assert asked(found, "forward") == {"softmax.int": 1}
    assert asked(found, "backward") == {"_softmax_backward_data": 1}


def test_without_its_autograd_side_an_overload_is_taken_apart() -> None:
    found = ran(lambda x: F.softmax(x, -1), matrix(3, 4), overrides=["matmul"])
    assert asked(found, "forward") == {"_softmax": 1}


@pytest.mark.parametrize("how", ["no input needs one", "grad mode is off"])
def test_without_gradients_the_overload_arrives_whole(how: str) -> None:
    x = matrix(3, 4) if how == "grad mode is off" else matrix(3, 4).detach()

    def function(x: Tensor) -> Tensor:
        with torch.set_grad_enabled(how != "grad mode is off"):
            return F.softmax(x, -1)

    found = ran(function, x)
    assert (asked(found, "forward"), asked(found, "backward")) == ({"softmax.int": 1}, {})


def test_a_known_gradient_is_asked_for_in_place_of_the_formula() -> None:
    own = {"aten::matmul": ("aten::matmul_backward", "npu::one_more")}
    found = ran(lambda a, b: torch.matmul(a, b).exp(), matrix(2, 3), matrix(3, 4), gradients=own)
    assert asked(found, "forward") == {"matmul": 1, "exp": 1}
    assert asked(found, "backward") == {
        "matmul_backward": 1, "npu::one_more": 1, "mul.Tensor": 1,
    }  # fmt: skip


class OfEach:
    """A gradient with one kernel for each argument; PyTorch's where only the second needs one."""

    def kernels(
        self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any], needed: frozenset[str]
    ) -> tuple[str, ...] | None:
        assert (func, len(args), kwargs) == (torch.ops.aten.matmul.default, 2, {})
        if needed == {"other"}:
            return None
        sides = {"self": "npu::left", "other": "npu::right"}
        return tuple(side for name, side in sides.items() if name in needed)


@pytest.mark.parametrize(
    ("needing", "backward"),
    [("both", {"npu::left": 1, "npu::right": 1}), ("left", {"npu::left": 1}), ("right", None)],
)
def test_a_gradient_may_depend_on_the_call(needing: str, backward: dict[str, int] | None) -> None:
    left, right = matrix(2, 3), matrix(3, 4)
    left.requires_grad_(needing != "right")
    right.requires_grad_(needing != "left")
    found = ran(torch.matmul, left, right, gradients={"aten::matmul": OfEach()})
    assert asked(found, "backward") == (backward or {"t": 1, "mm": 1})


@pytest.mark.parametrize(
    ("function", "name", "forward"),
    [
        (lambda x: x.gather(0, x.new_zeros(1, 3, dtype=torch.int64)), "gather", "gather"),
        (lambda x: torch.native_dropout(x, 0.5, True)[0], "native_dropout", "native_dropout"),
        (lambda x: x.renorm(2, 0, 1.0), "renorm", "renorm"),
    ],
    ids=["gather", "native_dropout", "renorm"],
)
def test_a_gradient_may_replace_that_of_an_overload_that_is_no_composite(
    function: Callable[..., Any], name: str, forward: str
) -> None:
    own = {f"aten::{name}": ("npu::own_backward",)}
    found = ran(function, matrix(2, 3), gradients=own)
    assert asked(found, "forward")[forward] == 1
    assert asked(found, "backward") == {"npu::own_backward": 1}


def test_an_in_place_overload_that_is_no_composite_keeps_pytorchs_gradient() -> None:
    own = {"aten::renorm_": ("npu::own_backward",)}
    found = ran(lambda x: (x * x).renorm_(2, 0, 1.0), matrix(2, 3), gradients=own)
    assert asked(found, "forward") == {"mul.Tensor": 1, "clone": 1, "renorm_": 1}
    assert "npu::own_backward" not in asked(found, "backward")


def test_an_overload_that_may_give_its_own_argument_counts_as_the_vendors_kernel() -> None:
    found = ran(lambda x: x.t().contiguous().fill_diagonal_(1.0), matrix(2, 3))
    assert asked(found, "forward") == {"t": 1, "contiguous": 1, "fill_diagonal_": 1}


def test_outputs_keep_their_form() -> None:
    forms: list[Any] = []

    def function(x: Tensor, h: Tensor, c: Tensor, w: Tensor) -> Any:
        forms.append(type(torch.where(x)))
        out = torch.lstm(x, (h, c), [w[:8], w[8:, :2]], False, 1, 0.0, False, False, False)
        forms.append([type(out), len(out)])
        return out[2]

    found = ran(function, matrix(4, 2, 3), matrix(1, 2, 2), matrix(1, 2, 2), matrix(16, 3))
    assert forms == [tuple, [tuple, 3]]
    assert asked(found, "forward")["lstm.input"] == 1
    assert asked(found, "backward") != {}


def _twice(function: Callable[..., Tensor]) -> Callable[..., list[Tensor]]:
    """First gradients, and the gradients of the sum of their squares."""

    def run(*tensors: Tensor) -> list[Tensor]:
        out = function(*tensors)
        weights = torch.linspace(0.5, 2, out.numel()).to(out.device).reshape(out.shape)
        first = torch.autograd.grad((out * weights).sum(), tensors, create_graph=True)
        squares = sum((gradient * gradient).sum() for gradient in first)
        second = torch.autograd.grad(squares, tensors, allow_unused=True)  # type: ignore[arg-type]
        return [*first, *(g for g in second if g is not None)]

    return run


FUNCTIONS: Mapping[str, tuple[Callable[..., Tensor], Sequence[Tensor]]] = {
    "matmul": (torch.matmul, (matrix(2, 3), matrix(3, 4))),
    "one argument twice": (lambda x: x @ x, (matrix(3, 3),)),
    "one argument made of another": (lambda x: x @ x.exp().t(), (matrix(2, 3),)),
    "softmax": (lambda x: F.softmax(x, -1), (matrix(3, 4),)),
    "contiguous": (lambda x: x.t().contiguous().exp(), (matrix(3, 4),)),
    "pooling": (lambda x: F.adaptive_avg_pool2d(x, (2, 2)).exp(), (matrix(1, 2, 5, 5),)),
    "attention": (F.scaled_dot_product_attention, [matrix(1, n, 3) for n in (2, 4, 4)]),
    "named arguments": (
        lambda x, y: F.kl_div(x, target=y, reduction="sum", log_target=True),
        (matrix(3), matrix(4)[1:]),
    ),
    "repeated": (lambda x: x.exp().repeat_interleave(2, dim=0), (matrix(3, 4),)),
    "several outputs": (lambda x: torch.slogdet(x)[1], (matrix(3, 3),)),
    "in place": (lambda x: (x * x).fill_diagonal_(2.0).exp(), (matrix(3, 3),)),
}  # fmt: skip


@pytest.mark.parametrize("gradients", ["the formula's", "the vendor's"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_and_theirs_are_the_cpus(name: str, gradients: str) -> None:
    function, tensors = FUNCTIONS[name]
    tensors = [t.detach().clone().requires_grad_() for t in tensors]
    found: list[Tensor] = []

    def on_device(*placed: Tensor) -> None:
        found.extend(gradient.detach().cpu() for gradient in _twice(function)(*placed))

    own = {f"aten::{name}": ("npu::backward",) for name in COMPOSITES}
    ran(on_device, *tensors, gradients=own if gradients == "the vendor's" else {})
    wanted = _twice(function)(*tensors)
    assert len(found) == len(wanted)
    for ours, theirs in zip(found, wanted, strict=True):
        torch.testing.assert_close(ours, theirs.detach())


def test_a_second_derivative_of_a_known_gradient_is_pytorchs_formula() -> None:
    def function(a: Tensor, b: Tensor) -> Tensor:
        (gradient,) = torch.autograd.grad(torch.matmul(a, b).exp().sum(), a, create_graph=True)
        return gradient

    own = {"aten::matmul": ("aten::matmul_backward",)}
    found = ran(function, matrix(2, 3), matrix(3, 4), gradients=own)
    assert asked(found, "forward")["matmul_backward"] == 1
    assert asked(found, "backward")["mm"] > 1


def test_dropped_elements_have_no_gradient_and_later_random_numbers_are_undisturbed() -> None:
    seen: list[Any] = []

    def function(x: Tensor) -> None:
        out = torch.native_dropout(x, 0.5, True)[0]
        state = torch.get_rng_state()
        (gradient,) = torch.autograd.grad(out.sum(), x)
        seen.append(torch.equal(out.detach().cpu() != 0, gradient.cpu() != 0))
        seen.append(torch.equal(state, torch.get_rng_state()))

    ran(function, matrix(8, 8), gradients={"aten::native_dropout": ("npu::own",)})
    assert seen == [True, True]
