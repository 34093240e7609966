"""Linear layers of block-wise FP8: what they hold, and what each device runs in their place."""

import json
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

from opcheck.commands.scan import answer as scan_answer
from opcheck.db.by_hand.libraries import Schemas
from opcheck.errors import SourceError
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.target import TargetSpec
from opcheck.source.building.quantised.fp8_experts import FP8Experts
from opcheck.source.building.quantised.packed import pack
from tests.source.building.quantised.asked import Asked

SCHEMAS = Schemas(Path(__file__).parents[4] / "compat_db" / "schemas")
FP8 = {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128]}


def packed(section: Mapping[str, Any]) -> nn.Sequential:
    net = nn.Sequential(nn.Linear(300, 256), nn.Linear(256, 8, bias=False))
    assert pack(net, "quantization_config", section, SCHEMAS, valued=2**16)
    return net


def held(module: nn.Module) -> dict[str, tuple[str, tuple[int, ...]]]:
    return {
        name: (str(t.dtype).removeprefix("torch."), tuple(t.shape))
        for name, t in module.named_parameters()
    }


@pytest.mark.parametrize(
    ("setting", "scales"),
    [
        ({}, {"weight_scale_inv": ("float32", (2, 3))}),
        ({"weight_block_size": [64, 100]}, {"weight_scale_inv": ("float32", (4, 3))}),
        ({"weight_block_size": None}, {"weight_scale_inv": ("float32", ())}),
        ({"scale_fmt": "ue8m0"}, {"weight_scale_inv": ("float8_e8m0fnu", (2, 3))}),
        (
            {"activation_scheme": "STATIC"},
            {"weight_scale_inv": ("float32", (2, 3)), "activation_scale": ("float32", ())},
        ),
    ],
)
def test_a_block_has_a_scale(
    setting: dict[str, Any], scales: dict[str, tuple[str, tuple[int, ...]]]
) -> None:
    weight = {"weight": ("float8_e4m3fn", (256, 300)), "bias": ("float32", (256,))}
    assert held(packed({**FP8, **setting})[0]) == weight | scales


MXFP8 = {"quant_method": "mxfp8", "weight_block_size": [1, 32], "scale_fmt": "ue8m0"}


@pytest.mark.parametrize("method", ["mxfp8", "fp8"])
def test_mxfp8_has_a_scale_for_32_weights_of_a_row(method: str) -> None:
    net = nn.Sequential(nn.Linear(48, 64), nn.Linear(64, 8))
    kept = {"modules_to_not_convert": ["1"]}
    assert pack(net, "", {**MXFP8, **kept, "quant_method": method}, SCHEMAS) is None  # 48 by 32
    net = nn.Sequential(nn.Linear(64, 48), nn.Linear(48, 8))
    assert pack(net, "", {**MXFP8, **kept, "quant_method": method}, SCHEMAS)
    assert held(net[0]) == {
        "weight": ("float8_e4m3fn", (48, 64)), "bias": ("float32", (48,)),
        "weight_scale_inv": ("float8_e8m0fnu", (48, 2)),
    }  # fmt: skip


@pytest.mark.parametrize(
    "more",
    [{"scale_fmt": "float"}, {"activation_scheme": "static"}, {"weight_block_size": [1, 64]}],
)
def test_blocks_that_no_kernel_takes_stay_a_gap(more: dict[str, Any]) -> None:
    net = nn.Sequential(nn.Linear(64, 64), nn.Linear(64, 8))
    assert pack(net, "", {**MXFP8, **more}, SCHEMAS) is None


def test_layers_hold_what_the_librarys_own_hold() -> None:
    fp8 = pytest.importorskip("transformers.integrations.finegrained_fp8")
    for more in ({}, {"scale_fmt": "ue8m0"}, {"activation_scheme": "static"}):
        own = fp8.FP8Linear(300, 256, block_size=(128, 128), has_bias=True, **more)
        assert held(packed({**FP8, **more})[0]) == held(own)


def test_the_last_layer_stays() -> None:
    assert type(packed(FP8)[1]) is nn.Linear
    assert type(packed({**FP8, "ignored_layers": ["0"]})[0]) is nn.Linear


MOE = {
    "hidden_size": 384, "moe_intermediate_size": 160, "num_experts": 4, "num_experts_per_tok": 2,
    "hidden_act": "silu", "_experts_implementation": "grouped_mm", "num_local_experts": 4,
}  # fmt: skip


class Experts(nn.Module):
    """Named and shaped as transformers has them."""

    def __init__(self, *, gated: bool = True, **more: Any) -> None:
        super().__init__()
        self.config = SimpleNamespace(**{**MOE, **more})
        self.has_gate, self.act_fn = gated, nn.functional.silu
        wide, hidden, count = 160, 384, 4
        up = torch.empty(count, 2 * wide if gated else wide, hidden)
        setattr(self, "gate_up_proj" if gated else "up_proj", nn.Parameter(up))
        self.down_proj = nn.Parameter(torch.empty(count, hidden, wide))

    def forward(self, x: torch.Tensor, indices: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        return x @ self.down_proj[0].T


def net_of(experts: nn.Module) -> nn.ModuleDict:
    return nn.ModuleDict({"experts": experts, "up": nn.Linear(8, 8), "head": nn.Linear(8, 8)})


def mlp(experts: nn.Module, section: Mapping[str, Any] = FP8) -> FP8Experts:
    net = nn.ModuleDict({"mlp": net_of(experts)})
    assert pack(net, "quantization_config", section, SCHEMAS, valued=2**16)
    made = net.get_submodule("mlp.experts")
    assert isinstance(made, FP8Experts)
    return made


@pytest.mark.parametrize("gated", [True, False])
@pytest.mark.parametrize(
    "more",
    [
        {}, {"scale_fmt": "ue8m0"}, {"weight_block_size": [64, 32]},
        {"weight_block_size": [1, 32], "scale_fmt": "ue8m0"},
    ],
)  # fmt: skip
def test_experts_hold_what_the_librarys_own_hold(gated: bool, more: dict[str, Any]) -> None:
    fp8 = pytest.importorskip("transformers.integrations.finegrained_fp8")
    section = {**FP8, **more, "modules_to_not_convert": ["up", "head"]}
    own = fp8.FP8Experts(
        SimpleNamespace(**MOE), section["weight_block_size"], "dynamic",
        section.get("scale_fmt", "float"), has_gate=gated,
    )  # fmt: skip
    assert held(mlp(Experts(gated=gated), section)) == held(own)


CLAMPED = {"swiglu_limit": 7.0}
OSS = {**CLAMPED, "swiglu_alpha": 1.702}
SOFT = {"mlp_gate_softcap": 8.0, "mlp_up_softcap": 4.0}


@pytest.mark.parametrize(
    ("gated", "more"), [(True, {}), (False, {}), (True, CLAMPED), (True, OSS), (True, SOFT)]
)
@pytest.mark.parametrize("section", [FP8, MXFP8])
def test_experts_ask_for_what_the_librarys_own_ask_for(
    gated: bool,
    more: dict[str, Any],
    section: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fp8 = pytest.importorskip("transformers.integrations.finegrained_fp8")
    net = Experts(gated=gated, **more)
    found = mlp(net, {**section, "modules_to_not_convert": ["up", "head"]}).to("meta")
    ours = torch.ops.finegrained_fp8

    def multiplied(a: Any, b: Any, s: Any, *, block_size: Any, **routes: Any) -> Any:
        return ours.matmul_grouped(a, b, s, *routes.values(), list(block_size))

    kernels = fp8.FineGrainedFP8(ours.matmul_2d, None, multiplied)
    monkeypatch.setattr(fp8, "_FINEGRAINED_FP8", kernels)
    config = SimpleNamespace(**MOE, **more)
    block, scales = section["weight_block_size"], section.get("scale_fmt", "float")
    own = fp8.FP8Experts(config, block, scale_fmt=scales, has_gate=gated).to("meta")
    own._is_expert_parallel = False
    with torch.device("meta"):
        given = (
            torch.empty(10, 384, dtype=torch.bfloat16),
            torch.empty(10, 2, dtype=torch.int64),
            torch.empty(10, 2),
        )
    with torch.no_grad(), Asked() as theirs:
        fp8.fp8_grouped_mm_experts_forward(own, *given)
    with torch.no_grad(), Asked() as here:
        found._packed(*given)
    assert here.seen == theirs.seen
    assert here.seen[-1][1:] == ("torch.bfloat16", (10, 384))


def test_experts_are_whole_where_no_kernel_takes_them() -> None:
    experts = mlp(Experts())
    x = torch.ones(10, 160)
    assert experts(x, None, None).shape == (10, 384)
    assert {path for path, _ in experts.named_parameters()} == {
        "gate_up_proj", "gate_up_proj_scale_inv", "down_proj", "down_proj_scale_inv",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("more", "section"),
    [
        ({}, {"activation_scheme": "static"}),
        ({}, {"weight_block_size": None}),
        ({}, {"expert_dtype": "fp4"}),
        ({"_experts_implementation": "eager"}, {}),
    ],
)
def test_other_experts_have_kernels_that_are_not_known(
    more: dict[str, Any], section: dict[str, Any]
) -> None:
    net = nn.ModuleDict({"mlp": net_of(Experts(**more))})
    assert pack(net, "", {**FP8, **section}, SCHEMAS) is None
    assert type(net.get_submodule("mlp.up")) is nn.Linear


def test_experts_that_are_a_list_are_not_known() -> None:
    net = nn.ModuleDict({"mlp": net_of(nn.ModuleList([nn.Linear(8, 8)]))})
    assert pack(net, "", FP8, SCHEMAS) is None


def test_a_format_of_scales_that_is_none_is_an_error() -> None:
    with pytest.raises(SourceError) as caught:
        packed({**FP8, "scale_fmt": "int"})
    message = "quantization_config: scale_fmt is int, want float, ue8m0"
    assert caught.value.message == message


def test_the_kernel_gives_what_comes_in_and_whole_weights_do() -> None:
    packed(FP8)
    x = torch.empty(2, 5, 300, dtype=torch.float16, device="meta")
    weight = torch.empty(256, 300, dtype=torch.float8_e4m3fn, device="meta")
    scale = torch.empty(2, 3, device="meta")
    made = torch.ops.finegrained_fp8.matmul_2d(x, weight, scale, [128, 128], torch.float16)
    assert (tuple(made.shape), made.dtype) == ((2, 5, 256), torch.float16)
    net = packed(FP8).to("meta").half()
    assert net[0](x).dtype is torch.float16


LLAMA = {
    "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 256,
    "intermediate_size": 512, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "vocab_size": 1000, "torch_dtype": "bfloat16",
}  # fmt: skip


@pytest.mark.slow
def test_a_config_is_scanned_with_what_each_target_runs_of_it(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({**LLAMA, "quantization_config": FP8}))
    names = ("nvidia-h100", "nvidia-a100", "ascend-910b", "intel-arc")
    targets = tuple(map(TargetSpec.parse, names))
    report = scan_answer.scan(ScanRequest(ModelSpec(str(tmp_path)), targets))
    assert report.trace.gaps == ()
    found = {}
    for name, target in zip(names, report.targets, strict=True):
        own = [f for f in target.findings if f.op == "finegrained_fp8::matmul_2d"]
        found[name] = target.summary.runs, [(f.verdict.value, f.reason.code, f.count) for f in own]
    assert found == {
        "nvidia-h100": (True, [("native", "registered", 14)]),
        "nvidia-a100": (True, [("decomposed", "weights-made-whole", 14)]),
        "ascend-910b": (True, []),
        "intel-arc": (None, [("unknown", "library-not-built", 14)]),
    }
