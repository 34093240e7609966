"""What users met who had models compiled by ``torch.compile``: the seventh sample.

Left out are threads that do not say which device, those of builds between two releases, what is
special to Windows, and those that tell of the same model, device and release as one that was taken
before.
"""

from tests.model_reports.compiled import COMPILE, HEAD
from tests.model_reports.report import Met, ModelReport, python

_DECODE = (
    HEAD
    + """
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Parameter(torch.ones(64)), nn.Parameter(torch.ones(64))
        self.qkv, self.out = nn.Linear(64, 192, bias=False), nn.Linear(64, 64, bias=False)
        self.gate, self.up = nn.Linear(64, 128, bias=False), nn.Linear(64, 128, bias=False)
        self.down = nn.Linear(128, 64, bias=False)
        self.register_buffer("keys", torch.zeros(1, 4, 32, 16))
        self.register_buffer("values", torch.zeros(1, 4, 32, 16))

    def norm(self, x, weight):
        y = x.float()
        return (y * torch.rsqrt((y * y).mean(-1, keepdim=True) + 1e-5)).type_as(x) * weight

    def forward(self, x, at):
        q, k, v = self.qkv(self.norm(x, self.first)).view(1, 1, 3, 4, 16).permute(2, 0, 3, 1, 4)
        self.keys[:, :, at], self.values[:, :, at] = k, v
        mask = torch.arange(32, device=x.device)[None, None, None] <= at
        found = nn.functional.scaled_dot_product_attention(q, self.keys, self.values, mask)
        x = x + self.out(found.transpose(1, 2).reshape(1, 1, 64))
        y = self.norm(x, self.second)
        return x + self.down(nn.functional.silu(self.gate(y)) * self.up(y))

def model():
    return torch.compile(Layer()), (torch.randn(1, 1, 64), torch.tensor([3]))
"""
)
_QWEN = (
    HEAD
    + """
class Norm(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(size))

    def forward(self, x):
        y = x.to(torch.float32)
        y = y * torch.rsqrt(y.pow(2).mean(dim=-1, keepdim=True) + 1e-6)
        return (y * self.scale).to(x.dtype)

class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2, self.of_q, self.of_k = Norm(64), Norm(64), Norm(16), Norm(16)
        self.q, self.k = nn.Linear(64, 64, bias=False), nn.Linear(64, 32, bias=False)
        self.v, self.out = nn.Linear(64, 32, bias=False), nn.Linear(64, 64, bias=False)
        self.fc1, self.fc2 = nn.Linear(64, 128, bias=False), nn.Linear(64, 128, bias=False)
        self.fc3 = nn.Linear(128, 64, bias=False)
        angles = torch.arange(16)[:, None] * (1 / 10000 ** (torch.arange(0, 16, 2) / 16))
        angles = torch.cat([angles, angles], 1)
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())

    def turned(self, x):
        rotated = torch.cat((-x[..., 8:], x[..., :8]), dim=-1)
        return (x * self.cos + rotated * self.sin).to(x.dtype)

    def attention(self, x):
        q = self.turned(self.of_q(self.q(x).view(1, 16, 4, 16).transpose(1, 2)))
        k = self.turned(self.of_k(self.k(x).view(1, 16, 2, 16).transpose(1, 2)))
        v = self.v(x).view(1, 16, 2, 16).transpose(1, 2)
        k, v = k.repeat_interleave(2, dim=1), v.repeat_interleave(2, dim=1)
        mask = torch.triu(torch.ones(16, 16, device=x.device, dtype=torch.bool), diagonal=1)
        scores = (q @ k.transpose(2, 3)).masked_fill(mask, -torch.inf)
        found = torch.softmax(scores / 4, dim=-1) @ v
        return self.out(found.transpose(1, 2).reshape(1, 16, 64))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        y = self.norm2(x)
        return x + self.fc3(nn.functional.silu(self.fc1(y)) * self.fc2(y))

def model():
    return torch.compile(Layer().bfloat16()), (torch.randn(1, 16, 64).bfloat16(),)
"""
)
_SCATTER = (
    HEAD
    + """
class Scatter(nn.Module):
    def forward(self, table, at, values):
        return torch.scatter(table, 1, at, values) + 1

def model():
    table, values = torch.zeros(4, 8).bfloat16(), torch.ones(4, 2).bfloat16()
    return torch.compile(Scatter()), (table, torch.ones(4, 2, dtype=torch.int64), values)
"""
)
_CHAIN = (
    HEAD
    + """
class Chain(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = nn.Linear(64, 64)

    def forward(self, x):
        return torch.sigmoid(self.last(x)) * x + torch.tanh(x)

def model():
    return torch.compile(Chain().bfloat16()), (torch.randn(8, 64).bfloat16(),)
"""
)
_UNET = (
    HEAD
    + """
class Res(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.GroupNorm(8, 32), nn.GroupNorm(8, 32)
        self.conv1, self.conv2 = nn.Conv2d(32, 32, 3, 1, 1), nn.Conv2d(32, 32, 3, 1, 1)
        self.time = nn.Linear(64, 32)

    def forward(self, x, time):
        y = self.conv1(nn.functional.silu(self.norm1(x)))
        y = y + self.time(nn.functional.silu(time))[:, :, None, None]
        return x + self.conv2(nn.functional.silu(self.norm2(y)))

class Unet(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.res = nn.Conv2d(4, 32, 3, 1, 1), Res()
        self.down = nn.Conv2d(32, 32, 3, 2, 1)
        self.norm, self.q = nn.LayerNorm(32), nn.Linear(32, 32, bias=False)
        self.kv, self.out = nn.Linear(48, 64, bias=False), nn.Linear(32, 32)
        self.up, self.last = nn.Conv2d(32, 32, 3, 1, 1), nn.Conv2d(64, 4, 3, 1, 1)

    def attention(self, x, text):
        y = x.flatten(2).transpose(1, 2)
        q = self.q(self.norm(y)).view(2, -1, 4, 8).transpose(1, 2)
        k, v = self.kv(text).view(2, -1, 2, 4, 8).permute(2, 0, 3, 1, 4)
        found = nn.functional.scaled_dot_product_attention(q, k, v)
        y = y + self.out(found.transpose(1, 2).reshape(2, -1, 32))
        return y.transpose(1, 2).reshape(x.shape)

    def forward(self, x, time, text):
        x = self.res(self.first(x), time)
        y = self.attention(self.down(x), text)
        y = self.up(nn.functional.interpolate(y, scale_factor=2.0, mode="nearest"))
        return self.last(torch.cat([x, y], 1))

def model():
    inputs = torch.randn(2, 4, 16, 16), torch.randn(2, 64), torch.randn(2, 7, 48)
    net = torch.compile(Unet().half(), mode="reduce-overhead", fullgraph=True)
    return net, tuple(each.half() for each in inputs)
"""
)
_WEIGHTS = (
    HEAD
    + """
class Kept(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("weight", torch.zeros(64, 64, dtype=torch.{dtype}))

    def forward(self, x):
        return nn.functional.linear(x, self.weight.to(x.dtype))

class Feed(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(64, elementwise_affine=False)
        self.first, self.last = Kept(), Kept()

    def forward(self, x):
        return x + self.last(nn.functional.gelu(self.first(self.norm(x)), approximate="tanh"))

def model():
    return torch.compile(Feed()), (torch.randn(2, 16, 64).bfloat16(),)
"""
)

REPORTS = (
    ModelReport(
        "V100: scattered bfloat16", "pytorch/pytorch#118581",
        "ptxas: feature .bf16 requires .target sm_80, of scatter on a V100 with 2.2",
        {"nvidia-v100@2.2.2": Met.REFUSED}, python(_SCATTER), (*COMPILE, "bf16", "bfloat16"),
    ),
    ModelReport(
        "V100: bfloat16 since 2.4", "pytorch/pytorch#129288",
        "graphs of bfloat16 are not compiled on a V100 since 2.4, and run as they are",
        {"nvidia-v100@2.4.1": Met.WORKS}, python(_CHAIN), COMPILE,
    ),
    ModelReport(
        "RTX 4090: the U-Net of SDXL", "huggingface/diffusers#4375",
        "the U-Net of SDXL runs compiled on an RTX 4090 with 2.0.1, 8.2 iterations a second",
        {"nvidia-rtx4090@2.0.1": Met.WORKS}, python(_UNET), COMPILE,
    ),
    ModelReport(
        "RTX 3090: weights in e5m2", "chengzeyi/Comfy-WaveSpeed#65",
        "an RTX 3090 compiles weights in e5m2, and not those in e4m3, in January 2025",
        {"nvidia-rtx3090@2.5.1": Met.WORKS},
        python(_WEIGHTS.replace("{dtype}", "float8_e5m2")), (*COMPILE, "float8"),
    ),
    ModelReport(
        "Ada: FLUX.1 in float8", "invoke-ai/InvokeAI#7236",
        "FLUX.1 in float8 is half as fast again where it is compiled, on Ada in October 2024",
        {"nvidia-rtx4090@2.5.1": Met.WORKS},
        python(_WEIGHTS.replace("{dtype}", "float8_e4m3fn")), (*COMPILE, "float8"),
    ),
    ModelReport(
        "MPS: gpt-fast in 2023", "meta-pytorch/gpt-fast#1",
        "gpt-fast runs on an M1, but Inductor has no support for MPS, in November 2023",
        {"apple-mps@2.1.2": Met.REFUSED}, python(_DECODE), COMPILE,
    ),
    ModelReport(
        "MPS: Qwen3 in 2025", "rasbt/reasoning-from-scratch#81",
        "a Qwen3 written anew runs compiled on MPS with 2.9, where it had not before",
        {"apple-mps@2.9.1": Met.WORKS}, python(_QWEN), COMPILE,
    ),
)  # fmt: skip
