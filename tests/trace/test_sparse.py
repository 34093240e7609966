"""Sparse tensors are not followed: the first call that meets one is recorded, and a gap says so."""

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import opcheck
from opcheck.model.report import Report
from opcheck.model.verdict import Verdict

LINKS = torch.tensor([[0, 1], [1, 2]])
OLD_MPS, NEW_MPS, CUDA, NPU = (
    "apple-mps@2.8.0",
    "apple-mps@2.15.0",
    "nvidia-a100@2.2.2",
    "ascend-910b",
)


class Graph(nn.Module):
    """Joins what neighbours have, as graph networks do."""

    def forward(self, places: Tensor, weights: Tensor, x: Tensor) -> Tensor:
        joined = torch.sparse.mm(torch.sparse_coo_tensor(places, weights, (4, 4)), x)
        return torch.erfinv(joined)


class Calls(nn.Module):
    """What a function makes of its inputs."""

    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: Tensor) -> Any:
        return self.function(*inputs)


def scanned(model: nn.Module, *inputs: Tensor, targets: Sequence[str]) -> Report:
    return opcheck.scan(model, inputs, targets=targets)


def reason(report: Report, op: str, place: int = 0) -> tuple[Verdict, str]:
    (finding,) = (f for f in report.targets[place].findings if str(f.op) == op)
    return finding.verdict, finding.reason.code


def test_the_first_call_is_recorded_and_the_rest_is_a_gap() -> None:
    inputs = LINKS, torch.ones(2), torch.ones(4, 3)
    report = scanned(Graph(), *inputs, targets=[OLD_MPS, NEW_MPS, CUDA])
    made = "aten::sparse_coo_tensor.indices_size"
    assert report.trace.calls == 3
    (gap,) = report.trace.gaps
    assert (
        gap.reason == f"{made} meets a tensor of layout sparse_coo; only strided ones are followed"
    )
    assert [target.summary.runs for target in report.targets] == [False, None, None]
    assert reason(report, made) == (Verdict.UNSUPPORTED, "no-kernel")
    assert reason(report, made, 1) == (Verdict.DECOMPOSED, "decomposes")


@pytest.mark.parametrize(
    ("target", "runs"),
    [("apple-mps@2.9.1", False), ("apple-mps@2.10.0", None), ("intel-max@2.10.0", False),
     ("intel-max@2.13.0", None), (CUDA, None)],
)  # fmt: skip
def test_a_product_with_a_sparse_tensor_is_of_its_layout(target: str, runs: bool | None) -> None:
    """``mm`` has a kernel for dense tensors on each: what counts is one for sparse tensors."""
    sparse = torch.eye(4).to_sparse()
    report = scanned(Calls(torch.mm), sparse, torch.ones(4, 3), targets=[target])
    assert report.targets[0].summary.runs is runs
    code = "layout-not-supported" if runs is False else "registered"
    assert reason(report, "aten::mm")[1] == code


def test_compressed_rows_have_kernels_of_their_own() -> None:
    rows = torch.eye(4).to_sparse_csr()
    report = scanned(Calls(torch.mm), rows, torch.ones(4, 3), targets=["apple-mps@2.10.0", CUDA])
    assert reason(report, "aten::mm") == (Verdict.UNSUPPORTED, "layout-not-supported")
    assert reason(report, "aten::mm", 1) == (Verdict.NATIVE, "registered")


def test_of_plugins_nobody_has_said() -> None:
    sparse = torch.eye(4).to_sparse()
    report = scanned(Calls(torch.mm), sparse, torch.ones(4, 3), targets=[NPU])
    assert reason(report, "aten::mm") == (Verdict.UNKNOWN, "sparse-kernels-not-known")


def test_a_conversion_asks_for_the_kernel_of_what_it_converts() -> None:
    report = scanned(Calls(Tensor.to_sparse), torch.eye(4), targets=[CUDA, NPU, OLD_MPS])
    assert reason(report, "aten::to_sparse") == (Verdict.DECOMPOSED, "decomposes")
    assert report.targets[0].findings[0].uses[0].decomposed_into == ("aten::_to_sparse",)
    assert reason(report, "aten::to_sparse", 2) == (Verdict.UNSUPPORTED, "no-kernel")


def test_a_composite_that_ends_within_is_no_whole_one() -> None:
    """What it had called by then is known, and no more than that."""
    report = scanned(
        Calls(torch.sparse.mm), torch.eye(4).to_sparse(), torch.ones(4, 3), targets=[CUDA]
    )
    (finding,) = report.targets[0].findings
    assert str(finding.op) == "aten::_sparse_mm"
    assert report.targets[0].summary.runs is None


def test_dense_calls_are_what_they_were() -> None:
    report = scanned(Calls(torch.mm), torch.ones(4, 4), torch.ones(4, 3), targets=[OLD_MPS])
    assert reason(report, "aten::mm") == (Verdict.NATIVE, "registered")
    assert not report.trace.gaps


def test_a_sparse_gradient_ends_a_step() -> None:
    model = nn.Embedding(10, 4, sparse=True)
    report = opcheck.scan(model, (torch.tensor([1, 2]),), targets=[OLD_MPS], train=True)
    assert [gap for gap in report.trace.gaps if "layout sparse_coo" in gap.reason]
    assert report.targets[0].summary.runs is False
