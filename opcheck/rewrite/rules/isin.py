"""``isin`` without its kernel."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.draw import NUMBERS, Draw


def isin(
    elements: Tensor, test_elements: Tensor, *, assume_unique: bool = False, invert: bool = False
) -> Tensor:
    """Compare every element with every candidate."""
    found = (elements.unsqueeze(-1) == test_elements.reshape(-1)).any(-1)
    return ~found if invert else found


def isin_of(
    elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False
) -> Tensor:
    """``isin`` of two tensors; where one is a number, torch compares with it itself."""
    if isinstance(elements, Tensor) and isinstance(test_elements, Tensor):
        return isin(elements, test_elements, invert=invert)
    return torch.isin(elements, test_elements, assume_unique=assume_unique, invert=invert)


class IsinByComparing(Rule):
    """Every element is compared with every candidate, and is in where any comparison holds.

    The comparisons take ``elements.numel() * test_elements.numel()`` bytes; candidates are few
    where models ask this (end-of-sequence tokens). NaN is in nothing, as in ``torch.isin``.
    """

    name = "isin-by-comparing"
    replaces = ("aten::isin.Tensor_Tensor",)
    summary = "Compare with every candidate and take any"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {"torch.isin": isin_of}
    references = (
        "https://github.com/huggingface/transformers/pull/33099",
        "https://github.com/Ascend/pytorch/issues/40",
    )
    replace = staticmethod(isin)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Both of one dtype or of two."""
        given: dict[str, Any] = {"assume_unique": False, "invert": draw.flag()}
        return (draw.tensor(dtypes=NUMBERS), draw.tensor(dtypes=NUMBERS)), given
