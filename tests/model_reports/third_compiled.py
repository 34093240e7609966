"""What users met who had models compiled by ``torch.compile``: the third sample.

Left out are threads that do not say which device, and those of what one machine lacks.
"""

from tests.model_reports.compiled import COMPILE, HEAD, RESNET
from tests.model_reports.report import Met, ModelReport, python
from tests.model_reports.second_compiled import BLOCK

_TUTORIAL = RESNET.format(name="resnet18").replace(
    "(weights=None))", '(weights=None), mode="reduce-overhead")'
)
_TOWER = (
    HEAD
    + """
class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.norm = nn.Linear(256, 128), nn.LayerNorm(128)

    def forward(self, a, b):
        return self.norm(torch.relu(self.linear(torch.cat([a, b], 1))))

def model():
    inputs = torch.randn(9717, 128).bfloat16(), torch.randn(9717, 128).bfloat16()
    return torch.compile(Tower().bfloat16(), mode="max-autotune"), inputs
"""
)
_ADD = (
    HEAD
    + """
class Add(nn.Module):
    def forward(self, x, y):
        return x + y

def model():
    return torch.compile(Add()), (torch.ones(64).bfloat16(), torch.ones(64).bfloat16())
"""
)
_HALVES = BLOCK.format(options="").replace(
    "Block()), (torch.randn(2, 16, 64),)",
    "Block().bfloat16()), (torch.randn(2, 16, 64).bfloat16(),)",
)
_UNET = (
    HEAD
    + """
class Step(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.first = nn.GroupNorm(8, 32), nn.Conv2d(32, 32, 3, padding=1)
        self.time = nn.Linear(64, 32)

    def forward(self, x, time):
        y = self.first(nn.functional.silu(self.norm(x)))
        return x + y + self.time(time)[:, :, None, None]

def model():
    inputs = torch.randn(2, 32, 16, 16).half(), torch.randn(2, 64).half()
    return torch.compile(Step().half(), mode="reduce-overhead"), inputs
"""
)
_REPLACED = (
    HEAD
    + """
class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)

    def forward(self, x):
        self.conv.weight.data = self.conv.weight.data * 0.5
        return self.conv(x)

def model():
    return torch.compile(Scaled(), mode="max-autotune"), (torch.randn(2, 3, 16, 16),)
"""
)

REPORTS = (
    ModelReport(
        "MI250: PyTorch's tutorial", "pytorch/pytorch#98510",
        "couldn't allocate input reg for constraint 'l', of Triton 2.0 for ROCm in March 2023",
        {"amd-mi250@2.0.1": Met.REFUSED}, python(_TUTORIAL), COMPILE,
    ),
    ModelReport(
        "Ampere: tuned as far as it goes", "TensorAuto/OpenTau#111",
        "max-autotune takes inference of PI05 on a 3090 from 150 to 100 ms, in February 2026",
        {"nvidia-a100@2.10.0": Met.WORKS}, python(BLOCK.format(options=', mode="max-autotune"')),
        COMPILE,
    ),
    ModelReport(
        "H100: tuned for longer than an A100", "pytorch/pytorch#125277",
        "max-autotune compiles on both, though far slower on an H100, in April 2024",
        {"nvidia-h100@2.3.1": Met.WORKS, "nvidia-a100@2.3.1": Met.WORKS}, python(_TOWER), COMPILE,
    ),
    ModelReport(
        "H100: a GPT trained, tuned without graphs", "KellerJordan/modded-nanogpt#80",
        "max-autotune-no-cudagraphs trains a GPT on H100s 3.5 s faster, in February 2025",
        {"nvidia-h100@2.7.1": Met.WORKS},
        python(BLOCK.format(options=', mode="max-autotune-no-cudagraphs"')), COMPILE,
        training=True,
    ),
    ModelReport(
        "Ascend: a Llama by TorchAir", "Ascend/pytorch#66",
        "a Llama compiled by TorchAir fails while it waits for a copy, with CANN 8.0.RC3",
        {"ascend-910b@6.0.0": Met.REFUSED}, python(BLOCK.format(options=', backend="npu"')),
        COMPILE,
    ),
    ModelReport(
        "T4: compiled bfloat16", "pytorch/pytorch#118122",
        "Feature '.bf16' requires .target sm_80, on Colab's T4 in May 2024",
        {"nvidia-t4@2.3.1": Met.REFUSED}, python(_ADD), (*COMPILE, "bfloat16"),
    ),
    ModelReport(
        "T4: compiled bfloat16, trained", "inclusionAI/AReno#159",
        "the compiled backward pass raises SkipFrame: BF16 is not supported, in July 2026",
        {"nvidia-t4@2.12.1": Met.REFUSED}, python(_HALVES), (*COMPILE, "bfloat16"), training=True,
    ),
    ModelReport(
        "Turing: bfloat16 left uncompiled", "deepbeepmeep/Wan2GP#38",
        "an RTX 2060 does not support bfloat16 compilation natively, skipping: it runs uncompiled",
        {"nvidia-t4@2.6.0": Met.WORKS}, python(_HALVES), (*COMPILE, "bfloat16"),
    ),
    ModelReport(
        "RTX 4070: on Windows", "pytorch/pytorch#137689",
        "Cannot find a working triton installation, on Windows 11 with 2.4.1",
        {"nvidia-rtx4090@2.4.1": Met.REFUSED}, python(_UNET), (*COMPILE, "triton"),
    ),
    ModelReport(
        "H100: a weight replaced under graphs", "pytorch/pytorch#183313",
        "max-autotune raises a pool tracking error where the weight of a Conv2d is replaced",
        {"nvidia-h100@2.11.0": Met.REFUSED}, python(_REPLACED), COMPILE,
    ),
)  # fmt: skip
