"""Advisories: whom they concern, which uses they bite, and what is wrong with a damaged one."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch
from msgspec.structs import replace

import opcheck
from opcheck.db.by_hand import advice
from opcheck.db.by_hand.advice import documents
from opcheck.db.by_hand.overlays import Addition
from opcheck.db.files.document import Document
from opcheck.db.files.layers import Layer
from opcheck.db.predicates import read_predicate
from opcheck.db.store import Database
from opcheck.errors import DatabaseError
from opcheck.model.matrix import Condition
from opcheck.model.target import TargetSpec
from opcheck.model.trace import Node, OpName, TensorMeta, Trace, Use
from opcheck.model.verdict import Confidence, Evidence, Method, Verdict
from opcheck.resolve.conditions import matches
from opcheck.resolve.findings import resolve
from opcheck.source.building.operators_allowed import registered
from opcheck.source.pt2.targets import HIGHER_ORDERS
from tests.db import (
    change_log_uses,
    compiled_uses,
    cuda_uses,
    gpu_report_uses,
    gpu_thread_uses,
    gpu_uses,
    kernel_fix_uses,
    library_uses,
    mended_cuda_uses,
    mended_rest_uses,
    missed_uses,
    mode_uses,
    mps_thread_uses,
    network_uses,
    npu_uses,
    offset_uses,
    report_uses,
    rocm_uses,
    tensorrt_uses,
    tpu_uses,
    training_uses,
    unbounded_uses,
    uses_of_fixes,
    uses_on_accelerators,
    xpu_uses,
)
from tests.db.calls import dense, node
from tests.db.mps_fix_uses import MPS_FIX_USES
from tests.db.mps_layer_uses import MPS_LAYER_USES
from tests.db.mps_operator_uses import MPS_OPERATOR_USES
from tests.db.mps_reported_uses import MPS_REPORTED_USES
from tests.db.mps_uses import MPS_USES
from tests.db.overlays import ROOT, written
from tests.lang.told import in_chinese
from tests.test_cases import Applied

BASE = Layer(ROOT, "")
FILES = sorted(path.stem for path in (ROOT / "advisories").rglob("*.yaml"))


@cache
def files() -> Mapping[str, Document]:
    """Every advisory's file by its name."""
    return {found.path.stem: found for found in documents(BASE, None)}


@cache
def additions() -> Sequence[Addition]:
    """What all of them add."""
    return list(advice.advisories(BASE, [*files().values()]))


def told(use: Node) -> set[str]:
    """Ids of the advisories of every vendor that a use meets."""
    return {
        said["code"]
        for added in additions()
        for said in added.conditions
        if str(use.op) in said["ops"] and matches(_condition(said), use) is not None
    }


def _condition(said: Mapping[str, object]) -> Condition:
    tests = tuple(map(read_predicate, said["tests"]))  # type: ignore[call-overload]  # as in the files
    return Condition("", Verdict.NATIVE, "", Confidence.HIGH, tests)


COLUMNS = TensorMeta("float32", (2_000_000, 46), (464, 1))
KERNEL = TensorMeta("float32", (4, 3, 3, 3), (81, 27, 9, 3))
INTEGERS = dense(3, dtype="int64")
TURNED = TensorMeta("float32", (2, 3), (1, 2))
LAST = TensorMeta("bfloat16", (17, 256, 512, 512), (2**26, 1, 2**17, 2**8))
HALVES = dense(2, dtype="bfloat16")
VOLUME = dense(1, 8, 4, 9, 9, dtype="bfloat16")
POOL, MASK = "aten::adaptive_max_pool2d", dense(5, dtype="bool")
SDPA = "aten::scaled_dot_product_attention"
USES = {
    "a side does not divide": (
        node(POOL, self=dense(1, 1, 6, 5), output_size=(3, 3)), {"mps-adaptive-max-pool2d"},
    ),
    "the other does not": (
        node(POOL, self=dense(1, 1, 5, 6), output_size=(3, 3)), {"mps-adaptive-max-pool2d"},
    ),
    "a larger output": (
        node(POOL, self=dense(1, 1, 2, 2), output_size=(4, 4)), {"mps-adaptive-max-pool2d"},
    ),
    "both divide": (node(POOL, self=dense(1, 1, 6, 9), output_size=(3, 3)), set()),
    "a mask": (
        node("aten::index_put_", self=dense(5, 3), indices=(MASK,), values=dense(2, 3)),
        {"mps-assign-mask", "npu-index-put-mask-310p"},
    ),
    "integers": (
        node("aten::index_put_", self=dense(5, 3), indices=(dense(2, dtype="int64"),)), set(),
    ),
    "a read through a mask": (
        node("aten::index.Tensor", self=dense(5, 3), indices=(MASK,)),
        {"torch-fl-index-mask", "xpu-nonzero-driver"},
    ),
    "a transposed condition": (
        node("aten::where.self", condition=TensorMeta("bool", (2, 3), (1, 2))),
        {"mps-where-layout"},
    ),
    "a condition in order": (node("aten::where.self", condition=dense(2, 3)), set()),
    "a transposed input": (
        node("aten::silu", self=TensorMeta("float32", (2, 3), (1, 2))), {"mps-silu-layout"},
    ),
    "columns of a huge tensor": (node("aten::isfinite", self=COLUMNS), {"mps-isfinite-slice"}),
    "columns of a small tensor": (
        node("aten::isfinite", self=replace(COLUMNS, shape=(20, 46))), set(),
    ),
    "a slice of a kernel": (
        node("aten::conv2d", input=dense(1, 3, 8, 8), weight=KERNEL),
        {"mps-conv2d-weight-layout"},
    ),
    "a kernel as it is": (
        node("aten::conv2d", input=dense(1, 3, 8, 8), weight=dense(4, 3, 3, 3)), set(),
    ),
    "a weight with gaps": (
        node("aten::linear", input=dense(2, 8), weight=TensorMeta("float32", (6, 8), (16, 1))),
        {"mps-linear-layout"},
    ),
    "a shift by a scalar": (
        node("aten::__rshift__.Tensor", self=dense(3, dtype="int32"), other=dense(dtype="int64")),
        {"npu-shift-by-scalar-tensor"},
    ),
    "a shift by a vector": (
        node("aten::__rshift__.Tensor", self=dense(3, dtype="int32"), other=INTEGERS),
        set(),
    ),
    "exponential numbers": (
        node("aten::exponential_", self=dense(4, 8)),
        {"mps-exponential-zero", "npu-exponential-310p"},
    ),
    "a 480th of the elements": (
        node("aten::upsample_linear1d", self=dense(1, 9, 6720), output_size=(14,)),
        {"npu-linear-downsample"},
    ),
    "a 50th of them": (
        node("aten::upsample_linear1d", self=dense(1, 9, 6720), output_size=(135,)), set(),
    ),
    "a 500th of few": (
        node("aten::upsample_linear1d", self=dense(1, 9, 500), output_size=(1,)), set(),
    ),
    "a 480th of many": (
        node("aten::upsample_linear1d", self=dense(1, 9, 24000), output_size=(50,)),
        {"npu-linear-downsample"},
    ),
    "more of them": (
        node("aten::upsample_linear1d", self=dense(1, 9, 14), output_size=(6720,)), set(),
    ),
    "values of another size": (
        node(SDPA, query=dense(1, 2, 16, 32), key=dense(1, 2, 16, 32), value=dense(1, 2, 16, 24)),
        {"mps-attention-value-size"},
    ),
    "one query": (
        node(SDPA, query=dense(1, 2, 1, 64), key=dense(1, 2, 9, 64), value=dense(1, 2, 9, 64)),
        {"mps-attention-few-queries"},
    ),
    "causal, in half precision": (
        node(SDPA, query=dense(1, 2, 9, 64, dtype="float16"), is_causal=True),
        {"mps-attention-causal-half"},
    ),
    "causal": (node(SDPA, query=dense(1, 2, 9, 64), is_causal=True), set()),
    "a remainder of integers": (
        node("aten::remainder.Scalar", self=INTEGERS, other=31), {"mps-integer-remainder"},
    ),
    "a remainder": (node("aten::remainder.Scalar", self=dense(3), other=31), set()),
    "the first of five dimensions": (
        node("aten::cumsum", self=dense(2, 2, 2, 2, 2), dim=0),
        {"mps-scan-axis", "tensorrt-cumsum-float64"},
    ),
    "the second of five": (
        node("aten::cumsum", self=dense(2, 2, 2, 2, 2), dim=1), {"tensorrt-cumsum-float64"},
    ),
    "the first of five, from the end": (
        node("aten::sort.stable", self=dense(2, 2, 2, 2, 2), dim=-5), {"mps-scan-axis"},
    ),
    "any of five dimensions": (node("aten::any", self=dense(2, 1, 1, 1, 1)), {"mps-any-rank"}),
    "any of four": (node("aten::any", self=dense(2, 1, 1, 1)), set()),
    "a gradient of pooled regions": (
        node("torchvision::_roi_align_backward", grad=dense(9, 8, 7, 7)), {"mps-roi-gradients"},
    ),
    "random numbers into a transpose": (node("aten::uniform_", self=TURNED), {"mps-random-layout"}),
    "random numbers in order": (node("aten::uniform_", self=dense(2, 3)), set()),
    "addcdiv_ of a transpose": (node("aten::addcdiv_", self=TURNED), {"mps-addcdiv-layout"}),
    "masked_fill_ of a transpose": (
        node("aten::masked_fill_.Scalar", self=TURNED), {"mps-masked-fill-layout"},
    ),
    "scatter_ into a transpose": (
        node("aten::scatter_.src", self=TURNED),
        {"mps-scatter-layout", "mps-scatter-layout-macos"},
    ),
    "digamma of a transpose": (node("aten::digamma", self=TURNED), {"mps-gamma-layout"}),
    "sort of a transpose": (node("aten::sort.stable", self=TURNED, dim=0), {"mps-sort-layout"}),
    "a long product": (
        node("aten::mm", self=dense(16, 32769), mat2=dense(32769, 16)), {"mps-long-product"},
    ),
    "a long product of few rows": (
        node("aten::mm", self=dense(15, 32769), mat2=dense(32769, 16)), set(),
    ),
    "nonzero of many": (
        node("aten::nonzero", self=dense(4097, 4096)),
        {"mps-nonzero-many", "mps-mask-many", "xpu-nonzero-driver"},
    ),
    "nonzero of as many as fit": (
        node("aten::nonzero", self=dense(4096, 4096)), {"mps-mask-many", "xpu-nonzero-driver"},
    ),
    "the inverse of unique": (
        node("aten::_unique2", self=INTEGERS, return_inverse=True),
        {"mps-unique-large", "xpu-nonzero-driver"},
    ),
    "unique": (
        node("aten::_unique2", self=INTEGERS, return_inverse=False), {"xpu-nonzero-driver"},
    ),
    "a huge cat": (
        replace(node("aten::cat"), outputs=(dense(2, 2**30 + 1),)), {"mps-cat-large"},
    ),
    "a huge table": (
        node("aten::embedding", weight=dense(2, 2**30 + 1)), {"mps-index-select-large"},
    ),
    "a mask for all heads": (
        node(
            "aten::_scaled_dot_product_attention_math_for_mps", query=dense(2, 4, 8, 64),
            key=dense(2, 4, 2048, 64), value=dense(2, 4, 2048, 64),
            attn_mask=dense(2, 1, 8, 2048, dtype="bool"),
        ),
        {"mps-attention-mask-heads", "mps-attention-few-queries", "mps-attention-masked-rows"},
    ),
    "a mask for everything": (
        node(SDPA, query=dense(2, 4, 9, 64), value=dense(2, 4, 9, 64), attn_mask=dense(9, 9)),
        set(),
    ),
    "many channels": (
        node("aten::conv1d", input=dense(1, 1, 3), weight=dense(65537, 1, 3)),
        {"mps-conv-channels"},
    ),
    "an inverse transform": (node("aten::_fft_c2r", self=dense(33)), {"mps-irfft"}),
    "topk along the first of five": (
        node("aten::topk", self=dense(5, 4, 3, 2, 1), dim=0), {"mps-scan-axis"},
    ),
    "all along the first of five": (
        node("aten::all.dim", self=dense(1, 1, 1, 1, 1), dim=0), {"mps-any-rank"},
    ),
    "all along the last of five": (
        node("aten::all.dim", self=dense(1, 1, 1, 1, 1), dim=4), set(),
    ),
    "rows of three": (
        node("aten::native_layer_norm", input=dense(2**23, 3)), {"rocm-layer-norm-rows"},
    ),
    "rows of four": (node("aten::native_layer_norm", input=dense(2**23, 4)), set()),
    "gradients of many rows": (
        node("aten::native_layer_norm_backward", input=dense(128, 64)),
        {"rocm-layer-norm-gradients"},
    ),
    "gradients of groups": (
        node("aten::native_group_norm_backward", N=129), {"rocm-group-norm-gradients"},
    ),
    "a large LSTM": (
        replace(node("aten::lstm.input", num_layers=4), outputs=(dense(600, 9400, 16),)),
        {"rocm-lstm-many"},
    ),
    "an LSTM": (
        replace(node("aten::lstm.input", num_layers=4), outputs=(dense(600, 100, 16),)), set(),
    ),
    "a sum of five dimensions": (
        node("aten::sum.dim_IntList", self=dense(1, 2, 1, 1, 1), dim=(-3,)), {"mps-sum-rank"},
    ),
    "a sum from the front": (
        node("aten::sum.dim_IntList", self=dense(1, 2, 1, 1, 1), dim=(2,)), set(),
    ),
    "softplus of a transpose": (
        node("aten::softplus", self=TURNED), {"mps-softplus-layout", "mps-softplus-old-macos"},
    ),
    "gradients of a large batch": (
        node("aten::convolution_backward", grad_output=dense(65536, 1, 1)),
        {"mps-conv-batch-gradients"},
    ),
    "gradients of a batch": (
        node("aten::convolution_backward", grad_output=dense(65535, 1, 1)), set(),
    ),
    "gradients of an interpolation": (
        node("aten::upsample_bilinear2d_backward", grad_output=dense(1, 3, 8, 8)),
        {"musa-interpolate-gradients"},
    ),
    "triangles of five by five": (
        node("aten::triu", self=dense(3, 5, 5)), {"musa-triangle-batch"},
    ),
    "triangles of six by five": (
        node("aten::triu", self=dense(3, 6, 5), diagonal=-1), {"musa-triangle-batch"},
    ),
    "triangles of four by five": (node("aten::triu", self=dense(3, 4, 5)), set()),
    "triangles above the diagonal": (
        node("aten::triu", self=dense(3, 5, 5), diagonal=1), set(),
    ),
    "one triangle of five by five": (node("aten::triu", self=dense(1, 5, 5)), set()),
    "triangles below the diagonal": (
        node("aten::tril", self=dense(32, 5, 5), diagonal=-1), {"musa-triangle-batch"},
    ),
    "triangles with the diagonal": (node("aten::tril", self=dense(32, 5, 5)), set()),
    "a complex tensor by a real one": (
        node("aten::div.Tensor", self=dense(4, 4, dtype="complex64"), other=dense(4, 4)),
        {"musa-complex-by-real"},
    ),
    "a complex tensor by a number": (
        node("aten::mul.Tensor", self=dense(4, 4, dtype="complex64"), other=dense()), set(),
    ),
    "SELU on a GPU of Moore Threads": (
        node("aten::elu_", self=dense(3), alpha=1.6732632423543772, scale=1.0507009873554805),
        {"musa-elu-scales"},
    ),
    "the sine of integers": (
        replace(node("aten::sin", self=dense(4, dtype="int64")), outputs=(dense(4),)),
        {"musa-functions-integers"},
    ),
    "the square of integers": (
        replace(
            node("aten::pow.Tensor_Scalar", self=dense(4, dtype="int64"), exponent=2),
            outputs=(dense(4, dtype="int64"),),
        ),
        set(),
    ),
    "sums into a transposed matrix": (
        node("aten::cumsum_", self=TURNED, dim=0), {"musa-cumulative-layout"},
    ),
    "sums into a transposed result": (
        node("aten::cumsum.out", self=dense(2, 3), dim=0, out=TURNED), {"musa-cumulative-layout"},
    ),
    "places of tokens": (
        node("aten::isin.Tensor_Tensor", elements=INTEGERS, test_elements=INTEGERS),
        {"musa-isin"},
    ),
    "a weighted bag": (
        node("aten::_embedding_bag", weight=dense(9, 8), indices=dense(6, dtype="int64"),
             offsets=dense(2, dtype="int64"), per_sample_weights=dense(6)),
        {"musa-embedding-bag"},
    ),
    "a bag with its end": (
        node("aten::_embedding_bag", weight=dense(9, 8), indices=dense(6, dtype="int64"),
             offsets=dense(3, dtype="int64"), include_last_offset=True),
        {"musa-embedding-bag-last-offset"},
    ),
    "a norm with a bias alone": (
        node("aten::native_layer_norm", input=dense(1, 32), weight=None, bias=dense(32)),
        {"musa-layer-norm-bias"},
    ),
    "a norm with nothing": (
        node("aten::native_layer_norm", input=dense(1, 32), weight=None, bias=None), set(),
    ),
    "gradients of repeated elements": (
        node("aten::upsample_nearest2d_backward", grad_output=dense(1, 3, 8, 8)), set(),
    ),
    "bilinear sampling": (
        node("aten::grid_sampler_2d", input=dense(1, 3, 8, 8), interpolation_mode=0),
        {"tensorrt-grid-sample-modes"},
    ),
    "bicubic sampling": (
        node("aten::grid_sampler_2d", input=dense(1, 3, 8, 8), interpolation_mode=2), set(),
    ),
    "a choice of bfloat16": (
        node("aten::where.self", self=HALVES, other=HALVES), {"tensorrt-where-bfloat16"},
    ),
    "a choice of bfloat16 and float32": (
        node("aten::where.self", self=HALVES, other=dense(2)), set(),
    ),
    "a copy that casts": (
        node("aten::copy", self=HALVES, src=dense(2)), {"tensorrt-copy-dtype"},
    ),
    "a copy": (node("aten::copy", self=dense(2), src=dense(2)), set()),
    "a norm of float16": (
        node("aten::layer_norm", input=dense(2, 8, dtype="float16")), {"tensorrt-layer-norm-half"},
    ),
    "a norm of float32": (node("aten::layer_norm", input=dense(2, 8)), set()),
    "attention with a mask and a tile cut in half": (
        node(
            SDPA, query=dense(1, 2, 192, 64, dtype="float16"),
            value=dense(1, 2, 192, 64, dtype="float16"), attn_mask=dense(1, 1, 192, 192),
        ),
        {"cuda-cudnn-attention-gradients"},
    ),
    "attention with a mask and whole tiles": (
        node(
            SDPA, query=dense(1, 2, 256, 64, dtype="float16"),
            value=dense(1, 2, 256, 64, dtype="float16"), attn_mask=dense(1, 2, 256, 256),
        ),
        set(),
    ),
    "a huge image of channels_last": (
        replace(
            node("aten::upsample_nearest2d", self=LAST), outputs=(dense(17, 256, 1024, 1024),)
        ),
        {"cuda-upsample-nearest-large"},
    ),
    "an image of channels_last": (
        replace(node("aten::upsample_nearest2d", self=LAST), outputs=(dense(7, 256, 1024, 1024),)),
        set(),
    ),
    "gradients of a huge image": (
        node("aten::upsample_nearest2d_backward", grad_output=dense(1025, 2, 1024, 1024)),
        {"cuda-upsample-gradients-large"},
    ),
    "gradients of an image": (
        node("aten::upsample_nearest2d_backward", grad_output=dense(1023, 2, 1024, 1024)), set(),
    ),
    "a linear layer of windows": (
        node("aten::linear", input=dense(1, 8, 8, 16, dtype="bfloat16")), {"tensorrt-linear-4d"},
    ),
    "a linear layer of rows": (
        node("aten::linear", input=dense(1, 64, 16, dtype="bfloat16")), set(),
    ),
    "a volume of bfloat16": (
        node("aten::conv3d", input=VOLUME, weight=dense(8, 8, 1, 3, 3, dtype="bfloat16")),
        {"cuda-conv3d-cudnn"},
    ),
    "a volume of bfloat16 by single elements": (
        node("aten::conv3d", input=VOLUME, weight=dense(8, 8, 1, 1, 1, dtype="bfloat16")), set(),
    ),
    "a huge scan": (
        node("aten::cumsum", self=dense(2**16, 2**16, 2), dim=1), {"cuda-scan-large"},
    ),
    "a huge scan along the last": (
        node("aten::cumsum", self=dense(2**16, 2**16, 2), dim=-1), {"cuda-scan-rows-large"},
    ),
    "gradients of huge pooling": (
        node("aten::_adaptive_avg_pool2d_backward", self=dense(2048, 1024, 1024)),
        {"cuda-adaptive-pool-large"},
    ),
    "gradients of pooling": (
        node("aten::_adaptive_avg_pool2d_backward", self=dense(2047, 1024, 1024)), set(),
    ),
    "antialiased": (
        node("aten::_upsample_bicubic2d_aa", self=dense(1, 3, 8, 8)), {"onnx-antialiased-upsample"},
    ),
    "antialiased by a scale": (
        node("aten::_upsample_bicubic2d_aa", self=dense(1, 3, 8, 8), scales_h=0.7, scales_w=2.0),
        {"onnx-antialiased-upsample", "onnxruntime-antialiased-scale"},
    ),
    "antialiased by a half": (
        node("aten::_upsample_bilinear2d_aa", self=dense(1, 3, 8, 8), scales_h=0.5, scales_w=2.0),
        {"onnx-antialiased-upsample"},
    ),
    "floats divided, rounded down, for ONNX": (
        node("aten::div.Tensor_mode", self=dense(8), other=0.1, rounding_mode="floor"),
        {"exported-floor-of-quotient"},
    ),
    "floats divided, rounded to zero, for ONNX": (
        node("aten::div.Tensor_mode", self=dense(8), other=0.1, rounding_mode="trunc"), set(),
    ),
    "a remainder of floats, for ONNX": (
        node("aten::remainder.Scalar", self=dense(8), other=0.1), {"exported-floor-of-quotient"},
    ),
    "a remainder of integers, for ONNX": (
        node("aten::remainder.Scalar", self=dense(8, dtype="int64"), other=3), set(),
    ),
    "dropout that stays on, for OpenVINO": (
        node("aten::native_dropout", input=dense(4, 3), p=0.5, train=True),
        {"openvino-dropout-first-row"},
    ),
    "antialiased with corners aligned": (
        node("aten::_upsample_bilinear2d_aa", self=dense(1, 3, 8, 8), align_corners=True),
        {"onnx-antialiased-upsample", "onnxruntime-antialiased-scale"},
    ),
}  # fmt: skip
GROUPS = (
    USES, network_uses.USES, MPS_USES, MPS_FIX_USES, uses_on_accelerators.USES, gpu_uses.USES,
    uses_of_fixes.USES, tensorrt_uses.USES, cuda_uses.USES, MPS_REPORTED_USES, rocm_uses.USES,
    MPS_LAYER_USES,
    MPS_OPERATOR_USES,
    gpu_thread_uses.USES,
    xpu_uses.USES,
    tpu_uses.USES,
    training_uses.USES,
    compiled_uses.USES,
    mended_cuda_uses.USES,
    mended_rest_uses.USES,
    offset_uses.USES,
    gpu_report_uses.USES,
    change_log_uses.USES,
    mode_uses.USES,
    missed_uses.USES,
    library_uses.USES,
    mode_uses.PUTS,
    mode_uses.CASTS,
    kernel_fix_uses.USES,
    kernel_fix_uses.SHARED,
    npu_uses.USES,
    mps_thread_uses.USES,
    unbounded_uses.USES,
    report_uses.USES,
)  # fmt: skip
"""Of each a use that meets none stands after the one beside which it is held."""


def _held() -> Iterator[tuple[Node, set[str], set[str]]]:
    """Each use with the advisories that it meets, and the first words of those beside them."""
    for uses in GROUPS:
        families: set[str] = set()
        for use, ids in uses.values():
            families = {one.partition("-")[0] for one in ids} or families
            yield use, ids, families


HELD = dict(zip(
    [f"{place}: {name}" for place, uses in enumerate(GROUPS) for name in uses], _held(), strict=True
))  # fmt: skip


@pytest.mark.parametrize("name", HELD)
def test_uses_that_an_advisory_is_about(name: str) -> None:
    use, ids, families = HELD[name]
    assert {one for one in told(use) if one.partition("-")[0] in families} == ids


def test_every_advisory_has_a_use_above() -> None:
    assert set(files()) == set().union(*(ids for _, ids, _ in HELD.values()))
    assert sorted(files()) == FILES


@pytest.mark.parametrize("name", FILES)
def test_every_advisory_says_where_it_was_told(name: str) -> None:
    said = files()[name].data
    assert all(reference["url"].startswith("https://") for reference in said["references"])
    tables = Database.open(ROOT).tables
    higher = {f"higher_order::{name}" for name in HIGHER_ORDERS}  # in no list of the dispatcher's
    known = {*tables.history, *tables.extensions, *higher}
    assert [op for use in said["uses"] for op in use["ops"] if op not in known] == []


@pytest.mark.slow
def test_a_use_that_ends_the_process_does_not_run() -> None:
    """More bins than Metal takes end it with certainty."""
    for bins, runs in ((100, True), (9000, False)):
        model = Applied(partial(torch.histc, bins=bins))
        (target,) = opcheck.scan(model, (torch.rand(64),), targets=["apple-mps@2.6.0"]).targets
        assert target.summary.runs is runs
    (finding, *_) = target.findings
    assert (finding.verdict, finding.reason.code) == (Verdict.UNSUPPORTED, "mps-histogram-bins")


@pytest.mark.slow
def test_an_emulated_device_refuses_such_a_use() -> None:
    with opcheck.emulate("ascend-910b@26.1.0") as device:
        x, by = torch.arange(4, device=device), torch.tensor(1, device=device)
        x >> 1
        with pytest.raises(RuntimeError, match="AI CPU error 507018"):
            x >> by


def test_a_scan_tells_of_it_and_the_call_stays_native() -> None:
    database = Database.open(ROOT)
    target = database.resolve(TargetSpec.parse("ascend-310p@26.1.0+torch2.12"))
    call = replace(USES["a mask"][0], cpu_kernel=True)
    trace = Trace(
        mode="inference", device_type="npu", torch_version="2.12", nodes=(call,),
        uses=(Use(0, "model", "model.py", 3, 1),), sequence=(0,), gaps=(), modules_not_called=(),
    )  # fmt: skip
    (finding,) = resolve(trace, database.matrix(target)).findings
    assert (finding.verdict, finding.reason.code) == (Verdict.NATIVE, "npu-index-put-mask-310p")
    assert "(advisory npu-index-put-mask-310p); use mask.nonzero()" in finding.reason.text
    assert finding.evidence == (
        Evidence(Method.TESTED, "Ascend/pytorch", "issues/153", date="2026-07-27"),
        Evidence(Method.TESTED, "vllm-project/vllm-ascend", "issues/12086", date="2026-07-27"),
    )
    elsewhere = database.resolve(TargetSpec.parse("ascend-910b@26.1.0+torch2.12"))
    (other,) = resolve(trace, database.matrix(elsewhere)).findings
    assert other.reason.code != "npu-index-put-mask-310p"


def test_a_line_of_a_file_at_a_commit_is_cited_as_one() -> None:
    database = Database.open(ROOT)
    matrix = database.matrix(database.resolve(TargetSpec.parse("apple-mps@2.4.1")))
    (condition,) = matrix.conditions["aten::fft_fftfreq"]
    thread, file = condition.evidence
    assert (thread.path, thread.line, thread.commit) == ("issues/135223", None, "")
    assert file.path == "aten/src/ATen/native/mps/operations/RangeFactories.mm"
    assert (file.line, len(file.commit)) == (101, 40)


ADVISORY = """\
schema: opcheck.advisory/1
id: npu-abs
title: abs is negative
date: "2026-01-01"
effect: wrong-values
affects:
  - {vendor: ascend, chips: ["910b"], releases: "..26.0.0", torch: "2.7..2.9"}
uses:
  - ops: [aten::abs]
text: it is negative
fixed_in: torch_npu 26.1.0
confidence: high
method: tested
reason: We saw it.
references:
  - {url: "https://acme.example/reports/7", date: "2026-01-02"}
"""


@pytest.mark.parametrize(
    ("spec", "concerned"),
    [
        ("ascend-910b@26.0.0+torch2.9", True),
        ("ascend-910b@7.3.0+torch2.7", True),
        ("ascend-910b@7.3.0+torch2.6", False),
        ("ascend-910b@26.1.0+torch2.9", False),
        ("ascend-910a@26.0.0+torch2.9", False),
    ],
)
def test_overlays_may_have_advisories(spec: str, concerned: bool, tmp_path: Path) -> None:
    folder = written(tmp_path, **{"advisories__npu-abs": ADVISORY})
    database = Database.open(ROOT, overlays=[folder])
    matrix = database.matrix(database.resolve(TargetSpec.parse(spec)))
    found = [c for c in matrix.conditions.get("aten::abs", ()) if c.code == "npu-abs"]
    expected = Condition(
        "npu-abs", Verdict.NATIVE, "it is negative (advisory npu-abs, fixed in torch_npu 26.1.0)",
        Confidence.HIGH,
        evidence=(
            Evidence(
                Method.TESTED, "acme.example", "reports/7", date="2026-01-02",
                origin=f"{tmp_path.as_posix()}/advisories/npu-abs.yaml",
            ),
        ),
        harmful=True,
    )  # fmt: skip
    assert found == ([expected] if concerned else [])


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("id: npu-abs", "id: npu-neg", "expected the id npu-abs, found 'npu-neg'"),
        ("id: npu-abs", "id: NPU abs", "words with hyphens"),
        ("effect: wrong-values", "effect: odd", "expected one of crash, hang"),
        ('date: "2026-01-01"', "date: soon", "a date such as"),
        ("reason: We saw it.\n", "", "the key 'reason', which is missing"),
        ("https://acme.example", "acme.example", "expected an address"),
        ("[aten::abs]", "[]", "a list of 1 or more"),
    ],
)
def test_damaged_advisories_are_told(old: str, new: str, expected: str, tmp_path: Path) -> None:
    assert old in ADVISORY
    text = ADVISORY.replace(old, new, 1)
    folder = written(tmp_path, **{"advisories__npu-abs": text})
    with pytest.raises(DatabaseError, match=r"npu-abs\.yaml:\d+: ") as caught:
        _ = Database.open(ROOT, overlays=[folder]).additions
    assert expected in caught.value.message


def test_what_is_no_address_is_told_in_chinese(tmp_path: Path) -> None:
    text = ADVISORY.replace("https://acme.example", "acme.example")
    folder = written(tmp_path, **{"advisories__npu-abs": text})
    with pytest.raises(DatabaseError) as caught:
        _ = Database.open(ROOT, overlays=[folder]).additions
    (said,) = in_chinese([caught.value.message])
    assert said.partition("npu-abs.yaml:")[2] == (
        "16：应为网址，实为 'acme.example/reports/7'（位于 references > 0 > url）"
    )


def test_a_vendors_folder_has_none_of_another(tmp_path: Path) -> None:
    written(tmp_path, **{"advisories__apple__npu-abs": ADVISORY})
    database = Database.open(ROOT, overlays=[tmp_path])
    expected = r"npu-abs\.yaml:1: expected an advisory for apple alone, found ascend"
    with pytest.raises(DatabaseError, match=expected):
        database.matrix(database.resolve(TargetSpec.parse("apple-mps")))
    with pytest.raises(DatabaseError, match=expected):
        _ = database.additions
    assert database.matrix(database.resolve(TargetSpec.parse("ascend-910b"))).conditions


def test_an_advisory_may_concern_a_vendor_to_come() -> None:
    vendors = {added.vendor for added in additions()}
    assert {"torch-fl", "onnx"} <= vendors - set(Database.open(ROOT).vendors)
    assert all(isinstance(added, Addition) and added.origin == "" for added in additions())


def _unsaid_defaults(added: Addition) -> Iterator[tuple[str, str]]:
    """Arguments whose default an advisory means, but that calls which leave it out do not meet."""
    for said in added.conditions:
        tests: list[Any] = list(said["tests"])
        for op, test in product(said["ops"], tests):
            if test["subject"] != "value" or "default" in test or not str(op).startswith("aten::"):
                continue
            found = registered(OpName.parse(str(op)))
            if found is None:
                continue
            arguments = found._schema.arguments
            default = {a.name: a.default_value for a in arguments if a.has_default_value()}
            given = Node(OpName.parse(str(op)), tuple(default.items()))
            if test["argument"] in default and read_predicate(test).match(given) is not None:
                yield str(op), test["argument"]


def test_an_argument_left_at_its_default_counts_as_if_it_was_given() -> None:
    """PyTorch hands a kernel no argument that a call leaves at its default."""
    assert [(a.origin, *found) for a in additions() for found in _unsaid_defaults(a)] == []
