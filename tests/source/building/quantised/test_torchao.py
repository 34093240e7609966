"""Linear layers as torchao packs them: what they hold, what they call, and where that runs."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode  # private; checked with torch 2.13
from torch.utils._python_dispatch import TorchDispatchMode

from opcheck.commands.scan import answer as scan_answer
from opcheck.db.by_hand.libraries import Schemas
from opcheck.errors import SourceError
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.target import TargetSpec
from opcheck.source.building.quantised.packed import pack

SCHEMAS = Schemas(Path(__file__).parents[4] / "compat_db" / "schemas")
ROW = {"_type": "PerRow", "_version": 1, "_data": {"dim": -1}}
WHOLE = {"_type": "PerTensor", "_version": 1, "_data": {}}
GROUP = {"_type": "PerGroup", "_version": 1, "_data": {"group_size": 32}}


def section(kind: str, version: int = 2, **data: Any) -> dict[str, Any]:
    """A ``quantization_config`` as transformers saves it."""
    made = {"_type": kind, "_version": version, "_data": data}
    return {"quant_method": "torchao", "quant_type": {"default": made}}


INT8 = section("Int8WeightOnlyConfig", granularity=ROW)
GROUPED = section("Int8WeightOnlyConfig", granularity=GROUP)
DYNAMIC = section("Int8DynamicActivationInt8WeightConfig", granularity=ROW)
SHIFTED = section(
    "Int8DynamicActivationInt8WeightConfig", granularity=WHOLE,
    act_mapping_type={"_type": "MappingType", "_data": "ASYMMETRIC"},
)  # fmt: skip
FLOAT8 = section("Float8WeightOnlyConfig", granularity=GROUP)
SCALED = section("Float8DynamicActivationFloat8WeightConfig", granularity=[ROW, ROW])
SCALED_WHOLE = section("Float8DynamicActivationFloat8WeightConfig")
INT4 = section("Int4WeightOnlyConfig", group_size=32, int4_packing_format="tile_packed_to_4d")


class Net(nn.Module):
    """Two layers and a head."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(64, 96, dtype=torch.bfloat16)
        self.odd = nn.Linear(96, 40, bias=False, dtype=torch.bfloat16)
        self.head = nn.Linear(40, 10, bias=False, dtype=torch.bfloat16)

    def forward(self, x: Tensor) -> Tensor:
        """Call all three."""
        made: Tensor = self.head(self.odd(self.up(x)))
        return made


def packed(config: Mapping[str, Any]) -> Net:
    net = Net()
    assert pack(net, "quantization_config", config, SCHEMAS, valued=2**16)
    return net


def held(module: nn.Module) -> dict[str, tuple[str, tuple[int, ...]]]:
    return {
        name: (str(t.dtype).removeprefix("torch."), tuple(t.shape))
        for name, t in module.named_parameters()
    }


class Called(TorchDispatchMode):
    """Notes the operators that are called, but for views, with the dtypes that they give."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        self.calls: list[tuple[str, str]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Note one call."""
        made = func(*args, **(kwargs or {}))
        if func not in (torch.ops.aten.view.default, torch.ops.aten._unsafe_view.default):
            self.calls.append((str(func), str(made.dtype)))
        return made


def called(layer: nn.Module, x: Tensor) -> list[tuple[str, str]]:
    with Called() as seen, torch.no_grad():
        layer(x)
    return list(seen.calls)


BIAS = {"bias": ("bfloat16", (96,))}


@pytest.mark.parametrize(
    ("config", "names"),
    [
        (INT8, {"_weight_qdata": ("int8", (96, 64)), "_weight_scale": ("float32", (96, 1)),
                "_weight_zero_point": ("int8", (96, 1))}),
        (GROUPED, {"_weight_qdata": ("int8", (96, 64)), "_weight_scale": ("float32", (96, 2)),
                   "_weight_zero_point": ("int8", (96, 2))}),
        (SHIFTED, {"_weight_qdata": ("int8", (96, 64)), "_weight_scale": ("float32", (1, 1)),
                   "_weight_zero_point": ("int8", (1, 1))}),
        (SCALED, {"_weight_qdata": ("float8_e4m3fn", (96, 64)),
                  "_weight_scale": ("float32", (96, 1))}),
        (INT4, {"_weight_qdata": ("int32", (12, 8, 32, 4)),
                "_weight_scale_and_zero": ("bfloat16", (32, 96, 2))}),
    ],
)  # fmt: skip
def test_a_layer_holds_what_is_saved(
    config: dict[str, Any], names: dict[str, tuple[str, tuple[int, ...]]]
) -> None:
    assert held(packed(config).up) == names | BIAS


@pytest.mark.library
def test_layers_call_what_the_librarys_own_weights_call(monkeypatch: pytest.MonkeyPatch) -> None:
    ao = pytest.importorskip("torchao.quantization")
    product = pytest.importorskip("torchao.kernel.intmm")
    # some CPUs multiply by unsigned integers, and take the difference off: for speed alone
    monkeypatch.setattr(product, "_cpu_is_vnni_supported", lambda: False)
    core = pytest.importorskip("torchao.core.config")
    flows = pytest.importorskip("torchao.quantization.quantize_.workflows")
    x = torch.randn(2, 20, 64, dtype=torch.bfloat16)
    for config in (INT8, GROUPED, DYNAMIC, SHIFTED, FLOAT8, SCALED, SCALED_WHOLE):
        own = nn.Linear(64, 96, dtype=torch.bfloat16)
        given = core.config_from_dict(config["quant_type"]["default"])
        if isinstance(given, ao.Float8DynamicActivationFloat8WeightConfig):  # refuses a CPU
            first, second = given.granularity
            kwargs = flows.QuantizeTensorToFloat8Kwargs(torch.float8_e4m3fn, first)
            own.weight = nn.Parameter(
                flows.Float8Tensor.from_hp(
                    own.weight.detach(), granularity=second, mm_config=given.mm_config,
                    act_quant_kwargs=kwargs,
                ),
                False,
            )  # fmt: skip
        else:
            ao.quantize_(own, given)
        assert called(packed(config).up, x) == called(own, x)
        weight: Any = own.weight
        names = [*weight.tensor_data_names, *getattr(weight, "optional_tensor_data_names", ())]
        tensors = {f"_weight_{name}": getattr(weight, name) for name in names}
        assert held(packed(config).up) == BIAS | {
            name: (str(t.dtype).removeprefix("torch."), tuple(t.shape))
            for name, t in tensors.items()
            if t is not None
        }


def filled(config: Mapping[str, Any]) -> tuple[Any, Tensor]:
    """A layer with bytes of eight and scales of a quarter, and the weight that they mean."""
    layer: Any = packed(config).up
    small = torch.arange(96 * 64).reshape(96, 64).remainder(7) - 3.0
    with torch.no_grad():
        layer._weight_qdata.copy_(small)
        layer._weight_scale.fill_(0.25)
        layer.bias.zero_()
        if hasattr(layer, "_weight_zero_point"):
            layer._weight_zero_point.zero_()
    return layer, small * 0.25


@pytest.mark.parametrize(
    "config", [INT8, GROUPED, DYNAMIC, SHIFTED, FLOAT8, SCALED, SCALED_WHOLE]
)  # fmt: skip
def test_a_layer_multiplies_by_the_weights_that_were_packed(config: dict[str, Any]) -> None:
    torch.manual_seed(0)
    layer, weight = filled(config)
    x = torch.randn(2, 20, 64, dtype=torch.bfloat16)
    with torch.no_grad():
        found, wanted = layer(x), nn.functional.linear(x.float(), weight)
    assert found.dtype is torch.bfloat16
    error = (found.float() - wanted).abs().max() / wanted.abs().max()
    assert 0 < error < 0.04


def test_four_bits_are_multiplied_in_whole_tiles() -> None:
    with FakeTensorMode(allow_non_fake_inputs=True):
        made = packed(INT4).up(torch.empty(2, 20, 64, dtype=torch.float16))
    assert (tuple(made.shape), made.dtype) == ((2, 20, 96), torch.float16)


def kinds(net: nn.Module) -> list[str]:
    return [type(module).__name__ for module in net.children()]


@pytest.mark.parametrize(
    ("config", "found"),
    [
        (INT8, ["Int8Linear", "Int8Linear", "Linear"]),
        ({**INT8, "modules_to_not_convert": ["up"]}, ["Linear", "Int8Linear", "Int8Linear"]),
        ({**INT8, "modules_to_not_convert": []}, ["Int8Linear", "Int8Linear", "Int8Linear"]),
        (SCALED, ["Float8Linear", "Linear", "Linear"]),
        (section("Int4WeightOnlyConfig", group_size=64, int4_packing_format="TILE_PACKED_TO_4D"),
         ["Int4Linear", "Linear", "Linear"]),
    ],
)  # fmt: skip
def test_the_library_replaces_these(config: dict[str, Any], found: list[str]) -> None:
    assert kinds(packed(config)) == found


@pytest.mark.parametrize(
    "config",
    [
        section("Int4WeightOnlyConfig", group_size=32, int4_packing_format="preshuffled"),
        section("Int4WeightOnlyConfig", 1, group_size=32),
        section("Float8DynamicActivationFloat8WeightConfig",
                kernel_preference={"_type": "KernelPreference", "_data": "MSLK"}),
        {**INT8, "include_input_output_embeddings": True},
    ],
)  # fmt: skip
def test_other_kernels_and_parts_stay_as_they_are(config: dict[str, Any]) -> None:
    net = Net()
    assert pack(net, "", config, None) is None
    assert kinds(net) == ["Linear", "Linear", "Linear"]


@pytest.mark.parametrize(
    ("config", "why"),
    [
        ({"quant_method": "torchao", "quant_type": "int4_weight_only"},
         "quant_type is int4_weight_only, want a configuration of torchao under default"),
        ({"quant_method": "torchao"},
         "quant_type is None, want a configuration of torchao under default"),
        (section("Int8WeightOnlyConfig", 1),
         "quant_type is version 1 of Int8WeightOnlyConfig, which torchao has removed"),
        (section("Int8WeightOnlyConfig", granularity={"_type": "PerToken", "_data": {}}),
         "granularity is PerToken, want PerTensor, PerRow, PerGroup"),
        (section("Int8WeightOnlyConfig", granularity={**GROUP, "_data": {"group_size": 48}}),
         "group_size is 48, which does not divide 64 features"),
        (section("Int8DynamicActivationInt8WeightConfig", granularity=GROUP),
         "granularity is PerGroup, want PerTensor, PerRow"),
        (section("Int4WeightOnlyConfig", group_size=0, int4_packing_format="tile_packed_to_4d"),
         "group_size is 0, want a positive integer"),
        ({**INT8, "modules_to_not_convert": "head"},
         "modules_to_not_convert is head, want a list of names"),
    ],
)  # fmt: skip
def test_a_section_that_the_library_refuses_is_an_error(config: dict[str, Any], why: str) -> None:
    with pytest.raises(SourceError) as caught:
        packed(config)
    assert caught.value.message == f"quantization_config: {why}"


LLAMA = {
    "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 256,
    "intermediate_size": 512, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "vocab_size": 1000, "torch_dtype": "bfloat16",
}  # fmt: skip
NAMES = (
    "ascend-910b", "moorethreads-s4000", "amd-mi300x", "nvidia-h100", "nvidia-t4", "apple-mps",
    "intel-arc",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("config", "op", "runs"),
    [
        (DYNAMIC, "aten::_int_mm", [True, True, True, True, True, True, True]),
        (SCALED, "aten::_scaled_mm", [False, False, False, True, False, False, True]),
        (INT4, "aten::_weight_int4pack_mm", [False, False, True, True, False, None, False]),
    ],
)
def test_a_config_is_scanned_with_what_each_target_runs_of_it(
    config: dict[str, Any], op: str, runs: list[bool | None], tmp_path: Path
) -> None:
    (tmp_path / "config.json").write_text(json.dumps({**LLAMA, "quantization_config": config}))
    targets = tuple(map(TargetSpec.parse, NAMES))
    report = scan_answer.scan(ScanRequest(ModelSpec(str(tmp_path)), targets))
    assert [target.summary.runs for target in report.targets] == runs
    (cuda,) = (found for found in report.targets[3].findings if found.op == op)
    assert (cuda.verdict.value, cuda.count) == ("native", 14)
