"""How far a step may be off: as far as an optimizer is led by gradients that may be off."""

from pathlib import Path

import pytest

from opcheck.model.jobs import HostRequest, Tolerance
from opcheck.model.request import ModelSpec, TrainingSpec
from opcheck.rewrite.perturbation import CAN_MOVE
from opcheck.sandbox.parent.run import on_host

NET = """\
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.shift = torch.nn.Parameter(torch.zeros(1))
        self.scale = torch.nn.Parameter(torch.ones(4))

    def forward(self, x):
        return ((x * self.scale + self.shift).softmax(-1) ** 2).sum()


def build():
    return Net(), (torch.linspace(-1.0, 1.0, 8).reshape(2, 4),)
"""
RATE = 1e-3
"""By which AdamW moves a parameter in its first step, however small its gradient is."""


@pytest.mark.slow
@pytest.mark.skipif(not CAN_MOVE, reason="torch is too old to tell")
def test_a_parameter_whose_gradient_is_rounding_may_be_off_by_a_whole_step(tmp_path: Path) -> None:
    """The sum of a softmax does not depend on a shift: its gradient is whatever rounding leaves."""
    file = tmp_path / "net.py"
    file.write_text(NET, "utf-8")
    model = ModelSpec(f"{file}:build", step=TrainingSpec(optimizer="adamw"))
    call = "aten::_softmax"
    found = on_host(HostRequest(model, tolerances={call: Tolerance(1.0, ("aten::softmax.int",))}))
    assert found.moved is not None
    moved = {name: far for name, far in found.moved.items() if name.startswith("shift")}
    assert moved.keys() == {"shift after the step"}
    assert RATE / 4 < moved["shift after the step"] < 2.5 * RATE
    assert 0 < found.moved["grad of shift"] < 1e-6
