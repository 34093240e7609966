"""Modules that torch.jit.script reads the source of; they save to a path that is put in later."""

import torch
from torch import Tensor, nn


class Loading(nn.Module):
    """Saves while it is loaded."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = 2

    def forward(self, x: Tensor) -> Tensor:
        return x * self.scale

    @torch.jit.export
    def __getstate__(self) -> tuple[int, bool]:
        return (self.scale, self.training)

    @torch.jit.export
    def __setstate__(self, state: tuple[int, bool]) -> None:
        torch.save([1, 2], "/placeholder")
        self.scale = state[0]
        self.training = state[1]


def _aside(x: Tensor) -> Tensor:
    torch.save(1, "/placeholder")
    return x


class Forking(nn.Module):
    """Saves in a task beside its forward."""

    def forward(self, x: Tensor) -> Tensor:
        task = torch.jit.fork(_aside, x)
        found: Tensor = torch.jit.wait(task)
        return torch.relu(x) + found


class Hooked(nn.Module):
    """Saves in a hook that is called before its forward."""

    def __init__(self) -> None:
        super().__init__()

        def save(module: nn.Module, inputs: tuple[Tensor]) -> None:
            torch.save("text", "/placeholder")

        self.inner = nn.ReLU()
        self.inner.register_forward_pre_hook(save)

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.inner(x)
        return found
