"""What stands in a model's way on one target, and which move within its vendor takes it away."""

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

from opcheck.model.report import Finding, ModelInfo, TraceInfo
from opcheck.model.target import Target

SCHEMA = "opcheck.upgrade/1"


class MoveKind(StrEnum):
    """How much a move changes, the least first."""

    TORCH = "torch"
    """Another torch version that the same release serves."""
    RELEASE = "release"
    """A newer release, with whichever torch version it serves."""
    CHIP = "chip"
    """Another chip of the vendor."""

    @property
    def rank(self) -> int:
        """0 for the smallest change."""
        return list(MoveKind).index(self)


class Candidate(Struct, frozen=True):
    """A target to move to."""

    kind: MoveKind
    target: Target


class Move(Struct, frozen=True):
    """What a move to another target would change."""

    kind: MoveKind
    target: Target
    removes: tuple[str, ...]
    """Ids of the findings that are gone there."""
    brings: tuple[str, ...]
    """Operators that block there and do not today, sorted."""
    runs: bool | None
    """Whether the model runs there."""
    support_rate: float | None

    @property
    def gain(self) -> int:
        """Findings that it removes, less operators that it breaks."""
        return len(self.removes) - len(self.brings)


class Blocked(Struct, frozen=True):
    """One finding that keeps calls off the device, and where it is gone."""

    finding: Finding
    gone: Mapping[MoveKind, Target]
    """Kind of move -> the nearest target where every call of the finding stays on the device: for
    releases the first; without the kinds that do not remove it."""


class Upgrade(Struct, frozen=True):
    """One model on one target, and the moves that would help."""

    opcheck_version: str
    torch_version: str
    model: ModelInfo
    trace: TraceInfo
    target: Target
    runs: bool | None
    support_rate: float | None
    blocked: tuple[Blocked, ...]
    """Worst first, as in a report."""
    moves: tuple[Move, ...]
    """The smallest first, each of which gains more than every smaller one; the last gains most."""
    tried: int
    """Targets that were looked at."""

    @property
    def best(self) -> Move | None:
        """The smallest move that gains most; None: none gains anything."""
        return self.moves[-1] if self.moves else None

    @property
    def stuck(self) -> tuple[Blocked, ...]:
        """Findings that no move removes."""
        return tuple(blocked for blocked in self.blocked if not blocked.gone)
