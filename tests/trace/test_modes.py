"""What a program had switched on when it made a call, as the trace notes it."""

from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

import opcheck
from opcheck.model.codec import from_json, to_json
from opcheck.model.trace import Node
from opcheck.model.verdict import Verdict
from opcheck.trace import trace_model
from opcheck.trace.running.training import Registrations, Training
from opcheck.trace.running.training_step import TrainingStep
from opcheck.trace.torch_internals.modes import as_found, modes_of, switched_off
from tests.trace.look import calls, node, reasons, traced

RAISES, WARNS = (("deterministic", "error"),), (("deterministic", "warn"),)
X = torch.arange(6.0).reshape(2, 3)


@pytest.fixture(autouse=True)
def _left_off() -> Iterator[None]:
    with as_found():
        torch.use_deterministic_algorithms(False)
        yield


def _switched(x: Tensor) -> Tensor:
    y = x.cumsum(0)
    torch.use_deterministic_algorithms(True)
    y = y.cumsum(0)
    torch.use_deterministic_algorithms(True, warn_only=True)
    y = y.cumsum(0)
    torch.use_deterministic_algorithms(False)
    return y.cumsum(0)


def test_each_call_has_the_mode_that_was_on_then() -> None:
    trace = traced(_switched, X)
    assert calls(trace) == ["aten::cumsum"] * 4
    nodes = [trace.nodes[trace.uses[use].node] for use in trace.sequence]
    assert [one.modes for one in nodes] == [(), RAISES, WARNS, ()]
    assert nodes[0] == nodes[3]


def test_what_a_composite_runs_as_has_its_mode() -> None:
    torch.use_deterministic_algorithms(True)
    trace = traced(lambda x: x.median(-1)[0], X)
    assert node(trace, "aten::median.dim").modes == RAISES
    assert node(trace, "aten::median.dim_values").modes == RAISES


def test_a_run_leaves_the_mode_as_it_was() -> None:
    def switches(x: Tensor) -> Tensor:
        torch.use_deterministic_algorithms(True)
        return x + 1

    traced(switches, X)
    assert modes_of() == ()


@pytest.mark.parametrize(
    ("dtype", "modes"), [(torch.bfloat16, (("autocast", "bfloat16"),)), (torch.float16, ())]
)
def test_a_call_that_autocast_casts_to_bfloat16_says_so(
    dtype: torch.dtype, modes: tuple[tuple[str, str], ...]
) -> None:
    def cast(x: Tensor, weight: Tensor) -> Tensor:
        with torch.autocast(x.device.type, dtype):
            return nn.functional.linear(x, weight).relu()

    trace = traced(cast, X, X)
    assert node(trace, "aten::linear").modes == modes
    assert node(trace, "aten::relu").modes == ()


def test_the_mode_stays_on_for_the_next_run() -> None:
    torch.use_deterministic_algorithms(True, warn_only=True)
    traced(lambda x: x + 1, X)
    assert modes_of() == WARNS


def test_the_host_refuses_nothing_in_place_of_the_device() -> None:
    values, places = torch.ones(1, 1, 2, 2), torch.arange(4).reshape(1, 1, 2, 2)
    torch.use_deterministic_algorithms(True)
    with pytest.raises(RuntimeError, match="max_unpooling2d_forward_out does not have"):
        torch.nn.functional.max_unpool2d(values, places, (2, 2))
    trace = traced(lambda x, at: torch.nn.functional.max_unpool2d(x, at, (2, 2)), values, places)
    assert (calls(trace)[-1], reasons(trace)) == ("aten::max_unpool2d", [])


def test_nothing_is_on_where_the_host_computes() -> None:
    torch.use_deterministic_algorithms(True)
    with switched_off():
        assert modes_of() == ()
    assert modes_of() == RAISES


def test_a_node_with_modes_is_read_back() -> None:
    torch.use_deterministic_algorithms(True)
    found = node(traced(lambda x: x.cumsum(0), X), "aten::cumsum")
    assert from_json(Node, to_json(found)) == found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", (("XLA_DISABLE_FUNCTIONALIZATION", "on"),)),
        ("true", (("XLA_DISABLE_FUNCTIONALIZATION", "on"),)),
        ("0", ()),
        ("false", ()),
        ("yes", ()),
        ("", ()),
    ],
)
def test_a_switch_of_the_environment_is_a_mode_while_it_is_on(
    text: str, expected: tuple[tuple[str, str], ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def switches(x: Tensor) -> Tensor:
        monkeypatch.setenv("XLA_DISABLE_FUNCTIONALIZATION", text)
        y = x.cumsum(0)
        monkeypatch.delenv("XLA_DISABLE_FUNCTIONALIZATION")
        return y.cumsum(0)

    trace = traced(switches, X)
    found = [trace.nodes[trace.uses[use].node].modes for use in trace.sequence]
    assert found == [expected, ()]


@pytest.mark.parametrize("name", ["PYTORCH_ENABLE_MPS_FALLBACK", "PYTORCH_ENABLE_XPU_FALLBACK"])
@pytest.mark.parametrize(("text", "on"), [("1", True), ("2", True), ("0", False), ("true", False)])
def test_the_host_is_asked_for_by_a_number(
    name: str, text: str, on: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, text)
    assert modes_of() == (((name, "on"),) if on else ())


def test_names_that_a_variable_lists_are_a_mode_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_EXPERIMENTAL", "nonzero:masked_select")
    assert modes_of() == (
        ("XLA_EXPERIMENTAL=nonzero", "on"), ("XLA_EXPERIMENTAL=masked_select", "on"),
    )  # fmt: skip


FLASH, MATH = SDPBackend.FLASH_ATTENTION, SDPBackend.MATH
Q = torch.rand(1, 2, 4, 8)


def _attends(*kernels: SDPBackend) -> Callable[[Tensor], Tensor]:
    def attend(q: Tensor) -> Tensor:
        if not kernels:
            return torch.nn.functional.scaled_dot_product_attention(q, q, q)
        with sdpa_kernel([*kernels]):
            return torch.nn.functional.scaled_dot_product_attention(q, q, q)

    return attend


@pytest.mark.parametrize(
    ("kernels", "expected"),
    [
        ((), ()),
        ((FLASH,), (("attention", "flash"),)),
        ((MATH, FLASH), (("attention", "flash+math"),)),
        ((SDPBackend.EFFICIENT_ATTENTION,), (("attention", "efficient"),)),
        ((SDPBackend.CUDNN_ATTENTION,), (("attention", "cudnn"),)),
    ],
)
def test_attention_has_the_kernels_that_are_allowed_for_it(
    kernels: tuple[SDPBackend, ...], expected: tuple[tuple[str, str], ...]
) -> None:
    trace = traced(_attends(*kernels), Q)
    found = node(trace, "aten::scaled_dot_product_attention")
    assert (found.modes, reasons(trace)) == (expected, [])


def test_a_run_leaves_the_kernels_of_attention_as_they_were() -> None:
    def attend(q: Tensor) -> Tensor:
        torch.backends.cuda.enable_flash_sdp(False)
        return torch.nn.functional.scaled_dot_product_attention(q, q, q)

    trace = traced(attend, Q)
    modes = (("attention", "cudnn+efficient+math"),)
    assert node(trace, "aten::scaled_dot_product_attention").modes == modes
    assert torch.backends.cuda.flash_sdp_enabled()


@pytest.mark.parametrize(
    ("attends", "allowed"),
    [(_attends(FLASH), (("attention", "flash"),)), (_attends(), ())],
)
def test_a_training_step_says_that_gradients_of_attention_are_wanted(
    attends: Callable[[Tensor], Tensor], allowed: tuple[tuple[str, str], ...]
) -> None:
    class Attends(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Linear(8, 8)

        def forward(self, x: Tensor) -> Tensor:
            return attends(self.inner(x))

    asked = Registrations(frozenset(), asked_of=frozenset({"aten::scaled_dot_product_attention"}))
    step = Training(TrainingStep(), asked)
    trace = trace_model(Attends(), (Q,), {}, device_type="npu", training=step)
    composites = [trace.nodes[use.node] for use in trace.taken_apart]
    (found,) = [one for one in composites if one.op.base == "scaled_dot_product_attention"]
    assert found.modes == (*allowed, ("gradient", "wanted"))


class Recurrent(nn.Module):
    """A layer that is in evaluation mode in any step, as a frozen part of a model is."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.LSTM(8, 8)

    def forward(self, x: Tensor) -> Tensor:
        self.layer.eval()
        made: Tensor = self.layer(x)[0]
        return made


@pytest.mark.slow
def test_a_recurrent_layer_in_evaluation_mode_has_no_gradients_of_cudnn() -> None:
    x = torch.ones(3, 2, 8)
    targets = ["nvidia-h100", "intel-arc"]
    trained = opcheck.scan(Recurrent(), x, targets=targets, train=True)
    assert [found.summary.runs for found in trained.targets] == [False, True]
    (finding,) = [f for f in trained.targets[0].findings if f.verdict is Verdict.UNSUPPORTED]
    assert "can only be called in training mode" in finding.reason.text
    computed = opcheck.scan(Recurrent(), x, targets=targets)
    assert [found.summary.runs for found in computed.targets] == [True, True]


@pytest.mark.slow
def test_a_vendors_own_layer_says_that_gradients_are_wanted() -> None:
    x = torch.ones(3, 2, 8)
    target = "cambricon-mlu590@r2.4_develop"
    (trained,) = opcheck.scan(Recurrent(), x, targets=[target], train=True).targets
    (finding,) = [f for f in trained.findings if f.op == "aten::lstm.input"]
    assert (finding.verdict, finding.reason.code) == (Verdict.UNSUPPORTED, "value-not-supported")
    (computed,) = opcheck.scan(Recurrent(), x, targets=[target]).targets
    assert [f.verdict for f in computed.findings if f.op == "aten::lstm.input"] == [Verdict.NATIVE]


class Packed(nn.Module):
    """Sequences of two lengths, packed, read by GRUs and unpacked."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.layer = nn.Embedding(9, 4), nn.GRU(4, 4)

    def forward(self, words: Tensor) -> Tensor:
        packed = nn.utils.rnn.pack_padded_sequence(self.words(words), torch.tensor([5, 3]))
        return nn.utils.rnn.pad_packed_sequence(self.layer(packed)[0])[0]


@pytest.mark.slow
@pytest.mark.parametrize("train", [False, True])
def test_packing_says_whether_gradients_are_wanted(train: bool) -> None:
    words = torch.ones(5, 2, dtype=torch.int64)
    (found,) = opcheck.scan(Packed(), words, targets=["ascend-910b"], train=train).targets
    codes = {f.op: f.reason.code for f in found.findings}
    assert codes["aten::gru.data"] == "npu-packed-layers"
    expected = "npu-pack-gradients" if train else "registered"
    assert codes["aten::_pack_padded_sequence"] == expected
