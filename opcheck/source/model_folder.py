"""Folders that a model was saved to: their config, whichever file of them was named; no torch."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from opcheck.errors import SourceError
from opcheck.files import read_bytes
from opcheck.source.sniff import Form, holds

CONFIG = "config.json"
INDEX = "model_index.json"
"""Names the parts of a diffusers pipeline."""
CLASS = "_class_name"
"""The key of a diffusers config that names its class."""
_SHARDS = ".index.json"
"""How the list of a model's weight files ends."""
_MAX_CONFIG = 16 * 2**20
"""Bytes; the largest known have twenty thousand names of classes, which is one."""


def config_of(text: str) -> Path | None:
    """The config that a folder, a config or a file of weights beside one has; None without one."""
    path = Path(text)
    try:
        if path.is_dir():
            beside = path / CONFIG
        elif path.name == CONFIG:
            beside = path
        elif path.name.endswith(_SHARDS) or holds(path, Form.WEIGHTS):
            beside = path.parent / CONFIG
        else:
            return None
        return beside if beside.is_file() else None
    except (OSError, ValueError):  # a name that no file can have
        return None


def is_pipeline_part(path: Path) -> bool:
    """Whether a config is one of diffusers."""
    try:
        config = read_config(path)
    except SourceError:
        return False
    return CLASS in config and "model_type" not in config


def read_config(path: Path) -> Mapping[str, Any]:
    """The JSON object in a config.

    Raises:
        SourceError: it cannot be read, or is none.
    """
    try:
        config = json.loads(read_bytes(path, _MAX_CONFIG))
    except OSError as error:
        raise SourceError(
            f"{path}: cannot be read ({error.strerror})", "give a model's config.json"
        ) from error
    except RecursionError as error:
        raise SourceError(
            f"{path}: nested too deeply to be a config", "was it saved completely?"
        ) from error
    except ValueError as error:  # JSON or its encoding
        raise SourceError(f"{path}: not JSON ({error})", "was it saved completely?") from error
    if not isinstance(config, dict):
        raise SourceError(f"{path}: holds a {type(config).__name__}, want a JSON object")
    return config
