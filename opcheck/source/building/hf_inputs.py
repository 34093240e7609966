"""Inputs for a transformers model, from its config."""

from collections.abc import Callable
from typing import Any

import torch

from opcheck.source.building.example import Inputs, example, float_dtype
from opcheck.source.building.signature import Signature

_TOKENS = 128
_SIDE = 224
_FRAMES = 16
_SAMPLES = 16000
_STEPS = 512
_BANDS = 80
_TEXT = ("text_config", "text_encoder", "decoder")
_VISION = ("vision_config", "backbone_config", "encoder")
_AUDIO = ("audio_config", "encoder_config", "audio_encoder")

Shape = tuple[int, ...]


def inputs_of(model: Any) -> Inputs | None:
    """Make what the model's forward is usually called with; None where the config cannot tell."""
    if not (hasattr(model, "config") and hasattr(model, "main_input_name")):
        return None  # no model of transformers
    names = _names(model, Signature.of(model))
    if any(name not in _SHAPES for name in names):
        return None
    floats = float_dtype(model)
    made = {}
    for name in names:
        ids = _vocabulary(model.config, name)
        dtype = torch.int64 if name in _INTEGERS else floats
        made[name] = example(name, _SHAPES[name](model.config), dtype, ids)
    return (), made


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


def _look(config: Any, name: str, *first: str) -> Any:
    """Find a setting in a config or its parts, those named ``first`` before the others."""
    parts = [part for key in first if (part := getattr(config, key, None)) is not None]
    queue = [*parts, config]
    for part in queue:
        value = getattr(part, name, None)
        if value is not None:
            return value
        queue += [sub for key in getattr(part, "sub_configs", ()) if (sub := getattr(part, key))]
    return None


def _vocabulary(config: Any, name: str) -> int:
    decoder = ("decoder",) if name.startswith("decoder") else ()
    size = _look(config, "vocab_size", *decoder, *_TEXT)
    return size if isinstance(size, int) and size > 0 else 2


def _tokens(config: Any) -> Shape:
    """A short text that the positions have room for; half, since some count from the padding."""
    names = ("max_position_embeddings", "n_positions", "max_target_positions")
    limits = [_look(config, name, *_TEXT) for name in names]
    room = min((limit for limit in limits if isinstance(limit, int) and limit > 0), default=0)
    return (1, min(_TOKENS, max(1, room // 2)) if room else _TOKENS)


def _image(config: Any) -> Shape:
    size = _look(config, "image_size", *_VISION) or _SIDE
    if isinstance(size, dict):
        size = (size.get("height", _SIDE), size.get("width", _SIDE))
    rows, columns = size if isinstance(size, tuple | list) else (size, size)
    channels = _look(config, "num_channels", *_VISION) or 3
    frames = _look(config, "num_frames", *_VISION)
    clip = (frames,) if isinstance(frames, int) else ()
    return (1, *clip, channels, rows, columns)


def _clip(config: Any) -> Shape:
    one, *rest = _image(config)
    return (one, *rest) if len(rest) == 4 else (one, _FRAMES, *rest)


def _features(config: Any) -> Shape:
    """Spectrogram frames: mel bands first where the model's length is fixed, as in Whisper."""
    length = _look(config, "max_source_positions", *_AUDIO)
    bands = _look(config, "num_mel_bins", *_AUDIO)
    if bands and length and not _look(config, "input_feat_per_channel", *_AUDIO):
        return (1, bands, 2 * length)
    names = ("input_feat_per_channel", "feature_projection_input_dim", "feature_size", "input_dim")
    widths = (_look(config, name, *_AUDIO) for name in names)
    return (1, _STEPS, next((width for width in widths if width), bands or _BANDS))


def _samples(config: Any) -> Shape:
    bands, length = getattr(config, "num_mel_bins", None), getattr(config, "max_length", None)
    if bands and length and hasattr(config, "frequency_stride"):  # a spectrogram by that name
        return (1, length, bands)
    channels = getattr(config, "audio_channels", None)
    return (1, channels, _SAMPLES) if isinstance(channels, int) else (1, _SAMPLES)


def _past(config: Any) -> Shape:
    length = int(config.context_length) + max(getattr(config, "lags_sequence", None) or (0,))
    channels = getattr(config, "num_input_channels", 0)
    if channels:
        return (1, length, channels)
    width = getattr(config, "input_size", 1)
    return (1, length) if width == 1 else (1, length, width)


def _past_times(config: Any) -> Shape:
    return (1, _past(config)[1], config.num_time_features)


_INTEGERS = frozenset(("input_ids", "decoder_input_ids"))
_SHAPES: dict[str, Callable[[Any], Shape]] = {
    "input_ids": _tokens,
    "decoder_input_ids": _tokens,
    "pixel_values": _image,
    "pixel_values_videos": _clip,
    "input_features": _features,
    "input_values": _samples,
    "past_values": _past,
    "past_observed_mask": _past,
    "past_time_features": _past_times,
}
"""How each input that transformers names is shaped; all others the user must give."""
