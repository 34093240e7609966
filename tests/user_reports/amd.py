"""What users of AMD's GPUs met, through PyTorch on ROCm."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "ROCm pytorch operator not implemented or not supported on HIP RuntimeError MI300X",
    "ROCm pytorch wrong results numerical mismatch AMD GPU operator silent correctness",
    "ROCm _scaled_mm float8 e4m3fn not supported gfx942 gfx90a gfx1100 pytorch",
    "MIOpen error convolution miopenStatusUnknownError pytorch conv fails shape dtype AMD",
    "ROCm scaled_dot_product_attention flash efficient attention not supported head dim "
    "RX 7900 XTX pytorch warning",
    "rocBLAS hipBLASLt error gemm dtype int8 complex unsupported torch AMD MI250 MI210 "
    "HIPBLAS_STATUS_NOT_SUPPORTED",
    "pytorch module: rocm torch operator fails on gfx90a gfx942 float16 bfloat16 RuntimeError "
    "repro",
    "pytorch ROCm NaN output LayerNorm softmax attention BatchNorm AMD GPU works on CUDA",
    "pytorch ROCm linalg eigh svd cholesky hipsolver magma error or wrong",
    "pytorch ROCm LSTM GRU RNN MIOpen half dropout proj_size error",
    "pytorch ROCm Conv3d conv_transpose channels_last BatchNorm bfloat16 miopen wrong or slow",
    "pytorch ROCm _int_mm _weight_int4pack_mm _grouped_mm mixed_dtypes sparse semi structured "
    "not supported AMD",
    "pytorch ROCm large tensor index_select sort cumsum topk scatter memory access fault HIP "
    "error invalid configuration",
    "pytorch ROCm fft hipfft sparse CSR hipsparse bmm sampled_addmm unsupported",
    "AMD Radeon gfx1100 RX 7900 XTX pytorch operator wrong values or crash repro torch 2",
    "[ROCm] fix torch operator incorrect on AMD wavefront 64 kernel pull request before this "
    "change",
    "MI250X MI300X pytorch bug torch.nn functional raises only on ROCm works on NVIDIA minimal "
    "example",
)
MI250 = "amd-mi250"
MI300 = "amd-mi300x"
MI355 = "amd-mi355"
RADEON = "amd-rx7900xt"
CONVOLUTION = (
    "aten::convolution",
    "aten::conv2d",
    "aten::_convolution",
    "aten::miopen_convolution",
)
LSTM = ("aten::lstm", "aten::miopen_rnn", "aten::_thnn_fused_lstm_cell")

SQUARE = torch.eye(4) * 2


class LongRows(nn.Module):
    """A bidirectional LSTM of several layers that nothing learns."""

    def __init__(self) -> None:
        super().__init__()
        self.cells = nn.LSTM(4, 8, num_layers=4, bidirectional=True).requires_grad_(False)

    def forward(self, x: Tensor) -> Tensor:
        return self.cells(x.expand(600, 9400, 4))[0]  # type: ignore[no-any-return]  # of torch


class Characters(nn.Module):
    """A GRU with dropout between its layers, as trained on text."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(65, 16)
        self.cells = nn.GRU(16, 32, num_layers=2, dropout=0.2, batch_first=True)
        self.outer = nn.Linear(32, 65)

    def forward(self, ids: Tensor) -> Tensor:
        scores = self.outer(self.cells(self.embedding(ids))[0])
        return F.cross_entropy(scores.flatten(0, 1), ids.flatten())


def _channels_last_weight(x: Tensor, weight: Tensor) -> Tensor:
    weight = weight.to(memory_format=torch.channels_last)
    return torch.conv2d(x, weight, None, (2, 1), (1, 1), (1, 1), 1)


def _eighths(x: Tensor, y: Tensor, scale: Tensor) -> Tensor:
    return torch._scaled_mm(x, y.t(), scale, scale, out_dtype=torch.bfloat16)


def _normal_of_many_rows(x: Tensor) -> Tensor:
    return F.layer_norm(x.expand(2**23, 3), (3,))


def _experts(x: Tensor, weights: Tensor, ends: Tensor) -> Tensor:
    return torch._grouped_mm(x, weights, offs=ends)


REPORTS = (
    Report(
        "ROCm: Conv2d of one channel", "pytorch/pytorch#102968", 1,
        "Conv2d(1, 768, 16, 10) gives other numbers than the CPU on an MI250X",
        f"{MI250}@2.0.1", Met.WRONG, Because.SHAPE,
        nn.Conv2d(1, 768, kernel_size=16, stride=10), (torch.ones(10, 1, 128, 66),), CONVOLUTION,
    ),
    Report(
        "ROCm: LSTM of large batches", "pytorch/pytorch#177834", 1,
        "an LSTM of 4 layers and 600 steps fails beyond a batch: lengths must be > 0",
        f"{RADEON}@2.11.0", Met.REFUSED, Because.SHAPE, LongRows(), (torch.ones(1, 1, 4),), LSTM,
    ),
    Report(
        "ROCm: float8_e4m3fn on an MI300X", "pytorch/ao#1066", 2,
        "cannot convert ScalarType Float8_e4m3fn to hipDataType",
        f"{MI300}@2.6.0", Met.REFUSED, Because.DTYPE,
        _eighths,
        (
            torch.ones(16, 16).to(torch.float8_e4m3fn), torch.ones(16, 16).to(torch.float8_e4m3fn),
            torch.tensor(1.0),
        ),
        ("aten::_scaled_mm",),
    ),
    Report(
        "ROCm: a weight in channels_last", "ROCm/TheRock#6250", 3,
        "conv2d of (1, 16, 1, 1) by such a weight: miopenStatusUnknownError on gfx110X",
        f"{RADEON}@2.11.0", Met.REFUSED, Because.LAYOUT,
        _channels_last_weight, (torch.ones(1, 16, 1, 1), torch.ones(8, 16, 3, 3)), CONVOLUTION,
    ),
    Report(
        "ROCm: attention without fused kernels", "pytorch/pytorch#112997", 4,
        "torch was not compiled with flash attention, nor with memory efficient attention",
        f"{MI250}@2.1.2", Met.SLOW, Because.NO_KERNEL,
        lambda q: F.scaled_dot_product_attention(q, q, q), (torch.ones(1, 2, 16, 64).half(),),
        (
            "aten::scaled_dot_product_attention", "aten::_scaled_dot_product_flash_attention",
            "aten::_scaled_dot_product_efficient_attention",
        ),
    ),
    Report(
        "ROCm: RNNs on gfx950", "ROCm/TheRock#4852", 6,
        "RNNs in half precision fail: MIOpen's kernels do not compile on gfx950",
        f"{MI355}@2.11.0", Met.REFUSED, Because.OTHER,
        nn.LSTM(4, 4).half(), (torch.ones(3, 2, 4).half(),), LSTM,
    ),
    Report(
        "ROCm: RNNs in half precision on gfx90a", "ROCm/TheRock#5976", 6,
        "tests of RNNs in float16 fail: miopenStatusInternalError",
        f"{MI250}@2.10.0", Met.REFUSED, Because.DTYPE,
        nn.LSTM(4, 4).half(), (torch.ones(3, 2, 4).half(),), LSTM, training=True,
    ),
    Report(
        "ROCm: attention of large numbers in float16", "pytorch/pytorch#116176", 7,
        "attention of numbers around -900 is NaN, with the math kernel",
        f"{MI250}@2.1.2", Met.WRONG, Because.DTYPE,
        lambda q: F.scaled_dot_product_attention(q, q, q),
        (torch.full((2, 2, 16, 64), -900.0).half(),),
        ("aten::scaled_dot_product_attention", "aten::_scaled_dot_product_attention_math"),
    ),
    Report(
        "ROCm: layer_norm of 2**23 rows", "pytorch/pytorch#184826", 7,
        "rows at the end are zero or not written, where 4 does not divide their length",
        f"{MI300}@2.10.0", Met.WRONG, Because.SHAPE,
        _normal_of_many_rows, (torch.ones(1, 3),), ("aten::native_layer_norm", "aten::layer_norm"),
    ),
    Report(
        "ROCm: GRU with dropout", "ROCm/legacy-rocm-build#6339", 9,
        "training stalls: the mask of dropout drops everything",
        f"{RADEON}@2.12.1", Met.WRONG, Because.VALUE,
        Characters(), (torch.zeros(2, 8, dtype=torch.int64),),
        ("aten::gru", "aten::miopen_rnn", "aten::miopen_rnn_backward"), training=True,
    ),
    Report(
        "ROCm: RNN of an empty batch", "pytorch/pytorch#117672", 9,
        "MIOpen Error: Lengths must be > 0",
        f"{MI250}@2.1.2", Met.REFUSED, Because.SHAPE,
        nn.LSTM(3, 4), (torch.zeros(5, 0, 3),), LSTM,
    ),
    Report(
        "ROCm: Conv3d in half precision", "pytorch/pytorch#146998", 10,
        "Conv3d forward takes a minute for some shapes of a video decoder",
        f"{RADEON}@2.6.0", Met.SLOW, Because.SHAPE,
        nn.Conv3d(128, 128, 3).bfloat16(), (torch.ones(1, 128, 5, 10, 10).bfloat16(),),
        ("aten::convolution", "aten::conv3d", "aten::_convolution", "aten::miopen_convolution"),
    ),
    Report(
        "ROCm: Conv3d of patches", "ROCm/legacy-rocm-build#5514", 10,
        "Conv3d of 56700 patches of (3, 2, 14, 14) in bfloat16 is very slow or crashes",
        f"{MI300}@2.8.0", Met.SLOW, Because.SHAPE,
        nn.Conv3d(3, 8, (2, 14, 14), stride=(2, 14, 14), bias=False).bfloat16(),
        (torch.ones(1, 3, 2, 14, 14).bfloat16().expand(56700, 3, 2, 14, 14),),
        ("aten::convolution", "aten::conv3d", "aten::_convolution", "aten::miopen_convolution"),
    ),
    Report(
        "ROCm: grouped products", "pytorch/torchtitan#1523", 11,
        "grouped gemm is not supported on ROCM",
        f"{MI300}@2.8.0", Met.REFUSED, Because.NO_KERNEL,
        _experts,
        (
            torch.ones(8, 16).bfloat16(), torch.ones(2, 16, 32).bfloat16(),
            torch.tensor([4, 8], dtype=torch.int32),
        ),
        ("aten::_grouped_mm",),
    ),
    Report(
        "ROCm: index_add_ of many indices", "ROCm/pytorch#1656", 12,
        "HIP error: invalid configuration argument, for more indices than a block has threads",
        f"{MI300}@2.4.1", Met.REFUSED, Because.SHAPE,
        lambda x, at, rows: x.clone().index_add_(0, at, rows.expand(65536, 16)),
        (
            torch.zeros(16384, 16).bfloat16(), torch.zeros(65536, dtype=torch.int64),
            torch.ones(1, 16).bfloat16(),
        ),
        ("aten::index_add_", "aten::index_add"),
    ),
    Report(
        "ROCm: products of complex sparse matrices", "ROCm/pytorch#2239", 13,
        "complex dtypes are not enabled for products of sparse matrices",
        f"{MI300}@2.7.1", Met.REFUSED, Because.DTYPE,
        lambda x: torch.sparse.mm(x.to_sparse(), x.to_sparse()), (SQUARE.to(torch.complex64),),
        ("aten::_sparse_sparse_matmul", "aten::_sparse_mm"),
    ),
    Report(
        "ROCm: sampled_addmm", "ROCm/pytorch#1414", 13,
        "`sparse.sampled_addmm` does not run in torch 2.2: it asks for another API of hipSPARSE",
        f"{MI250}@2.2.2", Met.REFUSED, Because.NO_KERNEL,
        lambda x, a, b: torch.sparse.sampled_addmm(x.to_sparse_csr(), a, b),
        (SQUARE, torch.ones(4, 4), torch.ones(4, 4)), ("aten::sparse_sampled_addmm",),
    ),
    Report(
        "ROCm: matmul on gfx1100 in torch 2.0", "pytorch/pytorch#96964", 14,
        "rocBLAS error: the wheel has no kernels for gfx1100",
        f"{RADEON}@2.0.1", Met.REFUSED, Because.CHIP,
        torch.matmul, (torch.ones(5, 5), torch.ones(5, 5)), ("aten::mm", "aten::matmul"),
    ),
    Report(
        "ROCm: gradients of LayerNorm on RDNA", "ROCm/pytorch#3425", 15,
        "gradients of weight and bias lack partial sums where a wavefront has 32 lanes",
        f"{RADEON}@2.12.1", Met.WRONG, Because.CHIP,
        nn.LayerNorm(64), (torch.ones(128, 64),), ("aten::native_layer_norm_backward",),
        training=True,
    ),
    Report(
        "ROCm: convolution by groups", "pytorch/pytorch#117847", 16,
        "conv2d of (1, 3, 512, 512) in three groups: miopenStatusUnknownError with ROCm 5.7",
        f"{MI250}@2.1.2", Met.REFUSED, Because.SHAPE,
        lambda x, weight: F.conv2d(x, weight, groups=3),
        (torch.ones(1, 3, 512, 512), torch.ones(3, 1, 5, 5)), CONVOLUTION,
    ),
    Report(
        "ROCm: Conv2d in bfloat16 on gfx1100", "pytorch/pytorch#194447", 16,
        "Conv2d(3, 768, 16, 16) in bfloat16 ends the process with the wheel of torch 2.8",
        f"{RADEON}@2.8.0", Met.REFUSED, Because.DTYPE,
        nn.Conv2d(3, 768, 16, 16).bfloat16(), (torch.ones(16, 3, 16, 16).bfloat16(),), CONVOLUTION,
    ),
)  # fmt: skip

LEFT_OUT = (
    LeftOut("pytorch/pytorch#150016", Why.KNOWN),
    LeftOut("huggingface/sentence-transformers#2903", Why.NO_CALL),
    LeftOut("ROCm/MIOpen#2342", Why.NO_PROGRAM),
    LeftOut("pytorch/pytorch#119081", Why.NO_CALL),
    LeftOut("ROCm/hipBLASLt#516", Why.NO_CALL),
    LeftOut("ROCm/pytorch#2837", Why.NO_TARGET),
    LeftOut("ROCm/legacy-rocm-build#1773", Why.NO_CALL),
    LeftOut("pytorch/pytorch#103973", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#132570", Why.NO_CALL),
    LeftOut("ROCm/pytorch#1398", Why.NO_PROGRAM),
    LeftOut("pytorch/pytorch#144069", Why.NO_PROGRAM),
    LeftOut("ROCm/legacy-rocm-build#2100", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#132283", Why.NO_CALL),
    LeftOut("pytorch/helion#1661", Why.OTHERS),
    LeftOut("pytorch/pytorch#94891", Why.UNCONFIRMED),
    LeftOut("ROCm/AMDMIGraphX#669", Why.NO_CALL),
    LeftOut("ROCm/rocm-systems#5716", Why.NO_CALL),
    LeftOut("pytorch/pytorch#150853", Why.NO_PROGRAM),
    LeftOut("ROCm/jax#467", Why.NO_CALL),
    LeftOut("ROCm/legacy-rocm-build#6019", Why.NO_TARGET),
    LeftOut("ROCm/pytorch#1415", Why.NO_CALL),
    LeftOut("pytorch/pytorch#117822", Why.NO_PROGRAM),
    LeftOut("ROCm/pytorch#2046", Why.NO_CALL),
    LeftOut("pytorch/pytorch#144476", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#146937", Why.NO_CALL),
    LeftOut("pytorch/pytorch#145632", Why.NO_TARGET),
    LeftOut("ROCm/pytorch#2932", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#167082", Why.NO_CALL),
    LeftOut("ROCm/MIOpen#3726", Why.NO_PROGRAM),
    LeftOut("ROCm/MIOpen#1994", Why.NO_TARGET),
    LeftOut("ryujaehun/pytorch-gpu-benchmark#19", Why.NO_TARGET),
    LeftOut("ROCm/pytorch#677", Why.NO_TARGET),
    LeftOut("ROCm/TheRock#1229", Why.NO_PROGRAM),
    LeftOut("ROCm/legacy-rocm-build#1661", Why.NO_TARGET),
    LeftOut("ROCm/MIOpen#87", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#138864", Why.NO_PROGRAM),
    LeftOut("ROCm/flash-attention#3", Why.OTHERS),
    LeftOut("ROCm/flash-attention#79", Why.NO_CALL),
    LeftOut("ROCm/TheRock#1364", Why.NO_TARGET),
    LeftOut("ROCm/pytorch#1565", Why.NO_PROGRAM),
    LeftOut("pytorch/pytorch#148850", Why.NO_TARGET),
    LeftOut("Comfy-Org/ComfyUI#8123", Why.NO_CALL),
    LeftOut("ROCm/flash-attention#27", Why.OTHERS),
    LeftOut("Dao-AILab/flash-attention#1540", Why.OTHERS),
    LeftOut("ROCm/flash-attention#93", Why.OTHERS),
    LeftOut("ROCm/TheRock#6175", Why.NO_TARGET),
    LeftOut("sgl-project/sglang#29590", Why.NO_PROGRAM),
    LeftOut("ROCm/hipBLASLt#1205", Why.NO_CALL),
    LeftOut("ROCm/hipBLASLt#1238", Why.NO_CALL),
    LeftOut("NVIDIA/MatX#540", Why.NO_CALL),
    LeftOut("bitsandbytes-foundation/bitsandbytes#1934", Why.OTHERS),
    LeftOut("ROCm/rocm-libraries#5205", Why.NO_TARGET),
    LeftOut("ROCm/ROCmValidationSuite#957", Why.NO_CALL),
    LeftOut("lamikr/rocm_sdk_builder#228", Why.NO_CALL),
    LeftOut("ROCm/rocm-libraries#3550", Why.UNCONFIRMED),
    LeftOut("ROCm/TheRock#1225", Why.NO_TARGET),
    LeftOut("ROCm/TheRock#1844", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#91699", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#179946", Why.NO_CALL),
    LeftOut("pytorch/pytorch#180131", Why.NO_CALL),
    LeftOut("ROCm/MIOpen#248", Why.NO_TARGET),
    LeftOut("unslothai/unsloth#3385", Why.NO_TARGET),
    LeftOut("ROCm/TheRock#2662", Why.NO_PROGRAM),
    LeftOut("ROCm/pytorch#657", Why.NO_TARGET),
    LeftOut("ROCm/TheRock#5420", Why.NO_PROGRAM),
    LeftOut("pytorch/pytorch#95808", Why.NO_PROGRAM),
    LeftOut("pytorch/pytorch#110532", Why.UNCONFIRMED),
    LeftOut("vllm-project/vllm#14914", Why.NO_CALL),
    LeftOut("ROCm/pytorch#2680", Why.NO_CALL),
    LeftOut("ROCm/pytorch#3524", Why.NO_CALL),
    LeftOut("ROCm/legacy-rocm-build#5156", Why.NO_CALL),
    LeftOut("vllm-project/vllm#25523", Why.NO_CALL),
    LeftOut("pytorch/pytorch#65203", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#48831", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#177559", Why.NO_CALL),
    LeftOut("pytorch/pytorch#163977", Why.NO_CALL),
    LeftOut("pytorch/pytorch#185557", Why.NO_CALL),
    LeftOut("pytorch/pytorch#157154", Why.NO_PROGRAM),
    LeftOut("pytorch/pytorch#75429", Why.NO_TARGET),
    LeftOut("ROCm/pytorch#402", Why.NO_TARGET),
    LeftOut("ROCm/pytorch#546", Why.NO_TARGET),
    LeftOut("ROCm/pytorch#388", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#189285", Why.KNOWN),
    LeftOut("ROCm/pytorch#818", Why.NO_TARGET),
    LeftOut("ROCm/pytorch#1388", Why.KNOWN),
    LeftOut("ROCm/rocm-libraries#6865", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#52475", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#160529", Why.NO_CALL),
    LeftOut("pytorch/pytorch#70125", Why.NO_TARGET),
    LeftOut("ROCm/pytorch#2242", Why.NO_CALL),
    LeftOut("ROCm/pytorch#1025", Why.NO_TARGET),
    LeftOut("ROCm/pytorch#2232", Why.NO_CALL),
    LeftOut("ROCm/pytorch#2209", Why.NO_CALL),
    LeftOut("ROCm/pytorch#1666", Why.NO_CALL),
    LeftOut("pytorch/pytorch#173358", Why.NO_PROGRAM),
    LeftOut("THUDM/slime#2274", Why.OTHERS),
    LeftOut("pytorch/pytorch#124699", Why.NO_PROGRAM),
    LeftOut("ROCm/pytorch#1676", Why.NO_PROGRAM),
    LeftOut("pytorch/pytorch#121768", Why.NO_CALL),
    LeftOut("pytorch/pytorch#129710", Why.NO_PROGRAM),
    LeftOut("pytorch/pytorch#183599", Why.NO_CALL),
    LeftOut("pytorch/pytorch#111057", Why.NO_CALL),
    LeftOut("pytorch/pytorch#179310", Why.NO_PROGRAM),
    LeftOut("Comfy-Org/comfy-kitchen#56", Why.NO_TARGET),
    LeftOut("THUDM/slime#2273", Why.OTHERS),
    LeftOut("pytorch/pytorch#197470", Why.NO_PROGRAM),
    LeftOut("ROCm/pytorch#928", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#139087", Why.KNOWN),
    LeftOut("ROCm/pytorch#2570", Why.NO_PROGRAM),
    LeftOut("ROCm/pytorch#1657", Why.KNOWN),
    LeftOut("ROCm/pytorch#2571", Why.NO_PROGRAM),
    LeftOut("pytorch/pytorch#95455", Why.NO_TARGET),
    LeftOut("ROCm/pytorch#1659", Why.KNOWN),
    LeftOut("ROCm/pytorch#639", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#12337", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#82569", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#187681", Why.NO_PROGRAM),
    LeftOut("pytorch/pytorch#78939", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#123094", Why.NO_CALL),
    LeftOut("pytorch/pytorch#77764", Why.KNOWN),
    LeftOut("pytorch/pytorch#175367", Why.NO_CALL),
    LeftOut("ROCm/pytorch#801", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#138067", Why.NO_PROGRAM),
    LeftOut("ROCm/legacy-rocm-build#5933", Why.NO_PROGRAM),
    LeftOut("ROCm/legacy-rocm-build#2429", Why.NO_CALL),
    LeftOut("pytorch/pytorch#113623", Why.NO_CALL),
    LeftOut("ROCm/TheRock#8379", Why.NO_TARGET),
    LeftOut("ROCm/legacy-rocm-build#1880", Why.NO_TARGET),
    LeftOut("ROCm/legacy-rocm-build#3166", Why.NO_CALL),
    LeftOut("ROCm/TheRock#5543", Why.NO_CALL),
    LeftOut("ROCm/pytorch#203", Why.NO_TARGET),
    LeftOut("pytorch/pytorch#174388", Why.NO_PROGRAM),
    LeftOut("pytorch/pytorch#174300", Why.NO_PROGRAM),
    LeftOut("flagos-ai/FlagGems#6530", Why.OTHERS),
    LeftOut("ROCm/pytorch#1559", Why.NO_PROGRAM),
    LeftOut("ROCm/pytorch#1417", Why.NO_CALL),
    LeftOut("pytorch/pytorch#12485", Why.NO_TARGET),
    LeftOut("ROCm/pytorch#1560", Why.NO_PROGRAM),
    LeftOut("Schaka/rocm-gfx803#2", Why.NO_TARGET),
    LeftOut("ROCm/hipBLASLt#980", Why.NO_CALL),
    LeftOut("pytorch/pytorch#18675", Why.NO_TARGET),
    LeftOut("ssube/onnx-web#444", Why.NO_CALL),
    LeftOut("pytorch/pytorch#189375", Why.NO_TARGET),
    LeftOut("ROCm/apex#132", Why.OTHERS),
    LeftOut("ROCm/legacy-rocm-build#6314", Why.NO_PROGRAM),
    LeftOut("ROCm/legacy-rocm-build#4466", Why.NO_PROGRAM),
    LeftOut("ROCm/legacy-rocm-build#2563", Why.NO_TARGET),
    LeftOut("vllm-project/vllm#38689", Why.NO_CALL),
)
