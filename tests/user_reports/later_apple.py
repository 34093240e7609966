"""A second look at what users of Apple's GPUs met, by other queries than the first."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "MPS torch.cumsum cumprod cummax wrong or unsupported on Apple silicon",
    "MPS embedding nn.Embedding embedding_bag wrong or crash Apple M1 pytorch",
    "MPS torch.where masked_select boolean indexing bug M2 Mac pytorch",
    "[MPS] BatchNorm InstanceNorm GroupNorm LayerNorm gives different output than CPU "
    "for non-contiguous or large input",
    "[MPS] torch.remainder fmod floor_divide pow integer division wrong result Metal kernel",
    "MPS torch.histc bincount searchsorted bucketize quantile median kthvalue not "
    "implemented or wrong",
    "MPS multinomial randperm bernoulli normal randint random sampling wrong on Apple silicon",
    "MPS F.pad reflect replicate circular constant negative padding crash or wrong result",
    "MPS torch.cdist norm cosine_similarity logsumexp var std reduction wrong or NaN on Mac",
    "MPS conv_transpose2d conv3d dilation groups stride error or incorrect gradient "
    "Apple silicon 2025 2026",
    "MPS torch.polar torch.complex isin erfinv igamma digamma special function "
    "missing not implemented for MPS",
    "pytorch MPS [MPS] kernel ignores storage offset or strides wrong values silent "
    "correctness July August 2026",
    "pytorch MPS int64 uint8 int8 matmul bmm unsupported or wrong integer Apple M1 M2 torch 2",
    "pytorch MPS sort searchsorted unique repeat_interleave roll tril masked wrong or "
    "crash large tensor macOS 14 15 float16 bfloat16",
    "[MPS] fails on empty tensor or zero-dim scalar or non-contiguous out= argument "
    "index_fill take_along_dim diag trace pytorch 2.3 2.5 2.7",
)
MPS = "apple-mps"

X = torch.linspace(-1, 1, 24).view(4, 6)
MANY = torch.linspace(0, 1, 2000).view(1000, 2)
TABLE = torch.arange(16.0).view(4, 4)
PLACES = torch.tensor([0, 1, 2])
LINE = torch.tensor([[1.0, 2.0, 3.0]])
CUBE = torch.linspace(-1, 1, 60).view(3, 4, 5)
BYTES = torch.ones(64, 32, dtype=torch.int8)
PICTURES = torch.linspace(0, 1, 10 * 3 * 352 * 352).view(10, 3, 352, 352)


class Embeddings(nn.Module):
    """Embeddings of 36 and of 48 numbers, looked up one after another."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Embedding(100, 36), nn.Embedding(100, 36)
        self.wider = nn.Embedding(100, 48)

    def forward(self, ids: Tensor) -> Tensor:
        found = [layer(ids).sum() - 1 for layer in (self.first, self.second, self.wider)]
        return torch.stack(found)


def _bags(mode: str, *, last: bool) -> nn.EmbeddingBag:
    return nn.EmbeddingBag(4, 4, mode=mode, include_last_offset=last)


def _and_second(flags: Tensor, base: Tensor) -> Tensor:
    return torch.bitwise_and(flags, base[1])


def _filled(x: Tensor, mask: Tensor) -> Tensor:
    return (x + 1).permute(2, 0, 1).masked_fill_(mask.permute(2, 0, 1), 7.0)


def _norms(x: Tensor) -> tuple[Tensor, Tensor]:
    return x.norm(2, dim=[]), x.norm(2, dim=0)


def _linear_of_repeated(base: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return F.linear(torch.as_strided(base, (5, 499, 768), (0, 768, 1)), weight, bias)


REPORTS = (
    Report(
        "MPS: cumprod", "kulinseth/pytorch#419", 0,
        "`cumprod` is not there: a pull request of April 2023 writes it",
        f"{MPS}@2.0.1", Met.REFUSED, Because.NO_KERNEL,
        lambda x: torch.cumprod(x, 1), (X,), ("aten::cumprod",),
    ),
    Report(
        "MPS: cumsum of int64", "scottviteri/MarkovianTraining#9", 0,
        "MPS does not support cumsum op with int64 input, which a nightly build mends",
        f"{MPS}@2.0.1", Met.REFUSED, Because.DTYPE,
        lambda x: torch.cumsum(x, -1), (torch.arange(8),), ("aten::cumsum",),
    ),
    Report(
        "MPS: cumsum of booleans", "pytorch/pytorch#96614", 0,
        "`cumsum` of booleans gives other numbers than the CPU",
        f"{MPS}@2.0.1", Met.WRONG, Because.DTYPE,
        lambda x: x.cumsum(0), (MANY < 0.5,), ("aten::cumsum",),
    ),
    Report(
        "MPS: cummax", "pytorch/pytorch#118471", 0,
        "`cummax` and `cummin` are not there: a pull request of January 2024 writes them",
        f"{MPS}@2.2.2", Met.REFUSED, Because.NO_KERNEL,
        lambda x: torch.cummax(x, 1), (X,), ("aten::cummax", "aten::_cummax_helper"),
    ),
    Report(
        "MPS: embedding_bag", "pytorch/pytorch#162270", 1,
        "`_embedding_bag` has no kernel, of which an issue of September 2025 asks for one",
        f"{MPS}@2.8.0", Met.REFUSED, Because.NO_KERNEL,
        _bags("mean", last=False), (PLACES, torch.tensor([0, 2])),
        (
            "aten::_embedding_bag", "aten::embedding_bag", "aten::_embedding_bag_forward_only",
        ),
    ),
    Report(
        "MPS: the last offset of bags", "pytorch/pytorch#190060", 1,
        "with `include_last_offset` the last bag reaches to the end of the indices",
        f"{MPS}@2.13.0", Met.WRONG, Because.VALUE,
        lambda ids, table, starts: F.embedding_bag(
            ids, table, starts, mode="sum", include_last_offset=True
        ),
        (PLACES, TABLE, torch.tensor([0, 2])),
        (
            "aten::_embedding_bag", "aten::embedding_bag", "aten::_embedding_bag_forward_only",
        ),
    ),
    Report(
        "MPS: embeddings of several widths, backwards", "pytorch/pytorch#101198", 1,
        "the backward pass of a second width meets the shape of the first one, and aborts",
        f"{MPS}@2.0.1", Met.REFUSED, Because.OTHER,
        Embeddings(), (torch.tensor([[1, 3, 4, 4, 8], [2, 5, 7, 7, 9]]),),
        ("aten::embedding_dense_backward", "aten::embedding_backward"), training=True,
    ),
    Report(
        "MPS: and with the second flag", "pytorch/pytorch#182822", 2,
        "`bitwise_and` of booleans reads the first element of the storage of a scalar view",
        f"{MPS}@2.11.0", Met.WRONG, Because.LAYOUT,
        _and_second, (torch.tensor([True, False, True]), torch.tensor([True, False])),
        ("aten::bitwise_and",),
    ),
    Report(
        "MPS: histogram near its edges", "pytorch/pytorch#195076", 5,
        "elements just outside of the bins are counted",
        f"{MPS}@2.14.1", Met.WRONG, Because.OTHER,
        lambda x, bins: torch.histogram(x, bins=bins),
        (torch.tensor([0.5, -1e-7]), torch.tensor([0.0, 1.0, 2.0])), ("aten::histogram",),
    ),
    Report(
        "MPS: histc", "pytorch/pytorch#96652", 5,
        "`histc` and `histogram` are not there: a pull request of March 2023 writes them",
        f"{MPS}@2.0.1", Met.REFUSED, Because.NO_KERNEL,
        lambda x: torch.histc(x, bins=4), (X,), ("aten::histc",),
    ),
    Report(
        "MPS: var of many numbers", "pytorch/pytorch#197235", 8,
        "`var` of 3.7 million numbers is wrong now and then on macOS 27",
        f"{MPS}@2.14.1", Met.WRONG, Because.OTHER,
        lambda x: x.var(), (PICTURES,), ("aten::var", "aten::std", "aten::var_mean"),
    ),
    Report(
        "MPS: std of a negative dimension", "pytorch/pytorch#107116", 8,
        "the result of `std(dim=-2)` has the shape of that of the last dimension",
        f"{MPS}@2.0.1", Met.WRONG, Because.VALUE,
        lambda x: torch.std(x, dim=-2), (torch.linspace(0, 1, 24).view(2, 3, 4),),
        ("aten::std", "aten::var"),
    ),
    Report(
        "MPS: var of nothing", "pytorch/pytorch#184510", 8,
        "`var` along a dimension of no elements is zero instead of NaN",
        f"{MPS}@2.12.1", Met.WRONG, Because.SHAPE,
        lambda x: x.var(dim=1), (torch.empty(3, 0, 5),), ("aten::var", "aten::std"),
    ),
    Report(
        "MPS: norms along none and one", "pytorch/pytorch#97231", 8,
        "`norm` along no dimension and then along the first gives the first result again",
        f"{MPS}@2.0.1", Met.WRONG, Because.OTHER,
        _norms, (LINE,), ("aten::norm", "aten::linalg_vector_norm"),
    ),
    Report(
        "MPS: nansum of a scalar", "pytorch/pytorch#142221", 8,
        "`nansum` of a tensor of no dimensions crashes",
        f"{MPS}@2.6.0", Met.REFUSED, Because.SHAPE,
        torch.nansum, (torch.tensor(1.0),), ("aten::nansum",),
    ),
    Report(
        "MPS: igamma", "pytorch/pytorch#161725", 10,
        "`igamma` and `igammac` are asked for in August 2025",
        f"{MPS}@2.8.0", Met.REFUSED, Because.NO_KERNEL,
        torch.igamma, (X.abs() + 1, X.abs() + 2), ("aten::igamma",),
    ),
    Report(
        "MPS: linear of a repeated view", "pytorch/pytorch#167154", 11,
        "`linear` of a view whose first stride is zero aborts: the buffer is too small",
        f"{MPS}@2.8.0", Met.REFUSED, Because.LAYOUT,
        _linear_of_repeated, (torch.ones(499 * 768), torch.ones(4, 768), torch.ones(4)),
        ("aten::linear",),
    ),
    Report(
        "MPS: erfinv", "pytorch/pytorch#101507", 11,
        "`erfinv` is not there: a pull request of May 2023 writes it",
        f"{MPS}@2.0.1", Met.REFUSED, Because.NO_KERNEL,
        torch.erfinv, (X / 2,), ("aten::erfinv",),
    ),
    Report(
        "MPS: product of int8", "pytorch/pytorch#193153", 12,
        "`_int_mm` has no kernel until a pull request of August 2026",
        f"{MPS}@2.13.0", Met.REFUSED, Because.NO_KERNEL,
        torch._int_mm, (BYTES, BYTES.t().contiguous()), ("aten::_int_mm",),
        mended={f"{MPS}@2.15.0": Met.WORKS},
    ),
    Report(
        "MPS: product of integers", "pytorch/pytorch#145809", 12,
        "`mm` and `bmm` take floats alone: a pull request of January 2025 extends them",
        f"{MPS}@2.6.0", Met.REFUSED, Because.DTYPE,
        torch.bmm, (torch.ones(2, 3, 4, dtype=torch.int16), torch.ones(2, 4, 3, dtype=torch.int16)),
        ("aten::bmm",),
    ),
    Report(
        "MPS: uint16", "pytorch/pytorch#159076", 12,
        "an int32 tensor cannot be made uint16: MPS has no support for that dtype",
        f"{MPS}@2.8.0", Met.REFUSED, Because.DTYPE,
        lambda x: x.to(torch.uint16), (torch.arange(255, dtype=torch.int32),),
        ("aten::to", "aten::_to_copy"),
    ),
    Report(
        "MPS: repeat_interleave by a slice", "pytorch/pytorch#167924", 13,
        "`repeat_interleave` by a slice that does not begin at the first count crashes",
        f"{MPS}@2.9.1", Met.REFUSED, Because.LAYOUT,
        lambda x, counts: x.repeat_interleave(counts[1:3], dim=0),
        (torch.arange(2), torch.tensor([0, 1, 0])), ("aten::repeat_interleave",),
    ),
    Report(
        "MPS: sort of nothing", "pytorch/pytorch#107284", 13,
        "`sort` of no elements fails: the placeholder tensor is empty",
        f"{MPS}@2.0.1", Met.REFUSED, Because.SHAPE,
        torch.sort, (torch.empty(0),), ("aten::sort",),
    ),
    Report(
        "MPS: argmax of a transpose", "pytorch/pytorch#161401", 14,
        "`argmax` without a dimension raises for a tensor that is not contiguous",
        f"{MPS}@2.8.0", Met.REFUSED, Because.LAYOUT,
        lambda x: torch.argmax(x.t()), (X,), ("aten::argmax",),
    ),
    Report(
        "MPS: all of nothing", "pytorch/pytorch#105218", 14,
        "`all` of no elements is not true",
        f"{MPS}@2.0.1", Met.WRONG, Because.SHAPE,
        torch.all, (torch.empty(0, dtype=torch.bool),), ("aten::all",),
    ),
    Report(
        "MPS: masked_fill_ after permute", "pytorch/pytorch#131957", 14,
        "`masked_fill_` of a permuted tensor is wrong: a pull request of July 2024 mends it",
        f"{MPS}@2.4.1", Met.WRONG, Because.LAYOUT,
        _filled, (CUBE, CUBE > 0), ("aten::masked_fill_", "aten::masked_fill"),
    ),
)  # fmt: skip

_LEFT_OUT = {
    Why.KNOWN: """
        pytorch/pytorch#104688 InternLM/lagent#27 pytorch/pytorch#77764 pytorch/pytorch#77754
        pytorch/pytorch#181867 pytorch/pytorch#150967 pytorch/pytorch#122916 pytorch/pytorch#140570
        pytorch/pytorch#190645 pytorch/pytorch#175189 pytorch/pytorch#154280 pytorch/pytorch#195447
        pytorch/pytorch#104170 pytorch/pytorch#86279 pytorch/pytorch#178497 pytorch/pytorch#116580
        MIC-DKFZ/HD-BET#61 pytorch/pytorch#154615 MIC-DKFZ/nnUNet#2435 pytorch/pytorch#130256
        pytorch/pytorch#106292 pytorch/pytorch#197636 pytorch/pytorch#100764
        Comfy-Org/ComfyUI#16458 pytorch/pytorch#86319 pytorch/pytorch#190337 pytorch/pytorch#79200
        pytorch/pytorch#183885 pytorch/pytorch#195595 pytorch/pytorch#117941 pytorch/pytorch#118126
        pytorch/pytorch#175187 pytorch/pytorch#176159 pytorch/pytorch#104879 pytorch/pytorch#111173
        pytorch/pytorch#170181 pytorch/pytorch#161462 pytorch/pytorch#183419 pytorch/pytorch#154901
    """,
    Why.NO_CALL: """
        pytorch/pytorch#192681 pytorch/pytorch#97090 ostris/ai-toolkit#721 bytedance/Sa2VA#11
        OpenNMT/CTranslate2#1607 Zeqiang-Lai/LATTICE#4 ml4t/models#4 ostris/ai-toolkit#547
        pytorch/pytorch#146253 intel/torch-xpu-ops#555 pytorch/pytorch#78065 pytorch/pytorch#152205
        data-apis/array-api#725 NVIDIA/Fuser#1012 pytorch/pytorch#163021 pytorch/pytorch#128393
        pytorch/pytorch#103694
    """,
    Why.NO_PROGRAM: """
        pytorch/pytorch#123119 pytorch/pytorch#163630 pytorch/pytorch#169201 mlverse/torch#1084
        pytorch/pytorch#154235 pytorch/pytorch#186414 kulinseth/pytorch#314 pytorch/pytorch#188129
        pytorch/pytorch#188244 pytorch/pytorch#182052 pytorch/pytorch#191929 pytorch/pytorch#193057
        pytorch/pytorch#189961
    """,
    Why.OTHERS: """
        ELS-RD/kernl#193 flagos-ai/FlagGems#140
    """,
    Why.UNCONFIRMED: """
        tracel-ai/burn#4073 tracel-ai/burn#4038 pytorch/pytorch#121651 pytorch/pytorch#115325
        pytorch/pytorch#104315
    """,
    Why.NO_TARGET: """
        pytorch/pytorch#92329 pytorch/pytorch#88319 pytorch/pytorch#89179 pytorch/pytorch#125100
        pytorch/pytorch#85818 pytorch/pytorch#88973 kulinseth/pytorch#202 pytorch/pytorch#23105
        pytorch/pytorch#22992 pytorch/pytorch#63392 microsoft/DirectML#588 pytorch/pytorch#72512
        pytorch/pytorch#106943 pytorch/pytorch#106941 tenstorrent/tt-metal#12835
        pytorch/pytorch#193776 pytorch/pytorch#88899 tenstorrent/tt-metal#51441
        pytorch/pytorch#37743 pytorch/pytorch#193755 pytorch/pytorch#1164
        tenstorrent/tt-metal#56384 unifyai/ivy#14474 unifyai/ivy#28896 pytorch/pytorch#1382
        unifyai/ivy#23527 pytorch/pytorch#68946 ml-stat-Sustech/TorchCP#48 unifyai/ivy#21918
        ml-explore/mlx#3568 pytorch/pytorch#99802 pytorch/pytorch#78110 pytorch/pytorch#92752
        pytorch/pytorch#85611 pytorch/pytorch#78009 tinygrad/tinygrad#15944 numpy/numpy#28575
        tinygrad/tinygrad#16448 tinygrad/tinygrad#7918 numpy/numpy#25926 pytorch/pytorch#24504
        mpc-msri/EzPC#82 pytorch/pytorch#39273 numpy/numpy#11358 pytorch/pytorch#80856
        pytorch/pytorch#80499 pytorch/pytorch#91198 pytorch/pytorch#81185 candle-org/MindAct#1554
        pytorch/pytorch#82592 pytorch/pytorch#76725 pytorch/pytorch#83015 pytorch/pytorch#91616
        kulinseth/pytorch#70 pytorch/pytorch#94479 pytorch/pytorch#78043
    """,
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)
