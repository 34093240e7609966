"""Inputs for a transformers model, from its config."""

from collections.abc import Callable
from typing import Any

import torch

from opcheck.source.building.example import Inputs, example, float_dtype
from opcheck.source.building.hf_config import (
    Shape,
    clip_shape,
    features_shape,
    image_shape,
    past_shape,
    past_times_shape,
    samples_shape,
    text_shape,
    vocabulary_of,
)
from opcheck.source.building.hf_images import with_picture
from opcheck.source.building.signature import Signature

_INTEGERS = frozenset(("input_ids", "decoder_input_ids"))
_SHAPES: dict[str, Callable[[Any], Shape]] = {
    "input_ids": text_shape,
    "decoder_input_ids": text_shape,
    "pixel_values": image_shape,
    "pixel_values_videos": clip_shape,
    "input_features": features_shape,
    "input_values": samples_shape,
    "past_values": past_shape,
    "past_observed_mask": past_shape,
    "past_time_features": past_times_shape,
}
"""How each input that transformers names is shaped; all others the user must give."""


def inputs_of(
    model: Any, given: frozenset[str], *, weights: bool = False
) -> tuple[Inputs | None, str]:
    """Make what the model's forward is usually called with; None where the config cannot tell.

    With a note. ``given`` are the inputs that the user brings: a picture must fit its text, so
    none is added to the user's. ``weights``: whether the model has its own.
    """
    if not (hasattr(model, "config") and hasattr(model, "main_input_name")):
        return None, ""  # no model of transformers
    names = _names(model, Signature.of(model))
    if any(name not in _SHAPES for name in names):
        return None, ""
    floats = float_dtype(model)
    made = {}
    for name in names:
        ids = vocabulary_of(model.config, name)
        dtype = torch.int64 if name in _INTEGERS else floats
        made[name] = example(name, _SHAPES[name](model.config), dtype, ids)
    if "input_ids" not in made or "pixel_values" in made or given:
        return ((), made), ""
    picture, note = with_picture(model, made["input_ids"], weights=weights)
    return ((), {**made, **picture}), note


def _names(model: Any, signature: Signature) -> list[str]:
    """Parameters to give: the main one, its counterparts, and what has no default."""
    main = str(model.main_input_name)
    names = [main]
    both = ("input_ids", "pixel_values")
    # a generator of text may do without an image; what compares the two, or describes, needs both
    if main == "pixel_values" or (main == "input_ids" and not model.can_generate()):
        names += [name for name in both if name != main and name in signature.names]
    if model.config.is_encoder_decoder and "decoder_input_ids" in signature.names:
        names.append("decoder_input_ids")
    return names + [name for name in signature.required if name not in names]
