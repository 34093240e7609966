"""What keeps a whole model from an export: no operator stands for it."""

from enum import StrEnum

from msgspec import Struct


class KeptOut(StrEnum):
    """What of a whole model keeps it from an export; the database has conditions of these names."""

    GIVEN = "inputs"
    """It takes a value of a class that ``torch.export`` does not know."""
    RETURNED = "outputs"
    """It gives one."""
    REPEATED = "repeated"
    """It gives a tensor at several places."""
    PERMUTED = "permuted"
    """It takes a tensor whose dimensions lie in another order."""
    COMPLEX = "complex"
    """It gives complex numbers, and takes none."""
    VIEWED = "viewed"
    """A view joins the batch with the positions of what attention gives."""
    STATISTICS = "statistics"
    """It uses the mean or the deviation that a normalisation gives beside its result."""


class UnknownClass(Struct, frozen=True, order=True):
    """A value of a whole model that ``torch.export``, or a converter behind it, does not take.

    ``torch.export`` knows tensors, plain values, and registered containers; what some converters
    do not take of tensors is told by ``what``.
    """

    name: str
    """``transformers.cache_utils.DynamicCache``; of a permuted tensor, ``[0, 2, 3, 1]``; of complex
    numbers their dtype; of a view the shape; of statistics the function that gives them."""
    what: KeptOut
    where: str = ""
    """file:line of the model's forward; "" where it has none."""

    @property
    def returned(self) -> bool:
        """Whether the model gives it; else it is an input."""
        return self.what not in (KeptOut.GIVEN, KeptOut.PERMUTED, KeptOut.VIEWED)
