"""HIGGS: groups of weights in a table after a Hadamard transform, multiplied by FLUTE on CUDA.

``HiggsLinear`` of transformers 5.23, integrations/higgs.py line 490, which calls
``flute.qgemm_hadamard`` of FLUTE 0.4.2, and which layers it takes the place of: line 550. Devices
and dtypes: quantizers/quantizer_higgs.py lines 43 and 72.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence
from opcheck.source.building.quantised.experts import STAY
from opcheck.source.building.quantised.method import Method, one_of

_ops = torch.ops.flute
_WORD = 16
_HALVES = (torch.float16, torch.bfloat16)


class HIGGS(Method):
    """Every linear layer but the last one; there is no bias in what it computes."""

    name = "higgs"
    library = "flute"
    whole = STAY

    def models(self, model: nn.Module) -> bool:
        """Models of half precision (quantization_config.py line 1360)."""
        one_of("bits", self.setting("bits", 4), ["2", "3", "4"])
        one_of("p", self.setting("p", 2), ["1", "2"])
        one_of("group_size", self._group(), ["64", "128", "256"])
        size = self._hadamard()
        if not isinstance(size, int) or size <= 0 or size % self._group():
            raise SourceError(
                Sentence(
                    "hadamard_size is {text_value}, want a multiple of group_size", text_value=size
                )
            )
        return all(
            module.weight.dtype in _HALVES
            for module in model.modules()
            if isinstance(module, nn.Linear)
        )

    def kept(self, model: nn.Module) -> Sequence[str]:
        """What the config names, or what transformers keeps by itself."""
        return self.kept_by("modules_to_not_convert", model)

    def replaceable(self, module: nn.Module) -> bool:
        """Linear layers of any class."""
        return isinstance(module, nn.Linear)

    def layer(self, linear: nn.Module, rows: int, columns: int) -> nn.Module:
        """The library's."""
        if columns % self._group():
            raise SourceError(
                Sentence(
                    "group_size is {text_value}, which does not divide {columns} features",
                    text_value=self._group(), columns=columns,
                )
            )  # fmt: skip
        bits = int(self.setting("bits", 4))
        return HiggsLinear(linear, rows, columns, bits, self._group(), self._hadamard())

    def _group(self) -> int:
        return self.setting("group_size", 256)  # type: ignore[no-any-return]  # a config's

    def _hadamard(self) -> int:
        return self.setting("hadamard_size", 512)  # type: ignore[no-any-return]  # a config's


class HiggsLinear(nn.Module):
    """Packed weights with a scale for each group, and the table of their values."""

    def __init__(
        self, linear: Any, rows: int, columns: int, bits: int, group: int, hadamard: int
    ) -> None:
        super().__init__()
        self.bits, self.group, self.hadamard = bits, group, hadamard
        dtype: torch.dtype = linear.weight.dtype
        packed = torch.empty(rows * bits // _WORD, columns, dtype=torch.int16)
        self.weight = nn.Parameter(packed, False)
        self.scales = nn.Parameter(torch.empty(rows, columns // group, dtype=dtype), False)
        self.tables = nn.Parameter(torch.empty(2**bits, dtype=dtype), False)
        self.tables2 = nn.Parameter(torch.empty(2**bits, 2**bits, 2, dtype=dtype), False)
        self.bias = linear.bias
        work = torch.empty(1, dtype=torch.uint8)
        self.register_buffer("workspace", work, persistent=False)

    def opcheck_alike(self) -> tuple[Any, ...]:
        """What its operators depend on beside tensors."""
        return self.bits, self.group, self.hadamard

    def forward(self, x: Tensor) -> Tensor:
        """Fill the last block up, and multiply."""
        more = -x.shape[-1] % self.hadamard
        x = functional.pad(x, (0, more), "constant", 0)
        out: Tensor = _ops.qgemm_raw_simple_hadamard(
            x, self.weight, self.scales, self.tables, self.tables2.view(torch.float32),
            self.workspace, self.bits, self.group, self.hadamard, 0, 0,
        )  # fmt: skip
        return out
