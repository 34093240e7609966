"""Models that a library builds from a name or a config; nothing is downloaded."""

import json
from pathlib import Path
from typing import Any

import pytest
from torch import Tensor
from torch.utils._pytree import tree_map_only

from opcheck.errors import OpcheckError, SourceError, UsageError
from opcheck.source.base import Loaded, LoadOptions
from opcheck.source.inputs import InputSpec
from opcheck.source.kinds.transformers_config import TransformersConfig
from opcheck.source.load import load

SMALL: dict[str, Any] = {
    "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32,
}  # fmt: skip
T5 = {"model_type": "t5", "d_model": 32, "d_kv": 8, "d_ff": 32, "num_layers": 1, "num_heads": 2}
WHISPER = {
    "model_type": "whisper", "d_model": 32, "encoder_layers": 1, "decoder_layers": 1,
    "encoder_attention_heads": 2, "decoder_attention_heads": 2, "max_source_positions": 100,
    "num_mel_bins": 40,
}  # fmt: skip
IDS = "int64[1, 128]"
FRAMES = "float32[1, 40, 200]"


def described(loaded: Loaded) -> tuple[str, Any, Any]:
    """Class of the module and its inputs, tensors as dtype and shape."""

    def text(tensor: Tensor) -> str:
        return f"{str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)}"

    args, kwargs = tree_map_only(Tensor, text, (loaded.args, dict(loaded.kwargs)))
    return type(loaded.module).__name__, args, kwargs


@pytest.mark.slow
@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"model_type": "bert", **SMALL}, ("BertForMaskedLM", (), {"input_ids": IDS})),
        ({"model_type": "bert", **SMALL, "architectures": ["BertModel"]},
         ("BertModel", (), {"input_ids": IDS})),
        ({"model_type": "bert", **SMALL, "max_position_embeddings": 20},
         ("BertForMaskedLM", (), {"input_ids": "int64[1, 10]"})),
        ({"model_type": "gpt2", "n_embd": 32, "n_layer": 1, "n_head": 2},
         ("GPT2LMHeadModel", (), {"input_ids": IDS})),
        ({"model_type": "llama", **SMALL}, ("LlamaForCausalLM", (), {"input_ids": IDS})),
        (T5, ("T5ForConditionalGeneration", (), {"input_ids": IDS, "decoder_input_ids": IDS})),
        (WHISPER, ("WhisperForConditionalGeneration", (),
                   {"input_features": FRAMES, "decoder_input_ids": IDS})),
        ({"model_type": "vit", **SMALL, "image_size": 32, "patch_size": 8, "num_channels": 1},
         ("ViTForImageClassification", (), {"pixel_values": "float32[1, 1, 32, 32]"})),
        ({"model_type": "vit", **SMALL, "torch_dtype": "bfloat16"},
         ("ViTForImageClassification", (), {"pixel_values": "bfloat16[1, 3, 224, 224]"})),
        ({"model_type": "clip", "text_config": SMALL, "vision_config": {**SMALL, "image_size": 64}},
         ("CLIPModel", (), {"input_ids": "int64[1, 38]", "pixel_values": "float32[1, 3, 64, 64]"})),
        ({"model_type": "llava", "text_config": {"model_type": "llama", **SMALL},
          "vision_config": {**SMALL, "image_size": 56, "patch_size": 14}},
         ("LlavaForConditionalGeneration", (),
          {"input_ids": "int64[1, 144]", "pixel_values": "float32[1, 3, 56, 56]"})),
        ({"model_type": "qwen2_vl", "text_config": {"model_type": "qwen2_vl_text", **SMALL},
          "vision_config": {"depth": 1, "embed_dim": 32, "hidden_size": 32, "num_heads": 2}},
         ("Qwen2VLForConditionalGeneration", (),
          {"input_ids": "int64[1, 192]", "pixel_values": "float32[256, 1176]",
           "image_grid_thw": "int64[1, 3]", "mm_token_type_ids": "int64[1, 192]"})),
        ({"model_type": "wav2vec2", **SMALL},
         ("Wav2Vec2ForCTC", (), {"input_values": "float32[1, 16000]"})),
    ],
    ids=lambda value: value.get("model_type") if isinstance(value, dict) else value[0],
)  # fmt: skip
def test_transformers(
    tmp_path: Path, config: dict[str, Any], expected: tuple[str, Any, Any]
) -> None:
    (tmp_path / "config.json").write_text(json.dumps(config))
    loaded = load(f"hf:{tmp_path}", LoadOptions())
    assert described(loaded) == expected
    named = "architectures" in config
    assert loaded.notes == (
        f"built as {expected[0]}"
        + (", which the config names" if named else ": the config names no class of transformers"),
    )
    assert load(f"hf:{tmp_path}/config.json", LoadOptions()).digest == loaded.digest


@pytest.mark.slow
def test_a_config_of_any_size_is_built(tmp_path: Path) -> None:
    sizes = {"hidden_size": 16384, "num_hidden_layers": 126, "num_attention_heads": 128}
    config = {"model_type": "llama", **sizes, "intermediate_size": 53248, "vocab_size": 128256}
    (tmp_path / "config.json").write_text(json.dumps(config))
    module = load(f"hf:{tmp_path}", LoadOptions()).module
    parameters = list(module.parameters())  # type: ignore[attr-defined]  # an nn.Module
    assert sum(parameter.numel() for parameter in parameters) > 400e9
    assert sum(p.numel() for p in parameters if not p.is_meta) < 5e6


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        (None, SourceError, "{path} has no config.json"),
        ("{", SourceError, "{path}/config.json: not JSON (Expecting property name enclosed in "
         "double quotes: line 1 column 2 (char 1))"),
        ("[1]", SourceError, "{path}/config.json: holds a list, want a JSON object"),
        ("{}", SourceError, "{path}/config.json: says no model_type, so it is no transformers "
         "config"),
        ('{"_class_name": "UNet2DModel"}', SourceError, "{path}/config.json: a diffusers config "
         "(UNet2DModel), want one of transformers"),
    ],
)  # fmt: skip
def test_configs_refused_without_torch(
    tmp_path: Path, text: str | None, kind: type[OpcheckError], message: str
) -> None:
    if text is not None:
        (tmp_path / "config.json").write_text(text)
    with pytest.raises(kind) as caught:
        TransformersConfig().check(f"hf:{tmp_path}", LoadOptions())
    assert caught.value.message == message.format(path=tmp_path)
    assert caught.value.hint or "list" in message


def test_a_hub_name_is_not_looked_up() -> None:
    with pytest.raises(SourceError) as caught:
        TransformersConfig().check("hf:org/model", LoadOptions())
    assert caught.value.message == "'org/model' is no directory or file here"
    assert "nothing is downloaded" in caught.value.hint
    with pytest.raises(UsageError):
        TransformersConfig().check("hf:", LoadOptions())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("config", "message", "hint"),
    [
        ({"model_type": "berrt"}, "does not know model_type 'berrt'", "did you mean bert"),
        ({"model_type": "mine", "auto_map": {"AutoModel": "mine.Mine"}},
         "does not know model_type 'mine'", "--trust"),
        ({"model_type": "bert", "hidden_size": 33}, "not a multiple of the number of", ""),
        ({"model_type": "bert", "hidden_size": "x"}, "transformers refuses it", ""),
    ],
)  # fmt: skip
def test_configs_that_transformers_refuses(
    tmp_path: Path, config: dict[str, Any], message: str, hint: str
) -> None:
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(SourceError) as caught:
        load(f"hf:{tmp_path}", LoadOptions())
    assert message in caught.value.message
    assert hint in caught.value.hint


@pytest.mark.slow
def test_a_slip_in_an_input_name_is_found(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "bert", **SMALL}))
    options = LoadOptions((InputSpec.parse("input_id=1x8"),))
    with pytest.raises(SourceError, match="no parameter 'input_id'"):
        load(f"hf:{tmp_path}", options)
    options = LoadOptions((InputSpec.parse("input_ids=2x8"),))
    assert described(load(f"hf:{tmp_path}", options))[2] == {"input_ids": "int64[2, 8]"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("timm:resnet18", ("ResNet", ("float32[1, 3, 224, 224]",), {})),
        ("timm:efficientnet_b1", ("EfficientNet", ("float32[1, 3, 240, 240]",), {})),
        ("torchvision:resnet18", ("ResNet", ("float32[1, 3, 224, 224]",), {})),
        ("torchvision:inception_v3", ("Inception3", ("float32[1, 3, 299, 299]",), {})),
        ("torchvision:vit_h_14", ("VisionTransformer", ("float32[1, 3, 224, 224]",), {})),
        ("torchvision:fcn_resnet50", ("FCN", ("float32[1, 3, 520, 520]",), {})),
        ("torchvision:r3d_18", ("VideoResNet", ("float32[1, 3, 16, 112, 112]",), {})),
        ("torchvision:raft_small", ("RAFT", ("float32[1, 3, 520, 960]",) * 2, {})),
        ("torchvision:ssdlite320_mobilenet_v3_large", ("SSD", (["float32[3, 480, 640]"],), {})),
        ("ultralytics:yolov8n.yaml", ("DetectionModel", ("float32[1, 3, 640, 640]",), {})),
        ("ultralytics:yolov8n-cls.yaml", ("ClassificationModel", ("float32[1, 3, 224, 224]",), {})),
    ],
)
def test_models_by_name(text: str, expected: tuple[str, Any, Any]) -> None:
    loaded = load(text, LoadOptions())
    assert described(loaded) == expected
    assert loaded.kind == text.partition(":")[0]
    assert len(loaded.digest) == 16
    assert loaded.digest == load(text, LoadOptions()).digest


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("timm:resnet5", "has no model 'resnet5'", "did you mean resnet50"),
        ("timm:hf-hub:org/model", "has no model 'hf-hub:org/model'", "list_models"),
        ("torchvision:resnet5", "has no model 'resnet5'", "did you mean resnet50"),
        ("ultralytics:yolov8n.pt", "want a local YAML", "ultralytics:yolov8n.yaml"),
        ("ultralytics:https://x.org/y.yaml", "want a local YAML", "not needed"),
        ("ultralytics:yolov99.yaml", "has no 'yolov99.yaml'", "did you mean yolov9"),
    ],
)
def test_names_that_a_library_lacks(text: str, message: str, hint: str) -> None:
    with pytest.raises(SourceError) as caught:
        load(text, LoadOptions())
    assert message in caught.value.message
    assert hint in caught.value.hint
