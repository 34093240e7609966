"""Root-mean-square norms that are spelled out."""

from collections.abc import Mapping

import torch
from torch import Tensor
from torch.nn import functional

from opcheck.lang.sentence import Sentence
from opcheck.rewrite.fusing.base import Found, Fusion, VendorOperator

_DOCS = "https://gitcode.com/Ascend/op-plugin/blob/26.1.0/docs/zh/custom_APIs/torch_npu"


def _scaled_after(x: Tensor, weight: Tensor, *, eps: float) -> Tensor:
    """As Llama of transformers has it: cast back, then scaled."""
    wide = x.to(torch.float32)
    wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps)
    return weight * wide.to(x.dtype)


def _scaled_in_float(x: Tensor, weight: Tensor, *, eps: float) -> Tensor:
    """Scaled before it is cast back."""
    wide = x.to(torch.float32)
    wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps)
    return (wide * weight.to(torch.float32)).to(x.dtype)


def _products(x: Tensor, weight: Tensor, *, eps: float) -> Tensor:
    """As Llama's own code has it: ``x * x`` for the square."""
    wide = x.to(torch.float32)
    wide = wide * torch.rsqrt((wide * wide).mean(-1, keepdim=True) + eps)
    return wide.to(x.dtype) * weight


def _squared(x: Tensor, weight: Tensor, *, eps: float) -> Tensor:
    """With ``square``."""
    wide = x.to(torch.float32)
    wide = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + eps)
    return wide.to(x.dtype) * weight


def _divided(x: Tensor, weight: Tensor, *, eps: float) -> Tensor:
    """Divided by the root."""
    wide = x.to(torch.float32)
    wide = wide / torch.sqrt(wide.pow(2).mean(-1, keepdim=True) + eps)
    return wide.to(x.dtype) * weight


def _divided_products(x: Tensor, weight: Tensor, *, eps: float) -> Tensor:
    """Divided by the root, with ``x * x`` for the square."""
    wide = x.to(torch.float32)
    wide = wide / torch.sqrt((wide * wide).mean(-1, keepdim=True) + eps)
    return wide.to(x.dtype) * weight


def _plain(x: Tensor, weight: Tensor, *, eps: float) -> Tensor:
    """Without a cast, so that 16-bit numbers are rounded after each step."""
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight


def _plain_products(x: Tensor, weight: Tensor, *, eps: float) -> Tensor:
    """Without a cast, with ``x * x`` for the square."""
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + eps) * weight


def _plain_squared(x: Tensor, weight: Tensor, *, eps: float) -> Tensor:
    """Without a cast, with ``square``."""
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * weight


def _plain_divided(x: Tensor, weight: Tensor, *, eps: float) -> Tensor:
    """Without a cast, divided by the root."""
    return x / torch.sqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight


def _promoted(x: Tensor, weight: Tensor, *, eps: float) -> Tensor:
    """As T5 of transformers has it: the root alone is of float32, which the product becomes."""
    root = torch.rsqrt(x.to(torch.float32).pow(2).mean(-1, keepdim=True) + eps)
    return weight * (x * root).to(x.dtype)


def _rounded_root(x: Tensor, weight: Tensor, *, eps: float) -> Tensor:
    """With a root that is computed in float32, and rounded before it is used."""
    root = torch.rsqrt(x.to(torch.float32).pow(2).mean(-1, keepdim=True) + eps)
    return x * root.to(x.dtype) * weight


_WAYS = (
    _scaled_after, _scaled_in_float, _products, _squared, _divided, _divided_products,
    _plain, _plain_products, _plain_squared, _plain_divided, _promoted, _rounded_root,
)  # fmt: skip


class _RmsNorm(Fusion):
    """What both fusions of such norms share."""

    tolerance = 4.0
    variants = _WAYS

    def example(self) -> Mapping[str, Tensor]:
        """Two rows."""
        return {"x": torch.ones(2, 4), "weight": torch.ones(4)}

    def refuses(self, found: Found) -> str:
        """Decline a weight of another size than the rows."""
        x, weight = found.tensors["x"], found.tensors["weight"]
        if tuple(weight.shape) != tuple(x.shape[-1:]):
            return Sentence("its weight has not one number for each of a row")
        return ""


def npu_rms_norm(x: Tensor, gamma: Tensor, epsilon: float = 1e-6) -> tuple[Tensor, Tensor]:
    """``x / sqrt(mean(x * x) + epsilon) * gamma``, in float32, and one over the root."""
    wide = x.to(torch.float32)
    rstd = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + epsilon)
    return (wide * rstd * gamma.to(torch.float32)).to(x.dtype), rstd


def _norm_by_npu(x: Tensor, weight: Tensor, *, eps: float) -> Tensor:
    result: Tensor = torch.ops.npu.npu_rms_norm(x, weight, eps)[0]
    return result


class RmsNormOnAscend(_RmsNorm):
    """``x * rsqrt(mean(x ** 2) + eps) * weight`` becomes one call of ``npu_rms_norm``.

    The vendor's page has the same formula. Its kernel multiplies by the weight before it rounds to
    the dtype of ``x``; models often round first, so that 16-bit results differ by roundings. Of a
    norm without a cast, float16 squares are infinite where ``x`` is 256 or more; the kernel's are
    not.
    """

    name = "rms-norm-npu"
    summary = "Use npu_rms_norm"
    kernels = ("npu::npu_rms_norm",)
    replace = staticmethod(_norm_by_npu)
    operators = (
        VendorOperator(
            "npu::npu_rms_norm",
            "(Tensor self, Tensor gamma, float epsilon=1e-06) -> (Tensor, Tensor)",
            npu_rms_norm,
            "torch_npu",
        ),
    )
    references = (
        f"{_DOCS}/（beta）torch_npu-npu_rms_norm.md#L12",
        f"{_DOCS}/（beta）torch_npu-npu_rms_norm.md#L42",
    )

    def refuses(self, found: Found) -> str:
        """Decline what the page leaves out."""
        x, weight = found.tensors["x"], found.tensors["weight"]
        if not 2 <= x.dim() <= 8:
            return Sentence("npu_rms_norm takes tensors of 2 to 8 dimensions")
        new = found.chip in ("910b", "910c")
        mixed = new and x.dtype != torch.float32 and weight.dtype == torch.float32
        alike = x.dtype == weight.dtype and (new or x.dtype != torch.bfloat16)
        if x.dtype not in self.dtypes or not (alike or mixed):
            return Sentence(
                "npu_rms_norm does not take {dtype} with a weight of {dtype_weight} on {chip}",
                dtype=_name(x.dtype),
                dtype_weight=_name(weight.dtype),
                chip=found.chip,
            )
        if not new and x.shape[-1] * x.element_size() < 32:
            return Sentence(
                "npu_rms_norm takes rows of 32 bytes or more on {chip}", chip=found.chip
            )
        return super().refuses(found)


def _by_torch(x: Tensor, weight: Tensor, *, eps: float) -> Tensor:
    return functional.rms_norm(x, x.shape[-1:], weight, eps)


class RmsNormOfTorch(_RmsNorm):
    """``x * rsqrt(mean(x ** 2) + eps) * weight`` becomes one call of ``F.rms_norm``.

    PyTorch documents the same formula. It is one kernel where the target has one for
    ``aten::rms_norm`` or ``aten::_fused_rms_norm``.
    """

    name = "rms-norm-torch"
    summary = "Use F.rms_norm"
    kernels = ("aten::rms_norm", "aten::_fused_rms_norm")
    replace = staticmethod(_by_torch)
    references = (
        "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.rms_norm.html",
    )

    def refuses(self, found: Found) -> str:
        """Decline a weight of another dtype, with which no kernel is fused."""
        x, weight = found.tensors["x"], found.tensors["weight"]
        if x.dtype != weight.dtype:
            return Sentence("its weight is of another dtype than what it scales")
        return super().refuses(found)


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
