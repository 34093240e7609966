"""Cases from public threads that the list does not have: looked for after the code was written."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it
from torch.nn.utils.parametrizations import weight_norm

from tests.test_cases import X
from tests.user_cases import UserCase
from tests.user_cases_apple import APPLE
from tests.user_cases_exports import EXPORTS

SQUARE = X.view(4, 6)
VOLUME = X.view(1, 1, 2, 3, 4)
QUERY = torch.ones(1, 2, 16, 64)
EIGHTHS = torch.ones(16, 16).to(torch.float8_e4m3fn)


def _efficient(x: Tensor) -> Tensor:
    found = torch.ops.aten._scaled_dot_product_efficient_attention(x, x, x, None, False)
    return found[0]  # type: ignore[no-any-return]  # of torch


def _scaled(x: Tensor, scale: Tensor) -> Tensor:
    return torch._scaled_mm(x, x.t(), scale, scale, out_dtype=torch.float16)


def _in_float32(x: Tensor) -> Tensor:
    return torch.ops.aten.mm.dtype(x, x, torch.float32)  # type: ignore[no-any-return]  # of torch


ASCEND = (
    UserCase(
        "encoder layer", "a whole TransformerEncoderLayer runs on the host in evaluation",
        ("Ascend/pytorch#51",),
        nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval(), (torch.ones(2, 3, 8),),
        "aten::_transformer_encoder_layer_fwd", {"ascend-910b@5.0.0": "host-fallback"},
    ),
    UserCase(
        "uint64", "nothing can be done with uint64 on NPUs", ("Ascend/pytorch#158",),
        lambda x: x + 1, (torch.ones(3, dtype=torch.uint64),), "aten::add.Tensor",
        {"ascend-910b": "dtype-not-supported"},
    ),
    UserCase(
        "complex32", "complex32 is refused on NPUs", ("flagos-ai/FlagGems#3267",),
        lambda x: x * x, (torch.ones(3, dtype=torch.complex32),), "aten::mul.Tensor",
        {"ascend-910b": "dtype-not-supported"},
    ),
    UserCase(
        "bfloat16 on a 910A", "casting to bfloat16 fails on chips before 910B1",
        ("hiyouga/LlamaFactory#4165",),
        lambda x: x.to(torch.bfloat16), (X,), "aten::to.dtype",
        {"ascend-910a": "dtype-not-supported", "ascend-910b": "decomposes"},
    ),
    UserCase(
        "efficient attention", "the fallback of an operator without a CPU kernel fails itself",
        ("vllm-project/vllm-omni#755",),
        _efficient, (QUERY.half(),), "aten::_scaled_dot_product_efficient_attention",
        {"ascend-910b": "no-kernel-even-on-host"},
    ),
    UserCase(
        "expm1 of float64", "`expm1` of float64 is refused by aclnn", ("sgl-project/sglang#29011",),
        torch.expm1, (X.double(),), "aten::expm1", {"ascend-910b": "dtype-not-supported"},
        mended="a condition from the thread",
    ),
    UserCase(
        "nine dimensions", "a copy of more than eight dimensions is refused by aclnn",
        ("sgl-project/sglang#14159",),
        lambda x: x.transpose(0, 8).contiguous(), (torch.ones(2, 1, 2, 1, 2, 1, 2, 1, 3),),
        "aten::contiguous", {"ascend-910b": "rank-not-supported"},
        mended="a condition from the thread",
    ),
    UserCase(
        "float8", "float8 weights cannot be used on a 910B",
        ("Comfy-Org/ComfyUI#14653", "Ascend/pytorch#100"),
        lambda x: x.to(torch.float16), (X.to(torch.float8_e4m3fn),), "aten::to.dtype",
        {"ascend-910b": "dtype-not-supported", "ascend-950": "decomposes"},
        mended="a condition from newer code",
    ),
    UserCase(
        "cast to float64", "a cast to float64 gives float32, with a warning",
        ("safetensors/safetensors#661",),
        lambda x: x.to(torch.float64), (X,), "aten::to.dtype",
        {"ascend-910b": "float64-becomes-float32"},
    ),
    UserCase(
        "a device by number", "`x.to(0)` asks for CUDA with torch_npu", ("Ascend/pytorch#16",),
        lacking="It is what a number stands for in that build of Python's bindings, no operator.",
    ),
)  # fmt: skip
OTHERS = (
    UserCase(
        "poisson", "`poisson` has no kernel on MUSA", ("MooreThreads/torch_musa#84",),
        torch.poisson, (X.abs(),), "aten::poisson",
        {"moorethreads-s4000@1.3.0": "no-kernel", "moorethreads-s4000": "registered"},
    ),
    UserCase(
        "multinomial", "`multinomial` has no kernel on MUSA", ("MooreThreads/torch_musa#18",),
        lambda x: torch.multinomial(x, 1), (X.abs(),), "aten::multinomial",
        {"moorethreads-s80@1.0.0": "no-kernel", "moorethreads-s4000": "registered"},
    ),
    UserCase(
        "all of integers", "`all` takes booleans alone on MUSA", ("MooreThreads/torch_musa#18",),
        lambda x: x.all(), (torch.arange(4),), "aten::all",
        {"moorethreads-s80@1.0.0": "dtype-not-supported", "moorethreads-s4000": "registered"},
        mended="checks of older releases, read in the code",
    ),
    UserCase(
        "segment_reduce", "`segment_reduce` has no kernel on MUSA", ("flagos-ai/FlagGems#4114",),
        lambda x, n: torch.segment_reduce(x, "sum", lengths=n), (X, torch.tensor([10, 14])),
        "aten::segment_reduce", {"moorethreads-s5000": "no-kernel"},
    ),
    UserCase(
        "sum of bytes", "`sum` of uint8 fails on an S4000", ("MooreThreads/torch_musa#86",),
        lacking="muDNN refuses it, a binary of the vendor's; torch_musa's code hands it over.",
    ),
    UserCase(
        "a kernel of vllm", "vllm's own `apply_repetition_penalties_` has no kernel for MUSA",
        ("MooreThreads/vllm-musa#108",),
        lacking="Which kernels an extension brings for a device, no source of the database says.",
    ),
    UserCase(
        "masked_select", "`masked_select` runs on the host on Intel GPUs",
        ("intel/torch-xpu-ops#628",),
        lambda x: x.masked_select(x > 0), (X,), "aten::masked_select",
        {"intel-max@2.4.1": "computed-on-host", "intel-max@2.5.1": "registered"},
    ),
    UserCase(
        "float64 on Arc", "float64 raises on Arc: no fp64 on the device",
        ("intel/torch-xpu-ops#1742",),
        lambda x: x * 2, (X.double(),), "aten::mul.Tensor",
        {"intel-arc": "dtype-not-supported", "intel-max": "registered"},
    ),
    UserCase(
        "bincount on Arc", "`bincount` with weights computes in float64, which Arc has not",
        ("intel/torch-xpu-ops#817",),
        torch.bincount, (torch.arange(4), torch.arange(4)), "aten::bincount",
        {"intel-arc": "dtype-not-supported"},
    ),
    UserCase(
        "kernels with fp64 inside", "`logcumsumexp` and others ask for fp64 inside on Arc",
        ("intel/torch-xpu-ops#1150",),
        lacking="The kernels take float32 and compute in float64; the lists do not say which do.",
    ),
    UserCase(
        "mm.dtype", "products with another result dtype are missing on Intel GPUs",
        ("intel/torch-xpu-ops#2469",),
        _in_float32, (torch.ones(4, 4).half(),), "aten::mm.dtype",
        {"intel-max@2.9.1": "no-kernel", "intel-max": "registered"},
    ),
    UserCase(
        "cholesky.out", "`cholesky` with `out` is missing on Intel GPUs",
        ("intel/torch-xpu-ops#2254",),
        lambda x: torch.cholesky(x, out=torch.empty_like(x)), (torch.eye(3),), "aten::cholesky.out",
        {"intel-max@2.9.1": "no-kernel"},
    ),
    UserCase(
        "histogramdd", "`histogramdd` is missing on Intel GPUs", ("intel/torch-xpu-ops#2254",),
        lambda x: torch.histogramdd(x, 4)[0], (X.view(12, 2),), "aten::histogramdd.int_bins",
        {"intel-max@2.9.1": "no-kernel"},
    ),
    UserCase(
        "LSTM cell", "`_thnn_fused_lstm_cell` falls back on Intel GPUs, where no CPU kernel is",
        ("pytorch/pytorch#141539",),
        nn.LSTMCell(4, 4), (X.view(6, 4),), "aten::lstm_cell",
        {"intel-max@2.5.1": "no-kernel", "intel-max@2.6.0": "decomposes"},
    ),
    UserCase(
        "norm", "`norm` runs on the host on Intel GPUs in torch 2.4", ("intel/torch-xpu-ops#495",),
        lambda x: x.norm(2, 1, True), (SQUARE,), "aten::linalg_vector_norm",
        {"intel-max@2.4.1": "computed-on-host", "intel-max": "registered"},
    ),
    UserCase(
        "addmm with a factor", "`addmm` with beta runs on the host on TPUs", ("pytorch/xla#4935",),
        lambda m, a: torch.addmm(m, a, a, beta=0.5), (torch.ones(2, 2), torch.ones(2, 2)),
        "aten::addmm", {"google-tpu-v4@r2.0": "computed-on-host"},
    ),
    UserCase(
        "randperm", "`randperm` has no lowering on TPUs", ("pytorch/xla#5994",),
        lambda x: torch.randperm(10, device=x.device), (X,), "aten::randperm",
        {"google-tpu-v4@r2.2": "host-fallback", "google-tpu-v4@r2.3": "registered"},
    ),
    UserCase(
        "reflected padding", "padding by reflection runs on the host on TPUs",
        ("pytorch/xla#6559",),
        lambda x: F.pad(x, (1, 1), mode="reflect"), (X.view(1, 4, 6),), "aten::pad",
        {"google-tpu-v4@r2.2": "host-fallback", "google-tpu-v4@r2.3": "decomposes"},
    ),
    UserCase(
        "sampling on TPUs", "`grid_sampler_2d` runs on the host on TPUs", ("pytorch/xla#6559",),
        lambda x, grid: F.grid_sample(x, grid, align_corners=False),
        (X.view(1, 1, 4, 6), torch.zeros(1, 2, 2, 2)), "aten::grid_sampler",
        {"google-tpu-v4": "host-fallback"},
    ),
    UserCase(
        "a cast to int64", "a cast to int64 is not converted for TensorRT",
        ("pytorch/TensorRT#2665",),
        lambda x: x.to(torch.int64), (X,), "aten::to.dtype",
        {"nvidia-tensorrt@2.2.0": "dtype-not-supported", "nvidia-tensorrt@2.3.0": "decomposes"},
    ),
    UserCase(
        "baddbmm", "`baddbmm` has no converter for TensorRT", ("pytorch/TensorRT#1809",),
        torch.baddbmm, (torch.ones(2, 2, 2),) * 3, "aten::baddbmm",
        {"nvidia-tensorrt@2.2.0": "runs-elsewhere"},
    ),
    UserCase(
        "full_like", "`full_like` has no converter for TensorRT", ("pytorch/TensorRT#2838",),
        lambda x: torch.full_like(x, 2.0), (X,), "aten::full_like",
        {"nvidia-tensorrt@2.3.0": "decomposed-before-conversion"},
        "It is known to be taken apart; what of, was not looked up.",
    ),
    UserCase(
        "hipBLASLt", "hipBLASLt is asked for on chips that it is not built for",
        ("pytorch/pytorch#138067", "pytorch/pytorch#119081"),
        lacking="Which library multiplies depends on the build and the environment.",
    ),
    UserCase(
        "a GPU that no wheel is for", "every kernel fails with 'invalid device function'",
        ("pytorch/pytorch#147626", "pytorch/pytorch#132570"),
        lacking="The chip is in no wheel, or the environment names another: not the model.",
    ),
)  # fmt: skip
MORE = (
    UserCase(
        "weight_norm", "`weight_norm` runs on the host on TPUs", ("pytorch/xla#4985",),
        weight_norm(nn.Linear(4, 4)).eval(), (X.view(6, 4),), "aten::_weight_norm",
        {"google-tpu-v4@r2.0": "host-fallback"},
    ),
    UserCase(
        "nonzero", "`nonzero` runs on the host on TPUs",
        ("pytorch/xla#4985", "pytorch/xla#6015"),
        lambda x: x.nonzero(), (X,), "aten::nonzero", {"google-tpu-v4@r2.0": "computed-on-host"},
    ),
    UserCase(
        "nearest, one dimension", "resizing a signal runs on the host on TPUs",
        ("pytorch/xla#4985",),
        lambda x: F.interpolate(x, scale_factor=2), (X.view(1, 4, 6),),
        "aten::upsample_nearest1d.vec", {"google-tpu-v4@r2.0": "host-fallback"},
    ),
    UserCase(
        "nearest, three dimensions", "resizing a volume runs on the host on TPUs",
        ("pytorch/xla#6932",),
        lambda x: F.interpolate(x, scale_factor=2), (VOLUME,), "aten::upsample_nearest3d.vec",
        {"google-tpu-v4@r2.3": "host-fallback"},
    ),
    UserCase(
        "atan2", "`atan2` has no converter for TensorRT", ("pytorch/TensorRT#2829",),
        torch.atan2, (X, X), "aten::atan2", {"nvidia-tensorrt@2.2.0": "runs-elsewhere"},
    ),
    UserCase(
        "dot", "`dot` has no converter for TensorRT", ("pytorch/TensorRT#3043",),
        torch.dot, (X, X), "aten::dot",
        {"nvidia-tensorrt@2.4.0": "runs-elsewhere", "nvidia-tensorrt@2.5.0": "registered"},
    ),
    UserCase(
        "_int_mm", "products of int8 run on the host on NPUs", ("flagos-ai/FlagGems#6044",),
        torch._int_mm, (torch.ones(32, 32, dtype=torch.int8),) * 2, "aten::_int_mm",
        {"ascend-910b": "host-fallback"},
    ),
    UserCase(
        "mode", "`mode` is not supported on MLUs", ("flagos-ai/FlagGems#5254",),
        lambda x: x.mode(), (X,), "aten::mode", {"cambricon-mlu590": "host-fallback"},
    ),
    UserCase(
        "renorm", "`renorm` is not supported on MLUs", ("flagos-ai/FlagGems#5254",),
        lambda x: x.renorm(2, 0, 1.0), (SQUARE,), "aten::renorm",
        {"cambricon-mlu590": "host-fallback"},
    ),
    UserCase(
        "i0e", "`special.i0e` is not supported on MLUs", ("flagos-ai/FlagGems#5254",),
        torch.special.i0e, (X,), "aten::special_i0e", {"cambricon-mlu590": "host-fallback"},
    ),
    UserCase(
        "chebyshev", "Chebyshev polynomials are not supported on MLUs",
        ("flagos-ai/FlagGems#5254",),
        lambda x: torch.special.chebyshev_polynomial_w(x, 2), (X,),
        "aten::special_chebyshev_polynomial_w.n_scalar",
        {"cambricon-mlu590": "host-fallback"},
        "On the host, not unsupported: the plugin hands what it has no kernel for to the CPU.",
    ),
    UserCase(
        "histc", "`histc` runs on the host on Intel GPUs",
        ("intel/intel-xpu-backend-for-triton#2236",),
        lambda x: torch.histc(x, 4), (X,), "aten::histc",
        {"intel-max@2.4.1": "computed-on-host"},
    ),
    UserCase(
        "_scaled_mm", "products of float8 raise on GPUs before Ada",
        ("kijai/ComfyUI-HunyuanVideoWrapper#98", "Comfy-Org/ComfyUI#5036"),
        _scaled, (EIGHTHS, torch.ones(())), "aten::_scaled_mm",
        {"nvidia-a100": "not-supported-on-chip", "nvidia-t4": "not-supported-on-chip",
         "nvidia-rtx4090": "registered"},
    ),
    UserCase(
        "_scaled_mm on AMD", "and on AMD's before MI300", ("pytorch/pytorch#117822",),
        _scaled, (EIGHTHS, torch.ones(())), "aten::_scaled_mm",
        {"amd-mi250": "not-supported-on-chip", "amd-rx7900xt": "not-supported-on-chip"},
    ),
    UserCase(
        "_scaled_mm on Ada", "torch before 2.3 refuses float8 on Ada, too",
        ("pytorch/pytorch#118703",),
        lacking="The database infers chips of older releases from newer ones.",
    ),
    UserCase(
        "float8 sums", "`sum`, `bmm` and others have no kernel for float8 on CUDA",
        ("kijai/ComfyUI-WanVideoWrapper#721", "laksjdjf/cgem156-ComfyUI#2"),
        lacking="PyTorch's own tests, which the dtypes of CUDA come from, do not try float8.",
    ),
    UserCase(
        "integers on Intel GPUs", "products of int64 matrices raise on Intel GPUs",
        ("intel/torch-xpu-ops#2253",),
        lacking="oneDNN refuses them; no list that the database reads says so.",
    ),
    UserCase(
        "cuFFT on AMD", "a Fourier transform ends in HIPFFT_EXEC_FAILED",
        ("pytorch/pytorch#76071",),
        lacking="One build on one machine; nobody found out which transforms fail.",
    ),
    UserCase(
        "hipBLAS", "a product ends in HIPBLAS_STATUS_NOT_SUPPORTED with ROCm 6.2.4",
        ("pytorch/pytorch#150016",),
        lacking="It is that library's release, which the environment decides.",
    ),
    UserCase(
        "collectives of vllm", "`vllm::all_reduce` falls back on NPUs, where no CPU kernel is",
        ("vllm-project/vllm-ascend#16", "sgl-project/sglang#12545"),
        lacking="vllm itself is needed to have the operator. One that is registered for CUDA alone "
        "gets no-kernel-even-on-host.",
    ),
)  # fmt: skip
LATER = (*APPLE, *ASCEND, *OTHERS, *MORE, *EXPORTS)  # fmt: skip
