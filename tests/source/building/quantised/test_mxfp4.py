"""Experts of gpt-oss as transformers packs them: what they hold, and what each device runs."""

import json
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
MXFP4: dict[str, Any] = {"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]}
GPT_OSS = {
    "architectures": ["GptOssForCausalLM"], "model_type": "gpt_oss", "hidden_size": 128,
    "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 32, "vocab_size": 512, "num_local_experts": 4,
    "num_experts_per_tok": 2, "layer_types": ["sliding_attention", "full_attention"],
    "torch_dtype": "bfloat16",
}  # fmt: skip


class Router(nn.Module):
    """Scores of four experts, two of which are taken."""

    def __init__(self) -> None:
        super().__init__()
        self.top_k, self.hidden_dim = 2, 128
        self.weight = nn.Parameter(torch.zeros(4, 128))
        self.bias = nn.Parameter(torch.zeros(4))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """All scores, the best ones, and whose they are."""
        scores = nn.functional.linear(x, self.weight, self.bias)
        best, indices = torch.topk(scores, self.top_k)
        return scores, best, indices


class Experts(nn.Module):
    """Four experts, whole, with transformers' names."""

    def __init__(self) -> None:
        super().__init__()
        self.num_experts, self.intermediate_size, self.hidden_size = 4, 64, 128
        self.gate_up_proj = nn.Parameter(torch.zeros(4, 128, 128))
        self.gate_up_proj_bias = nn.Parameter(torch.zeros(4, 128))
        self.down_proj = nn.Parameter(torch.zeros(4, 64, 128))
        self.down_proj_bias = nn.Parameter(torch.zeros(4, 128))

    def forward(self, x: torch.Tensor, indices: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """One product of the first expert stands for all."""
        return x @ self.gate_up_proj[0]


class GptOssMLP(nn.Module):
    """Named as transformers names it."""

    def __init__(self) -> None:
        super().__init__()
        self.router, self.experts = Router(), Experts()


def packed(config: dict[str, Any]) -> nn.Sequential:
    net = nn.Sequential(GptOssMLP(), nn.Linear(8, 8))
    assert pack(net, "quantization_config", config, SCHEMAS, valued=2**16)
    return net


def held(module: nn.Module) -> dict[str, tuple[str, tuple[int, ...]]]:
    return {
        name: (str(t.dtype).removeprefix("torch."), tuple(t.shape))
        for name, t in module.named_parameters()
    }


def test_two_weights_share_a_byte_and_thirty_two_a_scale() -> None:
    assert held(packed(MXFP4).get_submodule("0.experts")) == {
        "gate_up_proj": ("uint8", (4, 128, 64)),
        "gate_up_proj_scales": ("uint8", (4, 128, 4)),
        "gate_up_proj_bias": ("float32", (4, 128)),
        "down_proj": ("uint8", (4, 128, 32)),
        "down_proj_scales": ("uint8", (4, 128, 2)),
        "down_proj_bias": ("float32", (4, 128)),
    }


def test_experts_hold_what_the_librarys_own_hold() -> None:
    library = pytest.importorskip("transformers.integrations.mxfp4")
    config = type("Config", (), dict(GPT_OSS, swiglu_limit=7.0))
    own = held(library.Mxfp4GptOssExperts(config))
    found = held(packed(MXFP4).get_submodule("0.experts"))
    assert {name: found[name] for name in own} == own


def test_experts_that_the_config_names_stay() -> None:
    net = nn.Sequential(GptOssMLP())
    named = {**MXFP4, "modules_to_not_convert": ["0.experts"]}
    assert pack(net, "", named, SCHEMAS) is None
    assert pack(net, "", {**MXFP4, "dequantize": True}, SCHEMAS) is None
    assert pack(net, "", MXFP4, None) is None
    assert set(held(net.get_submodule("0.experts"))) == {
        "gate_up_proj", "gate_up_proj_bias", "down_proj", "down_proj_bias",
    }  # fmt: skip


def test_models_of_other_layers_stay() -> None:
    net = nn.Sequential(nn.Linear(8, 8))
    assert pack(net, "", MXFP4, SCHEMAS) is None


def test_a_list_that_is_none_is_an_error() -> None:
    with pytest.raises(SourceError) as caught:
        packed({**MXFP4, "modules_to_not_convert": "lm_head"})
    said = "quantization_config: modules_to_not_convert is lm_head, want a list of names"
    assert caught.value.message == said


class Called(TorchDispatchMode):
    """Notes the kernels of the library that are called, with the shapes that they give."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        self.calls: list[tuple[str, tuple[int, ...]]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Note one call."""
        made = func(*args, **(kwargs or {}))
        if func.namespace == "gpt_oss_triton_kernels":
            first = made[0] if isinstance(made, tuple | list) else made
            self.calls.append((func._schema.name.partition("::")[2], tuple(first.shape)))
        return made


def test_whole_weights_are_there_where_no_kernel_is() -> None:
    net = packed(MXFP4)
    out, scores = net[0](torch.ones(2, 3, 128))
    assert (tuple(out.shape), tuple(scores.shape)) == ((2, 3, 128), (6, 2))
    assert held(net.get_submodule("0.experts")) == held(packed(MXFP4).get_submodule("0.experts"))


def test_a_kernel_routes_and_two_multiply() -> None:
    experts: Any = packed(MXFP4).get_submodule("0.experts").to("meta")
    x = torch.empty(6, 128, dtype=torch.bfloat16, device="meta")
    logits = torch.empty(6, 4, dtype=torch.bfloat16, device="meta")
    with Called() as seen:
        routes = torch.ops.gpt_oss_triton_kernels.routing(logits, 2)
        out = experts._packed(x, *routes)
    assert seen.calls == [("routing", (12,)), ("matmul_ogs", (12, 64)), ("matmul_ogs", (6, 128))]
    assert [route.dtype for route in routes] == [torch.bfloat16, torch.int32, torch.int32]
    assert out.dtype is torch.bfloat16


NAMES = (
    "nvidia-h100", "nvidia-t4@2.8.0", "intel-arc", "amd-mi300x", "amd-mi250", "hygon-k100",
    "ascend-910b", "apple-mps",
)  # fmt: skip


@pytest.mark.slow
def test_a_config_is_scanned_with_what_each_target_runs_of_it(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({**GPT_OSS, "quantization_config": MXFP4}))
    targets = tuple(map(TargetSpec.parse, NAMES))
    report = scan_answer.scan(ScanRequest(ModelSpec(str(tmp_path)), targets))
    found = {}
    for name, target in zip(NAMES, report.targets, strict=True):
        own = [f for f in target.findings if f.op.startswith("gpt_oss_triton_kernels")]
        found[name] = target.summary.runs, sorted((f.verdict.value, f.count) for f in own)
    native, unknown = [("native", 2), ("native", 4)], [("unknown", 2), ("unknown", 4)]
    assert found == {
        "nvidia-h100": (True, native),
        "nvidia-t4@2.8.0": (True, native),
        "intel-arc": (True, native),
        "amd-mi300x": (True, native),
        "amd-mi250": (None, unknown),
        "hygon-k100": (None, unknown),
        "ascend-910b": (True, []),
        "apple-mps": (True, []),
    }
