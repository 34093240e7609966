"""What a model costs on a target, what bounds it there, and what would make it cost less."""

from msgspec import Struct

from opcheck.costs.roofline import Bound, MemoryNeed
from opcheck.model.report import ModelInfo, TraceInfo
from opcheck.model.verdict import Evidence

SCHEMA = "opcheck.tune/1"


class Gain(Struct, frozen=True):
    """What an advice brings at most, by the bounds."""

    share: float | None = None
    """Of the time that bounds the run, between 0 and 1; None: not known."""
    seconds: float | None = None
    """The same as time; None: not known."""
    nbytes: int | None = None
    """Bytes of memory that are saved; None: not known, or none."""
    text: str = ""
    """How it was computed, or why it is not known; one clause."""


class Advice(Struct, frozen=True):
    """One thing to change, why, and what it brings."""

    code: str
    """The advice: ``half-precision``."""
    title: str
    """What to do, as an order."""
    where: tuple[str, ...]
    """Module patterns, operators or lines; () for the whole model."""
    reason: str
    """What in the trace speaks for it, with its figures."""
    gain: Gain
    actions: tuple[str, ...] = ()
    """What to do in words, one clause each."""
    lines: tuple[str, ...] = ()
    """Lines of code to write, or commands to run."""
    evidence: tuple[Evidence, ...] = ()
    """What says so of the chip or the vendor's software."""
    needed: bool = False
    """Whether the model does not run there, or gives wrong values, without it."""


class OperatorCost(Struct, frozen=True):
    """All calls of one overload on the target, together."""

    op: str
    calls: int
    flops: int | None
    """None where nobody has said how many for some of them."""
    moved: int
    """Bytes read and written."""
    bound: Bound
    share: float | None
    """Of the time that bounds the run; None: not known."""
    module: str
    """Where the most of it is."""


class ChipFigure(Struct, frozen=True):
    """One figure of the chip's that the bounds rest on."""

    name: str
    """``memory``, ``bandwidth``, ``peak float16``."""
    value: float | None
    """In bytes, bytes a second or operations a second; None: not known."""
    evidence: tuple[Evidence, ...] = ()


class TunedTarget(Struct, frozen=True):
    """What a model costs on one target, and what would make it cost less."""

    target: str
    vendor: str
    chip: str
    title: str
    """What the vendor calls the chip: ``NVIDIA A100``."""
    product: str
    """The product whose figures are taken: ``A100 80GB SXM``; "" where none is known."""
    others: tuple[str, ...]
    """Other products with the chip."""
    runs: bool | None
    """As in a report: None where that is not known."""
    figures: tuple[ChipFigure, ...]
    flops: int
    """Of all products of matrices whose operations are known."""
    elements: int
    """Element operations beside those."""
    moved: int
    """Bytes read and written by all calls."""
    bound: Bound
    operators: tuple[OperatorCost, ...]
    """The dearest first."""
    memory: MemoryNeed
    largest_batch: int | None
    """How many examples the chip's memory has room for, if all that lives at once grows with them;
    None where that is not known."""
    advice: tuple[Advice, ...]
    """What is needed first, then what brings the most, then what is not known to."""
    unknown: tuple[str, ...] = ()
    """What is not known, and kept something from being said; one sentence each."""


class Tuning(Struct, frozen=True):
    """What ``opcheck tune`` found."""

    opcheck_version: str
    torch_version: str
    model: ModelInfo
    trace: TraceInfo
    targets: tuple[TunedTarget, ...]
