"""Writes the exported programs of ``data/pt2`` with whatever torch is installed.

Run as a script, ``python write_pt2.py FOLDER``, it writes ``FOLDER/torch-2.6.0.zip``. It needs
torch and nothing else, so that any old torch can write its own. The files keep the paths of their
stack traces: run it from a folder whose name may be shown.
"""

import sys
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch import Tensor, nn
from torch.export import Dim, ExportedProgram, export, save
from torch.nn import functional

Case = tuple[nn.Module, tuple[Any, ...], dict[str, Any]]
"""A module, its positional arguments, and what else ``torch.export.export`` is given."""


class Convolution(nn.Module):
    """Convolutions, batch norm with its buffers, pooling to a fixed size, upsampling."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.Hardswish())
        self.grouped = nn.Conv2d(4, 4, 3, stride=2, groups=4, padding=1, bias=False)
        self.head = nn.Linear(4, 5)
        self.unused = nn.Linear(2, 2)

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor]:
        found = self.grouped(self.body(image))
        larger = functional.interpolate(found, scale_factor=2.0, mode="bilinear")
        pooled = functional.adaptive_avg_pool2d(found, 1).flatten(1)
        return functional.log_softmax(self.head(functional.dropout(pooled, 0.1)), -1), larger


class Attention(nn.Module):
    """Embeddings, masked attention, layer norm: a language model whose batch and length vary."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(11, 8)
        self.places = nn.Embedding(16, 8)
        self.norm = nn.LayerNorm(8)
        self.mixed = nn.Linear(8, 24)
        self.out = nn.Linear(8, 11, bias=False)
        self.out.weight = self.tokens.weight
        self.scale: Tensor
        self.register_buffer("scale", torch.tensor(0.5), persistent=False)

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> dict[str, Tensor]:
        batch, length = ids.shape
        hidden = self.tokens(ids) + self.places(torch.arange(length, device=ids.device))
        query, key, value = self.mixed(self.norm(hidden)).chunk(3, dim=-1)
        query, key, value = (
            part.view(batch, length, 2, 4).transpose(1, 2) for part in (query, key, value)
        )
        seen = None if mask is None else mask[:, None, None, :].bool()
        mixed = functional.scaled_dot_product_attention(
            query, key, value, seen, is_causal=mask is None
        )
        hidden = hidden + mixed.transpose(1, 2).reshape(batch, length, 8) * self.scale
        return {"logits": self.out(functional.gelu(hidden, approximate="tanh"))}


class Found(nn.Module):
    """Sizes that depend on values: ``nonzero``, a boolean mask, a number read from a tensor."""

    def forward(self, x: Tensor, count: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        number: Any = count.item()
        torch._check_is_size(number)
        torch._check(number <= x.shape[0])
        kept = x[x.sum(1) > 0]
        return torch.nonzero(x).to(torch.float64), kept * 2, x.narrow(0, 0, number).cumsum(0)


class Branching(nn.Module):
    """A branch on values, and a buffer that every call changes."""

    def __init__(self) -> None:
        super().__init__()
        self.left, self.right = nn.Linear(4, 4), nn.Linear(4, 4)
        self.calls: Tensor
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, x: Tensor) -> Tensor:
        self.calls.add_(1)

        def one(x: Tensor) -> Tensor:
            turned: Tensor = self.left(x).sin()
            return turned

        def other(x: Tensor) -> Tensor:
            turned: Tensor = self.right(x).cos() * 2
            return turned

        either: Tensor = torch.cond(x.sum() > 0, one, other, (x,))
        with torch.no_grad():
            grown = either.exp()
        return grown + either


class Arguments(nn.Module):
    """The kinds of arguments that operators take: lists, dtypes, devices, infinities, numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.recurrent = nn.LSTM(4, 4, batch_first=True)
        self.table = torch.tensor([2, 0, 1])

    def forward(self, x: Tensor, scale: float = 0.5, *, state: dict[str, Tensor]) -> Any:
        turned = torch.fft.rfft(x, dim=1).abs()
        left, right = torch.split(x, [1, 2], dim=1)
        x = x[:, self.table].masked_fill(x > 1, float("-inf")).clamp(min=-1e4)
        wide, (last, _) = self.recurrent(x.to(torch.float32), (state["h"], state["c"]))
        filled = torch.full((2, 2), float("inf"), dtype=torch.bfloat16, device=x.device)
        summed = torch.einsum("bij,bkj->bik", wide, x).std(dim=(1, 2), correction=0)
        halves = [left.to(torch.float16), right.contiguous().half()]
        return turned, torch.cat(halves, 1), last * scale, filled, summed.topk(1).values


def cases() -> Mapping[str, Callable[[], Case]]:
    """Every program by the name of its file."""
    batch, length = Dim("batch", min=1, max=64), Dim("length", min=2, max=16)
    ids = torch.arange(10).view(2, 5)
    varied: dict[str, Any] = {"dynamic_shapes": {"ids": {0: batch, 1: length}, "mask": None}}
    state = {"state": {name: torch.zeros(1, 2, 4) for name in "hc"}}
    lines = torch.linspace(-1, 1, 24).view(2, 3, 4)
    either = torch.linspace(-1, 2, 8).view(2, 4)
    return {
        "convolution": lambda: (Convolution(), (torch.rand(1, 3, 8, 8),), {}),
        "attention": lambda: (Attention(), (ids, None), varied),
        "found": lambda: (Found(), (lines[0], torch.tensor(2)), {}),
        "branching": lambda: (Branching(), (either,), {}),
        "arguments": lambda: (Arguments(), (lines, 0.5), {"kwargs": state}),
    }


def write(folder: Path) -> None:
    """Export every program in both modes, and one of them decomposed, and pack them."""
    release = torch.__version__.partition("+")[0]
    packed = zipfile.ZipFile(folder / f"torch-{release}.zip", "w", zipfile.ZIP_DEFLATED)
    with packed, TemporaryDirectory() as drafts:
        for name, case in cases().items():
            for mode in ("strict", "loose"):
                torch.manual_seed(0)
                module, args, given = case()
                try:
                    program = export(module.eval(), args, strict=mode == "strict", **given)
                except Exception as error:  # what a release cannot export, it has no file of
                    print(f"{name}-{mode}: {type(error).__name__}: {error}"[:500])
                    continue
                _pack(packed, program, Path(drafts) / f"{name}-{mode}.pt2")
                if (name, mode) == ("convolution", "strict"):
                    program = program.run_decompositions()
                    _pack(packed, program, Path(drafts) / f"{name}-decomposed.pt2")


def _pack(packed: zipfile.ZipFile, program: ExportedProgram, path: Path) -> None:
    save(program, path)
    # a fixed date, so that the same files give the same archive
    member = zipfile.ZipInfo(path.name)
    packed.writestr(member, path.read_bytes(), zipfile.ZIP_DEFLATED, 9)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
