"""What users of libraries quote word for word: searches for the message of a device's refusal."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_controls.control import Learned
from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    '"Output channels > 65536 not supported at the MPS device"',
    '"Adaptive pool MPS: input sizes must be divisible by output sizes"',
    "\"triu_tril_cuda_template\" not implemented for 'BFloat16'",
    '"MPS: Unsupported Border padding mode" grid_sample',
    "'aten::isin.Tensor_Tensor_out' is not currently implemented for the MPS device",
    '"cumsum_cuda_kernel does not have a deterministic implementation" use_deterministic_algorithms'
    " RuntimeError",
    '"Conv3D is not supported on MPS" RuntimeError',
    '"grid_sampler_2d_backward_cuda does not have a deterministic implementation" OR '
    '"upsample_bilinear2d_backward_out_cuda does not have a deterministic implementation"',
    "\"not implemented for 'Half'\" CUDA linalg torch.linalg solve inverse svd eigh autocast "
    "float16 library issue",
    '"nonzero is not supported for tensors with more than INT_MAX elements" OR '
    '"canUse32BitIndexMath" library issue',
)
APPLE, A100 = "apple-mps", "nvidia-a100"
SOUND = (torch.ones(1, 1, 70000), torch.ones(4, 1, 3))
CONVOLVED = ("aten::conv1d", "aten::convolution", "aten::_mps_convolution")
VOLUME = (torch.ones(1, 2, 4, 4, 4), torch.ones(2, 2, 3, 3, 3))
VOLUMES = ("aten::conv3d", "aten::convolution", "aten::_mps_convolution")
SQUARE = torch.ones(4, 4).bfloat16()
IMAGE = torch.ones(1, 2, 4, 4)
POINTS = torch.arange(18.0).view(2, 3, 3)


def _each_time_the_same(
    call: Callable[..., Tensor], *, warn_only: bool = False
) -> Callable[..., Tensor]:
    def run(*inputs: Tensor) -> Tensor:
        before = torch.are_deterministic_algorithms_enabled()
        torch.use_deterministic_algorithms(True, warn_only=warn_only)
        try:
            return call(*inputs)
        finally:
            torch.use_deterministic_algorithms(before)

    return run


class LearnedTheSame(Learned):
    """Learns what it is given, deterministically, until its gradient is there."""

    def __init__(self, function: Callable[..., Tensor], start: Tensor) -> None:
        super().__init__(function, start)
        self.start.register_hook(lambda _: torch.use_deterministic_algorithms(False))

    def forward(self, *args: Tensor) -> Tensor:
        torch.use_deterministic_algorithms(True)
        found: Tensor = super().forward(*args)
        return found


def _heard(sound: Tensor, taps: Tensor) -> Tensor:
    return F.conv1d(sound, taps, padding=1)


def _masked(x: Tensor) -> Tensor:
    return torch.triu(x, diagonal=1)


def _turned(a: Tensor, b: Tensor) -> Tensor:
    with torch.autocast("cuda", torch.float16):
        u, _, v = torch.svd(a.transpose(1, 2) @ b)
        return (u @ v.transpose(1, 2)).float()


def _many(flags: Tensor) -> Tensor:
    return flags.expand(2**31).nonzero()


REPORTS = (
    Report(
        "MPS: VoxCPM decodes a long sound",
        "OpenBMB/VoxCPM#232",
        0,
        "output channels > 65536 are not supported, in a decoder of sound in 2026",
        f"{APPLE}@2.11.0",
        Met.REFUSED,
        Because.SHAPE,
        _heard,
        SOUND,
        CONVOLVED,
    ),
    Report(
        "MPS: sound of higher resolution",
        "haoheliu/versatile_audio_super_resolution#69",
        0,
        "output channels > 65536 are not supported on an M2, in November 2024",
        f"{APPLE}@2.5.1",
        Met.REFUSED,
        Because.SHAPE,
        _heard,
        SOUND,
        CONVOLVED,
    ),
    Report(
        "MPS: Dia decodes a dialogue",
        "nari-labs/dia#39",
        0,
        "output channels > 65536 are not supported, in a conv1d of the decoder, in April 2025",
        f"{APPLE}@2.6.0",
        Met.REFUSED,
        Because.SHAPE,
        _heard,
        SOUND,
        CONVOLVED,
    ),
    Report(
        "CUDA: a causal mask of SmoothQuant",
        "mit-han-lab/smoothquant#101",
        2,
        '"triu_tril_cuda_template" is not implemented for BFloat16, with a Llama 2',
        f"{A100}@2.0.1",
        Met.REFUSED,
        Because.DTYPE,
        _masked,
        (SQUARE,),
        ("aten::triu",),
    ),
    Report(
        "RTX 4090: a causal mask of Janus",
        "deepseek-ai/Janus#131",
        2,
        '"triu_tril_cuda_template" is not implemented for BFloat16; 2.2.2 is without that',
        "nvidia-rtx4090@2.0.1",
        Met.REFUSED,
        Because.DTYPE,
        _masked,
        (SQUARE,),
        ("aten::triu",),
        mended={"nvidia-rtx4090@2.2.2": Met.WORKS},
    ),
    Report(
        "CUDA: a causal mask of Llama 3",
        "meta-llama/llama3#80",
        2,
        '"triu_tril_cuda_template" is not implemented for BFloat16 with 2.0.0; 2.2.2 runs it',
        f"{A100}@2.0.1",
        Met.REFUSED,
        Because.DTYPE,
        _masked,
        (SQUARE,),
        ("aten::triu",),
        mended={f"{A100}@2.2.2": Met.WORKS},
    ),
    Report(
        "CUDA: a causal mask of Yi",
        "01-ai/Yi#501",
        2,
        '"triu_tril_cuda_template" is not implemented for BFloat16 with 2.0.1',
        f"{A100}@2.0.1",
        Met.REFUSED,
        Because.DTYPE,
        _masked,
        (SQUARE,),
        ("aten::triu",),
    ),
    Report(
        "CUDA: triu of four numbers",
        "pytorch/pytorch#101932",
        2,
        '"triu_tril_cuda_template" is not implemented for BFloat16 with 2.0.1; 2.1 runs it',
        f"{A100}@2.0.1",
        Met.REFUSED,
        Because.DTYPE,
        torch.triu,
        (torch.arange(4).reshape(2, 2).bfloat16(),),
        ("aten::triu",),
        mended={f"{A100}@2.1.2": Met.WORKS},
    ),
    Report(
        "MPS: patches beyond an edge",
        "kornia/kornia#4073",
        3,
        "2.9.1 still raises: unsupported border padding mode of `grid_sample`",
        f"{APPLE}@2.9.1",
        Met.REFUSED,
        Because.VALUE,
        lambda x, grid: F.grid_sample(x, grid, padding_mode="border", align_corners=False),
        (IMAGE, torch.full((1, 3, 3, 2), 1.5)),
        ("aten::grid_sampler_2d", "aten::grid_sampler"),
    ),
    Report(
        "MPS: words that MiniCPM-V stops at",
        "OpenBMB/MiniCPM-V#490",
        4,
        "`isin.Tensor_Tensor_out` is not implemented, which an update to 2.4 solves",
        f"{APPLE}@2.3.1",
        Met.REFUSED,
        Because.NO_KERNEL,
        torch.isin,
        (torch.arange(6), torch.tensor([2, 4])),
        ("aten::isin",),
        mended={f"{APPLE}@2.4.1": Met.WORKS},
    ),
    Report(
        "CUDA: a Mamba each time the same",
        "Human9000/nd-Mamba2-torch#5",
        5,
        "`cumsum` has no deterministic implementation, in August 2024",
        f"{A100}@2.4.1",
        Met.REFUSED,
        Because.OTHER,
        _each_time_the_same(lambda x: x.cumsum(-1)),
        (torch.ones(2, 8),),
        ("aten::cumsum",),
    ),
    Report(
        "CUDA: a curve each time the same",
        "HKU-MedAI/MGCA#21",
        5,
        "`cumsum` has no deterministic implementation, where torchmetrics draws a curve",
        "nvidia-rtx3090@2.0.1",
        Met.REFUSED,
        Because.OTHER,
        _each_time_the_same(lambda x: x.cumsum(0)),
        (torch.ones(8),),
        ("aten::cumsum",),
    ),
    Report(
        "CUDA: a Mamba that is warned of",
        "goombalab/hydra#13",
        5,
        "`cumsum` warns that it is not deterministic, and runs, in August 2024",
        f"{A100}@2.4.1",
        Met.WORKS,
        Because.OTHER,
        _each_time_the_same(lambda x: x.cumsum(-1), warn_only=True),
        (torch.ones(2, 8),),
        ("aten::cumsum",),
    ),
    Report(
        "MPS: a video of Stable Diffusion",
        "lllyasviel/stable-diffusion-webui-forge#539",
        6,
        "Conv3D is not supported with 2.1",
        f"{APPLE}@2.1.2",
        Met.REFUSED,
        Because.NO_KERNEL,
        F.conv3d,
        VOLUME,
        VOLUMES,
    ),
    Report(
        "MPS: videos filled in",
        "sczhou/ProPainter#42",
        6,
        "Conv3D is not supported on an M1, in October 2023",
        f"{APPLE}@2.0.1",
        Met.REFUSED,
        Because.NO_KERNEL,
        F.conv3d,
        VOLUME,
        VOLUMES,
    ),
    Report(
        "MPS: an error for Conv3D",
        "pytorch/pytorch#94492",
        6,
        "a pull request of February 2023 raises for Conv3D, which is not supported",
        f"{APPLE}@2.0.1",
        Met.REFUSED,
        Because.NO_KERNEL,
        F.conv3d,
        VOLUME,
        VOLUMES,
    ),
    Report(
        "MPS: Conv3D by a pull request",
        "pytorch/pytorch#114183",
        6,
        "Conv3D comes by a pull request of November 2023",
        f"{APPLE}@2.1.2",
        Met.REFUSED,
        Because.NO_KERNEL,
        F.conv3d,
        VOLUME,
        VOLUMES,
        mended={f"{APPLE}@2.3.1": Met.WORKS},
    ),
    Report(
        "CUDA: gradients of an enlarged image, each time the same",
        "pytorch/pytorch#111335",
        7,
        "`upsample_bilinear2d_backward_out_cuda` has no deterministic implementation",
        f"{A100}@2.1.2",
        Met.REFUSED,
        Because.OTHER,
        LearnedTheSame(lambda x: F.interpolate(x, scale_factor=2.0, mode="bilinear"), IMAGE),
        (),
        ("aten::upsample_bilinear2d_backward", "aten::upsample_bilinear2d"),
        training=True,
    ),
    Report(
        "CUDA: gradients of an enlarged volume, each time the same",
        "pytorch/pytorch#107999",
        7,
        "`upsample_trilinear3d_backward_out_cuda` has no deterministic implementation, in May 2025",
        f"{A100}@2.7.1",
        Met.REFUSED,
        Because.OTHER,
        LearnedTheSame(lambda x: F.interpolate(x, scale_factor=2.0, mode="trilinear"), VOLUME[0]),
        (),
        ("aten::upsample_trilinear3d_backward", "aten::upsample_trilinear3d"),
        training=True,
    ),
    Report(
        "CUDA: gradients of a sampled image, each time the same",
        "pytorch/pytorch#196856",
        7,
        "what takes `grid_sample` back is not deterministic: a pull request of September 2026",
        f"{A100}@2.14.1",
        Met.REFUSED,
        Because.OTHER,
        LearnedTheSame(lambda x, grid: F.grid_sample(x, grid, align_corners=False), IMAGE),
        (torch.zeros(1, 3, 3, 2),),
        ("aten::grid_sampler_2d_backward", "aten::grid_sampler_2d"),
        training=True,
    ),
    Report(
        "CUDA: gradients of padded edges, each time the same",
        "pytorch/pytorch#95578",
        7,
        "`replication_pad2d_backward_cuda` has no deterministic implementation",
        f"{A100}@2.0.1",
        Met.REFUSED,
        Because.OTHER,
        LearnedTheSame(lambda x: F.pad(x, (1, 1, 1, 1), mode="replicate"), IMAGE),
        (),
        ("aten::replication_pad2d_backward", "aten::replication_pad2d"),
        training=True,
    ),
    Report(
        "CUDA: lips turned to a template",
        "bytedance/LatentSync#241",
        8,
        '"svd_cuda_gesvdjBatched" is not implemented for Half, in training by mixed precision',
        f"{A100}@2.5.1",
        Met.REFUSED,
        Because.DTYPE,
        _turned,
        (POINTS, POINTS),
        ("aten::svd", "aten::_linalg_svd", "aten::linalg_svd"),
    ),
    Report(
        "CUDA: cameras of PE3R",
        "hujiecpp/PE3R#6",
        8,
        '"svd_cuda_gesvdjBatched" is not implemented for Half, in March 2025',
        f"{A100}@2.6.0",
        Met.REFUSED,
        Because.DTYPE,
        _turned,
        (POINTS, POINTS),
        ("aten::svd", "aten::_linalg_svd", "aten::linalg_svd"),
    ),
    Report(
        "CUDA: boxes of Detectron2",
        "facebookresearch/detectron2#5014",
        9,
        "`nonzero` is not supported for tensors of more than INT_MAX elements, in June 2023",
        f"{A100}@2.0.1",
        Met.REFUSED,
        Because.SHAPE,
        _many,
        (torch.zeros(1, dtype=torch.bool),),
        ("aten::nonzero",),
    ),
    Report(
        "CUDA: triplets of many samples",
        "KevinMusgrave/pytorch-metric-learning#689",
        9,
        "`torch.where` of more than INT_MAX elements raises in `nonzero`, in March 2024",
        f"{A100}@2.2.2",
        Met.REFUSED,
        Because.SHAPE,
        lambda flags: torch.where(flags.expand(2**31))[0],
        (torch.zeros(1, dtype=torch.bool),),
        ("aten::nonzero", "aten::nonzero_numpy", "aten::where"),
    ),
)
_LEFT_OUT = {
    Why.KNOWN: """
        opendatalab/MinerU#2438 opendatalab/MinerU#2793 index-tts/index-tts#351
        pytorch/pytorch#147676 pytorch/pytorch#143864 pytorch/pytorch#85726
        pytorch/pytorch#169751 pytorch/pytorch#97109 pytorch/pytorch#169973
        pytorch/pytorch#190064 pytorch/pytorch#189659 kulinseth/pytorch#96
        deepseek-ai/DeepSeek-VL#52 pytorch/pytorch#23149 pytorch/pytorch#125098
        Fannovel16/ComfyUI-Frame-Interpolation#76 llvm/torch-mlir#4186 pytorch/pytorch#173151
        pytorch/pytorch#8884 pytorch/pytorch#124518 pytorch/pytorch#77764 pytorch/pytorch#82034
        noahgolmant/pytorch-hessian-eigenthings#43 pytorch/pytorch#135021 pytorch/pytorch#190946
        pytorch/pytorch#89492 pytorch/pytorch#75693 happyharrycn/actionformer_release#20
        pytorch/pytorch#190975 Comfy-Org/ComfyUI#2044 kijai/ComfyUI-LivePortraitKJ#112
        kreshuklab/panseg#385 pytorch/pytorch#77818 pytorch/pytorch#117027
        pytorch/pytorch#152171 pytorch/pytorch#98308 pytorch/pytorch#70669
        intel/torch-xpu-ops#2007 pytorch/pytorch#51871 pytorch/pytorch#100989
    """,
    Why.NO_CALL: """
        Pongpisit-Thanasutives/Variations-of-SFANet-for-Crowd-Counting#20
        kevinzakka/spatial-transformer-network#30 pytorch/pytorch#3599 unifyai/ivy#23381
        tensorly/tensorly#61 TrMPS/MPS-MNIST#7 tensorly/tensorly#243 pytorch/pytorch#121324
        pytorch/pytorch#12207
    """,
    Why.NO_PROGRAM: """
        axolotl-ai-cloud/axolotl#1532 pytorch/pytorch#117949 aask1357/hilcodec#7
        pytorch/pytorch#188816
    """,
    Why.NO_TARGET: """
        pytorch/pytorch#80732 meta-llama/llama3#110 huggingface/transformers#18246
        pytorch/pytorch#75240 prob-ml/bliss#487 pytorch/pytorch#68959 pytorch/pytorch#68961
        pytorch/pytorch#83392 NVIDIA/apex#887 pytorch/pytorch#9315 pytorch/pytorch#42838
        kornia/kornia#649 pytorch/pytorch#40427 pytorch/pytorch#99710 pytorch/pytorch#51872
        KevinMusgrave/pytorch-metric-learning#367
    """,
    Why.OTHERS: """
        nod-ai/AMD-SHARK-ModelDev#872 microsoft/onnxruntime#10628 Xilinx/mlir-xten#115
        hasktorch/hasktorch#235
    """,
    Why.UNCONFIRMED: "AlphaLab-USTC/AlphaSteer#1",
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)
