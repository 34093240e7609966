"""GPTQ: the linear layers in a model's blocks, as optimum 2.3 puts GPTQModel's in their place.

Which ones: ``GPTQQuantizer.convert_model``, optimum/gptq/quantizer.py line 248, and the blocks that
optimum/gptq/constants.py line 16 lists.
"""

from collections.abc import Sequence
from typing import Any

from torch import nn

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence
from opcheck.source.building.quantised import gptqmodel_layers as layers
from opcheck.source.building.quantised.method import Method

_BITS = (2, 4, 8)
_GROUP = 128
_FORMATS = ("gptq", "gptq_v2")
_BLOCKS = (
    "transformer.h", "model.decoder.layers", "gpt_neox.layers", "model.layers",
    "model.language_model.layers", "h", "decoder.layers", "layers",
)  # fmt: skip


class GPTQ(Method):
    """Linear layers in the blocks of a text model; three bits are packed in another way."""

    name = "gptq"
    library = "gptqmodel"
    defaults = layers.KERNELS
    whole = layers.WHOLE

    def models(self, model: nn.Module) -> bool:
        """Weights that all have the same bits, in linear layers."""
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
            and not self.setting("dynamic")
        )

    def kept(self, model: nn.Module) -> Sequence[str]:
        """All that is in no block, and what of the blocks the config does not name."""
        block = self._block(model)
        asked = self.setting("modules_in_block_to_quantize")
        ends = None if asked is None else tuple(str(one) for group in asked for one in group)
        return [
            f"{name}$".replace(".", r"\.")
            for name, module in model.named_modules()
            if self.replaceable(module)
            and not (name.startswith(block) and (ends is None or name.endswith(ends)))
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
        size = self.setting("group_size", _GROUP)
        return layers.GPTQLinear(rows, columns, bias, self.setting("bits"), size)
