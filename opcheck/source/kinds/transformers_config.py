"""``DIR``, ``config.json`` or ``hf:`` and either: a transformers model from its config alone."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from opcheck.errors import SourceError, UsageError
from opcheck.lang.sentence import Sentence
from opcheck.source import base
from opcheck.source.adapter_folder import is_adapter
from opcheck.source.base import Loaded, LoadOptions, Source
from opcheck.source.config_values import checked
from opcheck.source.model_folder import (
    CLASS,
    CONFIG,
    INDEX,
    config_of,
    is_pipeline_part,
    read_config,
)
from opcheck.source.sentence_folder import parts_after

_PREFIX = "hf:"


class TransformersConfig(Source):
    """Builds the model that a transformers config describes; weights beside it only if asked."""

    name = "hf"
    help = "DIR or path/to/config.json (transformers, no weights read); hf:DIR says so"
    libraries = ("transformers",)

    @classmethod
    def claims(cls, text: str) -> bool:
        """Whether it starts with ``hf:``, or is a directory or file with such a config."""
        if text.startswith(_PREFIX):
            return True
        path = config_of(text)
        if path is None or is_pipeline_part(path):
            return False
        return path == Path(text) or not is_adapter(text)

    @classmethod
    def path(cls, text: str) -> Path | None:
        """The folder or the config."""
        return Path(text.removeprefix(_PREFIX))

    def check(self, text: str, options: LoadOptions) -> None:
        """Find the config and that it says which model it is for."""
        path = _config_path(text)
        config = read_config(path)
        _refuse_foreign(path, config)
        if not options.trust:
            checked(path, config)

    def load(self, text: str, options: LoadOptions) -> Loaded:
        """Build the class that the config names, or the usual one of its type."""
        from opcheck.source.building.huggingface.transformers_model import model_of
        from opcheck.source.building.quantised.packed import unseen_of
        from opcheck.source.building.ready import ready

        self.check(text, options)
        path = _config_path(text)
        model, notes = model_of(path, options)
        (unseen, packed), inputs = unseen_of(model, path, read_config(path), options), None
        if parts := parts_after(path):
            from opcheck.source.building.huggingface import sentence_pipeline

            inputs = sentence_pipeline.inputs_for(model, frozenset(i.name for i in options.inputs))
            model, unknown = sentence_pipeline.pipeline(model, parts)
            unseen = (*unseen, *unknown)
        return ready(
            model,
            inputs,
            options,
            kind=self.name,
            digest=base.digest_of_file(path),
            notes=(*_resolved(text, path), *notes, *packed),
            unseen=unseen,
        )


def _resolved(text: str, path: Path) -> tuple[str, ...]:
    """Say that a config beside the file that was named is what counts."""
    named = Path(text.removeprefix(_PREFIX))
    if named.is_dir() or named == path:
        return ()
    return (Sentence("{text_file} tells which model {text} is of", text_file=path, text=named),)


def _config_path(text: str) -> Path:
    name = text.removeprefix(_PREFIX)
    if not name:
        raise UsageError(
            Sentence("{text}: of which model?", text=text),
            Sentence("write {text}", text=TransformersConfig.help),
        )
    path = config_of(name)
    if path is not None:
        return path
    named = Path(name)
    if os.path.isdir(named):
        raise SourceError(
            Sentence("{text} has no {name}", text=named, name=CONFIG),
            Sentence("it is a diffusers pipeline: write it without hf:")
            if (named / INDEX).is_file()
            else Sentence("give the directory that holds the model's config.json"),
        )
    if not os.path.isfile(named):
        raise SourceError(
            Sentence("{text} is no directory or file here", text=repr(name)),
            Sentence(
                "nothing is downloaded: fetch the model's config.json and give "
                "hf:path/to/config.json"
            ),
        )
    return named


def _refuse_foreign(path: Path, config: Mapping[str, Any]) -> None:
    """Refuse what is no transformers config."""
    if "model_type" in config:
        return
    if CLASS in config:
        raise SourceError(
            Sentence(
                "{text_file}: a diffusers config ({class_name}), want one of transformers",
                text_file=path,
                class_name=config[CLASS],
            ),
            Sentence("write it without hf:"),
        )
    architecture = config.get("architecture")
    if isinstance(architecture, str):
        raise SourceError(
            Sentence(
                "{text_file}: a timm config ({name}), want one of transformers",
                text_file=path,
                name=architecture,
            ),
            Sentence("write timm:{name}", name=architecture),
        )
    raise SourceError(
        Sentence(
            "{text_file}: says no model_type, so it is no transformers config", text_file=path
        ),
        Sentence("add the model_type that the model's documentation names"),
    )
