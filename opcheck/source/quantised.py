"""Weights that a config says are quantised: a model built from it has ordinary ones."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence
from opcheck.model.trace import QUANTISED, Gap
from opcheck.source.model_folder import read_config

_KEYS = ("quantization_config", "compression_config")
"""Where transformers and diffusers look for it; the second is an older one's."""
_METHODS = ("quant_method", "quant_type", "quantization_method", "quant_algo", "quant_mode")
_FILES = {
    "quantize_config.json": "gptq",
    "quant_config.json": "awq",
    "hf_quant_config.json": "modelopt",
    "quanto_qmap.json": "quanto",
}
"""Files beside a config that libraries wrote before it was in the config -> which method's."""
_FLAGS = {"load_in_8bit": "bitsandbytes", "load_in_4bit": "bitsandbytes"}
_BY_METHOD = (
    "the weights are quantised by {method}; what computes with them on the device was not seen"
)
_BY_SOMETHING = (
    "the weights are quantised by a method that it does not name; "
    "what computes with them on the device was not seen"
)
_WORD = re.compile(r"[\w.+-]{1,40}")
_DEEPEST = 32


def quantised_weights(path: Path, config: Mapping[str, Any]) -> tuple[Gap, ...]:
    """What cannot be seen of a model whose weights its config, or a file beside it, says are so."""
    found = {_gap(f"{path}: {place}", value): None for place, value in _sections(config, "", 0)}
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


def _gap(where: str, section: Mapping[str, Any]) -> Gap:
    method = _method(section)
    reason = Sentence(_BY_METHOD, method=method) if method else _BY_SOMETHING
    return Gap(where, reason, QUANTISED)


def _method(section: Mapping[str, Any]) -> str:
    """The name of the method; "" where the config gives none."""
    named = [section[key] for key in _METHODS if key in section]
    named += [method for flag, method in _FLAGS.items() if section.get(flag)]
    for value in named:
        text = str(getattr(value, "value", value))
        if _WORD.fullmatch(text):
            return text
    return ""
