"""Folders that a model was saved to - their config, and weights that it says are quantised."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from opcheck.errors import SourceError
from opcheck.files import read_bytes
from opcheck.lang.sentence import Sentence
from opcheck.model.trace import QUANTISED, Gap
from opcheck.source.quantised_section import refused
from opcheck.source.sniff import Form, holds

CONFIG = "config.json"
INDEX = "model_index.json"
"""Names the parts of a diffusers pipeline."""
CLASS = "_class_name"
"""The key of a diffusers config that names its class."""
_SHARDS = ".index.json"
"""How the list of a model's weight files ends."""
_LIST = "model.safetensors.index.json"
"""Names every tensor of a checkpoint of several files."""
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
            Sentence(
                "{text_file}: cannot be read ({text_why})", text_file=path, text_why=error.strerror
            ),
            Sentence("give a model's config.json"),
        ) from error
    except RecursionError as error:
        raise SourceError(
            Sentence("{text_file}: nested too deeply to be a config", text_file=path),
            Sentence("was it saved completely?"),
        ) from error
    except ValueError as error:  # JSON or its encoding
        raise SourceError(
            Sentence("{text_file}: not JSON ({text})", text_file=path, text=error),
            Sentence("was it saved completely?"),
        ) from error
    if not isinstance(config, dict):
        raise SourceError(
            Sentence(
                "{text_file}: holds a {type}, want a JSON object",
                text_file=path,
                type=type(config).__name__,
            )
        )
    return config


_KEYS = ("quantization_config", "compression_config")
"""Where transformers and diffusers look for it; the second is an older one's."""
_METHODS = ("quant_method", "quant_type", "quantization_method", "quant_algo", "quant_mode")
_FILES = {
    "quantize_config.json": "gptq",
    "quant_config.json": "awq",
    "hf_quant_config.json": "modelopt",
    "quanto_qmap.json": "quanto",
    "quant_model_description.json": "msmodelslim",
}
"""Files beside a config that libraries wrote before it was in the config -> which method's."""
_BITSANDBYTES = "bitsandbytes"
_FLAGS = ("load_in_8bit", "load_in_4bit")
_BY_METHOD = (
    "the weights are quantised by {method}; what computes with them on the device was not seen"
)
_BY_SOMETHING = (
    "the weights are quantised by a method that it does not name; "
    "what computes with them on the device was not seen"
)
_WORD = re.compile(r"[\w.+-]{1,40}(?:/[\w.+-]{1,40})?")
_DEEPEST = 32


def quantised_weights(path: Path, config: Mapping[str, Any]) -> tuple[Gap, ...]:
    """What cannot be seen of a model whose weights its config, or a file beside it, says are so.

    Raises:
        SourceError: the library refuses what the config says of them.
    """
    found: dict[Gap, None] = {}
    for place, value in _sections(config, "", 0):
        why = refused(method_of(value), value)
        if why is not None:
            raise SourceError(
                Sentence("{text_file}: {place}: {why}", text_file=path, place=place, why=why),
                Sentence("transformers refuses to load such a config; correct it"),
            )
        found[_gap(f"{path}: {place}", value)] = None
    if not found:
        found = {_gap(str(file), {"quant_method": method}): None for file, method in _beside(path)}
    return tuple(found)


def quantised_modules(module: Any) -> tuple[Gap, ...]:
    """The same of a model that is there, by the configs that its modules carry."""
    found: dict[Gap, None] = {}
    for path, part in module.named_modules():
        config = vars(part).get("config", vars(part).get("_internal_dict"))
        for key in _KEYS:
            value = config.get(key) if isinstance(config, Mapping) else getattr(config, key, None)
            section = _plain(value)
            if _says_so(section):
                found[_gap(f"{path}.config" if path else "config", section)] = None
                break
        if found:
            break  # what is inside says the same again
    return tuple(found)


def _plain(value: Any) -> Any:
    """A section as a mapping: libraries make objects of their own of it."""
    if value is None or isinstance(value, Mapping):
        return value
    try:
        return {str(key): found for key, found in vars(value).items()}
    except TypeError:
        return None


def _sections(config: Any, place: str, depth: int) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every part of a config that says how weights are quantised, with the keys that lead to it."""
    if depth > _DEEPEST or not isinstance(config, Mapping):
        return
    for key, value in config.items():
        here = f"{place}.{key}" if place else str(key)
        if key in _KEYS:
            if _says_so(value):
                yield here, value
        else:
            yield from _sections(value, here, depth + 1)


def _says_so(section: Any) -> bool:
    """Whether anything is quantised by it: of bitsandbytes' two flags, one must be set."""
    if not isinstance(section, Mapping) or not section:
        return False
    if method_of(section) not in ("", _BITSANDBYTES):
        return True
    flags = [bool(section[name]) for name in _FLAGS if name in section]
    return not flags or any(flags)


def _beside(path: Path) -> Iterator[tuple[Path, str]]:
    for name, method in _FILES.items():
        file = path.parent / name
        try:
            if file.is_file() and read_config(file):
                yield file, method
        except (OSError, SourceError):  # no config that a library would read
            continue


def tensors_beside(path: Path) -> frozenset[str]:
    """Names of the tensors in the checkpoint beside a config, as the list of its files tells."""
    file = path.parent / _LIST
    try:
        names = read_config(file).get("weight_map") if file.is_file() else None
    except (OSError, SourceError):  # no list that a library would read
        return frozenset()
    return frozenset(map(str, names)) if isinstance(names, Mapping) else frozenset()


def _gap(where: str, section: Mapping[str, Any]) -> Gap:
    method = method_of(section)
    reason = Sentence(_BY_METHOD, method=method) if method else _BY_SOMETHING
    return Gap(where, reason, QUANTISED)


def method_of(section: Mapping[str, Any]) -> str:
    """The name of a section's method; "" where the config gives none.

    transformers takes bitsandbytes where one of its flags is set, whatever method is named:
    ``AutoQuantizationConfig.from_dict`` of 5.23, quantizers/auto.py line 164.
    """
    if any(section.get(flag) for flag in _FLAGS):
        return _BITSANDBYTES
    named = [section[key] for key in _METHODS if key in section]
    for value in named:
        text = str(getattr(value, "value", value))
        if _WORD.fullmatch(text):
            return text
    return ""
