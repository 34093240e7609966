"""Quantised parts of diffusers pipelines: layers packed as diffusers packs them.

diffusers 0.42: ``replace_with_bnb_linear``, quantizers/bitsandbytes/utils.py line 48, and what
quantizers/bitsandbytes/bnb_quantizer.py keeps (line 250) and loads the rest in (line 220);
quantizers/autoround/autoround_quantizer.py, line 62; quantizers/torchao/torchao_quantizer.py, lines
345 and 220; ``_replace_with_quanto_layers``, quantizers/quanto/utils.py line 12, and
quanto_quantizer.py line 135.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import nn

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence
from opcheck.model.trace import Gap
from opcheck.source.base import LoadOptions
from opcheck.source.building.huggingface.diffusers_nunchaku import NunchakuLite
from opcheck.source.building.quantised.auto_round import AutoRound
from opcheck.source.building.quantised.bitsandbytes import BitsAndBytes
from opcheck.source.building.quantised.method import Method, Section, patterns_of
from opcheck.source.building.quantised.packed import unseen_of
from opcheck.source.building.quantised.quanto import Quanto
from opcheck.source.building.quantised.torchao import TorchAO
from opcheck.source.model_folder import method_of

_KEY = "quantization_config"
_SKIPPED = "llm_int8_skip_modules"
_NAMED = "modules_to_not_convert"
_REFUSED = Sentence("diffusers refuses to load such a config; correct it")


def note(dtype: str) -> Sentence:
    """What a reader is to know of all that is not packed."""
    return Sentence(
        "diffusers loads what is not packed in {dtype} unless another dtype is given, as it is "
        "here",
        dtype=dtype,
    )


class _OfDiffusers(BitsAndBytes):
    """Every linear layer that is not named: diffusers keeps none by itself."""

    dtype: ClassVar[torch.dtype] = torch.float16
    notes = (note("float16"),)
    refusal = _REFUSED

    def kept(self, model: nn.Module) -> Sequence[str]:
        """What the config names, and what the class keeps in float32."""
        return [*patterns_of(_SKIPPED, self.setting(_SKIPPED)), *in_float32(model)]

    def keeps(self, path: str, kept: Sequence[str]) -> bool:
        """Whether the module has such a name, or is below one that has such a path."""
        name = path.rpartition(".")[2]
        return name in kept or any(f"{key}." in path or key == path for key in kept)

    def replaceable(self, module: nn.Module) -> bool:
        """A linear layer of any class."""
        return isinstance(module, nn.Linear)


class _TorchAOOfDiffusers(TorchAO):
    """Every linear layer that is not named, and whose sizes the library packs."""

    dtype: ClassVar[torch.dtype] = torch.bfloat16
    notes = (note("bfloat16"),)
    refusal = _REFUSED
    whole = None

    def kept(self, model: nn.Module) -> Sequence[str]:
        """Paths of what the config names, what the class keeps, and what cannot be packed."""
        named = [*patterns_of(_NAMED, self.setting(_NAMED)), *in_float32(model)]
        return [
            path
            for path, module in model.named_modules()
            if self.replaceable(module)
            and (any(f"{key}." in f"{path}." for key in named) or not self.fits(module))
        ]

    def keeps(self, path: str, kept: Sequence[str]) -> bool:
        """Whether it is one of these."""
        return path in kept

    def replaceable(self, module: nn.Module) -> bool:
        """A linear layer of any class."""
        return isinstance(module, nn.Linear)


class _QuantoOfDiffusers(Quanto):
    """Every linear layer whose own name is not named."""

    dtype: ClassVar[torch.dtype] = torch.float32
    notes = (*Quanto.notes, note("float32"))
    refusal = _REFUSED
    whole = None

    def __init__(self, section: Section) -> None:
        super().__init__({**section, "weights": section.get("weights_dtype", "int8")})

    def kept(self, model: nn.Module) -> Sequence[str]:
        """What the config names, and what the class keeps in float32."""
        return [*patterns_of(_NAMED, self.setting(_NAMED)), *in_float32(model)]

    def keeps(self, path: str, kept: Sequence[str]) -> bool:
        """Whether the module has such a name."""
        return path.rpartition(".")[2] in kept


class _AutoRoundOfDiffusers(AutoRound):
    """Linear layers of blocks; auto-round keeps none by itself of a model that is no LLM.

    ``get_keys_to_not_convert``, auto_round/inference/convert_model.py line 80. Models of float32,
    which its kernels do not take, it makes float16: ``post_init``, line 803.
    """

    dtype: ClassVar[torch.dtype] = torch.float16
    notes = (*AutoRound.notes, note("float16"))
    refusal = _REFUSED

    def usual(self, model: nn.Module) -> Sequence[str]:
        """Nothing."""
        return ()


class _NunchakuOfDiffusers(NunchakuLite):
    """Those layers, and what a reader is to know of the others."""

    refusal = _REFUSED

    @property
    def loads_in(self) -> torch.dtype:
        """The dtype in which the part is made; an unknown one is refused when it is packed."""
        with suppress(SourceError):
            return self.dtype
        return torch.bfloat16

    def models(self, model: nn.Module) -> bool:
        """Every valid section."""
        known = super().models(model)
        self.notes = (*self.notes, note(str(self.dtype).removeprefix("torch.")))
        return known


_KINDS: Mapping[str, type[Method]] = {
    AutoRound.name: _AutoRoundOfDiffusers,
    BitsAndBytes.name: _OfDiffusers,
    NunchakuLite.name: _NunchakuOfDiffusers,
    Quanto.name: _QuantoOfDiffusers,
    TorchAO.name: _TorchAOOfDiffusers,
}
_DTYPES = {
    kind.name: kind.dtype
    for kind in (_OfDiffusers, _QuantoOfDiffusers, _TorchAOOfDiffusers, _AutoRoundOfDiffusers)
}


def is_packed(config: Mapping[str, Any], options: LoadOptions) -> bool:
    """Whether a part is to be built with layers that are packed by a method known here."""
    section = config.get(_KEY)
    known = isinstance(section, Mapping) and method_of(section) in _KINDS
    return known and options.libraries is not None and not (options.weights or options.train)


def in_dtype(make: Callable[[], nn.Module], dtype: torch.dtype) -> nn.Module:
    """Build a part in the dtype in which diffusers loads it: the default one while it is made."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        model = make()
    finally:
        torch.set_default_dtype(before)
    whole = set(in_float32(model))
    for name, parameter in model.named_parameters():
        if whole.intersection(name.split(".")):
            parameter.data = parameter.data.float()
    return model


def factory(
    make: Callable[[], nn.Module], config: Mapping[str, Any], options: LoadOptions
) -> Callable[[], nn.Module]:
    """What builds a part, in the dtype that its config leads to."""
    if not is_packed(config, options):
        return make
    section = config[_KEY]
    method = method_of(section)
    dtype = _NunchakuOfDiffusers(section).loads_in if method == NunchakuLite.name else None
    return partial(in_dtype, make, dtype or _DTYPES[method])


def packed(
    model: nn.Module, path: Path, config: Mapping[str, Any], options: LoadOptions
) -> tuple[tuple[Gap, ...], tuple[str, ...]]:
    """Pack the layers of a part; gives what cannot be seen of it, and what a reader is to know.

    Raises:
        SourceError: the config contradicts itself, or the part.
    """
    return unseen_of(model, path, config, options, _KINDS)


def in_float32(model: nn.Module) -> list[str]:
    """Names of the modules that a class keeps in float32."""
    named = getattr(model, "_keep_in_fp32_modules", None) or ()
    return [named] if isinstance(named, str) else list(named)
