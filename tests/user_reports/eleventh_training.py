"""What users met who train: optimizers, losses, random numbers, normalization, mixed precision."""

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_controls.control import Learned
from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "ROCm training loss diverges or NaN gradient wrong one operator backward MI300X RX 7900 XTX "
    "torch 2.5 2.6 2.7 minimal repro",
    "ROCm embedding_bag or ctc_loss or multinomial or unique or bincount fails on AMD GPU",
    "ROCm fused Adam foreach optimizer clip_grad_norm error or wrong AMD",
    "ROCm BatchNorm channels_last MIOpen training float16 wrong running statistics",
    "XPU fused Adam SGD foreach optimizer wrong or not implemented Intel GPU",
    "XPU training backward wrong gradient Intel Arc embedding dropout batch_norm cross_entropy",
    "XPU convolution transposed or depthwise or grouped oneDNN wrong result or could not create "
    "a primitive",
    "XPU embedding_bag multinomial randperm bernoulli sampling wrong Intel GPU",
    "torch_npu optimizer foreach fused dropout embedding dense backward deterministic error "
    "Ascend training",
    "Torch-TensorRT layer_norm softmax fp16 overflow NaN strong typing precision wrong output",
    "Torch-TensorRT embedding LSTM GRU int64 dynamic batch converter shape tensor error",
    "MPS optimizer fused foreach adamw sgd zero_grad wrong or unsupported",
    "MPS GroupNorm BatchNorm InstanceNorm training running stats wrong or crash float16",
    "MPS random generator dropout multinomial bernoulli randperm not random or wrong",
    "pytorch [ROCm] HIP error or memory fault in torch operator backward pass, module: rocm",
    "intel/torch-xpu-ops device LOST or wrong result Arc Battlemage B580 B70 operator fp32 bf16 "
    "training silently corrupt",
    "pytorch/TensorRT converter bug wrong output arange full clamp where slice negative step "
    "dtype bool 2025",
    "pytorch MPS autocast mixed precision dtype mismatch crash training loss backward",
    "Ascend NPU torch.nn.Embedding padding_idx cross_entropy label_smoothing loss backward "
    "wrong torch_npu",
    "pytorch CUDA CTC loss backward cudnn wrong gradient or error target lengths device",
    "torch.nn.RMSNorm or F.rms_norm fused wrong or slow or not implemented on GPU ROCm XPU MPS",
    "pytorch max_pool unpool AdaptiveMaxPool FractionalMaxPool LPPool GPU error or wrong ROCm XPU",
)
COARSE = torch.bfloat16
WEIGHT = torch.ones(4, 4)
STATE = (WEIGHT, WEIGHT, torch.zeros(4, 4), torch.zeros(4, 4))
LEVELS = torch.tensor([0.1, 0.5, 0.9])


def _attended(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(query, key, value, is_causal=True)


def _fused(weight: Tensor, gradient: Tensor, mean: Tensor, square: Tensor) -> Tensor:
    kept = weight.clone()
    torch._fused_adamw_(
        [kept], [gradient], [mean.clone()], [square.clone()], [], [torch.ones(())],
        lr=1e-3, beta1=0.9, beta2=0.999, weight_decay=0.01, eps=1e-8, amsgrad=False,
        maximize=False,
    )  # fmt: skip
    return kept


def _of_each(weight: Tensor, gradient: Tensor, mean: Tensor, square: Tensor) -> Tensor:
    kept = [weight.clone()]
    means, squares = [mean.clone()], [square.clone()]
    torch._foreach_lerp_(means, [gradient], 0.1)
    torch._foreach_mul_(squares, 0.999)
    torch._foreach_addcmul_(squares, [gradient], [gradient], 0.001)
    roots = torch._foreach_sqrt(squares)
    torch._foreach_add_(roots, 1e-8)
    torch._foreach_addcdiv_(kept, means, roots, -1e-3)
    return kept[0]


def _spoken(scores: Tensor, words: Tensor, heard: Tensor, written: Tensor) -> Tensor:
    return F.ctc_loss(scores.log_softmax(2), words, heard, written)


def _scaled(x: Tensor, weight: Tensor) -> Tensor:
    return F.rms_norm(x, (x.shape[-1],), weight)


def _unpooled(x: Tensor, places: Tensor) -> Tensor:
    return F.max_unpool2d(x, places, kernel_size=(2, 2))


REPORTS = (
    Report(
        "Arc: gradients of causal attention",
        "pytorch/pytorch#160787",
        5,
        "gradients behind attention with `is_causal` are NaN every few steps on an A770",
        "intel-arc@2.8.0",
        Met.WRONG,
        Because.OTHER,
        Learned(_attended, torch.ones(2, 4, 16, 32)),
        (torch.ones(2, 4, 16, 32), torch.ones(2, 4, 16, 32)),
        (
            "aten::scaled_dot_product_attention",
            "aten::_scaled_dot_product_fused_attention_overrideable",
            "aten::_scaled_dot_product_fused_attention_overrideable_backward",
        ),
        training=True,
    ),
    Report(
        "Arc: samples of a Bernoulli distribution",
        "intel/intel-extension-for-pytorch#873",
        7,
        "sampling fails: UR_RESULT_ERROR_INVALID_KERNEL_NAME, with torch 2.9.1 alone",
        "intel-arc@2.9.1",
        Met.REFUSED,
        Because.OTHER,
        torch.bernoulli,
        (LEVELS,),
        ("aten::bernoulli", "aten::bernoulli_"),
    ),
    Report(
        "NPU: fused AdamW",
        "ByteDance-Seed/VeOmni#345",
        8,
        "the fused mode of AdamW runs in a test of December 2025",
        "ascend-910b@7.3.0",
        Met.WORKS,
        Because.NO_KERNEL,
        _fused,
        STATE,
        ("aten::_fused_adamw_",),
    ),
    Report(
        "NPU: AdamW of lists",
        "ByteDance-Seed/VeOmni#349",
        11,
        "a pull request of December 2025 lets AdamW's foreach mode run",
        "ascend-910b@7.3.0",
        Met.WORKS,
        Because.NO_KERNEL,
        _of_each,
        STATE,
        ("aten::_foreach_addcdiv_", "aten::_foreach_addcmul_", "aten::_foreach_lerp_"),
    ),
    Report(
        "XPU: nextafter of bfloat16",
        "intel/torch-xpu-ops#1169",
        15,
        "the next numbers of bfloat16 are the numbers themselves",
        "intel-max@2.6.0",
        Met.WRONG,
        Because.DTYPE,
        torch.nextafter,
        (torch.ones(5, dtype=COARSE), torch.zeros(5, dtype=COARSE)),
        ("aten::nextafter",),
    ),
    Report(
        "CUDA: CTC loss of one sample",
        "k2-fsa/icefall#1485",
        19,
        "a batch of one with lengths and words of int32 on the device is refused: CPU is expected",
        "nvidia-a100@2.2.2",
        Met.REFUSED,
        Because.DTYPE,
        _spoken,
        (
            torch.ones(50, 1, 20),
            torch.ones(31, dtype=torch.int32),
            torch.tensor([50], dtype=torch.int32),
            torch.tensor([31], dtype=torch.int32),
        ),
        ("aten::ctc_loss", "aten::_use_cudnn_ctc_loss", "aten::_cudnn_ctc_loss"),
    ),
    Report(
        "MPS: RMS norm",
        "pytorch/pytorch#145301",
        20,
        "it takes 15 times as long as a fused kernel of January 2025 does, and 13 times the CPU's",
        "apple-mps@2.6.0",
        Met.SLOW,
        Because.NO_KERNEL,
        _scaled,
        (torch.ones(1024), torch.ones(1024)),
        ("aten::rms_norm", "aten::_fused_rms_norm"),
    ),
    Report(
        "RTX 5090: RMS norm",
        "pytorch/pytorch#153666",
        20,
        "it takes 9 times as long as a fused kernel of May 2025 does",
        "nvidia-rtx5090@2.7.1",
        Met.SLOW,
        Because.NO_KERNEL,
        _scaled,
        (torch.ones(32, 1024).half(), torch.ones(1024).half()),
        ("aten::rms_norm", "aten::_fused_rms_norm"),
    ),
    Report(
        "CUDA: places that are there twice",
        "pytorch/pytorch#132041",
        21,
        "where places are named twice, `max_unpool2d` keeps other values than on the CPU",
        "nvidia-a100@2.4.1",
        Met.WRONG,
        Because.OTHER,
        _unpooled,
        (torch.tensor([[[[-0.2, -0.3], [-0.4, -0.5]]]]), torch.tensor([[[[1, 0], [1, 0]]]])),
        ("aten::max_unpool2d",),
    ),
)
_LEFT_OUT = {
    Why.KNOWN: """
        ROCm/TheRock#2662 ROCm/legacy-rocm-build#4391 ROCm/TheRock#5420 unslothai/unsloth#3385
        ROCm/pytorch#2837 pytorch/pytorch#130806 pytorch/pytorch#170749 ROCm/rocm-libraries#3158
        ROCm/MIOpen#1549 ROCm/MIOpen#3943 intel/torch-xpu-ops#879 intel/torch-xpu-ops#3775
        intel/torch-xpu-ops#4772 pytorch/xla#6002 intel/torch-xpu-ops#5018
        intel/torch-xpu-ops#1898 intel/torch-xpu-ops#2239 intel/torch-xpu-ops#2297
        google/XNNPACK#1951 pytorch/pytorch#114043 intel/torch-xpu-ops#471
        intel/torch-xpu-ops#520 deepspeedai/DeepSpeed#5777 meta-pytorch/torchtune#2646
        open-mmlab/mmengine#1079 pytorch/pytorch#17870 lm-sys/FastChat#2422
        pytorch/TensorRT#4061 pytorch/TensorRT#2730 pytorch/TensorRT#3272 NVIDIA/TensorRT#3101
        pytorch/TensorRT#3683 pytorch/TensorRT#1830 pytorch/TensorRT#1271 pytorch/TensorRT#2400
        NVIDIA-AI-IOT/torch2trt#144 pytorch/pytorch#127242 pytorch/pytorch#183830
        pytorch/pytorch#96113 pytorch/pytorch#178775 pytorch/pytorch#154887
        pytorch/pytorch#182210 pytorch/pytorch#104170 huggingface/sentence-transformers#2903
        pytorch/pytorch#150016 ROCm/pytorch#1398 pytorch/pytorch#117847 pytorch/pytorch#164346
        pytorch/pytorch#147626 ROCm/pytorch#1402 intel/torch-xpu-ops#5220
        intel/torch-xpu-ops#5272 intel/intel-xpu-backend-for-triton#1769
        intel/compute-runtime#1001 pytorch/TensorRT#4625 pytorch/TensorRT#2404
        pytorch/pytorch#65960 pytorch/TensorRT#4456 NVIDIA/TensorRT-Incubator#545
        ultralytics/ultralytics#9277 pytorch/pytorch#144170 pytorch/pytorch#141471
        candle-org/MindAct#1759 pytorch/pytorch#72056 pytorch/pytorch#20522
        pytorch/pytorch#152421 pytorch/pytorch#152745 pytorch/pytorch#22234 espnet/espnet#700
    """,
    Why.NO_CALL: """
        mlc-ai/llm-perf-bench#19 FasterDecoding/Medusa#111 jw1912/bullet#392 karpathy/llm.c#315
        hpcaitech/ColossalAI#2283 nex-agi/weaver#7 pytorch/pytorch#123239
        intel/torch-xpu-ops#3776 pytorch/pytorch#95415 intel/torch-xpu-ops#4500
        pytorch/pytorch#24032 pytorch/pytorch#126670 allenai/OLMo-core#127 InternLM/xtuner#2078
        CoSMoMVPA/CoSMoMVPA#98 dlsyscourse/hw2#20 fsprojects/FsRandom#14
        NervanaSystems/ngraph#3006 broadinstitute/permutect#24 rocm-arch/python-pytorch-rocm#17
        intel/torch-xpu-ops#92 pytorch/TensorRT#3113 hvoss-tech/AutoForge#55
        jadore801120/attention-is-all-you-need-pytorch#165 harvardnlp/annotated-transformer#39
        mlfoundations/open_lm#3 pytorch/pytorch#72643 pytorch/pytorch#121364 unifyai/ivy#21224
        unifyai/ivy#21141
    """,
    Why.NO_PROGRAM: """
        alibaba/rtp-llm#1110 intel/torch-xpu-ops#2595 pytorch/pytorch#184657
        pytorch/TensorRT#2633 pytorch/TensorRT#4607 kijai/ComfyUI-SUPIR#208
        huggingface/accelerate#1396 huggingface/diffusers#7530 pytorch/pytorch#81876
        huggingface/accelerate#3373 pytorch/pytorch#187265 intel/torch-xpu-ops#1693
        intel/torch-xpu-ops#1905 pytorch/pytorch#157345 pytorch/pytorch#192080
        pytorch/pytorch#168699
    """,
    Why.NO_TARGET: """
        jax-ml/jax#21187 ROCm/pytorch#342 ROCmSoftwarePlatform/hiptensorflow#39
        xuhuisheng/rocm-build#26 ROCmSoftwarePlatform/tensorflow#64 tensorflow/tensorflow#36263
        ROCm/tensorflow-upstream#843 PaddlePaddle/Paddle#32158 ROCm/pytorch#285
        tinygrad/tinygrad#12502 tensorflow/tensorflow#47980 microsoft/onnxruntime#9014
        intel/intel-extension-for-pytorch#876 pytorch/pytorch#88015
        intel/intel-extension-for-pytorch#597 intel/intel-extension-for-tensorflow#5
        intel/intel-extension-for-pytorch#698 intel/intel-extension-for-pytorch#193
        uxlfoundation/oneDNN#193 openvinotoolkit/openvino#31466 pytorch/pytorch#133304
        tenstorrent/tt-metal#45856 intel/intel-extension-for-pytorch#402
        intel/intel-extension-for-pytorch#580 intel/torch-xpu-ops#362 pytorch/pytorch#60231
        PaddlePaddle/PaddleCustomDevice#1299 NVIDIA/TensorRT#2564 NVIDIA/TensorRT#3413
        pytorch/pytorch#66707 NVIDIA/TensorRT#1954 NVIDIA/TensorRT#3897 NVIDIA/TensorRT#4111
        NVIDIA/TensorRT#3310 pytorch/TensorRT#2314 pytorch/TensorRT#1897 NVIDIA/TensorRT#3004
        pytorch/TensorRT#2617 tinygrad/tinygrad#10374 ml-explore/mlx#4228
        microsoft/tensorflow-directml-plugin#321 pytorch/pytorch#17216 apache/mxnet#12302
        microsoft/onnxruntime#10079 apple/coreai-torch#54 apache/mxnet#9366
        tinygrad/tinygrad#16150 tinygrad/tinygrad#8740 apache/mxnet#6553
        PaddlePaddle/Paddle#36249 ROCm/pytorch#369 ROCm/legacy-rocm-build#1629
        intel/torch-xpu-ops#4409 pytorch/TensorRT#2492 pytorch/TensorRT#720 pytorch/TensorRT#839
        pytorch/pytorch#84511 gabrieldemarmiesse/torch-mojo-backend#9 pytorch/pytorch#26302
        PaddlePaddle/Paddle#35346 pytorch/pytorch#28716 candle-org/candle#555
        PaddlePaddle/PaddleCustomDevice#1390 pytorch/pytorch#27442 pytorch/pytorch#53557
        pytorch/pytorch#26797 pytorch/pytorch#49046 pytorch/pytorch#16093 pytorch/pytorch#150629
        nod-ai/AMD-SHARK-ModelDev#710 NVIDIA-AI-IOT/torch2trt#207 nod-ai/AMD-SHARK-ModelDev#159
        pytorch/pytorch#39903 pytorch/xla#3049 pytorch/executorch#11885
        nod-ai/AMD-SHARK-ModelDev#116 nod-ai/AMD-SHARK-ModelDev#295
    """,
    Why.OTHERS: """
        ROCm/apex#208 ROCm/MIOpen#2868 NVIDIA/apex#164 NVIDIA/apex#1794 NVIDIA/apex#92
        ROCm/apex#78 NVIDIA/apex#1414 ROCm/MIOpen#2024 ROCm/MIOpen#1983 ROCm/rocm-libraries#2621
        ROCm/MIOpen#915 ROCm/MIOpen#3900 ROCm/rocm-libraries#2193 NVIDIA/TransformerEngine#2675
        deepspeedai/DeepSpeed#5500 NVIDIA/apex#351 deepspeedai/DeepSpeed#984
        ByteDance-Seed/VeOmni#841 linkedin/Liger-Kernel#1206
    """,
    Why.UNCONFIRMED: """
        pytorch/pytorch#117545 pytorch/pytorch#153102
    """,
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)
