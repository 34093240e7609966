"""What users met who had models compiled by ``torch.compile``."""

from tests.model_reports.report import Met, ModelReport, python

COMPILE = ("torch::compile", "torch.compile")
HEAD = """
import torch
from torch import nn
"""

NORM = (
    HEAD
    + """
def model():
    return torch.compile(nn.RMSNorm(2048)), (torch.randn(2048),)
"""
)
RESNET = (
    HEAD
    + """
from torchvision.models import {name}

def model():
    return torch.compile({name}(weights=None)), (torch.rand(1, 3, 64, 64),)
"""
)
LAYERS = (
    HEAD
    + """
class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(64, 128), nn.Linear(128, 64)
        self.fc3 = nn.Linear(64, 10)

    def forward(self, x):
        return self.fc3(torch.relu(self.fc2(torch.relu(self.fc1(x)))))

def model():
    return torch.compile(Small(){options}), (torch.randn(8, 64),)
"""
)
LAYER_NORM = (
    HEAD
    + """
def model():
    return torch.compile(nn.LayerNorm(768)), (torch.randn(2, 768),)
"""
)
FUSED = (
    HEAD
    + """
class Chain(nn.Module):
    def forward(self, x, y):
        z = torch.sigmoid(x) * y + torch.tanh(y) - x.exp()
        return (z * z).mean(-1).sqrt().relu() + 1

def model():
    return torch.compile(Chain()), (torch.randn(64, 64), torch.randn(64, 64))
"""
)
FLOAT8 = (
    HEAD
    + """
class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        weight = torch.zeros(64, 64, dtype=torch.float8_e4m3fn)
        self.register_buffer("weight", weight)
        self.register_buffer("scale", torch.ones(()))

    def forward(self, x):
        return x @ (self.weight.to(x.dtype) * self.scale.to(x.dtype))

def model():
    return torch.compile(Scaled()), (torch.randn(8, 64).half(),)
"""
)
ROTARY = (
    HEAD
    + """
class Rotary(nn.Module):
    def forward(self, positions):
        frequencies = 1.0 / 10000 ** (torch.arange(0, 64, 2, dtype=torch.float64) / 64)
        angles = positions.double()[..., None] * frequencies.to(positions.device)
        turned = [angles.cos(), -angles.sin(), angles.sin(), angles.cos()]
        return torch.stack(turned, -1).unflatten(-1, (2, 2)).float()

def model():
    return torch.compile(Rotary()), (torch.arange(16)[None],)
"""
)

REPORTS = (
    ModelReport(
        "MPS: a compiled norm", "pytorch/pytorch#150454",
        "Inductor writes a shader of RMSNorm that is not valid, in April 2025",
        {"apple-mps@2.7.1": Met.REFUSED}, python(NORM), COMPILE,
    ),
    ModelReport(
        "MPS: a compiled ResNet, trained", "pytorch/pytorch#161905",
        "the backward pass of a compiled ResNet-18 fails with 2.8, which runs on the CPU",
        {"apple-mps@2.8.0": Met.REFUSED}, python(RESNET.format(name="resnet18")), COMPILE,
        training=True,
    ),
    ModelReport(
        "MPS: a few compiled layers", "pytorch/pytorch#125254",
        'compiling raises "Device mps not supported" with 2.3, and works with 2.10',
        {"apple-mps@2.3.1": Met.REFUSED, "apple-mps@2.10.0": Met.WORKS},
        python(LAYERS.format(options="")), COMPILE,
    ),
    ModelReport(
        "MPS: a compiled layer norm", "ModelCloud/GPTQModel#1684",
        "compiling fails in the lowering of mean with 2.6",
        {"apple-mps@2.6.0": Met.REFUSED}, python(LAYER_NORM), COMPILE,
    ),
    ModelReport(
        "MPS: a compiled ResNet of 2.0", "pytorch/pytorch#96976",
        'compiling raises "Torch not compiled with CUDA enabled" with 2.0',
        {"apple-mps@2.0.1": Met.REFUSED}, python(RESNET.format(name="resnet50")), COMPILE,
    ),
    ModelReport(
        "Ascend: compiled for dynamic shapes", "sgl-project/sglang-omni#1721",
        "torch_npu's Inductor crashes while it writes code for dynamic shapes, in September 2026",
        {"ascend-910b@26.1.0": Met.REFUSED},
        python(LAYERS.format(options=", dynamic=True")), COMPILE,
    ),
    ModelReport(
        "Ascend: compiled by default", "huggingface/transformers#37859",
        "ModernBERT, which compiles parts of itself, fails in Inductor on an NPU in April 2025",
        {"ascend-910b@6.0.0": Met.REFUSED}, python(LAYER_NORM), COMPILE,
    ),
    ModelReport(
        "Arc: fused kernels", "intel/intel-xpu-backend-for-triton#7355",
        "every fused kernel fails to build on an A770 with 2.12, and builds with 2.14",
        {"intel-arc@2.12.1": Met.REFUSED, "intel-arc@2.14.1": Met.WORKS}, python(FUSED), COMPILE,
    ),
    ModelReport(
        "Ampere: compiled float8 weights", "kijai/ComfyUI-WanVideoWrapper#1030",
        "float8_e4m3fn weights in a compiled model: type fp8e4nv not supported on a 3080",
        {"nvidia-a100@2.7.1": Met.REFUSED}, python(FLOAT8), (*COMPILE, "float8"),
    ),
    ModelReport(
        "Arc: compiled float64", "pytorch/pytorch#180664",
        "a compiled rotary embedding has float64, which an A770 does not have",
        {"intel-arc@2.11.0": Met.REFUSED}, python(ROTARY), (*COMPILE, "float64"),
    ),
)  # fmt: skip
