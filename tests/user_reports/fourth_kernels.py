"""What ran on the host, or not at all, before kernels of Intel's GPUs came, of the fourth round."""

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_controls.control import Learned
from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "torch-xpu-ops Add aten::max_pool3d avg_pool3d adaptive_avg_pool3d upsample_trilinear3d "
    "replication_pad and variants pull request",
    "torch-xpu-ops Add aten::special bessel chebyshev igamma zeta polygamma lgamma and variants "
    "pull request",
    "torch-xpu-ops Add aten::_foreach _fused_adam sgd segment_reduce histogram searchsorted median "
    "kthvalue mode renorm pull request",
    "torch-xpu-ops add linalg kernels oneMKL lu_factor cholesky svd triangular solve native XPU "
    "pull request 2025 2026",
    "torch-xpu-ops nested tensor, sparse COO coalesce, sparse mask, _weight_norm, ctc_loss, "
    "embedding_bag backward add XPU support pull request",
    "torch-xpu-ops Add aten::logspace linspace round frac sinc heaviside copysign lcm gcd "
    "nan_to_num isposinf and their variants pull request",
)
MAX = "intel-max"
HOST = (Met.ON_THE_HOST, Because.NO_KERNEL)
REFUSED = (Met.REFUSED, Because.NO_KERNEL)
IN_2_5 = {f"{MAX}@2.5.1": Met.WORKS}
IN_2_6 = {f"{MAX}@2.6.0": Met.WORKS}
IN_2_7 = {f"{MAX}@2.7.1": Met.WORKS}

X = torch.linspace(0.1, 2, 24).view(4, 6)
VOLUME = torch.linspace(-1, 1, 2 * 3 * 8**3).view(2, 3, 8, 8, 8)
SPD = torch.eye(4) * 3 + 0.5
SOLVED = torch.ones(4, 2)


def _by_sgd(weight: Tensor, grad: Tensor) -> Tensor:
    torch._fused_sgd_(
        [weight], [grad], [], weight_decay=0.0, momentum=0.0, lr=0.1, dampening=0.0,
        nesterov=False, maximize=False, is_first_step=True,
    )  # fmt: skip
    return weight


def _by_adamw(weight: Tensor, grad: Tensor, mean: Tensor, square: Tensor, step: Tensor) -> Tensor:
    torch._fused_adamw_(
        [weight], [grad], [mean], [square], [], [step], lr=0.1, beta1=0.9, beta2=0.99,
        weight_decay=0.01, eps=1e-8, amsgrad=False, maximize=False,
    )  # fmt: skip
    return weight


def _by_adagrad(weight: Tensor, grad: Tensor, total: Tensor, step: Tensor) -> Tensor:
    torch._fused_adagrad_(
        [weight], [grad], [total], [step], lr=0.1, lr_decay=0.0, weight_decay=0.0, eps=1e-10,
        maximize=False,
    )  # fmt: skip
    return weight


def _bags(table: Tensor, at: Tensor) -> Tensor:
    return F.embedding_bag(at, table, mode="sum")


REPORTS = (
    Report(
        "Max: the largest of volumes, adaptively", "intel/torch-xpu-ops#833", 0,
        "`adaptive_max_pool3d` and its gradient get kernels in August 2024",
        f"{MAX}@2.4.1", *HOST,
        lambda x: F.adaptive_max_pool3d(x, 2), (VOLUME,), ("aten::adaptive_max_pool3d",),
        mended=IN_2_6,
    ),
    Report(
        "Max: the average of volumes", "intel/torch-xpu-ops#778", 0,
        "`avg_pool3d` and its gradient get kernels in August 2024",
        f"{MAX}@2.4.1", *HOST, lambda x: F.avg_pool3d(x, 2), (VOLUME,), ("aten::avg_pool3d",),
        mended=IN_2_6,
    ),
    Report(
        "Max: the average of volumes, adaptively", "intel/torch-xpu-ops#851", 0,
        "`adaptive_avg_pool3d` and its gradient get kernels in September 2024",
        f"{MAX}@2.4.1", *HOST, lambda x: F.adaptive_avg_pool3d(x, 2), (VOLUME,),
        ("aten::adaptive_avg_pool3d", "aten::_adaptive_avg_pool3d"), mended=IN_2_6,
    ),
    Report(
        "Max: zeta", "intel/torch-xpu-ops#1038", 1,
        "`special.zeta`, `entr`, `erfcx` and more special functions get kernels in November 2024",
        f"{MAX}@2.5.1", *HOST, torch.special.zeta, (X + 2, X), ("aten::special_zeta",),
        mended=IN_2_7,
    ),
    Report(
        "Max: polynomials of Chebyshev", "intel/torch-xpu-ops#973", 1,
        "the polynomials of Chebyshev get kernels in late 2024",
        f"{MAX}@2.5.1", *HOST,
        lambda x: torch.special.chebyshev_polynomial_t(x, 3), (X,),
        ("aten::special_chebyshev_polynomial_t",), mended=IN_2_7,
    ),
    Report(
        "Max: igamma", "intel/torch-xpu-ops#1031", 1,
        "`igamma` and `igammac` get kernels in late 2024",
        f"{MAX}@2.5.1", *HOST, torch.igamma, (X, X + 1), ("aten::igamma",), mended=IN_2_7,
    ),
    Report(
        "Max: i1e", "intel/torch-xpu-ops#1014", 1,
        "`special.i0e`, `i1`, `i1e`, `ndtri`, `log_ndtr` and polynomials get kernels in late 2024",
        f"{MAX}@2.5.1", *HOST, torch.special.i1e, (X,), ("aten::special_i1e",), mended=IN_2_7,
    ),
    Report(
        "Max: i0", "intel/torch-xpu-ops#1026", 1,
        "`i0`, of Kaiser's window too, gets a kernel in late 2024",
        f"{MAX}@2.5.1", *HOST, torch.i0, (X,), ("aten::i0", "aten::special_i0"), mended=IN_2_7,
    ),
    Report(
        "Max: a fused step of SGD", "intel/torch-xpu-ops#1075", 2,
        "`_fused_sgd_` gets a kernel in November 2024, and has no way to the host before",
        f"{MAX}@2.5.1", *REFUSED, _by_sgd, (X, torch.ones(4, 6)), ("aten::_fused_sgd_",),
        mended=IN_2_7,
    ),
    Report(
        "Max: reduced by segments", "intel/torch-xpu-ops#902", 2,
        "`segment_reduce` and its gradient get kernels in late 2024",
        f"{MAX}@2.5.1", *HOST,
        lambda x, sizes: torch.segment_reduce(x, "sum", lengths=sizes),
        (X, torch.tensor([1, 3])), ("aten::segment_reduce",), mended=IN_2_7,
    ),
    Report(
        "Max: a fused step of Adagrad", "intel/torch-xpu-ops#3775", 2,
        "`_fused_adagrad_` has no kernel of XPUs until a pull request of May 2026",
        f"{MAX}@2.11.0", *REFUSED, _by_adagrad,
        (X, torch.ones(4, 6), torch.zeros(4, 6), torch.tensor(1.0)), ("aten::_fused_adagrad_",),
        mended={f"{MAX}@2.14.1": Met.WORKS},
    ),
    Report(
        "Max: a fused step of AdamW", "intel/torch-xpu-ops#879", 2,
        "`_fused_adam_` and `_fused_adamw_` get kernels at the end of 2024, and have no way to the "
        "host before",
        f"{MAX}@2.5.1", *REFUSED, _by_adamw,
        (X, torch.ones(4, 6), torch.zeros(4, 6), torch.zeros(4, 6), torch.tensor(1.0)),
        ("aten::_fused_adamw_",), mended=IN_2_7,
    ),
    Report(
        "Max: solve", "intel/torch-xpu-ops#1660", 3,
        "`linalg.solve`, `det` and `slogdet` are in the list of what goes to the host",
        f"{MAX}@2.7.1", *HOST, torch.linalg.solve, (SPD, SOLVED),
        ("aten::linalg_solve", "aten::_linalg_solve_ex", "aten::linalg_solve_ex"),
    ),
    Report(
        "Max: factors of one matrix", "intel/torch-xpu-ops#1977", 3,
        "`lu_factor` of a single matrix is computed on the host, of a batch on the GPU",
        f"{MAX}@2.9.1", Met.ON_THE_HOST, Because.SHAPE,
        torch.linalg.lu_factor, (SPD,),
        ("aten::linalg_lu_factor", "aten::linalg_lu_factor_ex"),
    ),
    Report(
        "Max: the factor of Cholesky", "intel/torch-xpu-ops#5195", 3,
        "`linalg.cholesky` goes to the host, for the time being, until a kernel is written",
        f"{MAX}@2.14.1", *HOST, torch.linalg.cholesky, (SPD,),
        ("aten::linalg_cholesky", "aten::linalg_cholesky_ex"),
    ),
    Report(
        "Max: bags of embeddings, backwards", "intel/torch-xpu-ops#591", 4,
        "the gradient of `embedding_bag` gets a kernel in July 2024",
        f"{MAX}@2.4.1", *HOST, Learned(_bags, torch.ones(10, 4)),
        (torch.tensor([[1, 2], [3, 1]]),),
        ("aten::_embedding_bag_dense_backward", "aten::_embedding_bag_backward"), training=True,
        mended=IN_2_5,
    ),
    Report(
        "Max: linspace", "intel/torch-xpu-ops#850", 5,
        "`linspace` gets a kernel in late 2024",
        f"{MAX}@2.4.1", *HOST,
        lambda x: x * torch.linspace(0, 1, 6, device=x.device), (X,), ("aten::linspace",),
        mended=IN_2_7,
    ),
    Report(
        "Max: round", "intel/torch-xpu-ops#647", 5,
        "`round`, with decimals too, gets a kernel at the end of July 2024",
        f"{MAX}@2.4.1", *HOST, torch.round, (X,), ("aten::round",), mended=IN_2_5,
    ),
    Report(
        "Max: sinc", "intel/torch-xpu-ops#1076", 5,
        "`sinc` and `frexp` get kernels in November 2024",
        f"{MAX}@2.5.1", *HOST, torch.sinc, (X,), ("aten::sinc", "aten::special_sinc"),
        mended=IN_2_7,
    ),
    Report(
        "Max: lcm", "intel/torch-xpu-ops#962", 5,
        "`lcm` gets a kernel in late 2024",
        f"{MAX}@2.5.1", *HOST, torch.lcm, (torch.arange(1, 7), torch.arange(2, 8)),
        ("aten::lcm",), mended=IN_2_7,
    ),
)  # fmt: skip

_LEFT_OUT = {
    Why.KNOWN: """
        intel/torch-xpu-ops#2271 intel/torch-xpu-ops#555 pytorch/pytorch#195820
        intel/torch-xpu-ops#5196 intel/torch-xpu-ops#320 intel/torch-xpu-ops#371
        intel/torch-xpu-ops#1511 intel/torch-xpu-ops#2982 intel/torch-xpu-ops#3264
        intel/torch-xpu-ops#3234 intel/torch-xpu-ops#1563 intel/torch-xpu-ops#565
        intel/torch-xpu-ops#519
    """,
    Why.NO_PROGRAM: """
        intel/torch-xpu-ops#4899 intel/torch-xpu-ops#415 intel/torch-xpu-ops#378
        intel/torch-xpu-ops#1141 intel/torch-xpu-ops#2412 intel/torch-xpu-ops#1142
        intel/torch-xpu-ops#1140 intel/torch-xpu-ops#1045 intel/torch-xpu-ops#391
        intel/torch-xpu-ops#1266 intel/torch-xpu-ops#983 pytorch/pytorch#127941
    """,
    Why.NO_TARGET: """
        pytorch/TensorRT#792 pytorch/pytorch#40996 llvm/torch-mlir#2473 apache/tvm#17922
        pytorch/pytorch#35664 VeriSilicon/TIM-VX#490 nod-ai/AMD-SHARK-ModelDev#545
        nod-ai/AMD-SHARK-ModelDev#163 pytorch/xla#7928 flagos-ai/FlagGems#5974 pytorch/xla#8905
        pytorch/xla#341 microsoft/onnxscript#281 llvm/torch-mlir#2479
    """,
    Why.NO_CALL: """
        pytorch/pytorch#35307 pytorch/pytorch#185395 flagos-ai/FlagGems#4500
        pytorch/pytorch#114151 pytorch/pytorch#118361 pytorch/pytorch#43925
        pytorch/pytorch#125369 facebookresearch/fairseq#4904 pytorch/nestedtensor#274
        pytorch/pytorch#50361
    """,
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)
