"""Collectives of dtypes that the vendor's library may not take: never plainly green."""

from collections.abc import Iterator

import pytest
import torch
import torch.distributed as dist
from torch import Tensor, nn

import opcheck
from opcheck.model.report import Finding
from opcheck.model.verdict import Verdict


@pytest.fixture(autouse=True)
def group() -> Iterator[None]:
    from torch.testing._internal.distributed.fake_pg import FakeStore

    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
    yield
    dist.destroy_process_group()


class Sends(nn.Module):
    """Sums what it is given over all processes."""

    def forward(self, x: Tensor) -> Tensor:
        y = x.clone()
        dist.all_reduce(y)
        return y


def answered(dtype: torch.dtype, target: str) -> tuple[Finding, bool | None]:
    report = opcheck.scan(Sends(), torch.ones(2, 3).to(dtype), targets=[target])
    (found,) = report.targets
    sent = next(f for f in found.findings if f.op == "c10d::allreduce_")
    return sent, found.summary.runs


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dtype", "target", "verdict", "runs"),
    [
        (torch.int16, "nvidia-a100@2.13.0", Verdict.UNSUPPORTED, False),
        (torch.int16, "amd-mi250@2.13.0", Verdict.UNSUPPORTED, False),
        (torch.int16, "cambricon-mlu590", Verdict.UNSUPPORTED, False),
        (torch.int16, "moorethreads-s4000", Verdict.UNSUPPORTED, False),
        (torch.int16, "ascend-910b", Verdict.NATIVE, True),
        (torch.uint16, "nvidia-a100@2.13.0", Verdict.UNSUPPORTED, False),
        (torch.float8_e5m2, "nvidia-a100@2.13.0", Verdict.UNKNOWN, None),
        (torch.float64, "ascend-910b", Verdict.UNKNOWN, None),
        (torch.float32, "nvidia-a100@2.13.0", Verdict.NATIVE, True),
        (torch.bool, "nvidia-a100@2.13.0", Verdict.NATIVE, True),
    ],
)
def test_a_collective_is_as_good_as_the_dtype_that_it_sends(
    dtype: torch.dtype, target: str, verdict: Verdict, runs: bool | None
) -> None:
    sent, whole = answered(dtype, target)
    assert (sent.verdict, whole) == (verdict, runs)
    assert sent.evidence
    if verdict is not Verdict.NATIVE:
        assert str(dtype).removeprefix("torch.") in sent.reason.text


@pytest.mark.slow
def test_a_backend_whose_table_nobody_read_is_known_for_the_usual_dtypes_alone() -> None:
    assert answered(torch.float32, "google-tpu-v5e@r2.10")[0].verdict is Verdict.NATIVE
    sent, runs = answered(torch.int16, "google-tpu-v5e@r2.10")
    assert (sent.verdict, sent.reason.code, runs) == (
        Verdict.UNKNOWN, "dtype-not-known-to-be-sent", None,
    )  # fmt: skip


@pytest.mark.slow
def test_the_emulated_device_refuses_what_the_scan_does() -> None:
    with opcheck.emulate("ascend-910b") as device:
        with pytest.raises(TypeError, match="has no dtype for uint16"):
            dist.all_reduce(torch.ones(2, dtype=torch.uint16, device=device))
        dist.all_reduce(torch.ones(2, dtype=torch.int16, device=device))
