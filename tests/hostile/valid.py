"""Valid models, exported and saved by torch itself, to be changed in one place each."""

import copy
import io
import json
import struct
import subprocess
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

Json = Any
"""A JSON value that a case changes in place."""


@dataclass(slots=True)
class Program:
    """An exported program as its archive has it: its graph's document, and the other members."""

    document: dict[str, Json]
    members: dict[str, bytes]
    """By name; that of the document stands among them with what it was."""
    name: str = "m/models/model.json"

    @property
    def graph(self) -> dict[str, Json]:
        """The graph of the document."""
        found: dict[str, Json] = self.document["graph_module"]["graph"]
        return found

    @property
    def nodes(self) -> list[dict[str, Json]]:
        """The nodes of the graph."""
        found: list[dict[str, Json]] = self.graph["nodes"]
        return found

    @property
    def sizes(self) -> dict[str, Json]:
        """The descriptions of tensors, by name."""
        found: dict[str, Json] = self.graph["tensor_values"]
        return found

    def add(
        self, target: str, *inputs: Json, out: str = "evil", like: str = "x", at: int | None = None
    ) -> dict[str, Json]:
        """Put a node into the graph, by itself or before another; its output is a tensor."""
        node = call(target, *inputs, out=out)
        self.nodes.insert(len(self.nodes) if at is None else at, node)
        self.sizes[out] = copy.deepcopy(self.sizes[like])
        return node

    def give(self, name: str) -> None:
        """Have the graph give a tensor by that name."""
        self.graph["outputs"][0] = tensor(name)
        outputs = self.document["graph_module"]["signature"]["output_specs"]
        outputs[0] = {"user_output": {"arg": tensor(name)}}

    def packed(self, text: bytes | None = None) -> bytes:
        """The archive; ``text`` is there in the place of the document."""
        spelled = json.dumps(self.document).encode("utf-8", "surrogatepass")
        return archive({**self.members, self.name: spelled if text is None else text})


def archive(members: Mapping[str, bytes] | Iterable[tuple[str, bytes]]) -> bytes:
    """A zip archive as torch writes it: stored, not compressed."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as packed:
        for name, content in members.items() if isinstance(members, Mapping) else members:
            packed.writestr(zipfile.ZipInfo(name), content)
    return made.getvalue()


def members(content: bytes) -> dict[str, bytes]:
    """What stands in an archive."""
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def tensor(name: str) -> Json:
    """An argument that is a tensor of the graph."""
    return {"as_tensor": {"name": name}}


def text(value: str) -> Json:
    """An argument that is a text."""
    return {"as_string": value}


def number(value: int) -> Json:
    """An argument that is an integer."""
    return {"as_int": value}


def call(target: str, *inputs: Json, out: str) -> dict[str, Json]:
    """A node of a graph; inputs are positional, or ``(name, argument)`` by keyword."""
    named = [
        {"name": given[0], "arg": given[1], "kind": 2} if isinstance(given, tuple)
        else {"name": f"arg{place}", "arg": given, "kind": 1}
        for place, given in enumerate(inputs)
    ]  # fmt: skip
    return {
        "target": target, "inputs": named, "outputs": [tensor(out)], "metadata": {},
        "is_hop_single_tensor_return": None, "name": out,
    }  # fmt: skip


def program(kind: str = "plain") -> Program:
    """An exported program: ``plain``, ``dynamic`` in a size, ``branching`` or ``buffered``."""
    found = members(_exported(kind))
    (name,) = (name for name in found if name.endswith("models/model.json"))
    return Program(json.loads(found[name]), found, name)


@cache
def _exported(kind: str) -> bytes:
    import torch

    model, inputs, dynamic = _models()[kind]
    exported = torch.export.export(model.eval(), inputs, dynamic_shapes=dynamic)
    content = io.BytesIO()
    torch.export.save(exported, content)
    return content.getvalue()


def _models() -> Mapping[str, Any]:
    import torch
    from torch import Tensor, nn

    class Plain(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(3, 4)

        def forward(self, x: Tensor) -> Tensor:
            return torch.relu(self.layer(x)) + 1

    class Reshaping(Plain):
        def forward(self, x: Tensor) -> Tensor:
            return torch.relu(self.layer(x)).reshape(x.shape[0] * 2, 2)

    class Branching(Plain):
        def forward(self, x: Tensor) -> Tensor:
            taken: Tensor = torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,))
            return torch.relu(taken)

    class Buffered(Plain):
        def __init__(self) -> None:
            super().__init__()
            self.seen: Tensor
            self.register_buffer("seen", torch.zeros(1))
            self.constant = torch.arange(3.0)

        def forward(self, x: Tensor) -> Tensor:
            self.seen.add_(1)
            return torch.relu(x + self.constant + self.seen)

    x = (torch.ones(2, 3),)
    rows = {"x": {0: torch.export.Dim("rows", min=2, max=64)}}
    return {
        "plain": (Plain(), x, None),
        "dynamic": (Reshaping(), x, rows),
        "branching": (Branching(), x, None),
        "buffered": (Buffered(), x, None),
    }


@cache
def script(kind: str = "plain") -> Mapping[str, bytes]:
    """The members of a TorchScript archive: a linear layer, or one of ``scripted.py``."""
    import torch
    from torch import nn

    from tests.hostile.scripted import Forking, Hooked, Loading

    models = {"loading": Loading, "forking": Forking, "hooked": Hooked}
    linear = nn.Sequential(nn.Linear(3, 4), nn.ReLU())
    model = models[kind]() if kind in models else linear
    content = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch would rather have everybody export
        torch.jit.save(torch.jit.script(model.eval()), content)
    return members(content.getvalue())


@cache
def weights() -> bytes:
    """What ``torch.save`` makes of a state dict."""
    import torch

    content = io.BytesIO()
    torch.save({"layer.weight": torch.ones(4, 3), "layer.bias": torch.zeros(4)}, content)
    return content.getvalue()


def safetensors(header: Json | bytes | None = None, claimed: int | None = None,
                data: bytes = b"\0" * 64) -> bytes:  # fmt: skip
    """A safetensors file: eight bytes of length, a header in JSON, the data."""
    tensors = {"layer.weight": {"dtype": "F32", "shape": [4, 4], "data_offsets": [0, 64]}}
    spelled = header if isinstance(header, bytes) else json.dumps(header or tensors).encode()
    return struct.pack("<Q", len(spelled) if claimed is None else claimed) + spelled + data


@cache
def store() -> bytes:
    """A store that ``opcheck fleet`` wrote of one model on one target."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "model.pt2").write_bytes(program().packed())
        (folder / "models.yaml").write_text("- model.pt2\n")
        command = ["fleet", "run", "models.yaml", "-t", "ascend-910b", "--workers", "1",
                   "--store", "fleet.db"]  # fmt: skip
        subprocess.run([sys.executable, "-P", "-m", "opcheck", *command], cwd=folder, check=True,
                       capture_output=True)  # fmt: skip
        return (folder / "fleet.db").read_bytes()


def report() -> bytes:
    """A report that ``opcheck scan`` wrote, with a finding of every verdict."""
    path = Path(__file__).resolve().parents[1] / "snapshots" / "json" / "mixed.txt"
    return path.read_bytes()
