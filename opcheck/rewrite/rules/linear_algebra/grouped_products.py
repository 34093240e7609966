"""Products of groups of rows, each with a matrix of its own, by ``matmul``."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.lang.sentence import Sentence
from opcheck.model.plan import Label, Tier
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import Draw

_GROUPS = 256


def grouped_mm(
    self: Tensor,
    mat2: Tensor,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: torch.dtype | None = None,
) -> Tensor:
    """Multiply all rows by each matrix in turn, and keep the rows of its group."""
    assert offs is not None
    rows = torch.arange(self.size(0), device=self.device).unsqueeze(-1)
    out = torch.zeros(self.size(0), mat2.size(-1), dtype=self.dtype, device=self.device)
    for group in reversed(range(mat2.size(0))):  # what is of an earlier group is written again
        out = torch.where(rows < offs[group], self @ mat2[group], out)
    return out if out_dtype is None else out.to(out_dtype)


def grouped_mm_of(
    mat_a: Tensor, mat_b: Tensor, *, offs: Tensor | None = None, bias: Tensor | None = None,
    out_dtype: torch.dtype | None = None,
) -> Tensor:  # fmt: skip
    """``grouped_mm`` as users call it."""
    return grouped_mm(mat_a, mat_b, offs, bias, out_dtype)


def grouped_mm_in_float16(
    self: Tensor,
    mat2: Tensor,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: torch.dtype | None = None,
) -> Tensor:
    """Multiply all rows by each matrix in turn, and keep the rows of its group."""
    found = grouped_mm(self.half(), mat2.half(), offs)
    return found.to(out_dtype or self.dtype)


class GroupedMmByMasks(Rule):
    """Every row is multiplied by every matrix, and keeps the product with that of its own group.

    That is as many times the work as there are groups: right for a few experts, or to find out
    whether a model runs at all. Rows behind the last group are 0. Only rows in groups with one
    matrix each are taken, the form that mixtures of experts use in inference.
    """

    name = "grouped-mm-by-masks"
    label = Label.TOLERANCE
    tolerance = 64.0
    replaces = ("aten::_grouped_mm",)
    summary = "Multiply all rows by each matrix, and keep those of its group"
    references = (
        "https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/GroupedMMUtils.h",
    )
    spellings: ClassVar[tuple[str, ...]] = ("torch._grouped_mm",)
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.nn.functional.grouped_mm": grouped_mm_of
    }
    replace = staticmethod(grouped_mm)

    def refuses(self, call: Call) -> str:
        """Rows in groups alone."""
        x, mat2, offs = call.given("self"), call.given("mat2"), call.given("offs")
        if offs is None or x.dim() != 2 or mat2.dim() != 3:
            return "only rows in groups, with a matrix each, are taken"
        if call.given("bias") is not None:
            return "a bias is not taken"
        if mat2.size(0) > _GROUPS:
            return Sentence(
                "{count} groups are more than {count_most}, and each multiplies all rows",
                count=mat2.size(0),
                count_most=_GROUPS,
            )
        return ""

    def valid(self, call: Call) -> Call:
        """Let groups end one behind the other, the last with the last row."""
        offs = call.given("offs").sort().values.clamp(max=call.given("self").size(0))
        if offs.numel():
            offs[-1] = call.given("self").size(0)
        kwargs = {name: value for name, value in call.kwargs.items() if name != "offs"}
        if len(call.args) > 2:
            return Call(call.func, (*call.args[:2], offs, *call.args[3:]), kwargs)
        return Call(call.func, call.args, {**kwargs, "offs": offs})

    def example(self, op: str, draw: Draw) -> Arguments:
        """Groups of any length, empty ones among them."""
        rows, groups = draw.integer(1, 9), draw.integer(1, 4)
        dtype = draw.choose((torch.float32, torch.bfloat16))
        ends = sorted(draw.integer(0, rows) for _ in range(groups - 1))
        x = draw.tensor((rows, 16), (dtype,), edges=False).contiguous()
        mat2 = draw.tensor((groups, 16, 8), (dtype,), edges=False).contiguous()
        return (x, mat2), {"offs": torch.tensor([*ends, rows], dtype=torch.int32)}


class GroupedMmInFloat16(GroupedMmByMasks):
    """Every row is multiplied by every matrix in float16, and keeps the product with its own.

    For chips that multiply no float32, as an Ascend 310B, with a torch that has no such products.
    """

    name = "grouped-mm-in-float16"
    tier = Tier.STRUCTURAL
    tolerance = 64.0 * 8192
    gives_up = "All digits of float32 beyond the third, and numbers beyond 65,504"
    summary = "Multiply all rows by each matrix in float16, and keep those of its group"
    spellings = ()
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {}
    replace = staticmethod(grouped_mm_in_float16)

    def refuses(self, call: Call) -> str:
        """Float32 alone, and what the same without a cast takes."""
        if call.given("self").dtype != torch.float32 or call.given("mat2").dtype != torch.float32:
            return "the values are not float32"
        return super().refuses(call)

    def example(self, op: str, draw: Draw) -> Arguments:
        """The same groups, of float32."""
        (x, mat2), named = super().example(op, draw)
        return (x.float(), mat2.float()), named
