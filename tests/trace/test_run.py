"""A run as a whole: wrong inputs, failing parts, what it leaves behind, whether it repeats."""

import subprocess
import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from opcheck.errors import TraceError
from opcheck.model.trace import Gap
from opcheck.trace import trace_model
from opcheck.trace.device.tensors import DeviceTensor, prepare
from tests.lang.told import in_chinese
from tests.preloaded import python
from tests.trace.look import calls, reasons, traced

X = torch.ones(2, 4)


class Fails(nn.Module):
    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    def forward(self, x: Tensor) -> Tensor:
        raise self.error


@pytest.mark.parametrize(
    ("model", "inputs", "message"),
    [
        (
            nn.Linear(3, 3),
            (X,),
            "Linear refuses its inputs at once: RuntimeError: a and b must have same reduction "
            "dim, but got [2, 4] X [3, 3]. (given: float32[2, 4])",
        ),
        (
            nn.Linear(4, 3),
            (),
            "Linear refuses its inputs at once: TypeError: Linear.forward() missing 1 required "
            "positional argument: 'input' (given: nothing)",
        ),
        (
            nn.Conv2d(3, 3, 1),
            (torch.ones(1, 4, 8, 8, dtype=torch.int64),),
            "Conv2d refuses its inputs at once: RuntimeError: ",
        ),
        (nn.ReLU(), ("text",), "ReLU refuses its inputs at once: TypeError: "),
    ],
    ids=["shape", "missing", "channels", "no tensor"],
)
def test_inputs_that_do_not_fit_are_an_error(
    model: nn.Module, inputs: tuple[Any, ...], message: str
) -> None:
    with pytest.raises(TraceError) as caught:
        traced(model, *inputs)
    assert caught.value.message.startswith(message)
    assert "--input NAME=SHAPE:DTYPE" in caught.value.hint


def test_an_input_that_a_later_layer_refuses_is_an_error_if_the_user_chose_it() -> None:
    model = nn.Sequential(nn.Linear(4, 5), nn.Linear(6, 6))
    with pytest.raises(TraceError, match="refuses its inputs in 1: RuntimeError"):
        trace_model(model, (X,), {}, device_type="npu", inputs_given=True)


@pytest.mark.slow
def test_an_input_that_a_later_layer_refuses_is_a_gap_if_nobody_chose_it() -> None:
    trace = traced(nn.Sequential(nn.Linear(4, 5), nn.Linear(6, 6)), X)
    assert calls(trace) == ["aten::linear"]
    assert [gap.where for gap in trace.gaps] == ["1"]


@pytest.mark.slow
def test_a_failing_module_does_not_lose_the_rest() -> None:
    model = nn.Sequential(nn.Linear(4, 4), Fails(ValueError("no such\nthing")), nn.ReLU())
    trace = traced(model, X)
    assert calls(trace) == ["aten::linear", "aten::relu"]
    assert trace.gaps == (Gap("1", "ValueError: no such"),)


@pytest.mark.slow
def test_a_failing_module_gives_back_the_first_tensor_among_its_arguments() -> None:
    class Nested(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.part = Fails(KeyError("kv"))

        def forward(self, x: Tensor) -> Tensor:
            return torch.exp(self.part({"depth": 1, "states": [x]}))

    trace = traced(nn.Sequential(nn.ReLU(), Nested()), X)
    assert calls(trace) == ["aten::relu", "aten::exp"]
    assert reasons(trace) == ["KeyError: 'kv'"]


@pytest.mark.slow
def test_every_failing_module_is_told() -> None:
    model = nn.Sequential(nn.ReLU(), Fails(ValueError("a")), Fails(ValueError("b")))
    assert traced(model, X).gaps == (Gap("1", "ValueError: a"), Gap("2", "ValueError: b"))


@pytest.mark.slow
def test_what_ran_before_the_end_of_a_run_is_kept() -> None:
    def model(x: Tensor) -> Tensor:
        x.exp()
        raise ValueError("stop")

    trace = traced(model, X)
    assert calls(trace) == ["aten::exp"]
    assert reasons(trace) == ["ValueError: stop"]


def test_a_model_without_operators_has_no_calls() -> None:
    trace = traced(nn.Identity(), X)
    assert (trace.calls, trace.nodes, trace.uses, trace.gaps) == (0, (), (), ())


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        lambda x: x.cuda().exp(),
        lambda x: (x + torch.zeros(4, device="cuda")).exp(),
        lambda x: x.to("cuda:0").exp(),
        lambda x: (x + torch.ones(4).cuda()).exp(),
    ],
    ids=["cuda()", "device=", "to", "late"],
)
def test_a_hard_coded_cuda_device_is_taken_for_the_traced_one(
    model: Callable[[Tensor], Tensor],
) -> None:
    trace = traced(model, X)
    assert calls(trace)[-1] == "aten::exp"
    assert reasons(trace) == ["names a CUDA device; traced as if it said 'npu'"]


def test_the_model_is_as_before_afterwards() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout())
    model[1].eval()
    tensors = {name: (id(t), t.clone()) for name, t in model.state_dict(keep_vars=True).items()}
    traced(model, X)
    after = model.state_dict(keep_vars=True)
    assert {name: id(t) for name, t in after.items()} == {n: i for n, (i, _) in tensors.items()}
    assert all(torch.equal(after[name], value) for name, (_, value) in tensors.items())
    assert [m.training for m in model.modules()] == [True, True, False, True]
    assert all(p.requires_grad for p in model.parameters())
    assert nn.Module.__call__.__qualname__.endswith("_wrapped_call_impl")


def test_the_model_is_as_before_after_a_failure() -> None:
    model = nn.Sequential(nn.Linear(3, 3))
    weight = model[0].weight
    with pytest.raises(TraceError):
        traced(model, X)
    assert model[0].weight is weight
    assert model.training
    assert model(torch.ones(1, 3)).shape == (1, 3)


def test_tied_weights_stay_tied() -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed = nn.Embedding(7, 4)
            self.head = nn.Linear(4, 7, bias=False)
            self.head.weight = self.embed.weight

        def forward(self, ids: Tensor) -> Tensor:
            assert self.head.weight is self.embed.weight
            assert isinstance(self.head.weight, nn.Parameter)
            return torch.exp(self.head(self.embed(ids)))

    model = Tied()
    assert traced(model, torch.tensor([1, 2])).gaps == ()
    assert model.head.weight is model.embed.weight
    assert type(model.head.weight) is nn.Parameter


def test_a_model_runs_in_evaluation_mode() -> None:
    model = nn.Sequential(nn.BatchNorm1d(4), nn.Dropout(0.5))
    trace = traced(model, X)
    training = {
        str(n.op): dict(n.arguments).get("training", dict(n.arguments).get("train"))
        for n in (trace.nodes[u.node] for u in trace.uses)
    }
    assert training == {"aten::batch_norm": False, "aten::dropout": False}


def test_a_model_that_cannot_be_copied_is_run_itself() -> None:
    class Locked(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lock = threading.Lock()

        def forward(self, x: Tensor) -> Tensor:
            with self.lock:
                return x.exp()

    assert calls(traced(Locked(), X)) == ["aten::exp"]


def test_gradients_are_not_asked_for_or_left_on() -> None:
    seen: list[bool] = []

    def model(x: Tensor) -> Tensor:
        seen.append(torch.is_grad_enabled())
        return x.exp()

    traced(model, X)
    assert (seen, torch.is_grad_enabled()) == ([False], True)


class Drops(nn.Module):
    """Everything that might make two runs differ."""

    def __init__(self) -> None:
        super().__init__()
        self.rnn = nn.LSTM(4, 4)
        self.norm = nn.BatchNorm1d(4)

    def forward(self, x: Tensor) -> Tensor:
        y, _ = self.rnn(x)
        keep = torch.rand(3) > 0.5
        for flag in keep.tolist():
            y = y.sin() if flag else y.cos()
        return torch.relu(self.norm(y + torch.rand_like(y)))


def test_a_trace_is_the_same_value_every_time() -> None:
    first = traced(Drops(), X)
    traced(nn.Linear(4, 4), X)
    assert traced(Drops(), X) == first


def test_a_trace_does_not_depend_on_the_random_state() -> None:
    torch.manual_seed(1)
    first = traced(Drops(), X)
    torch.manual_seed(2)
    assert traced(Drops(), X) == first


def test_another_device_type_needs_another_process() -> None:
    prepare("npu")
    with pytest.raises(TraceError) as caught:
        prepare("mlu")
    assert "already uses torch's PrivateUse1 device as 'npu'" in caught.value.message
    assert caught.value.hint == "scan from the command line or in a fresh process"


def test_a_tensor_kept_from_a_finished_trace_says_so() -> None:
    kept: list[Tensor] = []

    def model(x: Tensor) -> Tensor:
        kept.append(x)
        return x.exp()

    traced(model, X)
    assert type(kept[0]) is DeviceTensor
    with pytest.raises(TraceError, match="belongs to a finished trace"):
        kept[0].exp()


@pytest.mark.slow
def test_exact_kernels_of_equal_registrations_are_the_same() -> None:
    ops = frozenset({"aten::exp.out", "aten::empty.memory_format"})
    trace = trace_model(
        torch.exp,
        (X,),
        {},
        device_type="npu",
        exact={"a": ops, "b": frozenset(ops), "c": ops - ops},
    )
    counted = {
        target: [(str(k.op), k.count, k.missing) for k in kernels]
        for target, kernels in trace.kernels.items()
    }
    registered = [("aten::empty.memory_format", 1, False), ("aten::exp.out", 1, False)]
    missing = [(op, count, True) for op, count, _ in registered]
    assert counted == {"a": registered, "b": registered, "c": missing}


@pytest.mark.slow
def test_kernels_that_could_not_be_counted_are_left_out_with_a_note() -> None:
    runs: list[int] = []

    def model(x: Tensor) -> Tensor:
        runs.append(1)
        if len(runs) > 1:
            raise ValueError("only once")
        return x.exp()

    trace = trace_model(model, (X,), {}, device_type="npu", exact={"a": frozenset()})
    assert calls(trace) == ["aten::exp"]
    assert (trace.kernels, trace.gaps) == ({}, ())
    assert trace.notes == (
        "no exact kernels for a: the run that counts them failed: ValueError: only once",
    )


@pytest.mark.slow
def test_progress_is_told_step_by_step() -> None:
    told: list[str] = []
    trace_model(
        nn.ReLU(), (X,), {}, device_type="npu", exact={"t": frozenset()}, progress=told.append
    )
    assert told == ["recording the operators", "counting the kernels called on t"]
    assert in_chinese(told) == ["录制算子", "统计 t 所需的 kernel"]


@pytest.mark.slow
def test_torch_keeps_its_own_overloads() -> None:
    """An overload made anew would lose what torch registered on it, as ``torch.export`` showed."""
    script = (
        "import torch; "
        "had = torch.ops.aten._to_copy.default; import opcheck.trace; "
        "assert torch.ops.aten._to_copy.default is had"
    )
    subprocess.run([*python("torch"), "-c", script], check=True)


@pytest.mark.parametrize("known", [True, False])
def test_a_cast_gives_what_the_device_gives(known: bool) -> None:
    """Whether the values are known or not: ``x.double()`` is float32 where the device says so."""

    class Doubled(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x.double().neg()

    x = torch.ones(4) if known else torch.ones(4, device="meta")
    for casts, given in (({"float64": "float32"}, "float32"), ({}, "float64")):
        trace = trace_model(Doubled(), (x,), {}, device_type="npu", casts=casts)
        negated = next(node for node in trace.nodes if str(node.op) == "aten::neg")
        assert [t.dtype for _, t in negated.tensors()] == [given]
