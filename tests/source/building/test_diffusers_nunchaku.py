"""Nunchaku Lite's layers in parts of diffusers pipelines: what they hold, and where they run."""

import copy
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import diffusers
import pytest
import torch
from torch import nn

from opcheck.commands.scan import answer as scan_answer
from opcheck.errors import SourceError
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.target import TargetSpec
from opcheck.source.base import LoadOptions
from opcheck.source.building.huggingface.diffusers_quantised import factory, note, packed
from opcheck.source.model_folder import read_config
from tests.source.building.test_diffusers_quantised import FLUX, SCHEMAS, written

BLOCK = "single_transformer_blocks.0."
WIDE = {**FLUX, "attention_head_dim": 64, "axes_dims_rope": [16, 24, 24]}
SVDQ = {"precision": "int4", "group_size": 64, "rank": 32, "targets": [f"{BLOCK}proj_mlp"]}
FOUR: dict[str, Any] = {"quant_method": "nunchaku_lite", "svdq_w4a4": SVDQ}
FLOATS = {**FOUR, "svdq_w4a4": {**SVDQ, "precision": "nvfp4", "group_size": 16}}
AWQ: dict[str, Any] = {
    "quant_method": "nunchaku_lite", "compute_dtype": "float16",
    "awq_w4a16": {"precision": "int4", "group_size": 64, "targets": [f"{BLOCK}norm.linear"]},
}  # fmt: skip
ROWS = {**AWQ, "awq_w4a16": {**AWQ["awq_w4a16"], "targets": [f"{BLOCK}proj_mlp"]}}
"""A layer that is called on many rows at once."""
NOTE = (
    "diffusers loads Nunchaku Lite's kernels from rootonchair/nunchaku-lite-kernels of the Hub, "
    "where DIFFUSERS_TRUST_REMOTE_KERNELS=true is set"
)


def part(folder: Path, section: dict[str, Any]) -> tuple[nn.Module, tuple[Any, ...]]:
    path = written(folder, section, WIDE)
    config, options = read_config(path), LoadOptions(libraries=SCHEMAS)
    model = factory(lambda: diffusers.FluxTransformer2DModel.from_config(WIDE), config, options)()
    return model, packed(model, path, config, options)


def held(layer: nn.Module) -> dict[str, tuple[str, tuple[int, ...]]]:
    return {
        name: (str(value.dtype).removeprefix("torch."), tuple(value.shape))
        for name, value in layer.state_dict().items()
    }


INT4 = {
    "qweight": ("int8", (512, 64)), "bias": ("bfloat16", (512,)), "wscales": ("bfloat16", (2, 512)),
    "smooth_factor": ("bfloat16", (128,)), "proj_down": ("bfloat16", (128, 32)),
    "proj_up": ("bfloat16", (512, 32)),
}  # fmt: skip
NVFP4 = {
    **INT4, "wscales": ("float8_e4m3fn", (8, 512)), "wcscales": ("bfloat16", (512,)),
    "wtscale": ("bfloat16", (1,)),
}  # fmt: skip
GROUPS = {
    "qweight": ("int32", (96, 64)), "bias": ("float16", (384,)), "wscales": ("float16", (2, 384)),
    "wzeros": ("float16", (2, 384)),
}  # fmt: skip


@pytest.mark.parametrize(
    ("section", "name", "expected", "dtype"),
    [
        (FOUR, "proj_mlp", INT4, "bfloat16"),
        (FLOATS, "proj_mlp", NVFP4, "bfloat16"),
        (AWQ, "norm.linear", GROUPS, "float16"),
    ],
)
def test_layers_that_are_named_are_packed(
    tmp_path: Path, section: dict[str, Any], name: str, expected: dict[str, Any], dtype: str
) -> None:
    model, (gaps, notes) = part(tmp_path, section)
    assert (gaps, notes) == ((), (NOTE, note(dtype)))
    layer = model.get_submodule(f"{BLOCK}{name}").to("meta")
    assert held(layer) == expected
    kinds = [type(module).__name__ for module in model.modules()]
    assert kinds.count("SVDQLinear") + kinds.count("AWQLinear") == 1
    kind = getattr(torch, dtype)
    for rows in (1, 3, 20):
        made = layer(torch.empty(rows, 128, dtype=kind, device="meta"))
        assert (tuple(made.shape), made.dtype) == ((rows, expected["bias"][1][0]), kind)


@pytest.mark.library
@pytest.mark.parametrize("section", [FOUR, FLOATS, AWQ])
def test_layers_hold_what_the_librarys_own_hold(
    tmp_path: Path, section: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    model, _ = part(tmp_path, section)
    utils = pytest.importorskip("diffusers.utils")
    kernels: Any = ModuleType("kernels")
    kernels.get_kernel = lambda *_, **__: SimpleNamespace(ops=None)
    monkeypatch.setitem(sys.modules, "kernels", kernels)
    monkeypatch.setattr(utils, "is_kernels_available", lambda: True)
    constants = pytest.importorskip("diffusers.utils.constants")
    monkeypatch.setattr(constants, "DIFFUSERS_TRUST_REMOTE_KERNELS", True)
    library = pytest.importorskip("diffusers.quantizers.nunchaku.utils")
    theirs: nn.Module = diffusers.FluxTransformer2DModel.from_config(WIDE)
    dtype = getattr(torch, section.get("compute_dtype", "bfloat16"))
    theirs.to(dtype)
    given = {name: section.get(name) for name in ("svdq_w4a4", "awq_w4a16")}
    assert library.replace_with_nunchaku_linear(theirs, given, dtype) == 1
    assert held(model) == held(theirs)


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ({"svdq_w4a4": None}, "it names layers neither in svdq_w4a4 nor in awq_w4a16"),
        ({"svdq_w4a4": ["x"]}, "svdq_w4a4 is ['x'], want settings"),
        ({"svdq_w4a4": {**SVDQ, "precision": "fp8"}},
         "svdq_w4a4: precision is fp8, want int4, nvfp4"),
        ({"svdq_w4a4": {**SVDQ, "group_size": 16}}, "svdq_w4a4: group_size is 16, want 64"),
        ({"svdq_w4a4": {**SVDQ, "rank": -1}}, "svdq_w4a4: rank is -1, want a positive integer"),
        ({"svdq_w4a4": {**SVDQ, "targets": []}},
         "svdq_w4a4: targets is , want a list of names"),
        ({"svdq_w4a4": {**SVDQ, "targets": ["layers.0"]}},
         "svdq_w4a4: targets names 'layers.0', which is no linear layer of the model"),
        ({"compute_dtype": "int4"}, "compute_dtype is int4, want bfloat16, float16, float32"),
        ({"awq_w4a16": {"precision": "nvfp4"}}, "awq_w4a16: precision is nvfp4, want int4"),
    ],
)  # fmt: skip
def test_a_section_that_diffusers_refuses_is_an_error(
    tmp_path: Path, told: dict[str, Any], why: str
) -> None:
    with pytest.raises(SourceError) as caught:
        part(tmp_path, copy.deepcopy({**FOUR, **told}))
    assert caught.value.message == f"{tmp_path / 'config.json'}: quantization_config: {why}"
    assert caught.value.hint == "diffusers refuses to load such a config; correct it"


REFUSED = False, "unsupported", "library-refuses-device"
UNKNOWN = None, "unknown", "library-not-built"
RUNS = True, "native", "registered"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("section", "op", "found"),
    [
        (FOUR, "svdq_int4_linear", {
            "ascend-910b": REFUSED, "amd-mi300x": REFUSED, "nvidia-h100": REFUSED,
            "apple-mps": REFUSED, "nvidia-a100": RUNS, "nvidia-orin": UNKNOWN,
            "nvidia-t4": (None, "unknown", "dtype-not-supported"), "amd-rx7900xt": UNKNOWN,
        }),
        (FLOATS, "svdq_nvfp4_linear", {"nvidia-a100": REFUSED, "cambricon-mlu370": REFUSED}),
        (ROWS, "awq_gemm_w4a16_g64_int32", {"nvidia-t4": UNKNOWN, "nvidia-a100": RUNS}),
        (AWQ, "gemv_awq", {"nvidia-t4": RUNS, "nvidia-rtx4090": RUNS, "intel-arc": REFUSED}),
    ],
)  # fmt: skip
def test_a_part_is_scanned_with_what_each_target_runs_of_it(
    tmp_path: Path,
    section: dict[str, Any],
    op: str,
    found: dict[str, tuple[bool | None, str, str]],
) -> None:
    written(tmp_path, section, WIDE)
    targets = tuple(map(TargetSpec.parse, found))
    report = scan_answer.scan(ScanRequest(ModelSpec(str(tmp_path)), targets))
    assert report.trace.gaps == ()
    answers = {}
    for name, target in zip(found, report.targets, strict=True):
        (one,) = (finding for finding in target.findings if finding.op == f"nunchaku_lite::{op}")
        answers[name] = target.summary.runs, one.verdict.value, one.reason.code
    assert answers == found
