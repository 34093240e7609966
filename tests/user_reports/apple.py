"""What users of Apple's GPUs met, through PyTorch's MPS backend."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_controls.control import Learned
from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "MPS backend operator not implemented NotImplementedError aten MPS device",
    "MPS operator not currently implemented for the MPS device NotImplementedError",
    "MPS wrong results compared with CPU silently incorrect output",
    "MPS unsupported dtype TypeError cannot convert bfloat16 complex float64 int64",
    "MPS operator falls back to run on the CPU UserWarning performance",
    "MPS dimension limit tensor more than 4 dimensions or large shape error",
    "MPS crash LLVM ERROR MPSGraph failed assertion in op",
    "MPS non-contiguous tensor view strided incorrect result in-place op",
    "MPS backward gradient wrong or NaN for op",
    "pytorch [MPS] Fix incorrect results of operator, module: correctness (silent)",
    "pytorch MPS backend RuntimeError unsupported for integer or bool input dtype operator torch 2",
    "pytorch MPS complex64 complex half operator not supported Metal",
    "pytorch MPS conv2d conv3d conv_transpose output channels greater than 65536 not supported",
    "pytorch MPS scaled_dot_product_attention mask wrong or crash Apple silicon",
    "pytorch MPS pooling upsample interpolate grid_sample padding_mode not implemented or wrong",
    "pytorch MPS linalg svd cholesky solve lu not implemented fails error",
    "pytorch MPS scatter index_put gather sort topk unique wrong result or unsupported",
    "pytorch MPS LSTM GRU backward error shapes bidirectional projections",
    "pytorch MPS fft stft istft angle complex error Apple",
)
MPS = "apple-mps"
ON_HOST = {"PYTORCH_ENABLE_MPS_FALLBACK": "1"}

X = torch.linspace(-1, 1, 24).view(4, 6)
SQUARE = torch.eye(4) * 2
COMPLEX = torch.complex(torch.ones(2, 3, 4), torch.ones(2, 3, 4))
BOXES = torch.tensor([[0.0, 0.0, 2.0, 2.0], [1.0, 1.0, 3.0, 3.0]])
LATE = torch.zeros(2**24 + 8, dtype=torch.bool)
LATE[-3] = True
FIVE = torch.ones(5, 4, 3, 2, 1)
QUERY = torch.ones(1, 1, 2, 4)
WAVE = torch.linspace(0, 1, 4096).view(1, 4096)


class Residual(nn.Module):
    """An embedding, two linear layers beside a shortcut, and a loss of classes."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(16, 8)
        self.inner = nn.ModuleList([nn.Linear(8, 8), nn.Linear(8, 8)])
        self.outer = nn.Linear(8, 16)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.embedding(ids)
        for layer in self.inner:
            x = x + torch.relu(layer(x))
        return F.cross_entropy(self.outer(x).flatten(0, 1), ids.flatten())


def _all_of_five(x: Tensor) -> Tensor:
    return x.all(dim=0)


def _longest(x: Tensor) -> Tensor:
    return x.expand(2**31).max()


def _ends_of_long_rows(x: Tensor) -> Tensor:
    rows = torch.empty(2, 2**31, dtype=torch.int8, device=x.device)
    return torch.cat((rows[:, :3], rows[:, -3:]), 1)


def _masked_in_place(x: Tensor, mask: Tensor) -> Tensor:
    return (x + 1).t().masked_fill_(mask, 0.0)


def _addcdiv_in_place(x: Tensor, y: Tensor, z: Tensor) -> Tensor:
    return (x + 1).t().addcdiv_(y.t(), z.t())


def _uniform_in_place(x: Tensor) -> Tensor:
    return torch.empty_like(x).t().uniform_()


def _slope(x: Tensor) -> Tensor:
    return torch.nonzero(torch.gradient(x, dim=(2, 3))[0])


def _largest_marked(x: Tensor, marks: Tensor) -> Tensor:
    places = x.topk(k=2, dim=1).indices
    return marks.clone().scatter_(1, places, 1.0)


def _largest_kept(x: Tensor) -> Tensor:
    turned = torch.permute(x, (0, 2, 1))
    found = torch.topk(turned, k=2, sorted=False)
    return torch.zeros_like(turned).scatter_(2, found.indices, found.values)


def _spread_complex(x: Tensor, places: Tensor) -> Tensor:
    return torch.zeros_like(x).scatter_add_(2, places, x)


def _there_and_back(x: Tensor) -> Tensor:
    return torch.fft.irfft(torch.fft.rfft(x), x.numel())  # type: ignore[no-any-return]  # of torch


def _through_frequencies(x: Tensor) -> Tensor:
    window = torch.hann_window(1024, device=x.device)
    found = torch.stft(x, 1024, 256, window=window, return_complex=True)
    return torch.istft(found, 1024, 256, window=window)


def _columns_sorted(x: Tensor) -> Tensor:
    return x.expand(3, 2**22 + 1).abs().argsort(dim=0)


def _attention_of_groups(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)


REPORTS = (
    Report(
        "MPS: nms", "pytorch/pytorch#77754", 0,
        "`torchvision::nms` is not implemented with torch 2.2.1 and torchvision 0.17.1",
        f"{MPS}@2.2.2", Met.REFUSED, Because.NO_KERNEL,
        lambda boxes: torch.ops.torchvision.nms(boxes, boxes[:, 2], 0.5), (BOXES,),
        ("torchvision::nms",),
    ),
    Report(
        "MPS: where of many elements", "pytorch/pytorch#122233", 2,
        "places beyond 2**24 that `where` finds are rounded as float32 does",
        f"{MPS}@2.2.2", Met.WRONG, Because.SHAPE,
        lambda x: torch.where(x)[0], (LATE,), ("aten::nonzero", "aten::where"),
    ),
    Report(
        "MPS: product with a transpose", "pytorch/pytorch#193487", 2,
        "`a.T @ b` is wrong by 10 to 30 % of its scale, as the memory's history has it",
        f"{MPS}@2.13.0", Met.WRONG, Because.OTHER,
        lambda a, b: a.T @ b, (torch.ones(40, 25), torch.ones(40, 25)),
        ("aten::mm", "aten::matmul"), mended={f"{MPS}@2.7.1": Met.WRONG},
    ),
    Report(
        "MPS: bfloat16 in torch 2.1", "oobabooga/textgen#5216", 3,
        "BFloat16 is not supported on MPS",
        f"{MPS}@2.1.2", Met.REFUSED, Because.DTYPE,
        lambda x: x.to(torch.bfloat16) + 1, (X,), ("aten::to", "aten::_to_copy", "aten::add"),
    ),
    Report(
        "MPS: convolution in bfloat16", "bmaltais/kohya_ss#882", 3,
        "a convolution in bfloat16 ends the process: no support for that dtype",
        f"{MPS}@2.0.1", Met.REFUSED, Because.DTYPE,
        nn.Conv2d(3, 4, 3).bfloat16(), (torch.ones(1, 3, 8, 8).bfloat16(),),
        ("aten::convolution", "aten::conv2d", "aten::_convolution"),
    ),
    Report(
        "MPS: antialiased interpolation", "roboflow/rf-detr#29", 4,
        "`_upsample_bilinear2d_aa` falls back to the CPU, with a warning",
        f"{MPS}@2.5.1", Met.ON_THE_HOST, Because.NO_KERNEL,
        lambda x: F.interpolate(x, size=(4, 4), mode="bilinear", antialias=True),
        (torch.ones(1, 3, 8, 8),), ("aten::_upsample_bilinear2d_aa",),
        environment=ON_HOST,
    ),
    Report(
        "MPS: scatter_add of complex", "SUC-DriverOld/MSST-WebUI#81", 4,
        "scatter(): Yet not supported for complex",
        f"{MPS}@2.7.1", Met.REFUSED, Because.DTYPE,
        _spread_complex, (COMPLEX, torch.zeros(2, 3, 4, dtype=torch.int64)),
        ("aten::scatter_add_", "aten::scatter_add", "aten::scatter"),
    ),
    Report(
        "MPS: sgn, backwards", "pytorch/pytorch#106594", 4,
        "the backward pass calls `sgn`, which falls back to the CPU",
        f"{MPS}@2.0.1", Met.ON_THE_HOST, Because.NO_KERNEL,
        Learned(F.l1_loss, X), (X * 2,), ("aten::sgn",), training=True, environment=ON_HOST,
    ),
    Report(
        "MPS: sparse CSR", "scverse/scvi-tools#3981", 4,
        "sparse compressed tensors do not exist on MPS",
        f"{MPS}@2.13.0", Met.REFUSED, Because.LAYOUT,
        lambda rows, columns, values: torch.sparse_csr_tensor(rows, columns, values, (2, 2)),
        (torch.tensor([0, 1, 2]), torch.tensor([0, 1]), torch.ones(2)),
        (
            "aten::sparse_csr_tensor", "aten::sparse_compressed_tensor",
            "aten::_sparse_csr_tensor_unsafe", "aten::_sparse_compressed_tensor_unsafe",
        ),
    ),
    Report(
        "MPS: eig", "pytorch/pytorch#195278", 4,
        "`linalg.eig` has no kernel: a pull request of September 2026 writes it",
        f"{MPS}@2.13.0", Met.REFUSED, Because.NO_KERNEL,
        torch.linalg.eig, (SQUARE,), ("aten::linalg_eig",),
    ),
    Report(
        "MPS: nearest interpolation by a factor", "replicate/latent-consistency-model#3", 4,
        "with a scale factor it falls back to the CPU before macOS 13",
        f"{MPS}@2.1.2", Met.ON_THE_HOST, Because.OTHER,
        lambda x: F.interpolate(x, scale_factor=2.0, mode="nearest"),
        (torch.ones(1, 3, 8, 8),), ("aten::upsample_nearest2d",),
    ),
    Report(
        "MPS: a dimension of 2**31", "pytorch/pytorch#158824", 5,
        "all operations abort when a dimension is longer than INT_MAX",
        f"{MPS}@2.7.1", Met.REFUSED, Because.SHAPE,
        _longest, (torch.zeros(1, dtype=torch.uint8),), ("aten::max",),
    ),
    Report(
        "MPS: printing rows of 2**31", "pytorch/pytorch#164415", 5,
        "the ends of such rows, joined to be printed: dims larger than INT_MAX",
        f"{MPS}@2.8.0", Met.REFUSED, Because.SHAPE,
        _ends_of_long_rows, (torch.ones(1),), ("aten::cat",),
    ),
    Report(
        "MPS: all of five dimensions", "pytorch/pytorch#95538", 5,
        "`all` over the first of five dimensions aborts",
        f"{MPS}@2.0.1", Met.REFUSED, Because.SHAPE,
        _all_of_five, (torch.zeros(1, 1, 1, 1, 1),), ("aten::all",),
    ),
    Report(
        "MPS: inverse of 1025 rows", "pytorch/pytorch#138200", 6,
        "`linalg.inv` aborts for matrices larger than 1024",
        f"{MPS}@2.5.1", Met.REFUSED, Because.SHAPE,
        torch.linalg.inv, (torch.eye(1025),), ("aten::linalg_inv_ex", "aten::linalg_inv"),
    ),
    Report(
        "MPS: binary cross entropy of (B, T, 1)", "pytorch/pytorch#166746", 6,
        "the backward pass multiplies (32, 50, 1) by (32, 50) and aborts",
        f"{MPS}@2.9.1", Met.REFUSED, Because.SHAPE,
        Learned(
            lambda x, y: F.binary_cross_entropy(torch.sigmoid(x), y, reduction="none").sum(),
            torch.zeros(32, 50, 1),
        ),
        (torch.ones(32, 50, 1),), ("aten::binary_cross_entropy_backward",), training=True,
        mended={f"{MPS}@2.10.0": Met.WORKS},
    ),
    Report(
        "MPS: masked_fill_ of a transpose", "pytorch/pytorch#110120", 7,
        "in place, on a tensor that is not contiguous, the result is in another order",
        f"{MPS}@2.0.1", Met.WRONG, Because.LAYOUT,
        _masked_in_place, (X, X.t() > 0), ("aten::masked_fill_", "aten::masked_fill"),
    ),
    Report(
        "MPS: addcdiv_ of a transpose", "pytorch/pytorch#118115", 7,
        "in place, on transposed tensors, the result differs from the CPU's",
        f"{MPS}@2.1.2", Met.WRONG, Because.LAYOUT,
        _addcdiv_in_place, (X, X, X + 2), ("aten::addcdiv_", "aten::addcdiv"),
    ),
    Report(
        "MPS: random numbers into a transpose", "pytorch/pytorch#165267", 7,
        "in place, on a tensor that is not contiguous, nothing is written before macOS 15",
        f"{MPS}@2.9.1", Met.WRONG, Because.LAYOUT,
        _uniform_in_place, (X,), ("aten::uniform_", "aten::uniform"),
    ),
    Report(
        "MPS: strides of nonzero", "pytorch/pytorch#170175", 7,
        "the result has other strides than that of the CPU and of CUDA",
        f"{MPS}@2.9.1", Met.WRONG, Because.LAYOUT,
        _slope, (torch.linspace(0, 1, 9).view(1, 1, 3, 3),), ("aten::nonzero",),
    ),
    Report(
        "MPS: gradients of many rows", "pytorch/pytorch#177116", 8,
        "gradients of linear layers are 1,000 times too large for more than 32,768 rows, once "
        "another batch size was seen",
        f"{MPS}@2.10.0", Met.WRONG, Because.SHAPE,
        Residual(), (torch.zeros(8194, 4, dtype=torch.int64),),
        ("aten::linear_backward", "aten::linear", "aten::mm", "aten::addmm"), training=True,
    ),
    Report(
        "MPS: sum in quick succession", "pytorch/pytorch#178497", 9,
        "`sum`, `mean` and others are wrong now and then when they are called many times",
        f"{MPS}@2.11.0", Met.WRONG, Because.OTHER,
        lambda x: (x.sum(), x.mean(), torch.count_nonzero(x)), (torch.ones(16, 21, 256),),
        ("aten::sum", "aten::mean", "aten::count_nonzero", "aten::nansum", "aten::trace"),
    ),
    Report(
        "MPS: max of int64 in torch 2.0", "pytorch/pytorch#90273", 9,
        "it was zero with torch 1.13; torch 2.0 refuses it instead",
        f"{MPS}@2.0.1", Met.REFUSED, Because.DTYPE,
        torch.max, (torch.arange(6),), ("aten::max",),
    ),
    Report(
        "MPS: products of complex matrices", "neuraloperator/neuraloperator#289", 11,
        "MPS device does not support bmm for non-float inputs",
        f"{MPS}@2.2.2", Met.REFUSED, Because.DTYPE,
        lambda x, w: torch.einsum("bik,iok->bok", x, w), (COMPLEX, COMPLEX.view(3, 2, 4)),
        ("aten::bmm",),
    ),
    Report(
        "MPS: rfft in torch 2.0", "pytorch/pytorch#78044", 11,
        "FFTs are not implemented, and fail in a fallback too",
        f"{MPS}@2.0.1", Met.REFUSED, Because.NO_KERNEL,
        lambda x: torch.fft.rfft(x).abs(), (WAVE,), ("aten::_fft_r2c", "aten::abs"),
    ),
    Report(
        "MPS: times 1j", "pytorch/pytorch#119088", 11,
        "a float tensor times `1j` fails an assertion about complex types",
        f"{MPS}@2.2.2", Met.REFUSED, Because.DTYPE,
        lambda x: x * 1j, (torch.ones(2, 2),), ("aten::mul",),
    ),
    Report(
        "MPS: plus 1j times a sine", "pytorch/pytorch#105804", 11,
        "cos + 1j sin ends the process: no support for ComplexDouble",
        f"{MPS}@2.0.1", Met.REFUSED, Because.DTYPE,
        lambda a, b: a * (torch.cos(a) + 1j * torch.sin(b)), (X, X), ("aten::mul", "aten::add"),
    ),
    Report(
        "MPS: complex128", "pytorch/pytorch#176981", 11,
        "a complex128 tensor can be moved to MPS and then no operation runs",
        f"{MPS}@2.10.0", Met.REFUSED, Because.DTYPE,
        lambda x: x * x, (COMPLEX.to(torch.complex128),), ("aten::mul",),
    ),
    Report(
        "MPS: norm of complex", "pytorch/pytorch#146691", 11,
        "norm ops are not supported for complex yet",
        f"{MPS}@2.6.0", Met.REFUSED, Because.DTYPE,
        lambda x: torch.linalg.norm(x, dim=-1), (COMPLEX[0],), ("aten::linalg_vector_norm",),
    ),
    Report(
        "MPS: 65537 channels", "pytorch/pytorch#129207", 12,
        "a Conv1d of more than 65536 output channels is wrong",
        f"{MPS}@2.3.1", Met.WRONG, Because.SHAPE,
        nn.Conv1d(1, 65537, 3, padding=1), (torch.ones(1, 1, 3),),
        ("aten::convolution", "aten::conv1d", "aten::_convolution"),
    ),
    Report(
        "MPS: attention of grouped heads", "pytorch/pytorch#149132", 13,
        "`enable_gqa` with fewer key heads than query heads ends the process",
        f"{MPS}@2.6.0", Met.REFUSED, Because.SHAPE,
        _attention_of_groups,
        (torch.ones(2, 4, 3, 8), torch.ones(2, 2, 3, 8), torch.ones(2, 2, 3, 8), torch.ones(3, 3)),
        ("aten::scaled_dot_product_attention", "aten::_scaled_dot_product_attention_math_for_mps"),
    ),
    Report(
        "MPS: a row that is masked whole", "pytorch/pytorch#156707", 13,
        "attention of a query that may see nothing is NaN instead of zero",
        f"{MPS}@2.7.1", Met.WRONG, Because.OTHER,
        lambda q, mask: F.scaled_dot_product_attention(q, q, q, attn_mask=mask),
        (QUERY, torch.tensor([[[[False, False], [True, True]]]])),
        ("aten::scaled_dot_product_attention", "aten::_scaled_dot_product_attention_math_for_mps"),
    ),
    Report(
        "MPS: a mask for all heads", "pytorch/pytorch#184180", 13,
        "a mask that is broadcast over heads is read at the wrong place",
        f"{MPS}@2.12.1", Met.WRONG, Because.SHAPE,
        lambda q, mask: F.scaled_dot_product_attention(q, q, q, attn_mask=mask),
        (torch.ones(2, 4, 8, 64), torch.zeros(2, 1, 8, 8)),
        ("aten::scaled_dot_product_attention", "aten::_scaled_dot_product_attention_math_for_mps"),
    ),
    Report(
        "MPS: grid_sample, backwards", "roboflow/rf-detr#622", 14,
        "`grid_sampler_2d_backward` is not implemented",
        f"{MPS}@2.10.0", Met.REFUSED, Because.NO_KERNEL,
        Learned(
            lambda x, grid: F.grid_sample(x, grid, align_corners=False), torch.ones(1, 2, 4, 4)
        ),
        (torch.zeros(1, 3, 3, 2),), ("aten::grid_sampler_2d_backward",), training=True,
    ),
    Report(
        "MPS: linear interpolation", "pytorch/pytorch#118814", 14,
        "`upsample_linear1d` is not implemented",
        f"{MPS}@2.2.2", Met.REFUSED, Because.NO_KERNEL,
        lambda x: F.interpolate(x, size=20, mode="linear"), (torch.ones(2, 3, 10),),
        ("aten::upsample_linear1d",), mended={f"{MPS}@2.10.0": Met.WORKS},
    ),
    Report(
        "MPS: lu_solve", "pytorch/pytorch#167238", 15,
        "`linalg.lu_solve` does not take MPS inputs",
        f"{MPS}@2.9.1", Met.REFUSED, Because.NO_KERNEL,
        lambda lu, pivots, b: torch.linalg.lu_solve(lu, pivots, b),
        (SQUARE, torch.arange(1, 5, dtype=torch.int32), torch.ones(4, 1)),
        ("aten::linalg_lu_solve",),
    ),
    Report(
        "MPS: cholesky in torch 2.0", "pytorch/pytorch#113062", 15,
        "a sample of a MultivariateNormal asks for `linalg_cholesky_ex`: not implemented",
        f"{MPS}@2.0.1", Met.REFUSED, Because.NO_KERNEL,
        torch.linalg.cholesky, (SQUARE,), ("aten::linalg_cholesky_ex",),
    ),
    Report(
        "MPS: matrix_rank", "pytorch/pytorch#114771", 15,
        "`matrix_rank` and `pinv` make a float64 tensor, which MPS has not",
        f"{MPS}@2.1.2", Met.REFUSED, Because.DTYPE,
        torch.linalg.matrix_rank, (SQUARE,),
        ("aten::linalg_matrix_rank", "aten::_linalg_svd", "aten::scalar_tensor", "aten::zeros"),
    ),
    Report(
        "MPS: determinant of complex", "pytorch/pytorch#187107", 15,
        "`linalg.det` and `linalg.solve` refuse complex matrices: lu_factor takes floats alone",
        f"{MPS}@2.12.1", Met.REFUSED, Because.DTYPE,
        torch.linalg.det, (SQUARE.to(torch.complex64),),
        ("aten::_linalg_det", "aten::linalg_lu_factor", "aten::linalg_lu_factor_ex"),
    ),
    Report(
        "MPS: cholesky_solve", "pytorch/pytorch#176703", 15,
        "`cholesky_solve` is often asked for: a pull request of March 2026 writes it",
        f"{MPS}@2.10.0", Met.REFUSED, Because.NO_KERNEL,
        lambda b, a: torch.cholesky_solve(b, a), (torch.ones(4, 1), SQUARE),
        ("aten::cholesky_solve", "aten::_cholesky_solve_helper"),
    ),
    Report(
        "MPS: scatter_ of a last dimension of one", "pytorch/pytorch#121557", 16,
        "`scatter_` of a number at places of `topk` aborts",
        f"{MPS}@2.2.2", Met.REFUSED, Because.SHAPE,
        _largest_marked, (torch.rand(10, 100, 1), torch.zeros(10, 100, 1, dtype=torch.int64)),
        ("aten::scatter_", "aten::scatter"),
    ),
    Report(
        "MPS: scatter_ after permute", "pytorch/pytorch#115152", 16,
        "`scatter_` into zeros like a permuted tensor leaves zeros",
        f"{MPS}@2.1.2", Met.WRONG, Because.LAYOUT,
        _largest_kept, (torch.rand(8, 20, 10),), ("aten::scatter_", "aten::scatter"),
    ),
    Report(
        "MPS: unique of large int64", "pytorch/pytorch#195595", 16,
        "the inverse of `unique` is wrong for values above 2**24",
        f"{MPS}@2.13.0", Met.WRONG, Because.OTHER,
        lambda x: torch.unique(x, return_inverse=True),
        (torch.tensor([450_000_001, 450_000_002, 450_000_001]),), ("aten::_unique2",),
    ),
    Report(
        "MPS: unique of rows", "pytorch/pytorch#118126", 16,
        "`unique_dim` has no kernel: a pull request of January 2024 writes it",
        f"{MPS}@2.1.2", Met.REFUSED, Because.NO_KERNEL,
        lambda x: torch.unique(x, dim=0), (torch.ones(3, 2),), ("aten::unique_dim",),
    ),
    Report(
        "MPS: argsort of many columns", "pytorch/pytorch#183885", 16,
        "`argsort` over the first dimension of (3, 2**22 + 1) gives wrong places",
        f"{MPS}@2.12.1", Met.WRONG, Because.SHAPE,
        _columns_sorted, (torch.ones(3, 1),), ("aten::argsort", "aten::sort"),
    ),
    Report(
        "MPS: topk of five dimensions", "pytorch/pytorch#154890", 16,
        "`topk` over the first of five dimensions aborts",
        f"{MPS}@2.7.1", Met.REFUSED, Because.SHAPE,
        lambda x: torch.topk(x, k=5, dim=0), (FIVE,), ("aten::topk",),
    ),
    Report(
        "MPS: irfft of an odd length", "pytorch/pytorch#126649", 18,
        "`irfft` of an `rfft` of five elements gives them in another order",
        f"{MPS}@2.3.1", Met.WRONG, Because.SHAPE,
        _there_and_back, (torch.linspace(0, 1, 5),), ("aten::_fft_c2r",),
    ),
    Report(
        "MPS: angle", "sdatkinson/neural-amp-modeler#453", 18,
        "`angle` is not implemented",
        f"{MPS}@2.4.1", Met.REFUSED, Because.NO_KERNEL,
        torch.angle, (COMPLEX,), ("aten::angle",),
    ),
    Report(
        "MPS: irfft of 64 elements", "pytorch/pytorch#124096", 18,
        "`irfft` of an `rfft` of 64 elements does not give them back",
        f"{MPS}@2.3.1", Met.WRONG, Because.OTHER,
        _there_and_back, (torch.linspace(0, 1, 64),), ("aten::_fft_c2r",),
    ),
    Report(
        "MPS: istft, backwards", "pytorch/pytorch#138525", 18,
        "a model with `stft` and `istft` aborts when it is trained: a buffer is too small",
        f"{MPS}@2.5.1", Met.REFUSED, Because.LAYOUT,
        Learned(lambda x: _through_frequencies(x).sum(), WAVE), (),
        ("aten::unfold_backward", "aten::istft", "aten::stft", "aten::as_strided"),
        training=True,
    ),
)  # fmt: skip

LEFT_OUT = (
    LeftOut("pytorch/pytorch#82034", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#77764", Why.KNOWN),
    LeftOut("PennyLaneAI/pennylane#6896", Why.NO_CALL),
    LeftOut("tensorflow/quantum#654", Why.NO_CALL),
    LeftOut("grmlarose/mpsim#2", Why.NO_CALL),
    LeftOut("weigertlab/trackastra#6", Why.NO_PROGRAM),
    LeftOut("mathysgrapotte/stimulus-py#138", Why.NO_PROGRAM),
    LeftOut("noahgolmant/pytorch-hessian-eigenthings#43", Why.NO_PROGRAM),
    LeftOut("FrederikLizakJohansen/DebyeCalculator#42", Why.NO_PROGRAM),
    LeftOut("merzlab/QUICK#28", Why.NO_CALL),
    LeftOut("TransformerLensOrg/TransformerLens#1178", Why.KNOWN),
    LeftOut("pytorch/pytorch#123151", Why.NO_PROGRAM),
    LeftOut("parthenon-hpc-lab/parthenon#323", Why.NO_CALL),
    LeftOut("BLAST-WarpX/warpx#1393", Why.NO_CALL),
    LeftOut("data61/MP-SPDZ#1627", Why.NO_CALL),
    LeftOut("intel/luv-yocto#87", Why.NO_CALL),
    LeftOut("pytorch/pytorch#84936", Why.NO_PROGRAM),
    LeftOut("totokunda/apex-studio#9", Why.NO_PROGRAM),
    LeftOut("tyfeld/MMaDA-Parallel#3", Why.KNOWN),
    LeftOut("easydiffusion/easydiffusion#1746", Why.KNOWN),
    LeftOut("ml-explore/mlx-examples#40", Why.KNOWN),
    LeftOut("Qihoo360/360zhinao#6", Why.KNOWN),
    LeftOut("pytorch/pytorch#122602", Why.KNOWN),
    LeftOut("unifyai/ivy#17445", Why.NO_CALL),
    LeftOut("CAREamics/MicroSplit-reproducibility#22", Why.KNOWN),
    LeftOut("pytorch/pytorch#138423", Why.NO_CALL),
    LeftOut("m87-labs/moondream#117", Why.KNOWN),
    LeftOut("computational-cell-analytics/micro-sam#176", Why.KNOWN),
    LeftOut("mrdbourke/pytorch-deep-learning#356", Why.NO_TARGET),
    LeftOut("weigertlab/napari-trackastra#2", Why.NO_PROGRAM),
    LeftOut("pytorch/pytorch#80278", Why.NO_TARGET),
    LeftOut("invoke-ai/InvokeAI#728", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#84039", Why.NO_TARGET),
    LeftOut("mnick/scikit-tensor#19", Why.NO_CALL),
    LeftOut("pytorch/pytorch#154881", Why.KNOWN),
    LeftOut("pytorch/pytorch#155293", Why.NO_PROGRAM),
    LeftOut("pytorch/pytorch#143859", Why.NO_PROGRAM),
    LeftOut("ROCm/pytorch#246", Why.NO_TARGET),
    LeftOut("hako-mikan/sd-webui-negpip#31", Why.NO_PROGRAM),
    LeftOut("llvm/llvm-project#59182", Why.NO_CALL),
    LeftOut("pytorch/pytorch#123364", Why.NO_PROGRAM),
    LeftOut("pytorch/pytorch#77818", Why.KNOWN),
    LeftOut("llvm/llvm-project#87089", Why.NO_CALL),
    LeftOut("tillahoffmann/jax-mps#57", Why.NO_CALL),
    LeftOut("llvm/llvm-project#118223", Why.NO_CALL),
    LeftOut("llvm/llvm-project#205063", Why.NO_CALL),
    LeftOut("llvm/llvm-project#131132", Why.NO_CALL),
    LeftOut("Oneflow-Inc/oneflow#7813", Why.NO_CALL),
    LeftOut("pytorch/pytorch#170181", Why.KNOWN),
    LeftOut("pytorch/pytorch#86056", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#80859", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#12230", Why.NO_TARGET),
    LeftOut("Oneflow-Inc/oneflow#8302", Why.NO_CALL),
    LeftOut("unifyai/ivy#6184", Why.NO_CALL),
    LeftOut("tensorflow/tensorflow#34554", Why.NO_CALL),
    LeftOut("Kotlin/kotlindl#8", Why.NO_CALL),
    LeftOut("openai/baselines#142", Why.NO_CALL),
    LeftOut("sdc17/UPop#9", Why.NO_CALL),
    LeftOut("pytorch/pytorch#96416", Why.NO_TARGET),
    LeftOut("meta-pytorch/opacus#414", Why.NO_CALL),
    LeftOut("mratsim/Arraymancer#142", Why.NO_CALL),
    LeftOut("OSUPCVLab/MobileUNETR#2", Why.NO_CALL),
    LeftOut("state-spaces/mamba#445", Why.NO_CALL),
    LeftOut("apache/mxnet#1795", Why.NO_CALL),
    LeftOut("pytorch/pytorch#100764", Why.KNOWN),
    LeftOut("pytorch/pytorch#82543", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#87014", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#91065", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#85406", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#81384", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#78020", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#191693", Why.UNCONFIRMED),
    LeftOut("pytorch/pytorch#192904", Why.UNCONFIRMED),
    LeftOut("pytorch/pytorch#187263", Why.UNCONFIRMED),
    LeftOut("pytorch/pytorch#86319", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#77966", Why.NO_CALL),
    LeftOut("pytorch/pytorch#191783", Why.UNCONFIRMED),
    LeftOut("pytorch/pytorch#80784", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#79200", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#90019", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#108395", Why.KNOWN),
    LeftOut("pytorch/pytorch#127178", Why.KNOWN),
    LeftOut("pytorch/pytorch#134416", Why.KNOWN),
    LeftOut("pytorch/pytorch#152278", Why.KNOWN),
    LeftOut("pytorch/pytorch#129484", Why.KNOWN),
    LeftOut("opendatalab/MinerU#2438", Why.KNOWN),
    LeftOut("pytorch/pytorch#140726", Why.KNOWN),
    LeftOut("pytorch/pytorch#142515", Why.KNOWN),
    LeftOut("pytorch/pytorch#144445", Why.KNOWN),
    LeftOut("pytorch/pytorch#134808", Why.KNOWN),
    LeftOut("Comfy-Org/ComfyUI#2044", Why.KNOWN),
    LeftOut("opendatalab/MinerU#2793", Why.KNOWN),
    LeftOut("pytorch/pytorch#176767", Why.KNOWN),
    LeftOut("huggingface/transformers#44359", Why.KNOWN),
    LeftOut("pytorch/pytorch#195910", Why.KNOWN),
    LeftOut("multimodal-art-projection/YuE#176", Why.KNOWN),
    LeftOut("invoke-ai/InvokeAI#7887", Why.NO_PROGRAM),
    LeftOut("pytorch/pytorch#181856", Why.UNCONFIRMED),
    LeftOut("eole-nlp/eole#98", Why.NO_CALL),
    LeftOut("pytorch/pytorch#125098", Why.KNOWN),
    LeftOut("pytorch/pytorch#173151", Why.KNOWN),
    LeftOut("nagadomi/nunif#112", Why.KNOWN),
    LeftOut("Fannovel16/ComfyUI-Frame-Interpolation#76", Why.KNOWN),
    LeftOut("pytorch/pytorch#8884", Why.NO_CALL),
    LeftOut("Comfy-Org/ComfyUI#15336", Why.KNOWN),
    LeftOut("dajes/frame-interpolation-pytorch#4", Why.KNOWN),
    LeftOut("pytorch/pytorch#89277", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#141287", Why.KNOWN),
    LeftOut("pytorch/pytorch#156658", Why.NO_CALL),
    LeftOut("pytorch/pytorch#165871", Why.UNCONFIRMED),
    LeftOut("pytorch/pytorch#165870", Why.UNCONFIRMED),
    LeftOut("pytorch/pytorch#78915", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#94663", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#97093", Why.KNOWN),
    LeftOut("pytorch/pytorch#94765", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#94754", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#95137", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#95563", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#90421", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#80306", Why.NO_TARGET),
    LeftOut("kulinseth/pytorch#320", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#90277", Why.NO_TARGET),
    LeftOut("open-lm-engine/accelerated-model-architectures#249", Why.NO_CALL),
    LeftOut("pytorch/pytorch#183061", Why.NO_CALL),
    LeftOut("pytorch/pytorch#116392", Why.KNOWN),
    LeftOut("voicepaw/so-vits-svc-fork#337", Why.NO_PROGRAM),
)
