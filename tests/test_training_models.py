"""Training steps as people write them: what each asks a device for, and what is not seen."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

import opcheck
from opcheck.model.report import Finding, Report
from opcheck.model.request import OPTIMIZER
from opcheck.model.trace import Phase
from opcheck.model.verdict import Verdict
from opcheck.resolve.compiled import COMPILE

TARGET = "ascend-910b"


def scanned(model: Any, x: Tensor, *step: str, target: str = TARGET) -> Report:
    return opcheck.scan(model, x, targets=[target], train=True, step=step)


def found(report: Report, base: str) -> dict[Phase, Finding]:
    (target,) = report.targets
    return {f.phase: f for f in target.findings if f.op.partition("::")[2].split(".")[0] == base}


class Block(nn.Module):
    def __init__(self, again: bool = False) -> None:
        super().__init__()
        self.first, self.second, self.again = nn.Linear(8, 8), nn.Linear(8, 8), again

    def forward(self, x: Tensor) -> Tensor:
        def inner(x: Tensor) -> Tensor:
            return torch.sin(self.first(x))

        y = checkpoint(inner, x, use_reentrant=False) if self.again else inner(x)
        assert isinstance(y, Tensor)
        z: Tensor = self.second(y)
        return z


@pytest.mark.slow
def test_checkpointing_in_the_model_computes_its_forward_again_in_backward() -> None:
    once, twice = (scanned(Block(again), torch.ones(2, 8)) for again in (False, True))
    assert twice.trace.gaps == ()
    assert set(found(once, "addmm")) == {Phase.FORWARD}
    assert set(found(twice, "addmm")) == {Phase.FORWARD, Phase.BACKWARD}


class Accumulating(nn.Module):
    """Two micro-batches, whose losses are added before one step."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(8, 1)

    def forward(self, x: Tensor) -> Tensor:
        losses = [self.inner(part).square().mean() / 2 for part in x.chunk(2)]
        total: Tensor = losses[0] + losses[1]
        return total


@pytest.mark.slow
def test_gradients_of_several_batches_are_added_up() -> None:
    report = scanned(Accumulating(), torch.ones(4, 8))
    assert report.trace.gaps == ()
    added = [f for base in ("add", "add_") for f in found(report, base).values()]
    assert Phase.BACKWARD in {f.phase for f in added}


@pytest.mark.slow
def test_mixed_precision_with_a_scaler_and_clipping_is_whole() -> None:
    report = scanned(Block(), torch.ones(2, 8), "autocast=float16", "scaler=true", "clip=1.0")
    assert report.trace.gaps == ()
    unscaled = found(report, "_amp_foreach_non_finite_check_and_unscale_")[Phase.OPTIMIZER]
    assert {use.module for use in unscaled.uses} == {OPTIMIZER}


class Adapted(nn.Module):
    """A frozen layer with two small ones beside it that are trained."""

    def __init__(self) -> None:
        super().__init__()
        self.base = nn.Linear(8, 8).requires_grad_(False)
        self.down, self.up = nn.Linear(8, 2, bias=False), nn.Linear(2, 8, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.base(x) + self.up(self.down(x))
        return result


@pytest.mark.slow
def test_frozen_parameters_have_neither_gradients_nor_a_step() -> None:
    report = scanned(Adapted(), torch.ones(2, 8), "optimizer=sgd:plain")
    assert report.trace.gaps == ()
    (step,) = found(report, "add_").values()
    assert (step.phase, step.count) == (Phase.OPTIMIZER, 2)
    assert all(use.module != "base" for f in found(report, "mm").values() for use in f.uses)


class Cubed(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return gradients[0] * torch.erfinv(x.clamp(-0.5, 0.5))


class OwnGradient(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(8, 8)

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = Cubed.apply(self.inner(x))  # type: ignore[no-untyped-call]  # torch's
        return result


@pytest.mark.slow
def test_a_gradient_of_the_models_own_is_seen_at_its_line() -> None:
    report = scanned(OwnGradient(), torch.ones(2, 8))
    assert report.trace.gaps == ()
    own = found(report, "erfinv")[Phase.BACKWARD]
    assert [use.file for use in own.uses] == [f"tests/{Path(__file__).name}"]


class Recurrent(nn.Module):
    def __init__(self, kind: Callable[..., nn.Module]) -> None:
        super().__init__()
        self.cells = kind(8, 8, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        output: Tensor = self.cells(x)[0]
        return output


@pytest.mark.slow
@pytest.mark.parametrize("kind", [nn.RNN, nn.GRU, nn.LSTM])
@pytest.mark.parametrize(
    "target", ["moorethreads-s4000", "apple-mps", "nvidia-a100", "google-tpu-v5e"]
)
def test_recurrent_layers_are_trained_everywhere(
    kind: Callable[..., nn.Module], target: str
) -> None:
    report = scanned(Recurrent(kind), torch.ones(2, 3, 8), target=target)
    assert report.trace.gaps == ()
    assert report.targets[0].summary.runs is True


@pytest.mark.slow
@pytest.mark.parametrize("bidirectional", [False, True])
def test_a_gru_on_ascend_asks_for_the_gradient_that_its_kernel_has(bidirectional: bool) -> None:
    def kind(*sizes: int, **options: bool) -> nn.Module:
        return nn.GRU(*sizes, num_layers=2, bidirectional=bidirectional, **options)

    report = scanned(Recurrent(kind), torch.ones(2, 3, 8), target="ascend-910b@7.3.0")
    assert report.trace.gaps == ()
    assert found(report, "npu_gru_backward")[Phase.BACKWARD].verdict is Verdict.NATIVE
    assert found(report, "_thnn_fused_gru_cell_backward") == {}
    assert report.targets[0].summary.runs is True


@pytest.mark.slow
@pytest.mark.parametrize("layer", [nn.Conv2d(3, 4, 3), nn.ConvTranspose2d(3, 4, 3)])
def test_the_gradient_of_a_convolution_is_the_one_of_apples_own(layer: nn.Module) -> None:
    report = scanned(layer, torch.ones(1, 3, 8, 8), target="apple-mps")
    assert found(report, "convolution_backward")[Phase.BACKWARD].verdict is Verdict.DECOMPOSED
    assert report.targets[0].summary.runs is True


class Sparse(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(16, 8, sparse=True)

    def forward(self, ids: Tensor) -> Tensor:
        total: Tensor = self.table(ids).sum()
        return total


@pytest.mark.slow
def test_sparse_gradients_are_followed() -> None:
    x = torch.zeros(2, 3, dtype=torch.int64)
    report = scanned(Sparse(), x, "optimizer=sgd")
    assert not report.trace.gaps
    made = "aten::_sparse_coo_tensor_with_dims_and_tensors"
    assert made in {str(finding.op) for finding in report.targets[0].findings}
    assert report.targets[0].summary.runs is True  # add.out has a kernel of the vendor's for them
    other = scanned(Sparse(), x, "optimizer=sgd", target="cambricon-mlu370")
    (refused,) = (f for f in other.targets[0].findings if f.verdict is Verdict.UNSUPPORTED)
    assert (str(refused.op), refused.phase) == ("aten::add_.Tensor", Phase.OPTIMIZER)
    assert "asks for aten::add.out, which cambricon registers no kernel for" in refused.reason.text


@pytest.mark.slow
def test_a_compiled_module_is_scanned_as_what_it_compiles() -> None:
    plain = scanned(Block(), torch.ones(2, 8))
    compiled = scanned(torch.compile(Block()), torch.ones(2, 8))
    assert not compiled.trace.gaps
    found, inside = ({f.op for f in one.targets[0].findings} for one in (compiled, plain))
    assert found == {*inside, COMPILE}


LANGUAGE_MODEL = """
import torch
from transformers import GPT2Config, GPT2LMHeadModel

def model():
    ids = torch.zeros(1, 4, dtype=torch.int64)
    config = GPT2Config(n_layer=1, n_embd=16, n_head=2, vocab_size=32)
    return GPT2LMHeadModel(config), {"input_ids": ids, "labels": ids}
"""


@pytest.mark.slow
def test_a_language_model_takes_its_own_loss_of_labels(tmp_path: Path) -> None:
    (tmp_path / "language.py").write_text(LANGUAGE_MODEL)
    report = opcheck.scan(f"{tmp_path}/language.py:model", targets=[TARGET], train=True)
    assert set(found(report, "nll_loss_backward")) == {Phase.BACKWARD}
