"""Which targets suit a model: whether each takes it, how fast it can be at best, and its place."""

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct, field

from opcheck.costs.roofline import Bound, MemoryNeed
from opcheck.lang.sentence import Sentence
from opcheck.model.costs import Figure
from opcheck.model.plan import Tier
from opcheck.model.report import ModelInfo, TraceInfo

SCHEMA = "opcheck.choose/1"


class Way(StrEnum):
    """Whether a target runs a model, best first."""

    ITSELF = "runs"
    """Every call stays on the device."""
    HOST = "with-fallback"
    """It runs, with calls that leave the device."""
    REPAIRED = "after-repair"
    """It runs once a plan is followed, without an operator of one's own."""
    UNKNOWN = "unknown"
    """Nothing is known to hinder it, and not everything is known to run."""
    NOT = "does-not-run"

    @property
    def rank(self) -> int:
        """0 for the best to 4 for the worst."""
        return list(Way).index(self)


class Fit(StrEnum):
    """Whether what a run needs at once has room in one device's memory, best first."""

    EVERY = "every-product"
    SOME = "some-products"
    """Of the products that the chip is sold as, one has room for it, and one has not or nobody
    has said."""
    UNKNOWN = "unknown"
    NONE = "no-product"

    @property
    def rank(self) -> int:
        """0 for the best to 3 for the worst."""
        return list(Fit).index(self)


class Criterion(StrEnum):
    """What one target can be behind another for, the weightiest first."""

    TAKES = "takes"
    """Whether it takes the model at all: it runs it and has room for it."""
    WAY = "way"
    TIER = "tier"
    """How much a repair changes."""
    FIT = "fit"
    ROOM = "room"
    """Memory of the largest product, where none has room."""
    HOST = "host"
    """Bytes that cross to the host, where it runs with calls that leave the device."""
    SHARE = "share"
    """Of operators that it supports, after repair where it needs one."""
    BOUND = "bound"
    """The least time that a run can take."""


PEAK = "peak "
"""How names of figures begin that are rates in a dtype."""


def spelled(figure: str) -> Sentence:
    """A figure as sentences name it: ``peak rate in float32``."""
    if figure.startswith(PEAK):
        return Sentence("peak rate in {name}", name=figure.removeprefix(PEAK))
    return Sentence(figure)


class Offer(Struct, frozen=True):
    """One product that a chip is sold as, for one model."""

    name: str
    memory: Figure | None
    """As in the chip's data; None: nobody has said."""
    bandwidth: Figure | None
    peaks: Mapping[str, Figure]
    """dtype -> operations a second, of the dtypes that the model computes in."""
    fits: bool | None
    """Whether its memory has room for what a run needs at once; None: not known."""
    bound: Bound
    """The least time of a run on it; not whole where a figure that it needs is not known."""
    missing: tuple[str, ...] = ()
    """Figures that nobody has said: ``memory``, ``bandwidth``, ``peak float32``."""

    @property
    def seconds(self) -> float | None:
        """The least time; None where a figure that it rests on is not known."""
        return None if any(name != "memory" for name in self.missing) else self.bound.seconds


class Choice(Struct, frozen=True):
    """One target, and its place among the others."""

    target: str
    vendor: str
    chip: str
    name: str
    """What the chip is called: ``NVIDIA A100``."""
    way: Way
    fit: Fit
    need: MemoryNeed
    """What a run needs at once."""
    offers: tuple[Offer, ...]
    support_rate: float | None
    """Of operators, today."""
    repaired_rate: float | None = None
    """The same once a plan is followed, without an operator of one's own; None: not known."""
    tier: Tier | None = None
    """What a repair takes at most; None where there is none, or it needs none."""
    blocking: tuple[str, ...] = ()
    """Operators that keep the target from running it, or of which nobody has said."""
    host_calls: int = 0
    host_bytes: int = 0
    """Bytes that cross between device and host, in one run."""
    place: int = 0
    """From 1; targets that nothing tells apart share one."""
    criterion: Criterion | None = None
    """What it is behind the last one of the place before for; None: it is in the first."""
    why: str = ""
    """Why it is in this place; one sentence."""
    unseen: tuple[str, ...] = ()
    """What is not known of the model there, one clause each."""
    untold: tuple[str, ...] = ()
    """What nobody has said of the chip, or nobody but the press; one clause each."""

    @property
    def unknown(self) -> tuple[str, ...]:
        """All that is not known of it."""
        return self.unseen + self.untold

    @property
    def takes(self) -> bool | None:
        """Whether it runs the model, be it after repair, and has room for it; None: not known."""
        if self.way is Way.NOT or self.fit is Fit.NONE:
            return False
        return None if self.way is Way.UNKNOWN or self.fit is Fit.UNKNOWN else True

    @property
    def rate(self) -> float | None:
        """Of operators that it supports, after repair where it needs one; None: not known."""
        return self.repaired_rate if self.way is Way.REPAIRED else self.support_rate

    @property
    def open_offers(self) -> tuple[Offer, ...]:
        """Products that it fits in; where it is not known to fit in any, those that may do."""
        fitting = tuple(offer for offer in self.offers if offer.fits)
        return fitting or tuple(offer for offer in self.offers if offer.fits is None)

    @property
    def best(self) -> Offer | None:
        """The one of them with the least time, which a target is ranked by; None: not known."""
        known = [offer for offer in self.open_offers if offer.seconds is not None]
        return min(known, key=lambda offer: offer.seconds or 0, default=None)

    @property
    def most_memory(self) -> float | None:
        """Bytes of the largest product; None: not known of any."""
        return max((one.memory.value for one in self.offers if one.memory), default=None)

    @property
    def seconds(self) -> float | None:
        """The least time of a run on that one."""
        return self.best.seconds if self.best else None

    @property
    def floor(self) -> float | None:
        """Where that is not known, a time that no product can be faster than, by what is known."""
        if self.best or any(offer.bound.seconds is None for offer in self.open_offers):
            return None
        return min((offer.bound.seconds or 0 for offer in self.open_offers), default=None)


class Choosing(Struct, frozen=True):
    """What ``opcheck choose`` found."""

    opcheck_version: str
    torch_version: str
    model: ModelInfo
    trace: TraceInfo
    choices: tuple[Choice, ...]
    """By place."""
    dtypes: Mapping[str, int] = field(default_factory=dict)
    """dtype -> operations of products of matrices in it, the most first."""
    unknown: tuple[str, ...] = ()
    """What is not known of the model, whatever the target."""
