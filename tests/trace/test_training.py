"""Training steps predicted, compared with a device really registered and against the CPU."""

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor, nn
from torch.optim import optimizer as torch_optimizer
from torch.utils import _foreach_utils
from torch.utils.checkpoint import checkpoint

from opcheck.errors import TraceError
from opcheck.model.trace import Gap, Phase
from opcheck.trace.predict import Prediction, predicting
from opcheck.trace.running.training import Registrations
from opcheck.trace.running.training_step import TrainingStep, backward_from, loss_of, taken_as_plain
from tests.preloaded import python
from tests.trace.small_models import LOADED
from tests.trace.test_exact import SETS

# --- against really registered kernels -----------------------------------------------------------

COMPARED = ("conv", "recurrent", "attention", "encoder-layer", "bert", "t5", "swin")
CORRECT = tuple(name for name in COMPARED if name != "recurrent")
"""Those whose kernels the judge computes: no CPU kernel is there for a device's recurrent cells."""
OVERRIDES = frozenset(
    f"aten::{name}"
    for name in (
        "adaptive_avg_pool2d", "contiguous", "gru.input", "kl_div", "log_softmax.int",
        "lstm.input", "matmul", "one_hot", "scaled_dot_product_attention", "softmax.int", "where",
    )
)  # fmt: skip
GRADIENTS = {
    "aten::matmul": ["aten::matmul_backward"],
    "aten::scaled_dot_product_attention": ["npu::npu_fusion_attention_grad"],
    "aten::native_layer_norm": ["npu::one", "npu::two"],
}
SUMS = tuple(f"backward aten::{name}" for name in ("add.Tensor", "add_.Tensor", "add.out"))
LABELS = ("newest", "known gradients", "reduced", "hardly any")
Answers = Mapping[str, Mapping[str, Any]]


def _request(label: str) -> dict[str, Any]:
    kernels = SETS["newest" if label == "known gradients" else label]
    own = GRADIENTS if label == "known gradients" else {}
    return {
        "kernels": sorted(kernels),
        "overrides": sorted(OVERRIDES & kernels),
        "gradients": {op: runs for op, runs in own.items() if op in kernels},
    }


def _side(side: str, *labels: str) -> Answers:
    request = {"sets": {label: _request(label) for label in labels}, "models": COMPARED}
    done = subprocess.run(
        [*python(*LOADED), "-m", "tests.trace.training_side", side],
        input=json.dumps(request), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]  # as training_side writes it


@pytest.fixture(scope="module")
def traced() -> Answers:
    return _side("traced", *LABELS)


@pytest.fixture(scope="module")
def real() -> Answers:
    answers: dict[str, dict[str, Any]] = {name: {} for name in COMPARED}
    for label in LABELS:
        for name, found in _side("real", label).items():
            answers[name] |= found
    return answers


def _but_for_sums(asked: dict[str, int], missing: dict[str, int]) -> tuple[Any, ...]:
    """What is asked and missing, with the sums of gradients as one number.

    Autograd sums in place where nothing else holds a gradient. On the device that is registered
    here Python has seen every storage, and holds it.
    """
    left, lacking = dict(asked), dict(missing)
    sums = sum(found.pop(key, 0) for found in (left, lacking) for key in SUMS)
    return left, lacking, sums


@pytest.mark.slow
@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("name", COMPARED)
def test_a_step_asks_the_dispatcher_for_just_these(
    name: str, label: str, traced: Answers, real: Answers
) -> None:
    asked, missing, _ = real[name][label]
    assert _but_for_sums(*traced[name][label]) == _but_for_sums(asked, missing)
    assert {key.split()[0] for key in asked} == {"forward", "backward", "optimizer"}


@pytest.mark.slow
@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("name", CORRECT)
def test_every_parameter_has_the_gradient_that_the_cpu_gives(
    name: str, label: str, real: Answers
) -> None:
    assert real[name][label][2] == []


@pytest.mark.slow
def test_known_gradients_replace_formulas(real: Answers) -> None:
    formula, known = (real["bert"][label][0] for label in ("newest", "known gradients"))
    assert "backward npu::npu_fusion_attention_grad" not in formula
    assert known["backward npu::npu_fusion_attention_grad"] == 2
    assert known["backward npu::one"] == known["forward aten::native_layer_norm"]


# --- the step itself -----------------------------------------------------------------------------


def kernels_of(*names: str) -> Registrations:
    return Registrations(frozenset(f"aten::{name}" for name in names))


LINEAR = kernels_of("mm", "addmm", "t", "mean", "sum.dim_IntList", "expand", "div.Scalar", "div_")
X = torch.ones(2, 3)


def step(model: nn.Module, *inputs: Any, **kwargs: Any) -> Prediction:
    with predicting("npu", LINEAR) as predictor:
        return predictor.training(model, inputs or (X,), {}, **kwargs)


def counts(prediction: Prediction, phase: Phase) -> dict[str, int]:
    return {
        str(k.op).removeprefix("aten::"): k.count
        for k in prediction.kernels
        if k.phase is phase and not k.missing
    }


def test_each_phase_has_its_kernels() -> None:
    found = step(nn.Linear(3, 4))
    assert found.gaps == ()
    assert counts(found, Phase.FORWARD) == {"addmm": 1, "mean": 1, "t": 1}
    assert counts(found, Phase.BACKWARD)["mm"] == 1
    assert [k.op.base for k in found.kernels if k.phase is Phase.OPTIMIZER] != []
    assert [k.phase for k in found.kernels] == sorted(
        (k.phase for k in found.kernels), key=list(Phase).index
    )


@pytest.mark.slow
def test_the_model_is_as_before_afterwards() -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout()).eval()
    model[0].bias.requires_grad_(False)
    before = {name: (tensor, tensor.clone()) for name, tensor in model.state_dict().items()}
    state = torch.get_rng_state()
    step(model)
    after = model.state_dict()
    assert all(after[name].equal(was) for name, (_, was) in before.items())
    assert [m.training for m in model.modules()] == [False] * 4
    assert [p.grad for p in model.parameters()] == [None] * 4
    assert [p.requires_grad for p in model.parameters()] == [True, False, True, True]
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.slow
def test_the_model_trains_in_training_mode() -> None:
    modes: list[bool] = []

    class Model(nn.Linear):
        def forward(self, x: Tensor) -> Tensor:
            modes.append(self.training)
            return super().forward(x)

    step(Model(3, 4).eval())
    assert modes == [True]


def test_frozen_and_unused_parameters_get_no_gradient_and_no_update() -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.used, self.unused, self.frozen = (nn.Linear(3, 3, bias=False) for _ in range(3))
            self.frozen.weight.requires_grad_(False)

        def forward(self, x: Tensor) -> Tensor:
            return self.used(self.frozen(x))  # type: ignore[no-any-return]  # a module's call

    made: list[int] = []

    def sgd(parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
        made.append(len(parameters))
        return torch.optim.SGD(parameters, foreach=False)

    found = step(Model(), step=TrainingStep(sgd))
    assert made == [2]
    assert counts(found, Phase.BACKWARD)["mm"] == 1
    assert sum(k.count for k in found.kernels if k.phase is Phase.OPTIMIZER) == 1


def test_shared_parameters_are_updated_once() -> None:
    model = nn.Sequential(nn.Linear(3, 3, bias=False), nn.Linear(3, 3, bias=False))
    model[1].weight = model[0].weight

    def sgd(parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
        return torch.optim.SGD(parameters, foreach=False)

    found = step(model, step=TrainingStep(sgd))
    assert sum(k.count for k in found.kernels if k.phase is Phase.OPTIMIZER) == 1


def test_a_checkpointed_layer_runs_again_in_backward() -> None:
    class Model(nn.Linear):
        def forward(self, x: Tensor) -> Any:
            layer = super().forward
            return checkpoint(lambda y: layer(y).exp(), x, use_reentrant=False)

    found = step(Model(3, 4))
    assert found.gaps == ()
    assert (counts(found, Phase.FORWARD)["addmm"], counts(found, Phase.BACKWARD)["addmm"]) == (1, 1)


@pytest.mark.slow
def test_inputs_that_need_gradients_get_them() -> None:
    model = nn.Linear(3, 4, bias=False)
    assert counts(step(model, X), Phase.BACKWARD)["mm"] == 1
    assert counts(step(model, X.clone().requires_grad_()), Phase.BACKWARD)["mm"] == 2


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (nn.ReLU(), "ReLU has no parameter that requires a gradient"),
        (nn.Linear(3, 4).requires_grad_(False), "Linear has no parameter that requires a gradient"),
        (
            nn.Sequential(nn.Linear(3, 4), nn.Softmax(-1), nn.Threshold(0.1, 0.0), type(
                "Argmax", (nn.Module,), {"forward": lambda _, x: x.argmax(-1)})()),
            "nothing in the model's output depends on a parameter through floating-point numbers "
            "(int64[2]), so it cannot be trained",
        ),
    ],
    ids=["without parameters", "frozen", "integers"],
)  # fmt: skip
def test_what_cannot_be_trained_is_an_error(model: nn.Module, message: str) -> None:
    with pytest.raises(TraceError) as caught:
        step(model)
    assert caught.value.message.startswith(message)
    assert caught.value.hint


@pytest.mark.slow
def test_a_model_that_refuses_to_be_trained_says_why_in_a_gap() -> None:
    class Refuses(nn.Linear):
        def forward(self, x: Tensor) -> Tensor:
            if self.training:
                raise NotImplementedError("training is not supported yet")
            return super().forward(x)

    found = step(Refuses(3, 4))
    reason = "NotImplementedError: training is not supported yet"
    assert found == Prediction((), (Gap("(the model)", reason),))


@pytest.mark.slow
def test_a_device_operator_that_fails_in_backward_ends_the_run_and_not_the_process() -> None:
    class Backward(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Tensor) -> Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: Any, gradient: Tensor) -> Tensor:
            return torch.ops.opcheck_training.fails(gradient)  # type: ignore[no-any-return]

    class Model(nn.Linear):
        def forward(self, x: Tensor) -> Any:
            return Backward.apply(super().forward(x))  # type: ignore[no-untyped-call]

    library = torch.library.Library("opcheck_training", "FRAGMENT")
    library.define("fails(Tensor x) -> Tensor")
    found = step(Model(3, 4))
    assert found.gaps == (
        Gap("(the model)", f"the run ended here: {found.gaps[0].reason.partition(': ')[2]}"),
    )
    assert "opcheck_training::fails" in found.gaps[0].reason


# --- single calls --------------------------------------------------------------------------------


def test_a_single_call_is_counted_by_itself_however_many_there_were() -> None:
    weight = torch.ones(4, 3, requires_grad=True)
    with predicting("npu", LINEAR) as predictor:
        found = [
            predictor.call(nn.functional.linear, (X, weight), {}, backward=True) for _ in range(3)
        ]
        alone = predictor.call(nn.functional.linear, (X,), {"weight": weight})
    assert found[0] == found[1] == found[2]
    assert counts(found[0], Phase.FORWARD) == {"mm": 1, "t": 1}
    assert counts(found[0], Phase.BACKWARD)["mm"] == 1
    assert counts(alone, Phase.BACKWARD) == {}


def test_what_a_single_call_raises_passes_through() -> None:
    with predicting("npu", LINEAR) as predictor, pytest.raises(RuntimeError, match="must match"):
        predictor.call(torch.add, (X, torch.ones(4, 5)), {})


def test_inference_through_a_predictor_is_counted_as_before() -> None:
    with predicting("npu", LINEAR) as predictor:
        found = predictor.inference(nn.Linear(3, 4), (X,), {})
    assert counts(found, Phase.FORWARD) == {"addmm": 1, "t": 1}
    assert {k.phase for k in found.kernels} == {Phase.FORWARD}


# --- losses, and which optimizer code is chosen --------------------------------------------------


class Output(NamedTuple):
    logits: Tensor
    loss: Tensor | None


@dataclass
class Nested:
    parts: dict[str, Any]
    loss: Tensor | None = None


A = torch.tensor([1.0, 3.0], requires_grad=True)
B = torch.tensor([5.0, 7.0], requires_grad=True)
Z = torch.tensor([1 + 1j, 2 + 4j], requires_grad=True)


@pytest.mark.parametrize(
    ("output", "loss"),
    [
        (A, 2.0),
        (A.sum(), 4.0),
        ([A, {"b": (B, None, 3)}], 8.0),
        (Nested({"a": A, "ids": torch.ones(2, dtype=torch.int64)}), 2.0),
        (Nested({"a": A}, B.sum()), 12.0),
        (Output(A, B.sum()), 12.0),
        (Output(A, None), 2.0),
        ({"loss": B, "logits": A}, 6.0),
        ([A, A], 2.0),
        (Z, 2.0),
        ([A, torch.ones(2)], 2.0),
    ],
)
def test_the_loss_of_an_output(output: Any, loss: float) -> None:
    found = loss_of(output)
    assert (found.item(), found.shape, found.requires_grad) == (loss, (), True)


def test_a_loss_without_a_gradient_is_an_error() -> None:
    with pytest.raises(TraceError) as caught:
        loss_of(Output(A, torch.ones(())))
    assert "the model's loss depends" in caught.value.message


def test_backward_from_a_nested_output_reaches_everything_in_it() -> None:
    leaf = torch.ones(2, requires_grad=True)
    assert backward_from({"a": leaf * 2, "b": [leaf * 3, torch.ones(2)]}) == 2
    assert leaf.grad is not None
    assert leaf.grad.tolist() == [5.0, 5.0]
    assert backward_from(torch.ones(2)) == 0


def test_a_subclass_is_taken_as_a_plain_tensor_only_inside() -> None:
    class Mine(Tensor):
        pass

    lists = (torch_optimizer._foreach_supported_types, _foreach_utils._foreach_supported_types)
    before = [list(kinds) for kinds in lists]
    with taken_as_plain(Mine):
        assert [Mine in kinds for kinds in lists] == [True, True]
    assert [list(kinds) for kinds in lists] == before


def test_the_optimizer_runs_as_for_plain_tensors_of_a_device() -> None:
    with predicting("npu", kernels_of("_foreach_add_.Scalar", "_foreach_mul_.Scalar")) as predictor:
        found = predictor.training(nn.Linear(3, 4), (X,), {})
    assert counts(found, Phase.OPTIMIZER) != {}
