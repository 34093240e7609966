"""GPTQ: the linear layers in a model's blocks, as optimum 2.3 puts GPTQModel's in their place.

Which ones: ``GPTQQuantizer.convert_model``, optimum/gptq/quantizer.py line 248, and the blocks that
optimum/gptq/constants.py line 16 lists. Patterns of ``dynamic``, which GPTQModel alone reads:
``_resolve_dynamic_override`` of GPTQModel 7.3.4, quantization/config.py line 1614.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from torch import nn

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence
from opcheck.source.building.quantised import gptqmodel_layers as layers
from opcheck.source.building.quantised.experts import together
from opcheck.source.building.quantised.gptqmodel_three_bits import ThreeBitLinear
from opcheck.source.building.quantised.method import (
    Method,
    Section,
    group_of,
    patterns_of,
    settings_of,
)
from opcheck.source.patterns import matches

_THREE = 3
_BITS = (2, _THREE, 4, 8)
_GROUP = 128
_FORMATS = ("gptq", "gptq_v2")
_BLOCKS = (
    "transformer.h", "model.decoder.layers", "gpt_neox.layers", "model.layers",
    "model.language_model.layers", "h", "decoder.layers", "layers",
)  # fmt: skip
_LEFT, _OTHERS = "-:", "+:"
"""What the patterns of ``dynamic`` begin with: layers that stay, and (or nothing) other weights."""
_DYNAMIC = Sentence(
    "transformers 5.23 does not read dynamic, and makes all layers as the rest of the config says: "
    "layers here are those that GPTQModel.load makes"
)


class GPTQ(Method):
    """Linear layers in the blocks of a text model; three bits are packed in another way."""

    name = "gptq"
    library = "gptqmodel"
    defaults = layers.KERNELS
    whole = layers.WHOLE

    def __init__(self, section: Section) -> None:
        super().__init__(section)
        self._paths: dict[nn.Module, str] = {}

    def models(self, model: nn.Module) -> bool:
        """Weights of linear layers; GPTQModel makes layers of experts, too, by ``dynamic``."""
        if getattr(model, "main_input_name", "input_ids") != "input_ids":
            raise SourceError(
                Sentence(
                    "{model} is no text model, and GPTQ packs these alone",
                    model=type(model).__name__,
                )
            )
        plain = self.setting("checkpoint_format") or self.setting("format") or "gptq"
        return (
            layers.chosen_by_device(self.setting("backend"))
            and str(plain).lower() in _FORMATS
            and self.setting("bits", 0) in _BITS
            and self._others_known(model)
        )

    def _others_known(self, model: nn.Module) -> bool:
        """Whether the layers that ``dynamic`` names are ones that are known here."""
        dynamic = self.setting("dynamic")
        if not dynamic:
            return True
        given = [found for found in settings_of("dynamic", dynamic).values() if found]
        patterns_of("dynamic", [_bare(pattern) for pattern in dynamic])
        self.notes = (*self.notes, _DYNAMIC)
        self._paths = {module: path for path, module in model.named_modules()}
        return not together(model) and all(found.get("bits", 4) in _BITS for found in given)

    def _others(self, path: str) -> Mapping[str, Any] | None:
        """What ``dynamic`` says of a layer, by the first pattern that matches; None: it stays."""
        for pattern, found in (self.setting("dynamic") or {}).items():
            if matches(_bare(pattern), path):
                return None if pattern.startswith(_LEFT) else found or {}
        return {}

    def kept(self, model: nn.Module) -> Sequence[str]:
        """All that is in no block, and what of the blocks the config does not name."""
        block = self._block(model)
        asked = self.setting("modules_in_block_to_quantize")
        ends = None if asked is None else tuple(str(one) for group in asked for one in group)
        return [
            f"{name}$".replace(".", r"\.")
            for name, module in model.named_modules()
            if self.replaceable(module)
            and not (
                name.startswith(block)
                and (ends is None or name.endswith(ends))
                and self._others(name) is not None
            )
        ]

    def _block(self, model: nn.Module) -> str:
        """What the names of layers in blocks begin with."""
        names = [name for name, _ in model.named_modules()]
        block = self.setting("block_name_to_quantize") or next(
            (known for known in _BLOCKS if any(name.startswith(known) for name in names)), None
        )
        if block is None:
            raise SourceError(
                Sentence(
                    "optimum knows no blocks of {model}, and block_name_to_quantize names none",
                    model=type(model).__name__,
                )
            )
        return str(block)

    def layer(self, linear: nn.Module, rows: int, columns: int) -> nn.Module:
        """One of GPTQModel's."""
        bias: Any = linear.bias
        own = self._others(self._paths.get(linear, "")) or {}
        size = group_of(own.get("group_size", self.setting("group_size", _GROUP)))
        bits = own.get("bits", self.setting("bits"))
        if bits == _THREE:
            return ThreeBitLinear(rows, columns, bias, size)
        return layers.GPTQLinear(rows, columns, bias, bits, size)


def _bare(pattern: str) -> str:
    return pattern.removeprefix(_LEFT).removeprefix(_OTHERS)
