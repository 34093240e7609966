"""What users of libraries met: weather, volumes, transport, sound, games, fields of light."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "weather or climate model Aurora Pangu FourCastNet GraphCast spherical harmonic on Ascend NPU "
    "or MPS or XPU complex einsum error",
    "time series forecasting Chronos TimesFM Informer neuralforecast on mps operator not "
    "implemented",
    "MONAI or TorchIO medical segmentation on XPU or ROCm or Ascend error operator sliding window "
    "conv3d",
    "recommendation RecBole torchrec FuxiCTR embedding bag jagged tensor on npu or mps or musa "
    "fails",
    "optimal transport geomloss sinkhorn logsumexp cdist on mps or xpu wrong gradient",
    "torchaudio functional lfilter, resample, MelSpectrogram, InverseMelScale on mps or xpu or npu "
    "error",
    "KataGo or Leela or AlphaZero or MuZero training on mps or rocm or xpu result wrong",
    "EEG braindecode or MNE or speech enhancement on mps conv padding_mode circular or STFT error",
    "gaussian splatting or NeRF in pure torch on mps or xpu: cumprod searchsorted gather inverse "
    "error",
    "segment anything SAM2 or GroundingDINO or Detectron2 on Intel XPU or Ascend NPU or Moore "
    "Threads error operator",
    "Sophia, Muon, Shampoo, SOAP, Adafactor, LBFGS optimizer on mps or xpu or npu: linalg.qr, "
    "eigh, newton schulz, error",
    "diffusion transformer Sana linear attention or Flux2 or Z-Image or HiDream on Arc XPU or ROCm "
    "or MPS black image NaN operator",
    "torch.vmap or torch.func jacrev hessian on mps or xpu or npu fails for operator",
    "dora or wav2vec2 or Conformer or FastConformer NeMo parakeet on mps or Intel XPU or Ascend "
    "error operator",
    "confirmed working after upgrading torch nightly MPS operator now implemented closing issue",
    "kornia MPS audit PyTorch-side findings: operators wrong, missing or slow on Apple MPS",
    "tested on Apple M1 M2 M3 mps works, pull request adds mps support to library, all tests pass",
    "double backward or gradient penalty on mps, xpu, npu or musa: derivative not implemented, "
    "WGAN-GP, StyleGAN",
    "mps NotImplementedError lgamma or digamma or igamma or special function or distribution in "
    "scVI, Pyro, GluonTS, sbi",
    "resize or interpolate or grid_sample of uint8 or half images on GPU, mps or xpu not "
    "implemented for Byte, in a library",
    "R torch or luz or brulee on Apple mps: operator not implemented or float64",
    "Keras 3 torch backend or fastai or skorch on mps or xpu: operator not implemented, float64, "
    "error in training",
    "reinforcement learning CleanRL, tianshou, torchrl or Isaac on mps or xpu: sampling, "
    "categorical, searchsorted or cumsum operator error",
    "stable audio, MusicGen, AudioCraft, Bark, Demucs or RVC on mps, xpu or ROCm: operator error "
    "conv output channels, complex, stft",
)
APPLE = "apple-mps"
FALLBACK = {"PYTORCH_ENABLE_MPS_FALLBACK": "1"}
LONG = torch.ones(1, 1, 35000)
CONVOLVED = (
    "aten::conv1d",
    "aten::conv_transpose1d",
    "aten::convolution",
    "aten::_mps_convolution",
    "aten::_mps_convolution_transpose",
)


class _Convolved(nn.Sequential):
    """The convolutions of a Conformer's block."""

    def __init__(self) -> None:
        super().__init__(
            nn.Conv1d(16, 32, 1),
            nn.GLU(dim=1),
            nn.Conv1d(16, 16, 9, padding=4, groups=16),
            nn.BatchNorm1d(16),
            nn.SiLU(),
            nn.Conv1d(16, 16, 1),
        )


class _Spoken(nn.Sequential):
    """The last layers of a decoder of sound."""

    def __init__(self) -> None:
        super().__init__(
            nn.ConvTranspose1d(1, 2, 4, stride=2, padding=1),
            nn.LeakyReLU(),
            nn.Conv1d(2, 1, 7, padding=3),
        )


class _Music(nn.Module):
    """A layer of a decoder that hears what it wrote and a text, as MusicGen's does."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(16)
        self.given = nn.Linear(16, 48, bias=False)
        self.grown, self.shrunk = nn.Linear(16, 64, bias=False), nn.Linear(64, 16, bias=False)

    def forward(self, x: Tensor, text: Tensor) -> Tensor:
        q, k, v = (part.unsqueeze(1) for part in self.given(self.norm(x)).chunk(3, dim=-1))
        x = x + F.scaled_dot_product_attention(q, k, v, is_causal=True).squeeze(1)
        heard = text.unsqueeze(1)
        x = x + F.scaled_dot_product_attention(x.unsqueeze(1), heard, heard).squeeze(1)
        written: Tensor = x + self.shrunk(F.gelu(self.grown(x)))
        return written


def _blurred_and_turned(picture: Tensor, taps: Tensor, by: Tensor) -> Tensor:
    padded = F.pad(picture, (1, 1, 1, 1), mode="reflect")
    blurred = F.conv2d(padded, taps, groups=3)
    grid = F.affine_grid(by, list(blurred.shape), align_corners=True)
    return F.grid_sample(blurred, grid, align_corners=True)


def _angles(x: Tensor) -> Tensor:
    return x.repeat(*[1] * (x.ndim - 2), 2, 1)


def _faded(one: Tensor, other: Tensor) -> Tensor:
    kept = [one.clone(), other.clone()]
    torch._foreach_mul_(kept, 0.9)
    return kept[0]


def _single(x: Tensor) -> Tensor:
    return torch.tensor([0.25, 0.5], dtype=torch.float64, device=x.device).float() + x


def _variable(x: Tensor) -> Tensor:
    return torch.tensor([1.0, 1.0, 1.0, 1.0], dtype=torch.float64, device=x.device).clone() + x


# fmt: off
REPORTS = (
    Report(
        "MPS: speech by a Conformer", "NVIDIA-NeMo/Speech#6289", 13,
        "Conformers of two kinds write down speech with torch 2.0, where falling back is on",
        f"{APPLE}@2.0.1", Met.WORKS, Because.OTHER, _Convolved(), (torch.ones(1, 16, 20),),
        ("aten::conv1d", "aten::glu", "aten::batch_norm", "aten::silu"), environment=FALLBACK,
    ),
    Report(
        "MPS: pictures blurred and turned", "kornia/kornia#3985", 15,
        "354 benchmarks of filters and geometry run on an M4 with torch 2.9.1, none fails",
        "apple-m4@2.9.1", Met.WORKS, Because.OTHER, _blurred_and_turned,
        (torch.ones(1, 3, 8, 8), torch.ones(3, 1, 3, 3) / 9, torch.eye(3)[:2].unsqueeze(0)),
        ("aten::conv2d", "aten::reflection_pad2d", "aten::grid_sampler", "aten::grid_sampler_2d",
         "aten::affine_grid_generator", "aten::pad"),
    ),
    Report(
        "MPS: weights of Keras kept", "keras-team/keras-core#750", 15,
        "`_foreach_mul_` by a number is not implemented in August 2023",
        f"{APPLE}@2.0.1", Met.REFUSED, Because.NO_KERNEL, _faded,
        (torch.ones(4), torch.ones(4)), ("aten::_foreach_mul_.Scalar",),
    ),
    Report(
        "MPS: angles of SAM 3 repeated", "facebookresearch/sam3#264", 16,
        "`repeat` of complex angles needs a way around it in November 2025",
        f"{APPLE}@2.9.1", Met.REFUSED, Because.DTYPE, _angles,
        (torch.ones(1, 4, 8, dtype=torch.complex64),), ("aten::repeat",),
    ),
    Report(
        "MPS: numbers of FLOAT", "set-soft/ComfyUI-FLOAT_Optimized#2", 20,
        "a tensor of NumPy's doubles, made single at once, is not supported",
        f"{APPLE}@2.7.1", Met.REFUSED, Because.DTYPE, _single, (torch.ones(2),),
        ("aten::to", "aten::_to_copy", "aten::lift_fresh"),
    ),
    Report(
        "MPS: cells found in volumes", "brainglobe/cellfinder#418", 21,
        "`max_pool3d_with_indices` is not implemented in May 2024",
        f"{APPLE}@2.3.1", Met.REFUSED, Because.NO_KERNEL, lambda x: F.max_pool3d(x, 2),
        (torch.ones(1, 2, 4, 4, 4),), ("aten::max_pool3d", "aten::max_pool3d_with_indices"),
    ),
    Report(
        "MPS: a variable of Keras", "keras-team/keras#23700", 21,
        "a variable of NumPy's ones is of float64, which the framework does not support",
        f"{APPLE}@2.13.0", Met.REFUSED, Because.DTYPE, _variable, (torch.ones(4),),
        ("aten::to", "aten::_to_copy", "aten::lift_fresh", "aten::clone", "aten::add.Tensor"),
    ),
    Report(
        "MPS: logarithms of Keras", "keras-team/keras#20708", 21,
        "a test of NumPy's random numbers fails: float64 is not supported",
        f"{APPLE}@2.5.1", Met.REFUSED, Because.DTYPE, torch.log10,
        (torch.ones(1, 2, 3, dtype=torch.float64),), ("aten::log10",),
    ),
    Report(
        "MPS: microns of a pixel", "NKI-AI/ahcore#9", 21,
        "training moves microns of float64, which the framework does not support",
        f"{APPLE}@2.1.2", Met.REFUSED, Because.DTYPE, lambda mpp: mpp * 2,
        (torch.ones(1, dtype=torch.float64),), ("aten::mul.Tensor",),
    ),
    Report(
        "MPS: MusicGen", "facebookresearch/audiocraft#593", 23,
        "MusicGen, AudioGen and MAGNeT run twice as fast as on the CPU, where falling back is on",
        f"{APPLE}@2.9.1", Met.WORKS, Because.OTHER, _Music(),
        (torch.ones(1, 6, 16), torch.ones(1, 4, 16)),
        ("aten::scaled_dot_product_attention", "aten::layer_norm", "aten::linear", "aten::gelu"),
        environment=FALLBACK,
    ),
    Report(
        "MPS: DiffRhythm decodes a song", "ASLP-lab/DiffRhythm#114", 23,
        "output channels > 65536 are not supported on an M1, in June 2025",
        f"{APPLE}@2.7.1", Met.REFUSED, Because.SHAPE, _Spoken(), (LONG,), CONVOLVED,
    ),
    Report(
        "MPS: films given a sound", "hkchengrex/MMAudio#97", 23,
        "`slow_conv3d_forward` is not implemented, in January 2026",
        f"{APPLE}@2.9.1", Met.REFUSED, Because.NO_KERNEL, F.conv3d,
        (torch.ones(1, 3, 4, 8, 8), torch.ones(2, 3, 2, 4, 4)),
        ("aten::conv3d", "aten::convolution", "aten::slow_conv3d_forward"),
    ),
    Report(
        "MPS: OpenVoice", "myshell-ai/OpenVoice#453", 23,
        "output channels > 65536 are not supported in the last layers, in October 2025",
        f"{APPLE}@2.9.1", Met.REFUSED, Because.SHAPE, _Spoken(), (LONG,), CONVOLVED,
    ),
    Report(
        "MPS: sound of higher resolution on an M2", "haoheliu/versatile_audio_super_resolution#70",
        23,
        "output channels > 65536 are not supported, and falling back raises, too",
        f"{APPLE}@2.5.1", Met.REFUSED, Because.SHAPE, _Spoken(), (LONG,), CONVOLVED,
    ),
)
# fmt: on
_LEFT_OUT = {
    Why.KNOWN: """
        aimclub/Fedot.Industrial#207 intel/ipex-llm#4923 cuge1995/awesome-time-series#25
        intel/ipex-llm#4941 forecastlab/forecast_dash#229 intel/ipex-llm#3803
        intel/torch-xpu-ops#591 pytorch/pytorch#78168 iver56/torch-audiomentations#169
        pytorch/audio#375 tenstorrent/tt-xla#1143 google/hypernerf#58 yzslab/nerfstudio#20
        nerfstudio-project/nerfstudio#3679 MaximeVandegar/Papers-in-100-Lines-of-Code#11
        nerfstudio-project/nerfstudio#2782 MrNeRF/awesome-3D-gaussian-splatting#117
        graphdeco-inria/gaussian-splatting#574 huggingface/diffusers#2758 intel/torch-xpu-ops#5201
        pytorch/pytorch#116176 pytorch/pytorch#191711 pytorch/pytorch#152701 pytorch/pytorch#148194
        pytorch/pytorch#89277 kornia/kornia#4522 kornia/kornia#1717 kornia/kornia#3649
        ostris/ai-toolkit#547 pytorch/pytorch#678 pytorch/pytorch#78065 data-apis/array-api#725
        intel/torch-xpu-ops#555 pytorch/vision#8399 pytorch/vision#2289 pytorch/pytorch#90771
        pytorch/pytorch#5580 pytorch/pytorch#34864 aharley/pips2#2 ankane/torch.rb#50
        pytorch/pytorch#122602 pytorch/pytorch#88614 keras-team/keras#23701 pytorch/rl#1198
        DLR-RM/stable-baselines3#951 facebookresearch/demucs#432
    """,
    Why.NO_CALL: """
        openclimatefix/graph_weather#136 google-research/weatherbench2#44 torchgeo/torchgeo#2823
        openclimatefix/graph_weather#111 NVIDIA/earth2studio#965
        ECMWFCode4Earth/diffusion-models-for-weather-prediction#37 openclimatefix/graph_weather#161
        openclimatefix/graph_weather#17 ECMWFCode4Earth/diffusion-models-for-weather-prediction#38
        climate-analytics-lab/jax-gcm#97 google-deepmind/weathernext#94 drumtorben/polars-ts#151
        intel/ipex-llm#4335 PriorLabs/tabpfn-time-series#69 sktime/sktime#9800 intel/ipex-llm#4894
        Nixtla/neuralforecast#650 Project-MONAI/MONAI#4425 Project-MONAI/MONAI#854
        Project-MONAI/tutorials#93 Project-MONAI/monai-deploy-app-sdk#249 ivadomed/ivadomed#266
        Project-MONAI/MONAI#5345 AllenCell/aics-ml-segmentation#10 Project-MONAI/MONAI#4
        Project-MONAI/MONAI#9132 Project-MONAI/MONAI#6320 hpcaitech/CachedEmbedding#129
        hpcaitech/CachedEmbedding#131 hpcaitech/CachedEmbedding#13
        intel/intel-xpu-backend-for-triton#548 hpcaitech/CachedEmbedding#141
        hpcaitech/CachedEmbedding#130 NVIDIA/recsys-examples#484 meta-pytorch/torchrec#124
        meta-pytorch/torchrec#671 meta-pytorch/torchrec#3028 jeanfeydy/geomloss#40 PythonOT/POT#393
        t-vi/pytorch-tvmisc#9 fnzhan/UNITE#2 benchopt/benchmark_ot#2 jeanfeydy/geomloss#80
        google-research/ott#7 jeanfeydy/geomloss#18 henokyen/henokyen_polyworld#5
        jeanfeydy/geomloss#61 google-research/ott#9 pytorch/audio#77 mlverse/torchaudio#10
        pytorch/audio#3921 pytorch/audio#291 pytorch/pytorch#123167 pytorch/audio#3709
        pytorch/audio#1818 braindecode/braindecode#738 osai-ai/dokai#1 lightvector/KataGo#292
        leela-zero/leela-zero#1353 leela-zero/leela-zero#2431 lightvector/KataGo#940
        lightvector/KataGo#908 leela-zero/leela-zero#2561 lightvector/KataGo#748
        lightvector/KataGo#909 werner-duvaud/muzero-general#41 yoyolicoris/fft-conv-pytorch#6
        speechbrain/speechbrain#851 CPJKU/madmom#319 braindecode/braindecode#594
        fgnt/padertorch#144 mne-tools/mne-python#8892 TNTLFreiburg/braindecode#1
        asteroid-team/asteroid-filterbanks#3 fgnt/padertorch#34 mne-tools/mne-python#66
        braindecode/braindecode#743 jianfch/stable-ts#117 yenchenlin/nerf-pytorch#35
        nerfstudio-project/nerfstudio#3590 nerfstudio-project/nerfstudio#2796
        neverbiasu/ComfyUI-SAM2#10 facebookresearch/sam2#564 NVIDIA-NeMo/Emerging-Optimizers#222
        WalkingMeatAxolotl/AnimaLoraStudio#271 marin-community/marin#5728
        google-deepmind/optax#1692 axolotl-ai-cloud/axolotl#2442 HomericIntelligence/Odyssey#5617
        argonne-lcf/Megatron-DeepSpeed#59 epfml/llm-baselines#18
        NVIDIA-NeMo/Emerging-Optimizers#175 NVIDIA-NeMo/Emerging-Optimizers#4 ludwig-ai/ludwig#4105
        huggingface/diffusers#12878 HVision-NKU/StoryDiffusion#166 acheong08/Diffusion-ColabUI#107
        huggingface/diffusers#9060 pytorch/functorch#597 pytorch/functorch#501
        pytorch/functorch#1097 DiffAPF/torchcomp#6 pytorch/functorch#823 pytorch/functorch#234
        ACEsuit/mace#488 NVIDIA-NeMo/Speech#2359 emonosuke/emoASR#9 VocaHQ/vocamac#100
        istupakov/onnx-asr#3 huggingface/transformers#39062 pytorch/executorch#16509
        pytorch/pytorch#173025 vllm-project/vllm#22636 hyperonym/basaran#237 hyperonym/basaran#172
        kha-white/mokuro#159 NVlabs/consistory#11 huggingface/optimum-benchmark#234
        filliptm/ComfyUI_FL-HeartMuLa#8 huggingface/accelerate#629 mlpack/mlpack#3063
        caogang/wgan-gp#36 liaohaofu/adn#7 mickypaganini/GAN_tutorial#2 mlpack/mlpack#2891
        junyanz/pytorch-CycleGAN-and-pix2pix#1201 ooples/AiDotNet#1844 ckaarle/ma#71
        open-mmlab/mmagic#2 akanimax/BMSG-GAN#41 pyro-ppl/funsor#385 unifyai/ivy#18985
        pyro-ppl/pyro#567 pytorch/vision#7497 pytorch/vision#8374 pytorch/vision#7262
        keras-team/keras#18437 UoA-CARES/cares_reinforcement_learning#199 vwxyzjn/cleanrl#99
        pytorch/examples#266 surgical-robotics-ai/surgical_robotics_challenge#70
        surgical-robotics-ai/surgical_robotics_challenge#71 pytorch/examples#249
        ritchieng/the-incredible-pytorch#17 vwxyzjn/cleanrl#521 Stability-AI/stable-audio-tools#56
        facebookresearch/audiocraft#396
    """,
    Why.NO_PROGRAM: """
        neverbiasu/ComfyUI-SAM2#61 storyicon/comfyui_segment_anything#40
        storyicon/comfyui_segment_anything#36 IDEA-Research/Grounded-Segment-Anything#372
        huggingface/diffusers#9096 huggingface/diffusers#10334 meta-llama/llama3#339
        deepbeepmeep/Wan2GP#1750 keras-team/keras-core#550 weecology/DeepForest#656
        Stability-AI/stable-audio-tools#181 facebookresearch/audiocraft#31
        john-rocky/CoreML-Models#67
    """,
    Why.NO_TARGET: """
        tenstorrent/tt-xla#2132 IDEA-Research/Grounded-Segment-Anything#504
        intel/intel-extension-for-pytorch#519 pytorch/functorch#1059 mindspore-lab/mindone#1312
        candle-org/MindAct#1202 candle-org/MindAct#1212 dmarzzz/VoxTerm#167 pytorch/pytorch#85220
        PaddlePaddle/models#3060 MegEngine/MegEngine#447 pyro-ppl/numpyro#621
        tensorflow/tensorflow#291 chainer/chainer#3408 tinygrad/tinygrad#6103 pytorch/pytorch#77817
    """,
    Why.OTHERS: """
        meta-recsys/generative-recommenders#18 facebookresearch/xformers#631 pytorch/ao#3477
    """,
    Why.UNCONFIRMED: """
        ProjectNeura/MIPCandy#32 Project-MONAI/MONAILabel#1618 IDEA-Research/GroundingDINO#243
        nerdyrodent/AVeryComfyNerd#11 keras-team/keras#19436
    """,
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)
