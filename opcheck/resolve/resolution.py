"""How one call resolves on one target, and how that is known."""

from collections.abc import Sequence

from msgspec import Struct, field

from opcheck.lang.sentence import Sentence
from opcheck.model.matrix import SLOW
from opcheck.model.trace import Node
from opcheck.model.verdict import Confidence, Evidence, Verdict


class Resolution(Struct, frozen=True):
    """The verdict on one node, with its reason."""

    verdict: Verdict
    code: str
    """Stable reason code."""
    text: str
    """One sentence."""
    confidence: Confidence = Confidence.HIGH
    evidence: tuple[Evidence, ...] = ()
    leaves: frozenset[str] = field(default_factory=frozenset)
    """Overloads that the call ends in on this target; empty where it runs as itself."""
    fallback_bytes: int = 0
    """Bytes that one call moves between device and host."""
    harmful: bool = False
    """Whether it runs on the device, and gives wrong values, breaks it or is very slow there."""
    about: str = ""
    """The overload that decides it, where that is one that the call runs as."""
    names_part: bool = False
    """Whether the sentence begins with that overload: ``it runs as …``."""

    @property
    def severity(self) -> tuple[int, int, int, int]:
        """For choosing the worst: what leaves the device, then a caution; of equals, the surest.

        Of cautions, wrong values come before what is slow: one sentence is shown of a call.
        """
        sure = -self.confidence.rank
        if self.verdict.on_device:
            return 0, self._caution, self.verdict.rank, sure
        return self.verdict.rank, 0, 0, sure

    @property
    def _caution(self) -> int:
        if self.harmful:
            return 2 if self.code in SLOW else 3
        return 0 if self.code in PLAIN else 1

    @property
    def wants_change(self) -> bool:
        """Whether a plan is to look for another way."""
        return self.harmful or not self.verdict.on_device


Part = tuple[Node, Resolution, int]
"""A call that another one makes, its resolution, and how often."""


class Step(Struct, frozen=True):
    """A question that the dispatcher asks about a call, with what the target answers."""

    text: str
    """``{list}`` stands for what the call runs as."""
    resolution: Resolution | None = None
    """What settles the call; None where the next question is asked."""
    parts: Sequence[Part] = ()
    """What it runs as."""

    @property
    def line(self) -> str:
        """The question and its answer, in a few words."""
        if not self.parts:
            return self.text
        return Sentence(self.text, list=listed(sorted({str(node.op) for node, _, _ in self.parts})))


def listed(names: Sequence[str], most: int = 6) -> str:
    """Names for a sentence; a long list is cut with the number left out."""
    if len(names) <= most:
        return ", ".join(names)
    shown = ", ".join(names[:most])
    return Sentence("{list} and {count} more", list=shown, count=len(names) - most)


REGISTERED = "registered"
THROUGH_OUT = "registered-through-out"
DECOMPOSES = "decomposes"
CHOSEN = "chosen-by-device"
NO_DEVICE_WORK = "no-device-work"
HOST_FALLBACK = "host-fallback"
RUNS_ELSEWHERE = "runs-elsewhere"
NO_KERNEL = "no-kernel"
NO_CONVERTER = "no-converter"
NO_KERNEL_ANYWHERE = "no-kernel-even-on-host"
NO_SPARSE_KERNEL = "layout-not-supported"
SPARSE_NOT_KNOWN = "sparse-kernels-not-known"
NOT_IN_TORCH = "not-in-target-torch"
NOT_TAKEN_APART = "decomposition-not-seen"
HOST_TENSOR = "host-tensor"
COLLECTIVE = "collective-of-backend"
NO_COLLECTIVE = "no-collective"
COLLECTIVE_NOT_KNOWN = "collective-not-known"
NO_DTYPE = "dtype-not-sent"
DTYPE_NOT_KNOWN = "dtype-not-known-to-be-sent"
NO_REDUCTION = "reduction-not-supported"
REDUCTION_NOT_KNOWN = "reduction-not-known"

BEFORE_CONVERSION = "decomposed-before-conversion"
"""Code of a call that a compiler takes apart before it looks for converters."""
PLAIN = frozenset(
    {REGISTERED, COLLECTIVE, THROUGH_OUT, DECOMPOSES, CHOSEN, NO_DEVICE_WORK, BEFORE_CONVERSION}
)
"""Codes of answers without any "but"."""
