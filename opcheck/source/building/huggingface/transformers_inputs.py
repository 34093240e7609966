"""Inputs for a transformers model, pictures among them, from the sizes in its config."""

from collections.abc import Callable
from typing import Any

import torch

from opcheck.lang.sentence import Sentence
from opcheck.source.building.example import Inputs, Signature, example, float_dtype
from opcheck.source.building.failures import brief
from opcheck.source.building.guess import probe

_TOKENS = 128
_SIDE = 224
_FRAMES = 16
_SAMPLES = 16000
_STEPS = 512
_BANDS = 80
TEXT = ("text_config", "text_encoder", "decoder")
VISION = ("vision_config", "backbone_config", "encoder")
AUDIO = ("audio_config", "encoder_config", "audio_encoder")

Shape = tuple[int, ...]


def look(config: Any, name: str, *first: str) -> Any:
    """Find a setting in a config or its parts, those named ``first`` before the others."""
    parts = [part for key in first if (part := getattr(config, key, None)) is not None]
    queue = [*parts, config]
    for part in queue:
        value = getattr(part, name, None)
        if value is not None:
            return value
        queue += [sub for key in getattr(part, "sub_configs", ()) if (sub := getattr(part, key))]
    return None


def vocabulary_of(config: Any, name: str) -> int:
    """How many ids the input ``name`` may hold; 2 where the config does not say."""
    decoder = ("decoder",) if name.startswith("decoder") else ()
    size = look(config, "vocab_size", *decoder, *TEXT)
    return size if isinstance(size, int) and size > 0 else 2


def text_shape(config: Any) -> Shape:
    """A short text that the positions have room for; half, since some count from the padding."""
    names = ("max_position_embeddings", "n_positions", "max_target_positions")
    limits = [look(config, name, *TEXT) for name in names]
    room = min((limit for limit in limits if isinstance(limit, int) and limit > 0), default=0)
    return (1, min(_TOKENS, max(1, room // 2)) if room else _TOKENS)


def image_shape(config: Any) -> Shape:
    """One image; with frames, if the model takes a clip under the same name."""
    size = look(config, "image_size", *VISION) or _SIDE
    if isinstance(size, dict):
        size = (size.get("height", _SIDE), size.get("width", _SIDE))
    rows, columns = size if isinstance(size, tuple | list) else (size, size)
    channels = look(config, "num_channels", *VISION) or 3
    frames = look(config, "num_frames", *VISION)
    clip = (frames,) if isinstance(frames, int) else ()
    return (1, *clip, channels, rows, columns)


def clip_shape(config: Any) -> Shape:
    """A few images one after another."""
    one, *rest = image_shape(config)
    return (one, *rest) if len(rest) == 4 else (one, _FRAMES, *rest)


def features_shape(config: Any) -> Shape:
    """Spectrogram frames: mel bands first where the model's length is fixed, as in Whisper."""
    length = look(config, "max_source_positions", *AUDIO)
    bands = look(config, "num_mel_bins", *AUDIO)
    if bands and length and not look(config, "input_feat_per_channel", *AUDIO):
        return (1, bands, 2 * length)
    names = ("input_feat_per_channel", "feature_projection_input_dim", "feature_size", "input_dim")
    widths = (look(config, name, *AUDIO) for name in names)
    return (1, _STEPS, next((width for width in widths if width), bands or _BANDS))


def samples_shape(config: Any) -> Shape:
    """A second of sound, or the spectrogram that some models call by the same name."""
    bands, length = getattr(config, "num_mel_bins", None), getattr(config, "max_length", None)
    if bands and length and hasattr(config, "frequency_stride"):  # a spectrogram by that name
        return (1, length, bands)
    channels = getattr(config, "audio_channels", None)
    return (1, channels, _SAMPLES) if isinstance(channels, int) else (1, _SAMPLES)


def past_shape(config: Any) -> Shape:
    """The past of a time series, as long as the model looks back."""
    length = int(config.context_length) + max(getattr(config, "lags_sequence", None) or (0,))
    channels = getattr(config, "num_input_channels", 0)
    if channels:
        return (1, length, channels)
    width = getattr(config, "input_size", 1)
    return (1, length) if width == 1 else (1, length, width)


def past_times_shape(config: Any) -> Shape:
    """What is known of each moment of that past."""
    return (1, past_shape(config)[1], config.num_time_features)


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
        return {}, Sentence(
            "run on text alone, its picture could not be made ({text}): use --input",
            text=brief(error),
        )
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
