"""Linear layers as hqq packs them: what they hold, what they compute, and where that runs."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from opcheck.commands.scan import answer as scan_answer
from opcheck.errors import SourceError
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.target import TargetSpec
from opcheck.source.building.quantised.hqq import HQQLinear
from opcheck.source.building.quantised.packed import pack


def section(*skipped: str, **way: Any) -> dict[str, Any]:
    """As a config keeps it, with four bits in groups of sixteen."""
    asked = {"nbits": 4, "group_size": 16, "axis": 1, "view_as_float": False, **way}
    return {
        "quant_method": "hqq",
        "quant_config": {"weight_quant_params": asked, "offload_meta": False},
        "skip_modules": list(skipped),
    }


class Net(nn.Module):
    """Two layers of a block, and one behind it."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.ModuleDict({"up": nn.Linear(64, 48)})])
        self.down = nn.Linear(48, 64, bias=False)
        self.lm_head = nn.Linear(64, 8, bias=False)


def packed(config: Mapping[str, Any]) -> Net:
    net = Net()
    assert pack(net, "quantization_config", config, None, valued=2**16)
    return net


def held(module: nn.Module) -> dict[str, tuple[str, tuple[int, ...]]]:
    state = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    return {
        name: (str(t.dtype).removeprefix("torch."), tuple(t.shape)) for name, t in state.items()
    }


def kinds(net: nn.Module) -> list[str]:
    return [name for name, one in net.named_modules() if isinstance(one, HQQLinear)]


@pytest.mark.parametrize(
    ("way", "weight", "scale"),
    [
        ({}, ("uint8", (96, 16)), (192, 1)),
        ({"axis": 0}, ("uint8", (8, 192)), (1, 192)),
        ({"group_size": None}, ("uint8", (24, 64)), (48, 1)),
        ({"nbits": 8}, ("uint8", (192, 16)), (192, 1)),
        ({"nbits": 3}, ("int32", (20, 16)), (192, 1)),
        ({"nbits": 2}, ("uint8", (48, 16)), (192, 1)),
        ({"nbits": 1}, ("uint8", (24, 16)), (192, 1)),
        ({"view_as_float": True}, ("float32", (96, 4)), (192, 1)),
    ],
)
def test_weights_are_packed_along_groups(
    way: dict[str, Any], weight: tuple[str, tuple[int, ...]], scale: tuple[int, ...]
) -> None:
    assert held(packed(section(**way)).get_submodule("layers.0.up")) == {
        "W_q": weight,
        "bias": ("float32", (48,)),
        "scale": ("float32", scale),
        "zero": ("float32", scale),
    }


@pytest.mark.parametrize("bits", [8, 4, 3, 2, 1])
def test_a_layer_computes_with_the_weights_that_were_packed(bits: int) -> None:
    torch.manual_seed(0)
    layer: Any = packed(section(nbits=bits)).get_submodule("layers.0.up")
    numbers = torch.randint(0, 2**bits, (192, 16), dtype=torch.int32)
    layer.W_q.data = words(numbers, bits)
    layer.scale, layer.zero = torch.rand(192, 1), torch.rand(192, 1)
    whole = ((numbers - layer.zero) * layer.scale).reshape(48, 64)
    x = torch.rand(2, 3, 64)
    with torch.no_grad():
        torch.testing.assert_close(layer(x), nn.functional.linear(x, whole, layer.bias))


def words(numbers: Tensor, bits: int) -> Tensor:
    """Numbers put together, the first part of the rows in the highest bits."""
    count = 10 if bits == 3 else 8 // bits
    padded = nn.functional.pad(numbers, (0, 0, 0, -numbers.shape[0] % count))
    parts = padded.chunk(count)
    made = sum(part << (bits * (count - 1 - at)) for at, part in enumerate(parts))
    assert isinstance(made, Tensor)
    return made if bits == 3 else made.to(torch.uint8)


@pytest.mark.parametrize(
    ("config", "found"),
    [
        (section("lm_head"), ["layers.0.up", "down"]),
        (section("lm_head", "down"), ["layers.0.up"]),
        (section("0.up"), ["layers.0.up", "down", "lm_head"]),
        ({**section(), "quant_config": {"up": section()["quant_config"]}}, ["layers.0.up"]),
        ({**section("up"), "quant_config": {
            "up": section()["quant_config"], "down": section()["quant_config"],
        }}, ["layers.0.up", "down"]),
    ],
)  # fmt: skip
def test_the_config_names_layers_by_the_ends_of_their_paths(
    config: dict[str, Any], found: list[str]
) -> None:
    assert kinds(packed(config)) == found


@pytest.mark.parametrize(
    ("config", "why"),
    [
        ({"quant_method": "hqq"}, "quant_config is None, want an object"),
        ({**section(), "quant_config": {"nbits": 4}},
         "weight_quant_params is None, want an object"),
        ({**section(), "skip_modules": "x"}, "skip_modules is x, want a list of names"),
        (section(nbits=7), "nbits is 7, want 8, 6, 5, 4, 3, 2, 1.58, 1"),
        (section(axis=2), "axis is 2, want 0, 1"),
        (section(group_size=20), "group_size is 20, want a multiple of 8"),
        (section(group_size="64"), "group_size is 64, want a multiple of 8"),
        (section(group_size=40), "group_size is 40, which does not divide 64 features"),
    ],
)  # fmt: skip
def test_a_section_that_the_library_refuses_is_an_error(config: dict[str, Any], why: str) -> None:
    with pytest.raises(SourceError) as caught:
        packed(config)
    assert caught.value.message == f"quantization_config: {why}"


def test_scales_that_stay_on_the_host_are_a_gap() -> None:
    config = section()
    config["quant_config"]["offload_meta"] = True
    net = Net()
    assert pack(net, "", config, None) is None
    assert kinds(net) == []


@pytest.mark.library
def test_layers_hold_what_the_librarys_own_hold() -> None:
    hqq = pytest.importorskip("hqq.core.quantize")
    for bits in (8, 4, 3, 2, 1):
        for axis in (0, 1):
            way = hqq.BaseQuantizeConfig(nbits=bits, group_size=16, axis=axis)
            made = hqq.HQQLinear(nn.Linear(64, 48), way, compute_dtype=torch.float32, device="cpu")
            own = {"W_q": made.W_q, "bias": made.bias, **made.meta}
            found = held(packed(section(nbits=bits, axis=axis)).get_submodule("layers.0.up"))
            assert found == {
                name: (str(own[name].dtype).removeprefix("torch."), tuple(own[name].shape))
                for name in found
            }


LLAMA = {
    "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 256,
    "intermediate_size": 512, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "vocab_size": 1000, "torch_dtype": "float16",
}  # fmt: skip
NAMES = ("ascend-910b", "cambricon-mlu370", "moorethreads-s4000", "nvidia-t4", "apple-mps")


@pytest.mark.slow
def test_a_config_is_scanned_with_what_each_target_runs_of_it(tmp_path: Path) -> None:
    config = {**LLAMA, "quantization_config": section("lm_head", group_size=64)}
    (tmp_path / "config.json").write_text(json.dumps(config))
    targets = tuple(map(TargetSpec.parse, NAMES))
    report = scan_answer.scan(ScanRequest(ModelSpec(str(tmp_path)), targets))
    assert report.trace.gaps == ()
    found = {}
    for name, target in zip(NAMES, report.targets, strict=True):
        (one,) = (f for f in target.findings if f.op == "aten::__rshift__.Scalar")
        found[name] = target.summary.runs, one.verdict.value, one.count
    assert found == {
        "ascend-910b": (True, "native", 14),
        "cambricon-mlu370": (False, "native", 14),  # attention: torch 2.4 has no enable_gqa
        "moorethreads-s4000": (True, "native", 14),
        "nvidia-t4": (True, "native", 14),
        "apple-mps": (True, "native", 14),
    }
