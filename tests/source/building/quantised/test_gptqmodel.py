"""GPTQ and AWQ layers as GPTQModel has them: buffers, what they compute, and where they run."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from opcheck.commands.scan import answer as scan_answer
from opcheck.db.by_hand.libraries import Schemas
from opcheck.errors import SourceError
from opcheck.lang.speech import Language, speaking, tell
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.target import TargetSpec
from opcheck.source.building.quantised.gptqmodel_layers import AWQLinear, GPTQLinear
from opcheck.source.building.quantised.packed import pack

SCHEMAS = Schemas(Path(__file__).parents[4] / "compat_db" / "schemas")
GPTQ = {"quant_method": "gptq", "bits": 4, "group_size": 32}
AWQ = {"quant_method": "awq", "bits": 4, "group_size": 32, "version": "GEMM"}


class Net(nn.Module):
    """A block of two layers, and a layer behind it."""

    def __init__(self) -> None:
        super().__init__()
        block = nn.ModuleDict({"up": nn.Linear(64, 96), "down": nn.Linear(96, 64, bias=False)})
        self.layers = nn.ModuleList([block])
        self.out = nn.Linear(64, 8, bias=False)


def packed(section: Mapping[str, Any]) -> Net:
    net = Net()
    assert pack(net, "quantization_config", section, SCHEMAS, valued=2**16)
    return net


def kinds(net: nn.Module) -> dict[str, str]:
    names = ("layers.0.up", "layers.0.down", "out")
    return {name: type(net.get_submodule(name)).__name__ for name in names}


def held(module: nn.Module) -> dict[str, tuple[str, tuple[int, ...]]]:
    return {
        name: (str(t.dtype).removeprefix("torch."), tuple(t.shape))
        for name, t in module.state_dict().items()
    }


def test_gptq_packs_what_comes_in() -> None:
    assert held(packed(GPTQ).get_submodule("layers.0.up")) == {
        "qweight": ("int32", (8, 96)),
        "qzeros": ("int32", (2, 12)),
        "scales": ("float16", (2, 96)),
        "g_idx": ("int32", (64,)),
        "bias": ("float16", (96,)),
    }


def test_a_group_may_be_a_whole_row_and_weights_of_eight_bits() -> None:
    net = packed({**GPTQ, "bits": 8, "group_size": -1})
    assert held(net.get_submodule("layers.0.down")) == {
        "qweight": ("int32", (24, 64)),
        "qzeros": ("int32", (1, 16)),
        "scales": ("float16", (1, 64)),
        "g_idx": ("int32", (96,)),
    }


@pytest.mark.parametrize("section", [GPTQ, AWQ])
def test_only_a_few_elements_have_values(section: dict[str, Any]) -> None:
    """Values of hundreds of layers cost a second to write and a second to copy for a run."""
    net = Net()
    net.set_submodule("layers.0.up", nn.Linear(512, 1024, bias=False))
    assert pack(net, "quantization_config", section, SCHEMAS)
    packed = net.get_submodule("layers.0.up")
    assert type(packed).__name__ in ("GPTQLinear", "AWQLinear")
    assert {tensor.is_meta for tensor in packed.state_dict().values()} == {True}


def test_awq_packs_what_goes_out() -> None:
    assert held(packed(AWQ).get_submodule("layers.0.up")) == {
        "qweight": ("int32", (64, 12)),
        "qzeros": ("int32", (2, 12)),
        "scales": ("float16", (2, 96)),
        "bias": ("float16", (96,)),
    }


@pytest.mark.parametrize(
    ("section", "up", "down", "out"),
    [
        (GPTQ, "GPTQLinear", "GPTQLinear", "Linear"),
        ({**GPTQ, "modules_in_block_to_quantize": [["down"]]}, "Linear", "GPTQLinear", "Linear"),
        ({**GPTQ, "block_name_to_quantize": "out"}, "Linear", "Linear", "GPTQLinear"),
        (AWQ, "AWQLinear", "AWQLinear", "Linear"),
        ({**AWQ, "modules_to_not_convert": ["up"]}, "Linear", "AWQLinear", "Linear"),
    ],
)
def test_the_library_replaces_these(section: dict[str, Any], up: str, down: str, out: str) -> None:
    found = kinds(packed(section))
    assert found == {"layers.0.up": up, "layers.0.down": down, "out": out}


@pytest.mark.parametrize(
    "section",
    [
        {**GPTQ, "checkpoint_format": "marlin"}, {**AWQ, "bits": 8}, {**AWQ, "backend": "marlin"},
        {**GPTQ, "backend": "exllama_v2"},
    ],
)  # fmt: skip
def test_other_layouts_stay_as_they_are(section: dict[str, Any]) -> None:
    assert pack(Net(), "", section, SCHEMAS) is None


def test_layouts_of_awq_that_transformers_does_not_know_are_an_error() -> None:
    for layout in ("ipex", "exllama"):
        with pytest.raises(SourceError) as caught:
            pack(Net(), "c", {**AWQ, "version": layout}, SCHEMAS)
        said = f"c: version is {layout}, want gemm, gemv, gemv_fast, llm-awq"
        assert caught.value.message == said


def test_a_group_of_gptq_has_128_weights_where_the_config_does_not_tell() -> None:
    net = nn.Sequential()
    net.add_module("layers", nn.Sequential(nn.Linear(256, 64)))
    told = {key: value for key, value in GPTQ.items() if key != "group_size"}
    assert pack(net, "", told, SCHEMAS)
    assert held(net.get_submodule("layers.0"))["scales"] == ("float16", (2, 64))


def test_features_that_fill_no_word_are_an_error() -> None:
    net = nn.Sequential(nn.Linear(64, 12), nn.Linear(12, 3))
    with pytest.raises(SourceError) as caught:
        pack(net, "c", AWQ, SCHEMAS)
    said = "c: a layer gives 12 features, and AWQ packs 8 of them in a word"
    assert caught.value.message == said
    with speaking(Language.CHINESE):
        assert tell(caught.value.message) == "c：某层输出 12 个特征，而 AWQ 把 8 个打包进一个字"


def test_groups_that_do_not_fit_are_an_error() -> None:
    with pytest.raises(SourceError) as caught:
        packed({**AWQ, "group_size": 48})
    said = "quantization_config: group_size is 48, which does not divide 64 features"
    assert caught.value.message == said
    with pytest.raises(SourceError) as caught:
        packed({**AWQ, "group_size": 0})
    said = "quantization_config: group_size is 0, want -1 or a positive integer"
    assert caught.value.message == said


def test_gptq_packs_text_models_alone() -> None:
    net = Net()
    net.main_input_name = "pixel_values"  # type: ignore[assignment]  # as models of transformers have it
    with pytest.raises(SourceError) as caught:
        pack(net, "c", GPTQ, SCHEMAS)
    assert caught.value.message == "c: Net is no text model, and GPTQ packs these alone"


def words(values: Tensor, order: tuple[int, ...]) -> Tensor:
    """Eight numbers of four bits in each integer, along the last dimension."""
    groups = values.to(torch.int64).reshape(*values.shape[:-1], -1, 8)[..., list(order)]
    whole = (groups << (4 * torch.arange(8))).sum(-1)
    return torch.where(whole >= 2**31, whole - 2**32, whole).to(torch.int32)


def numbers() -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Inputs, weights, zeros, scales, and the weights as they are meant."""
    torch.manual_seed(0)
    weight, zeros = torch.randint(0, 16, (64, 96)), torch.randint(0, 16, (2, 96))
    scales = torch.rand(2, 96).half()
    whole = (weight - zeros.repeat_interleave(32, 0)) * scales.float().repeat_interleave(32, 0)
    return torch.rand(3, 64).half(), weight, zeros, scales, whole


STRAIGHT = tuple(range(8))


def test_gptq_computes_with_the_weights_that_were_packed() -> None:
    x, weight, zeros, scales, whole = numbers()
    layer: Any = packed(GPTQ).get_submodule("layers.0.up")
    assert isinstance(layer, GPTQLinear)
    layer.qweight, layer.qzeros = words(weight.t(), STRAIGHT).t(), words(zeros, STRAIGHT)
    layer.scales, layer.g_idx = scales, torch.arange(64, dtype=torch.int32) // 32
    layer.bias = torch.zeros(96).half()
    torch.testing.assert_close(layer(x).float(), x.float() @ whole, rtol=1e-2, atol=1e-1)


def test_awq_computes_with_the_weights_that_were_packed() -> None:
    x, weight, zeros, scales, whole = numbers()
    layer: Any = packed(AWQ).get_submodule("layers.0.up")
    assert isinstance(layer, AWQLinear)
    order = (0, 2, 4, 6, 1, 3, 5, 7)
    layer.qweight, layer.qzeros, layer.scales = words(weight, order), words(zeros, order), scales
    layer.bias = torch.zeros(96).half()
    torch.testing.assert_close(layer(x).float(), x.float() @ whole, rtol=1e-2, atol=1e-1)


LLAMA = {
    "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 256,
    "intermediate_size": 512, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 4, "vocab_size": 1000, "torch_dtype": "float16",
}  # fmt: skip
NAMES = ("ascend-910b", "moorethreads-s4000", "amd-mi300x", "nvidia-t4", "apple-mps", "intel-max")


@pytest.mark.slow
@pytest.mark.parametrize(("section", "amd"), [(GPTQ, "decomposed"), (AWQ, "native")])
def test_a_config_is_scanned_with_what_each_target_runs_of_it(
    section: dict[str, Any], amd: str, tmp_path: Path
) -> None:
    (tmp_path / "config.json").write_text(json.dumps({**LLAMA, "quantization_config": section}))
    report = scan_answer.scan(
        ScanRequest(ModelSpec(str(tmp_path)), tuple(map(TargetSpec.parse, NAMES)))
    )
    assert report.trace.gaps == ()
    op = f"gptqmodel::{section['quant_method']}_linear"
    found = {}
    for name, target in zip(NAMES, report.targets, strict=True):
        (one,) = (finding for finding in target.findings if finding.op == op)
        found[name] = target.summary.runs, one.verdict.value, one.count
    assert found == {
        "ascend-910b": (True, "decomposed", 14),
        "moorethreads-s4000": (False, "unsupported", 14),
        "amd-mi300x": (True, amd, 14),
        "nvidia-t4": (True, "native", 14),
        "apple-mps": (True, "decomposed", 14),
        "intel-max": (None, "unknown", 14),
    }
