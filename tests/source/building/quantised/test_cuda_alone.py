"""Linear layers of FBGEMM and EETQ, which few devices run: what they hold, and where they run."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from opcheck.commands.scan import answer as scan_answer
from opcheck.db.by_hand.libraries import Schemas
from opcheck.errors import SourceError
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.target import TargetSpec
from opcheck.source.building.quantised.eetq import EetqLinear
from opcheck.source.building.quantised.fbgemm import FbgemmFp8Linear
from opcheck.source.building.quantised.packed import pack

SCHEMAS = Schemas(Path(__file__).parents[4] / "compat_db" / "schemas")
FBGEMM = {"quant_method": "fbgemm_fp8", "activation_scale_ub": 1200.0}
EETQ = {"quant_method": "eetq", "weights": "int8"}


def net() -> nn.Sequential:
    return nn.Sequential(nn.Linear(64, 32), nn.Linear(32, 16, bias=False)).bfloat16()


def packed(section: Mapping[str, Any]) -> nn.Sequential:
    made = net()
    assert pack(made, "quantization_config", section, SCHEMAS, valued=2**16)
    return made


def held(module: nn.Module) -> dict[str, tuple[str, tuple[int, ...]]]:
    state = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    return {
        name: (str(t.dtype).removeprefix("torch."), tuple(t.shape)) for name, t in state.items()
    }


def test_fbgemm_has_a_scale_for_each_row() -> None:
    assert held(packed(FBGEMM)[0]) == {
        "weight": ("float8_e4m3fn", (32, 64)),
        "weight_scale": ("float32", (32, 1)),
        "input_scale_ub": ("float32", (1,)),
        "bias": ("bfloat16", (32,)),
    }


def test_eetq_transposes() -> None:
    assert held(packed(EETQ)[0]) == {
        "weight": ("int8", (64, 32)),
        "weight_scales": ("float16", (32,)),
        "bias": ("float16", (32,)),
    }


def test_layers_hold_what_the_librarys_own_hold() -> None:
    fbgemm = pytest.importorskip("transformers.integrations.fbgemm_fp8")
    eetq = pytest.importorskip("transformers.integrations.eetq")
    own = {**held(fbgemm.FbgemmFp8Linear(64, 32, True)), "bias": ("bfloat16", (32,))}
    assert held(packed(FBGEMM)[0]) == own
    assert held(packed(EETQ)[0]) == held(eetq.EetqLinear(64, 32, bias=True))


@pytest.mark.parametrize("section", [FBGEMM, EETQ])
def test_a_layer_gives_the_dtype_and_the_rows_that_came_in(section: dict[str, Any]) -> None:
    layer = packed({**section, "modules_to_not_convert": ["0"]})[1].to("meta")
    made = layer(torch.empty(2, 3, 32, dtype=torch.bfloat16, device="meta"))
    assert (tuple(made.shape), made.dtype) == ((2, 3, 16), torch.bfloat16)


@pytest.mark.parametrize(("section", "kind"), [(FBGEMM, FbgemmFp8Linear), (EETQ, EetqLinear)])
def test_the_last_layer_stays_unless_the_config_names_others(
    section: dict[str, Any], kind: type[nn.Module]
) -> None:
    assert [type(layer) for layer in packed(section)] == [kind, nn.Linear]
    named = packed({**section, "modules_to_not_convert": ["0"]})
    assert [type(layer) for layer in named] == [nn.Linear, kind]


def test_other_dtypes_of_fbgemm_stay_a_gap() -> None:
    assert pack(net().half(), "", FBGEMM, SCHEMAS) is None


@pytest.mark.parametrize(
    ("section", "why"),
    [
        ({**EETQ, "weights": "int4"}, "weights is int4, want int8"),
        ({**FBGEMM, "modules_to_not_convert": "x"},
         "modules_to_not_convert is x, want a list of names"),
    ],
)  # fmt: skip
def test_a_section_that_transformers_refuses_is_an_error(section: dict[str, Any], why: str) -> None:
    with pytest.raises(SourceError) as caught:
        packed(section)
    assert caught.value.message == f"quantization_config: {why}"


LLAMA = {
    "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 256,
    "intermediate_size": 512, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 4, "vocab_size": 1000,
}  # fmt: skip
REFUSED = False, "unsupported", "library-refuses-device"
RUNS = True, "native", "registered"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("section", "dtype", "names", "found"),
    [
        (FBGEMM, "bfloat16", "quantize_fp8_per_row", {
            "ascend-910b": REFUSED, "apple-mps": REFUSED, "nvidia-t4": REFUSED,
            "nvidia-h100": RUNS, "intel-max": RUNS,
            "amd-mi300x": (None, "unknown", "library-not-built"),
            "intel-arc": (None, "unknown", "library-not-built"),
        }),
        (EETQ, "float16", "w8_a16_gemm", {
            "ascend-910b": REFUSED, "moorethreads-s4000": REFUSED, "amd-mi300x": REFUSED,
            "nvidia-t4": RUNS, "nvidia-h100": RUNS, "intel-max": REFUSED,
            "hygon-k100": (None, "unknown", "library-not-built"),
        }),
        (EETQ, "bfloat16", "w8_a16_gemm", {
            "nvidia-h100": (False, "unsupported", "dtype-not-supported"),
        }),
    ],
)  # fmt: skip
def test_a_config_is_scanned_with_what_each_target_runs_of_it(
    section: dict[str, Any],
    dtype: str,
    names: str,
    found: dict[str, tuple[bool | None, str, str]],
    tmp_path: Path,
) -> None:
    config = {**LLAMA, "torch_dtype": dtype, "quantization_config": section}
    (tmp_path / "config.json").write_text(json.dumps(config))
    targets = tuple(map(TargetSpec.parse, found))
    report = scan_answer.scan(ScanRequest(ModelSpec(str(tmp_path)), targets))
    assert report.trace.gaps == ()
    answers = {}
    for name, target in zip(found, report.targets, strict=True):
        (one,) = (finding for finding in target.findings if finding.op.endswith(names))
        assert one.count == 14
        answers[name] = target.summary.runs, one.verdict.value, one.reason.code
    assert answers == found
