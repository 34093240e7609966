"""Weights that lie beside a transformers config, read by transformers itself."""

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from packaging.version import Version

_FILES = (
    "model.safetensors",
    "model.safetensors.index.json",
    "pytorch_model.bin",
    "pytorch_model.bin.index.json",
)
"""What transformers looks for; it reads a ``.bin`` with torch's reader for tensors alone."""
_DTYPE_RENAMED = Version("4.56")
_SHOWN = 3


def place_of(config: Path) -> Path:
    """What transformers calls by name: the directory, or a config of another name."""
    return config.parent if config.name == "config.json" else config


def beside(config: Path) -> bool:
    """Whether the directory of a config holds weights too."""
    place = place_of(config)
    return place.is_dir() and any((place / name).is_file() for name in _FILES)


def load(
    transformers: Any, loader: Callable[..., Any], path: Path, config: Any
) -> tuple[Any, tuple[str, ...]]:
    """Load the model of a config with the weights beside it; gives it with the notes."""
    renamed = Version(transformers.__version__) >= _DTYPE_RENAMED
    dtype = {"dtype" if renamed else "torch_dtype": "auto"}
    model, found = loader(
        str(place_of(path)), config=config, local_files_only=True, output_loading_info=True, **dtype
    )
    return model, _notes(found["missing_keys"])


def _notes(missing: Collection[str]) -> tuple[str, ...]:
    if not missing:
        return ()
    names = sorted(missing)
    shown = ", ".join([*names[:_SHOWN], *(["…"] if len(names) > _SHOWN else [])])
    return (f"the weights beside the config lack {shown} ({len(names)}): they are random",)
