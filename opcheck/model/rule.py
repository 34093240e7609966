"""A rewrite rule as people read of it."""

from dataclasses import dataclass

from opcheck.model.plan import Label, Tier

SCHEMA = "opcheck.rules/1"


@dataclass(frozen=True, slots=True)
class RuleInfo:
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
