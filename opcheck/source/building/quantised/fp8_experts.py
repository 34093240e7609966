"""Experts of block-wise FP8, whose weights are kept together in one tensor for all of them.

``FP8Experts`` of transformers 5.23, integrations/finegrained_fp8.py line 713, as it computes by
default, for all experts in one kernel: ``fp8_grouped_mm_experts_forward``, line 613.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from opcheck.source.building.quantised.experts import WholeExperts

_ops = torch.ops.finegrained_fp8
_KINDS = (None, "grouped_mm")
"""Ways to compute experts that are the grouped one; None: transformers takes it where it can."""
_GATES = ("mlp_gate_softcap", "mlp_up_softcap", "swiglu_alpha", "swiglu_limit")
"""Settings of a config that make the gate another one."""
_HALVES = 2
"""Of what goes into a gate; each has its scales."""


def packable(experts: Any) -> bool:
    """Whether transformers computes packed experts in the way that is known here."""
    config = getattr(experts, "config", None)
    up = getattr(experts, "gate_up_proj", getattr(experts, "up_proj", None))
    down = getattr(experts, "down_proj", None)
    if config is None or not isinstance(up, Tensor) or not isinstance(down, Tensor):
        return False
    return (
        getattr(config, "_experts_implementation", None) in _KINDS
        and not any(getattr(experts, name, False) for name in ("has_bias", "is_transposed"))
        and getattr(experts, "is_concatenated", True)
    )


def grouped(
    a: Tensor,
    b: Tensor,
    b_scale: Tensor,
    offsets: Tensor,
    tokens_per_expert: Tensor,
    block_size: Sequence[int] | None,
    output_dtype: torch.dtype | None = None,
) -> Tensor:
    """What runs on GPUs below compute capability 8.9: the weights are whole there."""
    return torch._grouped_mm(
        a, a.new_empty(b.shape).transpose(-2, -1), offs=offsets
    )  # private; checked with torch 2.13


class FP8Experts(nn.Module):
    """Weights of eight bits, computed for all experts at once; whole where no kernel takes them."""

    def __init__(
        self, experts: Any, *, block: list[int], scale: torch.dtype, devices: Sequence[str]
    ) -> None:
        super().__init__()
        self.block, self.devices = block, devices
        self.gated: bool = getattr(experts, "has_gate", True)
        self.first = "gate_up_proj" if self.gated else "up_proj"
        for name in (self.first, "down_proj"):
            count, rows, columns = getattr(experts, name).shape
            weight = torch.empty(count, rows, columns, dtype=torch.float8_e4m3fn)
            least = _HALVES if name == "gate_up_proj" else 1
            blocks = (max(-(-rows // block[0]), least), -(-columns // block[1]))
            setattr(self, name, nn.Parameter(weight, False))
            scales = torch.empty(count, *blocks, dtype=scale)
            setattr(self, f"{name}_scale_inv", nn.Parameter(scales, False))
        self.act_fn = experts.act_fn
        self.gates: dict[str, Any] = {name: getattr(experts.config, name, None) for name in _GATES}
        self._whole = WholeExperts(experts)

    def forward(self, x: Tensor, indices: Tensor, scores: Tensor) -> Tensor:
        """What each row's experts compute of it, weighed by their scores.

        ``x``: (rows, features); ``indices`` and ``scores``: (rows, experts of each).
        """
        if x.device.type in self.devices:
            return self._packed(x, indices, scores)
        return self._whole(x, indices, scores)

    def _packed(self, x: Tensor, indices: Tensor, scores: Tensor) -> Tensor:
        """Rows sorted by expert, so that one kernel multiplies them all."""
        each, weights = indices.size(-1), scores.reshape(-1)
        told, order = torch.sort(indices.reshape(-1))
        chosen, weights = x[order // each], weights[order]
        count = getattr(self, self.first).shape[0]
        rows = torch.histc(told.int(), bins=count, min=0, max=count - 1)
        offsets = torch.cumsum(rows, dim=0, dtype=torch.int32)
        out = self._product(self.first, chosen, offsets, rows)
        out = self._gate(out) if self.gated else self.act_fn(out)
        out = self._product("down_proj", out, offsets, rows)
        out = out * weights.to(out.dtype).unsqueeze(-1)
        back = torch.empty_like(order)
        back[order] = torch.arange(order.size(0), device=x.device)
        return out[back].view(x.size(0), each, x.size(-1)).sum(dim=1).to(x.dtype)

    def _gate(self, both: Tensor) -> Tensor:
        """``_apply_gate``, line 791."""
        gate, up = both.chunk(_HALVES, dim=-1)
        soft, soft_up, alpha, limit = self.gates.values()
        if soft is not None:
            gate, up = gate.float(), up.float()
            factor = torch.tanh(gate / soft) * soft
            up = torch.tanh(up / soft_up) * soft_up
            whole: Tensor = factor * torch.sigmoid(gate) * up
            return whole.to(both.dtype)
        if alpha is not None or limit is not None:
            gate, up = gate.clamp(max=limit), up.clamp(min=-limit, max=limit)
        if alpha is not None:
            gate = gate * torch.sigmoid(gate * alpha)
            return (up + 1.0) * gate
        found: Tensor = self.act_fn(gate) * up
        return found

    def _product(self, name: str, x: Tensor, offsets: Tensor, rows: Tensor) -> Tensor:
        weight, scales = getattr(self, name), getattr(self, f"{name}_scale_inv")
        out: Tensor = _ops.matmul_grouped(x, weight, scales, offsets, rows, self.block)
        return out
