"""Bounds that compare a size with the number at the same dimension of a list argument."""

from msgspec import Struct


class NotMultiple(Struct, frozen=True):
    """The size is no whole multiple of the item at the same dimension of a list argument."""

    of: str

    def unfit(self, size: int, item: int) -> bool:
        """Whether the bound excludes a size beside an item, both above zero."""
        return bool(size % item)


class NotFactor(Struct, frozen=True):
    """The size does not divide the item at the same dimension of a list argument."""

    of: str

    def unfit(self, size: int, item: int) -> bool:
        """Whether the bound excludes a size beside an item, both above zero."""
        return bool(item % size)


class NotEqual(Struct, frozen=True):
    """The size is another than the item at the same dimension of a list argument."""

    of: str

    def unfit(self, size: int, item: int) -> bool:
        """Whether the bound excludes a size beside an item, both above zero."""
        return size != item
