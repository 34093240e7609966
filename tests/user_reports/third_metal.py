"""What pull requests for Apple's GPUs write or mend, and what users ask of sparse tensors there."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_controls.control import Learned
from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "[MPS] pull request Add op native dropout linalg cholesky lu_factor triangular solve cross "
    "kron index_reduce 2024 2025 Isalia20",
    "[MPS] pull request Fix wrong output for op with integer, bool, complex, bfloat16 inputs; "
    "extend dtype support metal kernel 2025 2026",
    "[MPS] pull request torch.median quantile mode unfold renorm pdist cdist backward not "
    "implemented add metal 2025 2026",
    "[MPS] loss functions nll_loss ctc_loss multilabel margin bce kl_div missing or wrong, pull "
    "request fix Apple",
    "[MPS] Fix crash or error in op for zero-size, scalar, 5D or higher rank inputs pull request "
    "pad gather cat triu malfet hvaara 2024 2025",
    "[MPS] activation functions hardswish gelu softplus prelu glu elu threshold wrong gradient "
    "large values NaN pull request fix",
    "[MPS] conv1d conv2d backward weight groups bfloat16 channels_last wrong or crash fix pull "
    "request 2025 2026",
    "[MPS] sparse tensor COO CSR coalesce spmm to_dense support add pull request Apple",
)
MPS = "apple-mps"
NLL = ("aten::nll_loss", "aten::nll_loss_forward", "aten::nll_loss2d", "aten::nll_loss2d_forward")

X = torch.linspace(-1, 1, 24).view(4, 6)
COMPLEX = torch.complex(torch.zeros(4), torch.tensor([0.0, 1.0, 0.0, 2.0]))
INTS = torch.arange(12, dtype=torch.int32)
WHERE = torch.tensor([[0, 1, 2], [1, 2, 0]])
MATRIX = torch.eye(4) * 2


class TwoKernels(nn.Module):
    """Convolutions of one input by kernels of two sizes."""

    def __init__(self) -> None:
        super().__init__()
        self.small = nn.Conv2d(3, 4, 3, padding=1)
        self.large = nn.Conv2d(3, 4, 5, padding=2)

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.small(x) + self.large(x)
        return found


def _solved(matrix: Tensor, right: Tensor) -> Tensor:
    factors, pivots = torch.linalg.lu_factor(matrix)
    found: Tensor = torch.linalg.lu_solve(factors, pivots, right)
    return found


def _coalesced(where: Tensor, values: Tensor) -> Tensor:
    return torch.sparse_coo_tensor(where, values, (3, 3)).coalesce()


def _times(where: Tensor, values: Tensor, dense: Tensor) -> Tensor:
    return torch.mm(torch.sparse_coo_tensor(where, values, (3, 3)), dense)


def _compressed(rows: Tensor, columns: Tensor, values: Tensor) -> Tensor:
    return torch.sparse_csr_tensor(rows, columns, values, (2, 2))


REPORTS = (
    Report(
        "MPS: cholesky_ex", "pytorch/pytorch#146799", 0,
        "a pull request of February 2025 writes `linalg.cholesky_ex`",
        f"{MPS}@2.6.0", Met.REFUSED, Because.NO_KERNEL,
        torch.linalg.cholesky_ex, (MATRIX,), ("aten::linalg_cholesky_ex",),
        mended={f"{MPS}@2.7.1": Met.WORKS},
    ),
    Report(
        "MPS: lu_solve of one factoring", "pytorch/pytorch#167569", 0,
        "a pull request of November 2025 writes `linalg.lu_solve` and `linalg.lu`",
        f"{MPS}@2.9.1", Met.REFUSED, Because.NO_KERNEL,
        _solved, (MATRIX, torch.ones(4, 1)), ("aten::linalg_lu_solve",),
        mended={f"{MPS}@2.11.0": Met.WORKS},
    ),
    Report(
        "TPU: lu", "pytorch/xla#8227", 0,
        "`linalg.lu` has no lowering: a pull request of October 2024 adds it",
        "google-tpu-v4@r2.5", Met.ON_THE_HOST, Because.NO_KERNEL,
        torch.linalg.lu, (MATRIX,), ("aten::linalg_lu", "aten::linalg_lu_factor_ex"),
        mended={"google-tpu-v4@r2.6": Met.WORKS},
    ),
    Report(
        "MPS: logical_and of complex numbers", "pytorch/pytorch#195592", 1,
        "logical operators look at the real parts alone: a pull request of September 2026 "
        "mends it", f"{MPS}@2.13.0", Met.WRONG, Because.DTYPE,
        torch.logical_and, (COMPLEX, COMPLEX), ("aten::logical_and",),
        mended={f"{MPS}@2.15.0": Met.WORKS},
    ),
    Report(
        "MPS: gather of complex numbers", "pytorch/pytorch#116764", 1,
        "gather, scatter and index_select of complex numbers are refused, since they would crash",
        f"{MPS}@2.3.1", Met.REFUSED, Because.DTYPE,
        lambda x, at: torch.gather(x, 0, at), (COMPLEX, torch.tensor([1, 0])), ("aten::gather",),
    ),
    Report(
        "MPS: baddbmm of integers", "pytorch/pytorch#170895", 1,
        "`baddbmm` takes floats alone: a pull request of December 2025 extends it",
        f"{MPS}@2.9.1", Met.REFUSED, Because.DTYPE, torch.baddbmm,
        (INTS[:8].view(2, 2, 2), INTS.view(2, 2, 3), INTS.view(2, 3, 2)), ("aten::baddbmm",),
        mended={f"{MPS}@2.11.0": Met.WORKS},
    ),
    Report(
        "MPS: distances, backwards", "pytorch/pytorch#183079", 2,
        "`_cdist_backward` is not implemented: a pull request of May 2026 writes it",
        f"{MPS}@2.11.0", Met.REFUSED, Because.NO_KERNEL,
        Learned(torch.cdist, X), (X + 1,), ("aten::_cdist_backward",), training=True,
    ),
    Report(
        "MPS: embeddings of a largest norm", "pytorch/pytorch#176785", 2,
        "`embedding_renorm_` has no kernel, of which a pull request of March 2026 writes one",
        f"{MPS}@2.10.0", Met.REFUSED, Because.NO_KERNEL,
        lambda at, table: F.embedding(at, table, max_norm=1.0),
        (torch.tensor([0, 3]), torch.ones(8, 4)), ("aten::embedding_renorm_",),
    ),
    Report(
        "MPS: a class that is ignored", "pytorch/pytorch#109574", 3,
        "`nll_loss` does not ignore the class -100, which is ignored unless another one is named",
        f"{MPS}@2.1.2", Met.WRONG, Because.OTHER,
        F.nll_loss, (X.log_softmax(1), torch.tensor([1, -100, 2, 0])), NLL,
        mended={f"{MPS}@2.2.2": Met.WORKS},
    ),
    Report(
        "MPS: loss of nothing", "pytorch/pytorch#134431", 3,
        "`nll_loss` of no elements fails: the placeholder tensor is empty",
        f"{MPS}@2.4.1", Met.REFUSED, Because.SHAPE,
        F.nll_loss, (torch.rand(2, 3, 0, 7), torch.zeros(2, 0, 7, dtype=torch.int64)), NLL,
        mended={f"{MPS}@2.6.0": Met.WORKS},
    ),
    Report(
        "MPS: sum of five dimensions", "pytorch/pytorch#136198", 4,
        "reductions along negative dimensions of five crash, or take the next dimension, where "
        "the last ones are 1", f"{MPS}@2.4.1", Met.WRONG, Because.SHAPE,
        lambda x: x.sum(dim=-3), (torch.ones(2, 3, 4, 1, 1),), ("aten::sum",),
        mended={f"{MPS}@2.5.1": Met.WORKS},
    ),
    Report(
        "MPS: convolutions by two kernels, backwards", "pytorch/pytorch#114419", 6,
        "the backward pass does not crash any more where kernels differ, from 2.1.2 on",
        f"{MPS}@2.1.2", Met.WORKS, Because.OTHER,
        TwoKernels(), (torch.ones(1, 3, 8, 8),),
        ("aten::convolution", "aten::convolution_backward"), training=True,
    ),
    Report(
        "MPS: coalesce", "pytorch/pytorch#159729", 7,
        "a pull request of August 2025 writes `coalesce` of sparse tensors",
        f"{MPS}@2.8.0", Met.REFUSED, Because.NO_KERNEL,
        _coalesced, (WHERE, torch.ones(3)), ("aten::coalesce", "aten::_coalesce"),
        mended={f"{MPS}@2.9.1": Met.WORKS},
    ),
    Report(
        "MPS: compressed rows", "pytorch/pytorch#129842", 7,
        "`sparse_csr_tensor` cannot make a compressed tensor on this device",
        f"{MPS}@2.4.1", Met.REFUSED, Because.NO_KERNEL, _compressed,
        (
            torch.tensor([0, 2, 4], dtype=torch.int32),
            torch.tensor([0, 1, 0, 1], dtype=torch.int32), torch.tensor([1.0, 2.0, 3.0, 4.0]),
        ),
        (
            "aten::sparse_csr_tensor", "aten::_sparse_csr_tensor_unsafe",
            "aten::sparse_compressed_tensor", "aten::_sparse_compressed_tensor_unsafe",
        ),
    ),
    Report(
        "MPS: product of a sparse matrix", "pytorch/pytorch#165232", 7,
        "a pull request of October 2025 writes products of sparse matrices",
        f"{MPS}@2.9.1", Met.REFUSED, Because.NO_KERNEL,
        _times, (WHERE, torch.ones(3), torch.ones(3, 2)), ("aten::mm", "aten::addmm"),
        mended={f"{MPS}@2.11.0": Met.WORKS},
    ),
    Report(
        "MPS: to compressed rows", "pytorch/pytorch#196205", 7,
        "conversions to compressed rows have no kernel, of which one is written in September 2026",
        f"{MPS}@2.14.1", Met.REFUSED, Because.NO_KERNEL,
        lambda x: x.to_sparse_csr(), (torch.eye(3),),
        (
            "aten::to_sparse_csr", "aten::_to_sparse_csr",
            "aten::_convert_indices_from_coo_to_csr",
        ),
    ),
)  # fmt: skip

_LEFT_OUT = {
    Why.KNOWN: """
        pytorch/pytorch#165871 pytorch/pytorch#168053 pytorch/pytorch#168120 pytorch/pytorch#144193
        pytorch/pytorch#132641 pytorch/pytorch#129807 pytorch/xla#8225 pytorch/pytorch#77764
        pytorch/pytorch#166134 pytorch/pytorch#176778 pytorch/pytorch#135434 pytorch/pytorch#113398
        pytorch/pytorch#94663 pytorch/pytorch#157238 pytorch/pytorch#140941 pytorch/pytorch#112849
        pytorch/pytorch#196192 pytorch/pytorch#177757
    """,
    Why.NO_CALL: """
        keras-team/keras#19763 pytorch/pytorch#141037 pytorch/pytorch#147644 pytorch/pytorch#166216
        pytorch/pytorch#174240 pytorch/pytorch#3399 samthakur587/Tvarant#96
        tenstorrent/tt-forge-onnx#1925 candle-org/candle#144 candle-org/candle#18 ml-explore/mlx#98
        microsoft/BackwardCompatibilityML#17 Iainmon/ChAI#26 candle-org/MindAct#1759
        apple/turicreate#2494 tillahoffmann/jax-mps#42 microsoft/onnxruntime#24603
        PFCCLab/Starter#661 tillahoffmann/jax-mps#78 PaddlePaddle/Paddle#73443
        PaddlePaddle/Paddle#74958 tillahoffmann/jax-mps#102 PaddlePaddle/Paddle#72980
        OpenPPL/ppl.nn#305 tinygrad/tinygrad#11564 elizabethnewman/hessQuik#15
        massquantity/LibRecommender#350 onnx/onnx-tensorflow#19 itsubaki/autograd#33
        unifyai/ivy#4294 deepmodeling/deepmd-kit#939 huggingface/candle#3006 Iainmon/ChAI#66
        Open-Deep-ML/DML-OpenProblem#549 dotnet/TorchSharp#184 InfiniTensor/InfiniCore#441
        PaddlePaddle/Paddle#27147 PaddlePaddle/Paddle#54341 tensorflow/tensorflow#57984
        tracel-ai/burn#3521 chelsea0x3b/dfdx#797 pytorch/pytorch#36121 open-mmlab/mmcv#563
        ROCm/hipSPARSE#168 weihuayi/fealpy#815
    """,
    Why.NO_PROGRAM: """
        pytorch/pytorch#188800 pytorch/pytorch#152501 pytorch/pytorch#152510
    """,
    Why.NO_TARGET: """
        pytorch/pytorch#94345 pytorch/pytorch#88553 pytorch/pytorch#88807 pytorch/pytorch#87220
        pytorch/pytorch#94226 kulinseth/pytorch#189 pytorch/pytorch#28806 pytorch/pytorch#82834
        kulinseth/pytorch#341 pytorch/pytorch#91822 pytorch/pytorch#50042 pytorch/pytorch#96972
    """,
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)
