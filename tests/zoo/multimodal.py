"""Models that read pictures and text together."""

from collections.abc import Callable, Mapping

import torch

from tests.zoo.base import IMAGES, TEXT, Ready, ids, masked, transformer

_PICTURE = 98
"""The token that stands for a patch of the picture."""


def _clip() -> Ready:
    model = transformer("CLIPModel", "CLIPConfig", text_config=TEXT, vision_config=IMAGES,
                        projection_dim=16)  # fmt: skip
    return model, (), {**masked(), "pixel_values": torch.randn(2, 3, 32, 32)}


def _blip() -> Ready:
    model = transformer(
        "BlipForConditionalGeneration", "BlipConfig", vision_config=IMAGES,
        text_config={**TEXT, "encoder_hidden_size": 32, "sep_token_id": 2},
    )  # fmt: skip
    return model, (), {"input_ids": ids(1, 5), "pixel_values": torch.randn(1, 3, 32, 32)}


def _llava() -> Ready:
    model = transformer(
        "LlavaForConditionalGeneration", "LlavaConfig", image_token_index=_PICTURE,
        text_config={"model_type": "llama", **TEXT},
        vision_config={"model_type": "clip_vision_model", **IMAGES},
    )  # fmt: skip
    patches = (IMAGES["image_size"] // IMAGES["patch_size"]) ** 2
    text = ids(1, 5).clamp(max=_PICTURE - 1)
    marked = torch.cat((torch.full((1, patches), _PICTURE), text), 1)
    return model, (), {"input_ids": marked, "pixel_values": torch.randn(1, 3, 32, 32)}


MODELS: Mapping[str, Callable[[], Ready]] = {"clip": _clip, "blip": _blip, "llava": _llava}
