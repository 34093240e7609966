"""Real exported programs for the tests, and the same JSON in other wrappings."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn

PROGRAM = "models/model.json"
_PROGRAM_UNTIL_2_7 = "serialized_exported_program.json"


class Tiny(nn.Module):
    """Repeated layers, a mutated buffer, complex numbers, a list of tensors, an unused part."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Sequential(nn.Linear(4, 4), nn.ReLU()) for _ in range(2)])
        self.unused = nn.Linear(3, 3)
        self.seen: torch.Tensor
        self.register_buffer("seen", torch.zeros(4))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        for layer in self.layers:
            x = layer(x)
        self.seen.add_(x.sum(0))
        left, right = torch.split(x, 2, dim=1)
        turned = torch.complex(left, right).to(torch.complex128)
        return turned, x.masked_fill(x > 0, float("-inf")), left.to(torch.bfloat16)


class Branching(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        either: torch.Tensor = torch.cond(
            x.sum() > 0, lambda t: t.sin(), lambda t: t.cos() * 2, (x,)
        )
        return either


class Sized(nn.Module):
    """A dynamic dimension, a size computed from it, and one that depends on the values."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x.view(x.shape[0] * 2, -1), torch.nonzero(x).to(torch.float64)


def export(
    path: Path, module: nn.Module, args: tuple[Any, ...], dynamic_shapes: Any = None
) -> Path:
    with torch.no_grad():
        program = torch.export.export(module.eval(), args, dynamic_shapes=dynamic_shapes)
    torch.export.save(program, path)
    return path


def document_of(path: Path) -> dict[str, Any]:
    with zipfile.ZipFile(path) as archive:
        name = next(n for n in archive.namelist() if n.endswith((PROGRAM, _PROGRAM_UNTIL_2_7)))
        document: dict[str, Any] = json.loads(archive.read(name))
        return document


def archive_of(path: Path, members: dict[str, str | bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def changed(source: Path, target: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """A copy of an exported program without weights, its JSON changed."""
    document = document_of(source)
    change(document)
    return archive_of(target, {f"m/{PROGRAM}": json.dumps(document)})


def nodes_of(document: dict[str, Any]) -> list[dict[str, Any]]:
    nodes: list[dict[str, Any]] = document["graph_module"]["graph"]["nodes"]
    return nodes
