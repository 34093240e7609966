"""How a use fares on a target, how sure that is, and how it is known."""

from enum import StrEnum

from msgspec import Struct


class Verdict(StrEnum):
    """How one use fares on one target, best first."""

    NATIVE = "native"
    DECOMPOSED = "decomposed"
    FALLBACK = "fallback"
    UNSUPPORTED = "unsupported"
    UNKNOWN = "unknown"

    @property
    def rank(self) -> int:
        """Badness, for picking the worst: unsupported is worse than unknown, native is 0."""
        return _BADNESS[self]

    @property
    def on_device(self) -> bool:
        """Whether the work stays on the accelerator."""
        return self in (Verdict.NATIVE, Verdict.DECOMPOSED)


class Confidence(StrEnum):
    """How sure a verdict is: source code or a test, a document's list, or an inference."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"

    @property
    def rank(self) -> int:
        """0 for high to 2 for low."""
        return _DOUBT[self]


_BADNESS = {
    Verdict.NATIVE: 0,
    Verdict.DECOMPOSED: 1,
    Verdict.FALLBACK: 2,
    Verdict.UNKNOWN: 3,
    Verdict.UNSUPPORTED: 4,
}
_DOUBT = {Confidence.HIGH: 0, Confidence.MEDIUM: 1, Confidence.LOW: 2}
# tables, since a scan against many targets asks for ranks a hundred thousand times


class Method(StrEnum):
    """How a fact became known."""

    REGISTERED = "registered"
    """The vendor's build registers (or leaves out) a kernel, or its code states the condition."""
    DOCUMENTED = "documented"
    """A vendor document says so."""
    TESTED = "tested"
    """It was run."""
    DISPATCHER = "dispatcher"
    """PyTorch's own registrations say so: a composite kernel, a CPU kernel, or none."""
    INFERRED = "inferred"
    """Concluded from a neighbouring fact."""


class Evidence(Struct, frozen=True, order=True):
    """Where one fact was seen, precisely enough to open it."""

    method: Method
    source: str
    """Repository or product: ``Ascend/op-plugin``, ``pytorch/pytorch``."""
    path: str = ""
    line: int | None = None
    """1-based line in ``path`` at ``commit``."""
    commit: str = ""
    date: str = ""
    """ISO date of the commit."""
    origin: str = ""
    """The overlay that brought it in, as people are told of it; "" for the database itself."""
