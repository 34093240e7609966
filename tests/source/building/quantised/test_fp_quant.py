"""FP-Quant: what its layers hold, which there are, and where they run."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from opcheck.commands.scan import answer as scan_answer
from opcheck.errors import SourceError
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.target import TargetSpec
from opcheck.source.building.quantised.packed import pack
from tests.source.building.quantised.test_cuda_alone import LLAMA, SCHEMAS, held

REAL = {"quant_method": "fp_quant", "forward_dtype": "nvfp4"}
MX = {**REAL, "forward_dtype": "mxfp4", "forward_method": "quest"}
WHOLE = {**REAL, "pseudoquantization": True}
WHOLE_MX = {**MX, "pseudoquantization": True}


def net() -> nn.Sequential:
    return nn.Sequential(nn.Linear(64, 32), nn.Linear(32, 16, bias=False)).to(torch.bfloat16)


def packed(section: dict[str, Any]) -> nn.Sequential:
    made = net()
    assert pack(made, "quantization_config", section, SCHEMAS, valued=2**16)
    return made


def scales(group: int) -> dict[str, tuple[str, tuple[int, ...]]]:
    matrix = "bfloat16", (group, group)
    return {
        "weight_global_scale": ("bfloat16", (1,)), "act_global_scale": ("bfloat16", (1,)),
        "forward_hadamard_matrix": matrix, "backward_hadamard_matrix": matrix,
        "bias": ("bfloat16", (32,)),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("section", "weights", "group"),
    [
        (REAL, {"qweight": ("uint8", (32, 32)), "scales": ("uint8", (32, 4))}, 16),
        (MX, {"qweight": ("uint8", (32, 32)), "scales": ("uint8", (32, 2))}, 32),
        (WHOLE, {"dqweight": ("bfloat16", (32, 64))}, 16),
        ({**WHOLE_MX, "hadamard_group_size": 64}, {"dqweight": ("bfloat16", (32, 64))}, 64),
    ],
)  # fmt: skip
def test_a_layer_holds_what_is_saved(
    section: dict[str, Any], weights: dict[str, Any], group: int
) -> None:
    layer = packed(section)[0].to("meta")
    assert held(layer) == weights | scales(group)
    made = layer(torch.empty(2, 3, 64, dtype=torch.bfloat16, device="meta"))
    assert (tuple(made.shape), made.dtype) == ((2, 3, 32), torch.bfloat16)


@pytest.mark.library
@pytest.mark.parametrize("section", [REAL, MX, WHOLE, WHOLE_MX])
def test_a_layer_holds_what_the_librarys_own_holds(
    section: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    own = pytest.importorskip("fp_quant.module.linear")
    library = pytest.importorskip("fp_quant")
    monkeypatch.setattr(own, "HAS_QUTLASS", True)
    kind = section["forward_dtype"]
    group = {"nvfp4": 16, "mxfp4": 32}[kind]
    config = library.FPQuantConfig(
        forward_dtype=library.FPQuantDtype(kind), backward_dtype=library.FPQuantDtype.BF16,
        forward_method=section.get("forward_method", "abs_max"), hadamard_group_size=group,
    )  # fmt: skip
    made = own.FPQuantLinear(64, 32, config, dtype=torch.bfloat16)
    both = {**held(made)}
    unused = ("weight", "qweight", "scales") if "pseudoquantization" in section else (
        "weight", "dqweight",
    )  # fmt: skip
    assert held(packed(section)[0]) == {k: v for k, v in both.items() if k not in unused}


def test_a_report_says_in_which_dtype_models_are() -> None:
    method = pack(net(), "", REAL, SCHEMAS)
    assert method is not None
    assert method.notes == ("FP-Quant loads models in bfloat16, whatever dtype they have",)


def test_names_that_end_so_stay() -> None:
    kinds = [type(layer).__name__ for layer in packed({**REAL, "modules_to_not_convert": ["1"]})]
    assert kinds == ["FPQuantLinear", "Linear"]


def test_weights_to_train_and_other_dtypes_stay_a_gap() -> None:
    assert pack(net(), "", {**REAL, "store_master_weights": True}, SCHEMAS) is None
    assert pack(net().half(), "", REAL, SCHEMAS) is None


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ({"forward_dtype": "int4"}, "forward_dtype is int4, want nvfp4, mxfp4"),
        ({"forward_method": "quest"}, "forward_method is quest, want abs_max"),
        ({"hadamard_group_size": 24}, "hadamard_group_size is 24, want 16, 32, 64, 128"),
        ({"transform_init": "random"}, "transform_init is random, want hadamard, identity, gsr"),
    ],
)
def test_a_section_that_transformers_refuses_is_an_error(told: dict[str, Any], why: str) -> None:
    with pytest.raises(SourceError) as caught:
        packed({**REAL, **told})
    assert caught.value.message == f"quantization_config: {why}"


REFUSED = False, "unsupported", "library-refuses-device"
RUNS = True, "native", "registered"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("section", "op", "found"),
    [
        (REAL, "linear_nvfp4", {
            "ascend-910b": REFUSED, "nvidia-h100": REFUSED, "intel-arc": REFUSED,
            "amd-mi300x": REFUSED,
        }),
        (WHOLE, "pseudoquantize_nvfp4", {
            "cambricon-mlu370": REFUSED, "nvidia-h100": RUNS, "nvidia-t4": REFUSED,
            "intel-arc": RUNS, "amd-mi300x": (None, "unknown", "library-not-built"),
        }),
        (WHOLE_MX, "pseudoquantize_mxfp4", {"apple-mps": REFUSED, "nvidia-t4": RUNS}),
    ],
)  # fmt: skip
def test_a_config_is_scanned_with_what_each_target_runs_of_it(
    section: dict[str, Any],
    op: str,
    found: dict[str, tuple[bool | None, str, str]],
    tmp_path: Path,
) -> None:
    config = {**LLAMA, "torch_dtype": "bfloat16", "quantization_config": section}
    (tmp_path / "config.json").write_text(json.dumps(config))
    targets = tuple(map(TargetSpec.parse, found))
    report = scan_answer.scan(ScanRequest(ModelSpec(str(tmp_path)), targets))
    assert report.trace.gaps == ()
    answers = {}
    for name, target in zip(found, report.targets, strict=True):
        (one,) = (finding for finding in target.findings if finding.op == f"fp_quant::{op}")
        answers[name] = target.summary.runs, one.verdict.value, one.reason.code
    assert answers == found
