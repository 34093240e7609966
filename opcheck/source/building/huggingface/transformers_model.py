"""Which transformers class a config is for, built without weights or with those beside it."""

import difflib
from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct
from packaging.version import Version

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence
from opcheck.source.base import LoadOptions
from opcheck.source.building.build import build
from opcheck.source.building.failures import brief, import_library
from opcheck.source.config_values import checked
from opcheck.source.model_folder import read_config

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
    return (
        Sentence(
            "the weights beside the config lack {text} ({text_names}): they are random",
            text=shown,
            text_names=len(names),
        ),
    )


_TASKS = (
    "AutoModelForSeq2SeqLM",
    "AutoModelForSpeechSeq2Seq",
    "AutoModelForMaskedLM",
    "AutoModelForCausalLM",
    "AutoModelForImageTextToText",
    "AutoModelForZeroShotImageClassification",
    "AutoModelForZeroShotObjectDetection",
    "AutoModelForImageClassification",
    "AutoModelForObjectDetection",
    "AutoModelForUniversalSegmentation",
    "AutoModelForSemanticSegmentation",
    "AutoModelForDepthEstimation",
    "AutoModelForMaskGeneration",
    "AutoModelForVideoClassification",
    "AutoModelForCTC",
    "AutoModelForAudioClassification",
    "AutoModelForTextToSpectrogram",
    "AutoModelForTextToWaveform",
    "AutoModel",
)
"""What a config that names no class is for, most telling first: an encoder-decoder is meant to
generate, and a model that can fill in masks is no decoder."""


def model_of(path: Path, options: LoadOptions) -> tuple[Any, tuple[str, ...]]:
    """Build the model of a config file; gives it with the notes.

    With ``options.trust``, classes defined in Python files beside the config may be used.
    """
    transformers = import_library("transformers")
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    config = _config(transformers, path, options.trust)
    custom = _custom(transformers, config) if options.trust else None
    chosen = custom or chosen_for(transformers, config)
    what = Sentence("the model of {text}", text=path)
    if not (options.weights and beside(path)):
        model, notes = build(what, chosen.make, weights=options.weights)
        return model, (chosen.note, *notes, *options.random_weights)
    (model, lacking), notes = build(
        what,
        lambda: (chosen.make(), ()),
        Sentence(
            "were the weights beside the config copied completely? without --values none are read"
        ),
        weights=True,
        stored=partial(load, transformers, chosen.loader, path, config),
    )
    return model, (chosen.note, *notes, *lacking)


class _Chosen(Struct, frozen=True):
    """A class for a config."""

    make: Callable[[], Any]
    """Builds the model from the config alone."""
    loader: Callable[..., Any]
    """Its ``from_pretrained``."""
    note: str
    """Why that one."""


def _config(transformers: Any, path: Path, trust: bool) -> Any:
    """The config object; without trust, made from what of the file may reach the library."""
    content = {} if trust else checked(path, read_config(path))
    try:
        if not trust:
            return config_class(transformers, content).from_dict(content)
        return transformers.AutoConfig.from_pretrained(
            str(place_of(path)), trust_remote_code=True, local_files_only=True
        )
    except Exception as error:  # each config class checks its fields in its own way
        raw = read_config(path)  # transformers refuses some JSON
        kind = raw["model_type"]
        if not isinstance(kind, str) or kind in transformers.CONFIG_MAPPING:
            raise SourceError(
                Sentence(
                    "{text_file}: transformers refuses it: {text}",
                    text_file=path,
                    text=brief(error),
                )
            ) from error
        version = transformers.__version__
        raise SourceError(
            Sentence(
                "{text_file}: transformers {version} does not know model_type {text}",
                text_file=path,
                version=version,
                text=repr(kind),
            ),
            _unknown_hint(kind, list(transformers.CONFIG_MAPPING), "auto_map" in raw),
        ) from error


def config_class(transformers: Any, content: Mapping[str, Any]) -> Any:
    """The class of a config as ``AutoConfig`` chooses it; nothing is read or imported for it."""
    kind = content["model_type"]
    known = transformers.CONFIG_MAPPING
    if kind == "mistral" and "layer_types" in content and "ministral" in known:
        kind = "ministral"  # newer ones are saved under the older name
    return known[kind]


def _unknown_hint(kind: str, known: list[str], has_code: bool) -> Sentence:
    if has_code:
        return Sentence("--trust uses the Python files beside the config, which may do anything")
    near = difflib.get_close_matches(kind, known, 3)
    return (
        Sentence("did you mean {text}?", text=", ".join(near))
        if near
        else Sentence("a newer transformers may know it")
    )


def _custom(transformers: Any, config: Any) -> _Chosen | None:
    """What builds a model from code beside its config, if the config names such code."""
    named = getattr(config, "auto_map", None) or {}
    task = next((task for task in _TASKS if task in named), None)
    if task is None:
        return None
    auto = getattr(transformers, task)
    return _Chosen(
        partial(auto.from_config, config, trust_remote_code=True),
        partial(auto.from_pretrained, trust_remote_code=True),
        Sentence("built as {name}, from code beside the config", name=named[task]),
    )


def chosen_for(transformers: Any, config: Any) -> _Chosen:
    """What builds a model of a class that transformers has, and a note saying why that one."""
    try:
        chosen, note = _class(transformers, config)
        # private, and what from_config calls: it alone applies the config's dtype
        loader = partial(chosen.from_pretrained, trust_remote_code=False)
        return _Chosen(partial(chosen._from_config, config), loader, note)
    except SourceError:
        raise
    except Exception as error:  # its classes load late, and may want libraries of their own
        raise SourceError(
            Sentence(
                "transformers cannot load its model for the config type {text}: {text_why}",
                text=repr(config.model_type),
                text_why=brief(error),
            ),
            Sentence("install what it asks for, or give the config of another part of the model"),
        ) from error


def _class(transformers: Any, config: Any) -> tuple[Any, str]:
    """The class to build, and a note saying why that one."""
    for name in getattr(config, "architectures", None) or ():
        found = getattr(transformers, str(name), None)
        if found is None:
            continue
        if isinstance(found, type) and issubclass(found, transformers.PreTrainedModel):
            return found, Sentence("built as {name}, which the config names", name=name)
        raise SourceError(
            Sentence(
                "the config names {text} as its class, which is no model of transformers",
                text=repr(name),
            ),
            Sentence("take it out of architectures, or put the model's class there"),
        )
    for task in _TASKS:
        auto = getattr(transformers, task, None)
        if auto is None or type(config) not in auto._model_mapping:
            continue
        found = auto._model_mapping[type(config)]
        found = found[0] if isinstance(found, tuple) else found
        return found, Sentence(
            "built as {name}: the config names no class of transformers", name=found.__name__
        )
    raise SourceError(
        Sentence(
            "transformers has no model for the config type {text}", text=repr(config.model_type)
        ),
        Sentence("give the config of the whole model"),
    )
