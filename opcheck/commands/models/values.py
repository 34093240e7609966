"""The answer of ``opcheck models``."""

from collections.abc import Mapping

from msgspec import Struct

from opcheck.model.model_lists import ModelList, ModelRow, Outcome


class ListSummary(Struct, frozen=True):
    """One list as a whole."""

    of: ModelList
    repository: str
    date: str
    """ISO date of its commit."""
    outcomes: Mapping[Outcome, int]
    """Rows by the best that each says."""


class ModelsAnswer(Struct, frozen=True):
    """The rows that were asked for."""

    name: str
    """What the user called the model; "": any."""
    targets: tuple[str, ...]
    """The targets that were named; (): any."""
    lists: tuple[ListSummary, ...]
    """Every list there is, whatever was asked for."""
    rows: tuple[ModelRow, ...]
    """By list and in its order; without a name and a target, all of them."""

    @property
    def asked(self) -> bool:
        """Whether the user asked for some rows, and not for the lists."""
        return bool(self.name or self.targets)
