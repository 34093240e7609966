"""Cases from public threads on Apple's GPUs that the list does not have."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.test_cases import X
from tests.user_cases import UserCase

VOLUME = X.view(1, 1, 2, 3, 4)
WHOLE = torch.ones(2, 2, dtype=torch.int32)
SDPA = "aten::scaled_dot_product_attention"
QUERY = torch.ones(1, 2, 16, 64)
COVERAGE = "pytorch/pytorch#77764"


def _assigned(x: Tensor, limit: Tensor) -> Tensor:
    x = x.clone()
    x[x < limit] = -1
    return x


APPLE = (
    UserCase(
        "conv3d", "`Conv3d` raises on MPS before torch 2.3",
        ("pytorch/pytorch#117027", "Comfy-Org/ComfyUI#2044"),
        nn.Conv3d(1, 1, 1), (VOLUME,), "aten::conv3d",
        {"apple-mps@2.1.2": "rank-not-supported", "apple-mps@2.3.1": "needs-newer-macos"},
        mended="the texts of every release's library",
    ),
    UserCase(
        "conv_transpose3d", "`ConvTranspose3d` raises on MPS before torch 2.8",
        ("pytorch/pytorch#154615", "MIC-DKFZ/nnUNet#2435"),
        nn.ConvTranspose3d(1, 1, 1), (VOLUME,), "aten::conv_transpose3d.input",
        {"apple-mps@2.7.1": "rank-not-supported", "apple-mps@2.8.0": "decomposes"},
        mended="the texts of every release's library",
    ),
    UserCase(
        "conv_transpose3d, half", "and in half precision after that, too",
        ("pytorch/pytorch#130256",),
        nn.ConvTranspose3d(1, 1, 1).half(), (VOLUME.half(),), "aten::conv_transpose3d.input",
        {"apple-mps@2.9.1": "dtype-not-supported"},
    ),
    UserCase(
        "long convolution", "a convolution over 65,536 samples raises on MPS",
        ("pytorch/pytorch#134416", "pytorch/pytorch#142515", "opendatalab/MinerU#2793"),
        F.conv1d, (torch.ones(1, 4, 70_000), torch.ones(1, 4, 10)), "aten::conv1d",
        {"apple-mps@2.5.1": "size-not-supported", "apple-mps@2.7.1": "needs-newer-macos"},
        mended="the texts of every release's library",
    ),
    UserCase(
        "bfloat16", "bfloat16 is not supported on MPS before torch 2.3",
        ("pytorch/pytorch#104191", "QwenLM/Qwen#587"),
        lambda x: x + 1, (X.bfloat16(),), "aten::add.Tensor",
        {"apple-mps@2.1.2": "dtype-not-supported", "apple-mps@2.3.1": "registered"},
        mended="the texts of every release's library",
    ),
    UserCase(
        "hardsigmoid", "`hardsigmoid` is missing on MPS", (COVERAGE,),
        F.hardsigmoid, (X,), "aten::hardsigmoid",
        {"apple-mps@2.0.1": "no-kernel", "apple-mps@2.1.2": "registered"},
    ),
    UserCase(
        "bucketize", "`bucketize` is missing on MPS", (COVERAGE,),
        torch.bucketize, (X, X[:4]), "aten::bucketize.Tensor", {"apple-mps@2.0.1": "no-kernel"},
    ),
    UserCase(
        "bicubic", "bicubic resizing is missing on MPS", (COVERAGE,),
        lambda x: F.interpolate(x, scale_factor=2, mode="bicubic"), (torch.ones(1, 1, 4, 4),),
        "aten::upsample_bicubic2d.vec",
        {"apple-mps@2.0.1": "no-kernel", "apple-mps": "decomposes"},
    ),
    UserCase(
        "lerp", "`lerp` is missing on MPS", (COVERAGE,),
        torch.lerp, (X, X, X), "aten::lerp.Tensor",
        {"apple-mps@2.0.1": "no-kernel", "apple-mps@2.1.2": "registered"},
    ),
    UserCase(
        "cholesky", "`cholesky` is missing on MPS", (COVERAGE,),
        torch.linalg.cholesky, (torch.eye(3),), "aten::linalg_cholesky",
        {"apple-mps@2.0.1": "no-kernel", "apple-mps": "decomposes"},
    ),
    UserCase(
        "roll", "`roll` is missing on MPS in an old torch", ("datalab-to/marker#42",),
        lambda x: x.roll(1), (X,), "aten::roll",
        {"apple-mps@2.0.1": "no-kernel", "apple-mps@2.1.2": "registered"},
    ),
    UserCase(
        "scatter_reduce", "`scatter_reduce` is missing on MPS", ("pytorch/pytorch#97093",),
        lambda x, i: x.scatter_reduce(0, i, x, "amax"), (X, torch.zeros(24, dtype=torch.long)),
        "aten::scatter_reduce.two",
        {"apple-mps@2.5.1": "no-kernel", "apple-mps@2.6.0": "registered"},
    ),
    UserCase(
        "scatter_reduce, mean", "where it is there, it cannot average", ("pytorch/pytorch#141948",),
        lambda x, i: x.scatter_reduce(0, i, x, "mean"), (X, torch.zeros(24, dtype=torch.long)),
        "aten::scatter_reduce.two", {"apple-mps@2.9.1": "value-not-supported"},
        mended="the texts of every release's library",
    ),
    UserCase(
        "integer mm", "products of integer matrices raise on MPS", (COVERAGE,),
        torch.matmul, (WHOLE, WHOLE), "aten::matmul",
        {"apple-mps@2.2.2": "dtype-not-supported", "apple-mps@2.8.0": "decomposes"},
        mended="the texts of every release's library",
    ),
    UserCase(
        "integer addmm", "so does `addmm`", ("pytorch/pytorch#154901",),
        torch.addmm, (WHOLE, WHOLE, WHOLE), "aten::addmm",
        {"apple-mps@2.7.1": "dtype-not-supported", "apple-mps@2.9.1": "registered"},
        mended="the texts of every release's library",
    ),
    UserCase(
        "border padding", "`grid_sample` with border padding raises on MPS",
        ("pytorch/pytorch#125098", "Fannovel16/ComfyUI-Frame-Interpolation#76"),
        lambda x, g: F.grid_sample(x, g, padding_mode="border", align_corners=False),
        (X.view(1, 1, 4, 6), torch.zeros(1, 2, 2, 2)), "aten::grid_sampler",
        {"apple-mps@2.3.1": "value-not-supported", "apple-mps@2.13.0": "decomposes"},
        mended="the texts of every release's library",
    ),
    UserCase(
        "attention, other values", "attention gives a wrong shape on MPS for narrower values",
        ("pytorch/pytorch#176767", "huggingface/transformers#45467"),
        lambda q, v: F.scaled_dot_product_attention(q, q, v), (QUERY, QUERY[..., :24]), SDPA,
        {"apple-mps@2.10.0": "mps-attention-value-size", "apple-mps": "chosen-by-device"},
        mended="an advisory",
    ),
    UserCase(
        "attention, one query", "attention of few queries reads beyond memory on MPS",
        ("pytorch/pytorch#174861",),
        lambda q, k: F.scaled_dot_product_attention(q, k, k), (QUERY[:, :, :1], QUERY), SDPA,
        {"apple-mps@2.9.1": "mps-attention-few-queries", "apple-mps@2.11.0": "chosen-by-device"},
        mended="an advisory",
    ),
    UserCase(
        "attention, causal", "causal attention in half precision leaks later keys on MPS",
        ("pytorch/pytorch#195910", "multimodal-art-projection/YuE#176"),
        lambda q: F.scaled_dot_product_attention(q, q, q, is_causal=True), (QUERY.half(),), SDPA,
        {"apple-mps@2.10.0": "mps-attention-causal-half"},
        mended="an advisory",
    ),
    UserCase(
        "assigning a mask", "`x[mask] = -1` changes other elements on MPS",
        ("pytorch/pytorch#124206", "pytorch/pytorch#126919"),
        _assigned, (X.view(1, 24), X[:1].view(1, 1)), "aten::index_put_",
        {"apple-mps@2.2.2": "mps-assign-mask"},
        mended="an advisory",
    ),
    UserCase(
        "integer remainder", "remainders of large integers are wrong on MPS",
        ("pytorch/pytorch#154171",),
        lambda x: x % 31, (torch.arange(5),), "aten::remainder.Scalar",
        {"apple-mps@2.7.1": "mps-integer-remainder", "apple-mps@2.8.0": "decomposes"},
        mended="an advisory",
    ),
    UserCase(
        "scan of five dimensions", "`cumsum` along the first of five dimensions ends Python",
        ("pytorch/pytorch#154881", "pytorch/pytorch#187105"),
        lambda x: x.cumsum(0), (VOLUME,), "aten::cumsum", {"apple-mps@2.9.1": "mps-scan-axis"},
        mended="an advisory",
    ),
    UserCase(
        "any of five dimensions", "`any` of five dimensions ends Python",
        ("pytorch/pytorch#136134",),
        lambda x: x.any(), (VOLUME > 0,), "aten::any", {"apple-mps@2.4.1": "mps-any-rank"},
        mended="an advisory",
    ),
    UserCase(
        "boolean index, large", "a boolean index gives varying sizes on MPS, now and then",
        ("pytorch/pytorch#181867",),
        lacking="A race of the kernel in some runs; which uses and releases meet it, no thread "
        "tells.",
    ),
    UserCase(
        "bmm beyond 2**32", "`bmm` is wrong on MPS where its result has over 2**32 elements",
        ("pytorch/pytorch#197636",),
        lacking="Conditions look at one size at a time, not at the number of elements.",
    ),
    UserCase(
        "out with strides", "`neg` with a transposed `out` is wrong on MPS in torch 2.0",
        ("pytorch/pytorch#100764",),
        lacking="It is every unary operator of one release with `out=`, which models do not use; "
        "no advisory was written.",
    ),
)  # fmt: skip
