"""Files of a project that has a source of every kind, and some that are hostile."""

import json
import os
from pathlib import Path

NET = """
import torch
from torch import nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        return F.relu(self.linear(x))


class Net(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.blocks = nn.Sequential(Block(width), Block(width))

    def forward(self, x, scale):
        return self.blocks(x) * scale


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.both = nn.Bilinear(4, 4, 2)

    def forward(self, left, right, weight=None):
        return self.both(left, right)


class Example(nn.Module):
    example_input_array = torch.zeros(2, 16)

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(16, 2)

    def forward(self, x):
        return self.head(x)


class SoftLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.CrossEntropyLoss()

    def forward(self, x, y):
        return self.inner(x, y)


class Flip(nn.Module):
    def forward(self, x):
        return x.flip(-1)


class _Hidden(Net):
    pass


class Wide(Net):
    def __init__(self, config, **kwargs):
        super().__init__(config.width)
"""
FACTORIES = """
import torchvision
from dataclasses import dataclass
from torch import nn
from .net import Block, Net as Inner


@dataclass
class GPTConfig:
    width: int = 8


class GPT(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.inner = nn.Linear(config.width, 2)

    def forward(self, ids):
        return self.inner(ids)


class Bare(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(2, 2)

    def forward(self, ids):
        return self.inner(ids)


def _made(width):
    model = Block(width)
    return model.eval()


def block():
    return _made(4)


def with_inputs():
    model = None
    model = Bare().to("cuda")
    return model, (1,)


def library(pretrained=False):
    return torchvision.models.resnet18()


def build_model(name, width=3):
    return Block(width)


def said() -> nn.Module:
    return registry["net"]


def helper(model: nn.Module) -> nn.Module:
    return model


def count(x):
    return len(x)
"""
TEST = """
import torch
from models.net import Net


def test_shape():
    net = Net().eval()
    ids = torch.randint(0, 5, (2, 8), dtype=torch.long)
    assert net(torch.randn(2, 8), scale=ids)
    assert Net(3)(torch.randn(5, 5))


class Helper(torch.nn.Module):
    def forward(self, x):
        return torch.nn.Linear(1, 1)(x)
"""
TRAIN = """
import argparse
import torch
from torchvision import datasets


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", default=0.1)
    parser.add_argument("--root", required=True)
    parser.add_argument("out")
    parser.add_argument("more", nargs="?")
    loss = torch.zeros(1)
    loss.backward()


if __name__ == "__main__":
    main()
"""
AT_TOP = """
import torch
from torch import nn


class Unsafe(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(2, 2)

    def forward(self, x):
        return self.inner(x)


for _ in range(3):
    Unsafe()(torch.ones(2)).sum().backward()
"""
HOSTILE = """
open("was-run", "w").write("x")
import torch
from torch import nn


def evil() -> nn.Module:
    return nn.Linear(2, 2)
"""
HUB = """
dependencies = ['torch']


def entry(pretrained=True):
    return make()
"""
KERNEL = """
from torch import nn


class Model(nn.Module):
    def __init__(self, a):
        super().__init__()
        self.a = nn.Linear(a, a)

    def forward(self, x, y):
        return self.a(x)


def get_inputs():
    return []


def get_init_inputs():
    return [2]
"""
TUNE = """
from dataclasses import dataclass, field
from transformers import HfArgumentParser, Trainer, TrainingArguments


@dataclass
class ModelArguments:
    model_name: str = field(metadata={"help": "which"})
    cache: str = field(default="", metadata={"help": "where"})
    revision: str = "main"
    task: str


if __name__ == "__main__":
    parsed = HfArgumentParser((ModelArguments, TrainingArguments)).parse_args_into_dataclasses()
    Trainer(parsed).train()
"""
NOTEBOOK = {
    "nbformat": 4,
    "metadata": {"kernelspec": {"language": "python"}},
    "cells": [
        {"cell_type": "code", "source": ["%pip install torch\n", "import torch\n"]},
        {"cell_type": "code", "source": "torch.ones(1, requires_grad=True).backward()"},
    ],
}


def written(folder: Path) -> Path:
    """The project in a folder."""
    texts = {
        "models/__init__.py": "",
        "models/net.py": NET,
        "models/factories.py": FACTORIES,
        "tests/test_net.py": TEST,
        "train.py": TRAIN,
        "loop.py": AT_TOP,
        "tune.py": TUNE,
        "hostile.py": HOSTILE,
        "wrong.py": "def (:\n",
        "null.py": "x = '\0'\n",
        "deep.py": f"x = {'(' * 5000}{')' * 5000}\n",
        "hubconf.py": HUB,
        "kernel.py": KERNEL,
        "configs/retina.py": "_base_ = ['_base_/x.py']\nmodel = dict(type='Retina')\n",
        "configs/_base_/x.py": "model = dict(type='Base')\n",
        "lazy.py": "from detectron2.config import LazyCall as L\nmodel = L(Net)(width=3)\n",
        "explore.ipynb": json.dumps(NOTEBOOK),
        "broken.ipynb": "{",
        "bert/config.json": json.dumps({"model_type": "bert"}),
        "web/config.json": json.dumps({"port": 80}),
        "venv/lib.py": HOSTILE,
        "mine/pyvenv.cfg": "",
        "mine/lib/net.py": HOSTILE,
        ".git/x.py": HOSTILE,
        "node_modules/a/x.py": HOSTILE,
        "odd:name.py": HOSTILE,
    }
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (folder / "saved.pt2").write_bytes(b"no zip")
    (folder / "weights.safetensors").write_bytes(b"\x02\0\0\0\0\0\0\0{}")
    os.symlink(folder, folder / "models" / "loop")
    os.symlink("/", folder / "all")
    os.mkfifo(folder / "pipe.py")
    return folder
