"""GPTQ of three bits and with ``dynamic``, and AWQ's layouts for one row at a time."""

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
from opcheck.source.building.quantised.gptqmodel_three_bits import three_bit_linear
from opcheck.source.building.quantised.packed import pack
from tests.source.building.quantised.asked import Asked
from tests.source.building.quantised.test_gptqmodel import (
    AWQ,
    GPTQ,
    LLAMA,
    SCHEMAS,
    held,
    packed,
)

THREE = {**GPTQ, "bits": 3}
GEMV = {**AWQ, "version": "gemv"}
FAST = {**AWQ, "version": "gemv_fast"}
LLM = {**AWQ, "backend": "llm-awq"}


class Bare(nn.Module):
    """A block of two layers without a bias."""

    def __init__(self) -> None:
        super().__init__()
        up, down = nn.Linear(256, 512, bias=False), nn.Linear(512, 256, bias=False)
        self.layers = nn.ModuleList([nn.ModuleDict({"up": up, "down": down})])
        self.out = nn.Linear(256, 8, bias=False)


def first(section: Mapping[str, Any], net: nn.Module | None = None) -> Any:
    net = Bare() if net is None else net
    assert pack(net, "quantization_config", section, SCHEMAS, valued=2**20)
    return net.get_submodule("layers.0.up")


def test_three_bits_share_three_words() -> None:
    assert held(packed(THREE).get_submodule("layers.0.up")) == {
        "qweight": ("int32", (6, 96)),
        "qzeros": ("int32", (2, 9)),
        "scales": ("float16", (2, 96)),
        "g_idx": ("int32", (64,)),
        "bias": ("float16", (96,)),
    }


def in_words(values: Tensor) -> Tensor:
    """Numbers of three bits along the first dimension, 32 of them in three words."""
    rows, columns = values.shape
    bits = torch.stack([(values >> shift) & 1 for shift in range(3)], dim=1)
    words = bits.reshape(rows * 3 // 32, 32, columns).to(torch.int64)
    whole = (words << torch.arange(32).view(1, 32, 1)).sum(1)
    return torch.where(whole >= 2**31, whole - 2**32, whole).to(torch.int32)


def test_three_bits_compute_with_the_weights_that_were_packed() -> None:
    torch.manual_seed(0)
    weight, zeros = torch.randint(0, 8, (64, 96)), torch.randint(0, 8, (2, 96))
    scales = torch.rand(2, 96).half()
    layer: Any = packed(THREE).get_submodule("layers.0.up")
    layer.qweight, layer.qzeros = in_words(weight), in_words(zeros.t()).t()
    layer.scales, layer.g_idx = scales, torch.arange(64, dtype=torch.int32) // 32
    layer.bias = torch.zeros(96).half()
    x = torch.rand(3, 64).half()
    whole = (weight - zeros.repeat_interleave(32, 0)) * scales.float().repeat_interleave(32, 0)
    torch.testing.assert_close(layer(x).float(), x.float() @ whole, rtol=1e-2, atol=1e-1)


def test_three_bits_need_whole_blocks() -> None:
    net = nn.Sequential()
    net.add_module("layers", nn.Sequential(nn.Linear(48, 64)))
    with pytest.raises(SourceError) as caught:
        pack(net, "c", THREE, SCHEMAS)
    assert caught.value.message == (
        "c: a layer of 64 by 48 features has three bits a weight, which are packed for 32 "
        "features at a time"
    )


def test_dynamic_leaves_layers_and_packs_others_in_another_way() -> None:
    net = Bare()
    net.layers.append(nn.ModuleDict({"up": nn.Linear(256, 512, bias=False)}))
    dynamic = {
        r"-:.*\.down": {},
        r"+:layers\.1\..*": {"bits": 8, "group_size": 64},
        r".*\.0\.up": {"bits": 3},
    }
    method = pack(net, "c", {**GPTQ, "dynamic": dynamic}, SCHEMAS)
    assert method is not None
    assert method.notes == (
        "transformers 5.23 does not read dynamic, and makes all layers as the rest of the config "
        "says: layers here are those that GPTQModel.load makes",
    )
    assert {name: type(m).__name__ for name, m in net.named_modules() if name.count(".") == 2} == {
        "layers.0.up": "ThreeBitLinear",
        "layers.0.down": "Linear",
        "layers.1.up": "GPTQLinear",
    }
    assert held(net.get_submodule("layers.1.up"))["qweight"] == ("int32", (64, 512))
    assert held(net.get_submodule("layers.1.up"))["scales"] == ("float16", (4, 512))


@pytest.mark.parametrize(
    ("section", "why"),
    [
        ({**GPTQ, "dynamic": ["a"]}, "dynamic is ['a'], want names with settings"),
        ({**GPTQ, "dynamic": {"+:.*": 3}}, "dynamic: +:.* is 3, want names with settings"),
        ({**GPTQ, "dynamic": {"+:.*": {"group_size": "x"}}},
         "group_size is x, want -1 or a positive integer"),
        ({**GPTQ, "dynamic": {"-:(": {}}},
         "dynamic has '(', which is no regular expression (missing ), unterminated subpattern at "
         "position 0)"),
        ({**GEMV, "group_size": 16},
         "group_size is 16, want 32, 64, or 128 and more for this layout of AWQ"),
    ],
)  # fmt: skip
def test_a_section_that_the_library_refuses_is_an_error(section: dict[str, Any], why: str) -> None:
    with pytest.raises(SourceError) as caught:
        pack(Bare(), "c", section, SCHEMAS)
    assert caught.value.message == f"c: {why}"


def test_the_layout_gemv_takes_no_bias() -> None:
    with pytest.raises(SourceError) as caught:
        packed(GEMV)
    assert caught.value.message == (
        "quantization_config: a layer has a bias, and GPTQModel 7.3.4 makes no layer of the "
        "layout gemv with one (KeyError: attribute 'bias' already exists)"
    )


def test_other_bits_by_dynamic_stay_a_gap() -> None:
    assert pack(Bare(), "c", {**GPTQ, "dynamic": {"+:.*": {"bits": 5}}}, SCHEMAS) is None


@pytest.mark.parametrize(
    ("section", "shapes"),
    [
        (GEMV, {
            "qweight": ("int32", (512, 32)), "qzeros": ("int32", (512, 4)),
            "scales": ("float16", (512, 32)),
        }),
        (FAST, {
            "qweight": ("int16", (128, 256)), "qzeros": ("float16", (32, 512)),
            "scales": ("float16", (32, 512)),
        }),
        (LLM, {
            "qweight": ("int16", (128, 256)), "scaled_zeros": ("float16", (32, 512)),
            "scales": ("float16", (32, 512)),
        }),
    ],
)  # fmt: skip
def test_layouts_for_one_row(section: dict[str, Any], shapes: dict[str, Any]) -> None:
    layer = first(section).to("meta")
    assert held(layer) == shapes
    made = layer(torch.empty(2, 3, 256, dtype=torch.bfloat16, device="meta"))
    assert (tuple(made.shape), made.dtype) == ((2, 3, 512), torch.bfloat16)


@pytest.mark.library
@pytest.mark.parametrize("size", [-1, 32, 64, 128])
@pytest.mark.parametrize(
    ("section", "module", "kind"),
    [
        (THREE, "torch", "TorchLinear"), (GPTQ, "torch", "TorchLinear"),
        (AWQ, "torch_awq", "AwqTorchLinear"), (GEMV, "gemv_awq", "AwqGEMVLinear"),
        (FAST, "gemv_fast_awq", "AwqGEMVFastLinear"), (LLM, "gemv_fast_awq", "LLMAwqLinear"),
    ],
)  # fmt: skip
def test_layers_hold_what_the_librarys_own_hold(
    section: dict[str, Any], module: str, kind: str, size: int
) -> None:
    own = pytest.importorskip(f"gptqmodel.nn_modules.qlinear.{module}")
    made = getattr(own, kind)(
        bits=section["bits"], group_size=size, sym=False, desc_act=False, in_features=256,
        out_features=512, bias=False, register_buffers=True,
    )  # fmt: skip
    assert held(first({**section, "group_size": size})) == held(made)


@pytest.mark.library
def test_three_bits_ask_for_what_the_library_asks_for() -> None:
    own = pytest.importorskip("gptqmodel.nn_modules.qlinear.torch")
    made = own.TorchLinear(
        bits=3, group_size=32, sym=False, desc_act=False, in_features=256, out_features=512,
        bias=False, register_buffers=True,
    )  # fmt: skip
    layer = first(THREE)
    for name, value in layer.state_dict().items():
        getattr(made, name).copy_(value)
    made.optimize = lambda *_, **__: None  # it would compile itself
    made.eval()
    made.post_init()
    x = torch.rand(3, 256).half()
    with torch.no_grad(), Asked() as theirs:
        wanted = made(x)
    with torch.no_grad(), Asked() as here:
        found = three_bit_linear(
            x, layer.qweight, layer.qzeros, layer.scales, layer.g_idx, layer.shifts, layer.bias
        )
    assert found.equal(wanted)
    views = "aten.view", "aten._unsafe_view", "aten.unsqueeze"
    asked = [[one for one in mode.seen if not one[0].startswith(views)] for mode in (here, theirs)]
    assert asked[0] == asked[1]


NAMES = (
    "ascend-910b", "cambricon-mlu370", "amd-mi300x", "nvidia-t4", "apple-mps", "intel-arc",
    "nvidia-a100",
)  # fmt: skip
REFUSED, NOT_SAID, RUNS = (False, "unsupported"), (None, "unknown"), (True, "native")
ANYWHERE = True, "decomposed"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("section", "op", "answers"),
    [
        (THREE, "gptq_three_bit_linear",
         [ANYWHERE, REFUSED, ANYWHERE, ANYWHERE, ANYWHERE, ANYWHERE, ANYWHERE]),
        (GEMV, "awq_gemv_linear", [REFUSED, REFUSED, NOT_SAID, REFUSED, REFUSED, REFUSED, RUNS]),
        (FAST, "awq_gemv_fast_linear",
         [REFUSED, REFUSED, NOT_SAID, REFUSED, REFUSED, REFUSED, RUNS]),
    ],
)  # fmt: skip
def test_a_config_is_scanned_with_what_each_target_runs_of_it(
    section: dict[str, Any], op: str, answers: list[tuple[bool, str]], tmp_path: Path
) -> None:
    (tmp_path / "config.json").write_text(json.dumps({**LLAMA, "quantization_config": section}))
    report = scan_answer.scan(
        ScanRequest(ModelSpec(str(tmp_path)), tuple(map(TargetSpec.parse, NAMES)))
    )
    assert report.trace.gaps == ()
    found = []
    for target in report.targets:
        (one,) = (finding for finding in target.findings if finding.op == f"gptqmodel::{op}")
        assert one.count == 14
        found.append((target.summary.runs, one.verdict.value))
    assert found == answers
