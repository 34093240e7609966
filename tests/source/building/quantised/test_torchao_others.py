"""torchao's other packings of four bits, and settings for each layer."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from opcheck.commands.scan import answer as scan_answer
from opcheck.errors import SourceError
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.target import TargetSpec
from opcheck.source.building.quantised.packed import pack
from tests.source.building.quantised.test_torchao import (
    INT8,
    LLAMA,
    NAMES,
    SCALED,
    SCHEMAS,
    Net,
    called,
    held,
    kinds,
    packed,
    section,
)

PLAIN = section("Int4WeightOnlyConfig", group_size=32)
INT32 = section("Int4WeightOnlyConfig", group_size=32, int4_packing_format="plain_int32")


def by_name(given: dict[str, Any], kind: str = "FqnToConfig") -> dict[str, Any]:
    """Settings for each layer, as transformers saves them."""
    found = {
        name: None if one is None else one["quant_type"]["default"] for name, one in given.items()
    }
    return section(kind, 1, fqn_to_config=found, module_fqn_to_config=found)


@pytest.mark.parametrize(
    ("config", "names"),
    [
        (PLAIN, {"_weight_qdata": ("int8", (96, 32)), "_weight_scale": ("bfloat16", (2, 96)),
                 "_weight_zero_point": ("bfloat16", (2, 96))}),
        (INT32, {"_weight_qdata": ("int32", (96, 8)), "_weight_scale": ("bfloat16", (2, 96)),
                 "_weight_zero_point": ("bfloat16", (2, 96))}),
    ],
)  # fmt: skip
def test_a_layer_holds_what_is_saved(
    config: dict[str, Any], names: dict[str, tuple[str, tuple[int, ...]]]
) -> None:
    layer = packed(config).up.to("meta")
    assert held(layer) == names | {"bias": ("bfloat16", (96,))}
    made = layer(torch.empty(2, 5, 64, dtype=torch.bfloat16, device="meta"))
    assert (tuple(made.shape), made.dtype) == ((2, 5, 96), torch.bfloat16)


def test_a_packing_is_named_as_the_library_saves_words_of_its_own() -> None:
    saved = {"_type": "Int4PackingFormat", "_data": "PLAIN_INT32"}
    config = section("Int4WeightOnlyConfig", group_size=32, int4_packing_format=saved)
    assert held(packed(config).up.to("meta")) == held(packed(INT32).up.to("meta"))


def test_integers_of_32_are_for_two_devices_alone() -> None:
    said = (
        "torchao packs int4 weights as plain_int32 for XPU and Ascend, each in its own way, and "
        "raises NotImplementedError for another device"
    )
    for config in (INT32, by_name({"up": INT32})):
        method = pack(Net(), "", config, SCHEMAS)
        assert method is not None
        assert method.notes == (said,)


@pytest.mark.library
@pytest.mark.parametrize(
    ("config", "kind"), [(PLAIN, "Int4Tensor"), (INT32, "Int4PlainInt32Tensor")]
)
def test_a_layer_holds_and_calls_what_the_librarys_own_weights_do(
    config: dict[str, Any], kind: str
) -> None:
    flows = pytest.importorskip("torchao.quantization.quantize_.workflows")
    layer = packed(config).up.to("meta")
    names = ("_weight_qdata", "_weight_scale", "_weight_zero_point")
    tensors: list[Tensor] = [getattr(layer, name).data for name in names]
    own = getattr(flows, kind)(*tensors, [1, 32], torch.Size((96, 64)))
    x = torch.empty(2, 5, 64, dtype=torch.bfloat16, device="meta")
    theirs = nn.Linear(64, 96, dtype=torch.bfloat16, device="meta")
    theirs.weight = nn.Parameter(own, False)
    if kind == "Int4Tensor":
        assert called(layer, x) == called(theirs, x)
        return
    with pytest.raises(NotImplementedError, match="does not support device 'meta' yet"):
        theirs(x)
    product = __import__(flows.Int4PlainInt32Tensor.from_hp.__func__.__module__, fromlist=["_"])
    assert product._linear_xpu.__code__.co_names.count("_weight_int4pack_mm_with_scales_and_zeros")
    assert product._linear_npu.__code__.co_names.count("npu_weight_quant_batchmatmul")


@pytest.mark.parametrize("kind", ["FqnToConfig", "ModuleFqnToConfig"])
def test_each_layer_has_the_settings_that_name_it_first(kind: str) -> None:
    assert kinds(packed(by_name({"_default": INT8}, kind))) == [
        "Int8Linear",
        "Int8Linear",
        "Linear",
    ]
    given = by_name({"re:u.*": SCALED, "up": INT8, "_default": PLAIN}, kind)
    assert kinds(packed(given)) == ["Int8Linear", "Int4PlainLinear", "Linear"]
    given = by_name({"re:.*\\.weight": SCALED, "up": None, "odd": INT8}, kind)
    assert kinds(packed(given)) == ["Linear", "Int8Linear", "Linear"]
    given = by_name({"re:up|odd": SCALED}, kind)
    assert kinds(packed(given)) == ["Float8Linear", "Linear", "Linear"]


@pytest.mark.library
def test_the_library_gives_each_layer_the_same_settings() -> None:
    ao = pytest.importorskip("torchao.quantization")
    core = pytest.importorskip("torchao.core.config")
    for names in (("re:u.*", "odd"), ("up", "re:u.*|odd"), ("re:up.weight",)):
        given = by_name(dict.fromkeys(names, INT8))
        own = Net()
        config = core.config_from_dict(given["quant_type"]["default"])
        ao.quantize_(own, config, filter_fn=None)
        replaced = [type(layer.weight.data).__name__ != "Tensor" for layer in own.children()]
        head = {**given, "modules_to_not_convert": []}
        assert [kind != "Linear" for kind in kinds(packed(head))] == replaced


def test_settings_of_other_parts_stay_a_gap() -> None:
    shuffled = section("Int4WeightOnlyConfig", int4_packing_format="preshuffled")
    assert pack(Net(), "", by_name({"up": shuffled}), SCHEMAS) is None
    net = nn.ModuleDict({"up": nn.Embedding(4, 8), "down": nn.Linear(8, 8)})
    assert pack(net, "", by_name({"up": INT8, "down": INT8}), SCHEMAS) is None


@pytest.mark.parametrize(
    ("config", "why"),
    [
        (section("FqnToConfig", 1, fqn_to_config=["a"]),
         "fqn_to_config is ['a'], want names with settings"),
        (by_name({"re:(": INT8}),
         "fqn_to_config has '(', which is no regular expression (missing ), unterminated "
         "subpattern at position 0)"),
        (section("Int4WeightOnlyConfig", int4_packing_format="tiles"),
         "int4_packing_format is tiles, want plain, plain_int32, tile_packed_to_4d, preshuffled"),
    ],
)  # fmt: skip
def test_a_section_that_the_library_refuses_is_an_error(config: dict[str, Any], why: str) -> None:
    with pytest.raises(SourceError) as caught:
        packed(config)
    assert caught.value.message == f"quantization_config: {why}"


def test_pairs_of_four_bits_are_for_models_of_bfloat16() -> None:
    with pytest.raises(SourceError) as caught:
        pack(Net().float(), "c", PLAIN, SCHEMAS)
    assert caught.value.message == (
        "c: a layer has weights of float32, and torchao packs bfloat16 as plain"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("config", "op", "runs"),
    [
        (PLAIN, "mslk::bf16i4bf16_rowwise", [False, False, True, True, False, False, False]),
        (INT32, "", [True, None, False, False, False, False, True]),
    ],
)
def test_a_config_is_scanned_with_what_each_target_runs_of_it(
    config: dict[str, Any], op: str, runs: list[bool | None], tmp_path: Path
) -> None:
    (tmp_path / "config.json").write_text(json.dumps({**LLAMA, "quantization_config": config}))
    targets = tuple(map(TargetSpec.parse, NAMES))
    report = scan_answer.scan(ScanRequest(ModelSpec(str(tmp_path)), targets))
    assert [target.summary.runs for target in report.targets] == runs
    own = {"ascend-910b": "npu::npu_weight_quant_batchmatmul", "nvidia-h100": op,
           "intel-arc": "aten::_weight_int4pack_mm_with_scales_and_zeros"}  # fmt: skip
    for name, target in zip(NAMES, report.targets, strict=True):
        if target.summary.runs and name in own:
            (one,) = (found for found in target.findings if found.op == own[name])
            assert (one.verdict.value, one.count) == ("native", 14)
