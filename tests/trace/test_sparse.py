"""Sparse tensors are followed by their values; where those are not known, a gap says so."""

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


def test_a_graph_network_is_followed_whole() -> None:
    inputs = LINKS, torch.ones(2), torch.ones(4, 3)
    report = scanned(Graph(), *inputs, targets=[OLD_MPS, NEW_MPS, CUDA])
    made = "aten::sparse_coo_tensor.indices_size"
    assert not report.trace.gaps
    assert [target.summary.runs for target in report.targets] == [False, True, True]
    assert reason(report, made) == (Verdict.UNSUPPORTED, "no-kernel")
    assert reason(report, "aten::_sparse_mm")[0] is Verdict.UNSUPPORTED
    assert reason(report, "aten::erfinv", 2) == (Verdict.NATIVE, "registered")


def test_without_values_nothing_tells_how_many_elements_there_are() -> None:
    """The call is recorded, what it gives is not seen."""
    report = scanned(
        Calls(lambda x: x.to_sparse().to_dense()), torch.ones(400, 80), targets=[OLD_MPS, CUDA]
    )
    (gap,) = report.trace.gaps
    said = "aten::_to_sparse meets a tensor of layout sparse_coo; only strided ones are followed"
    assert gap.reason == said
    assert [target.summary.runs for target in report.targets] == [False, None]
    assert reason(report, "aten::to_sparse") == (Verdict.UNSUPPORTED, "no-kernel")
    assert report.targets[1].findings[0].uses[0].decomposed_into == ("aten::_to_sparse",)


class Joined(nn.Module):
    """A graph network with what it is joined by as a sparse buffer, as libraries keep it."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 4)
        self.links: Tensor
        self.register_buffer("links", torch.eye(40).to_sparse())

    def forward(self, x: Tensor) -> Tensor:
        values = self.links.coalesce().values()
        joined: Tensor = torch.sparse.mm(self.links, self.linear(x)) * values[:, None]
        return joined


@pytest.mark.parametrize("train", [False, True])
def test_a_sparse_buffer_is_on_the_device(train: bool) -> None:
    """Its values are no host tensor that meets device tensors."""
    model = Joined()
    links = model.links
    report = opcheck.scan(model, (torch.ones(40, 8),), targets=[OLD_MPS, CUDA], train=train)
    assert not report.trace.gaps
    assert [target.summary.runs for target in report.targets] == [False, True]
    codes = {f.reason.code for target in report.targets for f in target.findings}
    assert "host-tensor" not in codes
    assert model.links is links


def test_the_models_own_refusal_is_what_is_told() -> None:
    """A size that the buffer does not fit is no matter of its layout."""
    report = scanned(Joined(), torch.ones(41, 8), targets=[CUDA])
    (gap,) = report.trace.gaps
    assert "Expected dim 0 size 40, got 41" in gap.reason


def test_what_is_written_in_place_is_the_models_no_more() -> None:
    links = torch.eye(4).to_sparse()

    def doubled(a: Tensor, x: Tensor) -> Tensor:
        a.coalesce().values().mul_(2.0)
        found: Tensor = a.mul_(2.0) @ x
        return found

    report = scanned(Calls(doubled), links, torch.ones(4, 3), targets=[CUDA])
    assert report.targets[0].summary.runs
    assert torch.equal(links.to_dense(), torch.eye(4))


def test_of_other_dtypes_nobody_has_said() -> None:
    whole = torch.eye(4).int().to_sparse()
    report = scanned(Calls(torch.mm), whole, torch.ones(4, 3).int(), targets=[CUDA])
    assert reason(report, "aten::mm") == (Verdict.UNKNOWN, "sparse-kernels-not-known")


def test_places_may_be_a_view() -> None:
    """Taking a call apart is done with copies, which have the values whatever their strides are."""
    places = torch.tensor([[0, 1, 2], [1, 2, 0]])[:, :2]
    report = scanned(Graph(), places, torch.ones(2), torch.ones(4, 3), targets=[OLD_MPS])
    made = "aten::sparse_coo_tensor.indices_size"
    assert reason(report, made) == (Verdict.UNSUPPORTED, "no-kernel")


def test_a_transpose_asks_for_no_kernel() -> None:
    rows = torch.eye(4).to_sparse_csr()
    report = scanned(Calls(lambda a: a.t()), rows, targets=[CUDA])
    assert report.targets[0].summary.runs


@pytest.mark.parametrize(
    ("target", "runs"),
    [("apple-mps@2.9.1", False), ("apple-mps@2.10.0", True), ("intel-max@2.10.0", False),
     ("intel-max@2.13.0", True), (CUDA, True)],
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


def test_a_plugin_has_the_product_that_asks_for_one_it_lacks() -> None:
    sparse = torch.eye(4).to_sparse()
    targets = [NPU, "cambricon-mlu370@r2.4_develop", "moorethreads-s4000@2.7.1"]
    report = scanned(Calls(torch.mm), sparse, torch.ones(4, 3), targets=targets)
    assert [reason(report, "aten::mm", place) for place in range(3)] == [
        (Verdict.UNSUPPORTED, "layout-not-supported"),
        (Verdict.NATIVE, "registered"),
        (Verdict.UNSUPPORTED, "layout-not-supported"),
    ]


def test_dense_calls_are_what_they_were() -> None:
    report = scanned(Calls(torch.mm), torch.ones(4, 4), torch.ones(4, 3), targets=[OLD_MPS])
    assert reason(report, "aten::mm") == (Verdict.NATIVE, "registered")
    assert not report.trace.gaps


def test_a_sparse_gradient_is_followed() -> None:
    model = nn.Embedding(10, 4, sparse=True)
    report = opcheck.scan(model, (torch.tensor([1, 2]),), targets=[OLD_MPS, CUDA], train=True)
    (gap,) = report.trace.gaps
    assert "Adam does not support sparse gradients" in gap.reason
    assert [target.summary.runs for target in report.targets] == [False, None]
