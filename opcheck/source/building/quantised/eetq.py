"""EETQ: weights of eight bits, which a kernel of CUDA's multiplies by activations of float16.

``EetqLinear`` of transformers 5.23, integrations/eetq.py line 71, and the kernel that it loads,
kernels-community/quantization-eetq. Which layers it takes the place of: line 86. Devices:
quantizers/quantizer_eetq.py line 49.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from opcheck.lang.sentence import Sentence
from opcheck.source.building.quantised.experts import STAY
from opcheck.source.building.quantised.method import Method, one_of


class EETQ(Method):
    """Every linear layer but the last one."""

    name = "eetq"
    library = "quantization_eetq"
    notes = (Sentence("the kernel of EETQ is built for CUDA up to 12.9 alone"),)
    whole = STAY

    def models(self, model: nn.Module) -> bool:
        """Linear layers alone; there is one kind of weights (quantization_config.py line 1090)."""
        one_of("weights", self.setting("weights", "int8"), ["int8"])
        return True

    def kept(self, model: nn.Module) -> Sequence[str]:
        """What the config names, or what transformers keeps by itself."""
        return self.kept_by("modules_to_not_convert", model)

    def replaceable(self, module: nn.Module) -> bool:
        """Linear layers of any class."""
        return isinstance(module, nn.Linear)

    def layer(self, linear: nn.Module, rows: int, columns: int) -> nn.Module:
        """The library's layer."""
        return EetqLinear(rows, columns, has_bias=linear.bias is not None)


class EetqLinear(nn.Module):
    """Weights of eight bits, transposed, with a scale of float16 for each row."""

    def __init__(self, rows: int, columns: int, *, has_bias: bool) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(columns, rows, dtype=torch.int8), False)
        self.weight_scales = nn.Parameter(torch.empty(rows, dtype=torch.float16), False)
        made: Any = torch.empty(rows, dtype=torch.float16)
        self.bias = nn.Parameter(made, False) if has_bias else None

    def forward(self, x: Tensor) -> Tensor:
        """Multiply rows of ``x``."""
        out: Tensor = torch.ops.quantization_eetq.w8_a16_gemm(x, self.weight, self.weight_scales)
        return out if self.bias is None else out + self.bias
