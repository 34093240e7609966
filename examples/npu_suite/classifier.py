"""A small text classifier, as a project would have one."""

from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as f


class Attention(nn.Module):
    """Self-attention over a short sequence."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.project = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        """Give ``x`` with every position mixed with the others."""
        batch, length, width = x.shape
        parts = self.project(x).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        mixed = f.scaled_dot_product_attention(query, key, value)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))


class Classifier(nn.Module):
    """Embedding, one transformer block, mean over the positions, class scores."""

    def __init__(self, words: int = 50, width: int = 16, classes: int = 3) -> None:
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.attention = Attention(width, heads=2)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.feed = nn.Sequential(nn.Linear(width, 32), nn.GELU(), nn.Linear(32, width))
        self.head = nn.Linear(width, classes)

    def forward(self, tokens: Tensor) -> Tensor:
        """Give the class scores of each row of tokens."""
        x = self.embed(tokens)
        x = x + self.attention(self.norms[0](x))
        x = x + self.feed(self.norms[1](x))
        return self.head(x.mean(1))


def train_step(
    model: Classifier, optimizer: torch.optim.Optimizer, tokens: Tensor, labels: Tensor
) -> float:
    """Take one step and give the loss before it."""
    optimizer.zero_grad()
    loss = f.cross_entropy(model(tokens), labels)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.item()


def save(model: Classifier, path: Path) -> None:
    """Write the weights."""
    torch.save(model.state_dict(), path)


def load(path: Path, device: torch.device) -> Classifier:
    """Read the weights back, onto a device."""
    model = Classifier()
    model.load_state_dict(torch.load(path, map_location=device))
    return model.to(device)


def rotation(angles: Tensor) -> Tensor:
    """Give the rotation matrix of a skew-symmetric matrix built from three angles."""
    a, b, c = angles
    zero = torch.zeros_like(a)
    rows = [torch.stack(row) for row in ((zero, -c, b), (c, zero, -a), (-b, a, zero))]
    return torch.linalg.matrix_exp(torch.stack(rows))
