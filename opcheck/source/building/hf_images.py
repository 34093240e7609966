"""A picture for a transformers model that reads pictures into its text."""

from typing import Any

import torch

from opcheck.source.building.blame import brief
from opcheck.source.building.example import example, float_dtype
from opcheck.source.building.hf_config import VISION, image_shape, look
from opcheck.source.building.probe import probe
from opcheck.source.building.signature import Signature

_KINDS = "mm_token_type_ids"
_GRID = 16
"""Patches along each side of a picture, for models that take patches and not pixels."""


def with_picture(
    model: Any, ids: torch.Tensor, *, weights: bool = False
) -> tuple[dict[str, Any], str]:
    """Add a picture to a text, and to the text the tokens that stand for it.

    Gives the inputs, empty for a model that reads no pictures or none that could be made, and a
    note. ``weights``: whether the model has its own.
    """
    token = look(model.config, "image_token_id") or look(model.config, "image_token_index")
    if not isinstance(token, int) or not hasattr(model, "get_image_features"):
        return {}, ""
    picture = _picture(model)
    try:
        count = _rows(probe(model.get_image_features, weights=weights, **picture))
    except Exception as error:  # each family takes pictures in its own way
        return {}, f"run on text alone, its picture could not be made ({brief(error)}): use --input"
    marks = torch.full((1, count), token, dtype=ids.dtype)
    text = ids.masked_fill(ids == token, token ^ 1)  # no second picture by chance
    marked = torch.cat((marks, text), 1)
    if _KINDS in Signature.of(model).names:
        picture[_KINDS] = (marked == token).to(ids.dtype)
    return {"input_ids": marked, **picture}, ""


def _picture(model: Any) -> dict[str, Any]:
    """Pixels, or patches in rows with the grid that they come from."""
    config, dtype = model.config, float_dtype(model)
    if "image_grid_thw" not in Signature.of(model).names:
        return {"pixel_values": example("pixel_values", image_shape(config), dtype)}
    side = look(config, "patch_size", *VISION) or 1
    frames = look(config, "temporal_patch_size", *VISION) or 1
    channels = look(config, "in_channels", *VISION) or 3
    rows = (_GRID * _GRID, channels * frames * side * side)
    return {
        "pixel_values": example("pixel_values", rows, dtype),
        "image_grid_thw": torch.tensor([[1, _GRID, _GRID]]),
    }


def _rows(features: Any) -> int:
    """How many tokens the features of a picture take the place of."""
    if isinstance(features, torch.Tensor):
        return features.numel() // features.shape[-1]
    pooled = getattr(features, "pooler_output", None)
    return _rows(pooled) if pooled is not None else sum(_rows(part) for part in features)
