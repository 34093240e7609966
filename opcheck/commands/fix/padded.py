"""``opcheck fix --dynamic``: inputs padded to few sizes, and what that brings."""

from math import prod

from msgspec import Struct

from opcheck.model.dynamic import Site, SiteKind, SiteTaken
from opcheck.model.padding import FixedCode, PaddedAxis, PadRun
from opcheck.model.report import ModelInfo
from opcheck.model.verdict import Evidence

SCHEMA = "opcheck.padding/1"


class VaryingPlace(Struct, frozen=True):
    """A place whose size, or what follows, depends on values."""

    site: Site
    advice: str
    """What to do there, as a sentence."""
    code: FixedCode | None = None
    """What to write; None: nothing is written for it."""
    there: bool = True
    """Whether the target has a kernel for what the code needs."""
    evidence: tuple[Evidence, ...] = ()
    """How that is known which is said of the target."""


class Padding(Struct, frozen=True):
    """A model behind a wrapper that pads inputs whose sizes vary."""

    opcheck_version: str
    torch_version: str
    model: ModelInfo
    target: str
    files: tuple[str, ...]
    """What was written; empty where that was not asked for, or the proof failed."""
    run: PadRun
    taken: SiteTaken | None
    """How the target takes calls whose sizes vary; None where no call is given any."""
    places: tuple[VaryingPlace, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether there is a wrapper that gives what the model gives."""
        return self.run.holds

    @property
    def reads_values(self) -> bool:
        """Whether Python reads a value in the model, which may be one of the padding."""
        return any(one.site.kind is SiteKind.DATA_READ for one in self.places)

    @property
    def shapes_before(self) -> int:
        """How many choices of sizes the model can be called with, up to the largest bucket."""
        return prod(axis.sizes for axis in self.run.axes)

    @property
    def shapes_after(self) -> int:
        """How many it is called with behind the wrapper."""
        return prod(len(axis.buckets) for axis in self.run.axes)

    @property
    def padded_share(self) -> float:
        """How many times as many elements are computed, over all sizes."""
        return prod(map(_share, self.run.axes), start=1.0)


def _share(axis: PaddedAxis) -> float:
    """Elements of one dimension with padding, over those without, for all sizes once."""
    padded, before = 0, axis.smallest - 1
    for bucket in axis.buckets:
        padded += bucket * max(bucket - max(before, 0), 0)
        before = max(before, bucket)
    first, last = axis.smallest, axis.buckets[-1]
    plain = (first + last) * (last - first + 1) // 2
    return padded / plain if plain else 1.0
