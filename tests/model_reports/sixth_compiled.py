"""What users met who had models compiled by ``torch.compile``: the sixth sample.

Left out are threads that do not say which device, those of builds between two releases, and those
that tell of the same model, device and release as one that was taken before.
"""

from tests.model_reports.compiled import COMPILE, HEAD
from tests.model_reports.report import Met, ModelReport, python
from tests.model_reports.second_compiled import BLOCK

_ROTATED = (
    HEAD
    + """
class Stream(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.last = nn.Linear(64, 192), nn.Linear(64, 64)

    def angles(self, positions):
        scale = torch.arange(0, 16, 2, dtype=torch.float64, device=positions.device) / 16
        return positions[:, None].double() * (1.0 / 10000**scale)

    def turned(self, x, angles):
        a, b = x.float().reshape(*x.shape[:-1], -1, 2).unbind(-1)
        cos, sin = angles.cos().float(), angles.sin().float()
        return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2).type_as(x)

    def forward(self, x, positions):
        q, k, v = self.qkv(x).view(1, 32, 3, 4, 16).permute(2, 0, 3, 1, 4)
        angles = self.angles(positions)
        found = nn.functional.scaled_dot_product_attention(
            self.turned(q, angles), self.turned(k, angles), v
        )
        return x + self.last(found.transpose(1, 2).reshape(1, 32, 64))

def model():
    return torch.compile(Stream()), (torch.randn(1, 32, 64), torch.arange(32))
"""
)
_EFFICIENT = (
    HEAD
    + """
class Squeeze(nn.Module):
    def __init__(self, wide):
        super().__init__()
        self.first, self.last = nn.Conv2d(wide, 8, 1), nn.Conv2d(8, wide, 1)

    def forward(self, x):
        y = nn.functional.adaptive_avg_pool2d(x, 1)
        return x * torch.sigmoid(self.last(nn.functional.silu(self.first(y))))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16), nn.SiLU(),
            nn.Conv2d(16, 32, 1, bias=False), nn.BatchNorm2d(32), nn.SiLU(),
            nn.Conv2d(32, 32, 5, 1, 2, groups=32, bias=False), nn.BatchNorm2d(32), nn.SiLU(),
            Squeeze(32), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 64), nn.ReLU(),
            nn.Linear(64, 5),
        )

    def forward(self, x):
        return self.layers(x)

def model():
    return torch.compile(Net()), (torch.rand(2, 3, 32, 32),)
"""
)
_CLIP = (
    HEAD
    + """
class Clip(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, 64, 8, 8, bias=False)
        self.positions = nn.Parameter(torch.randn(17, 64))
        self.first = nn.Parameter(torch.randn(64))
        self.norm, self.after = nn.LayerNorm(64), nn.LayerNorm(64)
        self.attention = nn.MultiheadAttention(64, 4, batch_first=True)
        self.feed = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 64))
        self.words, self.scale = nn.Embedding(100, 64), nn.Parameter(torch.tensor(2.6))

    def forward(self, image, text):
        x = self.patches(image).flatten(2).transpose(1, 2)
        x = torch.cat([self.first.expand(x.shape[0], 1, -1), x], 1) + self.positions
        y = self.norm(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        x = nn.functional.normalize((x + self.feed(self.after(x)))[:, 0], dim=-1)
        y = nn.functional.normalize(self.words(text).mean(1), dim=-1)
        return self.scale.exp() * x @ y.T

def model():
    return torch.compile(Clip()), (torch.rand(2, 3, 32, 32), torch.arange(16).view(2, 8))
"""
)
_YOLO = (
    HEAD
    + """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.BatchNorm2d(16), nn.SiLU())
        self.split = nn.Sequential(nn.Conv2d(16, 32, 1), nn.BatchNorm2d(32), nn.SiLU())
        self.inner = nn.Sequential(nn.Conv2d(16, 16, 3, 1, 1), nn.BatchNorm2d(16), nn.SiLU())
        self.pool = nn.MaxPool2d(5, 1, 2)
        self.last, self.up = nn.Conv2d(64, 20, 1), nn.Upsample(scale_factor=2)

    def forward(self, x):
        a, b = self.split(self.first(x)).chunk(2, 1)
        c = self.inner(b)
        x = torch.cat([a, b, c, self.pool(c)], 1)
        boxes, scores = self.last(self.up(x)).split((16, 4), 1)
        return boxes.flatten(2).view(2, 4, 4, -1).softmax(2), scores.sigmoid()

def model():
    return torch.compile(Net()), (torch.rand(2, 3, 32, 32),)
"""
)
_LLAMA = (
    HEAD
    + """
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.after = nn.RMSNorm(64), nn.RMSNorm(64)
        self.qkv, self.out = nn.Linear(64, 192, bias=False), nn.Linear(64, 64, bias=False)
        self.gate, self.up = nn.Linear(64, 128, bias=False), nn.Linear(64, 128, bias=False)
        self.down = nn.Linear(128, 64, bias=False)

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x)).view(2, 16, 3, 4, 16).permute(2, 0, 3, 1, 4)
        found = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(found.transpose(1, 2).reshape(2, 16, 64))
        y = self.after(x)
        return x + self.down(nn.functional.silu(self.gate(y)) * self.up(y))

def model():
    return torch.compile(Layer()), (torch.randn(2, 16, 64),)
"""
)

REPORTS = (
    ModelReport(
        "MPS: FLUX.1 in ComfyUI", "welltop-cn/ComfyUI-TeaCache#26",
        "KeyError: torch.float64 in Inductor's code for MPS, and none in eager, January 2025",
        {"apple-mps@2.6.0": Met.REFUSED}, python(_ROTATED), COMPILE,
    ),
    ModelReport(
        "RTX 4090: EfficientNet, trained", "irtrailenium/train-ego-path-detection#5",
        "a compiled EfficientNet-B3 trains in 442 minutes in place of 537, in January 2025",
        {"nvidia-rtx4090@2.5.1": Met.WORKS}, python(_EFFICIENT), COMPILE, training=True,
    ),
    ModelReport(
        "A100: CLIP, trained", "mlfoundations/open_clip#610",
        "a compiled ViT-L-14 trains on A100s with 2.0.1, no faster; on an RTX 3080 15% faster",
        {"nvidia-a100@2.0.1": Met.WORKS}, python(_CLIP), COMPILE, training=True,
    ),
    ModelReport(
        "RTX A6000: Qwen-Image, trained", "kohya-ss/musubi-tuner#722",
        "compiled blocks of Qwen-Image train 10.5% faster on an RTX A6000, in November 2025",
        {"nvidia-a100@2.9.1": Met.WORKS},
        python(BLOCK.format(options="").replace("Block())", "Block().bfloat16())").replace(
            "torch.randn(2, 16, 64)", "torch.randn(2, 16, 64).bfloat16()"
        )), COMPILE, training=True,
    ),
    ModelReport(
        "RTX 3070: a backend that compiles nothing", "kohya-ss/sd-scripts#1024",
        "the backend eager trains Stable Diffusion on an RTX 3070 Ti, in December 2023",
        {"nvidia-a100@2.1.2": Met.WORKS}, python(BLOCK.format(options=', backend="eager"')),
        COMPILE, training=True,
    ),
    ModelReport(
        "GH200: YOLO11, trained", "ultralytics/ultralytics#21975",
        "an epoch of a compiled YOLO11s goes from 4:40 to 3:35 on a GH200, in September 2025",
        {"nvidia-h100@2.8.0": Met.WORKS}, python(_YOLO), COMPILE, training=True,
    ),
    ModelReport(
        "Arc: Llama, trained", "intel/intel-xpu-backend-for-triton#7308",
        "torchbench's compiled Llama trains on a B580 with 2.13.0, slower than it did",
        {"intel-arc@2.13.0": Met.WORKS}, python(_LLAMA), COMPILE, training=True,
    ),
)  # fmt: skip
