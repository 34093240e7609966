"""A LightningModule is trained by the loss and the optimizers that it has itself."""

from collections.abc import Mapping
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from opcheck.errors import TraceError
from opcheck.model.request import TrainingSpec
from opcheck.model.trace import Phase, Trace
from opcheck.trace import trace_model
from opcheck.trace.running.training import Registrations, Training
from opcheck.trace.running.training_step import TrainingStep

# as the library's, of which the name and the place count
LightningModule = type("LightningModule", (nn.Module,), {"__module__": "lightning.pytorch.core"})
X, Y = torch.randn(4, 8), torch.tensor([0, 1, 2, 0])


class Lit(LightningModule):  # type: ignore[misc, valid-type]  # made in the line above
    def __init__(self, form: str = "one", *, automatic: bool = True) -> None:
        super().__init__()
        self.layer = nn.Linear(8, 3)
        self.form, self.automatic_optimization = form, automatic

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x)  # type: ignore[no-any-return]  # torch leaves it untyped

    def training_step(self, batch: Any, batch_idx: int) -> Mapping[str, Tensor]:
        assert batch_idx == 0
        x, y = (batch["x"], batch["y"]) if isinstance(batch, dict) else batch
        return {"loss": F.cross_entropy(self(x), y)}

    def configure_optimizers(self) -> Any:
        made = torch.optim.SGD(self.parameters(), lr=0.1)
        plan = torch.optim.lr_scheduler.StepLR(made, 1)
        return {
            "one": made,
            "list": [made],
            "lists": ([made], [plan]),
            "mapping": {"optimizer": made, "lr_scheduler": plan},
            "mappings": ({"optimizer": made}, {"optimizer": made}),
            "none": None,
        }[self.form]


class Alone(Lit):
    def training_step(self, batch: Tensor) -> Tensor:  # type: ignore[override]  # as Lightning may
        return self(batch).square().sum()  # type: ignore[no-any-return]  # torch leaves it so


def traced(model: nn.Module, *texts: str, args: Any = (X, Y), **kwargs: Any) -> Trace:
    step = TrainingStep.of(TrainingSpec.parse(texts))
    training = Training(step, Registrations(frozenset()))
    return trace_model(model, args, kwargs, device_type="npu", training=training)


def called(trace: Trace, phase: Phase) -> set[str]:
    return {str(trace.nodes[use.node].op) for use in trace.uses if use.phase is phase}


SGD = "aten::_foreach_add_.List"
ADAMW = "aten::_foreach_lerp_.Scalar"


@pytest.mark.parametrize("form", ["one", "list", "lists", "mapping", "mappings"])
def test_its_own_loss_and_optimizer(form: str) -> None:
    found = traced(Lit(form))
    assert "aten::nll_loss_forward" in called(found, Phase.FORWARD)
    assert "aten::nll_loss_backward" in called(found, Phase.BACKWARD)
    assert SGD in called(found, Phase.OPTIMIZER)
    assert ADAMW not in called(found, Phase.OPTIMIZER)
    assert "trained by its own training_step, without a trainer" in found.notes
    assert found.gaps == ()


def test_an_optimizer_that_is_named_takes_the_place_of_its_own_and_leaves_its_loss() -> None:
    found = traced(Lit(), "optimizer=adamw:foreach")
    assert "aten::nll_loss_forward" in called(found, Phase.FORWARD)
    assert ADAMW in called(found, Phase.OPTIMIZER)


@pytest.mark.parametrize(
    ("model", "args", "kwargs"),
    [(Lit(), (X, Y), {}), (Lit(), (), {"x": X, "y": Y}), (Alone(), (X,), {})],
)
def test_what_inputs_are_as_a_batch(model: nn.Module, args: Any, kwargs: Any) -> None:
    found = traced(model, args=args, **kwargs)
    assert "aten::addmm" in called(found, Phase.FORWARD)
    assert found.gaps == ()


@pytest.mark.slow
@pytest.mark.parametrize("wrap", ["ddp", "fsdp2"])
def test_one_of_two_processes_calls_its_step_in_the_wrapper(wrap: str) -> None:
    found = traced(Lit(), f"wrap={wrap}")
    assert "aten::nll_loss_forward" in called(found, Phase.FORWARD)
    assert any(op.startswith("c10d::") for op in called(found, Phase.BACKWARD))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (Lit(automatic=False),
         "Lit steps its optimizers itself (automatic_optimization is false), which needs the "
         "trainer"),
        (Lit("none"), "configure_optimizers of Lit gives no optimizer"),
    ],
)  # fmt: skip
def test_what_cannot_be_trained_without_a_trainer(model: nn.Module, message: str) -> None:
    with pytest.raises(TraceError) as caught:
        traced(model)
    assert caught.value.message == message
    assert caught.value.hint


def test_a_module_that_only_looks_like_one_is_trained_as_any_other() -> None:
    class Own(nn.Linear):
        def training_step(self, batch: Tensor, batch_idx: int) -> Tensor:
            raise AssertionError("called")

    found = traced(Own(8, 3), args=(X,))
    assert "aten::mean" in called(found, Phase.FORWARD)
    assert found.notes == ()


@pytest.mark.library
@pytest.mark.slow
def test_the_librarys_own_module() -> None:
    library = pytest.importorskip("lightning")

    class Logs(library.LightningModule):  # type: ignore[misc, name-defined]  # not installed here
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(8, 3)

        def training_step(self, batch: Any, batch_idx: int) -> Any:
            loss = F.cross_entropy(self.layer(batch[0]), batch[1])
            self.log("loss", loss)
            return loss

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), lr=0.1)

    found = traced(Logs())
    assert SGD in called(found, Phase.OPTIMIZER)
    assert found.gaps == ()
