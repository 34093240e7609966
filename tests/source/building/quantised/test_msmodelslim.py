"""Ascend's layers for the weights that msModelSlim packs: what they hold, and where they run."""

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
from opcheck.source.base import LoadOptions
from opcheck.source.building.quantised.packed import pack, unseen_of

SCHEMAS = Schemas(Path(__file__).parents[4] / "compat_db" / "schemas")
LAYERS = ("q_proj", "k_proj", "v_proj", "out")


class Net(nn.Module):
    """Three projections and a layer behind them."""

    def __init__(self) -> None:
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(64, 32) for _ in range(3))
        self.out = nn.Linear(32, 8, bias=False)
        self.bfloat16()


def section(*words: str | None, **more: str) -> dict[str, Any]:
    """The file's words for the layers, in their order."""
    said = {f"{name}.weight": word for name, word in zip(LAYERS, words, strict=True) if word}
    return {"model_quant_type": "W8A8", **said, **more, "quant_method": "msmodelslim"}


def packed(config: Mapping[str, Any], dtype: torch.dtype = torch.bfloat16) -> Net:
    net = Net().to(dtype)
    assert pack(net, "quant_model_description.json", config, SCHEMAS, valued=2**16)
    return net


def held(module: nn.Module) -> dict[str, tuple[str, tuple[int, ...]]]:
    state = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    return {
        name: (str(t.dtype).removeprefix("torch."), tuple(t.shape)) for name, t in state.items()
    }


WEIGHT = {
    "weight": ("int8", (64, 32)), "weight_scale": ("bfloat16", (32,)),
    "weight_offset": ("bfloat16", (32,)),
}  # fmt: skip


@pytest.mark.parametrize(
    ("word", "more"),
    [
        ("W8A8_DYNAMIC", {"bias": ("bfloat16", (32,))}),
        ("W8A16", {"bias": ("bfloat16", (32,))}),
        ("W8A8", {
            "quant_bias": ("int32", (32,)), "deq_scale": ("float32", (32,)),
            "aclnn_input_scale": ("bfloat16", (64,)),
            "aclnn_input_scale_reciprocal": ("bfloat16", (64,)),
            "aclnn_input_offset": ("bfloat16", (64,)),
        }),
    ],
)  # fmt: skip
def test_weights_are_transposed_with_a_scale_for_each_row(
    word: str, more: dict[str, tuple[str, tuple[int, ...]]]
) -> None:
    net = packed(section(word, word, word, "FLOAT"))
    assert held(net.q_proj) == WEIGHT | more
    assert type(net.out) is nn.Linear


def test_scales_of_half_floats_are_packed_in_integers() -> None:
    net = packed(section("W8A8", "W8A8", "W8A8", "FLOAT"), torch.float16)
    assert held(net.q_proj)["deq_scale"] == ("int64", (32,))


@pytest.mark.parametrize("word", ["W8A8", "W8A8_DYNAMIC", "W8A16"])
def test_a_layer_gives_the_dtype_and_the_rows_that_came_in(word: str) -> None:
    layer = packed(section(word, word, word, "FLOAT")).q_proj.to("meta")
    made = layer(torch.empty(2, 5, 64, dtype=torch.bfloat16, device="meta"))
    assert (tuple(made.shape), made.dtype) == ((2, 5, 32), torch.bfloat16)


@pytest.mark.parametrize(
    ("config", "why"),
    [
        (section("W8A8", "W8A8", None, "FLOAT"), "v_proj.weight is missing"),
        (section("W8A8", "W8A8", "FLOAT", "FLOAT"),
         "v_proj.weight is FLOAT, while q_proj beside it is W8A8"),
    ],
)  # fmt: skip
def test_a_file_that_vllm_ascend_refuses_is_an_error(config: dict[str, Any], why: str) -> None:
    with pytest.raises(SourceError) as caught:
        packed(config)
    assert caught.value.message == f"quant_model_description.json: {why}"
    assert str(caught.value.hint).startswith("vllm-ascend refuses")


@pytest.mark.parametrize(
    "config",
    [
        section("W4A8_DYNAMIC", "W4A8_DYNAMIC", "W4A8_DYNAMIC", "FLOAT"),
        section("W8A8", "W8A8", "W8A8", "FLOAT", **{"mlp.experts.0.up_proj.weight": "W8A8"}),
        section("FLOAT", "FLOAT", "FLOAT", "FLOAT"),
        {**section("W8A8", "W8A8", "W8A8", "FLOAT"), "out.weight": ["W8A8"]},
    ],
)  # fmt: skip
def test_other_words_and_other_weights_stay_a_gap(config: dict[str, Any]) -> None:
    net = Net()
    assert pack(net, "", config, SCHEMAS) is None
    assert type(net.q_proj) is nn.Linear


LLAMA = {
    "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 256,
    "intermediate_size": 512, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 4, "vocab_size": 1000,
}  # fmt: skip
NAMES = (
    "ascend-910b", "ascend-910b@6.0.0", "ascend-910b@5.0.0", "ascend-310p", "nvidia-h100",
    "moorethreads-s4000",
)  # fmt: skip
PARTS = (
    "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj",
    "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj",
)  # fmt: skip


def test_a_file_that_is_broken_or_not_alone_is_not_read(tmp_path: Path) -> None:
    options, net = LoadOptions(libraries=SCHEMAS), Net()
    config = tmp_path / "config.json"
    file = tmp_path / "quant_model_description.json"
    file.write_text("{")
    assert unseen_of(net, config, {}, options) == ((), ())
    words = section("W8A8", "W8A8", "W8A8", "FLOAT")
    file.write_text(json.dumps(words))
    (tmp_path / "quantize_config.json").write_text('{"bits": 4}')
    gaps, _ = unseen_of(net, config, {}, options)
    assert [Path(gap.where).name for gap in gaps] == ["quantize_config.json", file.name]
    assert type(net.q_proj) is nn.Linear


@pytest.mark.slow
@pytest.mark.parametrize(
    ("word", "dtype", "op", "on_910b", "on_310p"),
    [
        ("W8A8", "float16", "npu_quantize", (True, "native"), (True, "native")),
        ("W8A8_DYNAMIC", "bfloat16", "npu_dynamic_quant", (True, "native"), (False, "unsupported")),
        ("W8A8_DYNAMIC", "float16", "npu_quant_matmul", (None, "unknown"), (None, "unknown")),
        ("W8A16", "float16", "npu_weight_quant_batchmatmul", (True, "native"), (True, "native")),
    ],
)
def test_a_folder_is_scanned_with_what_each_target_runs_of_it(
    word: str,
    dtype: str,
    op: str,
    on_910b: tuple[bool | None, str],
    on_310p: tuple[bool | None, str],
    tmp_path: Path,
) -> None:
    (tmp_path / "config.json").write_text(json.dumps({**LLAMA, "torch_dtype": dtype}))
    said = {f"model.layers.{at}.{part}.weight": word for at in (0, 1) for part in PARTS}
    said |= {f"{name}.weight": "FLOAT" for name in ("lm_head", "model.norm", "model.embed_tokens")}
    (tmp_path / "quant_model_description.json").write_text(json.dumps(said))
    report = scan_answer.scan(
        ScanRequest(ModelSpec(str(tmp_path)), tuple(map(TargetSpec.parse, NAMES)))
    )
    assert report.trace.gaps == ()
    found = {}
    for name, target in zip(NAMES, report.targets, strict=True):
        (one,) = (finding for finding in target.findings if finding.op == f"npu::{op}")
        assert one.count == 14
        found[name] = target.summary.runs, one.verdict.value
    assert found == {
        "ascend-910b": on_910b,
        "ascend-910b@6.0.0": on_910b,
        "ascend-910b@5.0.0": (False, "unsupported"),
        "ascend-310p": on_310p,
        "nvidia-h100": (False, "unsupported"),
        "moorethreads-s4000": (False, "unsupported"),
    }
