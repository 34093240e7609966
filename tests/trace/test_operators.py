"""Kinds of operators: complex, random, recurrent, attention, custom, higher-order."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch._higher_order_ops.while_loop import while_loop
from torch.nn import functional as F  # noqa: N812  # as everybody writes it
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint

from opcheck.model.trace import Composite, Gap, OpName, TensorMeta
from opcheck.trace import trace_model
from opcheck.trace.calls.higher_order import EVERY_BRANCH, ONE_PASS
from opcheck.trace.calls.modules import TAKES_GRADIENTS
from opcheck.trace.running.training import Registrations
from tests.lang.told import in_chinese
from tests.trace.look import below, calls, node, reasons, summed, traced

X = torch.ones(2, 4)
_LIBRARY = torch.library.Library("opcheck_test", "FRAGMENT")
_LIBRARY.define("schema_only(Tensor x) -> Tensor")
_LIBRARY.define("pair(Tensor x) -> (Tensor, int)")


@torch.library.custom_op("opcheck_test::twice", mutates_args=())
def twice(x: Tensor) -> Tensor:
    return x * 2


@twice.register_fake
def _(x: Tensor) -> Tensor:
    return torch.empty_like(x)


@torch.library.custom_op("opcheck_test::on_cpu", mutates_args=(), device_types="cpu")
def on_cpu(x: Tensor) -> Tensor:
    return x[:1].clone()


@torch.library.custom_op("opcheck_test::on_cuda", mutates_args=(), device_types="cuda")
def on_cuda(x: Tensor) -> Tensor:
    return x.clone()


@torch.library.custom_op("opcheck_test::add_one", mutates_args=("x",))
def add_one(x: Tensor) -> None:
    x.add_(1)


def test_a_custom_operator_written_in_python_is_taken_apart() -> None:
    trace = traced(twice, X)
    assert calls(trace) == ["opcheck_test::twice"]
    assert below(trace, node(trace, "opcheck_test::twice")) == ["aten::mul.Tensor"]


def test_a_custom_operator_for_the_cpu_is_asked_for_its_shape() -> None:
    trace = traced(lambda x: on_cpu(x) + 1, X)
    assert calls(trace) == ["opcheck_test::on_cpu", "aten::add.Tensor"]
    found = node(trace, "opcheck_test::on_cpu")
    assert (found.composite, found.children, found.cpu_kernel) == (None, (), True)
    assert found.outputs == (TensorMeta("float32", (1, 4), (4, 1)),)
    assert trace.gaps == ()


def test_a_custom_operator_that_changes_its_input_is_a_call() -> None:
    def model(x: Tensor) -> Tensor:
        x = x.clone()
        add_one(x)
        return x

    assert "opcheck_test::add_one" in calls(traced(model, X))


@pytest.mark.parametrize(
    ("function", "op"),
    [
        (lambda x: torch.ops.opcheck_test.schema_only(x) + 1, "opcheck_test::schema_only"),
        (lambda x: on_cuda(x) + 1, "opcheck_test::on_cuda"),
    ],
    ids=["schema only", "another device's kernel"],
)
def test_a_custom_operator_of_unknown_shape_is_a_gap_and_the_rest_is_seen(
    function: Callable[[Tensor], Tensor], op: str
) -> None:
    trace = traced(function, X)
    assert calls(trace) == [op, "aten::add.Tensor"]
    assert node(trace, op).cpu_kernel is False
    assert reasons(trace) == [f"{op} has no shape rule here; its result is taken to be like its "
                              "input"]  # fmt: skip


@pytest.mark.slow
def test_a_custom_operator_whose_result_cannot_be_guessed_is_a_gap_in_its_module() -> None:
    class Pair(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return torch.exp(torch.ops.opcheck_test.pair(x)[0])

    trace = traced(nn.Sequential(nn.ReLU(), Pair(), nn.Tanh()), X)
    assert calls(trace) == ["aten::relu", "aten::tanh"]
    assert [gap.where for gap in trace.gaps] == ["1"]
    assert reasons(trace)[0].startswith("Could not run 'opcheck_test::pair'")
    assert len(reasons(trace)[0]) < 100


def test_an_extensions_operator_with_an_open_size_is_followed() -> None:
    from opcheck.source.building import torchvision_operators

    torchvision_operators.prepare()
    pytest.importorskip("torchvision")  # brings the shape rules

    def model(boxes: Tensor) -> Tensor:
        kept = torch.ops.torchvision.nms(boxes, boxes[:, 0], 0.5)
        return boxes[kept]

    trace = traced(model, torch.rand(2000, 4))  # more than a trace keeps values of
    assert calls(trace)[-2:] == ["torchvision::nms", "aten::index.Tensor"]
    assert node(trace, "torchvision::nms").outputs == (TensorMeta("int64", (2000,), (1,)),)
    assert trace.gaps == ()


def test_complex_numbers_keep_their_dtypes() -> None:
    def rotate(x: Tensor, angle: Tensor) -> Tensor:
        turned = torch.view_as_complex(x.view(2, 2, 2)) * torch.polar(torch.ones_like(angle), angle)
        return torch.view_as_real(turned).flatten(1)

    trace = traced(rotate, X, torch.ones(2, 2))
    assert calls(trace) == [
        "aten::view", "aten::view_as_complex", "aten::ones_like", "aten::polar",
        "aten::mul.Tensor", "aten::view_as_real", "aten::flatten.using_ints",
    ]  # fmt: skip
    assert [t.dtype for t in node(trace, "aten::mul.Tensor").output_tensors()] == ["complex64"]


def test_a_complex_constant_is_kept_as_text() -> None:
    trace = traced(lambda x: x * 2j, X)
    assert dict(node(trace, "aten::mul.Tensor").arguments)["other"] == "2j"


def test_fourier_transforms_end_in_their_own_kernels() -> None:
    trace = traced(lambda x: torch.fft.irfft(torch.fft.rfft(x)), X)
    assert below(trace, node(trace, "aten::fft_rfft")) == ["aten::_fft_r2c"]
    assert below(trace, node(trace, "aten::fft_irfft")) == ["aten::_fft_c2r"]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: torch.rand(3, device=x.device), ["aten::rand"]),
        (torch.randn_like, ["aten::randn_like"]),
        (lambda x: torch.randint(0, 5, (2,), device=x.device), ["aten::randint.low"]),
        (torch.bernoulli, ["aten::bernoulli"]),
        (lambda x: torch.multinomial(x, 2), ["aten::multinomial"]),
        (lambda x: torch.randperm(4, device=x.device), ["aten::randperm"]),
        (lambda x: F.dropout(x, training=True), ["aten::dropout"]),
        (lambda x: F.dropout(x, training=False), ["aten::dropout"]),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_random_numbers_are_made_on_the_device(
    function: Callable[[Tensor], Tensor], expected: list[str]
) -> None:
    trace = traced(function, X)
    assert calls(trace) == expected
    assert trace.gaps == ()


def test_the_callers_random_numbers_are_not_used_up() -> None:
    torch.manual_seed(3)
    before = torch.get_rng_state()
    traced(lambda x: torch.rand_like(x) + torch.rand(2, 4), X)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize(
    ("model", "op", "shape"),
    [
        (nn.LSTM(4, 5, num_layers=2, bidirectional=True), "aten::lstm.input", (3, 2, 10)),
        (nn.GRU(4, 5), "aten::gru.input", (3, 2, 5)),
        (nn.RNN(4, 5), "aten::rnn_tanh.input", (3, 2, 5)),
        (nn.RNN(4, 5, nonlinearity="relu"), "aten::rnn_relu.input", (3, 2, 5)),
        (nn.LSTM(4, 5, proj_size=3), "aten::lstm.input", (3, 2, 3)),
    ],
    ids=["lstm", "gru", "tanh", "relu", "projected"],
)
def test_recurrent_layers_are_one_call(model: nn.Module, op: str, shape: tuple[int, ...]) -> None:
    trace = traced(model, torch.randn(3, 2, 4))
    assert calls(trace)[-1] == op
    assert node(trace, op).output_tensors()[0].shape == shape
    assert node(trace, op).children


@pytest.mark.parametrize(
    ("cell", "op"),
    [(nn.LSTMCell(4, 5), "aten::lstm_cell"), (nn.GRUCell(4, 5), "aten::gru_cell"),
     (nn.RNNCell(4, 5), "aten::rnn_tanh_cell")],
    ids=["lstm", "gru", "rnn"],
)  # fmt: skip
def test_recurrent_cells_are_one_call(cell: nn.Module, op: str) -> None:
    assert op in calls(traced(cell, X))


def test_packed_sequences_are_followed() -> None:
    class Packed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.rnn = nn.LSTM(4, 5, batch_first=True)

        def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
            packed = nn.utils.rnn.pack_padded_sequence(
                x, lengths.cpu(), batch_first=True, enforce_sorted=False
            )
            return nn.utils.rnn.pad_packed_sequence(self.rnn(packed)[0], batch_first=True)[0]

    trace = traced(Packed(), torch.randn(2, 3, 4), torch.tensor([3, 2]))
    packed, lstm = node(trace, "aten::_pack_padded_sequence"), node(trace, "aten::lstm.data")
    assert [(t.shape, t.host) for t in packed.output_tensors()] == [((5, 4), False), ((3,), True)]
    assert lstm.output_tensors()[0].shape == (5, 5)
    assert trace.gaps == ()


def test_a_fast_path_of_torch_is_taken_where_the_device_takes_it() -> None:
    layer = nn.TransformerEncoderLayer(8, 2, batch_first=True)
    trace = traced(layer, torch.randn(2, 3, 8))
    assert calls(trace) == ["aten::_transformer_encoder_layer_fwd"]


@pytest.mark.parametrize("mask", [None, "causal", "float", "bool"])
def test_attention_is_one_call_whatever_its_mask(mask: str | None) -> None:
    masks: dict[str | None, dict[str, Any]] = {
        "causal": {"is_causal": True},
        "float": {"attn_mask": torch.zeros(3, 3)},
        "bool": {"attn_mask": torch.ones(3, 3, dtype=torch.bool)},
    }
    q = torch.randn(1, 2, 3, 8)
    trace = traced(F.scaled_dot_product_attention, q, q, q, **masks.get(mask, {}))
    assert calls(trace) == ["aten::scaled_dot_product_attention"]
    assert trace.gaps == ()


@pytest.mark.since("2.10")
def forces(x: Tensor) -> Tensor:
    with torch.enable_grad():
        at = x.detach().requires_grad_()
        return -torch.autograd.grad(at.sin().exp().sum(), at)[0]


def test_a_model_that_takes_gradients_in_its_forward_is_a_gap_that_says_what_to_do() -> None:
    assert reasons(traced(forces, X)) == [TAKES_GRADIENTS]


@pytest.mark.parametrize("device_type", ["npu", "cuda"])
def test_gradients_that_a_forward_takes_are_recorded_where_targets_register_alike(
    device_type: str,
) -> None:
    class Asked(TorchDispatchMode):
        """What the same model asks of the host."""

        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            names.append(func.name())
            return func(*args, **(kwargs or {}))

    names: list[str] = []
    with Asked():  # type: ignore[no-untyped-call]  # torch
        forces(X)
    alike = Registrations(frozenset())
    trace = trace_model(forces, (X,), {}, device_type=device_type, gradients=lambda: alike)
    assert (trace.mode, trace.gaps) == ("inference", ())
    quiet = {"aten::detach", "aten::ones_like", "aten::expand"}  # told as their parts, or in C++
    assert [op for op in calls(trace) if op not in quiet] == [op for op in names if op not in quiet]
    assert "aten::cos" in names


def test_both_branches_of_a_condition_are_seen() -> None:
    trace = traced(lambda x: torch.cond(x.sum() > 0, lambda y: y.sin(), lambda y: y.cos(), (x,)), X)
    assert calls(trace)[-1] == "higher_order::cond"
    found = node(trace, "higher_order::cond")
    assert found.op == OpName("higher_order", "cond")
    assert found.composite is Composite.EXPLICIT
    assert below(trace, found) == ["aten::is_nonzero", "aten::sin", "aten::cos"]
    assert (trace.gaps, trace.notes) == ((), (EVERY_BRANCH,))
    assert in_chinese(trace.notes) == ["条件的每个分支都计入；实际运行只走其中之一"]


@pytest.mark.since("2.10")
def test_a_loop_of_known_length_makes_its_turns() -> None:
    """Eager reads the first answer twice: before the loop, and as the loop's own condition."""

    def model(x: Tensor) -> Any:
        start = torch.zeros((), dtype=torch.int64, device=x.device)
        return while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, y.sin()), (start, x))

    trace = traced(model, X)
    assert below(trace, node(trace, "higher_order::while_loop")) == [
        "aten::lt.Scalar x4",
        "aten::is_nonzero x5",
        "aten::add.Tensor x3",
        "aten::sin x3",
    ]
    assert (trace.gaps, trace.notes) == ((), ())


@pytest.mark.since("2.10")
def test_a_loop_that_ends_at_once_copies_what_it_carries() -> None:
    def model(x: Tensor) -> Any:
        return while_loop(lambda y: y.sum() < 0, lambda y: (y.sin(),), (x,))

    found = traced(model, X)
    assert below(found, node(found, "higher_order::while_loop")) == [
        "aten::sum", "aten::lt.Scalar", "aten::is_nonzero", "aten::clone",
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.since("2.10")
def test_a_loop_without_end_is_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opcheck.trace.calls.higher_order.MOST_TURNS", 5)

    def model(x: Tensor) -> Any:
        start = torch.zeros((), dtype=torch.int64, device=x.device)
        return while_loop(lambda i: i >= 0, lambda i: (i + 1,), (start,))

    (gap,) = traced(model, X).gaps
    assert "it makes more than 5 turns" in gap.reason


@pytest.mark.since("2.10")
def test_one_turn_is_seen_of_a_loop_of_unknown_length() -> None:
    def model(x: Tensor) -> Any:
        return while_loop(lambda y: y.sum() < 9, lambda y: (y.sin(),), (x,))

    trace = traced(model, torch.empty(2, 4, device="meta"))
    assert below(trace, node(trace, "higher_order::while_loop")) == [
        "aten::sum x2", "aten::lt.Scalar x2", "aten::is_nonzero x3", "aten::sin",
    ]  # fmt: skip
    assert (trace.gaps, trace.notes) == ((), (ONE_PASS,))
    assert in_chinese(trace.notes) == ["循环体只计一次，无论实际运行多少次"]


@pytest.mark.since("2.10")
def test_a_function_is_mapped_over_each_element() -> None:
    from torch._higher_order_ops.map import map as mapped

    trace = traced(lambda x: mapped(lambda row, w: (row.sin(), row * w), x, x[0]), torch.ones(5, 4))
    assert summed(trace, "higher_order::map_impl") == [
        "aten::unbind.int", "aten::sin x5", "aten::mul.Tensor x5", "aten::stack x2",
    ]  # fmt: skip
    single = traced(lambda x: mapped(lambda row, *_: row.sin(), x), torch.ones(5, 4))
    assert summed(single, "higher_order::map_impl") == [
        "aten::unbind.int", "aten::sin x5", "aten::stack",
    ]  # fmt: skip


@pytest.mark.since("2.13")
def test_a_scan_runs_over_each_element() -> None:
    from torch._higher_order_ops.scan import scan

    def model(x: Tensor) -> Any:
        return scan(lambda a, b: (a + b, a * b), x[0], x)[1]

    trace = traced(model, torch.ones(5, 4))
    assert {"aten::add.Tensor x5", "aten::scatter_.src x5"} <= {
        *summed(trace, "higher_order::scan")
    }
    assert trace.gaps == ()


def _unknown(x: Tensor) -> Any:
    return torch.ops.higher_order.out_dtype(torch.ops.aten.mul.Tensor, torch.int32, x, x)


@pytest.mark.slow
@pytest.mark.since("2.10")
def test_an_unknown_higher_order_operator_is_one_gap_in_its_module() -> None:
    trace = traced(nn.Sequential(_Called(_unknown), nn.Tanh()), X)
    assert calls(trace) == ["aten::tanh"]
    reason = "higher-order operator out_dtype: what it runs cannot be followed"
    assert trace.gaps == (Gap("0", reason),)
    assert in_chinese(reasons(trace)) == ["高阶算子 out_dtype：无法跟踪其运行内容"]


@pytest.mark.slow
@pytest.mark.since("2.10")
def test_a_model_that_is_one_unknown_higher_order_operator_is_a_gap() -> None:
    trace = traced(_unknown, X)
    assert reasons(trace) == ["higher-order operator out_dtype: what it runs cannot be followed"]


class _Called(nn.Module):
    def __init__(self, function: Callable[[Tensor], Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Tensor) -> Any:
        return self.function(x)


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpointing_is_seen_through(reentrant: bool) -> None:
    trace = traced(lambda x: checkpoint(torch.sin, x, use_reentrant=reentrant), X)
    assert calls(trace) == ["aten::sin"]


def test_a_compiled_module_runs_as_written() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.compiled = torch.compile(nn.Linear(4, 4))

        def forward(self, x: Tensor) -> Tensor:
            return torch.exp(self.compiled(x))

    trace = traced(Net(), X)
    assert calls(trace) == ["aten::linear", "aten::exp"]


def test_a_function_compiled_in_the_forward_runs_as_written() -> None:
    trace = traced(lambda x: torch.compile(torch.sin)(x), X)
    assert calls(trace) == ["aten::sin"]


def test_vmap_is_seen_through() -> None:
    trace = traced(lambda x: torch.vmap(torch.dot)(x, x), X)
    assert trace.gaps == ()
    assert calls(trace)
