"""What users of TensorRT and of TPUs met, by searches of threads of the fifth round."""

import math

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "Torch-TensorRT 2.13 2.14 bug converter silently wrong result strided slice roll flip "
    "repeat_interleave",
    "torch_tensorrt dynamo converter fails conv1d depthwise conv_transpose3d groups bias dtype "
    "float16 error 2025 2026",
    "torch_xla TPU operator result differs from CPU dtype wrong after lowering, PyTorch/XLA 2.5 "
    "2.6 2.7 bug",
    "PyTorch/XLA op not lowered aten:: counter in metrics report slow training TPU lowering "
    "request",
    "Torch-TensorRT engine build fails dtype mismatch int32 int64 arange embedding where converter "
    "torch.compile backend tensorrt 2.9 2.10",
    "Torch-TensorRT fix dynamo converter validator fallback to PyTorch RTX depthwise conv bf16 "
    "cumsum pull request",
    "Torch-TensorRT decomposition missing op index_copy masked_scatter scatter_reduce einsum "
    "pixel_unshuffle falls back graph break 2024",
    "Torch-TensorRT [Coverage] aten op error dynamic shape converter chohk88",
    "Torch-TensorRT fp16 accuracy NaN overflow softmax rms_norm pow mean variance wrong result "
    "autocast use_fp32_acc",
    "[Core ATen Opset] Lower aten pytorch/xla unit test fails error core_aten_ops",
    "pytorch/xla ysiraichi mismatch PyTorch eager result scalar type promotion in-place op XLA "
    "inconsistent error",
    "pytorch/xla TPU torch.nn.functional interpolate bicubic area scale_factor host fallback slow",
    "pytorch/xla TPU crash Check failed operator shape rank dimension error backward gradient conv "
    "pool 2.3 2.4",
    "pytorch/xla float8 int4 uint16 uint32 bfloat16 dtype unsupported TPU error tensor",
    "torch_xla grid_sample roi_align nms cdist ctc_loss falls back to CPU TPU aten:: not lowered "
    "2023 2024",
    "torch_xla fft rfft stft complex numbers not supported on TPU error",
    "torch_xla multinomial bernoulli randperm normal random sampling wrong or slow on TPU",
    "torch_xla sort topk argsort unique searchsorted bucketize stable wrong order or CPU fallback "
    "XLA",
    "torch_xla batch_norm group_norm layer_norm instance_norm incorrect result TPU bfloat16 "
    "autocast",
    "torch_xla backward of index / gather / scatter / as_strided / unfold error XLA tensor view "
    "functionalization regression 2.0 2.1",
    "[torchbench] fails to run on XLA non-dynamo inference error op dtype",
    "RuntimeError torch_xla/csrc Check failed xla op TPU v5e v6e 2.5 2.6 2.7 transformers generate "
    "index dtype",
    "pytorch/xla TPU litepod16 Fatal error op traceback backward tengomucho gemma "
    '"Check failed" embedding_dense_backward',
    "[Core ATen Opset] Lower aten_minimum test_aten_minimum_2 failing dtype chunnienc",
    "Torch-TensorRT [Coverage] torch.ops.aten.convolution nbSpatialDims addConvolutionNd "
    "unexpected weight tensor coverage",
    "Torch-TensorRT SrivastavaKshitij bug converter validator accepts but build fails rank scalar "
    "empty tensor",
    "torch_tensorrt dynamo wrong dtype output int64 argmax sum bool result differs from eager "
    "NVIDIA L4 capability bug",
    "Torch-TensorRT zewenli98 fix bug converter attention mask softmax gelu approximate tanh "
    "matmul broadcast 2025",
    "HolyWu Torch-TensorRT bug torch.compile tensorrt pixel_shuffle grid_sample interpolate pad "
    "flow VapourSynth converter",
    "pytorch/xla 7122 Core dump on TPU using transformers' generate \"Expected pred or integral "
    'type in argument to and/or operation; got F32" cause fix',
    "pytorch/xla 8346 data_ops.cpp Check failed input_sizes.size() <= output_sizes.size() "
    "grounding-dino expand eager traceback",
    "torchbench hf_* models fail on both TPU and GPU zpcore error log expanded size attention mask "
    "4D",
    "pytorch/xla einsum matmul bf16 precision dot default precision TPU results wrong compared to "
    "CPU float32 highest",
    'pytorch/xla ysiraichi AMP autocast mixed dtype "mixed precision is disallowed" add conv '
    "linear op bfloat16",
    "pytorch/xla 2.7 2.8 2.9 error message validation operator cat flip gather trapezoid roll "
    "RuntimeError ysiraichi",
    "pytorch/xla lowering support for op pull request add lowering 2024 2025 (cdist, isneginf, "
    "random_, native_dropout, pdist)",
    "Torch-TensorRT 3252 BART scaled_dot_product_attention attn_mask large output difference "
    "torch_compile tensorrt",
    "pytorch/xla bfloat16 scalar constant rounding less precise div mul add python scalar opmath "
    "float32",
    "pytorch/xla torch.full bool dtype stopping criteria transformers XLA is_done bitwise or float",
    "pytorch/xla torch.isin torch.unique torch.bucketize torch.histc torch.bincount not supported "
    "XLA device TPU error",
    "Torch-TensorRT bug dynamo avg_pool max_pool adaptive pooling 1d 3d wrong result or error 2.4 "
    "2.5 2.6 stride padding count_include_pad",
    "Torch-TensorRT fp8 int8 quantize modelopt conv linear converter scale error dynamo bug nn "
    "quantization 2.5 2.6 2.8",
    "Torch-TensorRT compiled F.grid_sample produces wrong result border padding environment "
    "torch_tensorrt version comment fix",
    "pytorch/xla timm_nfnet AMP training fails gelu mul float16 float32 root cause ysiraichi "
    "batch_norm weights cast",
    "Torch-TensorRT dynamo reshape view permute cat unbind split converter bug wrong output or "
    "error user model 2024 2025 int tensor",
    "pytorch/xla TPU slow operator workaround one_hot masked_fill index_put gather sort embedding "
    "large vocabulary performance 2024 2025",
)
TRT, TPU, V5E = "nvidia-tensorrt", "google-tpu-v4", "google-tpu-v5e"
HOST = (Met.ON_THE_HOST, Because.NO_KERNEL)
SAMPLED = ("aten::grid_sampler", "aten::grid_sampler_2d")
X = torch.linspace(-1, 1, 24).view(4, 6)
HEADS = torch.linspace(-1, 1, 512).view(1, 4, 8, 16)
MASK = torch.full((8, 8), float("-inf")).triu(1)
PICTURE = torch.linspace(0, 1, 4992).view(1, 3, 32, 52)
GRID = torch.linspace(-2, 2, 3328).view(1, 32, 52, 2)
HALVES = torch.linspace(-1, 1, 10000).view(100, 100).bfloat16()


def _warped(x: Tensor, grid: Tensor) -> Tensor:
    return F.grid_sample(x, grid, mode="bilinear", padding_mode="border", align_corners=True)


def _warped_in_float(x: Tensor, grid: Tensor) -> Tensor:
    return _warped(x.float(), grid.float()).half()


def _products(query: Tensor, key: Tensor) -> Tensor:
    return query @ (key.transpose(-1, -2) / math.sqrt(128))


REPORTS = (
    Report(
        "TensorRT: conv1d of a computed weight", "pytorch/TensorRT#3326", 1,
        "conv1d fails where its weight is no constant: the weight is taken for the input",
        f"{TRT}@2.5.0", Met.REFUSED, Because.OTHER,
        F.conv1d, (torch.ones(1, 4, 16), torch.ones(8, 4, 3)),
        ("aten::conv1d", "aten::convolution"), mended={f"{TRT}@2.6.0": Met.WORKS},
    ),
    Report(
        "TensorRT: slice_scatter", "pytorch/TensorRT#2519", 6,
        "it has no converter: a pull request of December 2023 decomposes it",
        f"{TRT}@2.3.0", *HOST,
        lambda x, y: torch.slice_scatter(x, y, 1, 2, 4), (X, torch.ones(4, 2)),
        ("aten::slice_scatter",),
    ),
    Report(
        "TensorRT: scatter_reduce", "pytorch/TensorRT#3008", 6,
        "it has no converter: a pull request of July 2024 decomposes it",
        f"{TRT}@2.3.0", *HOST,
        lambda x, at, y: x.scatter_reduce(0, at, y, "sum"),
        (X, torch.tensor([[0, 1, 2, 0]]), torch.ones(1, 4)), ("aten::scatter_reduce",),
    ),
    Report(
        "TensorRT: attention under a mask of numbers", "pytorch/TensorRT#3296", 6,
        "`attn_mask` is not handled: outputs of BART differ widely",
        f"{TRT}@2.5.0", Met.WRONG, Because.VALUE,
        lambda x, mask: F.scaled_dot_product_attention(x, x, x, attn_mask=mask), (HEADS, MASK),
        ("aten::scaled_dot_product_attention",),
    ),
    Report(
        "TPU: atan2 of integers", "pytorch/xla#5852", 9,
        "its test with int32 passes in January 2024",
        f"{TPU}@r2.3", Met.WORKS, Because.DTYPE,
        torch.atan2, (torch.arange(4, dtype=torch.int32), torch.arange(4, dtype=torch.int32)),
        ("aten::atan2",),
    ),
    Report(
        "TensorRT: grid_sample up to the border", "pytorch/TensorRT#3674", 28,
        "bilinear samples with `padding_mode=\"border\"` are wrong",
        f"{TRT}@2.7.0", Met.WRONG, Because.VALUE, _warped, (PICTURE, GRID), SAMPLED,
    ),
    Report(
        "TPU: bfloat16 divided by a root", "pytorch/xla#8372", 32,
        "the number is rounded to bfloat16 before the division: values differ from CUDA's",
        f"{V5E}@r2.5", Met.SLOW, Because.DTYPE,
        _products, (HALVES, HALVES), ("aten::div",),
    ),
    Report(
        "TPU: bfloat16 times bfloat16", "pytorch/xla#9662", 32,
        "the product is computed in float32, and cast back",
        f"{V5E}@r2.8", Met.SLOW, Because.DTYPE, torch.mul, (HALVES, HALVES), ("aten::mul",),
    ),
    Report(
        "TPU: native_dropout", "pytorch/xla#5647", 35,
        "pull requests of September 2023 lower it and its gradient, for 2.1 too",
        f"{TPU}@r2.0", *HOST, lambda x: torch.native_dropout(x, 0.5, True), (X,),
        ("aten::native_dropout",), mended={f"{TPU}@r2.1": Met.WORKS},
    ),
    Report(
        "TPU: a confusion matrix by bincount", "Lightning-AI/torchmetrics#1466", 39,
        "a confusion matrix runs `_unique2` and `bincount` on the host",
        f"{TPU}@r1.13", *HOST, lambda x: torch.bincount(x, minlength=4),
        (torch.tensor([0, 1, 3, 1]),), ("aten::bincount",),
    ),
    Report(
        "TensorRT: grid_sample of float32 amid float16", "pytorch/TensorRT#4074", 42,
        "it is wrong since TensorRT 10.14, whatever the version of Torch-TensorRT",
        f"{TRT}@2.10.0", Met.WRONG, Because.DTYPE, _warped_in_float,
        (PICTURE.half(), GRID.half()), SAMPLED, mended={f"{TRT}@2.9.0": Met.WORKS},
    ),
)  # fmt: skip

_LEFT_OUT = {
    Why.KNOWN: """
        pytorch/TensorRT#2157 pytorch/TensorRT#3025 pytorch/xla#2897 pytorch/xla#6015
        pytorch/TensorRT#1818 pytorch/TensorRT#3410 pytorch/TensorRT#2847 pytorch/TensorRT#2877
        pytorch/TensorRT#2665 pytorch/TensorRT#2740 pytorch/TensorRT#3224 pytorch/xla#5870
        pytorch/xla#7090 pytorch/xla#2588 pytorch/xla#7267 pytorch/xla#4710
        Lightning-AI/pytorch-lightning#7471 pytorch/xla#2487 pytorch/vision#3056 pytorch/xla#1667
        pytorch/xla#2587 pytorch/xla#1233 ROCm/torch_migraphx#123 pytorch/xla#4848 pytorch/xla#8496
        pytorch/xla#8498 pytorch/xla#7122 pytorch/xla#2627 pytorch/TensorRT#3327
        pytorch/TensorRT#4608 pytorch/TensorRT#4603 pytorch/TensorRT#2316 pytorch/TensorRT#3135
        pytorch/TensorRT#4379 pytorch/TensorRT#4246 pytorch/TensorRT#3340 pytorch/xla#6991
        vllm-project/tpu-inference#2126 pytorch/xla#5764 pytorch/TensorRT#3252 pytorch/xla#8545
        huggingface/transformers#31191 huggingface/transformers#29317 pytorch/xla#7010
        pytorch/xla#4511 Lightning-AI/torchmetrics#1471 pytorch/xla#7084 pytorch/xla#2661
    """,
    Why.NO_TARGET: """
        NVIDIA/TensorRT-Incubator#545 pytorch/pytorch#65960 pytorch/TensorRT#2404
        NVIDIA-AI-IOT/torch2trt#819 google-ai-edge/litert-torch#1238 NVIDIA/TensorRT#3478
        VeriSilicon/tflite-vx-delegate#156 NVIDIA/TensorRT#3476 PaddlePaddle/Paddle#69038
        NVIDIA/TensorRT#3645 pytorch/TensorRT#2252 pytorch/TensorRT#2507 pytorch/TensorRT#623
        pytorch/TensorRT#2207 pytorch/TensorRT#1224 pytorch/TensorRT#763 pytorch/xla#3430
        pytorch/xla#1767 pytorch/xla#2785 pytorch/xla#2655 pytorch/xla#943 pytorch/xla#3080
        pytorch/xla#2715 Lightning-AI/pytorch-lightning#7368 pytorch/xla#2020 pytorch/TensorRT#963
        pytorch/TensorRT#2419 PaddlePaddle/Paddle#79319 huggingface/optimum-nvidia#58
        pytorch/TensorRT#833 pytorch/TensorRT#1864 pytorch/TensorRT#3354 pytorch/TensorRT#4178
        pytorch/TensorRT#4575 pytorch/TensorRT#2403 pytorch/TensorRT#4420 pytorch/TensorRT#4399
        pytorch/TensorRT#4306 pytorch/TensorRT#2513 pytorch/pytorch#66376 pytorch/TensorRT#1987
        NVIDIA/TensorRT#1474 pytorch/TensorRT#2443 pytorch/TensorRT#2102 pytorch/TensorRT#365
        NVIDIA/TensorRT#1196 microsoft/onnxruntime#13639 pytorch/TensorRT#1450 NVIDIA/TensorRT#4498
        NVIDIA/TensorRT#2466 NVIDIA/TensorRT#2922 NVIDIA/TensorRT#4499 pytorch/xla#3105
        pytorch/xla#1151 pytorch/xla#583 pytorch/pytorch#62084 pytorch/xla#592 pytorch/xla#3608
        pytorch/xla#1749 pytorch/pytorch#22273 pytorch/xla#820 pytorch/pytorch#28324
        unifyai/ivy#13066 unifyai/ivy#12512 rafellerc/Pytorch-SiamFC#15 unifyai/ivy#12122
        open-mmlab/mmdeploy#1602 pytorch/pytorch#68819 unifyai/ivy#10211 pytorch/xla#4647
        pytorch/xla#2333 pytorch/xla#2340 pytorch/xla#567 pytorch/xla#2939 pytorch/xla#2917
        pytorch/xla#3041 pytorch/xla#2101 huggingface/diffusers#898 tenstorrent/tt-xla#1109
        pytorch/xla#2774 pytorch/xla#1331 pytorch/xla#2466 pytorch/vision#2486
        Lightning-AI/pytorch-lightning#4430 jax-ml/jax#10158 jax-ml/jax#19769
        pytorch/executorch#1362 pytorch/pytorch#50234 pytorch/xla#3293 tensorflow/tensorflow#27303
        tensorflow/tensorflow#12115 DifferentiableUniverseInitiative/flowpm#31 pytorch/pytorch#34797
        pytorch/xla#2241 pytorch/pytorch#22086 pytorch/pytorch#37403 pytorch/pytorch#11945
        pytorch/pytorch#148247 pytorch/pytorch#114076 pytorch/pytorch#114043 pytorch/xla#2603
        torch/torch7#165 pytorch/pytorch#11931 pytorch/xla#3265 pytorch/xla#342
        tinygrad/tinygrad#9353 pytorch/pytorch#88619 openxla/xla#25487 pytorch/xla#865
        AgoraIO/Tools#413 jax-ml/jax#2779 pytorch/xla#3246 pytorch/xla#475 pytorch/pytorch#50052
        pytorch/xla#900 pytorch/xla#2570 pytorch/xla#1735 pytorch/xla#3658 pytorch/pytorch#192161
        pytorch/pytorch#109188 pytorch/xla#880 tenstorrent/tt-xla#1466 pytorch/xla#1657
        pytorch/pytorch#75717 pytorch/xla#2650 huggingface/transformers#11363 pytorch/xla#2632
        kingoflolz/mesh-transformer-jax#184 pytorch/xla#2658 intel/torch-xpu-ops#180
        gabrieldemarmiesse/torch-mojo-backend#250 microsoft/onnxscript#491 ROCm/torch_migraphx#128
        pytorch/executorch#3517 apple/coreai-torch#43 llvm/torch-mlir#2422
        tenstorrent/pytorch2.0_ttnn#429 PaddlePaddle/X2Paddle#1041 pytorch/TensorRT#888
        torch/cunn#322 pytorch/TensorRT#2250 pytorch/TensorRT#863 NVIDIA/TensorRT#3587
        pytorch/TensorRT#1048 NVIDIA/TensorRT#935 pytorch/TensorRT#930 pytorch/TensorRT#4579
        pytorch/pytorch#100838 pytorch/torchdynamo#1743 Lightning-AI/lightning-thunder#1952
        pytorch/torchdynamo#834 pytorch/TensorRT#2291 NVIDIA/TensorRT-LLM#947 pytorch/TensorRT#296
        AMD-AGI/Primus-Turbo#22 google-ai-edge/litert-torch#1190 pytorch/TensorRT#4354
        lucidrains/vit-pytorch#151 NVIDIA/TensorRT#4333 pytorch/TensorRT#842
        NVIDIA-AI-IOT/torch2trt#239 pytorch/TensorRT#1687 NVIDIA-AI-IOT/torch2trt#116
        LitLeo/TensorRT_Tutorial#14 pytorch/xla#3225 pytorch/xla#3840 pytorch/xla#60
        pytorch/xla#3348 pytorch/xla#3753 erfanzar/EasyDeL#30 deepspeedai/DeepSpeed#3998
        huggingface/transformers#16509 intel/torch-xpu-ops#3257 pytorch/xla#1965 pytorch/xla#7077
        pytorch/xla#9242 jax-ml/jax#9973 jax-ml/jax#23159 pytorch/xla#8811 jax-ml/jax#16349
        pytorch/xla#1330 pytorch/xla#1929 pytorch/pytorch#107953 fla-org/flash-linear-attention#70
        pytorch/pytorch#61804 pytorch/xla#8111 pytorch/xla#3682 pytorch/xla#3935 pytorch/xla#3969
        pytorch/xla#2721 pytorch/xla#2969 pytorch/xla#546 VBTI-development/onedl-mmdeploy#4
        fla-org/flash-linear-attention#52 NVIDIA/TensorRT#4647 pytorch/TensorRT#1532
        pytorch/pytorch#186818 pytorch/pytorch#185869 pytorch/xla#2536 pytorch/xla#3229
        pytorch/xla#1776 tinygrad/tinygrad#2823 pytorch/xla#3429 pytorch/xla#605 pytorch/xla#2742
        pytorch/xla#3234 pytorch/xla#2638 pytorch/xla#1509 pytorch/xla#245 intel/torch-xpu-ops#207
        pytorch/TensorRT#180 NVIDIA-AI-IOT/torch2trt#459 pytorch/TensorRT#791 pytorch/TensorRT#49
        pytorch/TensorRT#792 pytorch/TensorRT#2317 pytorch/TensorRT#233 tenstorrent/tt-metal#14260
        pytorch/pytorch#42022 NVIDIA/TensorRT#3987 vllm-project/llm-compressor#110
        pytorch/pytorch#32829 pytorch/pytorch#23925 NVIDIA/TensorRT#4646 pytorch/pytorch#19717
        llvm/torch-mlir#4186 PaddlePaddle/Paddle#58907 pytorch/pytorch#15386 csarofeen/pytorch#1894
        pytorch/xla#2918 intel/torch-xpu-ops#4018 microsoft/onnxscript#1217 intel/torch-xpu-ops#493
        pytorch/TensorRT#1115 NVIDIA-AI-IOT/torch2trt#412 NVIDIA-AI-IOT/torch2trt#779
        pytorch/TensorRT#2036 pytorch/TensorRT#742 pytorch/TensorRT#786 pytorch/TensorRT#1788
        pytorch/xla#2318 pytorch/xla#2403 huggingface/transformers#18239 pytorch/xla#3450
        pytorch/xla#1522 pytorch/xla#334 tensorflow/tensorflow#80253
    """,
    Why.NO_PROGRAM: """
        pytorch/TensorRT#2688 pytorch/xla#6479 pytorch/xla#4167 pytorch/xla#8625 pytorch/xla#6711
        pytorch/xla#4203 pytorch/TensorRT#3295 pytorch/TensorRT#3140 pytorch/TensorRT#4050
        pytorch/TensorRT#3683 pytorch/TensorRT#3127 pytorch/xla#5990 pytorch/xla#5851
        pytorch/xla#5864 pytorch/xla#5846 pytorch/xla#5981 pytorch/xla#5894 pytorch/xla#5847
        pytorch/xla#5867 pytorch/xla#7138 pytorch/xla#6002 pytorch/xla#6090 pytorch/xla#9014
        pytorch/xla#7859 pytorch/xla#5932 pytorch/xla#7833 pytorch/xla#8346 pytorch/xla#5869
        pytorch/TensorRT#4625 pytorch/TensorRT#4681 pytorch/TensorRT#2593 pytorch/xla#6899
        pytorch/xla#7050 pytorch/xla#6649 pytorch/xla#7835 pytorch/xla#5885 pytorch/xla#5883
        pytorch/TensorRT#3626 pytorch/TensorRT#3065 pytorch/TensorRT#4035 pytorch/TensorRT#3333
    """,
    Why.UNCONFIRMED: """
        pytorch/xla#5845 pytorch/xla#5904 pytorch/xla#6864 pytorch/xla#8367 pytorch/xla#9707
        huggingface/transformers#43163 pytorch/TensorRT#2612
    """,
    Why.NO_CALL: """
        pytorch/TensorRT#2500 pytorch/xla#6031 pytorch/xla#9745 pytorch/xla#3266
        pytorch/TensorRT#2356 pytorch/TensorRT#4053 NVIDIA/TensorRT#3101 NVIDIA/TensorRT#3999
        pytorch/xla#4592 pytorch/xla#4155 pytorch/xla#9074 datalab-to/surya#264
        vllm-project/vllm#6981 pytorch/pytorch#88506 pytorch/pytorch#96577 pytorch/xla#4158
        pytorch/pytorch#120336 pytorch/xla#916 pytorch/xla#4767 pytorch/xla#6005
        huggingface/accelerate#2629 pytorch/pytorch#114229 pytorch/TensorRT#4416
        pytorch/TensorRT#3332 pytorch/TensorRT#4214 pytorch/xla#9645 pytorch/xla#5505
        pytorch/xla#4740 pytorch/xla#6468 pytorch/xla#9725 pytorch/TensorRT#3232
    """,
    Why.OTHERS: """
        pytorch/xla#9222 pytorch/xla#8362 pytorch/xla#8278 pytorch/xla#8015 pytorch/xla#8019
        pytorch/xla#7115 pytorch/TensorRT#3663 pytorch/TensorRT#3665 pytorch/TensorRT#2961
        pytorch/TensorRT#3494 pytorch/TensorRT#3058
    """,
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)
