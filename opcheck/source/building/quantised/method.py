"""What a method of packing weights is to a model: which layers it replaces, and by what."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import nn

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence
from opcheck.source.building.quantised.experts import at_random
from opcheck.source.patterns import matches

Section = Mapping[str, Any]
"""The part of a config that says how weights are packed."""
Kernel = Callable[..., Any]


class Method(ABC):
    """One way to pack weights, with the layers that the library puts in place of others."""

    name: ClassVar[str]
    """As ``quant_method`` names it."""
    library: ClassVar[str] = ""
    """The file of ``compat_db/schemas`` with its operators; "": it calls PyTorch's own alone."""
    others: ClassVar[tuple[str, ...]] = ()
    """More such files, of operators that it calls on some devices or with some settings."""
    defaults: ClassVar[Mapping[str, Kernel]] = {}
    """Operator -> what the library runs where no kernel is for the device, by PyTorch's own."""

    notes: tuple[str, ...] = ()
    """What a reader is to know of models that are packed so."""
    whole: ClassVar[Sentence | None] = None
    """The same of experts that a model keeps together, where the method leaves them as they are."""
    lists_experts: ClassVar[bool] = False
    """Whether transformers makes experts of Llama 4 linear layers before it packs those."""
    file: ClassVar[str] = ""
    """The file beside a config that is the section; "": it is in the config."""
    refusal: ClassVar[Sentence] = Sentence("transformers refuses to load such a config; correct it")
    """What a reader is to do about a section that contradicts itself."""

    def __init__(self, section: Section) -> None:
        self.section = section

    def unseen(self, model: nn.Module, names: Collection[str]) -> Sentence | None:
        """Why a packed model is not what the checkpoint is meant to be; None where it is.

        ``names`` are those of the checkpoint's tensors, where they are known.
        """
        return at_random(names) if self.whole in self.notes else None

    @abstractmethod
    def models(self, model: nn.Module) -> bool:
        """Whether what the section asks of the model is what the layers here do."""

    @abstractmethod
    def kept(self, model: nn.Module) -> Sequence[str]:
        """Patterns of the modules that stay as they are."""

    @abstractmethod
    def layer(self, linear: nn.Module, rows: int, columns: int) -> nn.Module:
        """What takes the place of a linear layer that gives ``rows`` of ``columns`` features.

        Raises:
            SourceError: the layer cannot be packed so.
        """

    def made(self, module: nn.Module) -> nn.Module:
        """What takes the place of a module that is replaceable.

        Raises:
            SourceError: it cannot be packed so.
        """
        return self.layer(module, *features(module))

    def kept_by(self, name: str, model: nn.Module, *, and_usual: bool = False) -> list[str]:
        """What the setting names, or what transformers keeps by itself; and what is of float32.

        With ``and_usual`` what it names is kept beside the usual. That is
        ``get_modules_to_not_convert`` of transformers 5.23, quantizers/base.py line 259.

        Raises:
            SourceError: the setting is no list of patterns.
        """
        named = self.setting(name)
        usual = usually_kept(model) if named is None or and_usual else ()
        whole = getattr(model, "_keep_in_fp32_modules", None) or ()
        return [*usual, *patterns_of(name, named), *whole]

    def keeps(self, path: str, kept: Sequence[str]) -> bool:
        """Whether the patterns have a module stay as it is."""
        return is_kept(path, kept)

    def replaceable(self, module: nn.Module) -> bool:
        """Whether the library replaces a module of this class."""
        return type(module) is nn.Linear

    def setting(self, name: str, default: Any = None) -> Any:
        """What the section has under a name; the library's default where it has nothing."""
        return self.section.get(name, default)


def replace(model: nn.Module, method: Method) -> int:
    """Put the packed layers into a model; gives how many.

    Raises:
        SourceError: a pattern of the config is none, or a layer cannot be packed so.
    """
    kept = method.kept(model)
    found = [
        (path, module)
        for path, module in model.named_modules()
        if path and method.replaceable(module) and not method.keeps(path, kept)
    ]
    for path, module in found:
        made = method.made(module)
        made.train(module.training)
        model.set_submodule(path, made)
    return len(found)


def features(linear: Any) -> tuple[int, int]:
    """How many features a linear layer gives and takes.

    Conv1D of transformers, which GPT-2 has, keeps its weight the other way round.
    """
    if hasattr(linear, "out_features"):
        return linear.out_features, linear.in_features
    columns, rows = linear.weight.shape
    return rows, columns


def is_kept(path: str, patterns: Sequence[str]) -> bool:
    """Whether a pattern names a module: from its start or as a regex, each up to a dot; or its end.

    That is ``should_convert_module`` of transformers 5.23, quantizers/quantizers_utils.py line 26.
    """
    return any(
        path.endswith(pattern) or matches(pattern, path, around=r"(?:{})(?:(?<=\.)|(?=\.|$))")
        for pattern in patterns
    )


def usually_kept(model: Any) -> Iterator[str]:
    """What transformers keeps where the config names no modules: the last one and what is tied.

    That is ``get_keys_to_not_convert`` of transformers 5.23, quantizers/base.py line 36.
    """
    tied = getattr(model, "all_tied_weights_keys", None) or {}
    output = model.get_output_embeddings() if hasattr(model, "get_output_embeddings") else None
    names = [*tied, *tied.values(), list(dict(model.named_parameters()))[-1]]
    names += [path for path, module in model.named_modules() if module is output]
    yield from dict.fromkeys(name.removesuffix(".weight") for name in names)


def names_of(name: str, value: Any) -> list[str]:
    """The names of a setting.

    Raises:
        SourceError: it is no list of names.
    """
    if value is None:
        return []
    said = Sentence("{name} is {text_value}, want a list of names", name=name, text_value=value)
    if not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
        raise SourceError(said)
    return list(value)


def settings_of(name: str, value: Any) -> Mapping[str, Any]:
    """The settings that a setting has for names; None for a name leaves it as it is.

    Raises:
        SourceError: it has none for names.
    """
    if value is None:
        return {}
    said = "{name} is {text_value}, want names with settings"
    if not isinstance(value, Mapping):
        raise SourceError(Sentence(said, name=name, text_value=value))
    for key, own in value.items():
        if own is not None and not isinstance(own, Mapping):
            raise SourceError(Sentence(said, name=f"{name}: {key}", text_value=own))
    return value


def group_of(value: Any) -> int:
    """How many weights share a scale; -1: all of a row.

    Raises:
        SourceError: it is no such number.
    """
    if not isinstance(value, int) or (value != -1 and value <= 0):
        raise SourceError(
            Sentence("group_size is {text_value}, want -1 or a positive integer", text_value=value)
        )
    return value


def patterns_of(name: str, value: Any) -> list[str]:
    """The modules that a setting names.

    Raises:
        SourceError: they are no list of patterns.
    """
    found = names_of(name, value)
    for one in found:
        try:
            re.compile(one)
        except re.error as error:
            raise SourceError(
                Sentence(
                    "{name} has {text_value}, which is no regular expression ({text})",
                    name=name, text_value=repr(one), text=error,
                )
            ) from error  # fmt: skip
    return found


def one_of(name: str, value: Any, known: Sequence[str]) -> str:
    """A setting that is one of a few words.

    Raises:
        SourceError: it is none of those that are known.
    """
    text = str(value)
    if text not in known:
        raise SourceError(
            Sentence(
                "{name} is {text_value}, want {list}",
                name=name, text_value=value, list=", ".join(known),
            )
        )  # fmt: skip
    return text


def dtype_of(name: str, value: Any, known: Sequence[torch.dtype]) -> torch.dtype:
    """The dtype that a setting names.

    Raises:
        SourceError: it is none of those that are known.
    """
    names = {str(dtype).removeprefix("torch."): dtype for dtype in known}
    return names[one_of(name, str(value).removeprefix("torch."), list(names))]
