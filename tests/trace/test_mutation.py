"""Tensors that change in place, views, and what they leave behind."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from opcheck.model.trace import TensorMeta
from tests.trace.look import calls, node, traced

X = torch.tensor([[1.0, -2.0], [3.0, 4.0]])


@pytest.mark.parametrize(
    ("change", "expected", "result"),
    [
        (lambda x: x.add_(1), ["aten::add_.Tensor"], (2, 2)),
        (lambda x: x.unsqueeze_(0), ["aten::unsqueeze_"], (1, 2, 2)),
        (lambda x: x.t_(), ["aten::t_"], (2, 2)),
        (lambda x: x.squeeze_(), ["aten::squeeze_"], (2, 2)),
        (lambda x: x.resize_(3), ["aten::resize_"], (3,)),
        (lambda x: x.copy_(x.t()), ["aten::t", "aten::copy_"], (2, 2)),
        (lambda x: x.masked_fill_(x > 0, 0), ["aten::gt.Scalar", "aten::masked_fill_.Scalar"],
         (2, 2)),
        (lambda x: x.zero_(), ["aten::zero_"], (2, 2)),
        (lambda x: x.set_(torch.ones(5, device=x.device)),
         ["aten::ones", "aten::set_.source_Tensor"], (5,)),
        (lambda x: x[0].mul_(2), ["aten::select.int", "aten::mul_.Tensor"], (2,)),
    ],
    ids=lambda value: value[-1] if isinstance(value, list) else "",
)  # fmt: skip
def test_a_change_in_place_is_seen_and_gives_the_same_tensor(
    change: Callable[[Tensor], Tensor], expected: list[str], result: tuple[int, ...]
) -> None:
    seen: list[tuple[bool, tuple[int, ...]]] = []

    def model(x: Tensor) -> Tensor:
        y = x.clone()
        z = change(y)
        seen.append((z is y or expected[0] == "aten::select.int", tuple(z.shape)))
        return z.exp()

    trace = traced(model, X)
    assert calls(trace) == ["aten::clone", *expected, "aten::exp"]
    assert seen == [(True, result)]
    assert trace.gaps == ()


def test_values_follow_a_change_in_place() -> None:
    def model(x: Tensor) -> Tensor:
        x = x.clone()
        x[0, 1] = 7
        x += 1
        return x.sin() if x.max().item() == 8 else x.cos()

    assert calls(traced(model, X))[-1] == "aten::sin"


def test_values_follow_a_change_through_a_view() -> None:
    def model(x: Tensor) -> Tensor:
        x = x.clone()
        x.view(-1)[1:3].fill_(9)
        return x.sin() if x.sum().item() == 23 else x.cos()

    assert calls(traced(model, X))[-1] == "aten::sin"


def test_an_assignment_to_data_takes_another_shape() -> None:
    def model(x: Tensor) -> Tensor:
        y = torch.zeros(3, device=x.device)
        y.data = torch.ones(4, device=x.device)
        return y.exp()

    assert node(traced(model, X), "aten::exp").outputs == (TensorMeta("float32", (4,), (1,)),)


def test_a_view_keeps_its_strides() -> None:
    trace = traced(lambda x: x.t()[:1].exp(), torch.ones(3, 4))
    assert node(trace, "aten::exp").arguments == (("self", TensorMeta("float32", (1, 3), (1, 4))),)


def test_a_view_that_strides_forbid_is_refused_as_on_the_device() -> None:
    def model(x: Tensor) -> Tensor:
        try:
            return x.t().view(-1)
        except RuntimeError:
            return x.t().reshape(-1)

    assert calls(traced(model, torch.ones(3, 4))) == ["aten::t", "aten::t", "aten::reshape"]


def test_a_buffer_that_the_forward_changes_is_as_before_afterwards() -> None:
    class Counter(nn.Module):
        seen: Tensor

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("seen", torch.zeros(1))

        def forward(self, x: Tensor) -> Tensor:
            self.seen += 1
            self.last = x * self.seen
            return self.last.sin() if self.seen.item() == 1 else x.cos()

    model = Counter()
    for _ in range(2):
        assert calls(traced(model, X)) == ["aten::add_.Tensor", "aten::mul.Tensor",
                                           "aten::item", "aten::sin"]  # fmt: skip
    assert model.seen.tolist() == [0]
    assert not hasattr(model, "last")


def test_inputs_are_left_as_they_are() -> None:
    x = torch.ones(2)
    traced(lambda x: x.add_(1), x)
    assert x.tolist() == [1, 1]


def test_a_composite_that_mutates_does_so_once() -> None:
    """Taking it apart happens on copies."""

    def model(x: Tensor) -> Tensor:
        x = x.clone()
        nn.functional.relu_(x.sub_(1))
        return x.sin() if x.sum().item() == 5 else x.cos()

    assert calls(traced(model, X))[-1] == "aten::sin"
