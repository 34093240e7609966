"""What a training step keeps whole on GPUs, which have no autograd kernels of a vendor's."""

import pytest
import torch
from torch import Tensor, nn

import opcheck
from opcheck.emulate.gradients import by_registrations
from opcheck.trace import trace_model
from opcheck.trace.running.training import Training
from opcheck.trace.running.training_step import TrainingStep
from tests.emulate.matrices import matrix_of, without

APPLE, NVIDIA, OLD = "apple-mps@2.13.0", "nvidia-a100@2.13.0", "nvidia-a100@2.8.0"


class Layers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.pool, self.norm, self.linear = nn.MaxPool2d(2), nn.RMSNorm(4), nn.Linear(4, 5)

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.linear(self.norm(self.pool(x)))
        return found


def test_what_is_kept_whole_is_registered_together_with_its_gradient() -> None:
    kept = {target: by_registrations([matrix_of(target)])[0][0].kernels
            for target in (APPLE, NVIDIA, OLD)}  # fmt: skip
    assert kept == {
        APPLE: {"aten::linear", "aten::max_pool2d"}, NVIDIA: {"aten::_fused_rms_norm"}, OLD: set(),
    }  # fmt: skip


def test_targets_share_a_trace_where_they_keep_the_same_whole() -> None:
    matrices = [matrix_of(name) for name in (APPLE, NVIDIA, OLD, "amd-mi300x@2.13.0")]
    groups = [[m.target.vendor for m in alike] for _, alike in by_registrations(matrices)]
    assert groups == [["apple"], ["nvidia", "amd"], ["nvidia"]]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "whole"),
    [
        (APPLE, {"linear", "linear_backward", "max_pool2d", "max_pool2d_backward"}),
        (NVIDIA, {"_fused_rms_norm", "_fused_rms_norm_backward"}),
        (OLD, set()),
    ],
)
def test_a_step_runs_as_pytorch_runs_it_on_the_device(target: str, whole: set[str]) -> None:
    step = Training(TrainingStep(), by_registrations([matrix_of(target)])[0][0])
    x = torch.rand(1, 2, 8, 8, requires_grad=True)
    trace = trace_model(Layers(), (x,), {}, device_type="cuda", training=step)
    named = {trace.nodes[use.node].op.base for use in trace.uses}
    candidates = {"linear", "max_pool2d", "_fused_rms_norm"}
    asked = {name for name in named if name.removesuffix("_backward") in candidates}
    assert (asked, list(trace.gaps)) == (whole, [])


def test_a_composite_is_taken_apart_whose_gradient_the_device_lacks() -> None:
    matrix = without(matrix_of(APPLE), ["linear_backward"])
    assert by_registrations([matrix])[0][0].kernels == {"aten::max_pool2d"}


@pytest.mark.slow
def test_a_cell_that_a_vendor_makes_of_others_has_their_gradients() -> None:
    """PyTorch's own asks for a kernel that neither this vendor nor the host has."""
    cell, given = nn.GRUCell(4, 5), (torch.ones(2, 4), torch.ones(2, 5))
    report = opcheck.scan(cell, given, targets=["ascend-910b"], train=True)
    (target,) = report.targets
    assert target.summary.runs
    assert "aten::sigmoid_backward" in {finding.op for finding in target.findings}
