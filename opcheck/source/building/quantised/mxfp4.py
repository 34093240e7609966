"""MXFP4: the experts of gpt-oss, four bits a weight, as transformers 5.23 packs and calls them.

``Mxfp4GptOssMLP`` and ``Mxfp4GptOssExperts``, integrations/mxfp4.py lines 424 and 313, with Triton
kernels from the hub; which ones: ``replace_with_mxfp4_linear``, line 501. Where there is neither
CUDA nor XPU, the weights are made floats of the model's dtype when they are loaded, and experts are
what they were: quantizers/quantizer_mxfp4.py line 64.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from opcheck.lang.sentence import Sentence
from opcheck.source.building.quantised.experts import WholeExperts
from opcheck.source.building.quantised.method import Method, is_kept

_ops = torch.ops.gpt_oss_triton_kernels
_DEVICES = ("cuda", "xpu")
_LAYER = "GptOssMLP"
_PAIR = 2
"""Weights of four bits in a byte, and halves of a gated product."""
_BLOCK = 32
"""Weights that share a scale."""


class MXFP4(Method):
    """The experts of every layer."""

    name = "mxfp4"
    library = "gpt_oss_triton_kernels"
    notes = (
        Sentence(
            "weights of MXFP4 stay packed on CUDA from compute capability 7.5 on and on XPU, with "
            "Triton 3.4 (3.5 on XPU) and kernels installed; elsewhere transformers makes them "
            "floats of 16 bits when it loads them"
        ),
    )

    def models(self, model: nn.Module) -> bool:
        """Weights that stay packed where they can."""
        return not self.setting("dequantize")

    def kept(self, model: nn.Module) -> Sequence[str]:
        """Experts that the config names."""
        kept = self.kept_by("modules_to_not_convert", model)
        return [
            f"{path}$".replace(".", r"\.")
            for path, module in model.named_modules()
            if self.replaceable(module) and is_kept(f"{path}.experts", kept)
        ]

    def replaceable(self, module: nn.Module) -> bool:
        """The router and the experts of a layer."""
        return type(module).__name__ == _LAYER

    def made(self, module: nn.Module) -> nn.Module:
        """The same with packed experts."""
        return PackedMLP(module)

    def layer(self, linear: nn.Module, rows: int, columns: int) -> nn.Module:
        """None of its own: linear layers stay."""
        return linear


class PackedExperts(nn.Module):
    """Two values a byte, and a scale for each block; whole ones where no kernel takes them."""

    def __init__(self, experts: Any) -> None:
        super().__init__()
        count, wide, hidden = experts.num_experts, experts.intermediate_size, experts.hidden_size
        self.intermediate_size, self.hidden_size = wide, hidden
        for name, rows, columns in (
            ("gate_up_proj", 2 * wide, hidden),
            ("down_proj", hidden, wide),
        ):
            packed = torch.empty(count, rows, columns // _PAIR, dtype=torch.uint8)
            scales = torch.empty(count, rows, columns // _BLOCK, dtype=torch.uint8)
            setattr(self, name, nn.Parameter(packed, False))
            setattr(self, f"{name}_scales", nn.Parameter(scales, False))
            setattr(self, f"{name}_bias", nn.Parameter(torch.empty(count, rows), False))
        self._whole = WholeExperts(experts)

    def forward(self, x: Tensor, *routes: Tensor) -> Tensor:
        """What the experts of each route compute of the rows of ``x``."""
        return self._packed(x, *routes) if x.device.type in _DEVICES else self._whole(x, *routes)

    def _packed(self, x: Tensor, scale: Tensor, gather: Tensor, scatter: Tensor) -> Tensor:
        """Both products of each route, the gate between them inside of the first kernel."""
        first: Tensor = _ops.matmul_ogs(
            x, self.gate_up_proj, self._bias("gate_up_proj"), self.gate_up_proj_scales, scale,
            gather, gather.shape[0], self.intermediate_size,
        )  # fmt: skip
        out: Tensor = _ops.matmul_ogs(
            first, self.down_proj, self._bias("down_proj"), self.down_proj_scales, scale,
            scatter, x.shape[0], self.hidden_size,
        )  # fmt: skip
        return out

    def _bias(self, name: str) -> Tensor:
        bias: Tensor = getattr(self, f"{name}_bias")
        return bias.to(torch.float32)


class PackedMLP(nn.Module):
    """A router and its packed experts."""

    def __init__(self, mlp: Any) -> None:
        super().__init__()
        self.router, self.experts = mlp.router, PackedExperts(mlp.experts)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Route rows of ``x`` to experts, and give what they compute with the router's answer."""
        flat = x.reshape(-1, self.router.hidden_dim)
        if x.device.type in _DEVICES:
            told = functional.linear(flat, self.router.weight, self.router.bias)
            out = self.experts(flat, *_ops.routing(told, self.router.top_k))
        else:
            _, told, indices = self.router(flat)
            out = self.experts(flat, indices, told)
        return out.reshape(x.shape), told
