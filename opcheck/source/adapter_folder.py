"""Folders of an adapter as PEFT saves it: what it adds, and where the base model's config is.

Fields and how names are matched are those of PEFT 0.21.2: LoraConfig (tuners/lora/config.py),
check_target_module_exists (tuners/tuners_utils.py line 2337).
"""

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence
from opcheck.source.model_folder import CONFIG, read_config
from opcheck.source.patterns import matches

ADAPTER = "adapter_config.json"
_BASE = "base_model_name_or_path"
_REPOSITORY = re.compile(r"[\w.-]{1,96}/[\w.-]{1,96}")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_MOST_RANK = 2**16
_OTHERWISE = (
    "use_dora", "use_qalora", "use_bdlora", "alora_invocation_tokens", "arrow_config",
    "layer_replication", "target_parameters", "trainable_token_indices", "velora_config",
    "monteclora_config", "kasa_config", "megatron_config", "layers_pattern",
)  # fmt: skip
"""Fields by which the layers compute otherwise, or which have others be changed."""

Names = tuple[str, ...] | str
"""Names of modules, or a pattern that their whole paths match."""


class Adapter(Struct, frozen=True):
    """A LoRA adapter."""

    rank: int
    alpha: float
    dropout: float = 0.0
    targets: Names = ()
    exclude: Names = ()
    layers: tuple[int, ...] = ()
    """Numbers of the layers that it is for; () for all."""
    saved: tuple[str, ...] = ()
    """Modules that are trained whole."""
    ranks: Mapping[str, int] = {}
    """Patterns of paths whose rank is another."""
    root: bool = False
    """Whether its part is divided by the root of the rank, and not by the rank."""
    bias: str = "none"
    """Which biases of the base are trained: none, all, lora_only."""
    own_bias: bool = False
    """Whether its second matrix has a bias."""

    def has(self, path: str) -> bool:
        """Whether it adds to the module at a path."""
        if _named(self.exclude, path) or any(
            re.match(rf"(^|.*\.){re.escape(name)}($|\..*)", path) for name in self.saved
        ):
            return False
        found = _named(self.targets, path)
        if isinstance(self.targets, str) or not (found and self.layers):
            return found
        number = re.match(r".*?\.[^.]*\.(\d+)\.", path)
        return number is not None and int(number[1]) in self.layers

    def rank_of(self, path: str) -> int:
        """The rank of what it adds to the module at a path."""
        keys = (k for k in self.ranks if matches(k, path, around=r"(.*\.)?({})$"))
        return self.ranks.get(next(keys, ""), self.rank)


def _named(names: Names, path: str) -> bool:
    if isinstance(names, str):
        return bool(names) and matches(names, path, whole=True)
    return path in names or any(path.endswith(f".{name}") for name in names)


def is_adapter(text: str) -> bool:
    """Whether it is a folder of an adapter, or its config."""
    path = Path(text)
    try:
        return (path.name == ADAPTER and path.is_file()) or (path / ADAPTER).is_file()
    except (OSError, ValueError):  # a name that no file can have
        return False


def adapter_config(text: str) -> Path:
    """The config of the adapter that a folder, or the config itself, is of."""
    path = Path(text)
    return path if path.name == ADAPTER else path / ADAPTER


def read_adapter(path: Path) -> Adapter:
    """What the config of an adapter says that it adds.

    Raises:
        SourceError: it says nothing that is known here, or something that cannot be.
    """
    config = read_config(path)
    kind = str(config.get("peft_type", "")).upper()
    if kind != "LORA":
        raise SourceError(
            Sentence("{text_file}: peft_type is {text}", text_file=path, text=repr(kind.lower())),
            Sentence(
                "only adapters of LoRA are built from their config; give FILE.py:FUNCTION with a "
                "function that builds the model and its adapter"
            ),
        )
    for name in _OTHERWISE:
        if config.get(name):
            raise SourceError(
                Sentence(
                    "{text_file}: {name} has it compute otherwise than LoRA does",
                    text_file=path,
                    name=name,
                ),
                Sentence(
                    "give FILE.py:FUNCTION with a function that builds the model and its adapter"
                ),
            )
    field = _Fields(path, config)
    layers = field.of("layers_to_transform", _numbers, ())
    return Adapter(
        rank=field.of("r", _rank, 8),
        alpha=field.of("lora_alpha", _number, 8.0),
        dropout=field.of("lora_dropout", _share, 0.0),
        targets=field.of("target_modules", _names),
        exclude=field.of("exclude_modules", _names, ()),
        layers=layers,
        saved=field.of("modules_to_save", _list, ()),
        ranks=field.of("rank_pattern", _ranks, {}),
        root=field.of("use_rslora", _flag, False),
        bias=field.of("bias", _bias, "none"),
        own_bias=field.of("lora_bias", _flag, False),
    )


class _Fields(Struct, frozen=True):
    """The fields of a config, each read by what it is to be."""

    path: Path
    config: Mapping[str, Any]

    def of(self, name: str, read: Callable[[Any], Any], default: Any = None) -> Any:
        """A field; the default where it is left out or null.

        Raises:
            SourceError: it is none that PEFT takes.
        """
        value = self.config.get(name)
        if value is None and default is not None:
            return default
        try:
            return read(value)
        except (ValueError, TypeError, re.error) as error:
            raise SourceError(
                Sentence(
                    "{text_file}: {name} is {text}, want {said}",
                    text_file=self.path,
                    name=name,
                    text=repr(value)[:60],
                    said=Sentence(_WANTED[read]),
                ),
                Sentence("PEFT refuses to load such a config; correct it"),
            ) from error


def _require(holds: bool) -> None:
    if not holds:
        raise ValueError


def _rank(value: Any) -> int:
    _require(type(value) is int and 0 < value <= _MOST_RANK)
    return int(value)


def _number(value: Any) -> float:
    _require(isinstance(value, int | float) and not isinstance(value, bool))
    return float(value)


def _share(value: Any) -> float:
    found = _number(value)
    _require(0 <= found <= 1)
    return found


def _flag(value: Any) -> bool:
    _require(isinstance(value, bool))
    return bool(value)


def _bias(value: Any) -> str:
    _require(value in ("none", "all", "lora_only"))
    return str(value)


def _list(value: Any) -> tuple[str, ...]:
    _require(isinstance(value, list) and all(isinstance(name, str) and name for name in value))
    return tuple(value)


def _names(value: Any) -> Names:
    if isinstance(value, str):
        _require(bool(value) and value != "all-linear")
        re.compile(value)
        return value
    found = _list(value)
    _require(bool(found))
    return found


def _numbers(value: Any) -> tuple[int, ...]:
    found = value if isinstance(value, list) else [value]
    _require(all(type(one) is int and one >= 0 for one in found))
    return tuple(found)


def _ranks(value: Any) -> dict[str, int]:
    _require(isinstance(value, dict))
    return {re.compile(key).pattern: _rank(rank) for key, rank in value.items()}


_WANTED: Mapping[Callable[[Any], Any], str] = {
    _rank: "a whole number from 1 on",
    _number: "a number",
    _share: "a number from 0 to 1",
    _flag: "true or false",
    _bias: "none, all or lora_only",
    _list: "a list of names",
    _names: "a list of names, or a pattern of them",
    _numbers: "a whole number, or a list of them",
    _ranks: "whole numbers by name",
}


def base_config(path: Path) -> Path:
    """The config of the model that the adapter with this config is for.

    It is looked for beside it, where it says, and among what the hub's library has downloaded.

    Raises:
        SourceError: it is nowhere there.
    """
    name = read_config(path).get(_BASE)
    found = [path.parent / CONFIG]
    if isinstance(name, str) and name:
        found += [path.parent / name / CONFIG, Path(name) / CONFIG, *_downloaded(name)]
    for one in found:
        try:
            if one.is_file():
                return one
        except (OSError, ValueError):  # a name that no file can have
            continue
    raise SourceError(
        Sentence(
            "{text_file}: the base model {text} is not here", text_file=path, text=repr(name)[:120]
        )
        if name
        else Sentence("{text_file}: names no base model", text_file=path),
        Sentence("nothing is downloaded: put the base model's config.json beside the adapter's"),
    )


def _downloaded(name: str) -> tuple[Path, ...]:
    """Where a model of the hub is kept once it was downloaded, as huggingface_hub lays it out."""
    if not _REPOSITORY.fullmatch(name):
        return ()
    home = os.environ.get("HF_HOME") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "huggingface"
    )
    folder = Path(os.environ.get("HF_HUB_CACHE") or os.path.join(home, "hub"))
    kept = folder / f"models--{name.replace('/', '--')}"
    try:
        commit = (kept / "refs" / "main").read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ()
    return (kept / "snapshots" / commit / CONFIG,) if _COMMIT.fullmatch(commit) else ()
