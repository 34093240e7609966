"""What ``opcheck rules`` answers."""

from dataclasses import dataclass

from opcheck.model.rule import RuleCheck


@dataclass(frozen=True, slots=True)
class Checked:
    """Rules tried on many calls."""

    checks: tuple[RuleCheck, ...]

    @property
    def holds(self) -> bool:
        """Whether no call was off."""
        return all(check.holds for check in self.checks)
