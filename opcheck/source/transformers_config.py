"""``hf:DIR`` or ``hf:config.json``: a transformers model from its config alone."""

import json
from pathlib import Path
from typing import Any

from opcheck.errors import SourceError, UsageError
from opcheck.source import digest
from opcheck.source.base import Loaded, LoadOptions, Source

_PREFIX = "hf:"
_CONFIG = "config.json"


class TransformersConfig(Source):
    """Builds the model that a transformers config describes; weights beside it only if asked."""

    name = "hf"
    help = "hf:DIR or hf:path/to/config.json (transformers, no weights read)"

    @classmethod
    def claims(cls, text: str) -> bool:
        """Whether it starts with ``hf:``."""
        return text.startswith(_PREFIX)

    def check(self, text: str, options: LoadOptions) -> None:
        """Find the config and that it says which model it is for."""
        path = _config_path(text)
        _refuse_foreign(path, _read(path))

    def load(self, text: str, options: LoadOptions) -> Loaded:
        """Build the class that the config names, or the usual one of its type."""
        from opcheck.source.building.hf_model import model_of
        from opcheck.source.building.ready import ready

        self.check(text, options)
        path = _config_path(text)
        model, notes = model_of(path, options)
        return ready(
            model,
            None,
            options,
            kind=self.name,
            digest=digest.of_file(path),
            notes=notes,
        )


def _config_path(text: str) -> Path:
    name = text.removeprefix(_PREFIX)
    if not name:
        raise UsageError(f"{text}: of which model?", f"write {TransformersConfig.help}")
    path = Path(name)
    if path.is_dir():
        if (path / _CONFIG).is_file():
            return path / _CONFIG
        pipeline = (path / "model_index.json").is_file()
        raise SourceError(
            f"{path} has no {_CONFIG}",
            "it is a diffusers pipeline: scan one of its models, from a Python file"
            if pipeline
            else "give the directory that holds the model's config.json",
        )
    if not path.is_file():
        raise SourceError(
            f"{name!r} is no directory or file here",
            "nothing is downloaded: fetch the model's config.json and give hf:path/to/config.json",
        )
    return path


def _read(path: Path) -> dict[str, Any]:
    try:
        config = json.loads(path.read_bytes())
    except ValueError as error:  # JSON or its encoding
        raise SourceError(f"{path}: not JSON ({error})", "was it saved completely?") from error
    if not isinstance(config, dict):
        raise SourceError(f"{path}: holds a {type(config).__name__}, want a JSON object")
    return config


def _refuse_foreign(path: Path, config: dict[str, Any]) -> None:
    """Refuse what is no transformers config."""
    if "model_type" in config:
        return
    if "_class_name" in config:
        raise SourceError(
            f"{path}: a diffusers config ({config['_class_name']}), want one of transformers",
            "build the model in a function and scan path/to/file.py:function",
        )
    raise SourceError(
        f"{path}: says no model_type, so it is no transformers config",
        "add the model_type that the model's documentation names",
    )
