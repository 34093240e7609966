"""Pipelines of diffusers: every model in them, from configs alone."""

import json
from pathlib import Path
from typing import Any

import pytest

from opcheck.commands.scan.answer import scan
from opcheck.errors import OpcheckError, SourceError, UsageError
from opcheck.model.request import CallSpec, ModelSpec, ScanRequest
from opcheck.model.target import TargetSpec
from opcheck.source.base import LoadOptions
from opcheck.source.inputs import InputSpec
from opcheck.source.load import load, select

pytestmark = pytest.mark.usefixtures("libraries_are_loaded")

UNET = {
    "_class_name": "UNet2DConditionModel", "sample_size": 16, "block_out_channels": [32, 64],
    "layers_per_block": 1, "cross_attention_dim": 32, "attention_head_dim": 8,
    "down_block_types": ["CrossAttnDownBlock2D", "DownBlock2D"],
    "up_block_types": ["UpBlock2D", "CrossAttnUpBlock2D"],
}  # fmt: skip
VAE = {
    "_class_name": "AutoencoderKL", "block_out_channels": [32], "latent_channels": 4,
    "down_block_types": ["DownEncoderBlock2D"], "up_block_types": ["UpDecoderBlock2D"],
    "sample_size": 32,
}  # fmt: skip
TEXT = {
    "architectures": ["CLIPTextModel"], "model_type": "clip_text_model", "hidden_size": 32,
    "intermediate_size": 37, "num_hidden_layers": 1, "num_attention_heads": 4, "vocab_size": 100,
    "bos_token_id": 0, "eos_token_id": 1,
}  # fmt: skip
INDEX = {
    "_class_name": "StableDiffusionPipeline",
    "unet": ["diffusers", "UNet2DConditionModel"],
    "vae": ["diffusers", "AutoencoderKL"],
    "text_encoder": ["transformers", "CLIPTextModel"],
    "tokenizer": ["transformers", "CLIPTokenizerFast"],
    "scheduler": ["diffusers", "PNDMScheduler"],
    "feature_extractor": ["transformers", "CLIPImageProcessor"],
    "safety_checker": [None, None],
    "requires_safety_checker": True,
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, INDEX, unet=UNET, vae=VAE, text_encoder=TEXT)
    return tmp_path


def write(folder: Path, index: Any, **parts: Any) -> None:
    (folder / "model_index.json").write_text(json.dumps(index))
    for name, config in parts.items():
        (folder / name).mkdir()
        (folder / name / "config.json").write_text(json.dumps(config))


@pytest.mark.parametrize("name", ["", "model_index.json", "unet", "unet/config.json"])
def test_a_pipeline_and_its_parts_are_told_by_their_configs(folder: Path, name: str) -> None:
    assert select(str(folder / name)).name == "diffusers"
    assert select(str(folder / "text_encoder")).name == "hf"


@pytest.mark.parametrize(
    ("index", "message"),
    [
        ([], "model_index.json: holds a list, want a JSON object"),
        ({}, "model_index.json names no model"),
        ({"scheduler": ["diffusers", "PNDMScheduler"]}, "names no model"),
        ({"unet": ["diffusers", "UNet2DModel"]}, "names unet, and {path}/unet/config.json is not"),
        ({"unet": ["diffusers"]}, "unet is ['diffusers'], want a library and a class"),
        ({"unet": [1, 2]}, "unet is [1, 2], want a library and a class"),
        ({"../unet": ["diffusers", "UNet2DModel"]}, "'../unet' is no name of a part"),
    ],
)
def test_pipelines_that_are_refused_without_torch(tmp_path: Path, index: Any, message: str) -> None:
    write(tmp_path, index)
    with pytest.raises(SourceError) as caught:
        select(str(tmp_path)).check(str(tmp_path), LoadOptions())
    assert message.format(path=tmp_path) in caught.value.message


def test_sets_of_inputs_are_of_one_model(folder: Path) -> None:
    options = LoadOptions(calls=CallSpec("a.py:sets"))
    with pytest.raises(UsageError, match="a pipeline has several"):
        select(str(folder)).check(str(folder), options)
    select(f"{folder}/unet").check(f"{folder}/unet", options)


@pytest.mark.slow
def test_each_model_of_a_pipeline_is_in_the_report(folder: Path) -> None:
    pytest.importorskip("diffusers")
    report = scan(ScanRequest(ModelSpec(str(folder)), (TargetSpec.parse("ascend-910b"),)))
    uses = [use for finding in report.targets[0].findings for use in finding.uses]
    assert {use.module.partition(".")[0] for use in uses} >= {"unet", "vae", "text_encoder"}
    assert report.trace.gaps == ()
    assert report.trace.notes[0] == "called one after another: text_encoder, unet, vae"
    assert "unet: called on sample 1x4x16x16" in report.trace.notes


@pytest.mark.slow
def test_a_part_that_cannot_be_called_is_a_gap_and_the_others_are_scanned(folder: Path) -> None:
    pytest.importorskip("diffusers")
    (folder / "unet/config.json").write_text(json.dumps({**UNET, "_class_name": "UNet9DModel"}))
    report = scan(ScanRequest(ModelSpec(str(folder)), (TargetSpec.parse("ascend-910b"),)))
    assert "has no model 'UNet9DModel'" in report.trace.gaps[0].reason
    assert report.trace.modules_not_called == ()
    assert report.targets[0].summary.runs is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({**UNET, "_class_name": "UNet9DModel"}, "has no model 'UNet9DModel'"),
        ({**UNET, "_class_name": 5}, "has no model 5"),
        ({**UNET, "_class_name": "PNDMScheduler"}, "has no model 'PNDMScheduler'"),
        ({**UNET, "block_out_channels": "wide"}, "the model of"),
    ],
)
def test_a_part_alone_that_cannot_be_built_is_an_error(
    tmp_path: Path, config: Any, message: str
) -> None:
    pytest.importorskip("diffusers")
    write(tmp_path, INDEX, unet=config)
    with pytest.raises(OpcheckError) as caught:
        load(f"{tmp_path}/unet", LoadOptions())
    assert message in caught.value.message


@pytest.mark.slow
def test_the_users_inputs_are_taken(folder: Path) -> None:
    pytest.importorskip("diffusers")
    loaded = load(f"{folder}/unet", LoadOptions((InputSpec.parse("sample=2x4x32x32"),)))
    assert loaded.kwargs["sample"].shape == (2, 4, 32, 32)
    assert loaded.kwargs["encoder_hidden_states"].shape == (1, 77, 32)
