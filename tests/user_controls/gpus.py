"""What users and vendors saw running on AMD's and Intel's GPUs."""

from functools import partial

import torch
import torchvision
from torch import nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_controls.control import Control, Learned
from tests.user_controls.models import (
    IDS,
    IMAGE,
    LowRank,
    SmallUNet,
    dit,
    encoder,
    gpt2,
    language,
    llama,
    qwen2,
    unet,
    vision,
    whisper,
)  # fmt: skip

X = torch.linspace(-1, 1, 24).view(2, 3, 4)
PICTURE = torch.linspace(-1, 1, 256).view(1, 4, 8, 8)
LATENT = torch.ones(1, 4, 8, 8)
STEP, LABEL = torch.tensor([5]), torch.tensor([7])
BOXES = torch.tensor([[0.0, 0.0, 4.0, 4.0], [1.0, 1.0, 5.0, 5.0], [8.0, 8.0, 9.0, 9.0]])
SCORES = torch.tensor([0.9, 0.8, 0.7])
AT = torch.tensor([[0, 1, 1, 0], [1, 0, 2, 2]])
MI300 = "amd-mi300x"
RADEON = "amd-rx7900xt"
SLOWER = "ROCm/TheRock#7696"


def _points(x: torch.Tensor, codes: torch.Tensor) -> torch.Tensor:
    """Points in the order of their codes, and the largest of each cell."""
    order = codes.argsort()
    cells = torch.div(codes[order], 2, rounding_mode="floor")
    found = x.new_zeros(3, x.shape[1])
    return found.scatter_reduce(0, cells[:, None].expand_as(x), x[order], "amax")


AMD = (
    Control(
        "MI300X: attention of a video model", f"{MI300}@2.6.0", "CIntellifusion/GeometryForcing#18",
        nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, norm_first=True),
        (torch.ones(2, 8, 16),),
    ),
    Control(
        "MI250: Conv2d", "amd-mi250@2.5.1", "pytorch/pytorch#143043", nn.Conv2d(4, 8, 3), (PICTURE,)
    ),
    Control(
        "MI300X: a point transformer", f"{MI300}@2.10.0", "Pointcept/PointTransformerV3#181",
        _points, (torch.ones(6, 4), torch.arange(6)),
    ),
    Control(
        "MI300X: a language model in 16 bits", f"{MI300}@2.10.0", "unslothai/unsloth#4720",
        partial(llama, torch.bfloat16), (IDS,), build=True,
    ),
    Control(
        "MI300X: low-rank training", f"{MI300}@2.10.0", "unslothai/unsloth#4720",
        LowRank(nn.Linear(8, 8)).bfloat16(), (torch.ones(2, 8).bfloat16(),), train=True,
    ),
    Control(
        "7900 XT: Stable Diffusion", f"{RADEON}@2.0.1", "ROCm/legacy-rocm-build#1880",
        partial(unet, torch.float16), (LATENT.half(), STEP, torch.ones(1, 4, 16).half()),
        build=True,
    ),
    Control(
        "7900 XTX: ResNet in half precision, trained", f"{RADEON}@2.3.1",
        "ryujaehun/pytorch-gpu-benchmark#31",
        lambda: vision("resnet18", torch.float16), (IMAGE.half(),), train=True, build=True,
    ),
    Control(
        "7900 XTX: SqueezeNet in double precision", f"{RADEON}@2.3.1",
        "ryujaehun/pytorch-gpu-benchmark#31",
        lambda: vision("squeezenet1_1", torch.float64), (IMAGE.double(),), build=True,
    ),
    Control(
        "RDNA: layers and MSELoss, trained", f"{RADEON}@2.9.1", "ROCm/legacy-rocm-build#5040",
        Learned(lambda weight, x: F.mse_loss((x @ weight).relu(), x), torch.ones(4, 4)), (X[0],),
        train=True,
    ),
    Control(
        "MI300X: GPT, trained", f"{MI300}@2.9.1", "gabrieldemarmiesse/torch-mojo-backend#321",
        gpt2, (IDS,), train=True, build=True,
    ),
    Control(
        "MI350: BERT, trained", "amd-mi355", SLOWER, lambda: encoder("BertModel"), (IDS,),
        train=True, build=True,
    ),
    Control(
        "MI350: BART, trained", "amd-mi355", SLOWER,
        lambda: language(
            "BartModel", vocab_size=96, d_model=32, encoder_layers=1, decoder_layers=1,
            encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64,
            decoder_ffn_dim=64, max_position_embeddings=32,
        ),
        (IDS,), train=True, build=True,
    ),
    Control(
        "MI350: a diffusion transformer, trained", "amd-mi355", SLOWER, dit, (LATENT, STEP, LABEL),
        train=True, build=True,
    ),
)  # fmt: skip

TESTS = "intel/torch-xpu-ops:test/regressions/test_"
MAX, ARC = "intel-max@2.15.0", "intel-arc"

INTEL = (
    Control(
        "XPU: BatchNorm2d, trained", MAX, f"{TESTS}batch_norm.py", nn.BatchNorm2d(4), (PICTURE,),
        train=True,
    ),
    Control(
        "XPU: cat of float8", MAX, f"{TESTS}cat.py", lambda x: torch.cat([x, x], 1),
        (X.to(torch.float8_e4m3fn),),
    ),
    Control("XPU: eq", MAX, f"{TESTS}compare.py", torch.eq, (X, X + 1)),
    Control(
        "XPU: deform_conv2d", MAX, f"{TESTS}deform_conv.py", torchvision.ops.deform_conv2d,
        (PICTURE, torch.ones(1, 8, 7, 7), torch.ones(2, 4, 2, 2)),
    ),
    Control(
        "XPU: div by rounding", MAX, f"{TESTS}div_mode.py",
        lambda x: torch.div(x * 2, x, rounding_mode="floor"), (torch.ones(8, 8).short(),),
    ),
    Control(
        "XPU: rfft of bfloat16", MAX, f"{TESTS}fft_r2c_bf16.py", lambda x: torch.fft.rfft(x, n=10),
        (torch.ones(100).bfloat16(),),
    ),
    Control(
        "XPU: _foreach_add", MAX, f"{TESTS}foreach_list.py",
        lambda x: torch._foreach_add([x, x], [x, x]), (torch.complex(X, X),),
    ),
    Control(
        "XPU: grid_sample", MAX, f"{TESTS}grid_sample.py",
        lambda x, grid: F.grid_sample(x, grid, align_corners=False),
        (PICTURE, torch.ones(1, 3, 3, 2)),
    ),
    Control(
        "XPU: GroupNorm", MAX, f"{TESTS}group_norm.py", nn.GroupNorm(2, 4).half(),
        (PICTURE.half(),),
    ),
    Control(
        "XPU: index_put", MAX, f"{TESTS}index_and_index_put.py",
        lambda x, at: x.index_put((at,), x[:1], accumulate=True), (X, torch.tensor([0, 0])),
    ),
    Control(
        "XPU: weights packed in 4 bits", MAX, f"{TESTS}int4pack.py",
        lambda x: torch.ops.aten._convert_weight_to_int4pack(x, 8),
        (torch.ones(64, 64, dtype=torch.uint8),),
    ),
    Control("XPU: layer_norm", MAX, f"{TESTS}layer_norm.py", nn.LayerNorm(4), (X,)),
    Control(
        "XPU: linalg.solve", MAX, f"{TESTS}linalg.py", torch.linalg.solve,
        (torch.eye(3), torch.ones(3)),
    ),
    Control(
        "XPU: max_pool2d, trained", MAX, f"{TESTS}max_pool2d_bwd.py",
        Learned(lambda x: F.max_pool2d(x, 3, 2, 1), PICTURE.half()), train=True,
    ),
    Control(
        "XPU: nms", MAX, f"{TESTS}nms.py",
        lambda boxes, scores: torchvision.ops.nms(boxes, scores, 0.3),
        (BOXES.half(), SCORES.half()),
    ),
    Control(
        "XPU: _safe_softmax", MAX, f"{TESTS}safe_softmax.py",
        lambda x: torch.ops.aten._safe_softmax(x, -1), (X.bfloat16(),),
    ),
    Control(
        "XPU: softmax from half to float", MAX, f"{TESTS}softmax.py",
        lambda x: torch.softmax(x, 1, dtype=torch.float32), (X.half(),),
    ),
    Control(
        "XPU: sort of booleans", MAX, f"{TESTS}sort.py", lambda x: torch.sort(x, stable=True),
        (X > 0,),
    ),
    Control("XPU: tril of booleans", MAX, f"{TESTS}tril.py", torch.tril, (X[0] > 0,)),
    Control(
        "XPU: bilinear, trained", MAX, f"{TESTS}upsample_bilinear_bwd.py",
        Learned(lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"), PICTURE), train=True,
    ),
    Control(
        "XPU: nearest-exact, one dimension", MAX, f"{TESTS}upsample_nearest.py",
        lambda x: F.interpolate(x, scale_factor=2, mode="nearest-exact"), (X.bfloat16(),),
    ),
    Control(
        "XPU: where of float8", MAX, f"{TESTS}where.py", torch.where,
        (X > 0, X.to(torch.float8_e5m2), X.to(torch.float8_e5m2)),
    ),
    Control(
        "A770: Qwen2.5", f"{ARC}@2.7.1", "pytorch/pytorch#151992", partial(qwen2, torch.bfloat16),
        (IDS,), build=True,
    ),
    Control(
        "A770: Whisper", f"{ARC}@2.7.1", "pytorch/pytorch#151985", whisper,
        (torch.ones(2, 8, 32), IDS), build=True,
    ),
    Control(
        "A770: a small GPT, trained", f"{ARC}@2.10.0", "karpathy/nanochat#682", gpt2, (IDS,),
        train=True, build=True,
    ),
    Control(
        "A770: a U-Net, trained", f"{ARC}@2.12.1", "talmolab/sleap-nn#206", SmallUNet,
        (torch.ones(2, 1, 16, 16),), train=True, build=True,
    ),
    Control(
        "B580: Llama, trained", f"{ARC}@2.13.0", "intel/intel-xpu-backend-for-triton#7308", llama,
        (IDS,), train=True, build=True,
    ),
)  # fmt: skip

GPUS = (*AMD, *INTEL)
