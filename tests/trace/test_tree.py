"""What is recorded of a call: whole, with what it becomes, once per signature."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from opcheck.model.trace import Composite, Constant, Node, OpName, TensorMeta, Use
from tests.trace.look import below, calls, node, traced, written


class Layers(nn.Module):
    """A stack of equal layers, as transformers have them."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Block() for _ in range(count))

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(self.fc(x))


def test_a_composite_is_one_call_of_the_model_and_a_tree_below() -> None:
    trace = traced(nn.Linear(4, 3), torch.randn(2, 4))
    assert calls(trace) == ["aten::linear"]
    assert written(trace) == [
        "aten::linear",
        "  aten::t",
        "    aten::transpose.int",
        "      aten::as_strided",
        "  aten::addmm",
        "    aten::empty.memory_format",
        "    aten::addmm.out",
    ]


def test_a_node_holds_the_whole_signature() -> None:
    trace = traced(lambda x: torch.sum(x, dim=[1], keepdim=True, dtype=torch.float64), _ones(2, 3))
    assert node(trace, "aten::sum.dim_IntList") == Node(
        OpName("aten", "sum", "dim_IntList"),
        arguments=(
            ("self", TensorMeta("float32", (2, 3), (3, 1))),
            ("dim", (1,)),
            ("keepdim", True),
            ("dtype", Constant("dtype", "float64")),
        ),
        outputs=(TensorMeta("float64", (2, 1), (1, 1)),),
        composite=Composite.NON_FUNCTIONAL,
        cpu_kernel=True,
        children=node(trace, "aten::sum.dim_IntList").children,
    )


def test_layers_of_one_shape_are_one_node_however_many_there_are() -> None:
    few, many = (traced(Layers(n), _ones(2, 4)) for n in (2, 50))
    assert many.nodes == few.nodes
    relu, linear = (next(i for i, n in enumerate(many.nodes) if str(n.op) == op)
                    for op in ("aten::relu", "aten::linear"))  # fmt: skip
    assert [(use.node, use.module, use.count) for use in many.uses] == [
        (linear, "layers.*.fc", 50),
        (relu, "layers.*", 50),
    ]
    assert many.calls == 100
    assert calls(many) == ["aten::linear", "aten::relu"] * 50


def test_other_shapes_are_other_nodes() -> None:
    trace = traced(lambda x: (x + 1, x[:1] + 1), _ones(2, 4))
    adds = [n for n in trace.nodes if str(n.op) == "aten::add.Tensor"]
    assert [n.arguments[0][1] for n in adds] == [
        TensorMeta("float32", (2, 4), (4, 1)),
        TensorMeta("float32", (1, 4), (4, 1)),
    ]


def test_true_is_not_one_and_one_is_not_one_point_nought() -> None:
    trace = traced(lambda x: (x * True, x * 1, x * 1.0), _ones(2))
    scalars = [n.arguments[1][1] for n in trace.nodes if str(n.op) == "aten::mul.Tensor"]
    assert [(type(s), s) for s in scalars] == [(bool, True), (int, 1), (float, 1.0)]


def test_a_child_is_counted_as_often_as_the_composite_calls_it() -> None:
    trace = traced(nn.LSTM(4, 5), _ones(3, 1, 4))
    assert below(trace, node(trace, "aten::lstm.input")) is not None
    cells = [
        count
        for parent in trace.nodes
        for child, count in parent.children or ()
        if str(trace.nodes[child].op) == "aten::_thnn_fused_lstm_cell"
    ]
    assert cells == [3]


def test_a_composite_that_asks_for_the_device_goes_the_accelerators_way() -> None:
    """On the CPU, attention is a kernel that no accelerator has."""
    trace = traced(F.scaled_dot_product_attention, *[torch.randn(1, 2, 3, 8)] * 3)
    attention = node(trace, "aten::scaled_dot_product_attention")
    assert below(trace, attention) == ["aten::_scaled_dot_product_attention_math"]


def test_convolution_ends_where_a_device_overrides_it() -> None:
    trace = traced(nn.Conv2d(3, 4, 3), _ones(1, 3, 8, 8))
    assert written(trace) == [
        "aten::conv2d",
        "  aten::convolution",
        "    aten::_convolution",
        "      aten::convolution_overrideable",
    ]


def test_an_overload_without_a_composite_has_no_children() -> None:
    trace = traced(lambda x: x.nonzero(), _ones(2))
    assert node(trace, "aten::nonzero").children == ()
    assert node(trace, "aten::nonzero").composite is None


def test_whether_a_host_could_run_it_is_said() -> None:
    trace = traced(nn.LSTM(4, 5), _ones(3, 1, 4))
    assert not node(trace, "aten::_thnn_fused_lstm_cell").cpu_kernel
    assert traced(lambda x: x.nonzero(), _ones(2)).nodes[0].cpu_kernel


def test_memory_format_shows_in_the_strides() -> None:
    x = torch.randn(1, 3, 8, 8).to(memory_format=torch.channels_last)
    trace = traced(nn.Conv2d(3, 4, 3), x)
    conv = node(trace, "aten::conv2d")
    assert conv.arguments[0][1] == TensorMeta("float32", (1, 3, 8, 8), (192, 1, 24, 3))
    assert conv.outputs == (TensorMeta("float32", (1, 4, 6, 6), (144, 1, 24, 4)),)


def test_weights_may_be_on_meta() -> None:
    with torch.device("meta"):
        model = nn.Linear(1 << 16, 1 << 16)
    trace = traced(model, torch.empty(1, 1 << 16, device="meta"))
    assert calls(trace) == ["aten::linear"]
    assert {p.device.type for p in model.parameters()} == {"meta"}


def test_nested_inputs_are_put_on_the_device() -> None:
    trace = traced(lambda pair, *, more: pair["a"][0] + more, {"a": (_ones(2),)}, more=_ones(2))
    assert [t.host for _, t in node(trace, "aten::add.Tensor").tensors()] == [False, False]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: x + torch.tensor(3.0), [False, True]),
        (lambda x: x * torch.arange(4).to(x.device), [False, False]),
        (lambda x: x[torch.tensor([0, 1])], [False, True]),
    ],
    ids=["scalar", "moved", "index"],
)
def test_tensors_made_in_host_memory_are_told_apart(function: object, expected: list[bool]) -> None:
    trace = traced(function, _ones(2, 4))  # type: ignore[arg-type]  # a lambda
    last = trace.nodes[trace.uses[-1].node]
    assert [t.host for _, t in last.tensors()] == expected


def test_host_tensors_by_themselves_are_not_the_devices_business() -> None:
    assert calls(traced(lambda x: x + float((torch.arange(3) * 2).sum()), _ones(2))) == [
        "aten::add.Tensor"
    ]


def test_tensors_that_cannot_meet_are_recorded_with_what_torch_says() -> None:
    trace = traced(lambda x: x + torch.arange(4), _ones(2, 4))
    assert node(trace, "aten::add.Tensor").children is None
    assert "Expected all tensors to be on the same device" in node(trace, "aten::add.Tensor").note


def test_a_call_that_is_refused_and_caught_is_not_a_call() -> None:
    def caught(x: Tensor) -> Tensor:
        try:
            return x @ torch.ones(9, device=x.device)
        except RuntimeError:
            return x * 2

    assert calls(traced(caught, _ones(2, 4))) == ["aten::ones", "aten::mul.Tensor"]


def test_every_use_is_a_call_of_the_sequence() -> None:
    trace = traced(Layers(3), _ones(2, 4))
    counted = [trace.sequence.count(use) for use in range(len(trace.uses))]
    assert counted == [use.count for use in trace.uses] == [3, 3]
    assert isinstance(trace.uses[0], Use)


def _ones(*shape: int) -> Tensor:
    return torch.ones(*shape)
