"""What users asked of converters and of devices: operators that are missing, and dtypes."""

import torch
from torch import Tensor

from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "torch-xpu-ops bug torch.special or bitwise shift or nextafter or ldexp or frexp or "
    "copysign incorrect on XPU",
    "[MPS] bitwise shift, floor divide, signbit, nextafter, ldexp, heaviside, logical ops wrong "
    "or not implemented",
    "[ROCm] disable test skipIfRocm operator numerically wrong bfloat16 complex atomic",
    "torch-xpu-ops kernel as_strided unfold fold col2im im2col backward issue",
    "Torch-TensorRT converter request aten operator unsupported lowering native_dropout "
    "masked_fill scatter gather expand",
    "torch-xpu-ops [Bug] CUDA passes and XPU fails torch.compile nn.functional 2026 agent triage",
    "MPS loss functions huber smooth_l1 ctc kl_div bce multilabel margin wrong or missing backward",
    "vllm or sglang ROCm RDNA gfx1100 gfx1201 bf16 fp8 operator fails RuntimeError torch",
    "MI300X or MI250 torch.distributions or torch.special or erfinv or lgamma accuracy",
    "NPU Ascend torch.compile-free eager training torch_npu scatter index_add index_copy "
    "take_along_dim error aclnn 2025",
    "MPS weight_norm spectral_norm parametrizations orthogonal nn.utils error",
    "Torch-TensorRT bitwise_and bitwise_not logical_or isnan isinf remainder fmod floor_divide "
    "wrong result",
    "[XPU alignment] eager operator silent correctness XPU repro confirmed linalg index "
    "reduction kernel",
    "please implement operator on mps device feature request for training a model, fallback too "
    "slow",
    "voice conversion RVC GPT-SoVITS so-vits Mac mps inference operator error",
    "[ROCm] foreach or multi_tensor_apply or fused optimizer fails complex large tensor list",
    "TheRock RX 9070 XT gfx1201 torch conv3d VAE decode slow or crash or black image",
    "Torch-TensorRT ElementWise bool int64 operands rejected type add sub max min pow converter",
)
COARSE = torch.bfloat16
MPS, TENSORRT = "apple-mps", "nvidia-tensorrt"
FLAGS = torch.tensor([[True, False], [False, True]])


def _added(into: Tensor, left: Tensor, right: Tensor) -> Tensor:
    return torch._foreach_addcmul([into, into], [left, left], [right, right], [1.0, 2.0])[0]


REPORTS = (
    Report(
        "XPU: nextafter of zeros of bfloat16",
        "intel/torch-xpu-ops#623",
        0,
        "what follows zero is zero, as the compiler's library has it until oneAPI 2025.1",
        "intel-max@2.5.1",
        Met.WRONG,
        Because.DTYPE,
        torch.nextafter,
        (torch.zeros(5, dtype=COARSE), torch.ones(5, dtype=COARSE)),
        ("aten::nextafter",),
        mended={"intel-max@2.8.0": Met.WORKS},
    ),
    Report(
        "ROCm: lists of complex numbers multiplied and added",
        "pytorch/pytorch#171230",
        2,
        "`_foreach_addcmul` of complex64 with a list of factors fails its test on ROCm",
        "amd-mi300x@2.9.1",
        Met.WRONG,
        Because.DTYPE,
        _added,
        tuple(torch.ones(4, 4, dtype=torch.complex64) for _ in range(3)),
        ("aten::_foreach_addcmul",),
    ),
    Report(
        "TensorRT: numbers dropped, and which",
        "pytorch/TensorRT#2494",
        4,
        "`native_dropout` has no converter, asked for in November 2023 and again in 2025",
        f"{TENSORRT}@2.2.0",
        Met.ON_THE_HOST,
        Because.NO_KERNEL,
        lambda x: torch.native_dropout(x, 0.5, True),
        (torch.ones(4, 4),),
        ("aten::native_dropout",),
    ),
    Report(
        "XPU: erfinv of float64",
        "intel/torch-xpu-ops#634",
        8,
        "in float64 it is less precise than the CPU's, which a pull request of July 2024 mends",
        "intel-max@2.4.1",
        Met.SLOW,
        Because.DTYPE,
        torch.erfinv,
        (torch.tensor([0.1, 0.5, 0.9], dtype=torch.float64),),
        ("aten::erfinv",),
    ),
    Report(
        "MPS: the norm of a weight apart",
        "pytorch/pytorch#104513",
        10,
        "weight_norm is not implemented, and training falls back to the CPU at a price",
        f"{MPS}@2.0.1",
        Met.REFUSED,
        Because.NO_KERNEL,
        torch._weight_norm,
        (torch.ones(4, 3, 3), torch.ones(4, 1, 1)),
        ("aten::_weight_norm", "aten::_weight_norm_interface"),
    ),
    Report(
        "TensorRT: flags times flags",
        "pytorch/TensorRT#4605",
        11,
        "a product of booleans is given to TensorRT as one of numbers, and the build fails",
        f"{TENSORRT}@2.13.0",
        Met.REFUSED,
        Because.DTYPE,
        torch.mul,
        (FLAGS, FLAGS),
        ("aten::mul.Tensor",),
    ),
    Report(
        "TensorRT: bits of whole numbers",
        "pytorch/TensorRT#2429",
        17,
        "`bitwise_and` is converted for booleans alone: integers go back to PyTorch",
        f"{TENSORRT}@2.2.0",
        Met.ON_THE_HOST,
        Because.DTYPE,
        torch.bitwise_and,
        (torch.arange(4), torch.arange(4)),
        ("aten::bitwise_and.Tensor",),
    ),
)
_LEFT_OUT = {
    Why.KNOWN: """
        intel/torch-xpu-ops#249 intel/torch-xpu-ops#2930 intel/torch-xpu-ops#2264
        sgl-project/sglang#31751 intel/torch-xpu-ops#3144 intel/torch-xpu-ops#184
        pytorch/pytorch#180131 pytorch/pytorch#179946 pytorch/xla#2932 pytorch/TensorRT#3390
        pytorch/TensorRT#3410 pytorch/TensorRT#2838 pytorch/TensorRT#1809 pytorch/TensorRT#662
        pytorch/TensorRT#2665 pytorch/TensorRT#3296 pytorch/TensorRT#2444
        intel/torch-xpu-ops#3537 nlzy/triton-gfx906#1 vllm-project/vllm#6375
        pytorch/pytorch#4399 pytorch/pytorch#166134 intel/torch-xpu-ops#555 Ascend/pytorch#90
        hiyouga/LlamaFactory#7986 open-mmlab/mmengine#847 huggingface/transformers#35785
        DeepLink-org/dlinfer#229 vllm-project/vllm-ascend#15290 NexusGPU/tensor-fusion#456
        Ascend/pytorch#66 vllm-project/vllm-ascend#516 vllm-project/vllm-ascend#4433
        pytorch/TensorRT#911 pytorch/TensorRT#4579 intel/torch-xpu-ops#3530
        intel/torch-xpu-ops#4604 pytorch/pytorch#77764 scverse/scvi-tools#3981
        blaisewf/rvc-cli#1 RVC-Boss/GPT-SoVITS#306 RVC-Boss/GPT-SoVITS#165
        RVC-Boss/GPT-SoVITS#93 ROCm/TheRock#7691 lshqqytiger/stable-diffusion-webui-amdgpu#646
        pytorch/TensorRT#2263 pytorch/TensorRT#1240
    """,
    Why.NO_CALL: """
        pydata/numexpr#531 IntelPython/dpnp#96 hidet-org/hidet#19 hgrecco/pint#1200
        heavyai/rbc#154 agenium-scale/nsimd#92 helmholtz-analytics/heat#912 numpy/numpy#28659
        data-apis/array-api#200 mpmath/mpmath#1009 ROCm/pytorch#2439 pytorch/torchdynamo#884
        pytorch/pytorch#2580 pytorch/pytorch#1048 BindsNET/bindsnet#240 pytorch/functorch#95
        mlpack/mlpack#3144 pytorch/pytorch#166296 mlpack/mlpack#2444 bmaltais/kohya_ss#2221
        unifyai/ivy#7494 ourownstory/neural_prophet#1458 unifyai/ivy#23066 unifyai/ivy#12865
        unifyai/ivy#25731 SmallNana/STSGCN_Pytorch#8 pytorch/pytorch#53260 pytorch/pytorch#2799
        pytorch/pytorch#678 pytorch/pytorch#52973 unifyai/ivy#27788 Codecademy/docs#7386
        allenai/open-instruct#1781 pytorch/pytorch#48181 pytorch/pytorch#6929 microsoft/mup#14
        knazeri/edge-connect#25 pytorch/pytorch#59564 pytorch/pytorch#180167
        fangwei123456/spikingjelly#658 ELS-RD/transformer-deploy#78
        RVC-Project/Retrieval-based-Voice-Conversion-WebUI#815
        RVC-Project/Retrieval-based-Voice-Conversion-WebUI#1767 pytorch/pytorch#38655
        pytorch/pytorch#100811 ooples/AiDotNet.Tensors#769 pytorch/pytorch#43507
        pytorch/pytorch#41554 pytorch/pytorch#42533 pytorch/pytorch#45299 pytorch/pytorch#42536
    """,
    Why.NO_PROGRAM: """
        vllm-project/vllm#36615 vllm-project/vllm#22084 vllm-project/vllm#3122
        intel/torch-xpu-ops#1156 RVC-Project/Retrieval-based-Voice-Conversion-WebUI#2496
        RVC-Project/Retrieval-based-Voice-Conversion#14 NevilPatel01/RVC-WebUI-MacOS#1
        RVC-Project/Retrieval-based-Voice-Conversion-WebUI#1843
        RVC-Project/Retrieval-based-Voice-Conversion-WebUI#900 SkyworkAI/SkyReels-V1#102
        ROCm/legacy-rocm-build#4742 Tencent-Hunyuan/HunyuanVideo-I2V#49 ROCm/TheRock#1542
        ROCm/legacy-rocm-build#4846
    """,
    Why.NO_TARGET: """
        intel/torch-xpu-ops#4478 pytorch/pytorch#8111 apache/arrow#10350 pytorch/pytorch#87214
        ROCm/tensorflow-upstream#746 jax-ml/jax#38041 pytorch/pytorch#67706
        tensorflow/tensorflow#30503 ROCm/pytorch#573 pytorch/pytorch#181402
        pytorch/pytorch#181419 apple/coremltools#1735 apple/coremltools#1923
        pytorch/TensorRT#273 intel/torch-xpu-ops#3449 pytorch/pytorch#145372
        intel/torch-xpu-ops#4627 intel/torch-xpu-ops#3657 intel/torch-xpu-ops#4473
        pytorch/pytorch#112741 pytorch/pytorch#80163 apache/mxnet#7605 pytorch/pytorch#198133
        google/flax#4138 pytorch/pytorch#1425 NVIDIA/TensorRT#4702 PaddlePaddle/Paddle#51971
        NVIDIA/TensorRT#340 tinygrad/tinygrad#7684 apache/tvm#5341 intel/torch-xpu-ops#3973
        intel/torch-xpu-ops#4637 iree-org/iree#18479 pytorch/pytorch#141608
        intel/torch-xpu-ops#4481 pytorch/pytorch#46216 microsoft/onnxruntime#5804
        vladmandic/sdnext#2012 pytorch/TensorRT#321 PaddlePaddle/Paddle#49675
        NVIDIA-AI-IOT/torch2trt#90
    """,
    Why.OTHERS: """
        ROCm/apex#32 huggingface/kernels-community#361 vllm-project/vllm#52312
        kyuz0/amd-strix-halo-vllm-toolboxes#73 vllm-project/vllm#30324
        rusty1s/pytorch_scatter#508 intel/intel-xpu-backend-for-triton#6667
    """,
    Why.UNCONFIRMED: """
        intel/torch-xpu-ops#4530 pytorch/pytorch#176372
        RVC-Project/Retrieval-based-Voice-Conversion-WebUI#776
    """,
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)
