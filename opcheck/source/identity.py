"""What a source is known by in lists of models: its config's words, or its library's name."""

from collections.abc import Mapping
from typing import Any

from opcheck.errors import SourceError
from opcheck.model.model_lists import ModelIdentity
from opcheck.source.model_folder import config_of, read_config

_BUILDS = ("timm", "torchvision")
"""Kinds of sources that name a model of a library."""
_CONFIG = "hf"
_QUANTISED = "quantization_config"
_DTYPES = ("dtype", "torch_dtype")
"""Keys of a config, the newer one first."""
_UNSAID = "float32"
"""What models are built in where nothing tells."""


def identity_of(source: str, kind: str) -> ModelIdentity:
    """What a source of a kind is known by; an empty one where it is nothing that lists name."""
    if kind in _BUILDS:
        return ModelIdentity(build=source.partition(".")[0], dtype=_UNSAID)
    path = config_of(source.removeprefix(f"{_CONFIG}:")) if kind == _CONFIG else None
    try:
        return ModelIdentity() if path is None else _of_config(read_config(path))
    except SourceError:  # gone since it was read
        return ModelIdentity()


def identity_of_module(module: Any) -> ModelIdentity:
    """What a live module is known by: its class, and the config that transformers gives it."""
    config = getattr(module, "config", None)
    model_type = getattr(config, "model_type", "")
    name = type(module).__name__
    parameters = getattr(module, "parameters", tuple)
    dtype = next((str(p.dtype).removeprefix("torch.") for p in parameters()), "")
    if not isinstance(model_type, str) or not model_type:
        return ModelIdentity(dtype=dtype)
    return ModelIdentity(model_type, (name,), dtype=dtype)


def _of_config(config: Mapping[str, Any]) -> ModelIdentity:
    classes, model_type = config.get("architectures"), config.get("model_type")
    dtype = next((config[key] for key in _DTYPES if isinstance(config.get(key), str)), _UNSAID)
    return ModelIdentity(
        model_type=model_type if isinstance(model_type, str) else "",
        classes=tuple(map(str, classes)) if isinstance(classes, list) else (),
        dtype="" if _QUANTISED in config else dtype.removeprefix("torch."),
    )
