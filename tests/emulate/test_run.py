"""One model run on one emulated device, and the whole of what is said about it."""

import linecache
import threading
from functools import partial
from typing import Any, ClassVar

import pytest
import torch
from msgspec.structs import replace
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from opcheck.emulate.compare import differences
from opcheck.emulate.run import emulate_model
from opcheck.errors import EmulationError, TraceError
from opcheck.model.emulation import Difference, Emulation, EmulationRequest
from opcheck.model.matrix import Condition, SupportMatrix
from opcheck.model.report import ModelInfo
from opcheck.model.request import ModelSpec, TrainingSpec
from opcheck.model.target import TargetSpec
from opcheck.model.trace import Gap, Phase
from opcheck.model.verdict import Confidence, Verdict
from tests.emulate.matrices import matrix_of, without, without_fallback
from tests.lang.told import in_chinese

NEWEST = matrix_of("ascend-910b")
MODEL = ModelInfo("tests", "live", "")


def emulated(
    module: Any, *args: Any, matrix: SupportMatrix = NEWEST, said: list[str] | None = None,
    gaps: tuple[Gap, ...] = (), step: TrainingSpec | None = None, **options: Any,
) -> Emulation:  # fmt: skip
    request = EmulationRequest(ModelSpec("tests", step=step), TargetSpec("ascend-910b"), **options)
    return emulate_model(
        module, args, {}, request=request, target=matrix.target, matrix=matrix, model=MODEL,
        progress=(said if said is not None else []).append, notes=("as given",), gaps=gaps,
    )  # fmt: skip


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(8)
        self.project = nn.Linear(8, 8)

    def forward(self, x: Tensor) -> Tensor:
        return x + F.gelu(self.project(self.norm(x)))


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.embed = nn.Embedding(5, 8)
        self.layers = nn.ModuleList(Block() for _ in range(2))
        self.head = nn.Linear(8, 5, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, tokens: Tensor) -> dict[str, Tensor]:
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x)
        return {"logits": self.head(x), "last": x}


TOKENS = torch.tensor([[1, 2, 3]])


@pytest.mark.slow
def test_what_a_run_cannot_show_leaves_it_open() -> None:
    quantised = Gap("config.json", "the weights are quantised")
    found = emulated(nn.Linear(4, 4), torch.ones(1, 4), gaps=(quantised,))
    assert (found.finished, found.runs, found.gaps) == (True, None, (quantised,))
    inner = nn.Linear(4, 4)
    inner.compile(backend="inductor")
    found = emulated(nn.Sequential(inner), torch.ones(1, 4))
    assert (found.finished, found.runs) == (True, None)
    (said,) = (each for each in found.cautions if each.op == "torch::compile")
    assert said.verdict is Verdict.UNKNOWN
    assert said.reason.text.startswith("is compiled by torch.compile")


@pytest.mark.slow
@pytest.mark.parametrize("values", [True, False])
def test_a_model_that_runs_says_so(values: bool) -> None:
    said: list[str] = []
    found = emulated(Net(), TOKENS, values=values, check=True, said=said)
    assert found.runs
    assert (found.finished, found.error, found.error_site, found.mode) == (
        True, "", None, "inference",
    )  # fmt: skip
    assert (found.target, found.database_digest, found.model) == (
        str(NEWEST.target), NEWEST.database_digest, MODEL,
    )  # fmt: skip
    assert found.refusals == ()
    assert found.host_calls == ()
    assert found.islands == 1
    assert found.agreement is not None
    assert found.agreement.disagreements == ()
    assert found.agreement.native == len(found.kernels)
    assert {k.phase for k in found.kernels} == {Phase.FORWARD}
    assert "as given" in found.notes
    expected = (
        Difference("output.logits", (1, 3, 5), "float32", 0.0),
        Difference("output.last", (1, 3, 8), "float32", 0.0),
    )
    assert found.differences == (expected if values else None)
    host = ["在主机上计算，以作比较"] if values else []
    assert in_chinese(said) == [
        *host, f"在模拟的 {NEWEST.target} 上运行", "预测扫描结果", "将预测与分发器对照",
    ]  # fmt: skip


@pytest.mark.slow
def test_a_training_step_compares_gradients_and_parameters() -> None:
    found = emulated(Net(), TOKENS, values=True, step=TrainingSpec())
    assert found.runs
    assert found.mode == "train"
    assert {k.phase for k in found.kernels} == set(Phase)
    assert found.differences is not None
    names = {d.name for d in found.differences}
    parameters = [name for name, _ in Net().named_parameters()]
    assert names == {
        "output.logits", "output.last", *(f"grad of {n}" for n in parameters),
        *(f"{n} after the step" for n in parameters),
    }  # fmt: skip
    assert all(d.largest is not None and d.largest < 1e-5 for d in found.differences)


@pytest.mark.slow
def test_gradients_are_compared_as_the_optimizer_takes_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On a device PyTorch adds the momentum to the gradients themselves, and does not on a CPU."""
    nesterov = partial(torch.optim.SGD, momentum=0.9, nesterov=True)
    monkeypatch.setattr(torch.optim, "Nesterov", nesterov, raising=False)
    found = emulated(Net(), TOKENS, values=True, step=TrainingSpec(optimizer="nesterov"))
    assert found.differences is not None
    gradients = [d for d in found.differences if d.name.startswith("grad of ")]
    assert len(gradients) == len(list(Net().parameters()))
    assert all(d.largest is not None and d.largest < 1e-5 for d in found.differences)


@pytest.mark.slow
def test_the_users_own_model_is_left_as_it_was() -> None:
    model = Net()
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    emulated(model, TOKENS, values=True, step=TrainingSpec())
    for name, parameter in model.named_parameters():
        assert parameter.device.type == "cpu"
        assert parameter.grad is None
        assert torch.equal(parameter, before[name])
    assert model.head.weight is model.embed.weight
    assert model.training


@pytest.mark.slow
def test_all_that_is_missing_is_collected_with_its_module() -> None:
    matrix = without_fallback(without(NEWEST, ["gelu", "embedding", "index_select"]))
    found = emulated(Net(), TOKENS, matrix=matrix)
    assert found.finished
    assert not found.runs
    told = [(r.op.removesuffix(".out"), r.count, places(r)) for r in found.refusals]
    assert told == [
        ("aten::gelu", 2, [("layers.*", "return x + F.gelu(self.project(self.norm(x)))")]),
        ("aten::index_select", 1, [("embed", "x = self.embed(tokens)")]),
    ]
    missing = {k.op.removesuffix(".out") for k in found.kernels if k.verdict is Verdict.UNSUPPORTED}
    assert missing == {"aten::gelu", "aten::index_select"}


def places(refusal: Any) -> list[tuple[str, str]]:
    return [(s.module, linecache.getline(__file__, s.line).strip()) for s in refusal.sites]


@pytest.mark.slow
def test_a_run_told_to_stop_stops_at_the_first() -> None:
    matrix = without_fallback(without(NEWEST, ["gelu", "embedding", "index_select"]))
    found = emulated(Net(), TOKENS, matrix=matrix, stop=True)
    assert not found.finished
    (refusal,) = found.refusals
    assert found.error == refusal.error
    assert found.error.startswith("NotImplementedError: Could not run 'aten::index_select'")
    assert found.error_site is not None
    assert found.error_site.module == "embed"
    assert found.error_site.file == "tests/emulate/test_run.py"
    assert linecache.getline(__file__, found.error_site.line).strip() == "x = self.embed(tokens)"


@pytest.mark.slow
def test_a_model_that_fails_by_itself_ends_the_run_where_it_fails() -> None:
    class Failing(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.ModuleList([Block()])

        def forward(self, x: Tensor) -> Tensor:
            x = self.layers[0](x)
            return x.view(7, 7)

    found = emulated(Failing(), torch.ones(1, 8))
    assert (found.finished, found.runs, found.refusals) == (False, False, ())
    assert found.error.startswith("RuntimeError: shape '[7, 7]' is invalid for input of size 8")
    assert found.error_site is not None
    assert linecache.getline(__file__, found.error_site.line).strip() == "return x.view(7, 7)"
    assert found.error_site.module == ""
    with pytest.raises(EmulationError) as caught:
        emulated(Failing(), torch.ones(1, 8), values=True)
    place = f"{found.error_site.file}:{found.error_site.line}"
    told = f"{place}: Failing fails on the host, without any device: "
    assert caught.value.message.startswith(told)
    assert caught.value.hint


def test_what_is_not_emulated_is_told_with_its_line() -> None:
    class Sparse(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x.to_sparse()

    with pytest.raises(EmulationError) as caught:
        emulated(Sparse(), torch.eye(3))
    place, _, said = caught.value.message.partition(": ")
    file, _, line = place.rpartition(":")
    assert file.endswith("test_run.py")
    assert linecache.getline(__file__, int(line)).strip() == "return x.to_sparse()"
    assert said.endswith("a sparse, quantised or nested tensor, which is not emulated")
    assert caught.value.hint


@pytest.mark.slow
@pytest.mark.parametrize("values", [False, True])
def test_a_model_that_cannot_be_copied_is_an_error(values: bool) -> None:
    model = Net()
    model.lock = threading.Lock()  # type: ignore[assignment]  # as a model may keep one
    with pytest.raises(EmulationError) as caught:
        emulated(model, torch.ones(1, 8), values=values)
    why = "TypeError: cannot pickle '_thread.lock' object"
    assert caught.value.message == f"Net cannot be copied: {why}"


def test_a_model_that_only_the_device_fails_is_no_fault_of_the_host() -> None:
    def choosing(x: Tensor) -> Tensor:
        if x.device.type == "npu":
            raise OSError("not on this device")
        return x

    found = emulated(choosing, torch.ones(2), values=True)
    assert (found.finished, found.error, found.differences) == (
        False, "OSError: not on this device", None,
    )  # fmt: skip


@pytest.mark.slow
def test_nothing_to_train_is_told() -> None:
    with pytest.raises(TraceError) as caught:
        emulated(lambda x: x.long(), torch.ones(2), step=TrainingSpec())
    assert caught.value.message


@pytest.mark.slow
@pytest.mark.parametrize(
    ("device", "note"),
    [
        ("cuda", "names a CUDA device; run as if it said 'npu'"),
        ("mlu", "names the device 'mlu'; run as if it said 'npu'"),
    ],
)
def test_a_hard_coded_device_is_taken_for_the_emulated_one(device: str, note: str) -> None:
    def insisting(x: Tensor) -> Tensor:
        return x + torch.ones(2, device=device)

    found = emulated(insisting, torch.ones(2))
    assert found.runs
    assert note in found.notes


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_a_nested_tensor_ends_the_run_with_one_sentence() -> None:
    def ragged(x: Tensor) -> Tensor:
        return torch.nested.nested_tensor([x[0], x[1][:2]], layout=torch.jagged).cumsum(1)

    found = emulated(ragged, torch.ones(2, 4, 3))
    assert found.error == (
        "it makes a nested tensor, and only tensors of one size in each dimension are followed; "
        "pad to one size and give a mask"
    )
    assert in_chinese([found.error]) == [
        "创建了嵌套张量，而只能跟踪每个维度大小统一的张量；请填充为统一大小并提供掩码"
    ]


@pytest.mark.slow
def test_random_layers_draw_alike_on_both_sides() -> None:
    found = emulated(nn.Sequential(nn.Linear(4, 4), nn.Dropout()), torch.ones(3, 4), values=True)
    assert found.differences == (Difference("output", (3, 4), "float32", 0.0),)


@pytest.mark.slow
def test_a_device_that_casts_differs_by_as_much() -> None:
    def precise(x: Tensor) -> Tensor:
        return x.double() / 3

    found = emulated(precise, torch.ones(2), values=True)
    (difference,) = found.differences or ()
    assert (difference.name, difference.dtype) == ("output", "float64")
    assert difference.largest is not None
    assert 0 < difference.largest < 1e-7
    assert [c.reason.code for c in found.cautions] == ["float64-becomes-float32"]


NAN, INFINITE = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("device", "host", "largest"),
    [
        ([1.0, 2.0], [1.0, 2.5], 0.5), ([NAN, 1.0], [NAN, 1.0], 0.0), ([NAN], [1.0], None),
        ([INFINITE, -1.0], [INFINITE, 1.0], 2.0), ([INFINITE], [-INFINITE], None),
        ([1.0], [INFINITE], None), ([], [], 0.0), ([1.0, 2.0], [1.0], None),
    ],
)  # fmt: skip
def test_differences_tell_of_what_is_not_a_number(
    device: list[float], host: list[float], largest: float | None
) -> None:
    (found,) = differences({"x": torch.tensor(device)}, {"x": torch.tensor(host)})
    assert found == Difference("x", (len(host),), "float32", largest)


def test_a_result_on_one_side_alone_differs() -> None:
    x = torch.ones(2, dtype=torch.int64)
    assert differences({"b": x}, {"a": x}) == (
        Difference("a", (2,), "int64", None), Difference("b", (2,), "int64", None),
    )  # fmt: skip
    assert differences({"a": x * 4}, {"a": x}) == (Difference("a", (2,), "int64", 3.0),)
    z = torch.tensor([3 + 4j])
    assert differences({"a": z * 0}, {"a": z}) == (Difference("a", (1,), "complex64", 5.0),)


@pytest.mark.slow
def test_advisories_of_a_target_are_notes() -> None:
    loud = Condition("loud", Verdict.NATIVE, "the {chip} is loud", Confidence.HIGH)
    found = emulated(nn.Identity(), torch.ones(1), matrix=replace(NEWEST, advisories=(loud,)))
    assert found.notes[0] == "as given"
    assert "the 910b is loud" in found.notes


class RefusesUnknown(nn.Module):
    """Raises for what is only assumed, because no value is known."""

    def forward(self, x: Tensor) -> Tensor:
        if not (x > -9).all():
            raise ValueError("not in range")
        return x.exp()


class AnotherTime(nn.Module):
    """Reads a value, and does more each time; what is copied of it counts on."""

    times: ClassVar[list[int]] = []

    def forward(self, x: Tensor) -> Tensor:
        self.times.append(1)
        for _ in self.times:
            x = x + float(x.sum())
        return x


@pytest.mark.slow
def test_why_prediction_and_run_may_differ_is_said() -> None:
    large = torch.ones(100, 100)
    early = emulated(nn.Sequential(RefusesUnknown(), nn.ReLU()), large, check=True)
    assert early.agreement is not None
    assert [(d.op, d.predicted, d.asked) for d in early.agreement.disagreements] == [
        ("aten::relu", 1, 0)
    ]
    assert early.notes[-1] == (
        "the run ended early, and the scan goes on with the next module: what it predicts from "
        "there on was not asked for"
    )
    apart = emulated(AnotherTime(), large, check=True)
    assert apart.notes[-1].startswith("the model decides by values that only its data has: ")
    agreed = emulated(RefusesUnknown(), torch.ones(3), check=True)
    assert not [note for note in agreed.notes if "values" in note or "early" in note]


class Masked(nn.Module):
    """As encoders of pictures do: a mask that hides nothing is left out."""

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        small = F.interpolate(mask[None].float(), size=(90, 90)).to(torch.bool)
        return x if small.all() else x.masked_fill(~small, 0)


@pytest.mark.slow
def test_a_mask_made_of_a_large_known_one_is_known() -> None:
    args = torch.ones(1, 1, 90, 90), torch.ones(1, 300, 300, dtype=torch.int64)
    found = emulated(Masked(), *args, check=True)
    assert found.agreement is not None
    assert not found.agreement.disagreements
    assert "aten::masked_fill.Scalar" not in {kernel.op for kernel in found.kernels}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("values", [False, True])
def test_a_weight_that_autograd_computed_is_computed_on_the_device(values: bool) -> None:
    """Old weight norms keep it as an attribute, which ``copy.deepcopy`` refuses."""
    model = nn.Sequential(nn.utils.weight_norm(nn.Linear(4, 4)), nn.ReLU())
    found = emulated(model, torch.ones(2, 4), values=values, check=True)
    assert (found.finished, found.refusals) == (True, ())
    assert found.agreement is not None
    assert found.agreement.whole


@pytest.mark.slow
def test_numbers_beside_a_tensor_reach_the_device_as_predicted() -> None:
    def shifted(x: Tensor) -> Tensor:
        return torch.bitwise_right_shift(x, 4) + torch.bitwise_left_shift(3, x)

    found = emulated(shifted, torch.ones(8, dtype=torch.int32), check=True)
    assert found.finished
    assert found.agreement is not None
    assert found.agreement.whole
