"""What users of AMD's and NVIDIA's GPUs, of TensorRT and of TPUs met, by searches of threads of the
fourth round.
"""

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812  # as everybody writes it
from torch.nn.grad import conv1d_weight

from tests.user_controls.control import Learned
from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "ROCm nn.LSTM GRU MIOpen RNN wrong gradient or miopenStatus error torch 2.5 2.6 2.7 half "
    "bidirectional",
    "ROCm torch.linalg hipsolver eigh svd slow or wrong MI210 MI300X torch.linalg.eigh hang "
    "cholesky batched",
    "AMD ROCm Windows RX 9070 XT Strix Halo gfx1151 gfx1201 torch op fails conv2d VAE attention "
    "NaN wrong bf16",
    "[ROCm] unsupported hipBLASLt int8 _int_mm _scaled_mm MXFP8 mxfp4 grouped gemm fails MI300X "
    "MI355X pytorch torchao pull request enable",
    "[ROCm] torch.nn.functional interpolate grid_sample max_pool batch_norm channels_last memory "
    "fault or assertion AMD GPU fix merged 2025",
    "ROCm flex_attention sdpa efficient attention bias dropout head dim 512 nested tensor not "
    "supported AMD transformers fails",
    "ROCm hipfft rfft irfft wrong result torch.fft AMD gfx90a odd size or batched complex",
    "ROCm pytorch sparse tensor matmul coalesce hipsparse spmm bf16 error or missing, index_reduce "
    "unique mode sort on AMD wrong",
    "vllm ROCm [Bugfix] torch op workaround on AMD: torch.topk, index_copy, scaled_mm padding, "
    "conv3d slow, F.linear skinny gemm wrong",
    "AMD GPU user training nan loss ROCm 6.x PyTorch 2.4 operator bug isolated minimal repro "
    "layer_norm backward embedding gelu RX 7900 XTX",
    "pytorch module: rocm issue torch.nn.CTCLoss or torch.multinomial or torch.bucketize or cdist "
    "HIP error gfx942 gfx90a 2.7 2.8 2.9",
    'ROCm not supported "TODO: ROCm" torch op raises RuntimeError on HIP build: '
    "cudnn_convolution_relu, _fused_rms_norm, _cslt_sparse_mm, _convert_weight_to_int4pack, nvfp4",
    'CUDA torch.linalg or optimizer capturable fused error "expected" device user issue H100 torch '
    "2.10 2.11 2.12 fix merged silent wrong result kernel",
    'torch CUDA sparse CSR BSR semi-structured matmul error unsupported dtype half int8 "sparse" '
    "GPU RuntimeError issue 2024 2025",
    "torch._int_mm torch._scaled_mm _weight_int4pack_mm CUDA shape requirement error "
    '"to be divisible by" A100 RTX 4090 H100 torchao user',
    "Jetson Orin pytorch operator error cudnn conv bf16 fp8 attention not supported sm87 torch 2.x",
    "Tesla T4 bfloat16 flash attention not supported sm75 torch scaled_dot_product_attention or "
    "compile slow transformers vllm Turing",
    'torch.histc bincount deterministic CUDA scatter_add index_add "does not have a deterministic '
    'implementation" use_deterministic_algorithms user model error upsample cumsum',
    "CUDA grouped conv_transpose or depthwise conv3d bfloat16 slow or CUDNN_STATUS_NOT_SUPPORTED "
    "fails GET was unable to find an engine torch 2.5 2.6 2.7 2.8",
    'torch.multinomial CUDA "number of categories cannot exceed 2^24" or torch.randperm or topk or '
    "median nondeterministic GPU error language model vocabulary",
    "\"not implemented for 'Float8_e4m3fn'\" CUDA OR CPU mul add index copy ComfyUI diffusers fp8 "
    'model RuntimeError "ufunc_add_CUDA" "mul_cuda"',
    "nested tensor jagged torch.nested CUDA operator not implemented NestedTensorCUDA error "
    "softmax layer_norm cat index user",
    "Torch-TensorRT converter wrong output for aten.avg_pool pad reflect floor_divide remainder "
    "integer division mismatch dynamo bug fix pull request",
    "pytorch CUDA conv1d conv2d large batch or channels wrong result silent cudnn float16 H100 "
    "A100 issue 2025 module: correctness (silent)",
    "CUDA torch.cdist torch.pdist torch.kthvalue torch.median torch.mode torch.unique_consecutive "
    "wrong or CUDA error large input GPU differs from CPU 2024 2025 2026",
    "CUDA bessel igamma polygamma special function half complex lowest precision wrong GPU vs CPU "
    "torch.special issue",
    'Torch-TensorRT unsupported aten op RuntimeError "Conversion of function" not currently '
    "supported dynamo torch.ops.aten",
    "Torch-TensorRT LSTM GRU complex fft roll embedding_bag scatter topk sort limit k 3840 "
    "converter failure TensorRT 10",
    "Torch-TensorRT NaN or wrong accuracy FP16 BF16 layer_norm softmax attention mask reduce sum "
    "converter issue reported fixed 2.6 2.7 2.8 2.9",
    "pytorch/TensorRT ↔ [Converter] Support aten op dynamo converter request not implemented yet "
    "lowers falls to PyTorch",
    "pytorch/TensorRT 🐛 [Bug] dynamo compile fails index_select index_put expand "
    "repeat_interleave masked_fill bool tensor input TypeError AttributeError converter",
    "pytorch/TensorRT fix converter pull request 2025 2026 scatter slice squeeze group_norm conv "
    "deconv upsample linear wrong shape scalar input regression",
    "pytorch/xla op support request aten not lowered special functions linalg fft complex TPU user "
    "issue 2023 2024 torch.linalg torch.special",
    "pytorch/xla fix lowering pull request einsum embedding_bag nan_to_num clamp argmax prod var "
    "std pixel_shuffle 2023 2024 2025 wrong dtype or shape",
    "torch_xla TPU stable diffusion, ViT, GNN or RNN model user: slow because aten:: op fallback, "
    "or error; torch_xla 2.1 2.2 2.3 TPU v3-8 Kaggle Colab",
    "XLA_USE_EAGER or lazy tensor pytorch/xla wrong gradient backward max_pool where clamp expand "
    "index double backward TPU differs from CPU",
    "pytorch/xla uint8 int8 int16 float16 bool bitwise shift arithmetic cast overflow wrong result "
    "XLA device unlike CPU",
    "torch_xla random generator dropout torch.manual_seed Generator device xla not supported "
    "randint bernoulli TPU error",
)
TPU = "google-tpu-v4"
H100 = "nvidia-h100"

EIGHT = torch.float8_e4m3fn
SYMMETRIC = torch.eye(64).expand(100, 64, 64) * 2


def _norm(weight: Tensor, x: Tensor) -> Tensor:
    return F.layer_norm(x, (6,), weight)


def _sparse(where: Tensor, values: Tensor, dense: Tensor) -> Tensor:
    found: Tensor = torch.sparse.mm(torch.sparse_coo_tensor(where, values, (3, 3)), dense)
    return found


def _scaled(a: Tensor, b: Tensor, scale: Tensor) -> Tensor:
    return torch._scaled_mm(a, b.t(), scale_a=scale, scale_b=scale, out_dtype=torch.bfloat16)


def _weights_gradient(x: Tensor, grad: Tensor) -> Tensor:
    found: Tensor = conv1d_weight(x, (64, 1, 4), grad, padding=3, groups=64)
    return found


def _pooled(at: Tensor, table: Tensor, offsets: Tensor) -> Tensor:
    return F.embedding_bag(at, table, offsets, mode="max")


REPORTS = (
    Report(
        "CUDA: eigh of many matrices", "pytorch/pytorch#174674", 1,
        "`eigh` of a batch takes 914 ms, a hundred times as long as by another driver of cuSOLVER",
        f"{H100}@2.10.0", Met.SLOW, Because.SHAPE,
        torch.linalg.eigh, (SYMMETRIC,), ("aten::_linalg_eigh", "aten::linalg_eigh"),
    ),
    Report(
        "CUDA: eig without MAGMA", "pytorch/pytorch#183806", 1,
        "`eig` is 30 to 130 times slower with 2.11 and CUDA 13 than with 2.5",
        f"{H100}@2.11.0", Met.SLOW, Because.OTHER,
        torch.linalg.eig, (torch.eye(64) * 2,), ("aten::linalg_eig",),
    ),
    Report(
        "MI300X: layer_norm in half, backwards", "pytorch/pytorch#140259", 9,
        "gradients of layer_norm truncate mean and deviation to the input's dtype",
        "amd-mi300x@2.5.1", Met.WRONG, Because.DTYPE,
        Learned(_norm, torch.ones(6).half()), (torch.linspace(-1, 1, 24).view(4, 6).half(),),
        ("aten::native_layer_norm_backward",), training=True,
        mended={"amd-mi300x@2.6.0": Met.WORKS},
    ),
    Report(
        "CUDA: sparse times dense in half", "ArthurLeoM/peft-givens#2", 13,
        '"addmm_sparse_cuda" is not implemented for Half',
        "nvidia-a100@2.5.1", Met.REFUSED, Because.DTYPE, _sparse,
        (torch.tensor([[0, 1, 2], [1, 2, 0]]), torch.ones(3).half(), torch.ones(3, 2).half()),
        ("aten::addmm", "aten::mm", "aten::_sparse_mm", "aten::_sparse_addmm"),
    ),
    Report(
        "CUDA: int8 products of few rows", "pytorch/pytorch#178469", 14,
        "`_int_mm` wants more than 16 rows",
        f"{H100}@2.11.0", Met.REFUSED, Because.SHAPE, torch._int_mm,
        (torch.ones(8, 64, dtype=torch.int8), torch.ones(64, 64, dtype=torch.int8)),
        ("aten::_int_mm",),
    ),
    Report(
        "CUDA: float8 products of an odd width", "sgl-project/sglang#19751", 14,
        "the inner size must be divisible by 16, and is 1368",
        f"{H100}@2.9.1", Met.REFUSED, Because.SHAPE, _scaled,
        (torch.ones(512, 1368).to(EIGHT), torch.ones(64, 1368).to(EIGHT), torch.ones(())),
        ("aten::_scaled_mm",),
    ),
    Report(
        "CUDA: float8 products of 15 columns", "pytorch/ao#1268", 14,
        "both sizes of the right side must be divisible by 16: a layer with 15 outputs is refused",
        f"{H100}@2.5.1", Met.REFUSED, Because.SHAPE, _scaled,
        (torch.ones(32, 32).to(EIGHT), torch.ones(15, 32).to(EIGHT), torch.ones(())),
        ("aten::_scaled_mm",),
    ),
    Report(
        "CUDA: gradient of depthwise weights in half", "pytorch/pytorch#136812", 23,
        "`conv1d_weight` of float16 fails in cuDNN with a bad parameter, and runs in bfloat16",
        "nvidia-a100@2.5.1", Met.REFUSED, Because.DTYPE, _weights_gradient,
        (torch.ones(2, 64, 32).half(), torch.ones(2, 64, 35).half()),
        ("aten::convolution_backward",),
    ),
    Report(
        "CUDA: polygamma of a high order", "pytorch/pytorch#166409", 25,
        "`polygamma` of order 200 is NaN on CUDA where it is infinite on the CPU",
        "nvidia-a100@2.6.0", Met.WRONG, Because.VALUE,
        lambda x: torch.polygamma(200, x), (torch.linspace(-2, 2, 10),),
        ("aten::polygamma", "aten::special_polygamma"),
    ),
    Report(
        "TensorRT: layer_norm in half", "pytorch/TensorRT#4061", 28,
        "TensorRT warns of layer_norm in FP16 after attention, whose sums may overflow",
        "nvidia-tensorrt@2.10.0", Met.SLOW, Because.DTYPE,
        lambda x, w, b: F.layer_norm(x, (16,), w, b),
        (torch.ones(2, 8, 16).half(), torch.ones(16).half(), torch.zeros(16).half()),
        ("aten::native_layer_norm", "aten::layer_norm"),
    ),
    Report(
        "TPU: view_as_complex", "pytorch/xla#4838", 32,
        "`view_as_complex` is a view without an implementation, and cannot fall back",
        f"{TPU}@r2.0", Met.REFUSED, Because.NO_KERNEL,
        torch.view_as_complex, (torch.ones(3, 4, 2),), ("aten::view_as_complex",),
    ),
    Report(
        "TPU: bags of a largest embedding", "pytorch/xla#7588", 35,
        "`embedding_bag` with `max` is wrong where nothing is learned",
        f"{TPU}@r2.4", Met.WRONG, Because.VALUE, _pooled,
        (torch.tensor([1, 2, 3, 4, 5]), torch.linspace(-1, 1, 50).view(10, 5),
         torch.tensor([0, 3])),
        ("aten::_embedding_bag_forward_only", "aten::_embedding_bag", "aten::embedding_bag"),
    ),
    Report(
        "TPU: int32 plus a scalar of int64, as int64", "pytorch/xla#6538", 36,
        "casting the sum to int64 fails: \"shift-left with different element types\"",
        f"{TPU}@r2.2", Met.REFUSED, Because.DTYPE,
        lambda x: (x + torch.tensor(1)).long(), (torch.arange(10, dtype=torch.int32).view(1, 10),),
        ("aten::_to_copy", "aten::add"),
    ),
)  # fmt: skip

_LEFT_OUT = {
    Why.KNOWN: """
        pytorch/pytorch#189618 pytorch/pytorch#177834 pytorch/pytorch#191912
        ROCm/legacy-rocm-build#6314 pytorch/pytorch#175585 ROCm/pytorch#2837 pytorch/pytorch#143465
        ROCm/pytorch#2046 pytorch/pytorch#180731 pytorch/ao#1066 pytorch/pytorch#117847
        ROCm/pytorch#2389 pytorch/pytorch#138864 pytorch/pytorch#189849 ROCm/pytorch#2239
        pytorch/pytorch#187681 pytorch/pytorch#183864 pytorch/pytorch#183861 pytorch/pytorch#184826
        ROCm/pytorch#3425 pytorch/pytorch#136291 pytorch/pytorch#104147 pytorch/pytorch#150016
        pytorch/pytorch#107671 pytorch/pytorch#132928 pytorch/pytorch#41069 pytorch/pytorch#132009
        pytorch/ao#1561 cai4cai/torchsparsegradutils#53 pytorch/ao#2376 pytorch/pytorch#153209
        laksjdjf/cgem156-ComfyUI#2 pytorch/pytorch#58861 pytorch/pytorch#163539
        pytorch/pytorch#133093 pytorch/TensorRT#2507 pytorch/TensorRT#2537 pytorch/TensorRT#3043
        pytorch/TensorRT#3777 pytorch/TensorRT#2487 pytorch/TensorRT#3251 pytorch/xla#6017
        pytorch/xla#5764 pytorch/xla#9215 pytorch/xla#6536 pytorch/xla#8746 pytorch/xla#1718
        pytorch/xla#2702 pytorch/xla#3234 intel/torch-xpu-ops#889 pytorch/pytorch#168978
        pytorch/pytorch#133114
    """,
    Why.NO_TARGET: """
        ROCm/rocm-libraries#10551 ROCm/legacy-rocm-build#6034 ROCm/rocm-libraries#4070
        Nerogar/OneTrainer#1716 evshiron/rocm_lab#4 ROCm/TheRock#8095 corundex/ComfyUI-ROCm#4
        intel/intel-extension-for-pytorch#439 ROCm/pytorch#1858 ROCm/pytorch#1857
        Said-Akbar/triton-gcn5#4 rocm-arch/rocm-arch#583 ROCm/rocFFT#219 ROCm/rocFFT#464
        pytorch/pytorch#76071 pytorch/pytorch#63152 pytorch/pytorch#67140 pytorch/pytorch#18985
        pytorch/pytorch#6219 pytorch/pytorch#5672 pytorch/pytorch#33430 ROCm/pytorch#355
        ROCm/TheRock#1844 pytorch/pytorch#103973 pytorch/pytorch#120794 pytorch/pytorch#147626
        pytorch/pytorch#35823 pytorch/pytorch#35826 rusty1s/pytorch_sparse#294
        pytorch/pytorch#92843 pytorch/pytorch#72234 pytorch/pytorch#88571 pytorch/pytorch#1664
        pytorch/pytorch#4107 pytorch/pytorch#1485 pytorch/pytorch#871 pytorch/pytorch#2044
        pytorch/pytorch#37403 pytorch/pytorch#22086 pytorch/pytorch#59756 pytorch/pytorch#59515
        pytorch/pytorch#105941 pytorch/pytorch#25241 pytorch/pytorch#57690 pytorch/pytorch#30818
        pytorch/pytorch#27209 pytorch/pytorch#46814 pytorch/pytorch#15511 pytorch/pytorch#49928
        pytorch/pytorch#90261 pytorch/TensorRT#417 pytorch/TensorRT#662 pytorch/TensorRT#1912
        pytorch/TensorRT#1778 pytorch/TensorRT#763 pytorch/TensorRT#3873 pytorch/TensorRT#1259
        pytorch/TensorRT#296 pytorch/TensorRT#1252 pytorch/TensorRT#2404 pytorch/xla#245
        pytorch/xla#3070 pytorch/xla#2891 pytorch/xla#4040 pytorch/xla#2598 pytorch/xla#2218
        pytorch/xla#3080 pytorch/xla#2587 pytorch/xla#3266 pytorch/xla#957 pytorch/xla#2576
        pytorch/xla#8241 pytorch/xla#1796 pytorch/xla#1776 pytorch/xla#567 pytorch/xla#865
        pytorch/xla#869 pytorch/xla#861 pytorch/xla#863 pytorch/xla#354 pytorch/xla#2092
        pytorch/xla#2532 pytorch/xla#3868 pytorch/pytorch#94702 pytorch/pytorch#35450
        pytorch/TensorRT#427 pytorch/pytorch#106840 pytorch/pytorch#98316 pytorch/pytorch#50469
    """,
    Why.NO_PROGRAM: """
        ROCm/MIOpen#2340 pytorch/ao#2066 pytorch/pytorch#151360 pytorch/ao#4274 pytorch/ao#4275
        ROCm/pytorch#2599 ROCm/pytorch#2242 pytorch/pytorch#163745 pytorch/pytorch#158281
        ROCm/pytorch#2104 ROCm/pytorch#2108 ROCm/TheRock#6281 ROCm/pytorch#1930 ROCm/pytorch#1908
        ROCm/pytorch#3564 ROCm/TheRock#2662 allenai/OLMo#437 turboderp-org/exllamav2#510
        pytorch/pytorch#136397 ROCm/rocm-libraries#5752 pytorch/ao#3834 pytorch/pytorch#135021
        pytorch/pytorch#151610 pytorch/torchtitan#3436 pytorch/pytorch#108569
        renezurbruegg/icg_net#7 huggingface/transformers#45369 pytorch/pytorch#2576
        pytorch/pytorch#43115 Comfy-Org/ComfyUI#14285 aredden/flux-fp8-api#44
        capitan01R/ComfyUI-Flux2Klein-Enhancer#16 cubiq/ComfyUI_IPAdapter_plus#413
        Comfy-Org/ComfyUI#10910 Haoming02/sd-webui-forge-classic#690 Comfy-Org/ComfyUI#4989
        Comfy-Org/ComfyUI#4577 pytorch/pytorch#136310 pytorch/pytorch#150700
        pytorch/pytorch#128791 pytorch/TensorRT#3581 pytorch/TensorRT#3060 pytorch/TensorRT#3127
        pytorch/TensorRT#3065 pytorch/TensorRT#3010 pytorch/TensorRT#2744 pytorch/TensorRT#2443
        pytorch/TensorRT#2642 pytorch/TensorRT#3371 pytorch/TensorRT#3019 pytorch/TensorRT#2723
        pytorch/TensorRT#2527 pytorch/TensorRT#2181 pytorch/xla#5982 pytorch/xla#5932
        pytorch/xla#6002 pytorch/pytorch#190946 pytorch/pytorch#89492 pytorch/pytorch#75693
    """,
    Why.UNCONFIRMED: """
        huggingface/transformers#30056 pytorch/pytorch#140514 pytorch/pytorch#133334
        pytorch/pytorch#161841 pytorch/pytorch#140701 pytorch/pytorch#137817 pytorch/pytorch#140348
    """,
    Why.NO_CALL: """
        ROCm/pytorch#402 ROCm/pytorch#818 ROCm/rocm-jax#278 ROCm/pytorch#2680 pytorch/pytorch#115177
        ROCm/TheRock#7691 ggml-org/llama.cpp#25836 ROCm/legacy-rocm-build#5834 pytorch/ao#4130
        pytorch/torchtitan#2460 ROCm/ROCmValidationSuite#956 ROCm/pytorch#3337 ROCm/pytorch#3339
        ROCm/pytorch#3338 ROCm/pytorch#2495 pytorch/pytorch#18675 ROCm/aiter#92
        pytorch/pytorch#138493 xlite-dev/ffpa-attn#268 ROCm/flash-attention#27
        mpicbg-scicomp/gearshifft#126 vincefn/pyvkfft#32 cupy/cupy#3896 ROCm/pytorch#924
        ROCm/torch_migraphx#123 tensorflow/tensorflow#34925 vllm-project/vllm#16198
        vllm-project/vllm#42810 ROCm/vllm#390 ggml-org/llama.cpp#26399 vllm-project/vllm#46222
        ggml-org/llama.cpp#28313 ROCm/MIOpen#2342 ROCm/TheRock#5358
        rocm-arch/python-pytorch-rocm#30 huggingface/sentence-transformers#2903
        pytorch/pytorch#138427 arch4edu/arch4edu#101 pytorch/pytorch#122040 triton-lang/triton#589
        vllm-project/vllm#16656 pytorch/pytorch#86714 pytorch/pytorch#56926 pytorch/pytorch#57461
        conda-forge/pytorch-cpu-feedstock#527 NVIDIA/TensorRT#4301 pytorch/pytorch#190975
        pytorch/pytorch#105244 modular/modular#6726 pytorch/pytorch#91735 deepspeedai/DeepSpeed#6723
        RuBP17/AlphaDou#6 KlingAIResearch/LivePortrait#47 BioMedIA/deepali#47 pytorch/pytorch#90006
        torch/cutorch#714 pytorch/pytorch#132172 pytorch/pytorch#159662 pytorch/pytorch#132170
        pytorch/pytorch#131518 pytorch/pytorch#130538 pytorch/pytorch#132212 pytorch/pytorch#131519
        pytorch/benchmark#2385 pytorch/nestedtensor#386 pytorch/pytorch#138180 apache/tvm#14795
        keras-team/keras#19979 pytorch/pytorch#105683 pytorch/TensorRT#2297 llvm/torch-mlir#4169
        flagos-ai/FlagGems#4924 llvm/torch-mlir#718 pytorch/executorch#14787 pytorch/pytorch#16168
        pytorch/pytorch#25662 pytorch/pytorch#4399 denizyuret/Knet.jl#294 pytorch/pytorch#46183
        pytorch/pytorch#143648 google-deepmind/torch-cephes#37 pytorch/TensorRT#2157
        pytorch/TensorRT#2071 pytorch/TensorRT#2102 grimoire/torch2trt_dynamic#35
        pytorch/TensorRT#2199 NVIDIA/TensorRT#3229 NVIDIA/TensorRT#3676 NVIDIA/TensorRT#4510
        NVIDIA/TensorRT#1081 NVIDIA/TensorRT#3321 NVIDIA/TensorRT#3866
        google-ai-edge/litert-torch#808 NVIDIA-AI-IOT/torch2trt#556 PaddlePaddle/Paddle#79449
        NVIDIA/TensorRT#3656 NVIDIA/TensorRT#3657 NVIDIA/TensorRT#3999 NVIDIA/TensorRT#3101
        NVIDIA/TensorRT#3292 NVIDIA/TensorRT#726 NVIDIA/TensorRT#1408 NVlabs/FB-BEV#67
        pytorch/TensorRT#2145 pytorch/TensorRT#1818 pytorch/TensorRT#2039 pytorch/TensorRT#1493
        pytorch/pytorch#123535 pytorch/pytorch#97081 pytorch/TensorRT#2106 pytorch/pytorch#106580
        NVIDIA-AI-IOT/torch2trt#191 pytorch/TensorRT#2751 pytorch/pytorch#83689
        pytorch/pytorch#33152 nod-ai/AMD-SHARK-ModelDev#347 pytorch/xla#7325 pytorch/pytorch#119187
        tenstorrent/tt-mlir#5007 pytorch/pytorch#85433 pytorch/pytorch#81427 pytorch/xla#7936
        pytorch/xla#9020 pytorch/pytorch#62329 pytorch/xla#8535 pytorch/xla#7294 pytorch/xla#8222
        pytorch/xla#6609 pytorch/xla#6610 pytorch/pytorch#59582 tenstorrent/tt-xla#1314
        jax-ml/jax#39025 vllm-project/vllm#16172 vllm-project/vllm#6981 pytorch/xla#7340
        tenstorrent/tt-xla#3365 pytorch/pytorch#90097 candle-org/MindAct#2529 pytorch/xla#9159
    """,
    Why.OTHERS: """
        ROCm/composable_kernel#1757 thu-ml/SageAttention#149 inclusionAI/cuLA#41 NVIDIA/apex#1736
        meta-pytorch/float8_experimental#264 vllm-project/vllm#25527 vllm-project/vllm#17918
        dusty-nv/jetson-containers#1220 facebookresearch/xformers#944 mistralai/mistral-inference#80
        sipie800/ComfyUI-PuLID-Flux-Enhanced#48 Haoming02/sd-webui-forge-classic#408
        Dao-AILab/flash-attention#449 Dao-AILab/flash-attention#887 Dao-AILab/flash-attention#542
        Dao-AILab/flash-attention#2379 Dao-AILab/flash-attention#1533 Dao-AILab/flash-attention#787
        vllm-project/vllm#45375 Dao-AILab/flash-attention#330 Mega4alik/ollm#55
        Dao-AILab/flash-attention#762 vllm-project/vllm#4246 Dao-AILab/flash-attention#720
        1CatAI/1Cat-vLLM#612
    """,
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)
