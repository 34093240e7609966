"""Why a scan does not say of some reports what their users met: a cause for each of them."""

from collections.abc import Mapping
from enum import StrEnum


class Cause(StrEnum):
    """What keeps a scan from saying it."""

    VALUES = "values in tensors decide, which a scan does not know: it says *may*, or nothing"
    HISTORY = "earlier calls, memory or timing decide"
    MACHINE = (
        "the machine decides (macOS, driver, library, a setting): *may*, or nothing; of a wheel "
        "without kernels for the chip, a scan tells in its first line, beside its findings"
    )
    ANOTHER_WORD = "it says that the call does not run well, by another verdict"
    ANOTHER_REASON = "it has the verdict that users met, by another kind of reason"
    NOT_SURE = "an advisory tells of it, without being sure of it: *may* fail, where it failed"
    RELEASE = "users had a commit or a date; the code of the target's release says otherwise"
    LIBRARY = (
        "a closed library refuses it (muDNN, CANN, MIOpen, oneDNN, Gaudi's, Core ML), with limits "
        "nobody states"
    )
    DOCUMENT = "the vendor's code or lists say that it runs"
    SPEED = "slower or less precise than on another device, and no size or dtype tells when"
    TENSORS = "quantized, nested or sparse tensors, which no trace follows"
    PROGRAM = "the small program has another call than what failed"
    OLDER = "PyTorch's own Python code of that release goes another way than the installed one's"
    GRADIENTS = "a second derivative that the target's torch lacks: a trace tells of kernels alone"
    ONE_CALL = "a defect of one call that only this thread tells of: no condition is written"


NAMES: Mapping[Cause, tuple[str, ...]] = {
    Cause.VALUES: (
        "CUDA: places that are there twice",
        "MPS: sort of NaN with a sign",
        "CUDA: irfft of infinities",
        "CUDA: int8 to the power of a tensor of -1",
        "MPS: attention to nothing",
        "XPU: to int8, out of range",
        "XPU: LayerNorm of tiny values",
        "ROCm: distinct floats along a dimension",
        "CUDA: eigh of a low rank",
        "CUDA: 49.5 / 50",
        "MI300X: attention of huge bfloat16 values",
        "CUDA: gradients of attention with a mask",
        "CUDA: gradients of attention of a thousand",
        "CUDA: CTC loss of one sample",
    ),
    Cause.HISTORY: (
        "MPS: product with a transpose",
        "MPS: gradients of many rows",
        "MPS: sum in quick succession",
        "MPS: embeddings of several widths, backwards",
        "MPS: norms along none and one",
        "Arc: index_add_ after empty_cache",
    ),
    Cause.MACHINE: (
        "ROCm: matmul on gfx1100 in torch 2.0",
        "MPS: nms",
        "MPS: nearest interpolation by a factor",
        "MPS: Depth Pro by a factor",
        "MPS: linear by a transposed matrix, in bfloat16",
        "Orin: numbers that are not zero",
        "910A: linear of float16",
        "910B: ConvTranspose3d without compilation at run time",
        "CUDA: eig without MAGMA",
        "XPU: cdist without products",
        "NPU: _foreach_norm of a weight",
        "H20: pictures in bfloat16",
        "P100: Kaggle's image",
        "P100: ExLlamaV2 with 2.7",
        "V100: FreeToken",
        "V100: Unsloth's choice of a wheel",
        "MPS: VoxCPM decodes a long sound",
        "MPS: DiffRhythm decodes a song",
        "MPS: OpenVoice",
        "MPS: Dia decodes a dialogue",
        "Gaudi: places that lie on the host",
        "MPS: argmax of a transpose",
        "MPS: linear of a repeated view",
        "MPS: a bfloat16 parameter times a float scalar",
        "ROCm: RNNs on gfx950",
        "ROCm: LSTM of 2.9 on a 7900 XTX",
        "ROCm: Conv2d in bfloat16 on gfx1100",
    ),
    Cause.ANOTHER_WORD: (
        "MPS: frames of lips enlarged in float16",
        "MPS: max of int64 in torch 2.0",
        "MPS: embeddings of a largest norm",
        "NPU: unique of rows",
        "NPU: _scaled_mm",
        "MLU: bincount with float64",
        "Max: products of groups",
        "Max: modes of rows",
        "TensorRT: scatter of a number",
        "TensorRT: index_select",
        "TPU: places of cummax",
        "TPU: integers to a real power",
        "TPU: svd of three dimensions",
        "XPU: eig",
        "XPU: _foreach_addcdiv_",
    ),
    Cause.ANOTHER_REASON: (
        "XPU: erfinv of float64",
        "MPS: volumes of nnU-Net enlarged",
        "MPS: volumes of a trained nnU-Net enlarged",
        "MPS: livers outlined",
        "MPS: scans registered",
        "MPS: an empty sparse tensor",
        "MPS: compressed rows",
        "MPS: product of a sparse matrix",
        "Max: factors of one matrix",
        "TensorRT: dropout in training",
        "TPU: interpolation by a factor, trained",
        "XPU: sampled_addmm",
        "ROCm: _grouped_mm on gfx90a",
        "MUSA: bfloat16 on an S80",
        "MUSA: padding dropped from float16",
        "MUSA: argsort of a mask",
        "CUDA: pixel_unshuffle of nothing",
        "ATOM: attention of 16 tokens",
        "MPS: istft, backwards",
        "MPS: a video of Stable Diffusion",
        "MPS: videos filled in",
        "MPS: an error for Conv3D",
        "MPS: Conv3D by a pull request",
    ),
    Cause.NOT_SURE: (
        "Arc: samples of a Bernoulli distribution",
        "Arc: bernoulli of float32",
        "ROCm: a weight in channels_last",
        "ROCm: RNNs in half precision on gfx90a",
        "MPS: scatter_ of a last dimension of one",
        "MPS: linear of a long transposed batch",
        "MPS: 911 small matrices factored",
        "Arc: topk of 4096 elements",
        "CUDA: rows of a large tensor",
        "TensorRT: log1p of bfloat16",
        "TPU: int32 plus a scalar of int64, as int64",
        "310P: conv3d of Qwen3-VL's patches",
        "310P: attention of bge-m3",
    ),
    Cause.RELEASE: (
        "MPS: TabNet of R",
        "MPS: films given a sound",
        "TensorRT: a slice without an end, written",
        "CUDA: replicated ends in bfloat16",
        "TensorRT: bfloat16",
        "TPU: native_dropout",
        "MPS: a row as a matrix",
        "MPS: softplus in April 2023",
        "MPS: index_put of complex numbers",
        "MPS: maxima of volumes",
        "MPS: transposed convolution of volumes",
        "MLU: Fourier transform of one point",
        "MLU: Fourier transform of one row",
        "MI300X: layer_norm in half, backwards",
        "MPS: volumes padded far by their edges",
        "MPS: a mask for all heads",
    ),
    Cause.LIBRARY: (
        "MUSA: more than 2**31 numbers cleared by a mask",
        "ROCm: convolution by groups",
        "NPU: Conv3d of patches",
        "MUSA: attention with a mask of four dimensions",
        "MUSA: a convolution of float16",
        "Arc: LSTM in bfloat16",
        "TensorRT: grid_sample of float32 amid float16",
        "Gaudi: the largest of booleans",
        "Gaudi: the largest of blocks, in half",
        "Gaudi 3: int64 gathered",
        "Core ML: a strided, dilated convolution",
        "Core ML: integers times constant integers",
        "Core ML: a model without inputs",
        "Core ML: the place of the largest of all",
    ),
    Cause.DOCUMENT: (
        "NPU: bfloat16 padded by its edges",
        "NPU: max_pool1d, trained",
        "NPU: attention of grouped heads for speech",
        "910B: fused AdamW",
        "MLU: complex angles",
        "XPU: narrow_copy",
        "Max: signbit of booleans",
        "310P: numbers in place of NaN",
    ),
    Cause.SPEED: (
        "ROCm: lists of complex numbers multiplied and added",
        "ROCm: lists of halves multiplied and added",
        "NPU: linear interpolation by 300",
        "TPU: bfloat16 times bfloat16",
        "XPU: gradients of GLU in half precision",
        "MUSA: half times a number",
        "Arc: rows chosen of an embedding",
        "Arc: cat in half",
        "Arc: convolution in half",
        "Max: softmax of GPT-2 in bfloat16",
        "Core ML: a convolution that is less precise",
        "Core ML: a convolution of a picture of noise",
        "Core ML: a convolution and LeakyReLU",
    ),
    Cause.TENSORS: (
        "MPS: tensors of several lengths in one",
        "Max: an empty quantized tensor",
        "XPU: flip of a quantized tensor",
        "CUDA: quantized linear",
        "Max: products of nested tensors",
    ),
    Cause.PROGRAM: (
        "XPU: draws of what has no probability",
        "MPS: float8 weights cast to half",
        "TensorRT: zeros around a norm",
        "ATOM: attention by a mask of booleans",
        "CUDA: a grid in half under autocast to bfloat16",
        "ExecuTorch: rfft",
        "ExecuTorch: arange to True",
        "CUDA: attention without its weights, compiled",
        "ROCm: index_add_ of many indices",
        "ROCm: interpolation to 65536 rows",
    ),
    Cause.GRADIENTS: (
        "MPS: a network that solves an equation",
        "MPS: gradients that are to match",
        "MPS: a step of MAML",
    ),
    Cause.ONE_CALL: (
        "Arc: gradients of causal attention",
        "MPS: the Jacobian of nothing",
        "MPS: printing rows of 2**31",
        "MPS: strides of nonzero",
        "MPS: padding taken off a box",
        "MPS: smooth_l1_loss of nothing",
        "NPU: a view of what attention gives",
        "TensorRT: conv1d of a computed weight",
        "TensorRT: the larger of two constants",
        "TensorRT: index_put of an argmax",
        "CUDA: index_put under autocast, backwards",
        "Max: accumulating by a mask",
        "MI300X: attention by values with strides",
        "ATOM: products under autocast",
        "910B: elements chosen by a mask",
        "CUDA: tensordot and a sum, compiled",
        "CUDA: cumprod_backward, compiled",
        "ExecuTorch: a picture made smaller",
    ),
    Cause.OLDER: (
        "CUDA: gradients of an enlarged image, each time the same",
        "CUDA: gradients of an enlarged volume, each time the same",
        "CUDA: gradients of padded edges, each time the same",
    ),
}


def causes() -> Mapping[str, Cause]:
    """The cause of each report of which a scan does not say what its users met."""
    return {name: cause for cause, names in NAMES.items() for name in names}
