"""Quark: which layers have floats of eight bits, what they hold and compute, and where they run."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from opcheck.commands.scan import answer as scan_answer
from opcheck.errors import SourceError
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.target import TargetSpec
from opcheck.source.building.quantised.packed import pack
from opcheck.source.building.quantised.quark import KERNELS
from tests.source.building.quantised.asked import Asked
from tests.source.building.quantised.test_cuda_alone import LLAMA, SCHEMAS

FP8 = {
    "dtype": "fp8_e4m3", "qscheme": "per_tensor", "is_dynamic": False, "ch_axis": None,
    "group_size": None, "symmetric": True, "round_method": "half_even", "scale_type": "float",
    "observer_cls": "PerTensorMinMaxObserver",
}  # fmt: skip
NONE = {"bias": None, "output_tensors": None, "target_device": None}
BOTH = {**NONE, "weight": FP8, "input_tensors": FP8}
WEIGHTS = {**BOTH, "input_tensors": None}
CACHE = {**BOTH, "output_tensors": FP8}


def section(own: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A ``quantization_config`` as Quark saves it."""
    return {
        "quant_method": "quark", "global_quant_config": own, "exclude": ["head"],
        "layer_quant_config": {}, "layer_type_quant_config": {}, "kv_cache_quant_config": {},
        "algo_config": None, "softmax_quant_spec": None, "quant_mode": "eager_mode",
        "version": "0.13", "export": {"pack_method": "reorder"}, **more,
    }  # fmt: skip


class Net(nn.Module):
    """Two layers and a head."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(64, 96)
        self.k_proj = nn.Linear(96, 64, bias=False)
        self.head = nn.Linear(64, 8, bias=False)


def packed(config: dict[str, Any]) -> Any:
    net = Net().to(torch.bfloat16)
    assert pack(net, "quantization_config", config, SCHEMAS, valued=2**16)
    return net


def held(module: nn.Module) -> dict[str, tuple[str, tuple[int, ...]]]:
    return {
        name: (str(t.dtype).removeprefix("torch."), tuple(t.shape))
        for name, t in module.state_dict().items()
    }


SCALE = "float32", ()


@pytest.mark.parametrize(
    ("own", "scales"),
    [
        (BOTH, ("weight", "input")), (WEIGHTS, ("weight",)), (CACHE, ("weight", "input", "output")),
    ],
)  # fmt: skip
def test_a_layer_holds_what_is_saved(own: dict[str, Any], scales: tuple[str, ...]) -> None:
    layer = packed(section(own)).up.to("meta")
    assert held(layer) == {
        "weight": ("float8_e4m3fn", (96, 64)), "bias": ("float32", (96,)),
        **{f"{name}_quantizer.scale": SCALE for name in scales},
    }  # fmt: skip
    made = layer(torch.empty(2, 3, 64, dtype=torch.bfloat16, device="meta"))
    assert (tuple(made.shape), made.dtype) == ((2, 3, 96), torch.bfloat16)


def kinds(net: nn.Module) -> list[str]:
    return [type(layer).__name__ for layer in net.children()]


def test_names_have_settings_of_their_own() -> None:
    net = packed(section(BOTH, layer_quant_config={"*k_proj": CACHE}))
    assert kinds(net) == ["QuarkLinear", "QuarkLinear", "Linear"]
    assert [layer.output_quantizer is None for layer in (net.up, net.k_proj)] == [True, False]
    net = packed(section(BOTH, exclude=["*k_proj"], kv_cache_quant_config={"*k_proj": CACHE}))
    assert set(held(net.k_proj)) == {"weight", "output_quantizer.scale"}
    assert held(net.k_proj)["weight"] == ("float32", (64, 96))


INT4 = {
    **FP8, "dtype": "int4", "qscheme": "per_group", "group_size": 32, "ch_axis": -1,
    "observer_cls": "PerGroupMinMaxObserver",
}  # fmt: skip
UINT4 = {**INT4, "dtype": "uint4", "symmetric": False, "ch_axis": 1}
ROWS = {
    **INT4, "qscheme": "per_channel", "ch_axis": 0, "group_size": None,
    "observer_cls": "PerChannelMinMaxObserver",
}  # fmt: skip
INT8 = {**ROWS, "dtype": "int8"}
INT8_GROUPS = {**INT4, "dtype": "int8"}
OF_FOUR = {
    "weight": ("int32", (64, 12)), "weight_quantizer.scale": ("float32", (2, 96)),
    "weight_quantizer.zero_point": ("int32", (2, 12)),
}  # fmt: skip


@pytest.mark.parametrize(
    ("weight", "expected"),
    [
        (INT4, OF_FOUR), (UINT4, OF_FOUR),
        (ROWS, {"weight": ("int32", (96, 8)), "weight_quantizer.scale": ("float32", (96,)),
                "weight_quantizer.zero_point": ("int32", (12,))}),
        (INT8, {"weight": ("int8", (96, 64)), "weight_quantizer.scale": ("float32", (96,)),
                "weight_quantizer.zero_point": ("int8", (96,))}),
        (INT8_GROUPS, {"weight": ("int8", (64, 96)), "weight_quantizer.scale": ("float32", (2, 96)),
                       "weight_quantizer.zero_point": ("int8", (2, 96))}),
    ],
)  # fmt: skip
def test_a_layer_of_integers_holds_what_is_saved(
    weight: dict[str, Any], expected: dict[str, Any]
) -> None:
    layer = packed(section({**WEIGHTS, "weight": weight})).up
    assert held(layer) == {**expected, "bias": ("float32", (96,))}
    made = layer(torch.zeros(2, 3, 64, dtype=torch.bfloat16))
    assert (tuple(made.shape), made.dtype) == ((2, 3, 96), torch.bfloat16)


@pytest.mark.slow
@pytest.mark.library
@pytest.mark.parametrize("weight", [INT4, UINT4, ROWS, INT8, INT8_GROUPS])
@pytest.mark.parametrize("order", ["reorder", "order"])
def test_layers_of_integers_hold_and_give_what_the_librarys_own_do(
    weight: dict[str, Any], order: str
) -> None:
    api = pytest.importorskip("quark.torch.export.api")
    config = pytest.importorskip("quark.torch.quantization.config.config")
    own = section({**WEIGHTS, "weight": weight}, export={"pack_method": order})
    theirs = Net().to(torch.bfloat16)
    given = config.QConfig.from_dict(own)
    api._map_to_quark(theirs, given, pack_method=order, custom_mode="quark")
    layer: Any = packed(own).up
    assert held(layer) == held(theirs.up)
    for value in layer.state_dict().values():
        small = torch.rand(value.shape)
        value.copy_(small if value.is_floating_point() else (small * 2**30).to(value.dtype))
    theirs.up.load_state_dict(layer.state_dict())
    x = torch.randn(3, 64, dtype=torch.bfloat16)
    with torch.no_grad():
        assert layer(x).equal(theirs.up(x))


@pytest.mark.parametrize(
    "config",
    [
        section({**WEIGHTS, "weight": {**INT4, "group_size": 48}}),
        section({**WEIGHTS, "weight": {**INT4, "is_dynamic": True}}),
        section({**WEIGHTS, "weight": {**INT4, "scale_format": "e8m0"}}),
        section({**WEIGHTS, "weight": {**INT4, "dtype": "fp4"}}),
        section({**BOTH, "weight": INT4}),
        section({**BOTH, "input_tensors": {**FP8, "is_dynamic": True}}),
        section({**BOTH, "bias": FP8}),
        section(BOTH, algo_config=[{"name": "rotation"}]),
        section(BOTH, layer_quant_config={"up": {**WEIGHTS, "weight": {**INT4, "ch_axis": 0}}}),
    ],
)
def test_other_settings_stay_a_gap(config: dict[str, Any]) -> None:
    net = Net().to(torch.bfloat16)
    assert pack(net, "", config, SCHEMAS) is None
    assert kinds(net) == ["Linear", "Linear", "Linear"]


@pytest.mark.parametrize(
    ("config", "why"),
    [
        (section(BOTH, layer_quant_config=["up"]),
         "layer_quant_config is ['up'], want names with settings"),
        ({**section(BOTH), "global_quant_config": [1]},
         "global_quant_config is [1], want names with settings"),
        (section(BOTH, exclude="head"), "exclude is head, want a list of names"),
    ],
)  # fmt: skip
def test_a_section_that_is_none_is_an_error(config: dict[str, Any], why: str) -> None:
    with pytest.raises(SourceError) as caught:
        packed(config)
    assert caught.value.message == f"quantization_config: {why}"


def test_a_layer_computes_with_the_weights_that_were_packed() -> None:
    torch.manual_seed(0)
    layer = packed(section(CACHE)).up
    small = torch.arange(96 * 64).reshape(96, 64).remainder(7) - 3.0
    with torch.no_grad():
        layer.weight.copy_(small)
        layer.bias.zero_()
        for name in ("weight", "input", "output"):
            getattr(layer, f"{name}_quantizer").scale.fill_(0.25)
        x = torch.randn(2, 5, 64, dtype=torch.bfloat16)
        found, wanted = layer(x).float(), x.float() @ (small * 0.25).t()
    assert 0 < (found - wanted).abs().max() / wanted.abs().max() < 0.07


@pytest.mark.slow
@pytest.mark.library
@pytest.mark.parametrize("own", [BOTH, WEIGHTS, CACHE])
def test_layers_hold_and_give_what_the_librarys_own_do(own: dict[str, Any]) -> None:
    api = pytest.importorskip("quark.torch.export.api")
    config = pytest.importorskip("quark.torch.quantization.config.config")
    theirs = Net().to(torch.bfloat16)
    given = config.QConfig.from_dict(section(own))
    api._map_to_quark(theirs, given, pack_method="reorder", custom_mode="quark")
    layer: Any = packed(section(own)).up
    assert held(layer) == held(theirs.up)
    for value in layer.state_dict().values():
        value.copy_(torch.rand(value.shape) * 0.1 + 0.01)
    theirs.up.load_state_dict(layer.state_dict())
    x = torch.randn(3, 64, dtype=torch.bfloat16)
    with torch.no_grad():
        assert layer(x).equal(theirs.up(x))


def test_the_kernel_rounds_and_multiplies() -> None:
    weight = torch.zeros(8, 4, dtype=torch.float8_e4m3fn)
    scale, x = torch.ones(()), torch.ones(2, 4).bfloat16()
    with Asked() as asked:
        KERNELS["quark::fp8_linear"](x, weight, scale, scale)
    dtypes = [dtype.removeprefix("torch.") for name, dtype, _ in asked.seen if "copy" in name]
    assert dtypes == ["float8_e4m3fn", "bfloat16", "float32", "bfloat16"]


@pytest.mark.slow
def test_a_config_is_scanned_with_what_each_target_runs_of_it(tmp_path: Path) -> None:
    written = {
        **LLAMA,
        "dtype": "bfloat16",
        "quantization_config": section(BOTH, exclude=["lm_head"]),
    }
    (tmp_path / "config.json").write_text(json.dumps(written))
    names = ("ascend-910b", "amd-mi300x", "amd-mi355", "amd-mi250", "nvidia-t4", "intel-arc")
    targets = tuple(map(TargetSpec.parse, names))
    report = scan_answer.scan(ScanRequest(ModelSpec(str(tmp_path)), targets))
    assert report.trace.gaps == ()
    found = {}
    for name, target in zip(names, report.targets, strict=True):
        (one,) = (found for found in target.findings if found.op == "quark::fp8_linear")
        assert one.count == 14
        found[name] = target.summary.runs, one.verdict.value
    assert found == {
        "ascend-910b": (False, "unsupported"), "amd-mi300x": (True, "native"),
        "amd-mi355": (None, "unknown"), "amd-mi250": (True, "decomposed"),
        "nvidia-t4": (True, "decomposed"), "intel-arc": (True, "decomposed"),
    }  # fmt: skip
