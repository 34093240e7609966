"""What users of Intel's GPUs met, through PyTorch's XPU backend."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it
from torch.nn.attention import SDPBackend, sdpa_kernel

from tests.user_controls.control import Learned
from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "torch XPU Intel GPU operator not implemented NotImplementedError aten XPU backend "
    "torch-xpu-ops",
    "torch XPU operator falls back to CPU warning aten Intel GPU",
    "torch-xpu-ops wrong result accuracy mismatch CPU vs XPU operator",
    "Intel Arc XPU Required aspect fp64 is not supported on the device operator pytorch",
    "torch-xpu-ops dtype not implemented for Half BFloat16 complex int8 float8 XPU RuntimeError",
    "intel xpu scaled_dot_product_attention flash not available or wrong output Arc B580 pytorch",
    "torch-xpu-ops index_put scatter unique sort bug wrong XPU user report",
    "torch-xpu-ops conv2d conv3d conv_transpose pooling error XPU oneDNN could not create a "
    "primitive",
    "torch-xpu-ops linalg svd eigh cholesky inverse fft XPU failure",
    "pytorch module: xpu silent correctness wrong output large tensor int32 overflow crash "
    "segfault operator",
    "torch-xpu-ops NaN inf handling different from CPU max min nanmedian histc division by zero "
    "XPU",
    "torch-xpu-ops transformers model fails on XPU not implemented operator quantization int4 "
    "torchvision nms roi_align deform_conv2d",
    "[Bug] XPU torch 2.6 2.7 2.8 aten operator UR_RESULT_ERROR native API failed Arc A770 user",
    'huggingface transformers diffusers XPU Intel GPU error operator "not implemented for" fix '
    "xpu test",
    "torch-xpu-ops `torch.` returns different result on XPU than CPU/CUDA reproducer import "
    "torch xpu bug",
    "torch-xpu-ops sparse tensor CSR COO operator not supported SparseXPU",
    "torch-xpu-ops LSTM GRU ctc_loss embedding_bag grid_sample interpolate unsupported XPU issue",
)
MAX = "intel-max"
ARC = "intel-arc"
ATTENTION = (
    "aten::scaled_dot_product_attention", "aten::_scaled_dot_product_flash_attention",
    "aten::_scaled_dot_product_fused_attention_overrideable",
)  # fmt: skip

X = torch.linspace(-1, 1, 24).view(4, 6)
SQUARE = torch.eye(4) * 2
HALVES = torch.ones(1, 2, 64, 16).half()
EIGHTHS = X.to(torch.float8_e4m3fn)
LONG = torch.linspace(-1, 1, 2 * 4 * 256 * 64 * 2).half()


def _flash(q: Tensor) -> Tensor:
    with sdpa_kernel([SDPBackend.FLASH_ATTENTION]):
        return F.scaled_dot_product_attention(q, q, q, scale=0.25, enable_gqa=True)


def _flash_learned(q: Tensor) -> Tensor:
    with sdpa_kernel([SDPBackend.FLASH_ATTENTION]):
        return F.scaled_dot_product_attention(q, q, q)


def _put(x: Tensor, at: Tensor, values: Tensor) -> Tensor:
    return torch.index_put_(x.clone(), (at, at), values, True)


def _put_the_same_way_each_time(x: Tensor, at: Tensor, values: Tensor) -> Tensor:
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True)
    try:
        return x.clone().index_put_((at,), values)
    finally:
        torch.use_deterministic_algorithms(before)


def _flipped_quantized(x: Tensor) -> Tensor:
    return torch.quantize_per_tensor(x, 0.1, 0, torch.qint8).flip(0).dequantize()


def _scores_at_an_offset(stored: Tensor) -> Tensor:
    strides = (4 * 256 * 64, 256 * 64, 64, 1)
    q = stored.as_strided((2, 4, 128, 64), strides, 997)
    k = stored.as_strided((2, 4, 256, 64), strides, 997)
    return q @ k.transpose(-1, -2)


def _distances(x: Tensor, y: Tensor) -> Tensor:
    return torch.cdist(x, y, p=2.0, compute_mode="donot_use_mm_for_euclid_dist")


def _aligned(x: Tensor, y: Tensor) -> Tensor:
    return F.ctc_loss(x.log_softmax(2), y, torch.tensor([8]), torch.tensor([3]))


REPORTS = (
    Report(
        "XPU: flip of a quantized tensor", "intel/torch-xpu-ops#2722", 0,
        "could not run `flip` with arguments from the QuantizedXPU backend",
        f"{MAX}@2.10.0", Met.REFUSED, Because.DTYPE,
        _flipped_quantized, (X,), ("aten::flip", "aten::quantize_per_tensor"),
    ),
    Report(
        "XPU: KLDivLoss", "intel/intel-xpu-backend-for-triton#2537", 1,
        "`KLDivLoss` always falls back to the CPU on a Max 1550",
        f"{MAX}@2.5.1", Met.ON_THE_HOST, Because.NO_KERNEL,
        lambda x, y: F.kl_div(x.log_softmax(-1), y.softmax(-1), reduction="batchmean"),
        (torch.ones(64, 64), torch.ones(64, 64)), ("aten::xlogy", "aten::kl_div"),
    ),
    Report(
        "XPU: gradients of GLU in half precision", "intel/torch-xpu-ops#1054", 2,
        "they differ from the CPU's by more than tests allow",
        f"{MAX}@2.5.1", Met.SLOW, Because.DTYPE,
        Learned(lambda x: F.glu(x), torch.linspace(-1, 1, 24).view(4, 6).half()), (),
        ("aten::glu_backward",), training=True,
    ),
    Report(
        "XPU: to int8, out of range", "intel/torch-xpu-ops#889", 2,
        "values beyond the range of int8 become 127 instead of wrapping",
        f"{MAX}@2.5.1", Met.WRONG, Because.OTHER,
        lambda x: x.to(torch.int8), (torch.tensor([57.7637, 215.2612, 212.4291]),),
        ("aten::to", "aten::_to_copy"),
    ),
    Report(
        "XPU: index_add_ in bfloat16", "intel/torch-xpu-ops#3530", 2,
        "results are less precise than tests allow",
        f"{MAX}@2.11.0", Met.SLOW, Because.DTYPE,
        lambda x, at: torch.zeros_like(x).index_add_(0, at, x),
        (torch.ones(64, 50).bfloat16(), torch.arange(64)), ("aten::index_add_", "aten::index_add"),
    ),
    Report(
        "Arc: unscaling of gradients", "pytorch/pytorch#147731", 3,
        "`GradScaler` takes the reciprocal of its scale in float64, which Arc has not",
        f"{ARC}@2.6.0", Met.REFUSED, Because.DTYPE,
        lambda scale: scale.double().reciprocal().float(), (torch.tensor(65536.0),),
        ("aten::reciprocal", "aten::to", "aten::_to_copy"),
    ),
    Report(
        "XPU: where of float8", "intel/torch-xpu-ops#1939", 4,
        "`where_xpu` is not implemented for 'Float8_e4m3fn'",
        f"{MAX}@2.8.0", Met.REFUSED, Because.DTYPE,
        lambda a, b: torch.where(a == 0, a, b), (EIGHTHS, EIGHTHS), ("aten::where", "aten::eq"),
    ),
    Report(
        "XPU: angle in half precision", "intel/torch-xpu-ops#4751", 4,
        "`angle_xpu` is not implemented for 'Half' or 'BFloat16'",
        f"{MAX}@2.13.0", Met.REFUSED, Because.DTYPE,
        torch.angle, (X.half(),), ("aten::angle",),
    ),
    Report(
        "XPU: flash attention alone", "intel/torch-xpu-ops#2719", 5,
        "no available kernel where flash attention alone is allowed",
        f"{MAX}@2.10.0", Met.REFUSED, Because.OTHER, _flash, (HALVES,), ATTENTION,
    ),
    Report(
        "XPU: flash attention, backwards", "intel/torch-xpu-ops#2489", 5,
        "flash attention does not take tensors that need a gradient",
        f"{MAX}@2.9.1", Met.REFUSED, Because.OTHER,
        Learned(_flash_learned, torch.ones(2, 8, 64, 64).half()), (), ATTENTION, training=True,
    ),
    Report(
        "XPU: _unique", "intel/torch-xpu-ops#574", 6,
        "`_unique` is not implemented: a pull request of July 2024 writes it",
        f"{MAX}@2.4.1", Met.REFUSED, Because.NO_KERNEL,
        lambda x: torch._unique(x), (X,), ("aten::_unique",), mended={f"{MAX}@2.5.1": Met.WORKS},
    ),
    Report(
        "XPU: index_put_ where each run is the same", "intel/torch-xpu-ops#2838", 6,
        "with deterministic algorithms `index_put_` and `index_copy` are wrong",
        f"{MAX}@2.10.0", Met.WRONG, Because.OTHER,
        _put_the_same_way_each_time, (torch.zeros(17), torch.arange(17), torch.ones(17)),
        ("aten::index_put_", "aten::index_put", "aten::index_copy"),
    ),
    Report(
        "XPU: int32 as indices", "intel/torch-xpu-ops#827", 6,
        "`index_put_`: tensors used as indices must be long, byte or bool tensors",
        f"{MAX}@2.4.1", Met.REFUSED, Because.DTYPE,
        _put, (torch.ones(4, 4), torch.arange(4, dtype=torch.int32), torch.ones(4)),
        ("aten::index_put_", "aten::index_put"), mended={f"{MAX}@2.5.1": Met.WORKS},
    ),
    Report(
        "XPU: svd", "intel/torch-xpu-ops#1901", 8,
        "`linalg.svd` falls back to the CPU, and fine tuning does not finish",
        f"{MAX}@2.7.1", Met.ON_THE_HOST, Because.NO_KERNEL,
        lambda x: torch.linalg.svd(x, full_matrices=False), (X,), ("aten::_linalg_svd",),
    ),
    Report(
        "XPU: solve_triangular", "intel/torch-xpu-ops#1950", 8,
        "`linalg.solve_triangular` with an output falls back",
        f"{MAX}@2.9.1", Met.ON_THE_HOST, Because.NO_KERNEL,
        lambda a, b: torch.linalg.solve_triangular(a, b, upper=True), (SQUARE, torch.ones(4, 1)),
        ("aten::linalg_solve_triangular",),
    ),
    Report(
        "Arc: topk of 4096 elements", "pytorch/pytorch#191871", 9,
        "it runs out of resources with torch 2.13, and ran with 2.12",
        f"{ARC}@2.13.0", Met.REFUSED, Because.SHAPE,
        lambda x: torch.topk(x, 50), (torch.linspace(0, 1, 4096),), ("aten::topk",),
        mended={f"{ARC}@2.12.1": Met.WORKS},
    ),
    Report(
        "XPU: dynamically quantized linear", "intel/torch-xpu-ops#1329", 11,
        "`quantized::linear_dynamic` is not implemented",
        f"{MAX}@2.6.0", Met.REFUSED, Because.NO_KERNEL,
        torch.ao.quantization.quantize_dynamic(
            nn.Sequential(nn.Linear(4, 4)), {nn.Linear}, dtype=torch.qint8
        ),
        (torch.ones(4, 1, 4, 4),), ("quantized::linear_dynamic",),
    ),
    Report(
        "XPU: narrow_copy", "intel/torch-xpu-ops#2309", 11,
        "`narrow_copy` is not implemented",
        f"{MAX}@2.9.1", Met.REFUSED, Because.NO_KERNEL,
        lambda x: torch.narrow_copy(x, 0, 0, 2), (X,), ("aten::narrow_copy",),
    ),
    Report(
        "Arc: index_add_ after empty_cache", "pytorch/pytorch#197520", 12,
        "after many kernels and an emptied cache `index_add_` gives NaN alone",
        f"{ARC}@2.14.1", Met.WRONG, Because.OTHER,
        lambda x, at: torch.zeros_like(x).index_add_(0, at, x), (X, torch.arange(4)),
        ("aten::index_add_", "aten::index_add"), mended={f"{ARC}@2.11.0": Met.WORKS},
    ),
    Report(
        "XPU: matmul at an offset", "intel/torch-xpu-ops#1656", 14,
        "products of float16 tensors that begin 997 elements into their storage are wrong",
        f"{MAX}@2.7.1", Met.WRONG, Because.LAYOUT,
        _scores_at_an_offset, (LONG,), ("aten::bmm", "aten::matmul"),
    ),
    Report(
        "XPU: cdist without products", "intel/torch-xpu-ops#878", 14,
        "Euclidean distances differ from the CPU's where matrix products are not allowed",
        f"{MAX}@2.5.1", Met.WRONG, Because.VALUE,
        _distances, (torch.ones(4, 5, 3), torch.zeros(4, 5, 3)), ("aten::_cdist_forward",),
    ),
    Report(
        "Arc: nonzero", "intel/torch-xpu-ops#4396", 14,
        "`nonzero` drops elements with torch 2.13 on an Arc Pro B60",
        f"{ARC}@2.13.0", Met.WRONG, Because.OTHER,
        torch.nonzero, (torch.tensor([False, True, False, True, False]),), ("aten::nonzero",),
    ),
    Report(
        "XPU: LayerNorm of tiny values", "pytorch/pytorch#141642", 14,
        "values around 1e-10 become NaN",
        f"{MAX}@2.5.1", Met.WRONG, Because.OTHER,
        nn.LayerNorm(6), (X * 1e-10,), ("aten::native_layer_norm",),
    ),
    Report(
        "XPU: from COO to CSR", "intel/torch-xpu-ops#1125", 15,
        "could not run `_to_sparse_csr` with arguments from the SparseXPU backend",
        f"{MAX}@2.5.1", Met.REFUSED, Because.LAYOUT,
        lambda x: x.to_sparse().to_sparse_csr(), (SQUARE,),
        ("aten::_to_sparse_csr", "aten::to_sparse_csr"),
    ),
    Report(
        "XPU: products with CSR", "intel/torch-xpu-ops#3081", 15,
        "products of sparse CSR tensors are not supported yet",
        f"{MAX}@2.11.0", Met.REFUSED, Because.LAYOUT,
        lambda x, y: x.to_sparse_csr() @ y, (SQUARE, torch.ones(4, 2)),
        ("aten::addmm", "aten::mm", "aten::matmul", "aten::_sparse_mm"),
    ),
    Report(
        "XPU: sampled_addmm", "intel/torch-xpu-ops#3534", 15,
        "`sparse.sampled_addmm` of CSR tensors is missing",
        f"{MAX}@2.11.0", Met.REFUSED, Because.LAYOUT,
        lambda x, a, b: torch.sparse.sampled_addmm(x.to_sparse_csr(), a, b),
        (SQUARE, torch.ones(4, 4), torch.ones(4, 4)), ("aten::sparse_sampled_addmm",),
    ),
    Report(
        "XPU: products with COO", "intel/torch-xpu-ops#2211", 15,
        "could not run `addmm` with arguments from the SparseXPU backend",
        f"{MAX}@2.9.1", Met.REFUSED, Because.LAYOUT,
        lambda x, y: torch.sparse.mm(x.to_sparse(), y), (SQUARE, torch.ones(4, 2)),
        ("aten::addmm", "aten::_sparse_mm", "aten::_sparse_addmm", "aten::mm"),
    ),
    Report(
        "XPU: linspace", "pytorch/pytorch#127941", 16,
        "`linspace` is marked to run on the CPU",
        f"{MAX}@2.4.1", Met.ON_THE_HOST, Because.NO_KERNEL,
        lambda x: torch.linspace(0, 1, 5, device=x.device), (X,), ("aten::linspace",),
    ),
    Report(
        "XPU: ctc_loss", "pytorch/pytorch#136065", 16,
        "`_ctc_loss` is not implemented yet, and falls back",
        f"{MAX}@2.5.1", Met.ON_THE_HOST, Because.NO_KERNEL,
        _aligned, (torch.zeros(8, 1, 5), torch.tensor([[1, 2, 3]])), ("aten::_ctc_loss",),
    ),
)  # fmt: skip

LEFT_OUT = (
    LeftOut("intel/torch-xpu-ops#2254", Why.KNOWN),
    LeftOut("intel/intel-extension-for-pytorch#606", Why.OTHERS),
    LeftOut("intel/torch-xpu-ops#3477", Why.OTHERS),
    LeftOut("intel/torch-xpu-ops#2469", Why.KNOWN),
    LeftOut("intel/torch-xpu-ops#144", Why.NO_TARGET),
    LeftOut("intel/intel-extension-for-pytorch#619", Why.NO_CALL),
    LeftOut("intel/torch-xpu-ops#4009", Why.NO_CALL),
    LeftOut("intel/intel-extension-for-pytorch#860", Why.OTHERS),
    LeftOut("intel/torch-xpu-ops#2270", Why.NO_PROGRAM),
    LeftOut("intel/torch-xpu-ops#318", Why.NO_CALL),
    LeftOut("intel/torch-xpu-ops#57", Why.NO_CALL),
    LeftOut("intel/torch-xpu-ops#48", Why.NO_CALL),
    LeftOut("intel/intel-extension-for-pytorch#808", Why.NO_CALL),
    LeftOut("pytorch/pytorch#126488", Why.NO_CALL),
    LeftOut("intel/torch-xpu-ops#172", Why.NO_CALL),
    LeftOut("intel/torch-xpu-ops#77", Why.NO_CALL),
    LeftOut("intel/torch-xpu-ops#58", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#157714", Why.NO_PROGRAM),
    LeftOut("intel/torch-xpu-ops#811", Why.NO_PROGRAM),
    LeftOut("intel/torch-xpu-ops#1328", Why.OTHERS),
    LeftOut("intel/torch-xpu-ops#3144", Why.NO_CALL),
    LeftOut("intel/torch-xpu-ops#1893", Why.NO_PROGRAM),
    LeftOut("intel/torch-xpu-ops#3216", Why.NO_PROGRAM),
    LeftOut("intel/intel-xpu-backend-for-triton#460", Why.NO_CALL),
    LeftOut("intel/torch-xpu-ops#1789", Why.NO_PROGRAM),
    LeftOut("intel/intel-xpu-backend-for-triton#3422", Why.NO_CALL),
    LeftOut("intel/torch-xpu-ops#184", Why.NO_TARGET),
    LeftOut("intel/torch-xpu-ops#1742", Why.KNOWN),
    LeftOut("intel/intel-extension-for-pytorch#699", Why.NO_TARGET),
    LeftOut("intel/intel-extension-for-pytorch#616", Why.NO_CALL),
    LeftOut("intel/intel-extension-for-pytorch#257", Why.NO_TARGET),
    LeftOut("intel/torch-xpu-ops#1270", Why.NO_CALL),
    LeftOut("intel/torch-xpu-ops#1150", Why.KNOWN),
    LeftOut("uxlfoundation/oneDNN#1465", Why.NO_CALL),
    LeftOut("intel/intel-xpu-backend-for-triton#1840", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#164070", Why.NO_TARGET),
    LeftOut("intel/torch-xpu-ops#2615", Why.UNCONFIRMED),
    LeftOut("intel/torch-xpu-ops#2624", Why.UNCONFIRMED),
    LeftOut("intel/torch-xpu-ops#2626", Why.UNCONFIRMED),
    LeftOut("intel/intel-extension-for-pytorch#673", Why.NO_TARGET),
    LeftOut("intel/torch-xpu-ops#1212", Why.NO_CALL),
    LeftOut("intel/torch-xpu-ops#1338", Why.UNCONFIRMED),
    LeftOut("intel/torch-xpu-ops#2853", Why.NO_PROGRAM),
    LeftOut("intel/intel-xpu-backend-for-triton#268", Why.NO_CALL),
    LeftOut("intel/torch-xpu-ops#2442", Why.NO_PROGRAM),
    LeftOut("tenstorrent/pytorch2.0_ttnn#541", Why.NO_TARGET),
    LeftOut("intel/torch-xpu-ops#4461", Why.NO_PROGRAM),
    LeftOut("modelscope/dash-infer#18", Why.NO_CALL),
    LeftOut("karpathy/autoresearch#355", Why.NO_CALL),
    LeftOut("fla-org/flash-linear-attention#554", Why.NO_CALL),
    LeftOut("intel/intel-extension-for-pytorch#682", Why.NO_TARGET),
    LeftOut("intel/torch-xpu-ops#611", Why.NO_PROGRAM),
    LeftOut("sgl-project/sglang#31751", Why.KNOWN),
    LeftOut("intel/torch-xpu-ops#734", Why.NO_CALL),
    LeftOut("intel/torch-xpu-ops#4516", Why.UNCONFIRMED),
    LeftOut("intel/torch-xpu-ops#1104", Why.NO_PROGRAM),
    LeftOut("intel/torch-xpu-ops#4604", Why.NO_PROGRAM),
    LeftOut("intel/torch-xpu-ops#1898", Why.NO_PROGRAM),
    LeftOut("intel/torch-xpu-ops#2239", Why.NO_PROGRAM),
    LeftOut("intel/torch-xpu-ops#2476", Why.NO_PROGRAM),
    LeftOut("uxlfoundation/oneDNN#1500", Why.NO_TARGET),
    LeftOut("intel/torch-xpu-ops#2297", Why.NO_PROGRAM),
    LeftOut("intel/torch-xpu-ops#2279", Why.NO_PROGRAM),
    LeftOut("intel/torch-xpu-ops#1896", Why.NO_PROGRAM),
    LeftOut("intel/intel-extension-for-pytorch#358", Why.NO_TARGET),
    LeftOut("intel/torch-xpu-ops#4169", Why.NO_PROGRAM),
    LeftOut("intel/torch-xpu-ops#2784", Why.NO_CALL),
    LeftOut("intel/torch-xpu-ops#3928", Why.NO_PROGRAM),
    LeftOut("intel/intel-extension-for-pytorch#566", Why.NO_TARGET),
    LeftOut("intel/torch-xpu-ops#4683", Why.UNCONFIRMED),
    LeftOut("pytorch/pytorch#153210", Why.NO_TARGET),
    LeftOut("intel/torch-xpu-ops#3026", Why.NO_PROGRAM),
    LeftOut("pytorch/pytorch#136720", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#135550", Why.NO_CALL),
    LeftOut("intel/torch-xpu-ops#4623", Why.NO_CALL),
    LeftOut("intel/torch-xpu-ops#2459", Why.NO_PROGRAM),
    LeftOut("pytorch/pytorch#189861", Why.NO_CALL),
    LeftOut("intel/torch-xpu-ops#4597", Why.UNCONFIRMED),
    LeftOut("torch/cutorch#289", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#1810", Why.NO_TARGET),
    LeftOut("intel/torch-xpu-ops#222", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#180103", Why.NO_TARGET),
    LeftOut("intel/torch-xpu-ops#527", Why.NO_PROGRAM),
    LeftOut("pytorch/pytorch#7052", Why.NO_TARGET),
    LeftOut("microsoft/onnxruntime#19984", Why.NO_CALL),
    LeftOut("pytorch/pytorch#40131", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#6996", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#57537", Why.NO_TARGET),
    LeftOut("intel/intel-extension-for-pytorch#167", Why.NO_TARGET),
    LeftOut("huggingface/diffusers#9109", Why.NO_CALL),
    LeftOut("intel/torch-xpu-ops#714", Why.OTHERS),
    LeftOut("intel/torch-xpu-ops#2032", Why.OTHERS),
    LeftOut("intel/torch-xpu-ops#1234", Why.OTHERS),
    LeftOut("intel/torch-xpu-ops#1576", Why.NO_TARGET),
    LeftOut("intel/torch-xpu-ops#2573", Why.OTHERS),
    LeftOut("intel/torch-xpu-ops#1532", Why.NO_PROGRAM),
    LeftOut("intel/torch-xpu-ops#367", Why.NO_PROGRAM),
    LeftOut("pytorch/pytorch#157775", Why.NO_CALL),
    LeftOut("pytorch/pytorch#189811", Why.NO_CALL),
    LeftOut("intel/intel-extension-for-pytorch#285", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#149953", Why.NO_CALL),
    LeftOut("pytorch/pytorch#152255", Why.NO_CALL),
    LeftOut("intel/torch-xpu-ops#3417", Why.NO_PROGRAM),
    LeftOut("intel/intel-extension-for-pytorch#802", Why.NO_TARGET),
    LeftOut("huggingface/transformers#25965", Why.NO_TARGET),
    LeftOut("intel/torch-xpu-ops#358", Why.NO_TARGET),
    LeftOut("huggingface/transformers#31237", Why.NO_TARGET),
    LeftOut("intel/torch-xpu-ops#3342", Why.NO_CALL),
    LeftOut("mudler/LocalAI#5737", Why.NO_CALL),
    LeftOut("pytorch/pytorch#128914", Why.NO_PROGRAM),
    LeftOut("intel/torch-xpu-ops#2926", Why.NO_CALL),
    LeftOut("intel/torch-xpu-ops#2740", Why.UNCONFIRMED),
    LeftOut("pytorch/pytorch#154051", Why.NO_PROGRAM),
    LeftOut("intel/torch-xpu-ops#242", Why.NO_TARGET),
    LeftOut("intel/torch-xpu-ops#386", Why.NO_TARGET),
    LeftOut("intel/torch-xpu-ops#320", Why.NO_TARGET),
    LeftOut("intel/torch-xpu-ops#1330", Why.KNOWN),
    LeftOut("intel/torch-xpu-ops#357", Why.NO_TARGET),
    LeftOut("intel/torch-xpu-ops#371", Why.NO_TARGET),
    LeftOut("intel/torch-xpu-ops#428", Why.NO_TARGET),
    LeftOut("intel/torch-xpu-ops#234", Why.NO_TARGET),
    LeftOut("intel/torch-xpu-ops#258", Why.NO_TARGET),
    LeftOut("intel/torch-xpu-ops#1231", Why.KNOWN),
    LeftOut("pytorch/pytorch#127002", Why.NO_TARGET),
    LeftOut("intel/intel-extension-for-pytorch#392", Why.NO_CALL),
    LeftOut("intel/torch-xpu-ops#3098", Why.NO_CALL),
)
