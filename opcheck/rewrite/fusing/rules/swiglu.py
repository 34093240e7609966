"""Gated linear units whose gate is a SiLU: of one tensor with gate and value, or of two layers."""

from collections.abc import Mapping

import torch
from torch import Tensor
from torch.nn import functional

from opcheck.lang.sentence import Sentence
from opcheck.rewrite.fusing.base import Found, Fusion, VendorOperator

_PAGE = (
    "https://gitcode.com/Ascend/op-plugin/blob/26.1.0/docs/zh/custom_APIs/torch_npu/"
    "（beta）torch_npu-npu_swiglu.md"
)
_MUSA = "https://github.com/MooreThreads/torch_musa/blob/0bc05bff11712400fd53aa7dd8e68950a4c46647"


def _chunked(x: Tensor) -> Tensor:
    """With ``chunk``."""
    gate, value = x.chunk(2, dim=-1)
    return functional.silu(gate) * value


def _split(x: Tensor) -> Tensor:
    """With ``split``."""
    half = x.shape[-1] // 2
    gate, value = torch.split(x, half, dim=-1)
    return functional.silu(gate) * value


def _sliced(x: Tensor) -> Tensor:
    """With slices."""
    half = x.shape[-1] // 2
    return functional.silu(x[..., :half]) * x[..., half:]


def _by_sigmoid(x: Tensor) -> Tensor:
    """With the SiLU spelled out."""
    gate, value = x.chunk(2, dim=-1)
    return gate * torch.sigmoid(gate) * value


def _layers(x: Tensor, gate_weight: Tensor, value_weight: Tensor) -> Tensor:
    """Gate and value of two layers of one tensor."""
    gate = functional.linear(x, gate_weight)
    return functional.silu(gate) * functional.linear(x, value_weight)


def _biased_layers(
    x: Tensor, gate_weight: Tensor, gate_bias: Tensor, value_weight: Tensor, value_bias: Tensor
) -> Tensor:
    """The same of layers that add a bias."""
    gate = functional.linear(x, gate_weight, gate_bias)
    return functional.silu(gate) * functional.linear(x, value_weight, value_bias)


def _joined(gate: Tensor, value: Tensor) -> Tensor:
    """Gate and value of two layers, which would have to be joined first."""
    return functional.silu(gate) * value


class _SwiGlu(Fusion):
    """What both fusions of such units share."""

    tolerance = 4.0
    variants = (_layers, _biased_layers, _chunked, _split, _sliced, _by_sigmoid, _joined)

    def example(self) -> Mapping[str, Tensor]:
        """Two rows."""
        half, weight, bias = torch.ones(2, 4), torch.ones(6, 8), torch.ones(6)
        return {
            "x": torch.ones(2, 8), "gate": half, "value": half.clone(), "gate_weight": weight,
            "value_weight": weight.clone(), "gate_bias": bias, "value_bias": bias.clone(),
        }  # fmt: skip

    def refuses(self, found: Found) -> str:
        """Decline what has no two halves, and other dtypes."""
        tensors = found.tensors
        pairs = [("gate", "value"), ("gate_weight", "value_weight"), ("gate_bias", "value_bias")]
        if any(tensors[a].shape != tensors[b].shape for a, b in pairs if a in tensors):
            return Sentence("gate and value are not of one shape")
        dtypes = {tensor.dtype for tensor in tensors.values()}
        if len(dtypes) > 1 or not dtypes <= set(self.dtypes):
            return Sentence("the kernel takes float32, float16 and bfloat16")
        return ""


def npu_swiglu(x: Tensor, dim: int = -1) -> Tensor:
    """``silu(a) * b`` of the two halves along a dimension."""
    gate, value = x.to(torch.float32).chunk(2, dim)
    return (torch.nn.functional.silu(gate) * value).to(x.dtype)


def _side_by_side(
    x: Tensor | None = None,
    gate: Tensor | None = None,
    value: Tensor | None = None,
    gate_weight: Tensor | None = None,
    gate_bias: Tensor | None = None,
    value_weight: Tensor | None = None,
    value_bias: Tensor | None = None,
) -> Tensor:
    """One tensor with gate and value, of whatever a variant has."""
    if gate is not None and value is not None:
        return torch.cat((gate, value), -1)
    assert x is not None
    if gate_weight is None or value_weight is None:
        return x
    bias = None
    if gate_bias is not None and value_bias is not None:
        bias = torch.cat((gate_bias, value_bias))
    return functional.linear(x, torch.cat((gate_weight, value_weight)), bias)


def _gate_by_npu(**given: Tensor) -> Tensor:
    x = _side_by_side(**given)
    result: Tensor = torch.ops.npu.npu_swiglu(x, -1)
    return result


def _halves_by_npu(x: Tensor) -> Tensor:
    result: Tensor = torch.ops.npu.npu_swiglu(x, -1)
    return result


class SwiGluOnAscend(_SwiGlu):
    """``silu(gate) * value``, both halves of one tensor, becomes one call of ``npu_swiglu``.

    The vendor's page has the same formula. Of two layers the weights are joined, so that one
    product gives both halves. Gate and value that come from elsewhere would have to be joined in
    each run, which moves more bytes than the kernel saves: such calls are left.
    """

    name = "swiglu-npu"
    summary = "Use npu_swiglu"
    kernels = ("npu::npu_swiglu",)
    replace = staticmethod(_gate_by_npu)
    in_class = staticmethod(_halves_by_npu)
    operators = (
        VendorOperator(
            "npu::npu_swiglu", "(Tensor self, int dim=-1) -> Tensor", npu_swiglu, "torch_npu"
        ),
    )
    references = (f"{_PAGE}#L11", f"{_PAGE}#L28")

    def refuses(self, found: Found) -> str:
        """Decline chips that the page leaves out."""
        if found.chip != "910b":
            return Sentence(
                "the page of npu_swiglu names Atlas A2 alone, and not {chip}", chip=found.chip
            )
        return super().refuses(found)


def fused_swiglu_forward(x: Tensor) -> Tensor:
    """``silu(a) * b`` of the two halves of each row, in float32."""
    gate, value = x.to(torch.float32).chunk(2, -1)
    return (torch.nn.functional.silu(gate) * value).to(x.dtype)


def _by_musa(**given: Tensor) -> Tensor:
    x = _side_by_side(**given)
    result: Tensor = torch.ops.aten._fused_swiglu_forward(x)
    return result


class SwiGluOnMooreThreads(_SwiGlu):
    """``silu(gate) * value``, both halves of one tensor, becomes ``_fused_swiglu_forward``.

    That is what ``F.swish_glu`` of the vendor's PyTorch calls; its test compares it with
    ``silu(a) * b`` of the halves.
    """

    name = "swiglu-musa"
    summary = "Use the kernel of F.swish_glu"
    kernels = ("aten::_fused_swiglu_forward",)
    replace = staticmethod(_by_musa)
    operators = (
        VendorOperator(
            "aten::_fused_swiglu_forward", "(Tensor input) -> Tensor", fused_swiglu_forward,
            "torch_musa",
        ),
    )  # fmt: skip
    references = (
        f"{_MUSA}/torch_musa/csrc/aten/ops/SwiGlu.cpp#L17",
        f"{_MUSA}/tests/unittest/operator/test_swish_glu.py#L12",
    )
