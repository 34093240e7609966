"""What of a model's config reaches its library: nothing that names code, files or downloads.

Read in transformers 5.23, diffusers 0.42 and timm 1.0: these keys lead to an import, a lookup by
``getattr``, another file or the network, at whatever depth of a config they stand. All the others
are numbers, flags and names that the libraries look up in tables of their own.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence

_CODE = frozenset(("auto_map", "trust_remote_code", "custom_pipelines", "custom_generate"))
"""Keys that name Python files, beside the config or on the hub."""
_PLACES = frozenset(
    ("name_or_path", "_name_or_path", "_commit_hash", "adapter_kwargs", "transformers_weights")
)
"""Keys that say where else to look for code or weights; none is needed for a model as such."""
_LABELS = frozenset(("id2label", "label2id", "label_names", "quantization_config"))
"""Keys whose values are texts of the user's, or are read only together with weights."""
_PRETRAINED = "use_pretrained_backbone"
"""Has the weights of a part downloaded."""
_OTHER_CONFIG = "configuration_files"
_FLOAT, _FLOATS = "__float__", ("Infinity", "-Infinity", "NaN")
"""How transformers writes what JSON has no number for."""

ATTENTION = frozenset(("eager", "sdpa", "flex_attention", "paged|eager", "paged|sdpa"))
"""Ways to compute attention that are PyTorch's own. ``flash_attention_2`` and others import a
package, and any other name is one of a repository of kernels on the hub."""
EXPERTS = frozenset(("eager", "batched_mm", "grouped_mm"))
"""Ways to compute mixtures of experts that are PyTorch's own."""
DTYPES = frozenset(
    ("auto", "bfloat16", "bool", "chalf", "cdouble", "cfloat", "complex128", "complex32",
     "complex64", "double", "float", "float16", "float32", "float64", "float8_e4m3fn",
     "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu", "half", "int", "int16",
     "int32", "int64", "int8", "long", "short", "uint16", "uint32", "uint64", "uint8")
)  # fmt: skip
"""Names that are looked up in ``torch`` as a data type."""
_ARCHITECTURE = re.compile(r"[A-Za-z0-9][\w.-]{0,100}")
"""A model of timm by its name; ``local-dir:`` and ``hf-hub:`` would be looked up elsewhere."""
_CLASS = re.compile(r"[A-Za-z]\w{0,100}")
_WORD = re.compile(r"[A-Za-z_]\w{0,60}")
_TO_LIBRARY = re.compile(
    r"(?!pretrained|checkpoint)(?!(?:model|feature)_cfg$|model_name$|cache_dir$|kwargs_filter$)"
    r"[a-z_]\w{0,60}"
)
"""Names of arguments with which a model of timm is made, those left out that lead to a file."""
_COUNT = re.compile(
    r"(?!.*(?:size|dim|width|channel|step|interval|norm|type|max_))"
    r".*(?:layers?|depths?|blocks?|experts?|stages?|labels|classes)(?:_|$).*"
)
"""Names of how many of something there are to be, each of which is made."""
_MOST_PARTS = 20_000
"""More layers or experts than any model has; each is an object of Python's, made one by one."""
_MOST_LABELS = 1_000_000
_MOST_ITEMS = 256
_DEEPEST = 32

Check = Callable[[Any], bool]


def checked(path: Path, config: Mapping[str, Any]) -> dict[str, Any]:
    """The config without what names code and other places, in parts of it as well.

    Raises:
        SourceError: it has a value that the library would look up outside of itself.
    """
    return _part(path, config, "", 0)


def _part(path: Path, config: Mapping[str, Any], where: str, depth: int) -> dict[str, Any]:
    if depth > _DEEPEST:
        raise SourceError(
            Sentence("{text_file}: nested too deeply to be a config", text_file=path),
            Sentence("was it saved completely?"),
        )
    if _OTHER_CONFIG in config:
        raise _refused(
            path, f"{where}{_OTHER_CONFIG}", Sentence("names another config to read instead")
        )
    kept = {}
    for key, value in config.items():
        if key in _CODE or key in _PLACES:
            continue
        place = f"{where}{key}"
        if key in _LABELS:
            kept[key] = value
            continue
        _require(path, place, key, value)
        kept[key] = False if key == _PRETRAINED else _value(path, value, place, depth)
    return kept


def _value(path: Path, value: Any, place: str, depth: int) -> Any:
    if isinstance(value, dict):
        if set(value) == {_FLOAT} and value[_FLOAT] in _FLOATS:
            return float(value[_FLOAT])
        return _part(path, value, f"{place}.", depth + 1)
    if isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
        if depth >= _DEEPEST:
            raise SourceError(
                Sentence("{text_file}: nested too deeply to be a config", text_file=path),
                Sentence("was it saved completely?"),
            )
        return [_value(path, item, place, depth + 1) for item in value]
    return value


def _require(path: Path, place: str, key: str, value: Any) -> None:
    """Refuse a value that its library would look up elsewhere."""
    most = _MOST_LABELS if "labels" in key or "classes" in key else _MOST_PARTS
    if _COUNT.fullmatch(key) and _beyond(value, most):
        raise _refused(
            path,
            place,
            Sentence("is a larger number than any model has, {count} at most", count=f"{most:,}"),
        )
    fits, expected = _CHECKS.get(key, (None, ""))
    if fits is not None and not fits(value):
        raise _refused(
            path,
            place,
            Sentence("is {text}, want {said}", text=repr(str(value)[:60]), said=expected),
        )


def _beyond(value: Any, most: int) -> bool:
    if isinstance(value, list):
        return len(value) > most or any(_beyond(item, most) for item in value)
    return isinstance(value, int) and value > most


def _refused(path: Path, place: str, why: Sentence) -> SourceError:
    return SourceError(
        Sentence("{text_file}: {place} {said}", text_file=path, place=place, said=why),
        Sentence(
            "take the key out of the config; --trust leaves it to the library, if "
            "you know who wrote the file"
        ),
    )


def _of(names: frozenset[str]) -> Check:
    """A name of these, or one for each part of the model; what is no text leads nowhere."""

    def fits(value: Any) -> bool:
        if isinstance(value, dict):
            return all(fits(item) for item in value.values())
        return not isinstance(value, str) or value in names

    return fits


def _is_architecture(value: Any) -> bool:
    return not isinstance(value, str) or _ARCHITECTURE.fullmatch(value) is not None


def _are_classes(value: Any) -> bool:
    names = value if isinstance(value, list) else [value]
    return all(name is None or _is_class(name) for name in names)


def _is_class(name: Any) -> bool:
    return isinstance(name, str) and _CLASS.fullmatch(name) is not None


def _are_arguments(value: Any) -> bool:
    """Whether these arguments are numbers, words and lists of them, and none names a file."""
    if not isinstance(value, dict):
        return value is None
    return all(_TO_LIBRARY.fullmatch(key) and _is_plain(item) for key, item in value.items())


def _is_plain(value: Any) -> bool:
    if isinstance(value, list):
        return len(value) <= _MOST_ITEMS and all(
            not isinstance(item, dict) and _is_plain(item) for item in value
        )
    if isinstance(value, str):
        return _WORD.fullmatch(value) is not None
    return value is None or isinstance(value, int | float)


_CHECKS: Mapping[str, tuple[Check, str]] = {
    **dict.fromkeys(
        ("attn_implementation", "_attn_implementation", "_attn_implementation_internal"),
        (_of(ATTENTION), Sentence("one of {list}", list=", ".join(sorted(ATTENTION)))),
    ),
    **dict.fromkeys(
        ("experts_implementation", "_experts_implementation", "_experts_implementation_internal"),
        (_of(EXPERTS), Sentence("one of {list}", list=", ".join(sorted(EXPERTS)))),
    ),
    **dict.fromkeys(
        ("dtype", "torch_dtype", "router_dtype", "inference_state_dtype", "autocast_kernel_dtype"),
        (_of(DTYPES), Sentence("a data type of PyTorch")),
    ),
    "architectures": (_are_classes, Sentence("names of classes")),
    **dict.fromkeys(
        ("backbone", "architecture"),
        (_is_architecture, Sentence("the name of a model, no path and no URL")),
    ),
    **dict.fromkeys(
        ("model_args", "backbone_kwargs"),
        (_are_arguments, Sentence("numbers and words by name, no files")),
    ),
}
