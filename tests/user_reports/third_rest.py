"""What threads tell of indexing, pooling and functions, mostly on Apple's and Intel's GPUs."""

import torch
from torch import Tensor, nn

from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "[MPS] scatter_reduce index_add index_copy index_fill put_ take masked_scatter dtype "
    "unsupported or wrong Apple issue pull request",
    "[MPS] torch.special bessel polygamma igamma erfinv i0 i1 zeta chebyshev polynomial add "
    "support pull request Apple",
    "torch-xpu-ops uint16 uint32 uint64 NotImplementedError kernel dispatch XPU issue 2025 2026",
    "CUDA torch.cuda returns wrong values unsigned integer bfloat16 complex operator silent "
    "correctness jiren-the-gray colab gist issue",
    "FACTO MPS op fails for dtype manuelcandales detected issue Apple 2025",
    "qflen MPS silent incorrect op Metal kernel issue August September 2026",
    "torch-xpu-ops enable sparse CSR mm addmm triangular_solve cholesky lu eigh XPU pull request "
    "merged 2026",
    "[MPS] pull request Add max_pool3d avg_pool conv_transpose3d ctc_loss _embedding_bag native "
    "support Apple kurtamohler 2025",
    "[MPS] pull request fix cross entropy norm std var sum prod any all amax reduction integer "
    "int64 bool wrong Apple 2024 2025 2026",
    "[MPS] pull request multinomial bernoulli exponential_ normal_ randperm random distribution "
    "half bfloat16 fix Apple",
    "[MPS] fft complex rfft irfft stft istft view_as_complex polar conj wrong result or "
    "unsupported pull request fix",
    "torch-xpu-ops release/2.14 UT failures dot_xpu_mkl not implemented for 'Byte' fix regression "
    "matmul integer vector",
    "MPS bernoulli int types wrong or fails torch 2.0 issue 100717",
    "[MPS] pull request copy_ cast stride view uint8 bfloat16 conversion float to int wrong "
    "result fix 2024 2025 2026",
    "torch-xpu-ops pull request Fixes wrong result softmax cumsum sort layer_norm index kernel "
    "int64 large size XPU 2025",
    "torch dot mm matmul int64 integer \"not implemented for 'Long'\" CUDA addmm_cuda baddbmm "
    "vdot issue 2.x",
    '[MPS] torch.compile free eager op "MPS does not support" op with int64 input dtype issue '
    "manuelcandales sigmoid exp 2025",
    "torch-xpu-ops pull request Enable aten::linalg or sparse or fft operator XPU previously "
    "fallback CPU CuiYifeng 2025",
    "ROCm pytorch enable operator test previously skipped skipIfRocm pull request unskip support "
    "added MIOpen hipSOLVER 2024 2025",
    'pytorch CUDA jiren-the-gray vwrewsge inconsistent CPU GPU "not implemented for" op issue '
    "2024 tril triu index_fill histc kthvalue",
)
MPS, MAX = "apple-mps", "intel-max"

X = torch.linspace(-1, 1, 24).view(4, 6)
AT = torch.tensor([0, 2])
VOLUME = torch.ones(1, 2, 8, 8, 8)


def _beside(base: Tensor, at: Tensor, values: Tensor) -> Tensor:
    found = base.clone()
    found.narrow(0, 1, 4).scatter_add_(0, at, values)
    return found


def _triangular(rows: Tensor, columns: Tensor, values: Tensor, right: Tensor) -> Tensor:
    matrix = torch.sparse_csr_tensor(rows, columns, values, (2, 2))
    return torch.triangular_solve(right, matrix)[0]


REPORTS = (
    Report(
        "MPS: index_reduce", "pytorch/pytorch#174858", 0,
        "`index_reduce` is not implemented",
        f"{MPS}@2.10.0", Met.REFUSED, Because.NO_KERNEL,
        lambda x, at, by: torch.index_reduce(x, 0, at, by, "prod"), (X, AT, X[:2]),
        ("aten::index_reduce", "aten::index_reduce_"),
    ),
    Report(
        "MPS: index_add of int64 by one number", "pytorch/pytorch#161446", 0,
        "`index_add` of int64 fails by an index of no dimensions, and works in float and int32",
        f"{MPS}@2.8.0", Met.REFUSED, Because.DTYPE,
        lambda x, at, by: torch.index_add(x, 0, at, by),
        (torch.ones(2, 3, dtype=torch.int64), torch.tensor(0), torch.ones(1, 3, dtype=torch.int64)),
        ("aten::index_add", "aten::index_add_"),
    ),
    Report(
        "MPS: index_fill", "pytorch/pytorch#98694", 0,
        "a pull request of April 2023 adds `index_fill`",
        f"{MPS}@2.0.1", Met.REFUSED, Because.NO_KERNEL,
        lambda x, at: torch.index_fill(x, 0, at, 2.0), (X, AT),
        ("aten::index_fill", "aten::index_fill_"), mended={f"{MPS}@2.1.2": Met.WORKS},
    ),
    Report(
        "MPS: scatter_add_ to a view of booleans", "pytorch/pytorch#195074", 0,
        "adding to booleans from an offset that 4 does not divide writes to other elements",
        f"{MPS}@2.14.1", Met.WRONG, Because.LAYOUT, _beside,
        (torch.zeros(8, dtype=torch.bool), AT, torch.ones(2, dtype=torch.bool)),
        ("aten::scatter_add_",),
    ),
    Report(
        "MPS: special.i1", "pytorch/pytorch#140196", 1,
        "a pull request of November 2024 adds `special.i1`",
        f"{MPS}@2.5.1", Met.REFUSED, Because.NO_KERNEL,
        torch.special.i1, (X,), ("aten::special_i1",), mended={f"{MPS}@2.6.0": Met.WORKS},
    ),
    Report(
        "MPS: i0", "pytorch/pytorch#137849", 1,
        "a pull request of October 2024 adds `i0`",
        f"{MPS}@2.5.1", Met.REFUSED, Because.NO_KERNEL,
        torch.i0, (X,), ("aten::i0",), mended={f"{MPS}@2.6.0": Met.WORKS},
    ),
    Report(
        "Max: where of uint16", "intel/torch-xpu-ops#5305", 2,
        "`where` is not implemented for uint16, uint32 and uint64",
        f"{MAX}@2.14.1", Met.REFUSED, Because.DTYPE, torch.where,
        (AT > 0, AT.to(torch.uint16), AT.to(torch.uint16)), ("aten::where",),
    ),
    Report(
        "Max: products of vectors of bytes", "intel/torch-xpu-ops#4438", 2,
        "in 2.14 the dot product is not implemented for uint8",
        f"{MAX}@2.14.1", Met.REFUSED, Because.DTYPE,
        torch.matmul, (AT.to(torch.uint8), AT.to(torch.uint8)), ("aten::dot", "aten::matmul"),
    ),
    Report(
        "MPS: det", "helmholtz-analytics/heat#1129", 4,
        "in February 2025 `_linalg_det` is not implemented",
        f"{MPS}@2.6.0", Met.REFUSED, Because.NO_KERNEL,
        torch.linalg.det, (torch.eye(3) * 2,), ("aten::_linalg_det", "aten::linalg_det"),
    ),
    Report(
        "Max: triangular_solve by a sparse matrix", "intel/torch-xpu-ops#3261", 6,
        "sparse rows have no triangular solve: a pull request of April 2026 adds it",
        f"{MAX}@2.11.0", Met.REFUSED, Because.NO_KERNEL, _triangular,
        (torch.tensor([0, 1, 2]), torch.tensor([0, 1]), torch.ones(2), torch.ones(2, 1)),
        ("aten::triangular_solve",), mended={f"{MAX}@2.13.0": Met.WORKS},
    ),
    Report(
        "MPS: adaptive means of volumes", "pytorch/pytorch#178031", 7,
        "a pull request of March 2026 adds `adaptive_avg_pool3d`",
        f"{MPS}@2.11.0", Met.REFUSED, Because.NO_KERNEL, nn.AdaptiveAvgPool3d(3), (VOLUME,),
        ("aten::adaptive_avg_pool3d", "aten::_adaptive_avg_pool3d"),
    ),
    Report(
        "MPS: adaptive maxima of volumes", "pytorch/pytorch#173040", 7,
        "a pull request of January 2026 adds `adaptive_max_pool3d`",
        f"{MPS}@2.10.0", Met.REFUSED, Because.NO_KERNEL,
        nn.AdaptiveMaxPool3d(3), (VOLUME,), ("aten::adaptive_max_pool3d",),
    ),
    Report(
        "MPS: means of volumes", "pytorch/pytorch#158877", 7,
        "a pull request of July 2025 adds `avg_pool3d`",
        f"{MPS}@2.8.0", Met.REFUSED, Because.NO_KERNEL,
        nn.AvgPool3d(2), (VOLUME,), ("aten::avg_pool3d",), mended={f"{MPS}@2.9.1": Met.WORKS},
    ),
    Report(
        "MPS: maxima of volumes", "pytorch/pytorch#154145", 7,
        "`max_pool3d_with_indices`, much asked for, comes by a pull request of May 2025",
        f"{MPS}@2.7.1", Met.REFUSED, Because.NO_KERNEL, nn.MaxPool3d(2), (VOLUME,),
        ("aten::max_pool3d_with_indices", "aten::max_pool3d"),
        mended={f"{MPS}@2.8.0": Met.WORKS},
    ),
    Report(
        "MPS: transposed convolution of volumes", "pytorch/pytorch#160350", 7,
        "a pull request of August 2025 adds `conv_transpose3d`",
        f"{MPS}@2.8.0", Met.REFUSED, Because.NO_KERNEL, nn.ConvTranspose3d(2, 3, 3), (VOLUME,),
        ("aten::conv_transpose3d", "aten::convolution", "aten::_mps_convolution_transpose"),
    ),
    Report(
        "MPS: bernoulli of int64", "pytorch/pytorch#100946", 9,
        "drawing into int64 ends the process, until a pull request of May 2023",
        f"{MPS}@2.0.1", Met.REFUSED, Because.DTYPE,
        lambda x: torch.bernoulli(x, 0.5), (torch.zeros(4, dtype=torch.int64),),
        ("aten::bernoulli", "aten::bernoulli_"), mended={f"{MPS}@2.1.2": Met.WORKS},
    ),
    Report(
        "MPS: sigmoid of int64", "pytorch/pytorch#154895", 12,
        "`sigmoid` of int64 is refused",
        f"{MPS}@2.7.1", Met.REFUSED, Because.DTYPE,
        torch.sigmoid, (torch.ones(2, 2, dtype=torch.int64),), ("aten::sigmoid",),
    ),
    Report(
        "Max: softmax of rows with NaN", "pytorch/pytorch#195708", 14,
        "`_safe_softmax` makes zeros of a row with NaN: an update of September 2026 mends it",
        f"{MAX}@2.14.1", Met.WRONG, Because.OTHER,
        lambda x: torch._safe_softmax(x, -1), (torch.tensor([[1.0, float("nan")]]),),
        ("aten::_safe_softmax",),
    ),
    Report(
        "Max: Fourier transforms on the host", "intel/torch-xpu-ops#74", 17,
        "`_fft_c2c` is a fallback to the CPU, until oneMKL's transforms of May 2025",
        f"{MAX}@2.4.1", Met.ON_THE_HOST, Because.NO_KERNEL, torch.fft.fft,
        (X.to(torch.complex64),), ("aten::_fft_c2c",), mended={f"{MAX}@2.8.0": Met.WORKS},
    ),
    Report(
        "CUDA: triu of bfloat16", "pytorch/pytorch#101414", 19,
        "`triu` and `tril` lack dtypes, of which a pull request of May 2023 adds bfloat16",
        "nvidia-a100@2.0.1", Met.REFUSED, Because.DTYPE,
        torch.triu, (X.bfloat16(),), ("aten::triu",), mended={"nvidia-a100@2.1.2": Met.WORKS},
    ),
)  # fmt: skip

_LEFT_OUT = {
    Why.KNOWN: """
        pytorch/pytorch#173007 pytorch/pytorch#173145 pytorch/pytorch#163327 pytorch/pytorch#176159
        pytorch/pytorch#141948 pytorch/pytorch#161725 pytorch/pytorch#146253 pytorch/pytorch#166134
        pytorch/pytorch#146259 pytorch/pytorch#106292 intel/torch-xpu-ops#3144
        pytorch/pytorch#107671 pytorch/pytorch#44824 tyfeld/MMaDA-Parallel#3 pytorch/pytorch#122602
        CAREamics/MicroSplit-reproducibility#22 city96/ComfyUI_ExtraModels#48
        intel/torch-xpu-ops#3534 pytorch/pytorch#181926 intel/torch-xpu-ops#2211
        intel/torch-xpu-ops#3081 pytorch/pytorch#147358 intel/torch-xpu-ops#1330
        pytorch/pytorch#173138 pytorch/pytorch#77818 pytorch/pytorch#100674 pytorch/pytorch#102148
        pytorch/pytorch#116580 pytorch/pytorch#173050 kulinseth/pytorch#419 pytorch/pytorch#197235
        pytorch/pytorch#125318 ml-explore/mlx#3568 pytorch/pytorch#192621 pytorch/pytorch#43886
        pytorch/pytorch#141287 intel/torch-xpu-ops#4452 intel/torch-xpu-ops#5049
        intel/torch-xpu-ops#4912 pytorch/pytorch#85611 pytorch/pytorch#100717 pytorch/pytorch#90273
        pytorch/pytorch#92752 intel/torch-xpu-ops#2949 elixir-nx/nx#1009 intel/torch-xpu-ops#2469
        pytorch/pytorch#138829 pytorch/pytorch#4157 pytorch/pytorch#4160 pytorch/pytorch#44428
        pytorch/pytorch#90935 pytorch/pytorch#89730 pytorch/pytorch#77764 pytorch/pytorch#136065
        intel/torch-xpu-ops#1988 pytorch/pytorch#193110 intel/torch-xpu-ops#1210
        pytorch/pytorch#161919 intel/torch-xpu-ops#1266 pytorch/pytorch#140965
        intel/torch-xpu-ops#147 pytorch/pytorch#167066 pytorch/pytorch#124968 pytorch/pytorch#173636
        pytorch/pytorch#120990 intel/torch-xpu-ops#2809
    """,
    Why.NO_TARGET: """
        pytorch/pytorch#88542 kulinseth/pytorch#235 pytorch/pytorch#36807 pytorch/pytorch#41238
        kulinseth/pytorch#354 kulinseth/pytorch#275 pytorch/pytorch#95941 pytorch/pytorch#95817
        pytorch/pytorch#94386 pytorch/pytorch#91708 kulinseth/pytorch#27 kulinseth/pytorch#160
        pytorch/pytorch#80760 kulinseth/pytorch#120 pytorch/pytorch#105284 pytorch/pytorch#94382
        intel/torch-xpu-ops#174 intel/torch-xpu-ops#805 pytorch/pytorch#38421 pytorch/pytorch#86805
        intel/torch-xpu-ops#162 pytorch/pytorch#50500 pytorch/pytorch#53339 pytorch/pytorch#25724
        pytorch/pytorch#89400 pytorch/pytorch#4840 pytorch/pytorch#22581 pytorch/pytorch#15226
        pytorch/pytorch#15203 pytorch/pytorch#2749 pytorch/pytorch#66790 pytorch/pytorch#9247
    """,
    Why.UNCONFIRMED: """
        pytorch/pytorch#166237 pytorch/pytorch#154727 pytorch/pytorch#153359 pytorch/pytorch#189038
        pytorch/pytorch#152755 pytorch/pytorch#121006
    """,
    Why.NO_CALL: """
        pytorch/pytorch#149928 pytorch/pytorch#146231 pytorch/pytorch#149342 pytorch/pytorch#152214
        pytorch/pytorch#96604 pytorch/pytorch#185610 openai/grok#79 meta-pytorch/FACTO#29
        pytorch/pytorch#170454 anthony-chaudhary/fak#1112 anthony-chaudhary/fak#1458
        vivoblueos/kernel#24 anthony-chaudhary/fak#9210 dplanitzer/Serena#15
        EricLBuehler/mistral.rs#719 EricLBuehler/mistral.rs#2169 chrishayuk/larql#231
        anthony-chaudhary/fak#9430 ggml-org/llama.cpp#3276 huggingface/kernels-community#570
        pytorch/pytorch#180752 candle-org/candle#28 pytorch/pytorch#171479
        deeplearning4j/libnd4j#775 pytorch/pytorch#182210 boostorg/random#99 pytorch/pytorch#174277
        simonsobs/pixell#154 librosa/librosa#634 kkoutini/passt_hear21#7 unifyai/ivy#14609
        jax-ml/jax#30356 Polochon-street/bliss#104 JuliaMath/FFTA.jl#46 Spaghettis/Spaghettis#122
        unifyai/ivy#14406 unifyai/ivy#23800 unifyai/ivy#26885 EleutherAI/lm-evaluation-harness#1037
        hasktorch/hasktorch#760 NVIDIA/MatX#945 jax-ml/jax#25646 pytorch/pytorch#151598
        radixark/miles#243 NVIDIA/cutlass#1966 tenstorrent/tt-metal#2517 NVIDIA/cutlass#1926
        pytorch/pytorch#154121 CGNS/CGNS#264 tenstorrent/tt-metal#18997 torch/cutorch#105
        torch/cutorch#22 ROCm/pytorch#2262 pytorch/pytorch#190550 ROCm/pytorch#1577
        ROCm/onnxruntime#118 pytorch/helion#1340 pytorch/pytorch#171083
    """,
    Why.NO_PROGRAM: """
        intel/torch-xpu-ops#4774 intel/torch-xpu-ops#4613 intel/torch-xpu-ops#2298
        intel/torch-xpu-ops#2352 intel/torch-xpu-ops#249 intel/torch-xpu-ops#4140
        ace-step/ACE-Step#21 fspecii/HeartMuLa-Studio#13 kijai/ComfyUI-depth-fm#5
        datalab-to/surya#212 pytorch/pytorch#189372 intel/torch-xpu-ops#2974 pytorch/pytorch#188160
        intel/torch-xpu-ops#5331 intel/torch-xpu-ops#4916 intel/torch-xpu-ops#4255
        pytorch/pytorch#185065 pytorch/pytorch#188265 intel/torch-xpu-ops#2943 ROCm/pytorch#3455
        pytorch/pytorch#136211
    """,
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)
