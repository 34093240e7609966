"""A rewrite rule as people read of it."""

from msgspec import Struct

from opcheck.model.plan import Label, Tier

SCHEMA = "opcheck.rules/1"
CHECK_SCHEMA = "opcheck.rule-check/1"


class RuleInfo(Struct, frozen=True):
    """What a rule replaces, by what, and how close that is."""

    name: str
    tier: Tier
    label: Label
    """At best."""
    tolerance: float
    """Where the label is tolerance: the largest relative difference, in units of ``eps``."""
    replaces: tuple[str, ...]
    """Overloads, beside their in-place and ``out=`` forms."""
    summary: str
    """What to write, as an order."""
    gives_up: str
    page: str
    """What is replaced by what and why that is equal: paragraphs of plain text."""
    spellings: tuple[str, ...]
    """How users write the call."""
    code: str
    """Python that defines the function that stands for it."""
    references: tuple[str, ...]


class RuleCheck(Struct, frozen=True):
    """A rule tried on many calls of one overload."""

    rule: str
    op: str
    calls: int
    """Calls that were drawn."""
    compared: int
    """Of those, the ones that neither the operator nor the rule refuses."""
    wrong: int
    """Of those, the ones where the rule is further off than it says."""
    first: str
    """The smallest of the wrong ones and how far it is off; "" without."""

    @property
    def holds(self) -> bool:
        """Whether something was compared, and nothing was wrong."""
        return self.compared > 0 and not self.wrong
