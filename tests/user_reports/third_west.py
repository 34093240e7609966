"""What users of Intel's, AMD's and NVIDIA's GPUs met, by searches of threads of the third round."""

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_controls.control import Learned
from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "Intel Arc ComfyUI XPU error operator not implemented or wrong image B580 A770",
    "transformers model on Intel XPU fails NotImplementedError aten XPU test skip fix Arc "
    "Battlemage 2025 2026",
    "Intel GPU XPU float64 double not supported Arc iGPU model error cast complex rotary "
    "embedding workaround",
    "torch.xpu conv or matmul returns NaN or wrong values on Lunar Lake Battlemage half "
    "precision, correct on CPU",
    "vllm or ipex-llm XPU Intel GPU torch op missing _scaled_mm int4 fp8 not implemented for XPU",
    "torch-xpu-ops user bug report 2026 silent incorrect result operator XPU minimal reproducer "
    "Arc B580 fixed in nightly",
    "xpu torch.compile or eager RuntimeError batch_norm group_norm layer_norm softmax dtype "
    "mismatch Half Float XPU torch-xpu-ops",
    "XPU torch.nonzero unique index out of bounds embedding cat stack large tensor error Intel "
    "Max 1550 PVC",
    "torch-xpu-ops ai_generated operator on XPU returns shape dtype differs from CPU nightly 2026 "
    "parity check fails",
    "XPU operator not implemented NotImplementedError aten torchbench model inference float16 "
    "torch-xpu-ops 2025 conv depthwise fft quantized",
    "AMD Radeon RX 7900 XTX ComfyUI ROCm error or black image VAE decode HIP error operator",
    "vllm ROCm MI300X torch op RuntimeError not supported on AMD gfx942 model fails, works with "
    "workaround",
    "flash attention scaled_dot_product_attention ROCm AMD wrong output backward NaN gfx90a "
    "gfx1100 2.5 2.6 2.7 aotriton bug",
    "pytorch ROCm bug report operator gives wrong result MI210 MI250X MI300X user reproduces with "
    "small script closed fixed 2024 2025",
    "[ROCm] fix hipify kernel launch grid dim overflow pytorch embedding cat layernorm 2026 MI355",
    "fp8 float8 e4m3fn vs e4m3fnuz ROCm MI300X torchao torchtune error _scaled_mm rowwise not "
    "supported hipblaslt",
    "torch ROCm RX 7900 XTX training RuntimeError MIOpen batchnorm conv1d ctc rnn dtype half "
    "fails, works on NVIDIA, whisper TTS nnUNet",
    "pytorch ROCm skipIfRocm unsupported cusparse semi-structured int4 nested tensor cudnn only "
    "operator raises on AMD",
    "[ROCm] pull request fix incorrect result torch operator RDNA wave32 gfx1100 warp size "
    "reduction topk softmax sort wrong",
    "[XPU] pull request pytorch fix onednn conv linear quantized fp16 integer matmul error on "
    "Intel GPU merged 2025 2026",
    "torch-xpu-ops fix kernel pull request wrong output when input non-contiguous empty or large "
    "upsample pooling index fill 2025 2026",
    'CUDA operator raises "not implemented for" after upgrade torch 2.9 2.10 2.11 user script '
    "H100 RTX 4090 fix merged",
    "pytorch cuda conv3d slow bfloat16 channels_last cudnn 9 regression 2.9 Wan VAE qwen-vl H100",
    "torch.fft half precision cuFFT only supports dimensions whose sizes are powers of two CUDA "
    "float16 rfft stft error",
    "torch.linalg.lstsq CUDA driver gels rank deficient wrong or error, lu pivot False, solve_ex "
    "batched GPU only",
    "adaptive_avg_pool2d max_pool backward channels_last CUDA error too many resources shared "
    "memory large output 2.x",
    "flash attention backward head_dim 192 256 RTX 3090 4090 sm86 sm89 dropout requires A100 H100 "
    "scaled_dot_product_attention error",
    "scaled_dot_product_attention attn_mask misaligned stride expand efficient attention CUDA "
    "RuntimeError last dimension alignment mask bool float",
    "grid_sample interpolate max_unpool3d pooling uint8 int CUDA \"not implemented for 'Byte'\" "
    "or 'Long' GPU torchvision transforms v2",
    "MIOpen find db conv slow or fails fp16 bf16 depthwise grouped dilated 3d conv MI250 MI300 "
    "rocm-libraries issue pytorch",
    "rocm-libraries rocBLAS hipBLASLt hipSOLVER rocSPARSE bug wrong result torch reproducer "
    "MI300X gemm complex batched 2025 2026",
    "ROCm RX 7900 XT gfx1100 pytorch operation unsupported error flash attention bitsandbytes fp8 "
    "int4 torchao not supported RDNA3",
    'MI250 gfx90a float8 bf16 torch op "only supported on" MI300 error pytorch ROCm check arch '
    "fails CDNA2",
    "ROCm pytorch index_put atomicAdd bf16 embedding backward slow scatter_add MI300X performance "
    "compared H100 operator",
)
XPU, MAX = "intel-arc@2.5.1", "intel-max"
MI300X = "amd-mi300x"
NORM = ("aten::layer_norm", "aten::native_layer_norm")
CONV3D = (
    "aten::conv3d", "aten::convolution", "aten::cudnn_convolution", "aten::slow_conv_dilated3d",
)  # fmt: skip

X = torch.linspace(-1, 1, 24).view(4, 6)
MANY = torch.zeros(74544, dtype=torch.int64)
DEFICIENT = torch.arange(1, 10, dtype=torch.float32).view(3, 3)


def _angles(position: Tensor) -> Tensor:
    scale = torch.linspace(0, 0.9, 8, dtype=torch.float64, device=position.device)
    return position * (1.0 / (10000**scale))


def _int8(x: Tensor, weight: Tensor, scales: Tensor) -> Tensor:
    return torch.ops.aten._weight_int8pack_mm(x, weight, scales)  # type: ignore[no-any-return]


def _grouped(x: Tensor, weights: Tensor, ends: Tensor) -> Tensor:
    return torch._grouped_mm(x, weights, offs=ends)


def _by_rows(a: Tensor, b: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    return torch._scaled_mm(a, b.t(), rows, columns, out_dtype=torch.bfloat16)


REPORTS = (
    Report(
        "Arc: Flux's angles in double", "Comfy-Org/ComfyUI#4210", 2,
        "Flux computes its rotary embedding in float64, which Arc has not",
        XPU, Met.REFUSED, Because.DTYPE, _angles, (torch.arange(8.0),),
        ("aten::linspace", "aten::pow", "aten::reciprocal", "aten::mul"),
    ),
    Report(
        "Max: products by int8 weights", "pytorch/pytorch#132947", 4,
        "`_weight_int8pack_mm` is not implemented for XPU",
        f"{MAX}@2.5.1", Met.REFUSED, Because.NO_KERNEL, _int8,
        (torch.ones(2, 32).bfloat16(), torch.ones(16, 32, dtype=torch.int8),
         torch.ones(16).bfloat16()), ("aten::_weight_int8pack_mm",),
    ),
    Report(
        "Max: products of groups", "intel/torch-xpu-ops#1574", 4,
        "`_grouped_mm` is not implemented for XPU",
        f"{MAX}@2.7.1", Met.REFUSED, Because.NO_KERNEL, _grouped,
        (torch.ones(16, 16).bfloat16(), torch.ones(2, 16, 16).bfloat16(),
         torch.tensor([8, 16], dtype=torch.int32)), ("aten::_grouped_mm",),
    ),
    Report(
        "CUDA: layer_norm of bfloat16 by a float weight", "pytorch/pytorch#151478", 6,
        "the weight's dtype must be the input's: expected BFloat16, found Float",
        "nvidia-a100@2.6.0", Met.REFUSED, Because.DTYPE,
        lambda x, w, b: F.layer_norm(x, (6,), w, b),
        (X.bfloat16(), torch.ones(6), torch.zeros(6)), NORM,
    ),
    Report(
        "Max: PReLU", "pytorch/pytorch#128025", 9,
        "`_prelu_kernel` falls back to the CPU in 2.4, and does not in 2.5",
        f"{MAX}@2.4.1", Met.ON_THE_HOST, Because.NO_KERNEL,
        torch.prelu, (X, torch.ones(1)), ("aten::_prelu_kernel", "aten::prelu"),
        mended={f"{MAX}@2.5.1": Met.WORKS},
    ),
    Report(
        "MI300X: attention of huge bfloat16 values", "ROCm/aotriton#54", 12,
        "attention of large values of bfloat16 gives NaN, and does not on an A100",
        f"{MI300X}@2.5.1", Met.WRONG, Because.OTHER,
        lambda q: F.scaled_dot_product_attention(q, q, q),
        (torch.full((1, 1, 16, 16), 133120.0).bfloat16(),),
        ("aten::scaled_dot_product_attention", "aten::_scaled_dot_product_flash_attention",
         "aten::_scaled_dot_product_efficient_attention"),
    ),
    Report(
        "MI300X: float8 products scaled by rows", "pytorch/pytorch#144432", 15,
        "scales of rows are refused, until a pull request of early 2025 gives them to hipBLASLt",
        f"{MI300X}@2.6.0", Met.REFUSED, Because.SHAPE, _by_rows,
        (torch.ones(16, 32).to(torch.float8_e4m3fnuz), torch.ones(16, 32).to(torch.float8_e4m3fnuz),
         torch.ones(16, 1), torch.ones(1, 16)), ("aten::_scaled_mm",),
        mended={f"{MI300X}@2.7.1": Met.WORKS},
    ),
    Report(
        "CUDA: conv3d of patches in bfloat16", "pytorch/pytorch#174051", 22,
        "embedding patches of videos in bfloat16 leaves cuDNN for the slow kernel in 2.9",
        "nvidia-h100@2.9.1", Met.SLOW, Because.OTHER,
        lambda x, w: F.conv3d(x, w, stride=(2, 16, 16)),
        (torch.ones(64, 3, 2, 16, 16).bfloat16(), torch.ones(1152, 3, 2, 16, 16).bfloat16()),
        CONV3D, mended={"nvidia-h100@2.10.0": Met.WORKS},
    ),
    Report(
        "CUDA: lstsq of a matrix without full rank", "pytorch/pytorch#180157", 24,
        "least squares by a matrix of rank 2 of 3 are wrong, as documented: the CPU's are right",
        "nvidia-a100@2.11.0", Met.WRONG, Because.OTHER,
        torch.linalg.lstsq, (DEFICIENT, torch.ones(3, 1)), ("aten::linalg_lstsq",),
    ),
    Report(
        "CUDA: lstsq by another driver", "pytorch/pytorch#176746", 24,
        "`driver` of `gelsd` is refused: on CUDA there is `gels` alone",
        "nvidia-h100@2.11.0", Met.REFUSED, Because.VALUE,
        lambda a, b: torch.linalg.lstsq(a, b, driver="gelsd"),
        (DEFICIENT, torch.ones(3, 1)), ("aten::linalg_lstsq",),
    ),
    Report(
        "CUDA: bilinear of bytes", "pytorch/vision#8399", 28,
        "resizing images of uint8 bilinearly is refused on CUDA and works on the CPU",
        "nvidia-a100@2.3.1", Met.REFUSED, Because.DTYPE,
        lambda x: F.interpolate(x, size=(4, 4), mode="bilinear"),
        (torch.ones(1, 3, 8, 8, dtype=torch.uint8),), ("aten::upsample_bilinear2d",),
    ),
    Report(
        "MI300X: gather of one place, backwards", "pytorch/pytorch#128631", 33,
        "the gradient of a gather of one index again and again takes 1887 ms",
        f"{MI300X}@2.3.1", Met.SLOW, Because.OTHER,
        Learned(lambda x, at: torch.gather(x, 0, at), torch.ones(100)), (MANY,),
        ("aten::gather_backward", "aten::scatter_add", "aten::scatter_add_"), training=True,
        mended={f"{MI300X}@2.5.1": Met.WORKS},
    ),
    Report(
        "MI300X: index_select, backwards", "ROCm/pytorch#1842", 33,
        "the gradient of index_select takes four times as long as on an H100",
        f"{MI300X}@2.6.0", Met.SLOW, Because.NO_KERNEL,
        Learned(lambda x, at: torch.index_select(x, 0, at), torch.ones(100, 8)), (MANY,),
        ("aten::index_select_backward", "aten::index_add", "aten::index_add_"), training=True,
        mended={f"{MI300X}@2.8.0": Met.WORKS},
    ),
    Report(
        "MI300X: scatter_add of many to few places", "pytorch/pytorch#146264", 33,
        "adding many values to a few places by scatter_add is slow",
        f"{MI300X}@2.6.0", Met.SLOW, Because.OTHER,
        lambda x, at, src: torch.scatter_add(x, 0, at, src),
        (torch.zeros(100), torch.arange(74544) % 100, torch.ones(74544)),
        ("aten::scatter_add",), mended={f"{MI300X}@2.8.0": Met.WORKS},
    ),
)  # fmt: skip

_LEFT_OUT = {
    Why.KNOWN: """
        cubiq/ComfyUI_IPAdapter_plus#604 intel/torch-xpu-ops#2032 pytorch/pytorch#189811
        intel/intel-xpu-backend-for-triton#1553 intel/torch-xpu-ops#1576 intel/torch-xpu-ops#2442
        intel/intel-extension-for-pytorch#257 intel/intel-extension-for-pytorch#699
        intel/torch-xpu-ops#628 pytorch/pytorch#164070 pytorch/pytorch#154051 pytorch/pytorch#141642
        intel/torch-xpu-ops#1550 intel/torch-xpu-ops#1150 intel/torch-xpu-ops#4604
        pytorch/pytorch#197520 sgl-project/sglang#31751 intel/torch-xpu-ops#494
        intel/torch-xpu-ops#495 intel/torch-xpu-ops#774 intel/torch-xpu-ops#4396
        intel/torch-xpu-ops#3144 intel/torch-xpu-ops#714 intel/torch-xpu-ops#1234
        intel/torch-xpu-ops#1590 intel/torch-xpu-ops#2615 intel/torch-xpu-ops#358
        pytorch/pytorch#136065 Comfy-Org/ComfyUI#2842 ROCm/pytorch#2837 vllm-project/vllm#9319
        pytorch/pytorch#147460 pytorch/pytorch#116176 pytorch/pytorch#119772 pytorch/pytorch#102968
        pytorch/pytorch#194447 pytorch/pytorch#183864 pytorch/pytorch#186956 ROCm/pytorch#3425
        pytorch/pytorch#104147 vllm-project/vllm#6807 pytorch/pytorch#169474 ROCm/TheRock#5270
        pytorch/pytorch#136291 ROCm/legacy-rocm-build#6019 pytorch/ao#1066 pytorch/pytorch#117822
        stas00/ml-engineering#91 ROCm/legacy-rocm-build#6314 ROCm/MIOpen#3943 pytorch/pytorch#173358
        pytorch/pytorch#121768 pytorch/pytorch#117847 pytorch/pytorch#12337 pytorch/pytorch#35823
        pytorch/pytorch#12485 pytorch/pytorch#58861 pytorch/pytorch#163539 pytorch/pytorch#166643
        huggingface/transformers#45750 sgl-project/sglang#23200 sgl-project/sglang#14078
        pytorch/pytorch#117122 pytorch/pytorch#125110 pytorch/pytorch#100326 pytorch/vision#2289
        pytorch/pytorch#146998 ROCm/MIOpen#87 pytorch/pytorch#143043 ROCm/TheRock#1229
        pytorch/pytorch#150016 ROCm/pytorch#2389 pytorch/pytorch#196745 pytorch/pytorch#166816
        pytorch/pytorch#128750
    """,
    Why.NO_CALL: """
        utensils/comfyui-nix#56 IamCreateAI/Ruyi-Models#31
        ai-joe-git/ComfyUI-Intel-Arc-Clean-Install-Windows-venv-XPU-#9 talmolab/sleap-nn#573
        intel/hdk#322 intel/intel-extension-for-pytorch#251 intel/intel-xpu-backend-for-triton#6205
        intel/llm-scaler#550 sgl-project/sglang#35605 intel/torch-xpu-ops#5272
        intel/torch-xpu-ops#4600 intel/torch-xpu-ops#311 intel/torch-xpu-ops#4471
        intel/torch-xpu-ops#4895 intel/torch-xpu-ops#4458 patientx-cfz/comfyui-rocm#83
        ROCm/legacy-rocm-build#5216 aistudynow/Comfyui-bitdance#2 vllm-project/vllm#621
        ggml-org/llama.cpp#19307 ROCm/pytorch#2361 ROCm/pytorch#2495 ROCm/pytorch#2494
        pytorch/pytorch#35821 ROCm/pytorch#3150 meta-pytorch/tritonbench#553 triton-lang/triton#6850
        pytorch/pytorch#182079 ROCm/pytorch#1159 pytorch/pytorch#168851 pytorch/pytorch#168846
        pytorch/pytorch#124968 pytorch/pytorch#167066 pytorch/pytorch#163223 pytorch/pytorch#168831
        pytorch/ao#4065 ROCm/pytorch#159 pytorch/pytorch#168784 pytorch/pytorch#172559
        intel/torch-xpu-ops#1458 pytorch/pytorch#133307 pytorch/pytorch#169158
        uxlfoundation/oneDNN#3306 pytorch/pytorch#147498 pytorch/pytorch#151767
        xmake-io/xmake-repo#7280 pytorch/pytorch#152001 pytorch/pytorch#148403
        pytorch/pytorch#161932 DeepLink-org/DIOPI#24 pytorch/pytorch#175321 k2-fsa/k2#914
        k2-fsa/k2#851 pytorch/pytorch#167244 flashinfer-ai/flashinfer#478 huggingface/kernels#399
        pytorch/pytorch#3476 vllm-project/compressed-tensors#583 NVIDIA/apex#1502
        pytorch/pytorch#105872 pytorch/pytorch#3684 ModelTC/LightX2V#860
        DigitalHolography/Holovibes#27 pytorch/pytorch#46909 intel/torch-xpu-ops#1658
        ArcInstitute/state#213 EricLBuehler/mistral.rs#923 pytorch/vision#45 AMDResearch/hpcfund#86
        ROCm/TheRock#6252 evshiron/rocm_lab#2 pytorch/torchtitan#3760 unslothai/unsloth#7682
        ROCm/pytorch#1677 pytorch/pytorch#135770
    """,
    Why.NO_PROGRAM: """
        Comfy-Org/ComfyUI#10847 intel/torch-xpu-ops#2456 intel/torch-xpu-ops#2366
        intel/torch-xpu-ops#2322 intel/torch-xpu-ops#5077 intel/auto-round#989
        intel/torch-xpu-ops#4626 intel/torch-xpu-ops#5084 intel/torch-xpu-ops#3855
        intel/torch-xpu-ops#4480 intel/torch-xpu-ops#2377 pytorch/pytorch#191796
        intel/torch-xpu-ops#2007 intel/torch-xpu-ops#1976 intel/torch-xpu-ops#3206
        intel/torch-xpu-ops#3184 intel/torch-xpu-ops#4364 intel/torch-xpu-ops#4362
        intel/torch-xpu-ops#4321 intel/torch-xpu-ops#3868 intel/torch-xpu-ops#3030
        intel/torch-xpu-ops#2243 intel/torch-xpu-ops#4861 Comfy-Org/ComfyUI#10642
        vllm-project/vllm#2580 ROCm/legacy-rocm-build#4391 ROCm/rocm-libraries#2169
        pytorch/pytorch#186778 pytorch/pytorch#176605 intel/torch-xpu-ops#1596
        intel/torch-xpu-ops#4665 intel/torch-xpu-ops#4659 pytorch/pytorch#187420
        intel/torch-xpu-ops#5475 isjinghao/T-Mamba#4 innnky/so-vits-svc#11
        thuml/Time-Series-Library#761 pytorch/pytorch#74857 ChenyangSi/FreeU#11
        pytorch/pytorch#70664 intel/torch-xpu-ops#3121 pytorch/pytorch#145349 pytorch/pytorch#114173
        pytorch/pytorch#127523 pytorch/pytorch#97514 pytorch/pytorch#121943 pytorch/pytorch#104310
        microsoft/onnxscript#1833 ROCm/rocm-libraries#11503 ROCm/legacy-rocm-build#5730
        Wan-Video/Wan2.1#106
    """,
    Why.OTHERS: """
        intel/llm-scaler#383 intel/torch-xpu-ops#1347 vllm-project/vllm#42952
        vllm-project/vllm#51964 vllm-project/vllm#16474 vllm-project/vllm#34641 ROCm/aiter#4831
        ROCm/flash-attention#41 ROCm/flash-attention#40 pytorch/FBGEMM#5933 pytorch/ao#4130
        vllm-project/vllm#22819 ROCm/aiter#2591 openxla/xla#35744 sgl-project/sglang#25175
        Haoming02/sd-webui-forge-classic#408 cupy/cupy#6772 Dao-AILab/flash-attention#51
        Dao-AILab/flash-attention#290 Dao-AILab/flash-attention#138 VITA-Group/LLaGA#16
        Dao-AILab/flash-attention#79 modelscope/ms-swift#9 Dao-AILab/flash-attention#69
        Dao-AILab/flash-attention#579 Meituan-AutoML/MobileVLM#40 Dao-AILab/flash-attention#276
        Dao-AILab/flash-attention#2265 facebookresearch/xformers#813 ROCm/TransformerEngine#16
        ROCm/flash-attention#93 ROCm/flash-attention#27 Dao-AILab/flash-attention#291
        ROCm/aiter#2621 Dao-AILab/flash-attention#1010 ROCm/flash-attention#80
        ROCm/flash-attention#37 ROCm/aiter#3807 ROCm/aiter#179 ROCm/flash-attention#146
        AMD-Ecosystem/flashinfer#45 ROCm/aiter#1552 ROCm/MIOpen#3535 ROCm/MIOpen#3596
        pytorch/pytorch#198199 ROCm/pytorch#3580
    """,
    Why.UNCONFIRMED: """
        chflame163/ComfyUI_LayerStyle#209 Comfy-Org/ComfyUI#556 intel/torch-xpu-ops#5220
        intel/compute-runtime#1001 intel/compute-runtime#1000 pytorch/pytorch#150993
        intel/torch-xpu-ops#3349 intel/torch-xpu-ops#506 intel/torch-xpu-ops#2381
        pytorch/pytorch#143465 pytorch/pytorch#186229 pytorch/pytorch#136443 pytorch/pytorch#191937
        pytorch/pytorch#103082 kulinseth/pytorch#277
    """,
    Why.NO_TARGET: """
        Comfy-Org/ComfyUI#409 Comfy-Org/ComfyUI#4154 intel/intel-extension-for-pytorch#705
        intel/intel-extension-for-pytorch#631 intel/intel-extension-for-pytorch#303
        vladmandic/sdnext#2011 intel/intel-extension-for-tensorflow#52
        ljleb/prompt-fusion-extension#78 intel/intel-extension-for-pytorch#263 pytorch/pytorch#16346
        pytorch/pytorch#58123 pytorch/pytorch#171034 intel/intel-extension-for-pytorch#467
        pytorch/pytorch#51871 intel/intel-extension-for-pytorch#505
        intel/intel-extension-for-pytorch#291 corundex/ComfyUI-ROCm#4 ROCm/TheRock#2846
        lshqqytiger/stable-diffusion-webui-amdgpu#646 Comfy-Org/ComfyUI#7400
        nod-ai/AMD-SHARK-Studio#1805 vllm-project/vllm#33811 ROCm/legacy-rocm-build#6601
        ROCm/aotriton#179 ROCm/aotriton#183 ROCm/MIOpen#79 Schaka/rocm-gfx803#2 ROCm/TheRock#842
        ROCm/pytorch#288 ROCm/apex#36 ROCm/MIOpen#3956 ROCm/TheRock#1126 ROCm/rocm-libraries#3158
        pytorch/pytorch#73545 pytorch/pytorch#25937 pytorch/pytorch#48219 pytorch/pytorch#47065
        torch/cunn#69 pytorch/xla#2202 pytorch/pytorch#87595 pytorch/pytorch#54404
        pytorch/pytorch#183815 pytorch/pytorch#5856 pytorch/pytorch#49093 pytorch/pytorch#44378
        pytorch/pytorch#88101 pytorch/pytorch#34083 pytorch/pytorch#67239 pytorch/pytorch#68248
        pytorch/pytorch#70701 pytorch/pytorch#28714 pytorch/pytorch#48916 pytorch/pytorch#67697
        pytorch/pytorch#69618 pytorch/pytorch#5580 pytorch/pytorch#13218 pytorch/pytorch#35029
        pytorch/pytorch#103252 pytorch/pytorch#90771 pytorch/pytorch#34864 ROCm/TheRock#868
        ROCm/MIOpen#180 ROCm/pytorch#655 ROCm/MIOpen#2492 ROCm/rocm-libraries#5706 ROCm/rocBLAS#1514
        ROCm/legacy-rocm-build#6595 ROCm/legacy-rocm-build#4578 ROCm/TheRock#1364
        pytorch/pytorch#141958 ROCm/aotriton#27 robertrosenbusch/gfx803_rocm#53
    """,
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)
