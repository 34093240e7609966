"""Rotary embeddings that are spelled out."""

from collections.abc import Mapping

import torch
from torch import Generator, Tensor

from opcheck.lang.sentence import Sentence
from opcheck.rewrite.fusing.base import Found, Fusion, VendorOperator

_PAGE = (
    "https://gitcode.com/Ascend/op-plugin/blob/26.1.0/docs/zh/custom_APIs/torch_npu/"
    "torch_npu-npu_rotary_mul.md"
)


def _sliced(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """As transformers has it."""
    first, second = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
    return x * cos + torch.cat((-second, first), dim=-1) * sin


def _chunked(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """With ``chunk``."""
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-second, first), dim=-1) * sin


def npu_rotary_mul(
    x: Tensor, r1: Tensor, r2: Tensor, rotary_mode: str = "half", rotate: Tensor | None = None
) -> Tensor:
    """``x * r1 + rotate(x) * r2``, where the second half is negated and put in front."""
    if rotary_mode != "half" or rotate is not None:
        raise NotImplementedError("only the mode half stands here")
    first, second = x.chunk(2, dim=-1)
    return x * r1 + torch.cat((-second, first), dim=-1) * r2


def _rotation_by_npu(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    result: Tensor = torch.ops.npu.npu_rotary_mul(x, cos, sin)
    return result


class RotaryOnAscend(Fusion):
    """``x * cos + rotate_half(x) * sin`` becomes one call of ``npu_rotary_mul``.

    The vendor's page has the same formula, for cosines and sines: numbers from -1 to 1, which
    those of a scaled embedding are not.
    """

    name = "rotary-npu"
    summary = "Use npu_rotary_mul"
    kernels = ("npu::npu_rotary_mul",)
    tolerance = 4.0
    variants = (_sliced, _chunked)
    replace = staticmethod(_rotation_by_npu)
    operators = (
        VendorOperator(
            "npu::npu_rotary_mul",
            "(Tensor self, Tensor r1, Tensor r2, str rotary_mode='half', Tensor? rotate=None)"
            " -> Tensor",
            npu_rotary_mul,
            "torch_npu",
        ),
    )
    references = (f"{_PAGE}#L14", f"{_PAGE}#L88", f"{_PAGE}#L114")

    def example(self) -> Mapping[str, Tensor]:
        """Two heads."""
        angles = torch.ones(1, 1, 3, 4)
        return {"x": torch.ones(1, 2, 3, 4), "cos": angles, "sin": angles.clone()}

    def draw(self, name: str, like: Tensor, generator: Generator) -> Tensor:
        """Cosines and sines are at most 1."""
        shape = tuple(int(size) for size in like.shape)
        if name == "x":
            return super().draw(name, like, generator)
        return (2 * torch.rand(shape, generator=generator) - 1).to(like.dtype)

    def refuses(self, found: Found) -> str:
        """Decline what the page leaves out."""
        x, cos, sin = (found.tensors[name] for name in ("x", "cos", "sin"))
        if len({x.dtype, cos.dtype, sin.dtype}) > 1 or x.dtype not in self.dtypes:
            return Sentence("npu_rotary_mul takes tensors of one dtype, of float32 or 16 bits")
        if x.dim() != 4 or cos.shape != sin.shape or tuple(cos.shape) not in _shapes(x):
            return Sentence("npu_rotary_mul does not take cosines of such a shape")
        if found.chip in ("910b", "910c"):
            fits = x.shape[-1] < 896 and x.shape[-1] % 2 == 0
        else:
            fits = x.shape[-1] == 128
        if not fits or min(x.shape[1:3]) >= 1000 or x.shape[0] >= 1000:
            return Sentence("npu_rotary_mul does not take heads of such a size on this chip")
        return ""


def _shapes(x: Tensor) -> frozenset[tuple[int, ...]]:
    """What cosines may be shaped like, for BNSD, BSND and SBND."""
    a, b, c, d = (int(size) for size in x.shape)
    return frozenset({(1, 1, c, d), (a, 1, c, d), (a, b, c, d), (1, b, 1, d), (a, b, 1, d),
                      (a, 1, 1, d)})  # fmt: skip
