"""What a plan says of packed weights that Ascend refuses: the format that it has itself."""

import json
from pathlib import Path
from typing import Any

import pytest

from opcheck.commands.plan import answer as plan_answer
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.target import TargetSpec
from tests.source.building.quantised.test_cuda_alone import FBGEMM, LLAMA
from tests.source.building.quantised.test_fp_quant import REAL, WHOLE
from tests.source.building.quantised.test_gptqmodel_layouts import GEMV
from tests.source.building.quantised.test_torchao_others import PLAIN


@pytest.mark.slow
@pytest.mark.parametrize(
    ("section", "op"),
    [
        (FBGEMM, "fbgemm::f8f8bf16_rowwise"), (REAL, "fp_quant::linear_nvfp4"),
        (WHOLE, "fp_quant::pseudoquantize_nvfp4"), (GEMV, "gptqmodel::awq_gemv_linear"),
        (PLAIN, "mslk::bf16i4bf16_rowwise"),
    ],
)  # fmt: skip
def test_msmodelslim_is_proposed(section: dict[str, Any], op: str, tmp_path: Path) -> None:
    config = {**LLAMA, "num_hidden_layers": 1, "dtype": "bfloat16"}
    (tmp_path / "config.json").write_text(json.dumps({**config, "quantization_config": section}))
    targets = (TargetSpec.parse("ascend-910b"),)
    report = plan_answer.plan(ScanRequest(ModelSpec(str(tmp_path)), targets))
    (one,) = (found for found in report.targets[0].findings if found.op == op)
    assert one.verdict.value == "unsupported"
    assert "npu-msmodelslim" in {found.rule for found in one.suggestions}
