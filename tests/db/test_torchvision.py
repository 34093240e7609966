"""Kernels for torchvision's operators: cells read in its sources, and in others', by eye."""

from pathlib import Path

import pytest

from opcheck.db.importers.shared import in_tree, torchvision_kernels
from opcheck.db.store import Database
from opcheck.model.target import TargetSpec
from opcheck.model.trace import Node, OpName, TensorMeta
from opcheck.model.verdict import Confidence, Method, Verdict
from opcheck.resolve.explain import explain
from opcheck.resolve.resolution import Resolution
from opcheck.resolve.walk import Walk
from tests.db.vendor_checks import matrix

GRADIENTS = {
    "torchvision::_roi_align_backward",
    "torchvision::_roi_pool_backward",
    "torchvision::_ps_roi_align_backward",
    "torchvision::_ps_roi_pool_backward",
}
FORWARD = {
    "torchvision::nms",
    "torchvision::roi_align",
    "torchvision::roi_pool",
    "torchvision::ps_roi_align",
    "torchvision::ps_roi_pool",
}
DEFORM = {"torchvision::deform_conv2d", "torchvision::_deform_conv2d_backward"}
OPS = "torchvision/csrc/ops/"


def resolution(database: Database, target: str, op: str, argument: str, dtype: str) -> Resolution:
    tensor = TensorMeta(dtype, (9, 4), (4, 1))
    node = Node(OpName.parse(op), ((argument, tensor),), outputs=(tensor,))
    return Walk([node], matrix(database, target), "2.13.0").resolution(0)


def kernels(database: Database, target: str) -> set[str]:
    entries = matrix(database, target).entries
    return {op for op in entries if op.startswith("torchvision::")}


def test_every_torch_has_its_torchvision(sources: Path) -> None:
    for torch in in_tree.releases(sources / "pytorch"):
        said = torchvision_kernels.entries(torch, "CUDA")
        assert not any("method" in entry for entry in said.values()), torch


def test_what_is_not_known_of_a_newer_torch_is_inferred_from_the_nearest() -> None:
    newest, later = (torchvision_kernels.entries(torch, "MPS") for torch in ("2.15.0", "2.16.0"))
    assert later == {op: {**entry, "method": "inferred"} for op, entry in newest.items()}


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("nvidia-a100@2.0.1", FORWARD | GRADIENTS | DEFORM),
        ("nvidia-a100@2.11.0", FORWARD | GRADIENTS | DEFORM),
        ("nvidia-a100@2.12.1", FORWARD | GRADIENTS | DEFORM | {"torchvision::box_iou_rotated"}),
        ("amd-mi300x@2.13.0", FORWARD | GRADIENTS | DEFORM | {"torchvision::box_iou_rotated"}),
        ("hygon-k100@2.10.0", FORWARD | GRADIENTS | DEFORM),
        ("apple-mps@2.0.1", set()),
        ("apple-mps@2.1.2", FORWARD | GRADIENTS),
        ("apple-mps@2.8.0", FORWARD | GRADIENTS | {"torchvision::deform_conv2d"}),
        ("intel-max@2.7.1", FORWARD | GRADIENTS | DEFORM),
    ],
)
def test_operators_with_a_kernel(target: str, expected: set[str], database: Database) -> None:
    assert kernels(database, target) == expected


@pytest.mark.parametrize(
    ("target", "op", "path", "line"),
    [
        ("nvidia-a100@2.0.1", "nms", f"{OPS}cuda/nms_kernel.cu", 170),
        ("nvidia-a100@2.6.0", "nms", f"{OPS}cuda/nms_kernel.cu", 170),
        ("nvidia-a100@2.7.1", "nms", f"{OPS}cuda/nms_kernel.cu", 205),
        ("nvidia-a100@2.15.0", "nms", f"{OPS}cuda/nms_kernel.cu", 263),
        ("amd-mi250@2.13.0", "roi_align", f"{OPS}cuda/roi_align_kernel.cu", 472),
        ("amd-mi250@2.0.1", "_roi_align_backward", f"{OPS}cuda/roi_align_kernel.cu", 456),
        ("hygon-z100@2.9.1", "deform_conv2d", f"{OPS}cuda/deform_conv2d_kernel.cu", 1326),
        ("apple-mps@2.13.0", "nms", f"{OPS}mps/nms_kernel.mm", 105),
        ("apple-mps@2.10.0", "roi_align", f"{OPS}mps/roi_align_kernel.mm", 192),
        ("apple-mps@2.11.0", "roi_align", f"{OPS}mps/roi_align_kernel.mm", 184),
        ("intel-max@2.13.0", "nms", "src/ATen/native/xpu/XPUFallback.template", 110),
        ("intel-max@2.4.1", "nms", "src/aten/XPUFallback.template", 41),
    ],
)
def test_cells_read_by_eye(target: str, op: str, path: str, line: int, database: Database) -> None:
    (evidence,) = matrix(database, target).entries[f"torchvision::{op}"].evidence
    assert (evidence.path, evidence.line) == (path, line)
    assert len(evidence.commit) == 40


@pytest.mark.parametrize(
    "target", ["nvidia-t4", "amd-rx7900xt@2.0.1", "hygon-k100", "apple-mps", "intel-arc@2.6.0"]
)
def test_every_cell_names_a_line_of_a_commit(target: str, database: Database) -> None:
    found = matrix(database, target)
    for op in kernels(database, target):
        conditions = found.conditions.get(op, ())
        assert conditions, op
        cited = [*found.entries[op].evidence, *(e for c in conditions for e in c.evidence)]
        assert all(len(each.commit) == 40 and each.line for each in cited), op


def test_the_package_is_named(database: Database) -> None:
    found = resolution(database, "nvidia-h100@2.13.0", "torchvision::nms", "dets", "float32")
    assert found.text == "torchvision 0.28.0 registers a kernel for torchvision::nms"
    assert matrix(database, "nvidia-h100@2.13.0").entries["aten::relu"].package == ""


def test_what_is_said_of_hygon_is_inferred(database: Database) -> None:
    found = resolution(database, "hygon-k100", "torchvision::nms", "dets", "float32")
    assert (found.verdict, found.confidence) == (Verdict.NATIVE, Confidence.LOW)
    assert {evidence.method for evidence in found.evidence} == {Method.INFERRED}


@pytest.mark.parametrize(
    ("target", "op", "argument", "good", "bad"),
    [
        ("nvidia-h100", "nms", "dets", "float16 float32 float64", "bfloat16 int64"),
        ("amd-mi355", "roi_align", "input", "float16 float64", "bfloat16"),
        ("nvidia-a100", "_deform_conv2d_backward", "input", "float16", "bfloat16"),
        ("nvidia-a100", "box_iou_rotated", "boxes1", "float32 float64", "float16"),
        ("apple-mps", "nms", "dets", "float16 float32", "bfloat16 float64"),
        ("apple-mps", "_roi_align_backward", "grad", "float32", "float16 bfloat16"),
        ("intel-max@2.13.0", "nms", "dets", "bfloat16 float64", "int32"),
        ("intel-max@2.7.1", "roi_align", "input", "float16", "bfloat16"),
        ("intel-max@2.8.0", "roi_align", "input", "float16 bfloat16", "int64"),
        ("intel-max@2.8.0", "roi_pool", "input", "float16", "bfloat16"),
    ],
)
def test_dtypes(
    target: str, op: str, argument: str, good: str, bad: str, database: Database
) -> None:
    def verdicts(dtypes: str) -> set[tuple[Verdict, str]]:
        found = [
            resolution(database, target, f"torchvision::{op}", argument, dtype)
            for dtype in dtypes.split()
        ]
        return {(each.verdict, each.code) for each in found}

    assert verdicts(good) == {(Verdict.NATIVE, "registered")}
    assert verdicts(bad) == {(Verdict.UNSUPPORTED, "dtype-not-supported")}


def test_the_message_is_the_one_raised(database: Database) -> None:
    found = resolution(database, "nvidia-h100", "torchvision::nms", "dets", "bfloat16")
    assert found.text == (
        "dets is bfloat16: torchvision raises '\"nms_kernel\" not implemented for'"
    )
    found = resolution(database, "apple-mps", "torchvision::_roi_align_backward", "grad", "float16")
    assert found.text == (
        'grad is float16: "MPS does not support roi_align backward with float16 inputs."'
    )


def test_explain_names_the_package(database: Database) -> None:
    target = database.resolve(TargetSpec.parse("nvidia-h100@2.13.0"))
    op = OpName.parse("torchvision::nms")
    found = explain(op, database.matrix(target), {}, {}, "2.13.0", ())
    assert found.package == "torchvision 0.28.0"


@pytest.mark.parametrize(
    ("target", "adapted"),
    [
        ("ascend-910b@7.1.0+torch2.6", True),
        ("ascend-910b@7.1.0+torch2.7", False),
        ("ascend-910b@26.1.0+torch2.12", False),
        ("ascend-910b@5.0.0+torch2.1", True),
    ],
)
def test_the_adapter_of_ascend_is_for_some_torch(
    target: str, adapted: bool, database: Database
) -> None:
    found = resolution(database, target, "torchvision::nms", "dets", "float32")
    assert found.verdict is Verdict.FALLBACK
    codes = {c.code for c in matrix(database, target).conditions["torchvision::nms"]}
    assert ("native-with-torchvision-npu" in codes, "no-torchvision-npu" in codes) == (
        adapted,
        not adapted,
    )


def test_without_a_kernel_the_host_computes_or_the_call_fails(database: Database) -> None:
    op = "torchvision::deform_conv2d"
    verdicts = {
        target: resolution(database, target, op, "input", "float32").verdict
        for target in ("google-tpu-v5e", "apple-mps@2.7.1", "intel-max@2.6.0", "nvidia-tensorrt")
    }
    assert verdicts == {
        "google-tpu-v5e": Verdict.FALLBACK,
        "apple-mps@2.7.1": Verdict.UNSUPPORTED,
        "intel-max@2.6.0": Verdict.UNSUPPORTED,
        "nvidia-tensorrt": Verdict.FALLBACK,
    }
