"""Quantised parts of diffusers pipelines: layers packed by bitsandbytes, as diffusers packs them.

``replace_with_bnb_linear`` of diffusers 0.42, quantizers/bitsandbytes/utils.py line 48, and what
quantizers/bitsandbytes/bnb_quantizer.py keeps (line 250) and loads the rest in (line 220).
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import nn

from opcheck.lang.sentence import Sentence
from opcheck.model.trace import Gap
from opcheck.source.base import LoadOptions
from opcheck.source.building.quantised.bitsandbytes import BitsAndBytes
from opcheck.source.building.quantised.method import Method, patterns_of
from opcheck.source.building.quantised.packed import unseen_of
from opcheck.source.model_folder import method_of

_KEY = "quantization_config"
_SKIPPED = "llm_int8_skip_modules"
DTYPE = torch.float16
NOTE = Sentence(
    "diffusers loads what is not packed in float16 unless another dtype is given, as it is here"
)


class _OfDiffusers(BitsAndBytes):
    """Every linear layer that is not named: diffusers keeps none by itself."""

    notes = (NOTE,)
    refusal = Sentence("diffusers refuses to load such a config; correct it")

    def kept(self, model: nn.Module) -> Sequence[str]:
        """What the config names, and what the class keeps in float32."""
        return [*patterns_of(_SKIPPED, self.setting(_SKIPPED)), *_in_float32(model)]

    def keeps(self, path: str, kept: Sequence[str]) -> bool:
        """Whether the module has such a name, or is below one that has such a path."""
        name = path.rpartition(".")[2]
        return name in kept or any(f"{key}." in path or key == path for key in kept)

    def replaceable(self, module: nn.Module) -> bool:
        """A linear layer of any class."""
        return isinstance(module, nn.Linear)


_KINDS: Mapping[str, type[Method]] = {BitsAndBytes.name: _OfDiffusers}


def is_packed(config: Mapping[str, Any], options: LoadOptions) -> bool:
    """Whether a part is to be built with layers that are packed by a method known here."""
    section = config.get(_KEY)
    known = isinstance(section, Mapping) and method_of(section) in _KINDS
    return known and options.libraries is not None and not (options.weights or options.train)


def in_half(make: Callable[[], nn.Module]) -> nn.Module:
    """Build a part in the dtype in which diffusers loads it: the default one while it is made."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(DTYPE)
    try:
        model = make()
    finally:
        torch.set_default_dtype(before)
    whole = set(_in_float32(model))
    for name, parameter in model.named_parameters():
        if whole.intersection(name.split(".")):
            parameter.data = parameter.data.float()
    return model


def factory(
    make: Callable[[], nn.Module], config: Mapping[str, Any], options: LoadOptions
) -> Callable[[], nn.Module]:
    """What builds a part, in the dtype that its config leads to."""
    return partial(in_half, make) if is_packed(config, options) else make


def packed(
    model: nn.Module, path: Path, config: Mapping[str, Any], options: LoadOptions
) -> tuple[tuple[Gap, ...], tuple[str, ...]]:
    """Pack the layers of a part; gives what cannot be seen of it, and what a reader is to know.

    Raises:
        SourceError: the config contradicts itself, or the part.
    """
    return unseen_of(model, path, config, options, _KINDS)


def _in_float32(model: nn.Module) -> list[str]:
    named = getattr(model, "_keep_in_fp32_modules", None) or ()
    return [named] if isinstance(named, str) else list(named)
