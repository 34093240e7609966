"""SpQR: weights of three bits with outliers apart, which a kernel of CUDA's multiplies row by row.

``QuantizedLinear`` of Vahe1994/SpQR, inference_lib/src/spqr_quant/inference.py line 76, at commit
543d10e56f921e5eeb10d5f0aaaccd30b6662d0e. Which layers it takes the place of:
``replace_with_spqr_linear`` of transformers 5.23, integrations/spqr.py line 27. Devices and dtype:
quantizers/quantizer_spqr.py lines 42 and 54.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence
from opcheck.source.building.quantised.experts import STAY
from opcheck.source.building.quantised.method import Method, Section, one_of

_ops = torch.ops.spqr_cuda
_PARTS = {
    "dense_weights": torch.int64, "row_offsets": torch.int32, "col_vals": torch.int32,
    "in_perm": torch.int32,
}  # fmt: skip
"""What a layer holds; how much of each, the config tells."""
_NOT_LOADED = Sentence(
    "transformers 5.23 calls create_placeholder of spqr_quant, which 0.2.0 has as "
    "create_placehodler: it loads no such model"
)
_SIZES = {"bits": 3, "beta1": 16, "beta2": 16}


class SpQR(Method):
    """Every linear layer but the last one."""

    name = "spqr"
    library = "spqr_cuda"
    whole = STAY
    notes = (Sentence("the kernel of SpQR is called for one row after another, and here once"),)

    def __init__(self, section: Section) -> None:
        super().__init__(section)
        self.sizes: dict[nn.Module, list[int]] = {}

    def models(self, model: nn.Module) -> bool:
        """Models of float16, the only dtype that transformers takes with it."""
        for name, size in _SIZES.items():
            one_of(name, self.setting(name, size), [str(size)])
        kept = self.kept(model)
        for path, module in model.named_modules():
            if self.replaceable(module) and not self.keeps(path, kept):
                self.sizes[module] = [self._size(f"{path}.{part}.shape") for part in _PARTS]
        dtypes = {linear.weight.dtype for linear in self.sizes if isinstance(linear, nn.Linear)}
        return dtypes == {torch.float16}

    def unseen(self, model: nn.Module, names: Collection[str]) -> Sentence | None:
        """Where loading ends on CUDA: integrations/spqr.py line 54, and inference.py line 122."""
        return _NOT_LOADED

    def kept(self, model: nn.Module) -> Sequence[str]:
        """What the config names, or what transformers keeps by itself."""
        return self.kept_by("modules_to_not_convert", model)

    def replaceable(self, module: nn.Module) -> bool:
        """Linear layers of any class."""
        return isinstance(module, nn.Linear)

    def layer(self, linear: nn.Module, rows: int, columns: int) -> nn.Module:
        """The library's, which has no bias."""
        return QuantizedLinear(rows, self.sizes[linear])

    def _size(self, name: str) -> int:
        shapes = self.setting("shapes") or {}
        found = shapes.get(name) if isinstance(shapes, Mapping) else None
        if not isinstance(found, int) or found < 0:
            raise SourceError(Sentence("shapes has no size for {text_name}", text_name=name))
        return found


class QuantizedLinear(nn.Module):
    """Tiles of weights, and the outliers beside them."""

    dense_weights: Tensor
    row_offsets: Tensor
    col_vals: Tensor
    in_perm: Tensor

    def __init__(self, rows: int, sizes: Sequence[int]) -> None:
        super().__init__()
        self.rows = rows
        for (name, dtype), size in zip(_PARTS.items(), sizes, strict=True):
            setattr(self, name, nn.Parameter(torch.empty(size, dtype=dtype), False))

    def opcheck_alike(self) -> tuple[Any, ...]:
        """What its operators depend on beside tensors."""
        return (self.rows,)

    def forward(self, x: Tensor) -> Tensor:
        """Multiply each row of ``x``."""
        order = self.in_perm if self.in_perm.numel() else None
        out: Tensor = _ops.spqr_mul(
            x, order, self.dense_weights, self.row_offsets, self.col_vals, self.rows
        )
        return out
