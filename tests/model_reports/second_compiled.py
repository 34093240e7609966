"""What users met who had models compiled by ``torch.compile``: the second sample."""

from tests.model_reports.compiled import COMPILE, HEAD, RESNET
from tests.model_reports.report import Met, ModelReport, python

BLOCK = (
    HEAD
    + """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(64)
        self.attention = nn.MultiheadAttention(64, 4, batch_first=True)
        self.feed = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 64))

    def forward(self, x):
        y = self.norm(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.feed(x)

def model():
    return torch.compile(Block(){options}), (torch.randn(2, 16, 64),)
"""
)
_CAST = (
    HEAD
    + """
class Cast(nn.Module):
    def forward(self, x):
        return x.to(torch.float8_e4m3fn)

def model():
    return torch.compile(Cast()), (torch.randn(16),)
"""
)
_LAYERS = (
    HEAD
    + """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(512, 256), nn.Linear(256, 512)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))

def model():
    return torch.compile(Net(), mode="reduce-overhead"), (torch.randn(64, 512),)
"""
)
_PUT = (
    HEAD
    + """
class Put(nn.Module):
    def forward(self, table, at, values):
        return table.index_put((at,), values, accumulate=True)

def model():
    table, values = torch.zeros(8, 4).bfloat16(), torch.ones(3, 4).bfloat16()
    return torch.compile(Put()), (table, torch.tensor([1, 1, 2]), values)
"""
)
_STFT = (
    HEAD
    + """
class Phase(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(800))

    def forward(self, x):
        found = torch.stft(x, 800, 200, 800, window=self.window, return_complex=True)
        whole = torch.abs(found) * torch.exp(torch.angle(found) * 1j)
        return torch.istft(whole, 800, 200, 800, window=self.window)

def model():
    return torch.compile(Phase()), (torch.randn(1, 4000),)
"""
)

REPORTS = (
    ModelReport(
        "Ascend: a compiled transformer", "vllm-project/vllm-omni#1108",
        "users of NPUs find that torch.compile fails, as there is no Inductor, in January 2026",
        {"ascend-910b@7.3.0": Met.REFUSED}, python(BLOCK.format(options="")), COMPILE,
    ),
    ModelReport(
        "Ascend: compiled by TorchAir", "sgl-project/sglang#13410",
        "the back end of TorchAir compiles Qwen3 for an NPU, in November 2025",
        {"ascend-910b@7.2.0": Met.WORKS}, python(BLOCK.format(options=', backend="npu"')),
        COMPILE,
    ),
    ModelReport(
        "Ampere: a compiled cast to float8", "pytorch/pytorch#184081",
        "a cast to float8_e4m3fn raises a CompilationError on GPUs without FP8, in May 2026",
        {"nvidia-a100@2.11.0": Met.REFUSED}, python(_CAST), (*COMPILE, "float8"),
    ),
    ModelReport(
        "MI300X: trained with graphs", "pytorch/pytorch#187715",
        "two layers compiled with reduce-overhead train on an MI300X with 2.10, though slower",
        {"amd-mi300x@2.10.0": Met.WORKS}, python(_LAYERS), COMPILE, training=True,
    ),
    ModelReport(
        "RX 7900: a compiled ResNet", "pytorch/pytorch#187065",
        "a compiled ResNet-18 runs on an RX 7900 XTX with 2.2, slower than eager",
        {"amd-rx7900xt@2.2.2": Met.WORKS}, python(RESNET.format(name="resnet18")), COMPILE,
    ),
    ModelReport(
        "Ampere: bfloat16 added up", "pytorch/pytorch#97016",
        "atomic_add does not support bf16, so that index_put with accumulate does not compile",
        {"nvidia-a100@2.0.1": Met.REFUSED}, python(_PUT), (*COMPILE, "index_put"),
    ),
    ModelReport(
        "H100: a compiled STFT", "pytorch/pytorch#172826",
        "AttributeError: 'complex' object has no attribute 'get_name', in January 2026",
        {"nvidia-h100@2.10.0": Met.REFUSED}, python(_STFT), (*COMPILE, "complex"),
    ),
)  # fmt: skip
