"""No target runs packed weights for which nobody has shown a kernel, whatever packs them."""

import json
import zlib
from pathlib import Path
from typing import Any

import pytest
from diffusers import FluxTransformer2DModel

from opcheck.commands.scan import answer as scan_answer
from opcheck.errors import SourceError
from opcheck.lang.speech import tell
from opcheck.model.report import Finding, Report
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.target import TargetSpec
from opcheck.model.trace import QUANTISED
from tests.source.building.quantised.test_auto_round import GPTQ as AUTO_ROUND
from tests.source.building.quantised.test_auto_round import LLAMA, VIT
from tests.source.building.quantised.test_compressed_tensors import LOCAL, NVFP4
from tests.source.building.quantised.test_compressed_tensors import section as compressed
from tests.source.building.quantised.test_experts import MOE, NF4
from tests.source.building.quantised.test_fp8 import FP8, MXFP8
from tests.source.building.quantised.test_fp_quant import WHOLE
from tests.source.building.quantised.test_gptqmodel import AWQ, GPTQ
from tests.source.building.quantised.test_gptqmodel_layouts import THREE
from tests.source.building.quantised.test_quark import BOTH, UINT4, WEIGHTS
from tests.source.building.quantised.test_quark import section as quark
from tests.source.building.quantised.test_torchao_others import INT32
from tests.source.building.test_diffusers_gguf import file_of, listed
from tests.source.building.test_diffusers_nunchaku import AWQ as AWQ_OF_PARTS
from tests.source.building.test_diffusers_nunchaku import FLOATS, FOUR, WIDE
from tests.source.building.test_diffusers_quantised import INT8, QUANTO, written
from tests.whole import WHOLE as EVERY_TARGET

TARGETS = (
    "ascend-910b", "ascend-310p", "cambricon-mlu370", "moorethreads-s4000", "amd-mi300x",
    "nvidia-h100", "nvidia-t4", "apple-mps", "intel-arc",
)  # fmt: skip
METHODS: dict[str, dict[str, Any]] = {
    "bitsandbytes": NF4, "gptq": GPTQ, "three bits": THREE, "awq": AWQ, "auto-round": AUTO_ROUND,
    "fp8": FP8, "mxfp8": MXFP8, "torchao": INT32, "fp_quant": WHOLE,
    "compressed-tensors": compressed("nvfp4-pack-quantized", NVFP4, LOCAL, ignore=["lm_head"]),
    "quark": quark(BOTH, exclude=["lm_head"]),
    "quark's integers": quark({**WEIGHTS, "weight": UINT4}, exclude=["lm_head"]),
    "sinq": {"quant_method": "sinq"}, "fouroversix": {"quant_method": "fouroversix"},
}  # fmt: skip
OF_IMAGES = ("bitsandbytes", "gptq", "awq", "auto-round", "fp8", "compressed-tensors", "quark")
OF_EXPERTS = ("gptq", "auto-round", "mxfp8", "quark's integers")
PARTS: dict[str, dict[str, Any]] = {
    "bitsandbytes": {**NF4, "load_in_4bit": True}, "torchao": INT8, "quanto": QUANTO,
    "auto-round": {**AUTO_ROUND, "group_size": 32}, "svdquant int4": FOUR, "svdquant nvfp4": FLOATS,
    "awq": AWQ_OF_PARTS, "gguf": {}, "modelopt": {"quant_method": "modelopt", "quant_type": "FP8"},
    "sdnq": {"quant_method": "sdnq", "weights_dtype": "int8"},
}  # fmt: skip
TEXT_ALONE = "is no text model, and GPTQ packs these alone"
FEW_LABELS = "a layer gives 2 features, and AWQ packs 8 of them in a word"


def targets_for(name: str, sort: str = "") -> tuple[TargetSpec, ...]:
    """Every third of the targets, each of them for some of the methods; all where asked."""
    begin = zlib.crc32(f"{sort} {name}".encode()) % 3
    return tuple(map(TargetSpec.parse, TARGETS if EVERY_TARGET else TARGETS[begin::3]))


def scanned(config: dict[str, Any], name: str, folder: Path) -> Report:
    written = {**config, "dtype": "bfloat16", "quantization_config": METHODS[name]}
    (folder / "config.json").write_text(json.dumps(written))
    targets = targets_for(name, str(config["model_type"]))
    return scan_answer.scan(ScanRequest(ModelSpec(str(folder)), targets))


def is_shown(found: Finding) -> bool:
    """Whether an operator runs, by a kernel or by others, and what says so is named."""
    return found.verdict.value in ("native", "decomposed", "fallback") and bool(found.evidence)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("config", "name"),
    [
        *(pytest.param(LLAMA, name, id=f"llama {name}") for name in METHODS),
        *(pytest.param(VIT, name, id=f"vit {name}") for name in OF_IMAGES),
        *(pytest.param(MOE, name, id=f"moe {name}") for name in OF_EXPERTS),
    ],
)
def test_packed_operators_that_run_have_a_kernel_that_is_cited(
    config: dict[str, Any], name: str, tmp_path: Path
) -> None:
    try:
        report = scanned(config, name, tmp_path)
    except SourceError as error:
        assert config is VIT
        assert tell(error.message).endswith((TEXT_ALONE, FEW_LABELS))
        return
    assert_shown(report)


@pytest.mark.slow
@pytest.mark.parametrize("name", PARTS)
def test_packed_operators_of_a_part_have_a_kernel_that_is_cited(name: str, tmp_path: Path) -> None:
    path = written(tmp_path, PARTS[name], WIDE)
    if name == "gguf":
        model = FluxTransformer2DModel.from_config(WIDE)
        path = file_of(tmp_path, list(listed(model, {})))
    report = scan_answer.scan(ScanRequest(ModelSpec(str(path)), targets_for(name)))
    gaps = {gap.code for gap in report.trace.gaps}
    assert gaps == ({QUANTISED} if name in ("modelopt", "sdnq") else set())
    assert_shown(report)


def assert_shown(report: Report) -> None:
    """No target runs the model but by packed operators for which a kernel is cited."""
    unseen = QUANTISED in {gap.code for gap in report.trace.gaps}
    for target in report.targets:
        if target.summary.runs is None:
            continue
        assert not (unseen and target.summary.runs)
        packed = [found for found in target.findings if not found.op.startswith("aten::")]
        if target.summary.runs:
            assert [found.op for found in packed if not is_shown(found)] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sinq", "fouroversix"])
def test_a_method_that_is_not_known_is_a_gap(name: str, tmp_path: Path) -> None:
    report = scanned(LLAMA, name, tmp_path)
    assert {gap.code for gap in report.trace.gaps} == {QUANTISED}
    assert {target.summary.runs for target in report.targets} <= {None, False}
