"""What users met who had models compiled by ``torch.compile``: the fifth sample.

Left out are threads that do not say which device, those of builds between two releases, and those
that tell of the same model, device and release as one that was taken before.
"""

from tests.model_reports.compiled import COMPILE, HEAD
from tests.model_reports.fourth_compiled import DENOISED
from tests.model_reports.report import Met, ModelReport, python
from tests.model_reports.second_compiled import BLOCK

_TUNED = BLOCK.format(options=', mode="max-autotune"').replace(
    "Block(), mode", "Block().bfloat16(), mode"
).replace("torch.randn(2, 16, 64)", "torch.randn(2, 16, 64).bfloat16()")  # fmt: skip
_FLUX = (
    HEAD
    + """
class Stream(nn.Module):
    def __init__(self):
        super().__init__()
        self.modulation = nn.Linear(64, 192)
        self.norm = nn.LayerNorm(64, elementwise_affine=False, eps=1e-6)
        self.first, self.second = nn.Linear(64, 192 + 256), nn.Linear(64 + 256, 64)
        self.query, self.key = nn.RMSNorm(16), nn.RMSNorm(16)

    def turned(self, x, positions):
        a, b = x.float().reshape(*x.shape[:-1], -1, 2).unbind(-1)
        cos, sin = positions.cos(), positions.sin()
        return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2).type_as(x)

    def forward(self, x, vector, positions):
        mod = self.modulation(nn.functional.silu(vector))[:, None]
        shift, scale, gate = mod.chunk(3, dim=-1)
        y = (1 + scale) * self.norm(x) + shift
        qkv, wide = torch.split(self.first(y), [192, 256], dim=-1)
        q, k, v = qkv.view(1, 32, 3, 4, 16).permute(2, 0, 3, 1, 4)
        q, k = self.turned(self.query(q), positions), self.turned(self.key(k), positions)
        found = nn.functional.scaled_dot_product_attention(q, k, v)
        found = found.transpose(1, 2).reshape(1, 32, 64)
        wide = nn.functional.gelu(wide, approximate="tanh")
        return x + gate * self.second(torch.cat([found, wide], 2))

def model():
    inputs = torch.randn(1, 32, 64).bfloat16(), torch.randn(1, 64).bfloat16()
    return torch.compile(Stream().bfloat16()), (*inputs, torch.rand(32, 8))
"""
)
_HSTU = (
    HEAD
    + """
class Hstu(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.after = nn.LayerNorm(64), nn.LayerNorm(64)
        self.first, self.last = nn.Linear(64, 256), nn.Linear(64, 64)

    def forward(self, x):
        u, v, q, k = nn.functional.silu(self.first(self.norm(x))).chunk(4, dim=-1)
        scores = nn.functional.silu(q @ k.transpose(-1, -2)) / x.shape[-2]
        return x + self.last(self.after(scores.tril() @ v) * u)

def model():
    return torch.compile(Hstu()), (torch.randn(2, 32, 64),)
"""
)
_SILU = (
    HEAD
    + """
class Projected(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(512)
        self.weight = nn.Parameter(torch.randn(512, 2048))
        self.bias = nn.Parameter(torch.zeros(2048))

    def forward(self, x):
        return nn.functional.silu(torch.addmm(self.bias, self.norm(x), self.weight))

def model():
    return torch.compile(Projected()), (torch.randn(2048, 512),)
"""
)

REPORTS = (
    ModelReport(
        "MI300X: a GPT, trained", "KellerJordan/modded-nanogpt#8",
        "training runs on MI300X only with torch.compile left out, in October 2024",
        {"amd-mi300x@2.4.1": Met.REFUSED}, python(BLOCK.format(options="")), COMPILE,
        training=True,
    ),
    ModelReport(
        "A100: PI05, trained", "huggingface/lerobot#2852",
        "InductorError: AssertionError, where pi0.5 is trained on an A100 with 2.7.1",
        {"nvidia-a100@2.7.1": Met.REFUSED}, python(_TUNED), COMPILE, training=True,
    ),
    ModelReport(
        "Arc: SAM", "pytorch/pytorch#171560",
        "a compiled SAM runs on a B60 with 2.9.1, much slower than eager",
        {"intel-arc@2.9.1": Met.WORKS}, python(BLOCK.format(options="")), COMPILE,
    ),
    ModelReport(
        "A100: FLUX.1", "xdit-project/xDiT#223",
        "a compiled FLUX.1 is 15% faster on an A100, in August 2024",
        {"nvidia-a100@2.4.1": Met.WORKS}, python(_FLUX), COMPILE,
    ),
    ModelReport(
        "A100: Stable Diffusion", "chengzeyi/stable-fast#2",
        "a compiled Stable Diffusion goes from 32 to 51 steps a second with 2.1 on an A100",
        {"nvidia-a100@2.1.2": Met.WORKS}, python(DENOISED), COMPILE,
    ),
    ModelReport(
        "H200: FLUX.1", "sgl-project/sglang#19673",
        "a compiled FLUX.1 takes 4.32 s in place of 5.58 s on an H200, in March 2026",
        {"nvidia-h200@2.10.0": Met.WORKS}, python(_FLUX), COMPILE,
    ),
    ModelReport(
        "H100: FLUX.1", "black-forest-labs/flux#426",
        "a compiled FLUX.1 is 60% faster on an H100, in March 2025",
        {"nvidia-h100@2.6.0": Met.WORKS}, python(_FLUX), COMPILE,
    ),
    ModelReport(
        "RTX 4090: Stable Diffusion with 2.0", "vladmandic/sdnext#1483",
        "a compiled Stable Diffusion is 40% faster on an RTX 4090, in June 2023",
        {"nvidia-rtx4090@2.0.1": Met.WORKS}, python(DENOISED), COMPILE,
    ),
    ModelReport(
        "Ampere: ControlNet, tuned as far as it goes", "dbolya/tomesd#47",
        "max-autotune takes ControlNet from 5.76 to 6.50 steps a second on an RTX 3090",
        {"nvidia-a100@2.0.1": Met.WORKS},
        python(DENOISED.replace(".half()), inputs", '.half(), mode="max-autotune"), inputs')),
        COMPILE,
    ),
    ModelReport(
        "Ascend: HSTU", "Ascend/pytorch#97",
        "No module named 'torch._inductor.triton_heuristics', of HSTU compiled for an NPU",
        {"ascend-910b@7.1.0": Met.REFUSED}, python(_HSTU), COMPILE,
    ),
    ModelReport(
        "Ascend: a layer norm and a product", "Ascend/pytorch#102",
        "ub overflow, where Inductor's kernel of a layer norm is compiled by torch_npu 2.6.0",
        {"ascend-910b@7.1.0": Met.REFUSED}, python(_SILU), COMPILE,
    ),
)  # fmt: skip
