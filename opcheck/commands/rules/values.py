"""What ``opcheck rules`` answers."""

from msgspec import Struct

from opcheck.model.plan import RuleCheck


class Checked(Struct, frozen=True):
    """Rules tried on many calls."""

    checks: tuple[RuleCheck, ...]

    @property
    def holds(self) -> bool:
        """Whether no call was off."""
        return all(check.holds for check in self.checks)
