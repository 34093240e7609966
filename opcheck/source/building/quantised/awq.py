"""AWQ: every linear layer but the last one, as transformers 5.23 puts GPTQModel's in their place.

``replace_with_awq_linear``, integrations/awq.py line 53; quantizers/quantizer_awq.py line 68.
"""

from collections.abc import Sequence
from typing import Any

from torch import nn

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence
from opcheck.source.building.quantised import gptqmodel_layers as layers
from opcheck.source.building.quantised.awq_gemv import LAYERS
from opcheck.source.building.quantised.method import Method, group_of, one_of

_BITS = 4
_GROUP = 128
_LAYOUTS = ("gemm", "gemv", "gemv_fast", "llm-awq")
_BY_LAYOUT = ("llm-awq",)
"""Words for a backend that name a layout instead (line 846)."""
_WORD = 8
"""Weights of four bits in an integer of 32."""


class AWQ(Method):
    """Four bits in the layout that is called GEMM, and in those for one row at a time."""

    name = "awq"
    library = "gptqmodel"
    defaults = layers.KERNELS
    whole = layers.WHOLE

    def models(self, model: nn.Module) -> bool:
        """Layouts that transformers knows (quantization_config.py line 851)."""
        return (
            layers.chosen_by_device(self.setting("backend"), *_BY_LAYOUT)
            and self._layout() in (_LAYOUTS[0], *LAYERS)
            and self.setting("bits", _BITS) == _BITS
        )

    def _layout(self) -> str:
        if str(self.setting("backend")).lower() == _LAYOUTS[-1]:
            return _LAYOUTS[-1]
        layout = self.setting("version") or self.setting("format") or _LAYOUTS[0]
        return one_of("version", str(layout).lower(), _LAYOUTS)

    def kept(self, model: nn.Module) -> Sequence[str]:
        """What the config names, and what transformers keeps by itself."""
        return self.kept_by("modules_to_not_convert", model, and_usual=True)

    def replaceable(self, module: nn.Module) -> bool:
        """Linear layers of any class."""
        return isinstance(module, nn.Linear)

    def layer(self, linear: nn.Module, rows: int, columns: int) -> nn.Module:
        """One of GPTQModel's."""
        bias: Any = linear.bias
        size = self.setting("group_size", _GROUP)
        check_sizes(rows, columns, size)
        layer = LAYERS.get(self._layout())
        if layer is not None:
            return layer(rows, columns, bias, size)
        return layers.AWQLinear(rows, columns, bias, _BITS, size)


def check_sizes(rows: int, columns: int, size: Any) -> None:
    """Refuse a layer whose features do not fill words and groups.

    Raises:
        SourceError: they do not.
    """
    group_of(size)
    if rows % _WORD:
        raise SourceError(
            Sentence(
                "a layer gives {columns} features, and AWQ packs {figure} of them in a word",
                columns=rows, figure=_WORD,
            )
        )  # fmt: skip
    if columns % (columns if size == -1 else size):
        raise SourceError(
            Sentence(
                "group_size is {text_value}, which does not divide {columns} features",
                text_value=size, columns=columns,
            )
        )  # fmt: skip
