"""Linear layers as quanto packs them: what they hold, what they compute, and where that runs."""

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
from opcheck.source.building.quantised.packed import pack
from opcheck.source.building.quantised.quanto import QBitsLinear, QBytesLinear

SCHEMAS = Schemas(Path(__file__).parents[4] / "compat_db" / "schemas")


def section(weights: str, **more: Any) -> dict[str, Any]:
    return {"quant_method": "quanto", "weights": weights, **more}


def packed(config: Mapping[str, Any], columns: int = 256, rows: int = 128) -> nn.Sequential:
    net = nn.Sequential(nn.Linear(columns, rows), nn.Linear(rows, 8, bias=False)).half()
    assert pack(net, "quantization_config", config, SCHEMAS, valued=2**16)
    return net


def held(module: nn.Module) -> dict[str, tuple[str, tuple[int, ...]]]:
    return {
        name: (str(t.dtype).removeprefix("torch."), tuple(t.shape))
        for name, t in module.state_dict().items()
    }


ONE = ("float16", ())
SCALES = {"bias": ("float16", (128,)), "input_scale": ONE, "output_scale": ONE}


@pytest.mark.parametrize(
    ("weights", "columns", "kept"),
    [
        ("int8", 256, {"data": ("int8", (128, 256)), "scale": ("float16", (128, 1))}),
        ("float8", 256, {"data": ("float8_e4m3fn", (128, 256)), "scale": ("float16", (128, 1))}),
        ("int4", 256, {
            "data": ("uint8", (128, 128)), "scale": ("float16", (256, 1)),
            "shift": ("float16", (256, 1)),
        }),
        ("int4", 160, {
            "data": ("uint8", (320, 32)), "scale": ("float16", (640, 1)),
            "shift": ("float16", (640, 1)),
        }),
        ("int2", 100, {
            "data": ("uint8", (32, 100)), "scale": ("float16", (128, 1)),
            "shift": ("float16", (128, 1)),
        }),
    ],
)  # fmt: skip
def test_weights_have_scales_for_each_row_or_group(
    weights: str, columns: int, kept: dict[str, tuple[str, tuple[int, ...]]]
) -> None:
    found = held(packed(section(weights), columns)[0])
    assert found == SCALES | {f"weight_{name}": value for name, value in kept.items()}


@pytest.mark.library
def test_layers_hold_what_the_librarys_own_hold() -> None:
    quanto = pytest.importorskip("optimum.quanto")
    for weights in ("int8", "float8", "int4", "int2"):
        for columns in (256, 160, 100):
            plain = nn.Linear(columns, 128).half()
            made = quanto.QLinear.from_module(plain, weights=getattr(quanto, f"q{weights}"))
            made.freeze()
            own = {
                name.replace("weight._data._data", "weight._data").replace("._", "_"): value
                for name, value in held(made).items()
            }
            assert held(packed(section(weights), columns)[0]) == own


def test_it_is_for_a_layer_of_any_class_and_not_the_last() -> None:
    net = packed(section("int8"))
    assert [type(layer) for layer in net] == [QBytesLinear, nn.Linear]
    net = packed(section("int4", modules_to_not_convert=["0"]))
    assert [type(layer) for layer in net] == [nn.Linear, QBitsLinear]


@pytest.mark.parametrize(
    ("config", "why"),
    [
        (section("int3"), "weights is int3, want float8, int8, int4, int2"),
        (section("int8", activations="int8"),
         "activations is int8, and transformers quantises weights alone by quanto"),
        (section("int8", modules_to_not_convert=3),
         "modules_to_not_convert is 3, want a list of names"),
    ],
)  # fmt: skip
def test_a_section_that_transformers_refuses_is_an_error(config: dict[str, Any], why: str) -> None:
    with pytest.raises(SourceError) as caught:
        packed(config)
    assert caught.value.message == f"quantization_config: {why}"


@pytest.mark.parametrize(("weights", "columns"), [("int4", 256), ("int4", 100), ("int2", 256)])
def test_bits_are_put_together_the_lowest_first(weights: str, columns: int) -> None:
    torch.manual_seed(0)
    layer: Any = packed(section(weights), columns).float()[0]
    count = 8 // layer.bits
    groups, size = layer.weight_scale.shape[0], layer.weight_data.shape[1]
    numbers = torch.randint(0, 2**layer.bits, (groups, size), dtype=torch.int32)
    parts = numbers.chunk(count)
    words = sum(part << (layer.bits * at) for at, part in enumerate(parts))
    assert isinstance(words, torch.Tensor)
    layer.weight_data.data = words.to(torch.uint8)
    layer.weight_scale.uniform_(0, 1)
    layer.weight_shift.uniform_(0, 1)
    whole = (numbers * layer.weight_scale - layer.weight_shift).reshape(128, columns)
    x = torch.rand(2, 3, columns)
    with torch.no_grad():
        torch.testing.assert_close(layer(x), nn.functional.linear(x, whole, layer.bias))


@pytest.mark.parametrize("weights", ["int8", "float8"])
def test_eight_bits_compute_with_the_scale_of_their_row(weights: str) -> None:
    torch.manual_seed(0)
    layer: Any = packed(section(weights)).float()[0]
    numbers = torch.randint(-8, 8, (128, 256))
    layer.weight_data.data = numbers.to(layer.weight_data.dtype)
    layer.weight_scale.uniform_(0, 1)
    x = torch.rand(2, 3, 256)
    with torch.no_grad():
        wanted = nn.functional.linear(x, numbers * layer.weight_scale, layer.bias)
        torch.testing.assert_close(layer(x), wanted)


LLAMA = {
    "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 256,
    "intermediate_size": 512, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 4, "vocab_size": 1000, "torch_dtype": "float16",
}  # fmt: skip
NAMES = ("ascend-910b", "amd-mi300x", "nvidia-h100", "nvidia-t4", "apple-mps", "hygon-k100")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("weights", "dtype", "found"),
    [
        ("int4", "float16", {
            "ascend-910b": (True, "unpack decomposed"),
            "amd-mi300x": (True, "gemm_f16i4_awq decomposed"),
            "nvidia-h100": (True, "gemm_f16i4_awq native"),
            "nvidia-t4": (True, "gemm_f16i4_awq decomposed"),
            "apple-mps": (True, "unpack native"),
            "hygon-k100": (None, "gemm_f16i4_awq unknown"),
        }),
        ("int4", "bfloat16", {
            "ascend-910b": (True, "unpack decomposed"),
            "amd-mi300x": (True, "tinygemm_linear decomposed"),
            "nvidia-h100": (True, "tinygemm_linear native"),
            "nvidia-t4": (True, "tinygemm_linear decomposed"),
            "apple-mps": (True, "unpack native"),
            "hygon-k100": (None, "tinygemm_linear unknown"),
        }),
    ],
)  # fmt: skip
def test_a_config_is_scanned_with_what_each_target_runs_of_it(
    weights: str, dtype: str, found: dict[str, tuple[bool | None, str]], tmp_path: Path
) -> None:
    config = {**LLAMA, "torch_dtype": dtype, "quantization_config": section(weights)}
    (tmp_path / "config.json").write_text(json.dumps(config))
    report = scan_answer.scan(
        ScanRequest(ModelSpec(str(tmp_path)), tuple(map(TargetSpec.parse, NAMES)))
    )
    assert report.trace.gaps == ()
    answers = {}
    for name, target in zip(NAMES, report.targets, strict=True):
        (one,) = (f for f in target.findings if f.op.startswith("quanto::"))
        assert one.count == 14
        answers[name] = target.summary.runs, f"{one.op[len('quanto::') :]} {one.verdict.value}"
    assert answers == found
