"""Linear layers as bitsandbytes packs them: what they hold, what they call, and where that runs."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from opcheck.commands.scan import answer as scan_answer
from opcheck.db.by_hand.libraries import Schemas
from opcheck.errors import SourceError
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.target import TargetSpec
from opcheck.source.building.quantised.packed import pack

SCHEMAS = Schemas(Path(__file__).parents[4] / "compat_db" / "schemas")
NF4 = {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4"}
NESTED = {**NF4, "bnb_4bit_use_double_quant": True, "bnb_4bit_compute_dtype": "bfloat16"}
INT8 = {"quant_method": "bitsandbytes", "load_in_8bit": True}


class Net(nn.Module):
    """Two layers and a head."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(64, 128)
        self.down = nn.Linear(128, 64, bias=False)
        self.head = nn.Linear(64, 10, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Call all three."""
        made: torch.Tensor = self.head(self.down(self.up(x)))
        return made


def packed(section: Mapping[str, Any]) -> Net:
    net = Net()
    assert pack(net, "quantization_config", section, SCHEMAS, valued=2**16)
    return net


def held(module: nn.Module) -> dict[str, tuple[str, tuple[int, ...]]]:
    state = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    return {
        name: (str(t.dtype).removeprefix("torch."), tuple(t.shape)) for name, t in state.items()
    }


class Called(TorchDispatchMode):
    """Notes the operators of the library that are called."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Note one call."""
        if func.namespace == "bitsandbytes":
            self.names.append(func._schema.name.partition("::")[2])
        return func(*args, **(kwargs or {}))


def called(net: Net) -> list[str]:
    with Called() as seen, torch.no_grad():
        assert net.to("meta")(torch.empty(3, 64, device="meta")).shape == (3, 10)
    return list(map(str, seen.names))


def test_two_weights_share_a_byte_and_a_block_a_scale() -> None:
    net = packed(NF4)
    assert held(net.up) == {
        "weight": ("uint8", (64 * 128 // 2, 1)),
        "bias": ("float32", (128,)),
        "absmax": ("float32", (128,)),
        "quant_map": ("float32", (16,)),
    }
    assert type(net.head) is nn.Linear


def test_scales_may_be_packed_themselves() -> None:
    assert held(packed(NESTED).down) == {
        "weight": ("uint8", (64 * 128 // 2, 1)),
        "absmax": ("uint8", (128,)),
        "quant_map": ("float32", (16,)),
        "nested_absmax": ("float32", (1,)),
        "nested_quant_map": ("float32", (256,)),
        "nested_offset": ("float32", ()),
    }


def test_packed_weights_may_be_kept_as_floats() -> None:
    net = packed({**NF4, "bnb_4bit_quant_storage": "bfloat16"})
    assert held(net.down)["weight"] == ("bfloat16", (64 * 128 // 4, 1))


def test_eight_bits_have_a_scale_for_each_row() -> None:
    assert held(packed(INT8).up) == {
        "weight": ("int8", (128, 64)), "bias": ("float32", (128,)), "SCB": ("float32", (128,)),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("section", "layer"),
    [
        (NF4, ["gemm_4bit"]),
        (NESTED, ["gemm_4bit"]),
        (INT8, ["int8_vectorwise_quant", "int8_mixed_scaled_mm"]),
        ({**INT8, "llm_int8_threshold": 0.0}, ["int8_vectorwise_quant", "int8_scaled_mm"]),
    ],
)  # fmt: skip
def test_a_layer_calls_what_the_library_calls(section: dict[str, Any], layer: list[str]) -> None:
    assert called(packed(section)) == 2 * layer


def test_eight_bits_compute_about_the_same() -> None:
    torch.manual_seed(0)
    net = Net()
    x, weight, bias = torch.randn(5, 64), net.up.weight.detach(), net.up.bias.detach()
    pack(net, "", INT8, SCHEMAS)
    small, scale, _ = torch.ops.bitsandbytes.int8_vectorwise_quant(weight)
    layer: Any = net.up
    layer.weight, layer.SCB = nn.Parameter(small, False), scale
    with torch.no_grad():
        found, wanted = layer(x), nn.functional.linear(x, weight, bias)
    error = (found - wanted).abs().max() / wanted.abs().max()
    assert 0 < error < 0.02


def test_bytes_are_taken_apart_with_the_scale_of_their_block() -> None:
    small = torch.arange(96, dtype=torch.uint8).view(-1, 1)
    pack(Net(), "", NF4, SCHEMAS)
    made = torch.ops.bitsandbytes.dequantize_4bit(
        small, torch.ones(3), 64, "nf4", [4, 48], torch.float16
    )
    assert (made.shape, made.dtype) == ((4, 48), torch.float16)
    table = torch.arange(256.0)
    flat = torch.arange(130, dtype=torch.uint8)
    scales = torch.tensor([1.0, 2.0, 3.0])
    found = torch.ops.bitsandbytes.dequantize_blockwise(flat, scales, table, 64, torch.float32)
    assert found.equal(torch.arange(130.0) * scales.repeat_interleave(64)[:130])


@pytest.mark.parametrize(
    ("kept", "left"),
    [(None, ["head"]), ([], []), (["down"], ["down"]), (["u.*"], ["up"]), (["own"], ["down"])],
)
def test_modules_that_the_config_names_stay(kept: list[str] | None, left: list[str]) -> None:
    net = packed({**INT8, "llm_int8_skip_modules": kept})
    assert [name for name, one in net.named_modules() if type(one) is nn.Linear] == left


@pytest.mark.parametrize(
    ("setting", "why"),
    [
        ({"bnb_4bit_compute_dtype": "int9"},
         "bnb_4bit_compute_dtype is int9, want float32, float16, bfloat16"),
        ({"llm_int8_skip_modules": "head"},
         "llm_int8_skip_modules is head, want a list of names"),
        ({"llm_int8_skip_modules": ["("]},
         "llm_int8_skip_modules has '(', which is no regular expression "
         "(missing ), unterminated subpattern at position 0)"),
        ({"bnb_4bit_quant_type": "nf3"}, "bnb_4bit_quant_type is nf3, want nf4, fp4"),
        ({"bnb_4bit_quant_storage": "bool"},
         "bnb_4bit_quant_storage is bool, want uint8, float16, bfloat16, float32"),
    ],
)  # fmt: skip
def test_a_setting_that_is_none_is_an_error(setting: dict[str, Any], why: str) -> None:
    with pytest.raises(SourceError) as caught:
        packed({**NF4, **setting})
    assert caught.value.message == f"quantization_config: {why}"


def test_what_is_not_packed_so_stays_as_it_is() -> None:
    net = Net()
    assert not pack(net, "", {**INT8, "llm_int8_has_fp16_weight": True}, SCHEMAS)
    assert not pack(net, "", {"quant_method": "higgs"}, SCHEMAS)
    assert not pack(net, "", NF4, None)
    assert type(net.up) is nn.Linear


@pytest.mark.library
def test_layers_hold_what_the_librarys_own_hold() -> None:
    bnb = pytest.importorskip("bitsandbytes")
    for section, made in (
        (INT8, bnb.nn.Linear8bitLt(64, 128, has_fp16_weights=False)),
        (NF4, bnb.nn.Linear4bit(64, 128, quant_type="nf4", compress_statistics=False)),
        (NESTED, bnb.nn.Linear4bit(64, 128, quant_type="nf4")),
    ):
        made = made.to("cpu")
        state = {
            name.removeprefix("weight."): (str(t.dtype).removeprefix("torch."), tuple(t.shape))
            for name, t in made.state_dict().items()
            if "bitsandbytes__" not in name and name != "weight_format"
        }
        found = held(packed(section).up)
        found.pop("nested_offset", None)  # which is saved as a number
        assert found == state


LLAMA = {
    "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 256,
    "intermediate_size": 512, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "vocab_size": 1000, "torch_dtype": "float16",
}  # fmt: skip
TARGETS = ("ascend-910b", "nvidia-h100", "intel-arc", "hygon-k100")


@pytest.mark.slow
def test_a_config_is_scanned_with_what_each_target_runs_of_it(tmp_path: Path) -> None:
    config = {**LLAMA, "quantization_config": {**NF4, "bnb_4bit_compute_dtype": "float16"}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    targets = tuple(map(TargetSpec.parse, TARGETS))
    report = scan_answer.scan(ScanRequest(ModelSpec(str(tmp_path)), targets))
    assert report.trace.gaps == ()
    found = {}
    for target in report.targets:
        (one,) = (f for f in target.findings if f.op == "bitsandbytes::gemm_4bit")
        found[target.vendor] = target.summary.runs, one.verdict.value, one.count
    assert found == {
        "ascend": (True, "decomposed", 14),
        "nvidia": (True, "native", 14),
        "intel": (True, "decomposed", 14),
        "hygon": (None, "unknown", 14),
    }
