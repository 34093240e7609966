"""Ordinary mistakes on a command line: each is answered by what to write instead."""

import shutil
from pathlib import Path

import pytest

from opcheck.errors import ExitCode, OpcheckError
from opcheck.source.inputs import InputSpec
from opcheck.source.load import select
from tests.app.stand_in import StandIn, outcome
from tests.console import ran

NETS = """
import argparse

import torch


class Net(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.linear = torch.nn.Linear(size, size)

    def forward(self, x):
        return self.linear(x)


def build():
    return Net(4), (torch.ones(1, 4),)


def on_cuda():
    return Net(4).cuda()


def parsed():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, required=True)
    return Net(parser.parse_args().size)


def output():
    return Net(4)(torch.ones(1, 4))


def nothing():
    pass
"""
SOURCES = {
    "resnet50": "as in torchvision:resnet50 or timm:resnet50",
    "vit_base_patch16_224": "as in torchvision:vit_base_patch16_224 or timm:",
    "bert-base-uncased": "as by hf download bert-base-uncased config.json",
    "meta-llama/Llama-3.1-8B": "as by hf download meta-llama/Llama-3.1-8B config.json",
    "https://huggingface.co/openai-community/gpt2": "nothing is downloaded",
    "s3://bucket/model.pt": "nothing is downloaded",
    "torchvision.models.resnet50": "did you mean torchvision:resnet50?",
    "timm.models.resnet50": "did you mean timm:resnet50?",
    "timm": "timm:NAME",
    "torchvision": "torchvision:NAME",
    "hf": "hf:NAME",
    "net": "did you mean net.py:NAME?",
    "net:build": "did you mean net.py:build?",
    "net.build": "did you mean net.py:build?",
    "net.py::build": "did you mean net.py:build?",
    "pack.model:build": "did you mean pack/model.py:build?",
    "pack.model.build": "did you mean pack/model.py:build?",
    "pack/model:build": "did you mean pack/model.py:build?",
    "no/such/folder": "check the path",
    "model.onnx": "check the path",
}
INPUTS = {
    "x=(1, 4)": "did you mean 1x4?",
    "x=1,4": "did you mean 1x4?",
    "x=1*4:float32": "did you mean 1x4:float32?",
    "x=1X4": "did you mean 1x4?",
    "x=1x4:torch.float16": "did you mean 1x4:float16?",
    "x=[1, 4]:half": "did you mean 1x4:float16?",
    "x=1x4:fp16": "named as in torch: float16",
    "x=1x4:half": "named as in torch: float16",
    "x=1x4:float": "named as in torch: float32",
    "x=1x4:double": "named as in torch: float64",
    "x=1x4:bf16": "named as in torch: bfloat16",
    "x=1x4:long": "named as in torch: int64",
    "x=1x4:int": "named as in torch: int32",
    "x=1x4:flaot32": "named as in torch: float32",
}
LINES = {
    "scan net.py:build -t ascend-910b,nvidia-h100": "-t ascend-910b -t nvidia-h100",
    "scan net.py:build --format yaml": "known formats: csv, github",
    "scna net.py:build": "Did you mean 'scan'?",
    "scan net.py:build --tarket ascend-910b": "--target",
}
RUNS = {
    "missing.pt2": "check the path",
    "net.py:build -t ascend-91b": "ascend-910b",
    "net.py:bild": "did you mean build?",
    "net.py": "it defines",
    "net.py:Net": "write a function without arguments that passes them",
    "net.py:on_cuda": "leave out .cuda()",
    "net.py:parsed": "opcheck run -t TARGET FILE",
    "net.py:output": "return the model itself",
    "net.py:nothing": "return the model itself",
    "weights.pt": "write a function that builds the model",
    "whole.pt": "--trust reads it",
    "whole.pt --trust": "path/to/file.py:Net",
    "net.py:build --input y=1x4": "it takes (x)",
    "net.py:build --input x=1x5": "give inputs that it takes",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "net.py").write_text(NETS, encoding="utf-8")
    (tmp_path / "pack").mkdir()
    shutil.copy(tmp_path / "net.py", tmp_path / "pack" / "model.py")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_there_are_forty() -> None:
    assert len(SOURCES) + len(INPUTS) + len(LINES) + len(RUNS) >= 40


@pytest.mark.parametrize("source", SOURCES)
def test_what_is_no_source(source: str, folder: Path) -> None:
    with pytest.raises(OpcheckError) as caught:
        select(source).check(source, None)  # type: ignore[arg-type]  # it is refused before
    assert SOURCES[source] in caught.value.hint


@pytest.mark.parametrize("text", INPUTS)
def test_how_an_input_is_written(text: str) -> None:
    with pytest.raises(OpcheckError) as caught:
        InputSpec.parse(text)
    assert INPUTS[text] in caught.value.hint


@pytest.mark.parametrize("line", LINES)
def test_how_a_command_is_written(line: str, folder: Path) -> None:
    found = outcome(line.split(), StandIn())
    assert found.exit_code == ExitCode.USAGE
    assert LINES[line] in found.stderr


@pytest.mark.slow
@pytest.mark.parametrize("source", RUNS)
def test_what_cannot_be_built(source: str, folder: Path) -> None:
    made = "import sys, torch, net; torch.save(net.build()[0].state_dict(), 'weights.pt'); "
    made += "net.Net.__module__ = '__main__'; sys.modules['__main__'].Net = net.Net; "
    made += "torch.save(net.build()[0], 'whole.pt')"
    if source.startswith(("weights", "whole")):
        assert ran(f'python -c "{made}"', folder).returncode == 0
    done = ran(f"opcheck scan {source}", folder)
    assert done.returncode in (ExitCode.USAGE, ExitCode.MODEL)
    assert RUNS[source] in done.stderr
    assert done.stdout == ""
