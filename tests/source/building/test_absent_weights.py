"""Weights that code wants from the network: random ones stand for them, and the answer says so."""

import json
from pathlib import Path

import pytest
import torch

from opcheck.commands.run import answer
from opcheck.commands.scan import answer as scan_answer
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.script import Ending, ScriptRequest, ScriptRun, ScriptSpec
from opcheck.model.target import TargetSpec
from opcheck.model.trace import Phase
from tests.app.stand_in import outcome

TARGET = TargetSpec("ascend-910b")
TORCH_HUB = """\
import os
import torch
import torchvision
from torch import nn
from torch.hub import load_state_dict_from_url

model = torchvision.models.resnet18(weights="IMAGENET1K_V1").cuda()
model.eval()(torch.ones(1, 3, 32, 32).cuda())
linear = nn.Linear(2, 3)
saved = load_state_dict_from_url("https://a.example/nested.pth", map_location="cpu")
state = saved["model"]
state.pop("head.weight")
assert state.pop("head.bias", None) is None and "head.weight" not in state
linear.load_state_dict({name.removeprefix("module."): value for name, value in state.items()})
here = load_state_dict_from_url("https://a.example/here.pth", file_name="kept.pth")
linear.load_state_dict(here)
assert linear.bias.tolist() == [7.0, 7.0, 7.0]
"""
TIMM = """\
import timm
import torch

model = timm.create_model("vit_tiny_patch16_224", pretrained=True, num_classes=7, img_size=32)
assert model.cuda()(torch.ones(1, 3, 32, 32).cuda()).shape == (1, 7)
model = timm.create_model("resnet18", pretrained=True, in_chans=1, features_only=True).cuda()
model.eval()(torch.ones(1, 1, 32, 32).cuda())
"""
TRANSFORMERS = """\
import os
import sys
import torch
from transformers import AutoConfig, AutoModelForCausalLM, BertConfig, BertModel
from transformers import LlamaForCausalLM

model = AutoModelForCausalLM.from_pretrained("tiny", dtype=torch.bfloat16)
assert model.dtype == torch.bfloat16 and not model.training
tokens = torch.ones(1, 4, dtype=torch.long)
model.cuda().train()(input_ids=tokens.cuda(), labels=tokens.cuda()).loss.backward()
model, told = LlamaForCausalLM.from_pretrained("tiny", num_hidden_layers=1,
                                               output_loading_info=True)
assert len(model.model.layers) == 1 and told["missing_keys"] == []
BertModel(BertConfig(num_hidden_layers=1, hidden_size=32, num_attention_heads=2,
                     intermediate_size=32, vocab_size=9)).save_pretrained("saved")
assert len(BertModel.from_pretrained("saved").encoder.layer) == 1
for name in ("nowhere/at-all", "quantised"):
    try:
        AutoModelForCausalLM.from_pretrained(name)
    except (OSError, ImportError, ValueError) as error:
        print(name, type(error).__name__)
    else:
        raise AssertionError(name)
"""
DIFFUSERS = """\
import torch
from diffusers import UNet2DModel

given = {"subfolder": "unet"}
model = UNet2DModel.from_pretrained("pipeline", **given, torch_dtype=torch.float16).cuda()
assert model.dtype == torch.float16
model(torch.ones(1, 3, 8, 8, device="cuda", dtype=torch.float16), 1)
"""
LLAMA = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 32,
    "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "vocab_size": 16,
}  # fmt: skip
UNET = {
    "_class_name": "UNet2DModel", "sample_size": 8, "block_out_channels": [32, 32],
    "layers_per_block": 1, "norm_num_groups": 8, "down_block_types": ["DownBlock2D"] * 2,
    "up_block_types": ["UpBlock2D"] * 2, "attention_head_dim": 8,
}  # fmt: skip
NET = """\
import torch
from torch import nn
from torch.hub import load_state_dict_from_url


def net():
    model = nn.Sequential(nn.Linear(8, 8))
    model.load_state_dict(load_state_dict_from_url("https://a.example/net.pth"))
    return model.eval(), torch.ones(2, 8)


def empty():
    model = nn.Linear(8, 8)
    model.load_state_dict({})
    return model, torch.ones(2, 8)
"""


@pytest.fixture(autouse=True)
def _in_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))


def ran(text: str) -> ScriptRun:
    Path("train.py").write_text(text)
    found = answer.run(ScriptRequest(ScriptSpec("train.py"), ModelSpec("train.py"), TARGET))
    assert (found.ending, found.emulation.error) == (Ending.RETURNED, "")
    return found


def absent(found: ScriptRun) -> list[str]:
    end = " are not here: random ones stand for them"
    notes = found.emulation.notes
    return [
        note.removeprefix("the weights of ").removesuffix(end)
        for note in notes
        if note.endswith(end)
    ]


def write(path: str, config: object) -> None:
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(config))


@pytest.mark.slow
def test_checkpoints_by_their_address() -> None:
    kept = Path("cache/hub/checkpoints/kept.pth")
    kept.parent.mkdir(parents=True)
    torch.save({"weight": torch.zeros(3, 2), "bias": torch.full((3,), 7.0)}, kept)
    found = ran(TORCH_HUB)
    resnet, nested = absent(found)
    assert resnet.startswith("https://download.pytorch.org/models/resnet18-")
    assert nested == "https://a.example/nested.pth"
    assert found.runs


@pytest.mark.slow
def test_checkpoints_of_timm() -> None:
    found = ran(TIMM)
    assert [name.partition(".")[0] for name in absent(found)] == [
        "timm/vit_tiny_patch16_224", "timm/resnet18",
    ]  # fmt: skip
    assert found.used


@pytest.mark.slow
def test_models_of_transformers_by_their_config() -> None:
    write("tiny/config.json", LLAMA)
    quantised = {"quant_method": "gptq", "bits": 4, "group_size": 8}
    write("quantised/config.json", {**LLAMA, "quantization_config": quantised})
    found = ran(TRANSFORMERS)
    assert absent(found) == ["tiny"]
    assert Phase.BACKWARD in {kernel.phase for kernel in found.emulation.kernels}


@pytest.mark.slow
def test_parts_of_diffusers_by_their_config() -> None:
    write("pipeline/unet/config.json", UNET)
    found = ran(DIFFUSERS)
    assert absent(found) == ["pipeline/unet"]
    assert found.used


@pytest.mark.slow
def test_a_scan_goes_on_without_them_too() -> None:
    Path("net.py").write_text(NET)
    report = scan_answer.scan(ScanRequest(ModelSpec("net.py:net"), (TARGET,)))
    assert report.targets[0].kernels
    told = "the weights of https://a.example/net.pth are not here: random ones stand for them"
    assert told in report.trace.notes


@pytest.mark.slow
def test_a_state_dict_that_nobody_wanted_is_loaded_as_ever() -> None:
    Path("net.py").write_text(NET)
    done = outcome(["scan", "net.py:empty", "-t", "ascend-910b"])
    assert "Missing key(s) in state_dict" in done.stderr
