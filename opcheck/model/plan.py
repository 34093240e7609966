"""Fixes for a finding - rules, remedies, suggestions - and the proof of what they come to."""

from collections.abc import Mapping
from enum import IntEnum, StrEnum

from msgspec import Struct

from opcheck.model.verdict import Confidence, Evidence


class Compared(Struct, frozen=True):
    """Results, or gradients, of the changed model compared with those of the unchanged one."""

    results: int
    """How many tensors were compared on the host, or else on the emulated device."""
    name: str = ""
    """The one that comes nearest to what is allowed, or goes furthest beyond; "" for none."""
    dtype: str = ""
    difference: float | None = 0.0
    """Its largest absolute difference; None where just one side has NaN or infinity."""
    allowed: float | None = 0.0
    """How far it may be off; None where something else is computed, and no figure is promised."""
    holds: bool = True
    """Whether all of them are as near as they are allowed to be."""


class Proof(Struct, frozen=True):
    """The changed model run on the emulated device, or scanned again."""

    how: str
    """``emulated`` or ``scanned``."""
    target: str
    holds: bool
    """Whether every overload that was replaced is gone, and the results are what they were."""
    gone: tuple[str, ...]
    """Replaced overloads that the target is not asked for any more, sorted."""
    remaining: tuple[str, ...]
    """Overloads that it is still asked for and refuses, or that still leave it, sorted."""
    newer: tuple[str, ...]
    """Overloads that it refused too, but that just the running torch asks for, sorted: the
    target's own does not."""
    runs: bool | None
    """Whether the target runs the changed model."""
    forward: Compared | None
    """Of the results; None where none were compared."""
    backward: Compared | None = None
    """Of the gradients of parameters and inputs."""
    no_backward: str = ""
    """Why no gradients were compared."""
    error: str = ""
    """What ended the run early; "" if it came to its end."""
    note: str = ""
    """What to know of the figures; "" for nothing."""


class Tier(IntEnum):
    """How much a suggestion changes, the least first."""

    SWAP = 1
    """The same values through overloads that the target has."""
    COMPAT = 2
    """What the vendor ships for it: a call, an option, an environment variable."""
    STRUCTURAL = 3
    """The model computes it in another way; something is given up."""
    CUSTOM = 4
    """An operator of one's own for the vendor's toolchain."""


class Label(StrEnum):
    """How close the values are, the closest first."""

    EXACT = "exact"
    """Equal to the last bit."""
    TOLERANCE = "tolerance"
    """Equal but for rounding, as far as the figure says."""
    APPROXIMATE = "approximate"
    """Something else is computed; what, is said."""

    @property
    def rank(self) -> int:
        """0 for exact to 2 for approximate."""
        return list(Label).index(self)


class Difference(Struct, frozen=True):
    """How far values are off, over all elements of all results."""

    absolute: float
    """Largest |a - b|; 0.0 where every bit agrees, inf where NaN or inf do not match."""
    relative: float
    """``absolute`` over the largest finite |a|."""


class Measured(Struct, frozen=True):
    """A suggestion computed on the host beside what it replaces, on random values."""

    inputs: tuple[str, ...]
    """``name: dtype[shape]`` of the tensors it was computed for."""
    forward: Difference
    backward: Difference | None
    """Of the gradients of every floating-point input; None: there are none to compare."""


class Declined(Struct, frozen=True):
    """A way that was looked at, and why it is no suggestion here."""

    rule: str
    tier: Tier
    reason: str
    """One sentence."""


class Suggestion(Struct, frozen=True):
    """One suggestion for the calls of a finding."""

    rule: str
    """Its name; what ``opcheck explain`` takes."""
    tier: Tier
    label: Label
    replaces: str
    """The overload that is not asked for any more: the finding's own, or one inside it."""
    summary: str
    """One sentence: what to write, or to set."""
    code: str = ""
    """Python that stands for itself and can be called in place of ``replaces``; "" without."""
    function: str = ""
    """Name of the function in ``code`` to call."""
    gives_up: str = ""
    """What is lost by it; "" for nothing."""
    whole: bool = False
    """Whether it holds for all calls of the model together, or for none: ``code`` takes and gives
    other things than ``replaces`` does."""
    runs_as: tuple[str, ...] = ()
    """Overloads that the target is asked for instead, as recorded, sorted."""
    backward_as: tuple[str, ...] = ()
    """In the plan of a training step: those that its gradients ask for, as recorded, sorted."""
    calls: int = 0
    """Kernels that one call asks for."""
    memory: int = 0
    """Bytes that one call makes beside its result, if none of it is given back before the end."""
    measured: Measured | None = None
    unmeasured: str = ""
    """Why ``measured`` is None; "" where there is nothing to measure."""
    tolerance: float = 0.0
    """Where the label is tolerance: how far values may be off, in ``eps`` of the largest."""
    on_device: bool = True
    """Whether the call then stays on the device; else it runs, on the host."""
    by_hand: bool = False
    """Whether it is left to the user, since more than the call has to change."""
    places: tuple[int, ...] = ()
    """Indices into the finding's ``uses`` that it holds for."""
    evidence: tuple[Evidence, ...] = ()
    declined: tuple[Declined, ...] = ()
    """Cheaper ways that were looked at before it."""
    proof: Proof | None = None
    """Of the model with it, and with all else that was followed; None until it was."""

    @property
    def is_advice(self) -> bool:
        """Whether nothing of it was recorded, so that it counts for nothing."""
        return self.by_hand and not self.runs_as


class NodePlan(Struct, frozen=True):
    """The suggestions for one distinct call on one target."""

    node: int
    """Index into ``Trace.nodes``."""
    suggestions: tuple[Suggestion, ...]
    """All of them are needed where they replace different overloads; of those that replace the
    same one, the first is the cheapest."""
    declined: tuple[Declined, ...] = ()
    """Everything that was looked at, where ``suggestions`` leaves an overload without a way."""
    stuck: tuple[str, ...] = ()
    """Overloads without a suggestion, or with none but a kernel of one's own."""
    site: str = ""
    """``file:line`` of the one place that it is for; "" for every place of the call."""


class AfterTier(Struct, frozen=True):
    """What a target's summary becomes once every suggestion up to a tier is followed."""

    tier: Tier
    support_rate: float | None
    runs: bool | None
    operators: tuple[str, ...]
    """Operators that come to run natively in this tier, sorted."""


class PlanSummary(Struct, frozen=True):
    """The plan for one target as figures."""

    tiers: tuple[AfterTier, ...]
    stuck: tuple[str, ...]
    """Operators that no suggestion helps, or none but a kernel of one's own."""


Plans = Mapping[str, tuple[NodePlan, ...]]
"""``str(Target)`` -> the plan of each distinct call that needs one."""


class Remedy(Struct, frozen=True):
    """One thing to write or to set, and which findings it is for."""

    id: str
    """``mps-host-fallback``."""
    summary: str
    """What to do, as an order."""
    write: str
    """The line to write or the variable to set; a shell or a Python line."""
    codes: frozenset[str]
    """Reason codes that it helps; empty for all."""
    ops: frozenset[str]
    """Overloads that it helps; empty for all."""
    dtypes: frozenset[str]
    """Dtypes that the call must have one of; empty for any."""
    on_device: bool
    """Whether the call then stays on the device, or runs on the host."""
    label: Label
    gives_up: str
    confidence: Confidence
    evidence: tuple[Evidence, ...]


RULES_SCHEMA = "opcheck.rules/1"
RULE_CHECK_SCHEMA = "opcheck.rule-check/1"


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
