"""Which kernel of attention a device takes, where a program allows some of them alone."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from opcheck.emulate.gradients import by_registrations
from opcheck.model.report import Finding
from opcheck.model.verdict import Verdict
from opcheck.resolve.findings import resolve
from opcheck.trace import trace_model
from opcheck.trace.running.training import Training
from opcheck.trace.running.training_step import TrainingStep
from tests.emulate.matrices import matrix_of

SDPA = "aten::scaled_dot_product_attention"
FLASH, EFFICIENT, MATH = (
    SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH,
)  # fmt: skip
HALVES = torch.zeros(1, 2, 16, 64, dtype=torch.float16)


def found(target: str, q: Tensor, *kernels: SDPBackend) -> Finding:
    """What a scan finds of attention with these kernels allowed."""

    def attend(q: Tensor) -> Tensor:
        with sdpa_kernel([*kernels]):
            return torch.nn.functional.scaled_dot_product_attention(q, q, q)

    trace = trace_model(attend, (q,), {}, device_type="cuda")
    (finding,) = [one for one in resolve(trace, matrix_of(target)).findings if one.op == SDPA]
    return finding


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernels", "runs_as"),
    [
        ((FLASH,), "aten::_scaled_dot_product_flash_attention"),
        ((FLASH, MATH), "aten::_scaled_dot_product_flash_attention"),
        ((EFFICIENT, MATH), "aten::_scaled_dot_product_efficient_attention"),
    ],
)
def test_a_kernel_that_is_not_allowed_is_not_taken(
    kernels: tuple[SDPBackend, ...], runs_as: str
) -> None:
    finding = found("nvidia-h100", HALVES, *kernels)
    assert (finding.verdict, [use.decomposed_into for use in finding.uses]) == (
        Verdict.DECOMPOSED, [(runs_as,)],
    )  # fmt: skip


@pytest.mark.slow
def test_the_plain_steps_alone_run_as_products_and_a_softmax() -> None:
    finding = found("nvidia-h100", HALVES, MATH)
    (use,) = finding.uses
    assert (finding.verdict, finding.reason.code) == (Verdict.DECOMPOSED, "decomposes")
    assert {"aten::bmm", "aten::_softmax"} <= {*use.decomposed_into}
    assert [leaf for leaf in use.decomposed_into if "attention" in leaf] == []


@pytest.mark.slow
@pytest.mark.parametrize("target", ["nvidia-h100", "amd-mi300x", "intel-max"])
def test_flash_alone_does_not_take_float32(target: str) -> None:
    finding = found(target, HALVES.float(), FLASH)
    assert finding.verdict is Verdict.UNSUPPORTED
    assert 'raises "No available kernel. Aborting execution."' in finding.reason.text
    assert found(target, HALVES.float(), FLASH, MATH).verdict is not Verdict.UNSUPPORTED


def told_in_training(target: str, q: Tensor, **attends: object) -> list[str]:
    """Reasons that a scan of a training step gives for attention itself."""

    class Attends(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.start = nn.Parameter(q)

        def forward(self) -> Tensor:
            found = self.start, self.start, self.start
            return torch.nn.functional.scaled_dot_product_attention(*found, **attends)  # type: ignore[arg-type]

    matrix = matrix_of(target)
    step = Training(TrainingStep(), by_registrations([matrix])[0][0])
    trace = trace_model(Attends(), (), {}, device_type="cuda", training=step)
    return [one.reason.code for one in resolve(trace, matrix).findings if one.op == SDPA]


@pytest.mark.slow
def test_training_tells_of_the_kernel_and_of_its_gradient_beside_the_parts_that_autograd_saw(
) -> None:  # fmt: skip
    masked = torch.ones(704, 704, dtype=torch.bool)
    of_h100 = told_in_training(
        "nvidia-h100@2.13.0", HALVES.new_zeros(1, 1, 704, 64), attn_mask=masked
    )
    assert of_h100 == ["cuda-cudnn-attention-gradients"]
    assert told_in_training("nvidia-h100@2.10.0", HALVES.new_zeros(1, 1, 704, 64)) == []
    long = torch.empty(1, 64, 2**20, 64, dtype=torch.float16, device="meta")
    assert told_in_training("nvidia-a100@2.13.0", long) == ["cuda-flash-gradients-large"]
