"""``DIR`` of a diffusers pipeline: each model in it, from its config alone."""

import re
from collections.abc import Mapping
from pathlib import Path

from opcheck.errors import SourceError, UsageError
from opcheck.lang.sentence import Sentence
from opcheck.source import base
from opcheck.source.base import Loaded, LoadOptions, Source
from opcheck.source.config_values import checked
from opcheck.source.gguf_file import gguf_of
from opcheck.source.gguf_header import read_header
from opcheck.source.model_folder import (
    CONFIG,
    INDEX,
    config_of,
    is_pipeline_part,
    read_config,
)

_NO_MODEL = re.compile(
    r".*(Scheduler|Tokenizer(Fast)?|Processor(Fast)?|Extractor(Fast)?|ImageProcessor\w*)"
)
"""Classes of parts that compute nothing on a device."""
_PART = re.compile(r"[A-Za-z_]\w*")


class DiffusersPipeline(Source):
    """Builds the models of a pipeline that diffusers saved, or one of them; no weights read."""

    name = "diffusers"
    help = "DIR with model_index.json, or of one model of a pipeline (diffusers, no weights read)"
    libraries = ("diffusers", "transformers")

    @classmethod
    def claims(cls, text: str) -> bool:
        """Whether it is a directory or file of a pipeline, or of a model of one."""
        if _index_of(text) is not None:
            return True
        path = config_of(text)
        return path is not None and is_pipeline_part(path)

    def check(self, text: str, options: LoadOptions) -> None:
        """Find every config of the pipeline, and that each says which model it is for."""
        gguf = gguf_of(text)
        if gguf is not None:
            read_header(gguf)
        parts = _parts(text)
        for path in parts.values():
            config = read_config(path)
            if not options.trust:
                checked(path, config)
        if len(parts) > 1 and options.calls.input_sets:
            raise UsageError(
                Sentence("--inputs gives the inputs of one model, and a pipeline has several"),
                Sentence(
                    "scan one of them: {text}",
                    text=", ".join(str(path.parent) for path in parts.values()),
                ),
            )

    def load(self, text: str, options: LoadOptions) -> Loaded:
        """Build each model, and make the inputs that its config tells."""
        from opcheck.source.building.huggingface.diffusers_model import loaded_part, uncalled_part
        from opcheck.source.building.several import together

        self.check(text, options)
        parts = _parts(text)
        marks = base.digest_of_text("".join(base.digest_of_file(path) for path in parts.values()))
        if _index_of(text) is None:
            (path,) = parts.values()
            return loaded_part(path, options, self.name, marks, gguf_of(text))
        made, uncalled = {}, {}
        for name, path in parts.items():
            try:
                made[name] = loaded_part(path, options, self.name, marks)
            except SourceError as error:  # the other parts are still worth an answer
                uncalled[name] = uncalled_part(error, self.name, marks)
        return together({**made, **uncalled})  # what fails ends the run


def _index_of(text: str) -> Path | None:
    path = Path(text)
    try:
        beside = path / INDEX if path.is_dir() else path
        return beside if beside.name == INDEX and beside.is_file() else None
    except (OSError, ValueError):  # a name that no file can have
        return None


def _parts(text: str) -> Mapping[str, Path]:
    """The configs of the models by name, in the order of their names."""
    index = _index_of(text)
    if index is None:
        path = config_of(text)
        assert path is not None, "claims() said so"
        return {path.parent.name: path}
    listed = read_config(index)
    found = {
        name: index.parent / name / CONFIG
        for name, part in sorted(listed.items())
        if _is_model(index, name, part)
    }
    missing = [name for name, path in found.items() if not path.is_file()]
    if missing:
        raise SourceError(
            Sentence(
                "{text_file} names {list}, and {text} is not there",
                text_file=index,
                list=", ".join(missing),
                text=found[missing[0]],
            ),
            Sentence("fetch the config of every part; weights are not needed"),
        )
    if not found:
        raise SourceError(
            Sentence("{text_file} names no model", text_file=index),
            Sentence("was the pipeline saved completely?"),
        )
    return found


def _is_model(index: Path, name: str, part: object) -> bool:
    """Whether an item of the index is a part of the pipeline that runs on a device."""
    if name.startswith("_") or not isinstance(part, list):
        return False
    if len(part) != 2 or not all(isinstance(word, str) for word in part):
        if part == [None, None]:  # left out of this pipeline
            return False
        raise SourceError(
            Sentence(
                "{text_file}: {name} is {text}, want a library and a class",
                text_file=index,
                name=name,
                text=part,
            ),
            Sentence('write it as ["diffusers", "UNet2DConditionModel"]'),
        )
    if not _PART.fullmatch(name):
        raise SourceError(
            Sentence("{text_file}: {text} is no name of a part", text_file=index, text=repr(name)),
            Sentence("name the folder of the part"),
        )
    return _NO_MODEL.fullmatch(part[1]) is None
