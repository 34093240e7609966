"""How a model's own code has modules sharded by ``fully_shard``, until they are on a device."""

from collections.abc import Mapping
from typing import Any, Self

SHARDED = "_opcheck_sharded"
"""Name under which a module keeps how it is sharded."""


class Sharding:
    """One call of ``fully_shard``; the modules that it was given share it, and so do copies."""

    __slots__ = ("ignored", "number", "options")

    def __init__(self, number: int, options: Mapping[str, Any], ignored: frozenset[str]) -> None:
        self.number = number
        """Calls are made in the order of their numbers."""
        self.options = options
        """Named arguments, but for the parameters that are left alone."""
        self.ignored = ignored
        """Names of these, as the first of the modules knows them."""

    def __deepcopy__(self, memo: object) -> Self:
        return self
