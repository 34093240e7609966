"""What users of several vendors met, by the last searches of the fourth round."""

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "[MPS] Fix silent correctness non-contiguous or storage offset or broadcast input unary binary "
    "out= resize Metal kernel pull request 2025 2026",
    "[ROCm] Fix wrong result or assert of batch_norm, layer_norm, nll_loss, embedding, topk, sort, "
    "cat, index kernel on wave32 RDNA pull request jeffdaily 2024 2025 2026",
    "Torch-TensorRT dynamo converter fix: aten.any aten.prod aten.cumsum aten.masked_scatter "
    "aten.index_put negative dim, empty tensor, 0-d tensor bug 2025 2026",
    "XPU register op pull request 2026 torch-xpu-ops implement _cdist_backward, _pdist, "
    "fractional_max_pool, grid_sampler_3d_backward, multi_margin_loss, ctc_loss kernel SYCL",
    "torch_npu 昇腾 算子 不支持 报错 int64 bool double complex aclnn EZ1001 EZ1002 推理 训练 模型 "
    "NPU 910B issue",
    "torch_xla TPU gradient of upsample, grid_sample, max_pool3d, cumprod, trilinear, unfold fold "
    "backward falls back to CPU aten:: counter slow 2022 2023 2024",
    "[CUDA] fix reduction or scan or loss kernel wrong for bfloat16 half large inputs H100 B200: "
    "logsumexp, cumsum, nll_loss2d, cross_entropy, batch_norm channels_last pull request 2025 2026",
    "torch-xpu-ops pull request merged Add aten::ctc_loss, grid_sampler_3d, bilinear, glu, "
    "hardshrink, softshrink, logit, nanmedian, mode, unique_dim, cummax and variants",
    'torch-xpu-ops fix wrong gradient or wrong value kernel 2026 pull request "Fixes" pooling '
    "upsample group_norm layer_norm softmax embedding non-contiguous int64",
    "[MPS] Fix wrong gradient or crash: interpolate backward, cross_entropy label smoothing, "
    "smooth_l1_loss, group_norm, kl_div, prelu, pixel_shuffle pull request pytorch",
    'ComfyUI or diffusers or audio model on Mac MPS "not implemented" or "not supported" torch 2.5 '
    "2.6 2.7 2.8 2.9 float8 conv1d bigvgan vocoder fft istft unfold user report",
    "[ROCm] MIOpen conv_transpose or depthwise conv or Conv1d wrong result or slow MI300X gfx942 "
    "pytorch issue 2025 2026 regression workaround",
    "FlagGems torch native not supported on Ascend NPU vendor skip reason operator dtype bfloat16 "
    "int16 unsupported reference CPU pull request KernelGen Ascend backend",
    "FlagGems Ascend mode operator Torch Latency thousands of ms native slow SiliconFlow optimize "
    "on Ascend MThreads",
    "FlagGems MThreads MUSA native torch operator not implemented or wrong, skip test on mthreads "
    "backend aten not supported",
    "FlagGems Cambricon MLU native torch_mlu operator unsupported dtype fallback CPU skip reason "
    "benchmark",
    "[SiliconFlow] Native aten operator is not supported on Ascend skip accuracy test benchmark "
    "torch_npu issue FlagGems",
    "torch-xpu-ops Add aten::multilabel_margin_loss, _masked_softmax, nll_loss2d, "
    "adaptive_max_pool2d, im2col, col2im, roll, take, put, masked_scatter operators merged 2024",
    "Torch-TensorRT `aten.` op not supported issue gs-olive 2023-12 converter request full, "
    "one_hot, native_dropout, trunc, scatter_reduce, cdist, log2, sym_size",
    "[MPS] rewrite slow op with Metal kernel speedup old path seconds: histc, unique, nonzero, "
    "index_select, cumsum, embedding backward, topk pull request 2025 2026",
    "pytorch 184779 _bincount_mps native Metal atomic 18 s scatter slow large input number of bins "
    "benchmark",
    "AMD MI250 MI300X ROCm pytorch optimizer or loss or random op wrong: torch.randperm, dropout, "
    "multinomial, poisson, binomial, fused Adam, CTC, bernoulli issue fixed",
    "CUDA kernel illegal memory access or wrong result small shapes zero-size stride-0 expanded "
    "input: torch.renorm, embedding_bag, max_unpool, fractional_max_pool, grid_sample, ctc_loss "
    "2025 2026 fix",
    "[CUDA] illegal memory read or write kernel compute-sanitizer reported kokol16 "
    "torch.nn.functional CUDA module: crash edge cases",
    "[MPS] Migrate op from MPSGraph to Metal fixes correctness bug: index_add int64, var, argmax, "
    "upsample, reflection pad wrong values before pull request 2026",
    "group_norm half bfloat16 accuracy acc_type XPU CUDA wrong 185367 183946",
    "MPS replication_pad1d ReplicationPad1d crash or wrong issue 135442",
    "pytorch issue MPS pixel or conv or linear silent wrong large batch greater than 65536 rows "
    "kernel grid 2026 module: correctness (silent) module: mps",
    "[CUDA] embedding, batch_norm, group_norm, layer_norm empty tensor width 0 or batch 0 crash "
    "launch failure invalid configuration argument 2025 2026 issue",
    "XLA TPU pytorch/xla RuntimeError or wrong shape for op: torch.roll, torch.kthvalue, "
    "torch.unique, torch.histc, torch.bucketize, torch.searchsorted, nonzero, masked_select issue "
    "r2.x",
    "[MPS] Extend op to integer or complex types: fix linspace, cross, kron, addr, renorm, dist, "
    "atan2, nextafter, lerp, pull request malfet 2024 2025 2026",
)
MAX = "intel-max"
MPS = "apple-mps"
TRT = "nvidia-tensorrt"
HOST = (Met.ON_THE_HOST, Because.NO_KERNEL)
IN_2_6 = {f"{MAX}@2.6.0": Met.WORKS}
IN_2_7 = {f"{MAX}@2.7.1": Met.WORKS}

X = torch.linspace(-1, 1, 24).view(4, 6)
PICTURE = torch.linspace(-1, 1, 2 * 3 * 8 * 8).view(2, 3, 8, 8)
VOLUME = torch.linspace(-1, 1, 2 * 3 * 4**3).view(2, 3, 4, 4, 4)
FAR_FROM_ZERO = (PICTURE + 100).half()
LONG = torch.zeros(1, 32769, 256)


def _largest_at_random(x: Tensor) -> Tensor:
    return F.fractional_max_pool2d(x, 2, output_size=3)


def _of_a_transposed_batch(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return F.linear(x.transpose(1, 0), weight, bias)


REPORTS = (
    Report(
        "MPS: bincount of other lengths", "pytorch/pytorch#184779", 0,
        "each new `minlength` compiles a graph, and 2 million numbers take 19 s",
        f"{MPS}@2.12.1", Met.SLOW, Because.VALUE,
        lambda x: torch.bincount(x, minlength=57_601),
        (torch.zeros(1080 * 1920, dtype=torch.int64),), ("aten::bincount",),
    ),
    Report(
        "TensorRT: any", "pytorch/TensorRT#2545", 2,
        "converters of `any` and `any.dim` are asked for",
        f"{TRT}@2.2.0", *HOST, lambda x: torch.any(x > 0, dim=1), (X,),
        ("aten::any.dim",),
    ),
    Report(
        "Max: distances within", "intel/torch-xpu-ops#808", 3,
        "`pdist`, its gradient and that of `cdist` get kernels in late 2024",
        f"{MAX}@2.5.1", *HOST, F.pdist, (X,), ("aten::pdist", "aten::_pdist_forward"),
        mended=IN_2_7,
    ),
    Report(
        "Max: pooling of fractions", "intel/torch-xpu-ops#880", 3,
        "`fractional_max_pool2d` and `fractional_max_pool3d` get kernels in October 2024",
        f"{MAX}@2.5.1", *HOST, _largest_at_random, (PICTURE,),
        ("aten::fractional_max_pool2d",), mended=IN_2_6,
    ),
    Report(
        "Max: the largest of volumes", "intel/torch-xpu-ops#802", 3,
        "`max_pool3d` and its gradient get kernels in September 2024",
        f"{MAX}@2.4.1", *HOST, lambda x: F.max_pool3d(x, 2), (VOLUME,),
        ("aten::max_pool3d_with_indices", "aten::max_pool3d"), mended=IN_2_6,
    ),
    Report(
        "Max: a loss of many margins", "intel/torch-xpu-ops#895", 3,
        "`multi_margin_loss` and its gradient get kernels in late 2024",
        f"{MAX}@2.5.1", *HOST, F.multi_margin_loss, (X, torch.tensor([0, 1, 2, 3])),
        ("aten::multi_margin_loss",), mended=IN_2_7,
    ),
    Report(
        "Max: hardshrink", "intel/torch-xpu-ops#947", 7,
        "`hardshrink` and its gradient get kernels in October 2024",
        f"{MAX}@2.5.1", *HOST, F.hardshrink, (X,), ("aten::hardshrink",), mended=IN_2_7,
    ),
    Report(
        "Max: a norm of groups in half", "intel/torch-xpu-ops#3806", 8,
        "means and deviations are rounded to float16 on the way, until June 2026",
        f"{MAX}@2.12.1", Met.SLOW, Because.DTYPE,
        lambda x: F.group_norm(x, 3), (FAR_FROM_ZERO,),
        ("aten::group_norm", "aten::native_group_norm"),
        mended={f"{MAX}@2.14.1": Met.WORKS},
    ),
    Report(
        "Max: a smooth loss", "intel/torch-xpu-ops#621", 9,
        "`smooth_l1_loss` and its gradient get kernels in July 2024",
        f"{MAX}@2.4.1", *HOST, F.smooth_l1_loss, (X, X.flip(1)), ("aten::smooth_l1_loss",),
        mended={f"{MAX}@2.5.1": Met.WORKS},
    ),
    Report(
        "Max: a loss of many labels", "intel/torch-xpu-ops#897", 17,
        "`multilabel_margin_loss` and its gradient get kernels in October 2024",
        f"{MAX}@2.5.1", *HOST, F.multilabel_margin_loss,
        (X, torch.zeros(4, 6, dtype=torch.int64)),
        ("aten::multilabel_margin_loss", "aten::multilabel_margin_loss_forward"), mended=IN_2_6,
    ),
    Report(
        "Max: a softmax of what a mask leaves", "intel/torch-xpu-ops#930", 17,
        "`_masked_softmax` gets a kernel in October 2024, and has no way to the host before",
        f"{MAX}@2.5.1", Met.REFUSED, Because.NO_KERNEL,
        lambda x, mask: torch._masked_softmax(x, mask, 1),
        (X, torch.zeros(4, 6, dtype=torch.bool)), ("aten::_masked_softmax",), mended=IN_2_6,
    ),
    Report(
        "TensorRT: dropout in training", "pytorch/TensorRT#3390", 18,
        "`native_dropout` is in a list of nodes without converters",
        f"{TRT}@2.6.0", *HOST, lambda x: torch.native_dropout(x, 0.5, True), (X,),
        ("aten::native_dropout",),
    ),
    Report(
        "MPS: histc of many bins", "pytorch/pytorch#192164", 20,
        "a tensor of numbers by bins is made on the way: 50 ms for 1024 numbers and 256 bins, "
        "seven hundred times a kernel's time",
        f"{MPS}@2.14.1", Met.SLOW, Because.VALUE,
        lambda x: torch.histc(x, 256), (torch.linspace(-1, 1, 1024),), ("aten::histc",),
    ),
    Report(
        "CUDA: rows of no width renormalized", "pytorch/pytorch#195185", 22,
        "`embedding` with `max_norm` reads at no address where the table is 0 wide",
        "nvidia-a100@2.13.0", Met.REFUSED, Because.SHAPE,
        lambda at, table: F.embedding(at, table, max_norm=1.0),
        (torch.tensor([0]), torch.empty(20, 0)), ("aten::embedding_renorm_", "aten::embedding"),
    ),
    Report(
        "CUDA: a norm of groups in half", "pytorch/pytorch#183946", 25,
        "means and variances are cut to float16 on the way, until May 2026",
        "nvidia-h100@2.12.1", Met.SLOW, Because.DTYPE,
        lambda x: F.group_norm(x, 3), (FAR_FROM_ZERO,),
        ("aten::group_norm", "aten::native_group_norm"),
        mended={"nvidia-h100@2.14.1": Met.WORKS},
    ),
    Report(
        "MPS: volumes padded far by their edges", "pytorch/pytorch#102453", 26,
        "padding by the edge is refused where it is wider than the input, as if it were reflection",
        f"{MPS}@2.0.1", Met.REFUSED, Because.VALUE,
        lambda x: F.pad(x, (5, 5, 5, 5, 5, 5), mode="replicate"), (torch.ones(1, 1, 3, 32, 32),),
        ("aten::replication_pad3d",), mended={f"{MPS}@2.1.2": Met.WORKS},
    ),
    Report(
        "MPS: linear of a long transposed batch", "pytorch/pytorch#113586", 27,
        "an assertion of Metal ends the process where strides multiply to more than 2**31",
        f"{MPS}@2.12.1", Met.REFUSED, Because.LAYOUT, _of_a_transposed_batch,
        (LONG, torch.zeros(256, 256), torch.zeros(256)), ("aten::linear",),
    ),
)  # fmt: skip

_LEFT_OUT = {
    Why.KNOWN: """
        pytorch/pytorch#187229 pytorch/pytorch#187117 pytorch/TensorRT#4575
        pytorch/TensorRT#2513 pytorch/TensorRT#3025 pytorch/TensorRT#3777
        intel/torch-xpu-ops#3109 intel/torch-xpu-ops#4 pytorch/pytorch#187420
        pytorch/pytorch#196387 hiyouga/LlamaFactory#4165 hiyouga/LlamaFactory#4836
        hiyouga/LlamaFactory#3796 huggingface/diffusers#10428 hiyouga/LlamaFactory#8319
        hiyouga/LlamaFactory#3840 hiyouga/LlamaFactory#3779 hiyouga/LlamaFactory#7522
        pytorch/pytorch#97085 pytorch/pytorch#186989 ROCm/pytorch#3425 pytorch/pytorch#183864
        ROCm/pytorch#3407 openxla/xla#35744 ROCm/apex#36 pytorch/pytorch#183861
        ROCm/pytorch#2837 pytorch/xla#2702 pytorch/xla#6932 pytorch/xla#1233 pytorch/xla#1239
        pytorch/xla#8754 pytorch/xla#2405 pytorch/xla#4710 pytorch/xla#2588
        intel/torch-xpu-ops#898 intel/torch-xpu-ops#2271 pytorch/pytorch#176605
        intel/torch-xpu-ops#4604 intel/torch-xpu-ops#4623 pytorch/pytorch#94226
        Comfy-Org/ComfyUI#16458 kijai/ComfyUI-WanVideoWrapper#963 Comfy-Org/ComfyUI#6254
        pytorch/pytorch#102968 ROCm/MIOpen#3952 ROCm/legacy-rocm-build#4466 ROCm/TheRock#2458
        ROCm/TheRock#2485 flagos-ai/Torch-FL#6 flagos-ai/FlagGems#5953 flagos-ai/Torch-FL#288
        flagos-ai/Torch-FL#5 flagos-ai/FlagGems#3387 flagos-ai/FlagGems#5641
        hiyouga/LlamaFactory#975 NexusGPU/tensor-fusion#456 flagos-ai/FlagGems#6575
        flagos-ai/FlagGems#6014 flagos-ai/FlagGems#5954 flagos-ai/FlagGems#6286
        flagos-ai/FlagGems#6324 flagos-ai/FlagGems#5556 flagos-ai/FlagGems#4114
        flagos-ai/FlagGems#458 flagos-ai/FlagGems#298 flagos-ai/FlagGems-vllm#117
        flagos-ai/FlagGems#4248 flagos-ai/FlagGems#2812 flagos-ai/FlagPerf#770
        flagos-ai/FlagGems#5535 gpustack/gpustack#937 flagos-ai/vllm-plugin-FL#411
        InternLM/xtuner#984 cnstark/easytorch#70 safetensors/safetensors#535
        flagos-ai/FlagGems#5254 AMD-AGI/GEAK#24 open-mmlab/mmcv#1429 bytedance-iaas/vllm#63
        tenstorrent/tt-mlir#4494 flagos-ai/FlagGems#1126 flagos-ai/FlagGems#5354
        flagos-ai/FlagGems#5436 flagos-ai/FlagGems#3047 flagos-ai/Torch-FL#64
        flagos-ai/FlagGems#3049 intel/torch-xpu-ops#174 pytorch/xla#2629 pytorch/TensorRT#1809
        onnx/onnx-tensorrt#220 pytorch/TensorRT#2838 pytorch/TensorRT#867 pytorch/TensorRT#2663
        pytorch/TensorRT#2444 pytorch/TensorRT#662 pytorch/TensorRT#3410 pytorch/pytorch#184780
        pytorch/pytorch#180725 pytorch/pytorch#180709 pytorch/pytorch#94891
        pytorch/pytorch#145453 pytorch/pytorch#38764 pytorch/pytorch#188160
        pytorch/pytorch#196985 pytorch/pytorch#189420 pytorch/pytorch#176159
        pytorch/pytorch#135447 pytorch/pytorch#152094 pytorch/pytorch#194922
        pytorch/pytorch#189495 pytorch/pytorch#197636 pytorch/pytorch#122045
        pytorch/pytorch#129207 pytorch/pytorch#111634 pytorch/pytorch#195163
        pytorch/pytorch#16998 NVIDIA/MinkowskiEngine#43 pytorch/xla#1657 pytorch/xla#662
        pytorch/xla#6090 pytorch/xla#2602 pytorch/xla#6002 pytorch/xla#3297
        pytorch/pytorch#196624 pytorch/pytorch#145350 ROCm/rocm-libraries#6865
        pytorch/pytorch#18675 ROCm/pytorch#2495 pytorch/pytorch#88542 mratsim/Arraymancer#690
    """,
    Why.NO_PROGRAM: """
        pytorch/pytorch#74438 pytorch/pytorch#85596 pytorch/pytorch#183065
        pytorch/pytorch#182255 pytorch/TensorRT#3051 intel/torch-xpu-ops#382
        intel/torch-xpu-ops#1119 intel/torch-xpu-ops#1134 pytorch/pytorch#184337
        pytorch/pytorch#194235 ROCm/pytorch#1857 ROCm/pytorch#1858 pytorch/pytorch#135442
        pytorch/pytorch#187109 pytorch/pytorch#187280 pytorch/TensorRT#4051
        flagos-ai/FlagGems#5067 intel/torch-xpu-ops#487 intel/torch-xpu-ops#472
        pytorch/pytorch#68418
    """,
    Why.UNCONFIRMED: """
        pytorch/pytorch#148512 pytorch/pytorch#105801 flagos-ai/FlagGems#6582
        pytorch/pytorch#195208 pytorch/pytorch#189831 pytorch/pytorch#193691
        pytorch/pytorch#188958 pytorch/pytorch#193099 pytorch/pytorch#188959
        pytorch/pytorch#193102 pytorch/pytorch#191567 pytorch/pytorch#195186
        pytorch/pytorch#195187 pytorch/pytorch#195188 pytorch/pytorch#191848
        pytorch/pytorch#193097
    """,
    Why.NO_TARGET: """
        pytorch/pytorch#82307 pytorch/TensorRT#2342 pytorch/TensorRT#2404 pytorch/TensorRT#4353
        pytorch/xla#2703 pytorch/xla#7251 pytorch/pytorch#57904 pytorch/pytorch#78930
        pytorch/pytorch#79935 pytorch/pytorch#80893 pytorch/pytorch#42588 pytorch/pytorch#39935
        pytorch/xla#880 pytorch/xla#1634 pytorch/xla#8258 pytorch/xla#8111 ROCm/MIOpen#3964
        ROCm/MIOpen#1916 ROCm/pytorch#423 ROCm/pytorch#871 mixa3607/ML-gfx906#6
        pytorch/TensorRT#803 kulinseth/pytorch#137 kulinseth/pytorch#290
        riffusion/riffusion-hobby#15 pytorch/xla#7969 pytorch/xla#337 pytorch/xla#471
        pytorch/xla#250 pytorch/xla#8378 pytorch/xla#7905 pytorch/xla#8228 llvm/torch-mlir#2531
        onnx/onnx-tensorrt#221 torch/nn#907 Oneflow-Inc/oneflow#8728 pytorch/pytorch#83745
        flagos-ai/FlagGems#6226 pytorch/pytorch#143487 pytorch/pytorch#143488
        pytorch/pytorch#17870 pytorch/pytorch#96988 ROCm/pytorch#2428 ROCm/pytorch#2427
        ROCm/pytorch#2430 rocm-arch/python-pytorch-rocm#40 flagos-ai/FlagGems#6046
        flagos-ai/FlagGems#5760 pytorch/pytorch#193265 pytorch/pytorch#193263
        pytorch/pytorch#45759 pytorch/pytorch#99990 pytorch/pytorch#99251 pytorch/pytorch#45577
    """,
    Why.NO_CALL: """
        pytorch/pytorch#148350 ROCm/MIOpen#3663 microsoft/onnxruntime#9399
        flagos-ai/FlagGems#5100 pytorch/torchdynamo#819 pytorch/pytorch#138441
        intel/torch-xpu-ops#5135 pytorch/pytorch#35162 pytorch/pytorch#139841
        pytorch/pytorch#173628 pytorch/pytorch#194842 pytorch/pytorch#174591
        intel/torch-xpu-ops#1111 huggingface/pytorch-image-models#1040
        PaddlePaddle/PaddleClas#1192 PaddlePaddle/PaddleClas#1191 k2-fsa/icefall#300
        dotnet/TorchSharp#806 Comfy-Org/ComfyUI#12202 Comfy-Org/ComfyUI#5533
        Comfy-Org/ComfyUI#6995 Comfy-Org/ComfyUI#11626 Comfy-Org/ComfyUI#10866
        WhisperSpeech/WhisperSpeech#56 ROCm/pytorch#2408 ROCm/pytorch#2409 ROCm/pytorch#2410
        ROCm/rocm-libraries#11586 flagos-ai/FlagGems#4101 flagos-ai/FlagGems#4852
        flagos-ai/FlagGems-vllm#762 flagos-ai/FlagGems-vllm#636 flagos-ai/FlagGems#5865
        pytorch/pytorch#185609 pytorch/pytorch#156494 pytorch/pytorch#190115
        NVIDIA/cudnn-frontend#122 pytorch/xla#6468 pytorch/pytorch#187455 pytorch/pytorch#188159
        dogkeeper886/ollama37#199 dogkeeper886/ollama37#200 tenstorrent/tt-metal#9908
        tenstorrent/tt-metal#48578 tenstorrent/tt-metal#43367 huggingface/candle#3717
        pytorch/executorch#20089 pytorch/pytorch#191601 pytorch/executorch#7846
        PaddlePaddle/Paddle#51286 PaddlePaddle/PaddleCustomDevice#462 PaddlePaddle/Paddle#48222
        pytorch/executorch#16727 tile-ai/tilelang-ascend#1285 PFCCLab/PaddleAPITest#438
        pytorch/pytorch#100234 pytorch/pytorch#95166 NVIDIA/MatX#943 JuliaLang/julia#20386
        lcompilers/lpython#226 kazulagi/plantFEM#264 propelml/propel#47 lfortran/lfortran#7930
        Bears-R-Us/arkouda#4681 lfortran/lfortran#3532 JuliaLang/julia#1877
        lcompilers/lpython#186 IntelPython/dpnp#671 alifahrri/nmtools#295
    """,
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)
