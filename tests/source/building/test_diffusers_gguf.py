"""Parts of diffusers pipelines with weights of a GGUF file: what stays packed, and computes."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import diffusers
import pytest
import torch
from torch import nn

from opcheck.commands.scan import answer as scan_answer
from opcheck.errors import SourceError
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.target import TargetSpec
from opcheck.model.trace import QUANTISED, Gap
from opcheck.source.base import LoadOptions
from opcheck.source.building.huggingface.diffusers_gguf import packed
from opcheck.source.building.quantised.gguf_layers import (
    BLOCKS,
    GGUFLinear,
    bytes_of,
    dequantised,
)
from opcheck.source.gguf_types import TENSORS
from opcheck.source.load import select
from tests.source.building.quantised.asked import Asked
from tests.source.building.test_diffusers_quantised import FLUX, LINEAR, written
from tests.source.gguf_files import Tensor, header, whole

F32, F16, Q4_0, Q8_0, Q6_K, BF16, MXFP4 = 0, 1, 2, 8, 14, 30, 39
ARCHITECTURE = {"general.architecture": "flux"}
COUNTS = {
    "BF16": 10, "IQ4_NL": 20, "IQ4_XS": 40, "Q2_K": 23, "Q3_K": 45, "Q4_0": 15, "Q4_1": 16,
    "Q4_K": 38, "Q5_0": 37, "Q5_1": 38, "Q5_K": 46, "Q6_K": 29, "Q8_0": 9,
}  # fmt: skip
"""Operators that each type takes."""
NUMBERS = {name: number for number, kind in TENSORS.items() if (name := kind.name) in BLOCKS}


def note(*types: str) -> str:
    return (
        f"diffusers dequantises the packed weights ({', '.join(types)}) in each call by PyTorch's "
        "operators, and computes in float32 unless compute_dtype is another; on CUDA, "
        "DIFFUSERS_GGUF_CUDA_KERNELS=true has kernels of the Hub do it"
    )


def flux(**settings: Any) -> Any:
    return diffusers.FluxTransformer2DModel.from_config({**FLUX, **settings})


def listed(model: nn.Module, kinds: Mapping[str, int], usual: int = Q4_0) -> Iterator[Tensor]:
    """A model's weights as a file has them: matrices packed, all else as it is."""
    offset = 0
    for name, value in model.state_dict().items():
        shape = tuple(value.shape)
        kind = kinds.get(name, usual if len(shape) > 1 and not shape[-1] % 32 else F32)
        yield name, shape[::-1], kind, offset
        offset += -(-value.numel() // TENSORS[kind].block * TENSORS[kind].size // 32) * 32


def file_of(folder: Path, tensors: list[Tensor]) -> Path:
    path = folder / "flux.gguf"
    path.write_bytes(header(ARCHITECTURE, tensors))
    return path


def kinds_of(model: nn.Module) -> dict[str, int]:
    names = [type(part).__name__ for part in model.modules()]
    return {name: names.count(name) for name in ("Linear", "GGUFLinear")}


@pytest.mark.parametrize("name", sorted(BLOCKS))
def test_blocks_become_numbers(name: str) -> None:
    kind = TENSORS[NUMBERS[name]]
    weight = torch.randint(0, 255, (4, bytes_of(512, kind)), dtype=torch.uint8)
    with Asked() as mode:
        made = dequantised(weight, kind)
    assert (made.shape, made.is_floating_point()) == ((4, 512), True)
    assert len(mode.seen) == COUNTS[name]


@pytest.mark.library
@pytest.mark.parametrize("name", sorted(BLOCKS))
def test_blocks_become_the_numbers_that_the_library_makes_of_them(name: str) -> None:
    gguf = pytest.importorskip("gguf")
    theirs = pytest.importorskip("diffusers.quantizers.gguf.utils")
    number = NUMBERS[name]
    torch.manual_seed(0)
    weight = torch.randint(0, 255, (4, bytes_of(512, TENSORS[number])), dtype=torch.uint8)
    own = theirs.GGUFParameter(weight, quant_type=gguf.GGMLQuantizationType(number))
    with Asked() as mine, torch.no_grad():
        made = dequantised(weight, TENSORS[number])
    with Asked() as other, torch.no_grad():
        expected = theirs.dequantize_gguf_tensor(own)
    assert mine.seen == other.seen
    torch.testing.assert_close(made, expected, rtol=0, atol=0, equal_nan=True)
    supported = {str(kind.name) for kind in theirs.SUPPORTED_GGUF_QUANT_TYPES}
    assert supported == set(BLOCKS)


@pytest.mark.slow
@pytest.mark.library
def test_layers_are_those_that_the_library_loads(tmp_path: Path) -> None:
    pytest.importorskip("gguf")
    kinds = {"proj_out.weight": BF16, "x_embedder.weight": F16, "context_embedder.weight": Q8_0}
    model = flux()
    tensors = list(listed(model, kinds))
    path = tmp_path / "flux.gguf"
    last = TENSORS[F32].size * tensors[-1][1][0]
    path.write_bytes(whole(ARCHITECTURE, tensors, bytes(tensors[-1][3] + last)))
    written(tmp_path)
    theirs: Any = diffusers.FluxTransformer2DModel.from_single_file(
        str(path), config=str(tmp_path), quantization_config=diffusers.GGUFQuantizationConfig()
    )
    assert packed(model, FLUX, path, LoadOptions())[0] == ()
    assert held(model) == held(theirs)


def held(model: nn.Module) -> dict[str, tuple[str, tuple[int, ...], str]]:
    """Each weight with its dtype, shape and the class of the layer that has it."""
    layers = dict(model.named_modules())
    return {
        name: (
            str(value.dtype), tuple(value.shape), type(layers[name.rpartition(".")[0]]).__name__
        )
        for name, value in model.state_dict().items()
    }  # fmt: skip


def test_linear_layers_whose_weights_are_packed_dequantise_them(tmp_path: Path) -> None:
    model = flux()
    path = file_of(tmp_path, list(listed(model, {"proj_out.weight": BF16})))
    assert packed(model, FLUX, path, LoadOptions()) == ((), (note("BF16", "Q4_0"),))
    # the embedding of pictures has 16 features, which are no block
    assert kinds_of(model) == {"Linear": 1, "GGUFLinear": LINEAR - 1}
    layer = model.proj_out
    assert (layer.weight.dtype, tuple(layer.weight.shape)) == (torch.uint8, (16, 64))
    made = layer.to("meta")(torch.empty(2, 32, device="meta"))
    assert (made.dtype, tuple(made.shape)) == (torch.float32, (2, 16))


def original() -> list[Tensor]:
    """Names and sizes of the file that others make of Flux: with one layer for three."""
    width = 3072
    double = {
        f"{side}_{part}": sizes
        for side in ("img", "txt")
        for part, sizes in {
            "attn.qkv": (width, 3 * width), "attn.proj": (width, width),
            "mlp.0": (width, 4 * width), "mlp.2": (4 * width, width),
            "mod.lin": (width, 6 * width),
        }.items()
    }  # fmt: skip
    layers: dict[str, tuple[int, int]] = {
        "time_in.in_layer": (256, width), "time_in.out_layer": (width, width),
        "vector_in.in_layer": (256, width), "vector_in.out_layer": (width, width),
        "txt_in": (256, width), "img_in": (64, width),
        **{f"double_blocks.0.{name}": sizes for name, sizes in double.items()},
        "single_blocks.0.linear1": (width, 7 * width),
        "single_blocks.0.linear2": (5 * width, width),
        "single_blocks.0.modulation.lin": (width, 3 * width),
        "final_layer.adaLN_modulation.1": (width, 2 * width), "final_layer.linear": (width, 64),
    }  # fmt: skip
    norms = [
        *(f"double_blocks.0.{side}_attn" for side in ("img", "txt")), "single_blocks.0"
    ]  # fmt: skip
    scales = [f"{norm}.norm.{kind}_norm.scale" for norm in norms for kind in ("query", "key")]
    return [
        *((f"{name}.weight", sizes, Q6_K if "qkv" in name else Q4_0, 0)
          for name, sizes in layers.items()),
        *((f"{name}.bias", sizes[1:], F32, 0) for name, sizes in layers.items()),
        *((name, (128,), F32, 0) for name in scales),
    ]  # fmt: skip


LARGE = {
    "in_channels": 64, "attention_head_dim": 128, "num_attention_heads": 24,
    "joint_attention_dim": 256, "pooled_projection_dim": 256, "axes_dims_rope": [16, 56, 56],
}  # fmt: skip


@pytest.mark.slow
def test_a_file_in_the_names_of_others_is_converted_as_diffusers_does(tmp_path: Path) -> None:
    with torch.device("meta"):
        model = flux(**LARGE)
    path = file_of(tmp_path, original())
    assert packed(model, {**FLUX, **LARGE}, path, LoadOptions())[0] == ()
    assert kinds_of(model) == {"Linear": 0, "GGUFLinear": LINEAR}
    found = {
        name: layer.kind.name for name, layer in model.named_modules()
        if isinstance(layer, GGUFLinear) and ".attn.to_" in name
    }  # fmt: skip
    block, single = "transformer_blocks.0.attn.to_", "single_transformer_blocks.0.attn.to_"
    assert found == {
        **{f"{block}{part}": "Q6_K" for part in "qkv"}, f"{block}out.0": "Q4_0",
        f"{block}add_out": "Q4_0", **{f"{single}{part}": "Q4_0" for part in "qkv"},
    }  # fmt: skip


def test_what_a_class_keeps_in_float32_is_made_whole(tmp_path: Path) -> None:
    class Part(nn.Module):
        _keep_in_fp32_modules = ("norm",)

        def __init__(self) -> None:
            super().__init__()
            self.norm, self.last = nn.Linear(32, 32), nn.Linear(32, 32)

    model = Part()
    path = file_of(tmp_path, list(listed(model, {})))
    assert packed(model, {}, path, LoadOptions()) == ((), (note("Q4_0"),))
    assert kinds_of(model) == {"Linear": 1, "GGUFLinear": 1}


def test_weights_that_no_linear_layer_has_are_a_gap(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Embedding(4, 32), nn.Linear(32, 32))
    path = file_of(tmp_path, list(listed(model, {})))
    gap = Gap(
        str(path),
        "diffusers leaves 0.weight packed, which no linear layer has; what computes with them on "
        "the device was not seen",
        QUANTISED,
    )
    assert packed(model, {}, path, LoadOptions()) == ((gap,), (note("Q4_0"),))


def test_types_that_diffusers_does_not_load_are_a_gap(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(32, 32))
    path = file_of(tmp_path, [("0.weight", (32, 32), MXFP4, 0), ("0.bias", (32,), F32, 0)])
    gap = Gap(
        str(path),
        "diffusers 0.42 cannot dequantise weights of MXFP4, so that it does not load them",
        QUANTISED,
    )
    assert packed(model, {}, path, LoadOptions()) == ((gap,), ())


def test_a_class_that_diffusers_loads_from_no_single_file_is_a_gap(tmp_path: Path) -> None:
    path = file_of(tmp_path, [("weight", (32, 32), Q4_0, 0)])
    gap = Gap(
        str(path),
        "diffusers does not find the weights of Sequential in the file (from_single_file has no "
        "Sequential); what computes with them on the device was not seen",
        QUANTISED,
    )
    assert packed(nn.Sequential(nn.Linear(32, 32)), {}, path, LoadOptions()) == ((gap,), ())


def test_packed_weights_that_are_trained_or_have_values_are_a_gap(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(32, 32))
    path = file_of(tmp_path, list(listed(model, {})))
    reason = (
        "diffusers keeps the weights (F32, Q4_0) packed and dequantises them in each call; what "
        "computes with them on the device was not seen"
    )
    for options in (LoadOptions(train=True), LoadOptions(weights=True)):
        assert packed(model, {}, path, options) == ((Gap(str(path), reason, QUANTISED),), ())
    assert kinds_of(model) == {"Linear": 1, "GGUFLinear": 0}


def test_a_file_of_another_model_is_an_error(tmp_path: Path) -> None:
    path = file_of(tmp_path, list(listed(flux(in_channels=32), {})))
    with pytest.raises(SourceError) as caught:
        packed(flux(), FLUX, path, LoadOptions())
    why = "x_embedder.weight is of 32x32, and in FluxTransformer2DModel of 32x16"
    assert caught.value.message == f"{path}: {why}"
    assert caught.value.hint == "give the file that was made of the model of this config.json"


@pytest.mark.slow
def test_a_file_without_some_layers_is_an_error(tmp_path: Path) -> None:
    with torch.device("meta"):
        model = flux(**LARGE, num_layers=2)
    path = file_of(tmp_path, original())
    with pytest.raises(SourceError) as caught:
        packed(model, {**FLUX, **LARGE}, path, LoadOptions())
    missing = "transformer_blocks.1.norm1.linear."
    attention = "transformer_blocks.1.norm1_context.linear.weight"
    assert caught.value.message == (
        f"{path}: it has no weights for {missing}weight, {missing}bias, {attention} (+29), which "
        "FluxTransformer2DModel has"
    )


@pytest.mark.slow
def test_a_file_beside_a_config_is_scanned_with_its_layers(tmp_path: Path) -> None:
    written(tmp_path)
    path = file_of(tmp_path, list(listed(flux(), {})))
    made = select(str(path)).load(str(path), LoadOptions())
    assert (made.kind, made.unseen, made.notes[-1]) == ("diffusers", (), note("Q4_0"))
    assert isinstance(made.module, nn.Module)
    assert kinds_of(made.module) == {"Linear": 1, "GGUFLinear": LINEAR - 1}
    names = ("nvidia-h100", "ascend-910b", "apple-mps", "cambricon-mlu370")
    targets = tuple(map(TargetSpec.parse, names))
    report = scan_answer.scan(ScanRequest(ModelSpec(str(path)), targets))
    assert report.trace.gaps == ()
    answers = {}
    for name, target in zip(names, report.targets, strict=True):
        (shift,) = (one for one in target.findings if one.op == "aten::__rshift__.Tensor")
        answers[name] = target.summary.runs, shift.verdict.value
    assert answers == dict.fromkeys(names, (True, "native"))
