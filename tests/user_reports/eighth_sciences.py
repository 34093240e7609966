"""What users in sciences met: proteins, molecules, power grids, robots, spectra of sounds.

The searches name fields and their libraries, and things that are said to run.
"""

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "[MPS] Fix half bfloat16 support for activation functions backward gelu mish hardswish elu "
    "dtype error",
    "MPS torch.nn.Transformer nested tensor src_key_padding_mask _nested_tensor_from_mask "
    "NotImplementedError Mac",
    "diffusion policy or LeRobot robot learning on mps or xpu error float64 or unsupported "
    "operator",
    "stable-baselines3 or RLlib or torchrl Apple mps float64 TypeError Cannot convert a MPS Tensor"
    " to float64",
    "PyTorch Geometric or e3nn or SchNet or MACE on Apple mps error scatter float64 sparse not "
    "supported",
    "rocm gfx90a MI250 torch.fft or hipFFT or rocFFT wrong result or error irfft non-contiguous",
    "昇腾 NPU torch_npu float64 或 complex 或 int64 算子不支持 fallback CPU 音频 stft istft 报错 "
    "模型推理",
    "protein structure ESM AlphaFold Boltz Chai on Apple Silicon mps error operator float64 "
    "autocast",
    "time series forecasting Chronos TimesFM neuralforecast on mps or xpu error aten not "
    "implemented or wrong forecast",
    "pyro GPyTorch BoTorch gaussian process mps cholesky linalg error apple silicon",
    "kornia or torchmetrics or torchvision transforms on mps fail not implemented quantile median "
    "histc grid_sample test",
    "Gaussian splatting NeRF or point cloud on Apple mps cumprod searchsorted cdist error",
    "vllm-omni or sglang NPU patch operator unsupported on Ascend 950 A5 or 910B bfloat16 conv "
    "interpolate workaround",
    "transformers test failing on XPU expected different or kernel not implemented Intel GPU pull "
    "request enable test xpu op gap",
    "works on RX 7900 XTX or MI300X ROCm now after update torch 2.6 2.7 fixed confirmed runs model"
    " op previously failed",
    "demucs audio separation or speechbrain or pyannote on mps error complex stft conv1d channels "
    "unsupported Mac M2",
)  # fmt: skip
APPLE = "apple-mps"
DOUBLE = torch.float64
HALF = torch.float16
PAIRS = torch.ones(1, 8, 8, 4)


def _triangle(pairs: Tensor) -> Tensor:
    x = F.layer_norm(pairs, (4,))
    return torch.einsum("bikd,bjkd->bijd", x * x.sigmoid(), x)


def _folded(pairs: Tensor) -> Tensor:
    x = F.layer_norm(pairs, (4,))
    scores = x @ x.transpose(-1, -2) + x.sum(-1).unsqueeze(1)
    return (scores.softmax(-1) @ x) * x.sigmoid()


REPORTS = (
    Report(
        "MPS: GELU of float16 in 2.0", "pytorch/pytorch#86218", 0,
        "GELU of float16 ended the process, until a change of October 2022",
        f"{APPLE}@2.0.1", Met.WORKS, Because.OTHER,
        F.gelu, (torch.ones(2, 4, dtype=HALF),), ("aten::gelu",),
    ),
    Report(
        "MPS: bounds of a pendulum", "pytorch/rl#1198", 3,
        "the bounds of an environment are float64, which the framework does not support",
        f"{APPLE}@2.1.2", Met.REFUSED, Because.DTYPE,
        lambda x: torch.tensor([-1.0, 1.0], dtype=DOUBLE, device=x.device) + x, (torch.ones(2),),
        ("aten::add", "aten::_to_copy", "aten::lift_fresh"),
    ),
    Report(
        "MPS: a cheetah's observations", "pytorch/rl#3549", 3,
        "an environment's spaces of float64 cannot be moved to the device",
        f"{APPLE}@2.10.0", Met.REFUSED, Because.DTYPE,
        lambda x: x.clamp(-1, 1), (torch.ones(2, 4, dtype=DOUBLE),), ("aten::clamp",),
    ),
    Report(
        "MPS: rewards of a cart", "Lightning-AI/pytorch-lightning#19981", 3,
        "a reward of NumPy's becomes a tensor of float64, which the framework does not support",
        f"{APPLE}@2.3.1", Met.REFUSED, Because.DTYPE,
        lambda x: x + torch.tensor(0.5, dtype=DOUBLE, device=x.device).view(-1), (torch.ones(2),),
        ("aten::add", "aten::_to_copy", "aten::lift_fresh", "aten::view"),
    ),
    Report(
        "MPS: actions of float64", "DLR-RM/stable-baselines3#2005", 3,
        "tests of spaces of float64 fail, and are skipped on this device",
        f"{APPLE}@2.4.1", Met.REFUSED, Because.DTYPE,
        torch.tanh, (torch.ones(2, 4, dtype=DOUBLE),), ("aten::tanh",),
    ),
    Report(
        "MPS: properties of molecules", "chemprop/chemprop#711", 4,
        "training fails where targets are float64",
        f"{APPLE}@2.2.2", Met.REFUSED, Because.DTYPE,
        F.mse_loss, (torch.ones(4), torch.ones(4, dtype=DOUBLE)),
        ("aten::mse_loss", "aten::_to_copy"),
    ),
    Report(
        "MPS: a grid's base power", "gridfm/gridfm-graphkit#47", 4,
        "normalizing by a number of float64 crashes, in April 2026",
        f"{APPLE}@2.11.0", Met.REFUSED, Because.DTYPE,
        torch.div, (torch.ones(4), torch.ones(1, dtype=DOUBLE)), ("aten::div",),
    ),
    Report(
        "Arc: stft in 2.8", "intel/intel-extension-for-pytorch#853", 6,
        "stft fell back to the CPU, and does not with PyTorch 2.8",
        "intel-arc@2.8.0", Met.WORKS, Because.OTHER,
        lambda x: torch.stft(x, 16, window=torch.ones(16, device=x.device), return_complex=True)
        .abs(), (torch.ones(1, 64),), ("aten::stft", "aten::_fft_r2c"),
    ),
    Report(
        "MPS: places of a protein aligned", "jwohlwend/boltz#527", 7,
        "`linalg_svd` runs on the CPU, and the protein is folded",
        f"{APPLE}@2.8.0", Met.ON_THE_HOST, Because.NO_KERNEL,
        torch.linalg.svd, (torch.eye(3).expand(2, 3, 3).contiguous(),),
        ("aten::_linalg_svd", "aten::linalg_svd"),
    ),
    Report(
        "M1: triangles of a small fold", "jwohlwend/minifold#1", 7,
        "a model of proteins folds 575 residues in 20 seconds on an M1 Max",
        "apple-m1@2.7.1", Met.WORKS, Because.OTHER,
        _triangle, (PAIRS,), ("aten::layer_norm", "aten::sigmoid", "aten::einsum"),
    ),
    Report(
        "M2: attention of OpenFold", "aqlaboratory/openfold-3#336", 7,
        "OpenFold 3 predicts a protein of 367 residues in 75 seconds on an M2 Ultra",
        "apple-m2@2.13.0", Met.WORKS, Because.OTHER,
        _folded, (PAIRS,), ("aten::layer_norm", "aten::matmul", "aten::softmax", "aten::sigmoid"),
    ),
    Report(
        "MPS: kernels of Gaussian processes", "alan-turing-institute/autoemulate#690", 9,
        "`linalg_cholesky_ex` is not implemented, so that no Gaussian process is trained",
        f"{APPLE}@2.6.0", Met.REFUSED, Because.NO_KERNEL,
        torch.linalg.cholesky, (torch.eye(4),),
        ("aten::linalg_cholesky", "aten::linalg_cholesky_ex"),
    ),
    Report(
        "MPS: SAASBO's improvement", "meta-pytorch/botorch#2724", 9,
        "an acquisition function computes in float64, which the framework does not support",
        f"{APPLE}@2.6.0", Met.REFUSED, Because.DTYPE,
        lambda x: x.double().exp(), (torch.ones(4),), ("aten::to", "aten::_to_copy", "aten::exp"),
    ),
    Report(
        "910B: products of int8", "vllm-project/vllm-omni#6595", 12,
        "aclnnMatmul does not take int8, with CANN 9.1.0",
        "ascend-910b@26.1.0", Met.REFUSED, Because.DTYPE,
        torch.matmul, (torch.ones(4, 8, dtype=torch.int8), torch.ones(8, 4, dtype=torch.int8)),
        ("aten::matmul", "aten::mm"),
    ),
    Report(
        "910B: Pixtral's places chosen", "vllm-project/vllm-ascend#8152", 12,
        "aclnnIndex does not take complex64, with torch_npu 2.7.1 and CANN 8.3",
        "ascend-910b@7.2.0", Met.REFUSED, Because.DTYPE,
        lambda x, at: x[at], (torch.ones(4, 3, dtype=torch.complex64), torch.tensor([0, 2])),
        ("aten::index",),
    ),
)  # fmt: skip
_LEFT_OUT = {
    Why.KNOWN: """
        Qihoo360/360zhinao#6 pytorch/pytorch#141287 pytorch/rl#1584 DLR-RM/stable-baselines3#951
        ACEsuit/mace-foundations#14 pytorch/pytorch#140941 pytorch/pytorch#122602
        pytorch/pytorch#97093 facebookresearch/segment-anything#453
        mpicbg-scicomp/gearshifft#126 rocm-arch/rocm-arch#583 cupy/cupy#3896
        vllm-project/vllm-omni#7520 vllm-project/vllm-ascend#11627 hiyouga/LlamaFactory#4836
        modelscope/FunASR#3034 2noise/ChatTTS#788 intel/torch-xpu-ops#4279
        vllm-project/vllm-omni#7361 amazon-science/chronos-forecasting#141
        cornellius-gp/gpytorch#2748 pytorch/pytorch#173010 crispitagorico/sigkernel#8
        pytorch/pytorch#113062 kornia/kornia#2224 kornia/kornia#1717 kornia/kornia#4159
        pytorch/pytorch#77764 google/hypernerf#58 MrNeRF/awesome-3D-gaussian-splatting#227
        MrNeRF/LichtFeld-Studio#860 3D-Vision-World/awesome-NeRF-and-3DGS-SLAM#7
        hiyouga/LlamaFactory#975 vllm-project/vllm-ascend#9294 hiyouga/LlamaFactory#4339
        flagos-ai/vllm-plugin-FL#387 vllm-project/vllm#8054 hiyouga/LlamaFactory#6671
        intel/torch-xpu-ops#174 ROCm/legacy-rocm-build#1977 ROCm/legacy-rocm-build#2746
        ROCm/MIOpen#2342 ROCm/legacy-rocm-build#1880 pytorch/pytorch#96964
        ROCm/legacy-rocm-build#3949 pytorch/pytorch#132570 pytorch/pytorch#100625
        mir-aidj/all-in-one#17 facebookresearch/demucs#432
        nomadkaraoke/python-audio-separator#90 nomadkaraoke/python-audio-separator#84
        Anjok07/ultimatevocalremovergui#863
    """,
    Why.NO_CALL: """
        pytorch/pytorch#99304 pytorch/nestedtensor#212 pytorch/nestedtensor#321
        pytorch/nestedtensor#397 pytorch/nestedtensor#458 pytorch/nestedtensor#229
        huggingface/lerobot#515 ARISE-Initiative/robomimic#198 huggingface/lerobot#2506
        huggingface/lerobot#183 huggingface/lerobot#16 thu-ml/RoboticsDiffusionTransformer#18
        unitreerobotics/unitree_lerobot#10 huggingface/lerobot#1616 kywch/mg2hfbot#1
        huggingface/lerobot#928 InternRobotics/InternManip#11 Biohub/esm#74
        google-deepmind/alphafold3#657 google-deepmind/alphafold#553 intel/ipex-llm#3803
        aimclub/Fedot.Industrial#207 intel/ipex-llm#4923 intel/ipex-llm#6270
        forecastlab/forecast_dash#229 marcopeix/time-series-analysis#10 intel/ipex-llm#4941
        etna-team/etna#544 cuge1995/awesome-time-series#25 sktime/sktime#7001
        jakobrunge/tigramite#240 yzslab/nerfstudio#20 nerfstudio-project/nerfstudio#3679
        MrNeRF/awesome-3D-gaussian-splatting#117 graphdeco-inria/gaussian-splatting#574
        MrNeRF/awesome-3D-gaussian-splatting#369 MrNeRF/awesome-3D-gaussian-splatting#113
        nerfstudio-project/nerfstudio#2782 intel/torch-xpu-ops#3145 intel/torch-xpu-ops#3510
        intel/torch-xpu-ops#657 intel/torch-xpu-ops#473 pytorch/pytorch#116011
        facebookresearch/demucs#570 facebookresearch/demucs#49
    """,
    Why.NO_PROGRAM: """
        meta-pytorch/segment-anything-fast#129 atomistic-machine-learning/schnetpack#561
        jwohlwend/boltz#231 amazon-science/chronos-forecasting#216 cornellius-gp/gpytorch#2209
        luigibonati/mlcolvar#290 intel/torch-xpu-ops#3132 ROCm/pytorch#1402
        pyannote/pyannote-audio#1337 tsurumeso/vocal-remover#173 facebookresearch/demucs#503
    """,
    Why.NO_TARGET: """
        pytorch/pytorch#82460 tensorflow/tensorflow#4314 pytorch/executorch#7858
        huggingface/transformers#2940 pytorch/pytorch#103315 pytorch/pytorch#98745
        NVIDIA/apex#555 pytorch/executorch#7899 pytorch/pytorch#90866 pytorch/pytorch#97111
        intel/intel-extension-for-pytorch#493 DLR-RM/stable-baselines3#914
        DLR-RM/stable-baselines3#1019 openai/gym#3034 gully/blase#33
        alelab-upenn/graph-neural-networks#12 NVIDIA-NeMo/Speech#11684 pytorch/pytorch#107677
        HeliXonProtein/OmegaFold#10 google-deepmind/alphafold3#699 google-deepmind/alphafold#604
        HeliXonProtein/OmegaFold#36 meta-pytorch/botorch#337 pytorch/pytorch#87402
        tenstorrent/tt-xla#1143 ggml-org/llama.cpp#15656 PaddlePaddle/PaddleMIX#757
        kyab/MySpleeter#8
    """,
    Why.OTHERS: """
        rubber-duck-debug/xielu#6 rusty1s/pytorch_sparse#355 ROCm/rocFFT#193
        JuliaGPU/AMDGPU.jl#640 ROCm/hipFFT#8 ROCm/rocm-libraries#2817 DTolm/VkFFT#112
        JuliaGPU/ROCArrays.jl#17 ROCm/rocFFT#343 ROCm/rocm-libraries#12003
        intel/torch-xpu-ops#3238 vllm-project/vllm-ascend#7568 vllm-project/afd-plugin#324
        linkedin/Liger-Kernel#396 intel/intel-xpu-backend-for-triton#5608
    """,
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)
