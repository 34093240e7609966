"""What users met who had models compiled by ``torch.compile``: the fourth sample, of these alone.

Left out are threads that do not say which device, and those of builds between two releases.
"""

from tests.model_reports.compiled import COMPILE, HEAD, RESNET
from tests.model_reports.report import Met, ModelReport, python
from tests.model_reports.second_compiled import BLOCK

_CONVOLUTION = (
    HEAD
    + """
def model():
    return torch.compile(nn.Conv2d(64, 64, 3, padding=1)), (torch.randn(8, 64, 56, 56),)
"""
)
DENOISED = (
    HEAD
    + """
class Step(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.first = nn.GroupNorm(8, 32), nn.Conv2d(32, 32, 3, padding=1)
        self.time, self.attention = nn.Linear(64, 32), nn.MultiheadAttention(32, 4)

    def forward(self, x, time):
        y = self.first(nn.functional.silu(self.norm(x))) + self.time(time)[:, :, None, None]
        rows = y.flatten(2).permute(2, 0, 1)
        rows = rows + self.attention(rows, rows, rows, need_weights=False)[0]
        return x + rows.permute(1, 2, 0).reshape(x.shape)

def model():
    inputs = torch.randn(2, 32, 16, 16).half(), torch.randn(2, 64).half()
    return torch.compile(Step().half()), inputs
"""
)
_CACHED = (
    HEAD
    + """
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(64, 192)
        self.register_buffer("keys", torch.zeros(1, 4, 32, 16))
        self.register_buffer("values", torch.zeros(1, 4, 32, 16))

    def forward(self, x, position):
        q, k, v = self.qkv(x).view(1, 1, 3, 4, 16).permute(2, 0, 3, 1, 4)
        self.keys[:, :, position] = k
        self.values[:, :, position] = v
        mask = torch.arange(32, device=x.device) <= position
        found = nn.functional.scaled_dot_product_attention(
            q, self.keys, self.values, attn_mask=mask[None, None, None]
        )
        return found.transpose(1, 2).flatten(2)

def model():
    compiled = torch.compile(Attention(), backend="openxla")
    return compiled, (torch.randn(1, 1, 64), torch.tensor([3]))
"""
)

REPORTS = (
    ModelReport(
        "A100: a compiled convolution", "pytorch/pytorch#108636",
        "compiled operators run on an A100, no faster than eager, in September 2023",
        {"nvidia-a100@2.0.1": Met.WORKS}, python(_CONVOLUTION), COMPILE,
    ),
    ModelReport(
        "A100: a compiled ResNet, trained", "pytorch/pytorch#111182",
        "iresnet trains on an A100 with 2.1.0, 1.09 times as fast",
        {"nvidia-a100@2.1.2": Met.WORKS}, python(RESNET.format(name="resnet50")), COMPILE,
        training=True,
    ),
    ModelReport(
        "RTX 4090: Stable Diffusion", "huggingface/diffusers#3313",
        "pipelines are compiled and faster on an RTX 4090 with what became 2.1",
        {"nvidia-rtx4090@2.1.2": Met.WORKS}, python(DENOISED), COMPILE,
    ),
    ModelReport(
        "TPU: Gemma with a cache of one size", "pytorch/xla#6711",
        "a compiled Gemma raises on a v5e in March 2024",
        {"google-tpu-v5e@r2.2": Met.REFUSED}, python(_CACHED), COMPILE,
    ),
    ModelReport(
        "Orin: nanochat", "karpathy/nanochat#604",
        "ModuleNotFoundError: No module named 'triton', on an Orin NX with 2.8.0",
        {"nvidia-orin@2.8.0": Met.REFUSED}, python(BLOCK.format(options="")),
        (*COMPILE, "triton"),
    ),
)  # fmt: skip
