"""A control: a small program that users or a vendor saw running on a target.

Controls are chosen by the order in which a search or a listing of files gives them. What the source
says was written down before any of them was scanned; ``answers.py`` holds what the first scan said.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

import opcheck
from opcheck.model.report import Finding, TargetReport
from opcheck.model.verdict import Verdict
from opcheck.source.building import torchvision_operators
from tests.test_cases import Applied

WORKS, FALLS_BACK = "works", "falls back, with a warning"

QUERIES = (
    "Ascend 910B NPU torch_npu works fine now training runs successfully",
    "now works on MPS, confirmed fixed in nightly Apple silicon operator",
    "works on ROCm MI300X confirmed working AMD GPU pytorch model",
    "works on Intel Arc XPU pytorch confirmed working",
    "Cambricon MLU support torch_mlu test passed works",
    "Hygon DCU works K100 running successfully pytorch DTK",
    "Moore Threads MUSA torch_musa works supported MTT S4000 test passed",
    "Torch-FL Hygon DCU measured operators pass on hardware capability matrix dtype",
    "verified on AMD Instinct MI300X ROCm runs end-to-end no code changes model inference training",
    "AMD Radeon RX 7900 XTX ROCm works great pytorch training stable",
    "Ascend 310P inference works successfully model torch_npu",
    "Ascend 950 A5 NPU support operator test passed torch_npu",
    "PyTorch 2 MPS backend now implemented, works for me on M1 M2 after upgrading torch",
    "Intel XPU Arc A770 B580 tested working inference pytorch 2.7 native xpu model",
    "PyTorch/XLA TPU v4 works trained model successfully torch_xla lowering added",
    "model tested on Apple MPS M1 Max works well speed diffusion whisper inference mps device PR",
    "transformers accelerate MLU Cambricon verified model training run pass benchmark diffusers",
    "昇腾 910B 推理成功 可以正常运行 torch_npu 2.1 模型",
    "TPU v4 v5e torch_xla works ViT Llama diffusion inference benchmark result running fine",
)
"""What was searched for in issue threads, in this order.

Beside these, a vendor's own tests: of every listing of files, in the order of the alphabet, every
n-th was taken (of PyTorch's own tests for MPS, what stands in four evenly spaced parts of the
file), less what tests the vendor's private operators or how the plugin itself works.
"""


@dataclass(frozen=True)
class Control:
    """What runs somewhere, as the source says."""

    name: str
    target: str
    """Chip and release that the source names, or the nearest ones in the database."""
    source: str
    """``owner/project#12``, or ``owner/project:path`` of a file in ``COMMITS``."""
    program: Callable[..., Any]
    inputs: tuple[Tensor, ...] = ()
    train: bool = False
    seen: str = WORKS
    build: bool = False
    """Whether the program is a function that makes the model, not the model itself."""


@dataclass(frozen=True)
class Answer:
    """What a scan says of the worst operator of a control, in words that do not change often."""

    verdict: str
    code: str = ""
    op: str = ""

    def __str__(self) -> str:
        return f"**{self.verdict}** `{self.code}` ({self.op})" if self.op else f"**{self.verdict}**"


class Learned(nn.Module):
    """A function of a tensor that a training step learns, and of inputs."""

    def __init__(self, function: Callable[..., Any], start: Tensor) -> None:
        super().__init__()
        self.function = function
        self.start = nn.Parameter(start)

    def forward(self, *args: Tensor) -> Any:
        return self.function(self.start, *args)


@cache
def controls() -> Mapping[str, Control]:
    """Every control by name."""
    from tests.user_controls.apple import APPLE
    from tests.user_controls.ascend import ASCEND
    from tests.user_controls.cambricon import CAMBRICON
    from tests.user_controls.compilers import COMPILERS
    from tests.user_controls.gpus import GPUS
    from tests.user_controls.hygon import HYGON
    from tests.user_controls.moorethreads import MOORE_THREADS

    every = (*ASCEND, *CAMBRICON, *MOORE_THREADS, *HYGON, *GPUS, *APPLE, *COMPILERS)
    found = {control.name: control for control in every}
    assert len(found) == len(every), "a name is there twice"
    return found


def module_of(control: Control) -> nn.Module:
    """The program as a module, in the mode that the source runs it in."""
    torch.default_generator.manual_seed(0)
    program = control.program() if control.build else control.program
    module = program if isinstance(program, nn.Module) else Applied(program)
    return module.train(control.train)


@cache
def answer_of(name: str) -> Answer:
    """What a scan says now of a control: of its worst operator."""
    control = controls()[name]
    torchvision_operators.prepare()
    module = module_of(control)
    report = opcheck.scan(module, control.inputs, targets=[control.target], train=control.train)
    assert not report.trace.gaps, report.trace.gaps
    return _worst(report.targets[0])


def _worst(target: TargetReport) -> Answer:
    """Findings come worst first; what is decomposed into native operators counts as native."""
    worst: Finding = target.findings[0]
    if worst.verdict in {Verdict.NATIVE, Verdict.DECOMPOSED}:
        return Answer(Verdict.NATIVE.value)
    return Answer(worst.verdict.value, worst.reason.code, str(worst.op))
