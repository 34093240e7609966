"""auto-round: which layers it packs, what they hold and compute, and where they run."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from opcheck.commands.scan import answer as scan_answer
from opcheck.errors import SourceError
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.target import TargetSpec
from opcheck.model.trace import QUANTISED
from opcheck.source.building.quantised.auto_round_layers import KERNELS
from opcheck.source.building.quantised.packed import pack
from tests.source.building.quantised.asked import Asked
from tests.source.building.quantised.test_experts import MOE, model_of
from tests.source.building.quantised.test_gptqmodel import SCHEMAS, held, words
from tests.source.building.quantised.test_gptqmodel_layouts import in_words

PLAIN = {
    "quant_method": "auto-round", "bits": 4, "group_size": 32, "sym": True, "data_type": "int",
    "packing_format": "auto_round",
}  # fmt: skip
GPTQ = {**PLAIN, "packing_format": "auto_round:auto_gptq"}
AWQ = {**PLAIN, "packing_format": "auto_round:auto_awq"}
VIT = {
    "model_type": "vit", "architectures": ["ViTForImageClassification"], "hidden_size": 64,
    "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2, "image_size": 32,
    "patch_size": 8,
}  # fmt: skip
LLAMA = {
    "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 64,
    "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2,
    "num_key_value_heads": 2, "vocab_size": 128, "torch_dtype": "float16",
}  # fmt: skip


class Net(nn.Module):
    """A block of two layers, and a layer behind it."""

    def __init__(self) -> None:
        super().__init__()
        block = nn.ModuleDict({"up": nn.Linear(64, 96), "down": nn.Linear(96, 64, bias=False)})
        self.layers = nn.ModuleList([block])
        self.head = nn.Linear(64, 32, bias=False)
        self.out = nn.Linear(64, 32, bias=False)


def packed(section: dict[str, Any]) -> Any:
    net = Net()
    assert pack(net, "quantization_config", section, SCHEMAS, valued=2**16)
    return net


def kinds(net: nn.Module) -> dict[str, str]:
    names = ("layers.0.up", "layers.0.down", "head", "out")
    return {name: type(net.get_submodule(name)).__name__ for name in names}


@pytest.mark.parametrize(("section", "bits"), [(PLAIN, 4), (GPTQ, 2), (GPTQ, 3), (PLAIN, 8)])
def test_gptqs_buffers_without_an_order(section: dict[str, Any], bits: int) -> None:
    assert held(packed({**section, "bits": bits}).layers[0]["up"]) == {
        "qweight": ("int32", (2 * bits, 96)),
        "qzeros": ("int32", (2, 3 * bits)),
        "scales": ("float16", (2, 96)),
        "bias": ("float16", (96,)),
    }


def test_awqs_buffers() -> None:
    assert held(packed(AWQ).layers[0]["up"]) == {
        "qweight": ("int32", (64, 12)),
        "qzeros": ("int32", (2, 12)),
        "scales": ("float16", (2, 96)),
        "bias": ("float16", (96,)),
    }


FLOATS = {"bits": 16, "data_type": "fp"}


@pytest.mark.parametrize(
    ("told", "replaced"),
    [
        ({}, ("up", "down")), ({"block_name_to_quantize": "layers"}, ("up", "down")),
        ({"block_name_to_quantize": [["head"]]}, ()),
        ({"extra_config": {"layers.0.up": FLOATS}}, ("down",)),
        ({"extra_config": {".*down": {"bits": 16}, "head": {"bits": 8}}}, ("up", "head")),
        ({"modules_to_not_convert": ["up"]}, ("down",)),
    ],
)  # fmt: skip
def test_layers_of_blocks_and_those_that_are_named(
    told: dict[str, Any], replaced: tuple[str, ...]
) -> None:
    if not replaced:
        assert pack(Net(), "", {**PLAIN, **told}, SCHEMAS) is None
        return
    found = kinds(packed({**PLAIN, **told}))
    assert {name.rpartition(".")[2] for name, kind in found.items() if kind != "Linear"} == {
        *replaced
    }


def test_a_report_says_how_the_kernel_is_chosen() -> None:
    method = pack(Net(), "", PLAIN, SCHEMAS)
    assert method is not None
    assert method.notes == (
        "auto-round chooses its kernel by device_map, and raises where that names another device "
        "than cpu, cuda, xpu, hpu or mps: elsewhere load the model without it, and move it",
    )


@pytest.mark.parametrize(
    "told",
    [
        {"packing_format": "auto_round:llm_compressor"}, {"data_type": "mx_fp"}, {"act_bits": 8},
        {"packing_format": "auto_round:auto_gptq", "sym": False}, {"bits": 5},
        {"backend": "marlin"}, {"rotation_config": {"a": 1}}, {"group_size": 48},
    ],
)  # fmt: skip
def test_other_formats_stay_as_they_are(told: dict[str, Any]) -> None:
    assert pack(Net(), "", {**PLAIN, **told}, SCHEMAS) is None


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ({"bits": 9}, "bits is 9, want 2, 3, 4, 5, 6, 7, 8, 16"),
        ({"group_size": 0}, "group_size is 0, want -1 or a positive integer"),
        ({"extra_config": ["a"]}, "extra_config is ['a'], want names with settings"),
        ({"extra_config": {"a": 3}}, "extra_config: a is 3, want names with settings"),
        ({"bits": "4"}, "bits is '4', want 2, 3, 4, 5, 6, 7, 8, 16"),
        ({"packing_format": "auto_round:awq", "group_size": 48},
         "group_size is 48, which does not divide 64 features"),
    ],
)  # fmt: skip
def test_a_section_that_contradicts_itself_is_an_error(told: dict[str, Any], why: str) -> None:
    with pytest.raises(SourceError) as caught:
        packed({**PLAIN, **told})
    assert caught.value.message == f"quantization_config: {why}"


STRAIGHT = tuple(range(8))


def numbers(most: int) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    torch.manual_seed(0)
    weight, zeros = torch.randint(0, most, (64, 96)), torch.randint(1, most, (2, 96))
    scales = torch.rand(2, 96).half()
    whole = (weight - zeros.repeat_interleave(32, 0)) * scales.float().repeat_interleave(32, 0)
    return torch.rand(3, 64).half(), weight, zeros, scales, whole


@pytest.mark.parametrize("section", [PLAIN, GPTQ])
@pytest.mark.parametrize("bits", [3, 4])
def test_layers_compute_with_the_weights_that_were_packed(
    section: dict[str, Any], bits: int
) -> None:
    x, weight, zeros, scales, whole = numbers(2**bits)
    layer = packed({**section, "bits": bits}).layers[0]["up"]
    zeros = zeros - 1 if section is GPTQ else zeros
    if bits == 3:
        layer.qweight, layer.qzeros = in_words(weight), in_words(zeros.t()).t()
    else:
        layer.qweight, layer.qzeros = words(weight.t(), STRAIGHT).t(), words(zeros, STRAIGHT)
    layer.scales, layer.bias = scales, torch.zeros(96).half()
    torch.testing.assert_close(layer(x).float(), x.float() @ whole, rtol=1e-2, atol=1e-1)


@pytest.mark.library
@pytest.mark.parametrize(
    ("section", "name"), [(PLAIN, "qlinear_torch"), (GPTQ, "qlinear_torch_zp")]
)
@pytest.mark.parametrize("bits", [2, 3, 4, 8])
def test_layers_hold_and_ask_for_what_the_librarys_own_do(
    section: dict[str, Any], name: str, bits: int
) -> None:
    own = pytest.importorskip(f"auto_round_extension.torch.{name}").QuantLinear(
        bits, 32, 64, 96, True
    )
    layer = packed({**section, "bits": bits}).layers[0]["up"]
    assert held(layer) == held(own)
    own.load_state_dict(layer.state_dict())
    x = torch.rand(3, 64).half()
    with torch.no_grad(), Asked() as theirs:
        wanted = own(x)
    given = (x, layer.qweight, layer.qzeros, layer.scales, layer.shifts)
    how = (32, layer.one_less)
    with torch.no_grad(), Asked() as here:
        if bits == 3:
            found = KERNELS["auto_round::three_bit_linear"](*given, *how)
        else:
            found = KERNELS["auto_round::linear"](*given, bits, *how)
        found = found + layer.bias
    assert found.equal(wanted)
    views = "aten.view", "aten._unsafe_view", "aten.unsqueeze"
    asked = [[one for one in mode.seen if not one[0].startswith(views)] for mode in (here, theirs)]
    assert asked[0] == asked[1]


@pytest.mark.slow
@pytest.mark.library
@pytest.mark.parametrize("config", [LLAMA, VIT])
@pytest.mark.parametrize(
    "told",
    [
        {}, {"block_name_to_quantize": "model.layers"},
        {"extra_config": {".*mlp.*": {"bits": 16, "data_type": "fp"}, "lm_head": {"bits": 8}}},
        {"modules_to_not_convert": ["q_proj", "query"]},
    ],
)  # fmt: skip
def test_the_library_replaces_the_same_modules(
    config: dict[str, Any], told: dict[str, Any]
) -> None:
    convert = pytest.importorskip("auto_round.inference.convert_model")
    theirs, ours = model_of(config), model_of(config)
    theirs.config.quantization_config = SimpleNamespace(**PLAIN, **told)
    convert.convert_hf_model(theirs, "cpu")
    pack(ours, "", {**PLAIN, **told}, SCHEMAS)
    replaced = [
        {path for path, module in model.named_modules() if hasattr(module, "qweight")}
        for model in (ours, theirs)
    ]
    assert replaced[0] == replaced[1]


NAMES = (
    "ascend-910b", "cambricon-mlu370", "moorethreads-s4000", "amd-mi300x", "nvidia-t4", "apple-mps",
    "intel-arc",
)  # fmt: skip
HERE, RUNS, NOBODY = (True, "decomposed"), (True, "native"), (None, "unknown")
ON_HOST = True, "fallback"
"""On Ascend shifts of bits run on the AI CPU."""


@pytest.mark.slow
@pytest.mark.parametrize("config", [LLAMA, VIT])
@pytest.mark.parametrize(
    ("section", "op", "ascend", "amd", "nvidia", "intel"),
    [
        (PLAIN, "linear", ON_HOST, NOBODY, RUNS, RUNS),
        (GPTQ, "linear", ON_HOST, NOBODY, RUNS, RUNS),
        ({**PLAIN, "bits": 3}, "three_bit_linear", HERE, HERE, HERE, HERE),
        (AWQ, "awq_linear", HERE, NOBODY, RUNS, NOBODY),
    ],
)  # fmt: skip
def test_a_config_is_scanned_with_what_each_target_runs_of_it(
    config: dict[str, Any],
    section: dict[str, Any],
    op: str,
    ascend: tuple[bool | None, str],
    amd: tuple[bool | None, str],
    nvidia: tuple[bool | None, str],
    intel: tuple[bool | None, str],
    tmp_path: Path,
) -> None:
    (tmp_path / "config.json").write_text(json.dumps({**config, "quantization_config": section}))
    targets = tuple(map(TargetSpec.parse, NAMES))
    report = scan_answer.scan(ScanRequest(ModelSpec(str(tmp_path)), targets))
    assert report.trace.gaps == ()
    found = {}
    for name, target in zip(NAMES, report.targets, strict=True):
        (one,) = (finding for finding in target.findings if finding.op == f"auto_round::{op}")
        found[name] = target.summary.runs, one.verdict.value
    assert found == dict(zip(NAMES, [ascend, HERE, HERE, amd, nvidia, HERE, intel], strict=True))


@pytest.mark.slow
def test_experts_that_are_kept_together_stay_a_gap(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({**MOE, "quantization_config": PLAIN}))
    targets = (TargetSpec.parse("nvidia-h100"),)
    report = scan_answer.scan(ScanRequest(ModelSpec(str(tmp_path)), targets))
    assert {gap.code for gap in report.trace.gaps} == {QUANTISED}
    assert report.targets[0].summary.runs is None
