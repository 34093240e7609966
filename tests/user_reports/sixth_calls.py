"""What users met, by searches for calls on a device, and for calls that are slow."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_controls.control import Learned
from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "[MPS] gather scatter index_select embedding out of bounds silently wrong instead of error",
    "[MPS] std var nanmedian quantile cummax prod wrong result issue",
    "XPU scaled_dot_product_attention wrong or fails Intel GPU mask head_dim NaN 2026",
    "CUDA scaled_dot_product_attention cudnn or efficient backend wrong gradient NaN crash "
    "torch 2.9 2.10 2.11 2.12",
    "[CUDA] torch.nn.functional.ctc_loss or nll_loss or cross_entropy or multi_margin_loss GPU "
    "wrong, crash or differs from CPU 2026",
    "Intel XPU conv_transpose or conv3d or batch_norm or group_norm wrong result or crash "
    "oneDNN torch 2.12 2.13 2.14 issue",
    "[MPS] linear or matmul or conv with non-contiguous or large batch wrong or NaN, torch "
    "2.11 2.12 2.13 2.14, M4 M5 macOS 26",
    "[ROCm] scaled_dot_product_attention or flash attention aotriton wrong result, gradient "
    "mismatch or page fault gfx942 gfx1100 gfx1201 issue",
    'Ascend NPU torch_npu "not supported" DT_ dtype op error RuntimeError diffusers ComfyUI '
    "video model 910B conv3d interpolate",
    "torch_musa OR MUSA Moore Threads operator fails aten unsupported dtype fallback vllm "
    "sglang diffusers issue",
    "torch_tensorrt dynamo aten converter missing falls back: index_put, scatter_reduce, "
    "nonzero, unique, sort, roll, cdist, bitwise feature request",
    "CUDA linalg eigh or svd or qr or cholesky wrong result or error cusolver batched float32 "
    "torch 2.8 2.9 2.10 2.11 2.12",
    "[CUDA] index_put_ or index_add or scatter_add float16 bfloat16 wrong or nondeterministic "
    "or illegal memory 2026 issue",
    "XPU topk or sort or argmax or unique or nonzero wrong result NaN Intel GPU torch-xpu-ops "
    "issue 2026",
    "[MPS] grid_sample or interpolate or pad or pooling differs from CPU wrong gradient 2026",
    "[MPS] complex or fft or istft or stft or angle wrong or not implemented audio model "
    "torchaudio 2025 2026",
    "torch-xpu-ops pull request 2026 XPU fix: wrong result of operator, add NaN propagation or "
    "int64 or zero-size support",
    "[MPS] pull request 2026 fix silently wrong: cumsum, argmax, sort, topk, unique, where, "
    "clamp, remainder, lerp dtype int64 uint8",
    "[ROCm] PyTorch pull request 2026 fix kernel wrong on AMD warp size 64 reduction sort "
    "index layer_norm embedding",
    "torch_tensorrt converter bug 2026 wrong output silently dtype int64 bool where clamp "
    "remainder floor_divide upsample",
    "pytorch CUDA issue 2026 sort topk cumsum median kthvalue mode wrong for large dimension "
    "or rejects length INT_MAX",
    "cuDNN conv3d or conv2d or RNN LSTM wrong result or CUDNN error H100 B200 torch 2.10 2.11 "
    "2.12 2.13 regression issue",
    "FlagGems ascend OR mthreads OR cambricon OR hygon native aten op missing or wrong: "
    "reference computed on CPU because device does not support dtype",
    "pytorch/xla TPU wrong result differs from CPU torch op 2024 2025 (cummax, topk, scatter, "
    "index_put, embedding, round, pow, argsort) issue",
    "gpt2-medium mps 1024 tokens wrong output bisect root cause addmm bmm gelu macOS fix",
    "torch.mode OR torch.histc OR torch.bincount OR torch.unique very slow on GPU compared to "
    "CPU H100 MI300X XPU MPS issue",
    "CUDA operator far slower than expected: deterministic scatter, F.embedding backward, "
    "conv1d depthwise, group_norm backward, cumsum last dim, torch 2.8 2.9 2.10 H100 "
    "performance issue repro",
    "[MPS] operator very slow compared with CPU performance issue 2026 repro (cumsum, conv1d, "
    "sort, embedding backward, interpolate, linalg)",
    "[ROCm] MI300X performance: torch op slow vs H100 conv transpose, batchnorm, topk, sort, "
    "masked_scatter, index_put, layer_norm issue",
    "XPU operator slow compared to CUDA or CPU, torch-xpu-ops performance gap: sort, "
    "index_select backward, embedding, layer_norm, softmax, conv Arc B580 PVC",
    "torch_npu operator extremely slow on 910B aicpu profiling torch.unique OR nonzero OR "
    "index_put OR sort OR grid_sample OR scatter training bottleneck issue",
    "Torch-TensorRT slower than PyTorch or fails to convert conv_transpose, grid_sample, "
    "instance_norm, layer_norm, attention, group norm float16 bf16 issue 2025",
    "SDPA wrong values when V is non-contiguous ROCm 7.0 MI300X pytorch",
    "pytorch/TensorRT [Bug] 2026 converter conv, pad, slice, expand, index, argmax fails or "
    "wrong Torch-TensorRT 2.11 2.12 2.13",
    "XPU fft or complex or linalg_eig or cdist or histogram not implemented or wrong Intel GPU "
    "PyTorch user issue 2025 2026",
    "torch.compile off MPS user issue: F.conv_transpose1d OR F.conv1d OR nn.GRU OR nn.LSTM OR "
    "nn.MultiheadAttention wrong or crash on Apple silicon 2025",
    "CUDA only: torch.linspace OR torch.arange OR torch.logspace OR torch.quantile OR "
    "torch.histogramdd OR torch.cov differs from CPU or raises for large or integer input",
    "CPU and CUDA inconsistent: torch.div floor, torch.remainder, torch.pow, torch.clamp, "
    "torch.sign, torch.round, torch.atan2, torch.polygamma, torch.erfinv special values "
    "integer overflow beanduan22 OR SilentTester73",
    "CUDA accepts invalid or raises where CPU works: torch.nn.functional pad, unfold, "
    "pixel_shuffle, one_hot, cosine_embedding, bilinear, affine_grid, local_response_norm GPU "
    "RuntimeError issue 2024 2025 2026",
    "jiren-the-gray CUDA CPU torch.nn inconsistent: BatchNorm, EmbeddingBag, "
    "MultiLabelMarginLoss, Fold, AvgPool3d, LPPool, ConvTranspose GPU error",
    "kornia MPS torch 2.14 strict xfail manifest: remaining failures NotImplementedError "
    'operator list kornia geometry filters MPS "not currently implemented"',
)
APPLE, ARC, MAX, A100 = "apple-mps", "intel-arc", "intel-max", "nvidia-a100"

HALF = torch.float16
BRAIN = torch.bfloat16
IMAGE = torch.linspace(-1, 1, 48).view(1, 3, 4, 4)
ROWS = torch.linspace(-1, 1, 16 * 62 * 128, dtype=BRAIN).view(1, 62, 16, 128)
KEYS = torch.linspace(-1, 1, 16 * 16 * 128, dtype=HALF).view(1, 16, 16, 128)


def _sampled(image: Tensor, grid: Tensor) -> Tensor:
    return F.grid_sample(image, grid, align_corners=False)


def _one_token(query: Tensor, keys: Tensor, mask: Tensor) -> Tensor:
    keys = keys.transpose(1, 2)
    return F.scaled_dot_product_attention(query, keys, keys, attn_mask=mask)


REPORTS = (
    Report(
        "CUDA: gradients of attention of a thousand", "pytorch/pytorch#125674", 3,
        "an encoder layer trained on nothing but 1000 in float32 gets NaN for gradients",
        f"{A100}@2.3.1", Met.WRONG, Because.OTHER,
        nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0), (torch.full((5, 2, 64), 1000.0),),
        ("aten::scaled_dot_product_attention", "aten::_scaled_dot_product_efficient_attention",
         "aten::_scaled_dot_product_efficient_attention_backward"), training=True,
    ),
    Report(
        "MI300X: attention by values with strides", "ROCm/pytorch#3230", 7,
        "values that are a transposed view give results off by 2 to 3, in bfloat16",
        "amd-mi300x@2.8.0", Met.WRONG, Because.LAYOUT,
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v.transpose(1, 2)),
        (ROWS.transpose(1, 2).contiguous(), ROWS.transpose(1, 2).contiguous(), ROWS),
        ("aten::scaled_dot_product_attention",),
    ),
    Report(
        "910B: ConvTranspose3d without compilation at run time", "Ascend/pytorch#52", 8,
        "with jit_compile off, the kernel is built for no size: E60108, prebuild failed",
        "ascend-910b@6.0.0", Met.REFUSED, Because.OTHER,
        nn.ConvTranspose3d(4, 4, 3), (torch.ones(1, 4, 4, 4, 4),),
        ("aten::conv_transpose3d", "aten::convolution"),
    ),
    Report(
        "Max: grid_sampler_2d", "intel/torch-xpu-ops#396", 14,
        "`grid_sampler_2d` and its gradient get kernels in June 2024",
        f"{MAX}@2.5.1", Met.WORKS, Because.NO_KERNEL,
        Learned(_sampled, IMAGE), (torch.zeros(1, 4, 4, 2),),
        ("aten::grid_sampler_2d", "aten::grid_sampler_2d_backward"), training=True,
    ),
    Report(
        "MPS: gradients of a sampled image", "roboflow/rf-detr#821", 14,
        "the gradient of `grid_sample` falls back to the CPU in a detector's attention",
        f"{APPLE}@2.10.0", Met.ON_THE_HOST, Because.NO_KERNEL,
        Learned(_sampled, IMAGE), (torch.zeros(1, 4, 4, 2),),
        ("aten::grid_sampler_2d_backward",), training=True,
        environment={"PYTORCH_ENABLE_MPS_FALLBACK": "1"},
    ),
    Report(
        "Max: softshrink of NaN", "intel/torch-xpu-ops#1139", 16,
        "`softshrink` keeps no NaN, until a fix for 2.6",
        f"{MAX}@2.5.1", Met.WRONG, Because.OTHER,
        F.softshrink, (torch.tensor([torch.nan, 1.0, -2.0]),), ("aten::softshrink",),
        mended={f"{MAX}@2.6.0": Met.WORKS},
    ),
    Report(
        "Max: nan_to_num", "intel/torch-xpu-ops#566", 16,
        "`nan_to_num` gets a kernel in July 2024",
        f"{MAX}@2.5.1", Met.WORKS, Because.NO_KERNEL,
        torch.nan_to_num, (torch.tensor([torch.nan, 1.0]),), ("aten::nan_to_num",),
    ),
    Report(
        "MPS: sums along rows, in int32", "pytorch/pytorch#94530", 17,
        "`cumsum` of integers along a negative dimension is right from 2.0 on",
        f"{APPLE}@2.0.1", Met.WORKS, Because.OTHER,
        lambda x: x.cumsum(-1, dtype=torch.int32),
        (torch.arange(6, dtype=torch.int32).view(2, 3),), ("aten::cumsum",),
    ),
    Report(
        "H100: depthwise conv1d in half", "pytorch/pytorch#170138", 26,
        "a convolution of 768 groups is slow in float16 from 2.8 on, and fast in bfloat16",
        "nvidia-h100@2.8.0", Met.SLOW, Because.DTYPE,
        lambda x, weight: F.conv1d(x, weight, padding=15, groups=768),
        (torch.ones(1, 768, 64, dtype=HALF), torch.ones(768, 1, 31, dtype=HALF)),
        ("aten::conv1d", "aten::convolution"),
    ),
    Report(
        "CUDA: cumsum of columns", "pytorch/pytorch#122170", 27,
        "running sums down a million rows of few columns take 84 to 338 ms, sums below 1 ms",
        f"{A100}@2.2.2", Met.SLOW, Because.SHAPE,
        lambda x: x.cumsum(0), (torch.zeros(2**20, 4),), ("aten::cumsum",),
    ),
    Report(
        "Arc: rows chosen of an embedding", "intel/torch-xpu-ops#3626", 29,
        "`index_select`, so `embedding`, takes 5 to 22 times as long as on CUDA",
        f"{ARC}@2.12.1", Met.SLOW, Because.NO_KERNEL,
        lambda weight, at: torch.index_select(weight, 0, at),
        (torch.ones(1000, 768, dtype=HALF), torch.arange(0, 1000, 2)), ("aten::index_select",),
    ),
    Report(
        "Arc: cat in half", "intel/torch-xpu-ops#3780", 29,
        "`cat` is the first of what keeps 54 models slower than on a 4080S, up to 7.6 times",
        f"{ARC}@2.12.1", Met.SLOW, Because.NO_KERNEL,
        lambda x, y: torch.cat([x, y], 1),
        (torch.ones(8, 64, 28, 28, dtype=HALF), torch.ones(8, 32, 28, 28, dtype=HALF)),
        ("aten::cat",),
    ),
    Report(
        "Arc: convolution in half", "intel/torch-xpu-ops#3781", 29,
        "convolutions by oneDNN keep 48 models slower than on a 4080S: densenet121 18.7 times",
        f"{ARC}@2.12.1", Met.SLOW, Because.NO_KERNEL,
        F.conv2d, (torch.ones(8, 64, 28, 28, dtype=HALF), torch.ones(32, 64, 3, 3, dtype=HALF)),
        ("aten::conv2d", "aten::convolution"),
    ),
    Report(
        "Max: softmax of GPT-2 in bfloat16", "intel/torch-xpu-ops#794", 29,
        "softmax of attention in bfloat16 takes three times what it takes on an A100",
        f"{MAX}@2.5.1", Met.SLOW, Because.NO_KERNEL,
        lambda x: x.softmax(-1), (torch.ones(1, 12, 128, 1024, dtype=BRAIN),),
        ("aten::_softmax", "aten::softmax"),
    ),
    Report(
        "CUDA: attention by a mask and keys with strides", "pytorch/pytorch#112577", 32,
        "keys and values that are views give garbage with a mask, memory-efficient, in 2.1",
        f"{A100}@2.1.2", Met.WRONG, Because.LAYOUT,
        _one_token,
        (torch.ones(1, 16, 1, 128, dtype=HALF), KEYS, torch.ones(1, 1, 1, 16).bool()),
        ("aten::scaled_dot_product_attention",),
    ),
    Report(
        "Max: products of complex matrices", "pytorch/pytorch#160867", 34,
        "oneDNN multiplies no complex matrices, until a pull request of October 2025",
        f"{MAX}@2.9.1", Met.REFUSED, Because.DTYPE,
        torch.matmul, (torch.ones(2, 3).to(torch.complex64), torch.ones(3, 2).to(torch.complex64)),
        ("aten::mm", "aten::matmul"),
    ),
    Report(
        "MPS: linear by a transposed matrix, in bfloat16", "linkedin/Liger-Kernel#1442", 35,
        "`linear` of three dimensions by a transposed matrix ends the process in 2.13, on macOS 27",
        f"{APPLE}@2.13.0", Met.REFUSED, Because.LAYOUT,
        lambda x, weight: F.linear(x, weight.T),
        (torch.ones(2, 8, 16, dtype=BRAIN), torch.ones(16, 32, dtype=BRAIN)), ("aten::linear",),
        mended={f"{APPLE}@2.14.1": Met.WORKS},
    ),
    Report(
        "CUDA: 49.5 / 50", "pytorch/pytorch#186618", 37,
        "a tensor divided by a number is 0.98999995, which a CPU's rounding makes 0.99",
        f"{A100}@2.10.0", Met.WRONG, Because.VALUE,
        lambda x: x / 50, (torch.tensor([49.5]),), ("aten::div",),
    ),
    Report(
        "CUDA: reflected ends of 65540 channels", "pytorch/pytorch#139333", 38,
        "more than 65535 channels: invalid configuration argument, and runs on a CPU",
        f"{A100}@2.4.1", Met.REFUSED, Because.SHAPE,
        lambda x: F.pad(x, (0, 1), mode="reflect"), (torch.zeros(1, 65540, 2),),
        ("aten::reflection_pad1d",),
    ),
    Report(
        "CUDA: pixel_unshuffle of nothing", "pytorch/pytorch#171536", 38,
        "an empty image by a huge factor: stride calculation overflowed, and runs on a CPU",
        f"{A100}@2.9.1", Met.REFUSED, Because.VALUE,
        lambda x: F.pixel_unshuffle(x, 4323455642275676160), (torch.zeros(0, 0, 0),),
        ("aten::pixel_unshuffle",),
    ),
)  # fmt: skip

_LEFT_OUT = {
    Why.KNOWN: """
        pytorch/pytorch#188756 pytorch/pytorch#195595 pytorch/pytorch#154235
        pytorch/pytorch#163630 pytorch/pytorch#169201 pytorch/pytorch#154051
        intel/torch-xpu-ops#5179 intel/torch-xpu-ops#1920 intel/torch-xpu-ops#5090
        intel/torch-xpu-ops#5224 pytorch/pytorch#196678 huggingface/diffusers#9768
        huggingface/trl#7181 pytorch/pytorch#92843 pytorch/pytorch#152421
        intel/intel-extension-for-pytorch#510 intel/torch-xpu-ops#1458 pytorch/pytorch#186778
        pytorch/pytorch#197636 pytorch/pytorch#122045 pytorch/pytorch#195163
        pytorch/pytorch#111634 pytorch/pytorch#97239 pytorch/pytorch#193487
        pytorch/pytorch#81185 ROCm/flash-attention#41 ROCm/flash-attention#40
        ROCm/legacy-rocm-build#6601 ggml-org/llama.cpp#19307 pytorch/pytorch#189849
        pytorch/pytorch#147460 pytorch/pytorch#119772 Comfy-Org/ComfyUI#7499
        Comfy-Org/ComfyUI#7307 huggingface/diffusers#10428 sgl-project/sglang#27853
        Comfy-Org/ComfyUI#7784 Ascend/pytorch#73 hiyouga/LlamaFactory#7986
        MooreThreads/tutorial_on_musa#26 sgl-project/sglang#10023 sgl-project/sglang#17246
        flagos-ai/sglang-plugin-FL#92 MooreThreads/torch_musa#42 MooreThreads/torch_musa#114
        MooreThreads/torch_musa#18 pytorch/TensorRT#2514 pytorch/TensorRT#2865
        pytorch/TensorRT#2231 pytorch/TensorRT#3777 pytorch/TensorRT#2277 pytorch/TensorRT#3043
        pytorch/TensorRT#2487 pytorch/TensorRT#1453 pytorch/TensorRT#1338 pytorch/TensorRT#2145
        pytorch/pytorch#192483 pytorch/pytorch#94772 KinglittleQ/torch-batch-svd#15
        pytorch/pytorch#38603 pytorch/pytorch#53040 cupy/cupy#4847 intel/torch-xpu-ops#1751
        pytorch/pytorch#156173 pytorch/pytorch#132715 pytorch/pytorch#74487
        intel/torch-xpu-ops#4839 intel/torch-xpu-ops#4396 intel/torch-xpu-ops#1147
        pytorch/pytorch#191871 intel/torch-xpu-ops#611 pytorch/pytorch#126757
        pytorch/pytorch#1810 pytorch/pytorch#174339 pytorch/pytorch#159419
        pytorch/pytorch#159421 pytorch/pytorch#65200 pytorch/pytorch#19826
        pytorch/pytorch#134812 pytorch/pytorch#3775 pytorch/pytorch#7883 pytorch/pytorch#78044
        pytorch/pytorch#183061 intel/torch-xpu-ops#1134 pytorch/pytorch#195708
        pytorch/pytorch#179146 intel/torch-xpu-ops#4623 intel/torch-xpu-ops#4626
        apache/tvm#20374 kulinseth/pytorch#354 pytorch/pytorch#197470 pytorch/pytorch#125318
        ROCm/pytorch#203 pytorch/pytorch#12485 pytorch/pytorch#183864 ROCm/pytorch#3425
        ROCm/apex#36 pytorch/pytorch#172559 pytorch/TensorRT#296 NVIDIA/TensorRT#3476
        pytorch/TensorRT#1957 pytorch/TensorRT#2404 pytorch/pytorch#82569 pytorch/pytorch#30818
        pytorch/pytorch#173622 pytorch/pytorch#143486 pytorch/pytorch#163539
        pytorch/pytorch#133093 flagos-ai/FlagGems#729 flagos-ai/FlagGems#548
        InfiniTensor/InfiniCore#1095 InfiniTensor/InfiniCore#1305 flagos-ai/FlagGems#5953
        flagos-ai/FlagGems#4820 flagos-ai/FlagGems#6582 flagos-ai/FlagGems#40 pytorch/xla#8675
        pytorch/xla#5904 pytorch/xla#7588 vllm-project/vllm-xpu-kernels#473
        pytorch/pytorch#183082 pytorch/xla#7936 zhihanyue/ts2vec#33 pytorch/pytorch#98212
        pytorch/pytorch#97310 pytorch/pytorch#96626 pytorch/pytorch#198304
        scverse/scvi-tools#3981 pytorch/pytorch#184780 pytorch/pytorch#111173
        pytorch/pytorch#53194 intel/intel-extension-for-pytorch#426 pytorch/pytorch#185609
        pytorch/pytorch#192213 kornia/kornia#4522 pytorch/pytorch#156494 pytorch/pytorch#88319
        pytorch/pytorch#146998 pytorch/pytorch#132964 pytorch/pytorch#143465 ROCm/MIOpen#3952
        ROCm/pytorch#655 pytorch/pytorch#134070 intel/torch-xpu-ops#3371
        intel/torch-xpu-ops#1150 flagos-ai/FlagGems#3642 pytorch/pytorch#122274
        Ascend/pytorch#81 hiyouga/LlamaFactory#5125 NVIDIA/TensorRT#3657 pytorch/TensorRT#2079
        pytorch/TensorRT#623 pytorch/TensorRT#2507 pytorch/TensorRT#888 pytorch/TensorRT#836
        pytorch/pytorch#65960 pytorch/TensorRT#3000 pytorch/TensorRT#2688
        intel/torch-xpu-ops#2617 intel/torch-xpu-ops#3928 intel/torch-xpu-ops#4169
        intel/torch-xpu-ops#2279 intel/torch-xpu-ops#2376 intel/intel-extension-for-pytorch#566
        pytorch/pytorch#149132 pytorch/pytorch#94691 pytorch/pytorch#129207
        pytorch/pytorch#90421 pytorch/pytorch#170168 pytorch/pytorch#181807
        pytorch/pytorch#191613 pytorch/pytorch#82230 pytorch/pytorch#153187
        pytorch/pytorch#153210 pytorch/pytorch#153209 pytorch/pytorch#24861
        pytorch/pytorch#15921 pytorch/pytorch#145350 pytorch/pytorch#171734
        pytorch/pytorch#89409 pytorch/pytorch#137172 pytorch/pytorch#42588
    """,
    Why.NO_TARGET: """
        llnl/umap#59 DyfanJones/noctua#154 pmartR/pmartR#26 NCAR/VAPOR#165 bigbio/pmultiqc#341
        stblake/mathilda#71 DyfanJones/RAthena#147 cubed-dev/cubed#921 pandas-dev/pandas#2889
        cerr/CERR#866 cerr/CERR#867 simple-statistics/simple-statistics#333
        huggingface/transformers#35647 pytorch/pytorch#20522 torch/cunn#260 torch/cunn#44
        pytorch/pytorch#22234 pytorch/pytorch#107433 torch/nn#979 pytorch/pytorch#66872
        torch/cunn#339 pytorch/pytorch#15946 pytorch/pytorch#51732
        openvinotoolkit/openvino#23390 openvinotoolkit/openvino#22343 pytorch/pytorch#120211
        uxlfoundation/oneDNN#5471 pytorch/pytorch#148973 pytorch/TensorRT#4692
        pytorch/pytorch#66072 pytorch/pytorch#62003 pytorch/pytorch#104592 pytorch/pytorch#84981
        NVIDIA/apex#455 pytorch/executorch#7864 pytorch/pytorch#95189 Oneflow-Inc/oneflow#7606
        openvinotoolkit/openvino#35946 torch/cunn#199 PaddlePaddle/Paddle#26576
        PaddlePaddle/Paddle#33216 nikhilsinghmus/image2reverb#8 AlexanderLutsenko/nobuco#50
        pytorch/audio#27 huggingface/candle#2846 AppleHolic/source_separation#5
        huawei-noah/Speech-Backbones#22 pytorch/audio#131 speechbrain/speechbrain#244
        PaddlePaddle/Paddle#79591 kulinseth/pytorch#221 keras-team/keras#18813
        tenstorrent/tt-metal#25783 Idein/onnion#100 microsoft/onnxruntime#2833
        antimora/burn-flex#21 flagos-ai/FlagGems#1045 pytorch/pytorch#24868 ROCm/pytorch#860
        pytorch/TensorRT#1392 pytorch/TensorRT#1489 open-mmlab/mmdeploy#1305
        pytorch/TensorRT#961 pytorch/TensorRT#1442 pytorch/TensorRT#1853 pytorch/pytorch#2049
        pytorch/pytorch#4490 pytorch/pytorch#55392 pytorch/pytorch#32863 pytorch/pytorch#45770
        soumith/cudnn.torch#333 pytorch/pytorch#17930 pytorch/pytorch#13636
        pytorch/pytorch#27115 aws/deep-learning-containers#6417 pytorch/xla#2525
        pytorch/xla#2169 huggingface/transformers#20415 pytorch/pytorch#95448
        pytorch/pytorch#84336 tensorflow/tensorflow#19570 pytorch/pytorch#108496
        tensorflow/tensorflow#24362 intel/intel-extension-for-pytorch#296 pytorch/pytorch#18405
        pytorch/pytorch#107098 pytorch/pytorch#15804 NVIDIA/TensorRT#595 NVIDIA/TensorRT#4355
        JunkyByte/easy_ViTPose#30 onnx/tensorflow-onnx#1277 lyuwenyu/RT-DETR#200
        ROCm/TheRock#1908 torch-spyre/torch-spyre#4331 NVIDIA-AI-IOT/torch2trt#670
        NVIDIA-AI-IOT/torch2trt#521 pytorch/pytorch#87579 pytorch/pytorch#91694
        pytorch/pytorch#31991 pytorch/pytorch#40904 pytorch/pytorch#18363 pytorch/pytorch#1070
        torch/cutorch#729 pytorch/pytorch#81996 pytorch/pytorch#87565 pytorch/pytorch#139987
        pytorch/pytorch#49601 pytorch/pytorch#89254 pytorch/pytorch#66750 ROCm/pytorch#188
    """,
    Why.NO_PROGRAM: """
        pytorch/pytorch#144824 pytorch/pytorch#165268 pytorch/pytorch#189971
        pytorch/pytorch#152290 pytorch/pytorch#119320 pytorch/pytorch#178251
        intel/torch-xpu-ops#241 intel/torch-xpu-ops#253 intel/torch-xpu-ops#875
        pytorch/pytorch#158308 pytorch/TensorRT#4139 pytorch/pytorch#121834
        huggingface/transformers#32005 karpathy/llm.c#36 karpathy/nanoGPT#458
        rasbt/LLMs-from-scratch#846 davmacario/MDI-LLM#8 ROCm/MIOpen#3865
        intel/torch-xpu-ops#2673 intel/torch-xpu-ops#4268 intel/torch-xpu-ops#4158
        pytorch/pytorch#153311 pytorch/pytorch#116968 pytorch/pytorch#165650
    """,
    Why.NO_CALL: """
        MooreThreads/torch_musa#116 MooreThreads/vllm-musa#35 flagos-ai/vllm-plugin-FL#286
        pytorch/pytorch#185605 intel/torch-xpu-ops#4648 ROCm/pytorch#2344 ROCm/pytorch#2372
        datalab-to/marker#520 Comfy-Org/ComfyUI#10398 flagos-ai/FlagGems#621
        flagos-ai/FlagGems#51 pytorch/pytorch#191778 LaurentMazare/tch-rs#676
        pytorch/pytorch#122973 pytorch/pytorch#156241 ROCm/rocWMMA#458
        intel/intel-xpu-backend-for-triton#6445 intel/torch-xpu-ops#631 pytorch/pytorch#138898
        pytorch/pytorch#144462
    """,
    Why.OTHERS: """
        tillahoffmann/jax-mps#240 ROCm/triton#514 ROCm/apex#37 ROCm/triton#156
        ROCm/TransformerEngine#72 ROCm/TransformerEngine#79
    """,
    Why.UNCONFIRMED: """
        intel/torch-xpu-ops#1730 MIC-DKFZ/nnUNet#1861 pytorch/pytorch#153597
        pytorch/pytorch#153137
    """,
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)
