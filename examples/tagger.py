"""A model that names the words of a text, with a score for every kind of name.

Rotary positions are complex numbers with angles in float64, and the scores of a word are the best
of its pieces, gathered by a scatter: both as published code often has them.
"""

import torch
from torch import Tensor, nn


def rotations(length: int, size: int, device: torch.device) -> Tensor:
    """One complex rotation per position and pair of channels."""
    steps = torch.arange(0, size, 2, dtype=torch.float64, device=device) / size
    angles = torch.outer(torch.arange(length, dtype=torch.float64, device=device), 1e4**-steps)
    return torch.polar(torch.ones_like(angles), angles)


def turn(x: Tensor, rotation: Tensor) -> Tensor:
    """Rotate pairs of channels."""
    pairs = torch.view_as_complex(x.double().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * rotation).flatten(-2).to(x.dtype)


class Layer(nn.Module):
    """Attention over the pieces, then a feed-forward."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.forth = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x: Tensor) -> Tensor:
        """Give every piece what the others say of it."""
        batch, length, width = x.shape
        q, k, v = (
            self.qkv(self.norm(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        )
        rotation = rotations(length, q.shape[-1], x.device)
        q, k = turn(q, rotation), turn(k, rotation)
        y = nn.functional.scaled_dot_product_attention(q, k, v)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.forth(x)


class Tagger(nn.Module):
    """Pieces of words in, scores of the words out."""

    def __init__(
        self, pieces: int = 1000, width: int = 64, layers: int = 2, kinds: int = 9
    ) -> None:
        super().__init__()
        self.embed = nn.Embedding(pieces, width)
        self.layers = nn.Sequential(*(Layer(width, heads=4) for _ in range(layers)))
        self.head = nn.Linear(width, kinds)

    def forward(self, pieces: Tensor, words: Tensor) -> Tensor:
        """``words`` says of every piece which word it is of."""
        scores = self.head(self.layers(self.embed(pieces)))
        where = words.unsqueeze(-1).expand_as(scores)
        best = torch.full_like(scores, float("-inf"))
        return best.scatter_reduce(1, where, scores, "amax")


def build() -> tuple[nn.Module, tuple[Tensor, Tensor]]:
    """The model, and a text of twelve pieces in six words."""
    words = torch.tensor([[0, 0, 1, 2, 2, 2, 3, 4, 4, 5, 5, 5]])
    return Tagger(), (torch.randint(1000, (1, 12)), words)
