"""Parts of diffusers pipelines whose weights are packed."""

import copy
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import diffusers
import pytest
import torch
from torch import nn

from opcheck.db.by_hand.libraries import Schemas
from opcheck.errors import SourceError
from opcheck.model.trace import QUANTISED, Gap
from opcheck.source.base import LoadOptions
from opcheck.source.building.huggingface.diffusers_quantised import (
    factory,
    in_dtype,
    note,
    packed,
)
from opcheck.source.load import select
from opcheck.source.model_folder import read_config
from tests.source.gguf_files import TENSORS, header

NOTE = note("float16")
SCHEMAS = Schemas(Path(__file__).parents[3] / "compat_db" / "schemas")
FLUX = {
    "_class_name": "FluxTransformer2DModel", "patch_size": 1, "in_channels": 16, "num_layers": 1,
    "num_single_layers": 1, "attention_head_dim": 16, "num_attention_heads": 2,
    "joint_attention_dim": 32, "pooled_projection_dim": 32, "axes_dims_rope": [4, 6, 6],
}  # fmt: skip
NF4 = {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4"}
LINEAR = 6 + 14 + 6 + 2
IN_BLOCKS = 14 + 6
"""Its linear layers: before the blocks, in the one of both streams, in the single one, behind."""


@pytest.fixture(scope="module")
def flux() -> nn.Module:
    model: nn.Module = diffusers.FluxTransformer2DModel.from_config(FLUX)
    return model


def written(folder: Path, section: Any = None, part: Any = FLUX) -> Path:
    path = folder / "config.json"
    config = {**part, "quantization_config": section} if section else part
    path.write_text(json.dumps(config))
    return path


def kinds(model: Any) -> dict[str, int]:
    names = [type(part).__name__ for part in model.modules()]
    return {name: names.count(name) for name in ("Linear", "Linear4bit", "Linear8bitLt")}


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        (NF4, {"Linear": 0, "Linear4bit": LINEAR, "Linear8bitLt": 0}),
        ({**NF4, "llm_int8_skip_modules": ["proj_out"]},
         {"Linear": 2, "Linear4bit": LINEAR - 2, "Linear8bitLt": 0}),
        # the library looks for a path anywhere in another, so that the single block's fits as well
        ({**NF4, "llm_int8_skip_modules": ["transformer_blocks.0.attn"]},
         {"Linear": 11, "Linear4bit": LINEAR - 11, "Linear8bitLt": 0}),
        ({"quant_method": "bitsandbytes", "load_in_8bit": True},
         {"Linear": 0, "Linear4bit": 0, "Linear8bitLt": LINEAR}),
    ],
)  # fmt: skip
def test_every_linear_layer_is_packed_but_those_that_are_named(
    tmp_path: Path, flux: nn.Module, section: Any, expected: dict[str, int]
) -> None:
    model, path = copy.deepcopy(flux), written(tmp_path, section)
    options = LoadOptions(libraries=SCHEMAS)
    assert packed(model, path, read_config(path), options) == ((), (NOTE,))
    assert kinds(model) == expected


@pytest.mark.parametrize(
    ("section", "train"),
    [
        ({"quant_method": "torchao", "quant_type": {"default": {
            "_type": "FqnToConfig", "_version": 1, "_data": {"fqn_to_config": {}}}}}, False),
        ({"quant_method": "modelopt", "quant_type": "FP8"}, False),
        ({"quant_method": "gguf", "compute_dtype": "bfloat16"}, False),
        (NF4, True),
        ({"quant_method": "bitsandbytes", "load_in_8bit": True, "llm_int8_has_fp16_weight": True},
         False),
    ],
)  # fmt: skip
def test_packed_weights_that_are_not_modelled_are_a_gap(
    tmp_path: Path, flux: nn.Module, section: Any, train: bool
) -> None:
    model, path = copy.deepcopy(flux), written(tmp_path, section)
    options = LoadOptions(libraries=SCHEMAS, train=train)
    reason = (
        f"the weights are quantised by {section['quant_method']}; what computes with them on the "
        "device was not seen"
    )
    gap = Gap(f"{path}: quantization_config", reason, QUANTISED)
    assert packed(model, path, read_config(path), options) == ((gap,), ())
    assert kinds(model) == {"Linear": LINEAR, "Linear4bit": 0, "Linear8bitLt": 0}


AUTO_ROUND = {"quant_method": "auto-round", "bits": 4, "group_size": 32, "sym": True}
INT8 = {
    "quant_method": "torchao",
    "quant_type": {"default": {"_type": "Int8WeightOnlyConfig", "_version": 2, "_data": {}}},
}
QUANTO = {"quant_method": "quanto", "weights_dtype": "int8"}


@pytest.mark.parametrize(
    ("section", "dtype", "kind", "count"),
    [
        (INT8, "bfloat16", "Int8Linear", LINEAR),
        ({**INT8, "modules_to_not_convert": ["proj_out"]}, "bfloat16", "Int8Linear", LINEAR - 2),
        ({**INT8, "modules_to_not_convert": ["transformer_blocks.0.attn"]}, "bfloat16",
         "Int8Linear", LINEAR - 11),
        (QUANTO, "float32", "QBytesLinear", LINEAR),
        (AUTO_ROUND, "float16", "AutoRoundLinear", IN_BLOCKS),
        ({**AUTO_ROUND,
          "extra_config": {"context_embedder": {"bits": 8}, ".*attn.*": {"bits": 16}}}, "float16",
         "AutoRoundLinear", IN_BLOCKS - 11 + 1),
        ({**QUANTO, "weights_dtype": "int4"}, "float32", "QBitsLinear", LINEAR),
        ({**QUANTO, "modules_to_not_convert": ["proj_out"]}, "float32", "QBytesLinear", LINEAR - 2),
        ({**QUANTO, "modules_to_not_convert": ["transformer_blocks"]}, "float32", "QBytesLinear",
         LINEAR),
    ],
)  # fmt: skip
def test_other_libraries_pack_what_diffusers_has_them_pack(
    tmp_path: Path, section: dict[str, Any], dtype: str, kind: str, count: int
) -> None:
    path, options = written(tmp_path, section), LoadOptions(libraries=SCHEMAS)
    config = read_config(path)
    model = factory(lambda: diffusers.FluxTransformer2DModel.from_config(FLUX), config, options)()
    assert {str(value.dtype) for value in model.parameters()} == {f"torch.{dtype}"}
    gaps, notes = packed(model, path, config, options)
    assert (gaps, notes[-1]) == ((), note(dtype))
    assert [type(part).__name__ for part in model.modules()].count(kind) == count


@pytest.mark.slow
@pytest.mark.library
def test_auto_round_replaces_the_same_modules(flux: nn.Module) -> None:
    convert = pytest.importorskip("auto_round.inference.convert_model")
    ours, theirs = copy.deepcopy(flux), copy.deepcopy(flux)
    section: Any = SimpleNamespace(**AUTO_ROUND)
    theirs.register_to_config(quantization_config=section)  # type: ignore[operator]  # its own method
    convert.convert_hf_model(theirs, "cpu")
    options = LoadOptions(libraries=SCHEMAS)
    packed(ours, Path("config.json"), {**FLUX, "quantization_config": AUTO_ROUND}, options)
    replaced = [
        {path for path, part in model.named_modules() if hasattr(part, "qweight")}
        for model in (ours, theirs)
    ]
    assert replaced[0] == replaced[1]
    assert len(replaced[0]) == IN_BLOCKS


def test_a_section_that_diffusers_refuses_is_an_error(tmp_path: Path, flux: nn.Module) -> None:
    for section, why in (
        ({**INT8, "quant_type": "int8wo"}, "quant_type is int8wo"),
        ({**QUANTO, "weights_dtype": "int3"}, "weights is int3, want"),
    ):
        path, options = written(tmp_path, section), LoadOptions(libraries=SCHEMAS)
        with pytest.raises(SourceError, match=why) as caught:
            packed(copy.deepcopy(flux), path, read_config(path), options)
        assert caught.value.hint == "diffusers refuses to load such a config; correct it"


@pytest.mark.slow
def test_what_is_not_packed_is_of_float16_and_so_are_the_inputs(tmp_path: Path) -> None:
    written(tmp_path, NF4)
    made = select(str(tmp_path)).load(str(tmp_path), LoadOptions(libraries=SCHEMAS))
    module: Any = made.module
    norm = module.get_parameter("transformer_blocks.0.attn.norm_q.weight")
    assert norm.dtype == torch.float16
    assert made.kwargs["hidden_states"].dtype == torch.float16
    assert torch.get_default_dtype() == torch.float32
    assert (made.unseen, made.notes[-1]) == ((), NOTE)


def test_what_a_class_keeps_in_float32_is_neither_packed_nor_halved() -> None:
    class Part(nn.Module):
        _keep_in_fp32_modules = ("norm",)

        def __init__(self) -> None:
            super().__init__()
            self.norm, self.last = nn.Linear(4, 4), nn.Linear(4, 4)

    made = in_dtype(Part, torch.float16)
    assert {name: parameter.dtype for name, parameter in made.named_parameters()} == {
        "norm.weight": torch.float32, "norm.bias": torch.float32,
        "last.weight": torch.float16, "last.bias": torch.float16,
    }  # fmt: skip


@pytest.mark.slow
def test_a_gguf_file_of_whole_weights_beside_a_config_is_none(tmp_path: Path) -> None:
    written(tmp_path)
    path = tmp_path / "flux.gguf"
    path.write_bytes(header({"general.architecture": "flux"}, TENSORS[1:]))
    assert select(str(path)).load(str(path), LoadOptions()).unseen == ()


def test_a_damaged_gguf_file_beside_a_config_is_an_error(tmp_path: Path) -> None:
    written(tmp_path)
    path = tmp_path / "flux.gguf"
    path.write_bytes(header()[:40])
    with pytest.raises(SourceError, match="byte "):
        select(str(path)).check(str(path), LoadOptions())


@pytest.mark.slow
def test_a_text_encoder_is_packed_as_transformers_packs_it(tmp_path: Path) -> None:
    parts = {
        "transformer": {**FLUX, "quantization_config": NF4},
        "text_encoder": {
            "model_type": "clip_text_model", "hidden_size": 32, "num_hidden_layers": 1,
            "num_attention_heads": 2, "intermediate_size": 32, "vocab_size": 64,
            "architectures": ["CLIPTextModel"], "quantization_config": NF4,
        },
    }  # fmt: skip
    for name, config in parts.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(json.dumps(config))
    index = {"transformer": ["diffusers", "FluxTransformer2DModel"],
             "text_encoder": ["transformers", "CLIPTextModel"]}  # fmt: skip
    (tmp_path / "model_index.json").write_text(json.dumps(index))
    made = select(str(tmp_path)).load(str(tmp_path), LoadOptions(libraries=SCHEMAS))
    assert made.unseen == ()
    assert kinds(made.module) == {"Linear": 0, "Linear4bit": LINEAR + 6, "Linear8bitLt": 0}
