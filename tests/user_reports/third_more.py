"""What threads tell of dtypes and kernels that one device lacks and the CPU has."""

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_controls.control import Learned
from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "[MPS] pull request implement aten operator missing kernel 2025 2026 special functions scan "
    "cummin cumprod logcumsumexp",
    "MPS operator silently incorrect results non-contiguous output out= in-place view pytorch "
    "issue 2025 2026 macOS",
    "pytorch/xla core aten opset [Core ATen] Op info test decompose lower aten operator issue TPU",
    "pytorch CUDA \"not implemented for 'Half'\" OR \"'BFloat16'\" linalg eigh cdist special "
    "function issue request H100 2024",
    "Torch-TensorRT pull request feat dynamo converter aten one_hot pdist cumsum argsort nonzero "
    "isin bitwise native group norm",
    "[MPS] pull request Add support for complex types bool int64 in op Apple metal kernel migrate "
    "fixes issue 2025",
    "[MPS] Migrate op to Metal, fixes incorrect result, bmm linear addmm matmul sdpa attention "
    "pull request 2025 2026",
    "CUDA \"not implemented for 'Bool'\" OR \"'UInt16'\" OR \"'UInt32'\" OR \"'UInt64'\" operator "
    "pytorch issue unsigned types GPU",
    "CUDA \"not implemented for 'ComplexHalf'\" torch complex32 operator GPU issue",
    'torch_xla TPU aten fallback counter "aten::" not lowered slow model issue nonzero unique '
    "scatter segment upsample",
    "Torch-TensorRT unsupported operator torch.ops.aten no converter found issue 2024 2025 model "
    "not fully converted",
    "MPS NotImplementedError The operator 'aten:: is not currently implemented for the MPS device "
    "2024 2025 torch 2.5 2.6 2.7 model",
    "torch-xpu-ops UserWarning Aten Op fallback from XPU to CPU happens aten:: implement request "
    "2024 2025",
    "torch.angle special zeta unsigned integer complex half CUDA jiterator operator crash wrong "
    "values issue 2025 2026",
    "operator works on CPU but CUDA raises RuntimeError device dtype inconsistency torch 2.6 2.7 "
    "2.8 edge-case bug report",
    "[CUDA] Add support for uint16 uint32 bool float8 to op kernel, pull request fixes issue "
    '"not implemented for" 2025 2026',
    "Torch-TensorRT dynamo converter rejected int64 dtype validator node fallback PyTorch "
    "grid_sample _to_copy topk argmax embedding bag issue",
    "[MPS] linalg solve inv eigh svd pinv complex batched wrong or unimplemented issue and pull "
    "request 2025 2026",
    "[MPS] Fix torch.histc bincount bucketize searchsorted unique sort topk kthvalue msort "
    "argsort wrong Apple",
    "[MPS] interpolate grid_sampler 3d upsample trilinear affine_grid pixel_shuffle max_unpool "
    "avg_pool3d pull request add Apple",
)
MPS = "apple-mps"

X = torch.linspace(-1, 1, 24).view(4, 6)
COMPLEX = torch.complex(torch.zeros(4), torch.tensor([0.0, 1.0, 0.0, 2.0]))
CUBE = torch.ones(1, 1, 4, 4, 4)
AT = torch.tensor([0, 2])


def _put(x: Tensor, at: Tensor, values: Tensor) -> Tensor:
    return torch.ops.aten.index_put(x, [at], values)  # type: ignore[no-any-return]


REPORTS = (
    Report(
        "MPS: running minima", "pytorch/pytorch#156100", 0,
        "`cummin` and `cummax` are not supported: a pull request of June 2025 writes both",
        f"{MPS}@2.7.1", Met.REFUSED, Because.NO_KERNEL,
        lambda x: torch.cummin(x, 0), (X,), ("aten::cummin", "aten::_cummin_helper"),
        mended={f"{MPS}@2.8.0": Met.WORKS},
    ),
    Report(
        "MPS: logcumsumexp", "pytorch/pytorch#156858", 0,
        "`logcumsumexp` has no kernel, of which a pull request of July 2025 writes one",
        f"{MPS}@2.7.1", Met.REFUSED, Because.NO_KERNEL, lambda x: torch.logcumsumexp(x, 0), (X,),
        ("aten::logcumsumexp", "aten::_logcumsumexp"), mended={f"{MPS}@2.9.1": Met.WORKS},
    ),
    Report(
        "CUDA: angle of half", "pytorch/pytorch#134607", 3,
        "`angle` takes neither half nor bfloat16, seen on an RTX 4090",
        "nvidia-rtx4090@2.4.1", Met.REFUSED, Because.DTYPE,
        torch.angle, (X.half(),), ("aten::angle",),
    ),
    Report(
        "TensorRT: distances in pairs", "pytorch/TensorRT#2570", 4,
        "`_pdist_forward` has no converter: a pull request of January 2024 adds one",
        "nvidia-tensorrt@2.2.0", Met.ON_THE_HOST, Because.NO_KERNEL, F.pdist, (X,),
        ("aten::_pdist_forward", "aten::pdist"), mended={"nvidia-tensorrt@2.3.0": Met.WORKS},
    ),
    Report(
        "MPS: index_put of complex numbers", "pytorch/pytorch#160159", 5,
        "`index_put` refuses complex numbers: a pull request of August 2025 takes them",
        f"{MPS}@2.8.0", Met.REFUSED, Because.DTYPE, _put, (COMPLEX, AT, COMPLEX[:2]),
        ("aten::index_put", "aten::_index_put_impl_"), mended={f"{MPS}@2.9.1": Met.WORKS},
    ),
    Report(
        "MPS: lu_factor of complex numbers", "pytorch/pytorch#188473", 5,
        "`lu_factor` takes no complex numbers, nor do det and slogdet by it",
        f"{MPS}@2.13.0", Met.REFUSED, Because.DTYPE,
        torch.linalg.lu_factor, (torch.eye(3, dtype=torch.complex64),),
        ("aten::linalg_lu_factor", "aten::linalg_lu_factor_ex"),
    ),
    Report(
        "Max: signbit of booleans", "intel/torch-xpu-ops#661", 7,
        "`signbit` supports no booleans, which CUDA's does",
        "intel-max@2.5.1", Met.REFUSED, Because.DTYPE,
        torch.signbit, (torch.tensor([True, False]),), ("aten::signbit",),
    ),
    Report(
        "CUDA: zeta of uint16", "pytorch/pytorch#174303", 7,
        "functions compiled at run time read uint16 wrongly: zeta is infinite",
        "nvidia-t4@2.10.0", Met.WRONG, Because.DTYPE, torch.special.zeta,
        (torch.tensor([2.0, 4.0]), torch.tensor([1, 2], dtype=torch.uint16)),
        ("aten::special_zeta",),
    ),
    Report(
        "CUDA: tan of complex numbers", "pytorch/pytorch#165250", 13,
        "tangents of complex numbers compiled at run time are off by up to 27, seen on an A6000",
        "nvidia-a100@2.9.1", Met.WRONG, Because.DTYPE, torch.tan, (COMPLEX,), ("aten::tan",),
        mended={"nvidia-a100@2.10.0": Met.WORKS},
    ),
    Report(
        "CUDA: dot of int64", "pytorch/pytorch#120990", 14,
        "`dot` of int64 works on the CPU and is refused on an RTX 3090",
        "nvidia-a100@2.2.2", Met.REFUSED, Because.DTYPE,
        torch.dot, (torch.tensor([1, 2, 3]), torch.tensor([4, 5, 6])), ("aten::dot",),
    ),
    Report(
        "MPS: searchsorted", "pytorch/pytorch#112829", 18,
        "`searchsorted` is missing: a pull request of November 2023 adds it",
        f"{MPS}@2.1.2", Met.REFUSED, Because.NO_KERNEL,
        torch.searchsorted, (torch.tensor([1.0, 2.0, 3.0]), X), ("aten::searchsorted",),
        mended={f"{MPS}@2.3.1": Met.WORKS},
    ),
    Report(
        "MPS: nearest grid_sample of volumes", "pytorch/pytorch#160541", 19,
        "the kernel of August 2025 for volumes interpolates linearly; nearest is not supported",
        f"{MPS}@2.9.1", Met.REFUSED, Because.VALUE,
        lambda x, grid: F.grid_sample(x, grid, mode="nearest", align_corners=False),
        (CUBE, torch.zeros(1, 2, 2, 2, 3)), ("aten::grid_sampler_3d", "aten::grid_sampler"),
    ),
    Report(
        "MPS: trilinear volumes", "pytorch/pytorch#156263", 19,
        "a pull request of June 2025 writes trilinear resizing, forwards",
        f"{MPS}@2.7.1", Met.REFUSED, Because.NO_KERNEL,
        lambda x: F.interpolate(x, scale_factor=2, mode="trilinear"), (CUBE,),
        ("aten::upsample_trilinear3d",), mended={f"{MPS}@2.8.0": Met.WORKS},
    ),
    Report(
        "MPS: gradients of sampled volumes", "pytorch/pytorch#179388", 19,
        "`grid_sampler_3d` has no backward pass, which a pull request of April 2026 writes",
        f"{MPS}@2.11.0", Met.REFUSED, Because.NO_KERNEL,
        Learned(lambda x, grid: F.grid_sample(x, grid, align_corners=False), CUBE),
        (torch.zeros(1, 2, 2, 2, 3),),
        ("aten::grid_sampler_3d_backward",), training=True,
    ),
    Report(
        "MPS: nearest volumes", "pytorch/pytorch#156090", 19,
        "nearest resizing of volumes falls back to the CPU, until a pull request of June 2025",
        f"{MPS}@2.7.1", Met.ON_THE_HOST, Because.NO_KERNEL,
        lambda x: F.interpolate(x, scale_factor=2, mode="nearest"), (CUBE,),
        ("aten::upsample_nearest3d",), mended={f"{MPS}@2.8.0": Met.WORKS},
    ),
)  # fmt: skip

_LEFT_OUT = {
    Why.KNOWN: """
        pytorch/pytorch#77764 pytorch/pytorch#131892 flagos-ai/FlagGems#178 pytorch/pytorch#197636
        pytorch/pytorch#146085 pytorch/pytorch#104832 pytorch/pytorch#170175 pytorch/pytorch#150967
        pytorch/pytorch#131736 pytorch/pytorch#167154 pytorch/pytorch#125696 pytorch/pytorch#183419
        pytorch/xla#5861 pytorch/xla#5870 pytorch/xla#5764 pytorch/xla#5886 pytorch/pytorch#133263
        pytorch/pytorch#94772 pytorch/pytorch#22349 pytorch/pytorch#108940 pytorch/TensorRT#3483
        pytorch/TensorRT#2145 pytorch/TensorRT#2157 pytorch/TensorRT#1818 pytorch/TensorRT#3662
        pytorch/TensorRT#2181 pytorch/TensorRT#2070 pytorch/pytorch#195592 pytorch/pytorch#181151
        pytorch/pytorch#163598 data-apis/array-api-compat#253 pytorch/pytorch#135436
        pytorch/pytorch#176356 pytorch/pytorch#58734 helmholtz-analytics/heat#782
        pytorch/pytorch#22431 pytorch/pytorch#23286 hw-native-sys/pypto#2191 pytorch/xla#4985
        pytorch/xla#8746 pytorch/xla#6015 pytorch/xla#2588 pytorch/xla#5000 pytorch/TensorRT#1912
        pytorch/TensorRT#2444 pytorch/TensorRT#2665 pytorch/TensorRT#662 pytorch/TensorRT#364
        pytorch/pytorch#82034 pytorch/pytorch#141287 intel/torch-xpu-ops#57 intel/torch-xpu-ops#318
        intel/torch-xpu-ops#172 pytorch/pytorch#126488 intel/torch-xpu-ops#1328
        intel/torch-xpu-ops#173 intel/torch-xpu-ops#811 intel/torch-xpu-ops#77
        vllm-project/vllm#7670 pytorch/pytorch#173636 pytorch/pytorch#100842 pytorch/pytorch#153209
        intel/torch-xpu-ops#1896 pytorch/pytorch#153210 pytorch/TensorRT#3340 pytorch/TensorRT#2865
        pytorch/TensorRT#3224 pytorch/pytorch#196113 intel/torch-xpu-ops#1940 pytorch/pytorch#53040
        kornia/kornia#4455 pytorch/pytorch#192483 pytorch/pytorch#183885 pytorch/pytorch#111173
        pytorch/pytorch#195076 pytorch/pytorch#195446 pytorch/pytorch#78915 pytorch/pytorch#118126
        pytorch/pytorch#155560 pytorch/pytorch#159419 intel/torch-xpu-ops#898 pytorch/pytorch#44780
        pytorch/pytorch#159421
    """,
    Why.NO_CALL: """
        pytorch/pytorch#195218 pytorch/xla#7825 pytorch/executorch#7852 f-dangel/singd#71
        pytorch/TensorRT#2222 pytorch/TensorRT#3482 pytorch/pytorch#141037 JuliaGPU/Metal.jl#493
        philipturner/metal-float64#2 taichi-dev/taichi#8140 taichi-dev/taichi#530
        mratsim/Arraymancer#690 pytorch/pytorch#181030 pytorch/pytorch#131362 pytorch/pytorch#166210
        tenstorrent/tt-metal#23769 pytorch/pytorch#186541 pytorch/pytorch#178545
        huggingface/candle#2699 tenstorrent/tt-metal#11468 pytorch/pytorch#60330 LeapLabTHU/MLLA#14
        onnx/onnx-tensorrt#220 NVIDIA-AI-IOT/torch2trt#130 NVIDIA-AI-IOT/torch2trt#817
        onnx/onnx-tensorrt#241 pytorch/pytorch#156456 pytorch/pytorch#124822 pytorch/pytorch#125587
        tenstorrent/tt-metal#4651 pytorch/pytorch#184101 pytorch/pytorch#105564
        pytorch/pytorch#187294 deepmodeling/deepmd-kit#4582 monniert/differentiable-blocksworld#2
        pytorch/pytorch#184518 pytorch/pytorch#168010 unit8co/darts#381 tenstorrent/tt-metal#18353
        NVIDIA/cuda-quantum#356 openucx/ucc#565 tenstorrent/tt-metal#4015 tenstorrent/tt-metal#5462
        daphne-project/daphne#282 CVCUDA/CV-CUDA#278 tenstorrent/tt-metal#30048
        tinygrad/tinygrad#888 pytorch/executorch#7687 pytorch/TensorRT#2356 pymc-devs/pytensor#2157
        elixir-nx/nx#1783 TorchSim/torch-sim#60 cupy/cupy#4847 cupy/cupy#4686 ROCm/pytorch#1163
        FluxML/NNlibCUDA.jl#23 microsoft/onnxscript#1260 apache/tvm#5633 ultralytics/thop#87
    """,
    Why.UNCONFIRMED: """
        pytorch/pytorch#169342
    """,
    Why.NO_TARGET: """
        pytorch/pytorch#78001 Lightning-AI/torchmetrics#1009 pytorch/pytorch#57905
        pytorch/TensorRT#2514 pytorch/TensorRT#2278 pytorch/pytorch#77791 pytorch/pytorch#86743
        pytorch/pytorch#69209 pytorch/pytorch#71680 pytorch/pytorch#77479 pytorch/pytorch#50098
        pytorch/pytorch#43143 pytorch/pytorch#74667 pytorch/pytorch#37925 pytorch/xla#2655
        pytorch/xla#2702 pytorch/xla#3080 pytorch/xla#524 pytorch/xla#2318 pytorch/TensorRT#1771
        pytorch/TensorRT#829 pytorch/pytorch#76692 pytorch/pytorch#49163 pytorch/TensorRT#1382
        pytorch/TensorRT#2241 pytorch/TensorRT#660 pytorch/TensorRT#2395 pytorch/pytorch#7500
        pytorch/pytorch#87572
    """,
    Why.NO_PROGRAM: """
        pytorch/xla#5864 pytorch/xla#5903 pytorch/xla#5860 pytorch/xla#5894 pytorch/xla#6000
        pytorch/xla#5851 pytorch/pytorch#98308 HomebrewML/HeavyBall#57 pytorch/pytorch#111257
        pytorch/pytorch#152504 pytorch/pytorch#152501 pytorch/pytorch#155184 pytorch/pytorch#138906
        wangchx67/FourLLIE#15 pytorch/pytorch#158635 pytorch/pytorch#137172 pytorch/pytorch#171931
        pytorch/pytorch#139342 intel/torch-xpu-ops#2809 pytorch/TensorRT#3683 pytorch/pytorch#191692
    """,
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)
