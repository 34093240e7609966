"""Single numbers as tensors."""

from collections.abc import Callable
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.rewrite.base import REFERENCES, Arguments, Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import ANY, Draw


def scalar_tensor(
    s: Any,
    *,
    dtype: torch.dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool | None = None,
) -> Tensor:
    """Fill a tensor without dimensions."""
    return torch.full((), s, dtype=dtype or torch.get_default_dtype(), device=device)


class ScalarTensorByFilling(Rule):
    """``full((), s)``, of the same dtype."""

    name = "scalar-tensor-by-filling"
    replaces = ("aten::scalar_tensor",)
    summary = "Fill a tensor without dimensions"
    spellings = ("torch.scalar_tensor",)
    references = (REFERENCES,)
    replace: ClassVar[Callable[..., Any]] = staticmethod(scalar_tensor)

    def refuses(self, call: Call) -> str:
        """Decline memory that is pinned, and sparse layouts."""
        if call.given("pin_memory") or call.given("layout") not in (None, torch.strided):
            return "its memory is of another kind"
        return ""

    def example(self, op: str, draw: Draw) -> Arguments:
        """Numbers of every dtype."""
        dtype = draw.choose((None, *ANY))
        return (draw.choose((0, 1, 7, True)),), {} if dtype is None else {"dtype": dtype}
