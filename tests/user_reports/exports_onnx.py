"""What users met who exported models to ONNX, by searches of threads about exports.

A target has one release of the exporter, and threads tell of others. So each program of this module
and of ``exports_openvino`` was exported by the libraries of the target's release and run by their
runtime, before any scan of it: ``met`` is what happened there, and ``told`` what the thread says.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it
from torchvision import ops as vision

from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "torch.onnx.export dynamo=True fails operator not supported no decomposition",
    "torch.onnx.export dynamo exporter wrong result onnxruntime output mismatch converter torchlib",
    "onnxscript torchlib aten op converter error ConversionError torch 2.9 2.10",
    "torch.onnx.export dynamo=True scaled_dot_product_attention enable_gqa is_causal attn_mask "
    "export fails or wrong",
    "torch.onnx.export dynamo=True torchvision nms roi_align deform_conv2d No ONNX function",
    "torch.onnx.export dynamo=True fft stft istft complex tensor view_as_complex fails",
    "torch.onnx.export dynamo=True bfloat16 float16 onnxruntime Could not find an implementation "
    "Type Error tensor(bfloat16)",
    "torch.onnx.export dynamo=True LSTM GRU RNN export error shape onnxruntime",
    "[ONNX] dynamo export pooling adaptive_avg_pool max_pool ceil_mode wrong shape onnxruntime "
    "torch 2.9 2.10 2.11",
    "[ONNX] dynamo export index_put scatter_reduce masked_scatter index_copy fails ONNX Runtime "
    "error 2.8 2.9 2.10",
    "[ONNX] dynamo export linalg cholesky solve inv svd det cdist unique multinomial not supported "
    "No ONNX function found",
    "[ONNX] dynamo export int64 uint8 bool dtype Unexpected input data type onnxruntime invalid "
    "graph Type Error aten",
    "torch.onnx.export dynamo=True grid_sample interpolate bicubic upsample pixel_shuffle fails or "
    "wrong opset 18",
    "torch.onnx.export dynamo=True rms_norm group_norm instance_norm batch_norm training export "
    "error",
    "torch.onnx.export dynamo=True quantized fake_quantize int4 float8 export fails",
    "ONNX dynamo=True repeat_interleave export No ONNX function",
    "ONNX dynamo=True searchsorted bucketize histc bincount cummax cumprod quantile median export "
    "unsupported",
    "onnxscript torchlib remainder fmod div rounding_mode floor_divide wrong result integer "
    "negative",
    "ONNX dynamo=True pad circular reflect replicate conv_transpose conv1d string padding export "
    "error 2025",
    "onnxscript torchlib issue 2026 aten op ORT fails invalid type export torch 2.13 regression",
)
ORT = "onnxruntime-cpu@1.32.0"
X = torch.linspace(-1, 1, 32).view(8, 4)
IMAGE = torch.linspace(0, 1, 1536).view(2, 3, 16, 16)
BOXES = torch.tensor([[0.0, 0.0, 4.0, 4.0], [1.0, 1.0, 5.0, 5.0], [6.0, 6.0, 9.0, 9.0]])
SCORES = torch.tensor([0.9, 0.8, 0.7])
HEADS = torch.linspace(-1, 1, 512).view(1, 8, 4, 16)
MASK = torch.ones(1, 8, dtype=torch.bool)


def _encoder() -> nn.Module:
    """An embedding and a TransformerEncoder, as the thread has it, of two layers."""
    layer = nn.TransformerEncoderLayer(96, 12, 96, 0.2, batch_first=True)
    return nn.Sequential(nn.Embedding(15, 96), nn.TransformerEncoder(layer, 2)).eval()


class Scaled(nn.Module):
    """A product with a constant and a parameter, in bfloat16."""

    def __init__(self) -> None:
        super().__init__()
        self.param = nn.Parameter(torch.tensor(2.0, dtype=torch.bfloat16))

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.tensor(1.0, dtype=torch.bfloat16) * self.param


def _rotated(x: Tensor, turns: Tensor) -> Tensor:
    pairs = torch.view_as_complex(x.reshape(8, 2, 2))
    return torch.view_as_real(pairs * torch.view_as_complex(turns)).flatten(1)


def _fourier_unit(x: Tensor) -> Any:
    parts = torch.fft.rfftn(x, dim=(-2, -1), norm="ortho")
    stacked = torch.stack((parts.real, parts.imag), -1).relu()
    return torch.fft.irfftn(torch.complex(stacked[..., 0], stacked[..., 1]), s=(16, 16),
                            dim=(-2, -1), norm="ortho")  # fmt: skip


def _sound(real: Tensor, imaginary: Tensor) -> Tensor:
    window = torch.hann_window(16)
    return torch.istft(torch.complex(real, imaginary), 16, 8, window=window, length=64)


def _boxes_kept(boxes: Tensor, scores: Tensor, kinds: Tensor) -> Any:
    return vision.batched_nms(boxes, scores, kinds, 0.5)


def _boxes_pooled(x: Tensor, boxes: Tensor) -> Any:
    return vision.roi_align(x, [boxes, boxes], (4, 4), 1.0, 2, True)


def _zeroed(x: Tensor) -> Tensor:
    copy = x.clone()
    copy[torch.ones(8, 4, dtype=torch.bool)] = 0
    return copy


def _injected(x: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    return x.masked_scatter(mask.unsqueeze(-1), source) * torch.arange(1.0, 5.0)


class Neuron(nn.Module):
    """A leaky integrator whose constant is an integer."""

    def __init__(self) -> None:
        super().__init__()
        self.tau = torch.as_tensor(42)

    def forward(self, x: Tensor) -> Tensor:
        return x + 0.001 * self.tau * (x - 1)


def _seen_as(x: Tensor, bits: Tensor) -> Tensor:
    return x + bits.view(torch.float32)


def _grouped(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(q, k, v, enable_gqa=True)


def _quantizer() -> nn.Module:
    fake = torch.ao.quantization.FakeQuantize()
    fake.eval()
    torch.ao.quantization.disable_observer(fake)
    return fake


REPORTS = (
    Report(
        "ONNX: GLU", "pytorch/pytorch#125894", 0,
        "`aten.glu` is an unsupported node of `dynamo_export` of torch 2.4",
        ORT, Met.WORKS, Because.NO_KERNEL, nn.GLU(), (X,), ("aten::glu",),
    ),
    Report(
        "ONNX: expm1", "pytorch/pytorch#129530", 0,
        "`aten.expm1`, of an `elu`, is an unsupported node of `dynamo_export`; mended in torchlib",
        ORT, Met.WORKS, Because.NO_KERNEL, torch.expm1, (X,), ("aten::expm1",),
    ),
    Report(
        "ONNX: LSTM", "pytorch/pytorch#118740", 0,
        "Dynamo purposely breaks graphs on RNN, GRU and LSTM in torch 2.2",
        ORT, Met.WORKS, Because.NO_KERNEL, nn.LSTM(4, 6, batch_first=True), (X.view(2, 4, 4),),
        ("aten::lstm.input",),
    ),
    Report(
        "ONNX: a TransformerEncoder", "pytorch/pytorch#110557", 1,
        "the exported encoder gives other values than PyTorch",
        ORT, Met.WORKS, Because.OTHER, _encoder(), (torch.tensor([[1, 2, 3]]),),
        ("aten::scaled_dot_product_attention", "aten::layer_norm", "aten::linear",
         "aten::_transformer_encoder_layer_fwd"),
    ),
    Report(
        "ONNX: an integer times a float", "pytorch/pytorch#194382", 2,
        "no ONNX function for `aten.mul.Scalar` since torch 2.13.0, which 2.12.1 exports",
        ORT, Met.WORKS, Because.NO_KERNEL, lambda x: torch.ops.aten.mul.Scalar(x.long(), 0.5),
        (X,), ("aten::mul",),
    ),
    Report(
        "ONNX: attention of grouped heads", "pytorch/pytorch#151762", 3,
        "`enable_gqa` fails to export with torch 2.6",
        ORT, Met.WORKS, Because.VALUE, _grouped, (HEADS, HEADS[:, :2], HEADS[:, :2]),
        ("aten::scaled_dot_product_attention",),
    ),
    Report(
        "ONNX: attention in half as opset 23", "pytorch/pytorch#149662", 3,
        "attention of (32, 8, 128, 64) in float16 becomes the operator Attention of opset 23",
        f"{ORT}+opset23", Met.WORKS, Because.OTHER, F.scaled_dot_product_attention,
        (HEADS.half(), HEADS.half(), HEADS.half()), ("aten::scaled_dot_product_attention",),
    ),
    Report(
        "ONNX: batched_nms", "pytorch/pytorch#141568", 4,
        "no ONNX function for `torchvision.nms` in a nightly of torch 2.6",
        ORT, Met.WORKS, Because.NO_KERNEL, _boxes_kept,
        (BOXES, SCORES, torch.tensor([0, 1, 0])), ("torchvision::nms",),
    ),
    Report(
        "ONNX: roi_align", "pytorch/pytorch#175732", 4,
        "the converter of `roi_align` takes fewer arguments than it is given, in torch 2.12",
        ORT, Met.WORKS, Because.NO_KERNEL, _boxes_pooled, (IMAGE, BOXES),
        ("torchvision::roi_align",),
    ),
    Report(
        "ONNX: numbers turned as complex ones", "pytorch/pytorch#49793", 5,
        "`view_as_complex` is not supported; later, the exporter on torch.export has it",
        ORT, Met.WORKS, Because.NO_KERNEL, _rotated, (X, X.view(8, 2, 2)),
        ("aten::view_as_complex", "aten::view_as_real", "aten::mul"),
    ),
    Report(
        "ONNX: a Fourier unit", "pytorch/pytorch#121100", 5,
        "`rfftn`, a convolution and `irfftn` fail with complex numbers",
        ORT, Met.WORKS, Because.NO_KERNEL, _fourier_unit, (IMAGE,),
        ("aten::fft_rfftn", "aten::fft_irfftn", "aten::complex"),
    ),
    Report(
        "ONNX: istft", "pytorch/pytorch#135014", 5,
        "`torch.istft` cannot be exported: torch.export asks for a value; 2.13 gives a bad file",
        ORT, Met.REFUSED, Because.DTYPE, _sound,
        (torch.ones(1, 9, 9), torch.zeros(1, 9, 9)), ("aten::istft",),
    ),
    Report(
        "ONNX: an encoder in bfloat16", "pytorch/pytorch#143643", 6,
        "RoBERTa in bfloat16 is exported, and ONNX Runtime does not load it",
        ORT, Met.REFUSED, Because.DTYPE, _encoder().bfloat16(), (torch.tensor([[1, 2, 3]]),),
        ("aten::scaled_dot_product_attention", "aten::layer_norm", "aten::linear",
         "aten::_transformer_encoder_layer_fwd", "aten::embedding"),
    ),
    Report(
        "ONNX: numbers times a bfloat16 parameter", "pytorch/pytorch#151121", 6,
        "products of bfloat16; ONNX Runtime has bfloat16 on CUDA alone",
        ORT, Met.REFUSED, Because.DTYPE, Scaled(), (X.bfloat16(),), ("aten::mul.Tensor",),
    ),
    Report(
        "ONNX: float8", "pytorch/pytorch#106877", 6,
        "casts to float8 and back are asked for",
        ORT, Met.WORKS, Because.DTYPE, lambda x: x.to(torch.float8_e4m3fn).float() + 1, (X,),
        ("aten::to.dtype", "aten::_to_copy"),
    ),
    Report(
        "ONNX: GRU", "pytorch/pytorch#189225", 7,
        "a GRU has `linear_before_reset=0`, and its values are wrong by up to 14 %",
        ORT, Met.WORKS, Because.OTHER, nn.GRU(4, 8), (X.view(2, 4, 4),), ("aten::gru.input",),
    ),
    Report(
        "ONNX: adaptive_max_pool3d to one", "pytorch/pytorch#183439", 8,
        "no ONNX function for `adaptive_max_pool3d` in torch 2.5 to 2.11",
        ORT, Met.WORKS, Because.NO_KERNEL, nn.AdaptiveMaxPool3d(1),
        (IMAGE.view(1, 3, 8, 8, 8),), ("aten::adaptive_max_pool3d",),
    ),
    Report(
        "ONNX: zero by a mask", "pytorch/pytorch#126856", 9,
        "`x[mask] = 0` is exported as ScatterElements that ONNX Runtime refuses",
        ORT, Met.WORKS, Because.OTHER, _zeroed, (X,), ("aten::index_put_", "aten::index_put"),
    ),
    Report(
        "ONNX: masked_scatter", "pytorch/pytorch#186146", 9,
        "values that `masked_scatter` writes come in another order, in June 2026",
        ORT, Met.WORKS, Because.SHAPE, _injected,
        (torch.zeros(1, 8, 4), MASK, X), ("aten::masked_scatter",),
    ),
    Report(
        "ONNX: linalg.solve", "pytorch/pytorch#133052", 10,
        "ONNX has no inverse of a matrix, so that `linalg_solve` has no converter",
        ORT, Met.REFUSED, Because.NO_KERNEL, torch.linalg.solve, (torch.eye(4), X.mT[:, :2]),
        ("aten::linalg_solve", "aten::_linalg_solve_ex"),
    ),
    Report(
        "ONNX: distances by hypot", "kornia/kornia#4182", 10,
        "matching features avoids `cdist`, distances `hypot`, warps `linalg_inv`: no lowering",
        ORT, Met.REFUSED, Because.NO_KERNEL, torch.hypot, (X, X), ("aten::hypot",),
    ),
    Report(
        "ONNX: bits seen as numbers", "pytorch/pytorch#126921", 11,
        "`view(dtype)` is exported, and ONNX Runtime refuses the file: types do not match",
        ORT, Met.REFUSED, Because.DTYPE, _seen_as, (X, X.view(torch.int32)),
        ("aten::view.dtype",),
    ),
    Report(
        "ONNX: PixelShuffle", "pytorch/pytorch#124338", 12,
        "PixelShuffle(3) is no supported node of `dynamo_export` of torch 2.3",
        ORT, Met.WORKS, Because.NO_KERNEL, nn.PixelShuffle(3), (torch.ones(1, 9, 4, 4),),
        ("aten::pixel_shuffle",),
    ),
    Report(
        "ONNX: PixelUnshuffle", "pytorch/pytorch#186080", 12,
        "PixelUnshuffle(2) gives its channels in another order, in June 2026",
        ORT, Met.WORKS, Because.SHAPE, nn.PixelUnshuffle(2),
        (torch.arange(1.0, 9.0).view(1, 2, 2, 2),), ("aten::pixel_unshuffle",),
    ),
    Report(
        "ONNX: InstanceNorm2d", "microsoft/onnxscript#1262", 13,
        "an InstanceNorm2d for inference becomes a BatchNormalization that trains",
        ORT, Met.WORKS, Because.OTHER, nn.InstanceNorm2d(3), (IMAGE,), ("aten::instance_norm",),
    ),
    Report(
        "ONNX: FakeQuantize", "pytorch/pytorch#167063", 14,
        "FakeQuantize is exported by the older exporter, and not with `dynamo=True`",
        ORT, Met.REFUSED, Because.VALUE, _quantizer(), (torch.zeros(1, 1),),
        ("aten::fake_quantize_per_tensor_affine", "aten::_fused_moving_avg_obs_fq_helper",
         "aten::item", "aten::is_nonzero", "aten::fused_moving_avg_obs_fake_quant"),
    ),
    Report(
        "ONNX: rows repeated as a tensor says", "pytorch/pytorch#156873", 15,
        "no ONNX function for `repeat_interleave.Tensor` in June 2025",
        ORT, Met.WORKS, Because.NO_KERNEL, lambda x, n: torch.repeat_interleave(x, n, 0),
        (X, torch.arange(1, 9)), ("aten::repeat_interleave.self_Tensor",
                                  "aten::repeat_interleave.Tensor"),
    ),
    Report(
        "ONNX: bucketize", "pytorch/pytorch#148098", 16,
        "`torch.bucketize` by 100 borders is not supported by `dynamo_export` of torch 2.6",
        ORT, Met.WORKS, Because.NO_KERNEL,
        lambda x: torch.bucketize(x, torch.linspace(0, 1, 100)), (X,), ("aten::bucketize.Tensor",),
    ),
    Report(
        "ONNX: sort", "pytorch/pytorch#127831", 16,
        "`aten.sort` is no supported node of `dynamo_export` of a nightly of June 2024",
        ORT, Met.WORKS, Because.NO_KERNEL, lambda x: torch.sort(x, -1), (X,), ("aten::sort",),
    ),
    Report(
        "ONNX: integers divided, rounded down", "microsoft/onnxscript#2342", 17,
        "an integer `floor_divide` is to be implemented",
        ORT, Met.WORKS, Because.DTYPE, lambda x: x // torch.tensor([2, -3, 4, -5]),
        (torch.arange(-16, 16).view(8, 4),), ("aten::floor_divide",),
    ),
    Report(
        "ONNX: halves divided, rounded down", "microsoft/onnxscript#989", 17,
        "`floor_divide` of float16 is off by one",
        ORT, Met.WRONG, Because.DTYPE, torch.floor_divide,
        (torch.linspace(-9, 9, 4096).half(), torch.linspace(9, -8, 4096).half()),
        ("aten::floor_divide",),
    ),
    Report(
        "ONNX: convolution without padding, by its name", "pytorch/pytorch#117054", 18,
        'conv2d with padding="valid" is exported, and ONNX Runtime misses elements of its pads',
        ORT, Met.WORKS, Because.VALUE, nn.Conv2d(3, 4, 3, padding="valid"), (IMAGE,),
        ("aten::conv2d", "aten::conv2d.padding"),
    ),
    Report(
        "ONNX: one less a mask of integers", "pytorch/pytorch#194381", 19,
        "`(1.0 - mask) * x` raises in the pass that promotes types, since torch 2.13.0",
        ORT, Met.REFUSED, Because.DTYPE, lambda x, mask: (1.0 - mask) * x,
        (X, torch.ones(8, 4, dtype=torch.int64)), ("aten::rsub", "aten::sub"),
    ),
    Report(
        "ONNX: a neuron of norse", "norse/norse#447", 19,
        "the constant of a neuron is an int64: no ONNX function for `aten.mul.Scalar` in 2.13.0",
        ORT, Met.WORKS, Because.DTYPE, Neuron(), (X,), ("aten::mul",),
    ),
)  # fmt: skip
_LEFT_OUT = {
    Why.KNOWN: "pytorch/pytorch#185195 pytorch/pytorch#113067 pytorch/pytorch#190338",
    Why.NO_PROGRAM: """
        pytorch/pytorch#126618 pytorch/pytorch#115509 pytorch/pytorch#121098 pytorch/pytorch#107922
        huggingface/optimum#1810 microsoft/onnxruntime#19537 pytorch/pytorch#136756
        microsoft/onnxscript#1543 pytorch/pytorch#139508 pytorch/pytorch#138313
        microsoft/onnxscript#1644 pytorch/pytorch#112831 pytorch/pytorch#99662
        pytorch/pytorch#126339 pytorch/pytorch#96538 pytorch/pytorch#170176 pytorch/pytorch#122844
        pytorch/pytorch#138195 pytorch/pytorch#114188 pytorch/pytorch#128505 pytorch/pytorch#116443
        pytorch/pytorch#134757 pytorch/pytorch#125375
    """,
    Why.NO_CALL: """
        inisis/OnnxSlim#59 tsingmicro-toolchain/OnnxSlim#12 huggingface/pytorch-image-models#2108
        pytorch/pytorch#135183 robertknight/rten#645 andresprados/SPIGA#3
        pasteurlabs/tesseract-core#425 pytorch/tutorials#3223 pytorch/pytorch#158094
        pytorch/pytorch#126071 pytorch/pytorch#140241 pytorch/pytorch#153998
        ENOT-AutoDL/onnx2torch#61 alibaba/BladeDISC#253 bioimage-io/core-bioimage-io-python#253
        Amblyopius/Stable-Diffusion-ONNX-FP16#29 PeterL1n/RobustVideoMatting#261 onnx/onnx#2673
        microsoft/onnxscript#2111 huggingface/diffusers#739 ENOT-AutoDL/onnx2torch#30
        ENOT-AutoDL/onnx2torch#251 pytorch/pytorch#103838 quic/efficient-transformers#1178
        huggingface/transformers#41992 pytorch/vision#9226 ultralytics/ultralytics#20370
        meta-pytorch/torchfix#95 pytorch/pytorch#81075 pytorch/pytorch#151693 pytorch/pytorch#84496
        pytorch/pytorch#173782 Xilinx/brevitas#1526 pytorch/pytorch#123845 pytorch/pytorch#100289
        pytorch/pytorch#115669 ROCm/onnxruntime#215 pytorch/pytorch#119106 pytorch/pytorch#104700
        microsoft/onnxscript#1108 onnx/onnx#5564 onnx/onnx#4016 pytorch/pytorch#137629
        microsoft/onnxscript#566 pytorch/pytorch#149646 huggingface/transformers#48191
        kornia/kornia#4193 kornia/kornia#2559
    """,
    Why.OTHERS: """
        pytorch/pytorch#138196 facebookresearch/sapiens#113 enpasos/jax2onnx#210
        enpasos/jax2onnx#206 pytorch/executorch#8727 tenstorrent/tt-forge-onnx#1991
        tinygrad/tinygrad#16018 tinygrad/tinygrad#9307 NVIDIA/TensorRT#3934 f-dangel/unfoldNd#29
        onnx/onnx#3905 onnx/onnx#21 onnx/onnx#7520 tiny-smart/dysample#5 microsoft/onnxruntime#17653
        microsoft/onnxruntime#14678
    """,
    Why.UNCONFIRMED: """
        pytorch/pytorch#166797 pytorch/pytorch#168224 pytorch/pytorch#169178 pytorch/vision#9462
        pytorch/pytorch#170180
    """,
    Why.NO_TARGET: """
        pytorch/pytorch#147854 pytorch/pytorch#152018 pytorch/pytorch#191855 pytorch/pytorch#158739
        pytorch/pytorch#112844 pytorch/pytorch#59246 pytorch/pytorch#158658 pytorch/pytorch#182266
        Lightning-AI/pytorch-lightning#19337 pytorch/pytorch#66684 nod-ai/AMD-SHARK-ModelDev#378
        pytorch/pytorch#71549 pytorch/pytorch#101397 pytorch/pytorch#131272 pytorch/pytorch#68003
        pytorch/pytorch#75383 pytorch/pytorch#109370 pytorch/pytorch#99424 pytorch/pytorch#81551
        pytorch/pytorch#120477 pytorch/pytorch#26472 pytorch/pytorch#46237 pytorch/pytorch#101535
        microsoft/onnxscript#1298 pytorch/pytorch#103571 pytorch/pytorch#103572
        pytorch/pytorch#136622 pytorch/pytorch#11339 pytorch/pytorch#115637 pytorch/pytorch#120078
        pytorch/pytorch#124884 pytorch/pytorch#128818 pytorch/pytorch#101013 pytorch/pytorch#128501
        pytorch/pytorch#137111 pytorch/pytorch#106748 pytorch/pytorch#100429 pytorch/pytorch#58733
        pytorch/pytorch#62764 pytorch/pytorch#100575 pytorch/pytorch#56165 pytorch/pytorch#100438
        pytorch/pytorch#73071 pytorch/pytorch#39067 pytorch/pytorch#74032 pytorch/pytorch#24410
        pytorch/pytorch#86132 pytorch/pytorch#1164 pytorch/vision#7541 pytorch/pytorch#108401
        pytorch/pytorch#95229 pytorch/pytorch#4263 pytorch/pytorch#86690 microsoft/onnxscript#2539
        pytorch/pytorch#2752 microsoft/onnxruntime#20808 microsoft/onnxscript#489
        nodefluxio/vortex#71 microsoft/onnxscript#535 pytorch/pytorch#110597
        microsoft/onnxscript#1800 pytorch/pytorch#178377 microsoft/onnxscript#2674
    """,
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)
