"""What a transformers config says of the sizes of its model's inputs."""

from typing import Any

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
