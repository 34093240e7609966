"""Linear layers of compressed-tensors: what they hold, compute and call, and where that runs."""

import copy
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from opcheck.commands.scan import answer as scan_answer
from opcheck.db.by_hand.libraries import Schemas
from opcheck.errors import SourceError
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.target import TargetSpec
from opcheck.source.building.quantised.compressed_fp4 import KERNELS
from opcheck.source.building.quantised.packed import pack

SCHEMAS = Schemas(Path(__file__).parents[4] / "compat_db" / "schemas")
W4 = {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 32}
SHIFTED = {**W4, "symmetric": False}
W8 = {"num_bits": 8, "type": "int", "strategy": "channel"}
FLOAT = {"num_bits": 8, "type": "float", "strategy": "tensor"}
BLOCK = {"num_bits": 8, "type": "float", "strategy": "block", "block_structure": [32, 48]}
TOKEN = {"num_bits": 8, "type": "int", "strategy": "token", "dynamic": True}
WHOLE = {**TOKEN, "strategy": "tensor", "symmetric": False}
STATIC = {"num_bits": 8, "type": "int", "strategy": "tensor", "symmetric": False}
GROUP = {**FLOAT, "strategy": "group", "group_size": 32, "dynamic": True}
NVFP4 = {"num_bits": 4, "type": "float", "strategy": "tensor_group", "group_size": 16,
         "scale_dtype": "torch.float8_e4m3fn"}  # fmt: skip
LOCAL = {**NVFP4, "dynamic": "local"}
MXFP4 = {**W4, "type": "float", "scale_dtype": "torch.uint8"}
MXFP8 = {**MXFP4, "num_bits": 8}
FORMS = [
    ("pack-quantized", W4, None), ("pack-quantized", SHIFTED, None),
    ("int-quantized", W8, TOKEN), ("int-quantized", W8, WHOLE), ("int-quantized", W8, STATIC),
    ("float-quantized", FLOAT, FLOAT), ("float-quantized", BLOCK, GROUP),
    ("naive-quantized", FLOAT, None), ("pack-quantized", W8, None),
    ("pack-quantized", {**W4, "num_bits": 2}, None),
    ("pack-quantized", {**W4, "num_bits": 3}, None),
    ("pack-quantized", {**SHIFTED, "num_bits": 5}, None), ("int-quantized", W4, TOKEN),
    ("int-quantized", W4, {**TOKEN, "num_bits": 4}), ("int-quantized", W4, GROUP),
    ("nvfp4-pack-quantized", NVFP4, None), ("nvfp4-pack-quantized", NVFP4, LOCAL),
    ("mxfp4-pack-quantized", MXFP4, None), ("mxfp8-quantized", MXFP8, None),
]  # fmt: skip


def section(form: str, weights: Any, inputs: Any = None, **more: Any) -> dict[str, Any]:
    """A ``quantization_config`` as transformers saves it."""
    group = {"targets": ["Linear"], "weights": weights, "input_activations": inputs}
    return {
        "quant_method": "compressed-tensors", "format": form,
        "quantization_status": "compressed", "config_groups": {"group_0": group},
        "ignore": ["head"], **more,
    }  # fmt: skip


class Net(nn.Module):
    """Two layers and a head."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(64, 96, dtype=torch.bfloat16)
        self.down = nn.Linear(96, 64, bias=False, dtype=torch.bfloat16)
        self.head = nn.Linear(64, 10, bias=False, dtype=torch.bfloat16)


def packed(config: Mapping[str, Any]) -> Net:
    net = Net()
    assert pack(net, "quantization_config", config, SCHEMAS, valued=2**16)
    return net


def held(module: nn.Module) -> dict[str, tuple[str, tuple[int, ...]]]:
    return {
        name: (str(t.dtype).removeprefix("torch."), tuple(t.shape))
        for name, t in module.state_dict().items()
    }


@pytest.mark.parametrize(
    ("config", "names"),
    [
        (section("pack-quantized", SHIFTED),
         {"weight_packed": ("int32", (96, 8)), "weight_scale": ("bfloat16", (96, 2)),
          "weight_shape": ("int64", (2,)), "weight_zero_point": ("int32", (12, 2))}),
        (section("int-quantized", W8, STATIC),
         {"weight": ("int8", (96, 64)), "weight_scale": ("bfloat16", (96, 1)),
          "input_scale": ("bfloat16", (1,)), "input_zero_point": ("int8", (1,))}),
        (section("float-quantized", BLOCK, GROUP),
         {"weight": ("float8_e4m3fn", (96, 64)), "weight_scale": ("bfloat16", (3, 2))}),
    ],
)  # fmt: skip
def test_a_layer_holds_what_is_saved(
    config: dict[str, Any], names: dict[str, tuple[str, tuple[int, ...]]]
) -> None:
    assert held(packed(config).up) == names | {"bias": ("bfloat16", (96,))}


class Called(TorchDispatchMode):
    """Notes the operators that are called, with the dtypes that they give."""

    LEFT_OUT = (
        "aten.view.default", "aten._unsafe_view.default", "aten.detach.default",
        "aten.lift_fresh.default",
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        self.calls: list[tuple[str, str]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Note one call, but for views of the same elements."""
        made = func(*args, **(kwargs or {}))
        if str(func) not in self.LEFT_OUT and isinstance(made, Tensor):
            self.calls.append((str(func), str(made.dtype)))
        return made


@pytest.mark.library
@pytest.mark.parametrize(("form", "weights", "inputs"), FORMS)
def test_layers_hold_call_and_give_what_the_librarys_own_do(
    form: str, weights: Any, inputs: Any
) -> None:
    library = pytest.importorskip("compressed_tensors.quantization")
    compressors = pytest.importorskip("compressed_tensors.compressors.base")
    config = section(form, weights, inputs)
    own = nn.Sequential(nn.Linear(64, 96, dtype=torch.bfloat16))
    given = library.QuantizationConfig.model_validate(copy.deepcopy(config))
    library.apply_quantization_config(own, given, show_progress=False)
    for name, value in own.named_parameters():
        if "zero_point" not in name:
            value.data = (torch.rand(value.shape) * 0.1 + 0.01).to(value.dtype)
    compressors.compress_module(own[0])
    layer = packed(config).up
    assert held(layer) == held(own[0])
    layer.load_state_dict(own[0].state_dict())
    x = torch.randn(2, 20, 64, dtype=torch.bfloat16)
    with torch.no_grad():
        again = copy.deepcopy(own[0])
        compressors.decompress_module(again)
        again(x)  # which makes the ends of a dtype, once for each device
        with Called() as called:
            compressors.decompress_module(own[0])
            wanted = own[0](x)
        with Called() as found:
            made = layer(x)
    assert made.equal(wanted)
    shape = [("aten.slice.Tensor", "torch.int64"), ("aten.select.int", "torch.int64")]
    theirs = [call for call in called.calls if call not in shape]
    if packed_by_words(form, weights) or inputs == LOCAL:
        assert is_part([call for call in found.calls if call[0] != CAST], theirs)
    else:
        assert found.calls == theirs


CAST = "compressed_tensors.cast_to_fp4.default"


def packed_by_words(form: str, weights: Mapping[str, Any]) -> bool:
    """Whether the library computes where numbers are, which is there before here."""
    return form == "pack-quantized" and weights["num_bits"] != 4


def is_part(calls: list[tuple[str, str]], of: list[tuple[str, str]]) -> bool:
    """Whether all calls are among others, in their order."""
    rest = iter(of)
    return all(call in rest for call in calls)


@pytest.mark.library
def test_floats_of_four_bits_are_made_as_the_library_makes_them() -> None:
    own = pytest.importorskip("compressed_tensors.quantization.utils.fp4_utils")
    x = torch.linspace(-7, 7, 4001)
    with Called() as called:
        wanted = own.cast_to_fp4(x)
    with Called() as found:
        made = KERNELS["compressed_tensors::cast_to_fp4"](x)
    assert made.equal(wanted)
    assert found.calls == called.calls


def test_packed_weights_are_taken_apart() -> None:
    layer: Any = packed(section("pack-quantized", SHIFTED)).up
    torch.manual_seed(0)
    weight, zeros = torch.randint(0, 16, (96, 64)), torch.randint(0, 16, (96, 2))
    with torch.no_grad():
        layer.weight_packed.copy_(words(weight))
        layer.weight_zero_point.copy_(words(zeros.t()).t())
        layer.weight_scale.fill_(0.5)
        layer.bias.zero_()
        made = layer(torch.eye(64, dtype=torch.bfloat16))
    assert made.float().equal((weight - zeros.repeat_interleave(32, 1)).t() * 0.5)


def words(values: Tensor) -> Tensor:
    """Eight numbers of four bits in each integer, the first in its lowest bits."""
    parts = values.to(torch.int64).reshape(values.shape[0], -1, 8)
    whole = (parts << (4 * torch.arange(8))).sum(-1)
    return torch.where(whole >= 2**31, whole - 2**32, whole).to(torch.int32)


@pytest.mark.parametrize(
    ("form", "weights", "inputs"),
    [form for form in FORMS if form[2] is not None and form[2]["num_bits"] == 8],
)
def test_activations_are_rounded(form: str, weights: Any, inputs: Any) -> None:
    torch.manual_seed(0)
    layer: Any = packed(section(form, weights, inputs)).up
    small = torch.arange(96 * 64).reshape(96, 64).remainder(7) - 3.0
    with torch.no_grad():
        layer.weight.copy_(small)
        layer.weight_scale.fill_(0.25)
        layer.bias.zero_()
        if not inputs.get("dynamic"):
            layer.input_scale.fill_(2.0**-5)
        if hasattr(layer, "input_zero_point"):
            layer.input_zero_point.zero_()
        x = torch.randn(2, 20, 64, dtype=torch.bfloat16)
        found, wanted = layer(x).float(), x.float() @ (small * 0.25).t()
    assert 0 < (found - wanted).abs().max() / wanted.abs().max() < 0.06


def kinds(net: nn.Module) -> list[str]:
    return [type(module).__name__ for module in net.children()]


@pytest.mark.parametrize(
    ("targets", "ignored", "found"),
    [
        (["Linear"], ["head"], [True, True, False]),
        (["Linear"], ["re:.*o.*"], [True, False, True]),
        (["re:up|head", "down"], [], [True, True, True]),
        (["up"], None, [True, False, False]),
    ],
)
def test_targets_name_layers(
    targets: list[str], ignored: list[str] | None, found: list[bool]
) -> None:
    config = section("pack-quantized", W4, ignore=ignored)
    config["config_groups"]["group_0"]["targets"] = targets
    assert [kind == "CompressedLinear" for kind in kinds(packed(config))] == found


def test_a_layer_has_the_scheme_of_its_closest_target() -> None:
    config = section("pack-quantized", W4)
    bytes_ = {"targets": ["re:.*up"], "weights": FLOAT, "format": "naive-quantized"}
    config["config_groups"]["group_1"] = bytes_
    net = packed(config)
    assert [len(held(layer)) for layer in (net.up, net.down)] == [3, 3]
    assert set(held(net.up)) == {"weight", "weight_scale", "bias"}
    assert set(held(net.down)) == {"weight_packed", "weight_scale", "weight_shape"}


def test_experts_that_are_kept_together_are_whole() -> None:
    weight = nn.Parameter(torch.empty(2, 8, 8))
    experts = nn.Module()
    experts.register_parameter("down_proj", weight)
    config = section("int-quantized", W8, TOKEN)
    net = nn.Module()
    net.mlp = nn.ModuleDict({"experts": experts, "up": nn.Linear(8, 8)})
    made = pack(net, "", config, None)
    assert made is not None
    assert len(made.notes) == 2
    assert type(net.mlp["up"]).__name__ == "CompressedLinear"
    assert net.mlp["experts"].down_proj is weight


def test_experts_that_a_group_names_are_not_known() -> None:
    net = nn.Module()
    net.mlp = nn.ModuleDict({"experts": nn.Module(), "up": nn.Linear(8, 8)})
    config = section("int-quantized", W8, TOKEN)
    config["config_groups"]["group_0"]["targets"] = ["re:.*mlp.*"]
    assert pack(net, "", config, None) is None


@pytest.mark.parametrize(
    "config",
    [
        section("naive-quantized", W8),
        section("nvfp4-pack-quantized", {**FLOAT, "num_bits": 4}),
        section("nvfp4-pack-quantized", NVFP4, {**NVFP4, "dynamic": True}),
        section("mxfp4-pack-quantized", MXFP4, {**MXFP4, "dynamic": True}),
        section("mxfp8-quantized", MXFP8, {**MXFP8, "dynamic": True}),
        section("int-quantized", W8, quantization_status="frozen"),
        section("int-quantized", W8, kv_cache_scheme=FLOAT),
        section("int-quantized", W8, sparsity_config={"format": "sparse-24-bitmask"}),
        section("int-quantized", W8, run_compressed=False),
        section("float-quantized", FLOAT, use_optimized_inference=True),
        {**section("int-quantized", W8), "config_groups": {"W8A8": ["Linear"]}},
    ],
)
def test_other_formats_and_parts_stay_as_they_are(config: dict[str, Any]) -> None:
    net = Net()
    assert pack(net, "", config, None) is None
    assert kinds(net) == ["Linear", "Linear", "Linear"]


@pytest.mark.parametrize(
    ("weights", "why"),
    [
        ({**W8, "type": "bool"}, "type is bool, want int, float"),
        ({**W8, "strategy": "row"},
         "strategy is row, want tensor, channel, group, block, token, tensor_group, attn_head"),
        ({**TOKEN, "dynamic": False}, "strategy is token, which needs dynamic to be true"),
        ({**W8, "dynamic": True}, "strategy is channel, want token, tensor, tensor_group, group"),
        ({**W4, "group_size": None}, "group_size is None, want a positive integer"),
        ({**W8, "group_size": 32}, "group_size is 32, and strategy channel has no groups"),
        ({**W4, "group_size": 48}, "group_size is 48, which does not divide 64 features"),
        ({**BLOCK, "block_structure": [0, 32]},
         "block_structure is [0, 32], and strategy is block: block alone has one, "
         "of two positive integers"),
        ({**W4, "actorder": "group"}, "actorder is group, want weight, static"),
    ],
)  # fmt: skip
def test_a_scheme_that_the_library_refuses_is_an_error(weights: dict[str, Any], why: str) -> None:
    with pytest.raises(SourceError) as caught:
        packed(section("pack-quantized", weights))
    assert caught.value.message == f"quantization_config: {why}"


LLAMA = {
    "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 256,
    "intermediate_size": 512, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 4, "vocab_size": 1000, "torch_dtype": "bfloat16",
}  # fmt: skip
NAMES = ("ascend-910b", "moorethreads-s4000", "nvidia-t4", "apple-mps", "intel-arc")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("config", "runs"),
    [
        (section("pack-quantized", W4, ignore=["lm_head"]), [True, True, True, True, True]),
        (section("float-quantized", FLOAT, FLOAT, ignore=["lm_head"]),
         [False, True, True, True, True]),
        (section("pack-quantized", {**W4, "num_bits": 3}, ignore=["lm_head"]),
         [True, True, True, True, True]),
        (section("mxfp4-pack-quantized", MXFP4, ignore=["lm_head"]),
         [True, True, True, True, True]),
        (section("nvfp4-pack-quantized", NVFP4, LOCAL, ignore=["lm_head"]),
         [False, True, True, True, True]),
    ],
)  # fmt: skip
def test_a_config_is_scanned_with_what_each_target_runs_of_it(
    config: dict[str, Any], runs: list[bool | None], tmp_path: Path
) -> None:
    (tmp_path / "config.json").write_text(json.dumps({**LLAMA, "quantization_config": config}))
    targets = tuple(map(TargetSpec.parse, NAMES))
    report = scan_answer.scan(ScanRequest(ModelSpec(str(tmp_path)), targets))
    assert report.trace.gaps == ()
    assert [target.summary.runs for target in report.targets] == runs
