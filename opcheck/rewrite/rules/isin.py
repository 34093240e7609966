"""``isin`` without its kernel."""

from typing import Any

from torch import Tensor

from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.draw import NUMBERS, Draw


def isin(
    elements: Tensor, test_elements: Tensor, *, assume_unique: bool = False, invert: bool = False
) -> Tensor:
    """Compare every element with every candidate."""
    found = (elements.unsqueeze(-1) == test_elements.reshape(-1)).any(-1)
    return ~found if invert else found


class IsinByComparing(Rule):
    """Every element is compared with every candidate, and is in where any comparison holds.

    The comparisons take ``elements.numel() * test_elements.numel()`` bytes; candidates are few
    where models ask this (end-of-sequence tokens). NaN is in nothing, as in ``torch.isin``.
    """

    name = "isin-by-comparing"
    replaces = ("aten::isin.Tensor_Tensor",)
    summary = "Compare with every candidate and take any"
    spellings = ("torch.isin",)
    references = (
        "https://github.com/huggingface/transformers/pull/33099",
        "https://github.com/Ascend/pytorch/issues/40",
    )
    replace = staticmethod(isin)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Both of one dtype or of two."""
        given: dict[str, Any] = {"assume_unique": False, "invert": draw.flag()}
        return (draw.tensor(dtypes=NUMBERS), draw.tensor(dtypes=NUMBERS)), given
