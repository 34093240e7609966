"""FP-Quant: floats of four bits behind a rotation, as fp_quant 0.3.2 has them.

``FPQuantLinear``, fp_quant/module/linear.py line 44, without weights to train: QuTLASS quantises
what comes in and multiplies (linear_fns.py line 482), or Triton rounds it and PyTorch multiplies by
whole weights, with ``pseudoquantization`` (pseudoquant_linear_fns.py line 130). Which layers it
takes the place of: utils/replace.py line 7. What settings are valid: ``FPQuantConfig`` of
transformers 5.23, utils/quantization_config.py line 1418; devices:
quantizers/quantizer_fp_quant.py line 42.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from opcheck.lang.sentence import Sentence
from opcheck.source.building.quantised.experts import STAY
from opcheck.source.building.quantised.method import Method, one_of, patterns_of

_NV, _MX = "nvfp4", "mxfp4"
_METHODS: Mapping[str, tuple[str, ...]] = {_NV: ("abs_max",), _MX: ("abs_max", "quest")}
_GROUPS: Mapping[str, tuple[int, ...]] = {_NV: (16, 32, 64, 128), _MX: (32, 64, 128)}
_SCALED: Mapping[str, int] = {_NV: 16, _MX: 32}
"""Weights that share a scale."""
_BACKWARD = ("bf16", "mxfp8", "mxfp4")
_ROTATIONS = ("hadamard", "identity", "gsr")
_PAIR = 2


class FPQuant(Method):
    """Every linear layer whose name does not end as the config says."""

    name = "fp_quant"
    library = "fp_quant"
    notes = (Sentence("FP-Quant loads models in bfloat16, whatever dtype they have"),)
    whole = STAY

    def models(self, model: nn.Module) -> bool:
        """Layers without weights to train, in models of bfloat16."""
        kind = one_of("forward_dtype", self.setting("forward_dtype", _NV), (_NV, _MX))
        one_of("forward_method", self.setting("forward_method", "abs_max"), _METHODS[kind])
        one_of("backward_dtype", self.setting("backward_dtype", "bf16"), _BACKWARD)
        one_of("transform_init", self.setting("transform_init", "hadamard"), _ROTATIONS)
        known = [str(size) for size in _GROUPS[kind]]
        self._group = int(one_of("hadamard_group_size", self._rotated(kind), known))
        self._kind = kind
        dtypes = {weight.dtype for weight in model.parameters()}
        return not self.setting("store_master_weights") and dtypes == {torch.bfloat16}

    def _rotated(self, kind: str) -> Any:
        size = self.setting("hadamard_group_size")
        return _GROUPS[kind][0] if size is None else size

    def kept(self, model: nn.Module) -> Sequence[str]:
        """Ends of names."""
        key = "modules_to_not_convert"
        named = self.setting(key)
        return ["lm_head"] if named is None else patterns_of(key, named)

    def keeps(self, path: str, kept: Sequence[str]) -> bool:
        """Whether the name ends so."""
        return path.endswith(tuple(kept))

    def replaceable(self, module: nn.Module) -> bool:
        """Linear layers of any class."""
        return isinstance(module, nn.Linear)

    def layer(self, linear: nn.Module, rows: int, columns: int) -> nn.Module:
        """The library's layer."""
        return FPQuantLinear(
            rows, columns, linear.bias,
            kind=self._kind, group=self._group, whole=bool(self.setting("pseudoquantization")),
        )  # fmt: skip


class FPQuantLinear(nn.Module):
    """Weights in pairs of four bits, or whole ones; what comes in is rotated and rounded."""

    def __init__(
        self, rows: int, columns: int, bias: Any, *, kind: str, group: int, whole: bool
    ) -> None:
        super().__init__()
        self.kind, self.whole = kind, whole
        if whole:
            made = torch.empty(rows, columns, dtype=torch.bfloat16)
            self.dqweight = nn.Parameter(made, False)
        else:
            packed = torch.empty(rows, columns // _PAIR, dtype=torch.uint8)
            self.qweight = nn.Parameter(packed, False)
            scales = torch.empty(rows, columns // _SCALED[kind], dtype=torch.uint8)
            self.scales = nn.Parameter(scales, False)
        for name in ("weight_global_scale", "act_global_scale"):
            self.register_buffer(name, torch.ones(1, dtype=torch.bfloat16))
        for name in ("forward_hadamard_matrix", "backward_hadamard_matrix"):
            made = torch.zeros(group, group, dtype=torch.bfloat16)
            self.register_buffer(name, made)
        self.bias = bias

    def forward(self, x: Tensor) -> Tensor:
        """Round the rows of ``x``, and multiply."""
        flat = x.contiguous().flatten(end_dim=-2)
        out = self._by_whole(flat) if self.whole else self._by_packed(flat)
        made: Tensor = out.unflatten(dim=0, sizes=x.shape[:-1])
        return made

    def _by_whole(self, x: Tensor) -> Tensor:
        ops: Any = torch.ops.fp_quant
        matrix: Any = self.forward_hadamard_matrix
        if self.kind == _NV:
            x = ops.pseudoquantize_nvfp4(x, matrix, self.act_global_scale)
        else:
            x = ops.pseudoquantize_mxfp4(x, matrix)
        return functional.linear(x, self.dqweight, self.bias)

    def _by_packed(self, x: Tensor) -> Tensor:
        own: Any = self.act_global_scale
        alpha = (1.0 / (self.weight_global_scale * own)).float()
        matrix: Any = self.forward_hadamard_matrix
        given = x.to(torch.bfloat16), matrix.to(torch.bfloat16)
        held = self.qweight, self.scales, alpha
        out: Tensor
        if self.kind == _NV:
            out = torch.ops.fp_quant.linear_nvfp4(*given, own.float(), *held)
        else:
            out = torch.ops.fp_quant.linear_mxfp4(*given, *held)
        if self.bias is not None:
            out += self.bias
        return out
