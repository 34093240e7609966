"""Collectives of dtypes, and reductions, that the vendor's library may not take."""

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
        (torch.float8_e5m2, "amd-mi300x@2.13.0", Verdict.UNKNOWN, None),
        (torch.float8_e5m2, "nvidia-h100@2.13.0", Verdict.NATIVE, True),
        (torch.float64, "ascend-910b", Verdict.UNSUPPORTED, False),
        (torch.uint16, "ascend-910b@7.3.0", Verdict.UNSUPPORTED, False),
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
    with opcheck.emulate("ascend-910b@7.3.0") as device:
        with pytest.raises(TypeError, match="has no dtype for uint16"):
            dist.broadcast(torch.ones(2, dtype=torch.uint16, device=device), 0)
        dist.all_reduce(torch.ones(2, dtype=torch.int16, device=device))


class Reduces(nn.Module):
    """Reduces what it is given over all processes, by PyTorch's own name for how."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def forward(self, x: Tensor) -> Tensor:
        y = x.clone()
        dist.all_reduce(y, op=getattr(dist.ReduceOp, self.name))
        return y


def reduced(name: str, dtype: torch.dtype, target: str) -> tuple[str, Verdict, str, str]:
    report = opcheck.scan(Reduces(name), torch.ones(2, 3).to(dtype), targets=[target])
    found = next(f for f in report.targets[0].findings if f.op == "c10d::allreduce_")
    assert found.evidence or found.verdict is Verdict.UNKNOWN
    assert f"reduce_op={name}" in found.uses[0].inputs
    return name, found.verdict, found.reason.code, found.confidence.value


HAS = (Verdict.NATIVE, "collective-of-backend", "high")
LACKS = (Verdict.UNSUPPORTED, "reduction-not-supported", "high")
SAID_TO_LACK = (Verdict.UNSUPPORTED, "reduction-not-supported", "medium")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "dtype", "target", "expected"),
    [
        ("SUM", torch.bfloat16, "ascend-910b", HAS),
        ("AVG", torch.float32, "ascend-910b", HAS),
        ("AVG", torch.float32, "ascend-910b@6.0.0", LACKS),  # code raises until 7.1.0 sums, divides
        ("PRODUCT", torch.bfloat16, "ascend-910b", SAID_TO_LACK),  # by pages of the library
        ("PRODUCT", torch.float32, "ascend-910b", HAS),
        ("BOR", torch.int32, "ascend-910b", LACKS),
        ("AVG", torch.float32, "cambricon-mlu590@r2.3_develop", LACKS),
        ("AVG", torch.float32, "cambricon-mlu590@r2.4_develop", HAS),
        ("AVG", torch.bool, "cambricon-mlu590@r2.4_develop", LACKS),
        ("BXOR", torch.int32, "moorethreads-s4000", LACKS),
        ("AVG", torch.float16, "moorethreads-s4000", HAS),
        ("BAND", torch.uint8, "nvidia-a100@2.13.0", LACKS),
        ("AVG", torch.bool, "amd-mi250@2.13.0", LACKS),
        ("BAND", torch.int32, "intel-max@2.14.1", LACKS),
        ("MAX", torch.int64, "intel-max@2.14.1", HAS),
        ("AVG", torch.float32, "google-tpu-v5e@r2.10", LACKS),
    ],
)
def test_a_reduction_is_one_that_the_backend_has_for_the_dtype(
    name: str, dtype: torch.dtype, target: str, expected: tuple[Verdict, str, str]
) -> None:
    assert reduced(name, dtype, target)[1:] == expected


@pytest.mark.slow
def test_a_reduction_that_nobody_has_spoken_of_is_unknown() -> None:
    found = reduced("AVG", torch.int32, "ascend-910b")  # divided in place, as integers
    assert found[1:3] == (Verdict.UNKNOWN, "reduction-not-known")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dtype", "target", "verdict"),
    [
        (torch.float32, "intel-max@2.12.1", Verdict.UNSUPPORTED),
        (torch.float32, "intel-max@2.13.0", Verdict.NATIVE),  # scaled by PyTorch before the sum
        (torch.bfloat16, "intel-max@2.14.1", Verdict.NATIVE),
        (torch.int32, "intel-max@2.13.0", Verdict.UNSUPPORTED),
    ],
)
def test_a_sum_of_scaled_terms_came_to_xccl(
    dtype: torch.dtype, target: str, verdict: Verdict
) -> None:
    from torch._C import _distributed_c10d as internals  # of torch 2.13, as FSDP imports it

    class Scales(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            y = x.clone()
            dist.all_reduce(y, op=internals._make_nccl_premul_sum(0.5))
            return y

    report = opcheck.scan(Scales(), torch.ones(2, 3).to(dtype), targets=[target])
    found = next(f for f in report.targets[0].findings if f.op == "c10d::allreduce_")
    assert found.verdict is verdict


@pytest.mark.slow
def test_a_functional_collective_is_as_good_as_what_it_reduces() -> None:
    from torch.distributed._functional_collectives import all_reduce

    class Averages(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            out: Tensor = all_reduce(x, "avg", dist.distributed_c10d._get_default_group())
            return out

    report = opcheck.scan(Averages(), torch.ones(2, 3), targets=["ascend-910b@6.0.0"])
    found = next(f for f in report.targets[0].findings if f.op == "_c10d_functional::all_reduce")
    assert (found.verdict, found.reason.code) == LACKS[:2]


def test_explaining_a_collective_shows_what_its_backend_sends_and_reduces() -> None:
    from opcheck.commands.explain.answer import explain
    from opcheck.model.target import TargetSpec

    (found,) = explain("c10d::allreduce_", [TargetSpec.parse("cambricon-mlu590@r2.3_develop")])
    assert [(row.verdict, row.text) for row in found.backend] == [
        (
            Verdict.NATIVE,
            "CNCL sends bfloat16, bool, float16, float32, float64, int32, int64, int8, uint8",
        ),
        (Verdict.NATIVE, "CNCL has the reductions MAX, MIN, PRODUCT, SUM"),
        (Verdict.UNSUPPORTED, "CNCL lacks the reductions AVG, BAND, BOR, BXOR, PREMUL_SUM"),
    ]
    assert all(row.evidence for row in found.backend)
    (other,) = explain("c10d::barrier", [TargetSpec.parse("cambricon-mlu590@r2.3_develop")])
    assert other.backend == ()
