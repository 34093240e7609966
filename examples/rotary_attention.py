"""An attention block as published code often has it, with what accelerators stumble over.

Rotary positions are multiplied as complex numbers, their angles are computed in float64, and the
rest is bfloat16, which only newer chips have.
"""

import torch
from torch import Tensor, nn


class RotaryAttention(nn.Module):
    """One attention layer with rotary positions."""

    def __init__(self, width: int = 64, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        """Attend over a sequence."""
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        turns = rotations(length, q.shape[-1], x.device)
        q, k = turn(q, turns), turn(k, turns)
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(batch, length, width))


def rotations(length: int, size: int, device: torch.device) -> Tensor:
    """One complex rotation per position and pair of channels."""
    steps = torch.arange(0, size, 2, dtype=torch.float64, device=device) / size
    angles = torch.outer(torch.arange(length, dtype=torch.float64, device=device), 1e4**-steps)
    return torch.polar(torch.ones_like(angles), angles)


def turn(x: Tensor, rotation: Tensor) -> Tensor:
    """Rotate pairs of channels."""
    pairs = torch.view_as_complex(x.double().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * rotation).flatten(-2).to(x.dtype)


def model() -> tuple[nn.Module, Tensor]:
    """What ``opcheck scan examples/rotary_attention.py:model`` looks at."""
    return RotaryAttention().bfloat16(), torch.randn(1, 16, 64, dtype=torch.bfloat16)
