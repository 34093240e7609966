"""What calls cost, against PyTorch's own counters; what lives at once, against its tracker."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.distributed._tools.mem_tracker import MemTracker
from torch.nn import functional as F  # noqa: N812  # as everybody writes it
from torch.utils.flop_counter import FlopCounterMode

from opcheck.model.costs import Costs
from opcheck.model.trace import Phase, Trace
from opcheck.trace import trace_model
from opcheck.trace.running.training import Registrations, Training
from opcheck.trace.running.training_step import TrainingStep

WIDTH, HEADS, LENGTH = 64, 4, 33


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        apart = self.qkv(self.norm(x)).view(batch, length, 3, HEADS, width // HEADS)
        query, key, value = apart.permute(2, 0, 3, 1, 4)
        weights = torch.softmax(query @ key.transpose(-1, -2) / 4.0, -1)
        x = x + self.out((weights @ value).transpose(1, 2).reshape(batch, length, width))
        given: Tensor = x + self.down(F.gelu(self.up(x)))
        return given


class Transformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.Sequential(Block(), Block(), Block())
        self.head = nn.Linear(WIDTH, 100)

    def forward(self, x: Tensor) -> Tensor:
        given: Tensor = self.head(self.blocks(x))
        return given


CPU = torch.device("cpu")
X = torch.randn(2, LENGTH, WIDTH)
STEP = Training(TrainingStep(), Registrations(frozenset()))


class Attends(nn.Module):
    """Attention, of which targets ask something as a whole."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.linear(x)[None]
        return F.scaled_dot_product_attention(y, y, y)


def traced(model: Callable[..., Any], *inputs: Any, train: bool = False) -> Trace:
    return trace_model(
        model, inputs, {}, device_type="npu", costs=True, training=STEP if train else None
    )


def costs(trace: Trace) -> Costs:
    assert trace.costs is not None
    return trace.costs


def flops(trace: Trace) -> int | None:
    counted = [(use.count, costs(trace).nodes[use.node].flops) for use in trace.uses]
    return sum(count * each for count, each in counted if each is not None)


def peak(trace: Trace, phase: Phase = Phase.FORWARD) -> int:
    live = zip(costs(trace).live, trace.sequence, strict=True)
    return max(nbytes for nbytes, number in live if trace.uses[number].phase is phase)


def test_a_trace_has_no_costs_unless_they_are_asked_for() -> None:
    assert trace_model(nn.ReLU(), (X,), {}, device_type="npu").costs is None


SAME = (
    (Transformer(), X),
    (nn.Conv2d(8, 12, 3, groups=4, stride=2, padding=1), torch.ones(2, 8, 9, 11)),
    (nn.ConvTranspose2d(8, 4, 2, stride=2), torch.ones(2, 8, 5, 5)),
    (nn.Conv1d(3, 6, 5), torch.ones(2, 3, 40)),
    (lambda a: torch.einsum("bij,bkj->bik", a, a), X),
    (lambda a: torch.baddbmm(a @ a.mT, a, a.mT), X),
    (lambda a: a.relu() + 1, X),
)


@pytest.mark.parametrize(("model", "given"), SAME)
def test_operations_are_those_that_pytorch_counts(model: Any, given: Tensor) -> None:
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(given)
    assert flops(traced(model, given)) == counter.get_total_flops()


def test_a_step_has_as_many_operations_as_pytorch_counts() -> None:
    model = Transformer()
    with FlopCounterMode(display=False) as counter:
        model(X).mean().backward()
    assert flops(traced(model, X, train=True)) == counter.get_total_flops()


def test_backward_of_a_grouped_convolution_costs_its_forward_twice() -> None:
    model = nn.Sequential(nn.Conv2d(8, 8, 1), nn.Conv2d(8, 8, 3, groups=8, padding=1))
    given = torch.ones(2, 8, 6, 6)
    pointwise, depthwise = 2 * 2 * 36 * 64, 2 * 2 * 36 * 8 * 9
    assert flops(traced(model, given)) == pointwise + depthwise
    in_all = pointwise + depthwise + 2 * depthwise + pointwise  # none for the input's gradient
    assert flops(traced(model, given, train=True)) == in_all


def test_attention_costs_two_products_on_every_shape() -> None:
    def attend(query: Tensor, key: Tensor) -> Tensor:
        return F.scaled_dot_product_attention(query, key, key, enable_gqa=True)

    found = traced(attend, torch.ones(2, 8, 5, 16), torch.ones(2, 2, 7, 16))
    assert flops(found) == 2 * (2 * 2 * 8 * 5 * 7 * 16)


def test_operations_that_nobody_has_counted_are_not_none() -> None:
    found = traced(torch.linalg.svdvals, torch.ones(4, 4))
    assert {costs(found).nodes[use.node].flops for use in found.uses} == {None}


def moved(model: Callable[..., Any], *given: Tensor) -> tuple[tuple[str, int, int, int], ...]:
    """Operator, bytes read, bytes written and elements of each call that the model makes."""
    found = traced(model, *given)
    of = costs(found).nodes
    return tuple(
        (found.nodes[use.node].op.base, of[use.node].read, of[use.node].written,
         of[use.node].elements)
        for use in found.uses
    )  # fmt: skip


def test_views_move_nothing_and_copies_compute_nothing() -> None:
    x = torch.ones(4, 8)
    assert moved(lambda a: a.t().view(4, 8), x.t().contiguous().t())[-1] == ("view", 0, 0, 0)
    assert moved(lambda a: a.t().contiguous(), x) == (
        ("t", 0, 0, 0), ("contiguous", 128, 128, 0)
    )  # fmt: skip
    assert not moved(lambda a: a.contiguous(), x)
    assert moved(lambda a: torch.ops.aten._unsafe_view(a, [32]), x) == (("_unsafe_view", 0, 0, 0),)
    assert moved(lambda a: a.reshape(32), x.t()) == (("reshape", 128, 128, 0),)


def test_what_passes_its_input_on_moves_nothing() -> None:
    assert moved(nn.Dropout(0.5).eval(), X) == (("dropout", 0, 0, 0),)
    assert moved(nn.Identity(), X) == ()


def test_calls_read_their_arguments_and_write_what_they_give() -> None:
    x, row = torch.ones(4, 8), torch.ones(8)
    assert moved(lambda a, b: a + b, x, row) == (("add", 160, 128, 32),)
    assert moved(lambda a, b: a.add_(b), x, row) == (("add_", 160, 128, 32),)
    assert moved(lambda a, b: a.copy_(b), x, row) == (("copy_", 32, 128, 0),)
    assert moved(lambda a: a.zero_(), x) == (("zero_", 0, 128, 0),)
    assert moved(lambda a, b: a + b.expand(4, 8), x, row)[-1] == ("add", 160, 128, 32)


def test_a_lookup_reads_no_more_of_its_table_than_it_gives() -> None:
    found = traced(nn.Embedding(1000, 8), torch.zeros(2, 3, dtype=torch.int64))
    (cost,) = (costs(found).nodes[use.node] for use in found.uses)
    assert (cost.read, cost.written, cost.weights) == (2 * 3 * (8 + 4 * 8), 2 * 3 * 4 * 8, 240)


def test_weights_are_told_from_activations() -> None:
    model = nn.Sequential(nn.Linear(64, 100), nn.BatchNorm1d(100)).eval()
    found = traced(model, torch.ones(3, 64))
    linear, norm = (costs(found).nodes[use.node].weights for use in found.uses)
    assert (linear, norm) == (4 * (64 * 100 + 100), 4 * 400)
    assert (costs(found).weights, costs(found).buffers) == (4 * (64 * 100 + 300), 4 * 200 + 8)
    assert (costs(found).inputs, costs(found).batch) == (4 * 3 * 64, 3)


def test_shared_weights_count_once() -> None:
    model = nn.Sequential(nn.Linear(8, 8, bias=False), nn.Linear(8, 8, bias=False))
    model[1].weight = model[0].weight
    assert costs(traced(model, torch.ones(1, 8))).weights == 4 * 64


def tracked(train: bool) -> tuple[int, int]:
    """Bytes of activations, gradients and what is temporary: at most, and of gradients alone."""
    model, given, tracker = Transformer(), X.clone(), MemTracker()
    tracker.track_external(model, given)
    with tracker, torch.set_grad_enabled(train):
        output = model(given)
        if train:
            output.mean().backward()
    at_most, now = (
        {getattr(kind, "name", ""): nbytes for kind, nbytes in kinds.items()}
        for kinds in (tracker.get_tracker_snapshot(when)[CPU] for when in ("peak", "current"))
    )
    return at_most["ACT"] + at_most["GRAD"] + at_most["TEMP"], now["GRAD"]


def test_what_lives_at_most_in_inference_is_what_pytorch_tracks() -> None:
    assert peak(traced(Transformer(), X)) == tracked(train=False)[0]


def test_what_lives_at_most_in_training_is_what_pytorch_tracks() -> None:
    found = traced(Transformer(), X, train=True)
    at_most, gradients = tracked(train=True)
    assert peak(found, Phase.BACKWARD) == at_most
    assert sum(nbytes for _, nbytes in costs(found).gradients) == gradients


def test_a_step_keeps_two_states_for_each_parameter_under_adamw() -> None:
    found = costs(traced(Transformer(), X, train=True))
    assert found.trained == found.weights == sum(nbytes for _, nbytes in found.gradients)
    assert found.states == 2 * found.weights


def test_what_is_dropped_lives_no_more() -> None:
    def model(x: Tensor) -> Tensor:
        for _ in range(5):
            x = x * 2
        return x

    size = X.nbytes
    assert costs(traced(model, X)).live == (size, 2 * size, 2 * size, 2 * size, 2 * size)


def test_what_lives_inside_of_a_composite_is_known() -> None:
    query = torch.ones(1, 2, 64, 8)
    found = traced(lambda q: F.scaled_dot_product_attention(q, q, q), query)
    (cost,) = (costs(found).nodes[use.node] for use in found.uses)
    scores = 4 * 2 * 64 * 64
    assert cost.inside >= 2 * scores  # before and after the softmax


def test_calls_with_gradients_switched_on_in_inference_are_known() -> None:
    def model(x: Tensor) -> Tensor:
        with torch.enable_grad():
            x = x.exp()
        return x.log()

    found = traced(model, X)
    names = [found.nodes[found.uses[i].node].op.base for i in costs(found).grad_enabled]
    assert names == ["exp"]


def test_a_composite_that_autograd_takes_apart_costs_nothing_itself() -> None:
    """Its parts have all of it, and each node of the trace has a cost."""
    asked = Registrations(frozenset(), asked_of=frozenset({"aten::scaled_dot_product_attention"}))
    training = Training(TrainingStep(), asked)
    x = (torch.randn(4, 8),)
    trace = trace_model(Attends(), x, {}, device_type="npu", costs=True, training=training)
    assert trace.taken_apart
    assert trace.costs is not None
    assert len(trace.costs.nodes) == len(trace.nodes)
    itself = [trace.costs.nodes[use.node] for use in trace.taken_apart]
    assert all((cost.flops, cost.read, cost.written) == (0, 0, 0) for cost in itself)
