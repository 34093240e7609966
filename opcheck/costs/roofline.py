"""The least time that calls can take on a chip, by what they compute and the bytes they move."""

from collections.abc import Iterable, Mapping
from enum import StrEnum

from msgspec import Struct, field

from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.costs import DTYPES, Chip, NodeCost, Product
from opcheck.model.trace import Phase
from opcheck.model.verdict import Verdict


class Leaf(Struct, frozen=True):
    """Calls of one overload that the target runs itself, from one place in the model."""

    node: int
    """Index into ``Trace.nodes``."""
    use: int
    """Index into ``Trace.uses``: the call of the model's that they are part of."""
    op: str
    """The overload: ``aten::addmm``."""
    count: int
    """How often, in the whole run."""
    dtype: str
    """Of its first floating-point tensor, else of its first tensor; "" without one."""
    verdict: Verdict
    """How one such call fares."""
    cost: NodeCost
    """Of one such call."""
    phase: Phase = Phase.FORWARD
    module: str = ""
    """Where it is made, as in a use."""

    @property
    def base(self) -> str:
        """The operator without namespace and overload: ``addmm``."""
        return self.op.partition("::")[2].partition(".")[0]


class Limit(StrEnum):
    """What a call waits for, at best."""

    COMPUTE = "compute"
    BANDWIDTH = "bandwidth"
    HOST = "host"
    """It runs on the host: how fast that is nobody has said."""
    UNKNOWN = "unknown"


class Bound(Struct, frozen=True):
    """The least time that calls can take on a chip."""

    seconds: float | None
    """None where no figure of the chip's tells."""
    limit: Limit
    whole: bool = True
    """Whether every figure that it needs is known; where not, it is too low a bound."""


class MemoryNeed(Struct, frozen=True):
    """Bytes that a run needs on the device at once.

    What the vendor's runtime, its allocator and the kernels' work spaces take is not in it.
    """

    weights: int
    buffers: int
    inputs: int
    activations: int
    """At the moment at which the most is needed, as are the next two."""
    gradients: int = 0
    states: int = 0
    batch: int | None = None
    """The first size that all inputs share; None: they share none."""
    phase: Phase = Phase.FORWARD
    """When the most is needed."""

    @property
    def fixed(self) -> int:
        """What a larger batch leaves as it is."""
        return self.weights + self.buffers + self.gradients + self.states

    @property
    def total(self) -> int:
        """All of it."""
        return self.fixed + self.inputs + self.activations


_CONVOLUTIONS = ("conv", "_conv", "cudnn_conv", "miopen_conv", "slow_conv", "_slow_conv")
"""How the operators begin that convolve."""
_FLOAT8 = "float8"


class Roof(Struct, frozen=True):
    """How fast a chip is at best; what nobody has said is left out, never taken to be something."""

    bandwidth: float | None = None
    """Bytes a second to and from its memory; None: not known."""
    peaks: Mapping[str, float] = field(default_factory=dict)
    """dtype -> operations a second of dense products, where that is known; ``tf32`` for float32
    with its short mantissa."""
    tf32_products: bool = True
    """Whether products of float32 matrices may run in ``tf32``; convolutions always may."""

    def peak(self, leaf: Leaf) -> float | None:
        """Operations a second of the leaf's products, at best; None: not known."""
        dtype = _FLOAT8 if leaf.dtype.startswith(_FLOAT8) else leaf.dtype
        known = [self.peaks[dtype]] if dtype in self.peaks else []
        short = self.tf32_products or convolves(leaf.op)
        if dtype == "float32" and short and "tf32" in self.peaks:
            known.append(self.peaks["tf32"])
        return max(known, default=None)

    def bound(self, leaf: Leaf) -> Bound:
        """The least time for all of a leaf's calls."""
        if leaf.verdict is Verdict.FALLBACK:
            return Bound(None, Limit.HOST, whole=False)
        flops, moved = leaf.cost.flops, leaf.cost.moved
        peak = self.peak(leaf)
        compute = flops * leaf.count / peak if flops and peak else None
        moving = moved * leaf.count / self.bandwidth if moved and self.bandwidth else None
        whole = flops is not None and (compute is not None or not flops)
        whole = whole and (moving is not None or not moved)
        needed = [part for part in (compute, moving) if part is not None]
        if not needed:
            return Bound(0.0 if whole else None, Limit.UNKNOWN, whole)
        limit = Limit.COMPUTE if compute == max(needed) else Limit.BANDWIDTH
        return Bound(max(needed), limit, whole)

    def total(self, leaves: Iterable[Leaf]) -> Bound:
        """The least time for calls that run one after the other."""
        return summed(self.bound(leaf) for leaf in leaves)


def convolves(op: str) -> bool:
    """Whether an overload is a convolution."""
    return op.partition("::")[2].startswith(_CONVOLUTIONS)


def summed(bounds: Iterable[Bound]) -> Bound:
    """One after the other: limited by what most of the time goes to."""
    found = list(bounds)
    known = [bound for bound in found if bound.seconds is not None]
    if not known:
        limits = {bound.limit for bound in found}
        return Bound(None, limits.pop() if len(limits) == 1 else Limit.UNKNOWN, whole=False)
    times = {limit: sum(b.seconds or 0 for b in known if b.limit is limit) for limit in Limit}
    limit = max(times, key=lambda one: times[one])
    seconds, whole = sum(times.values()), all(bound.whole for bound in found)
    if not seconds and not whole:  # calls that do nothing are all that is known of
        return Bound(None, Limit.UNKNOWN, whole=False)
    return Bound(seconds, limit, whole)


_TF32_ASKED_FOR = frozenset({"cuda"})
"""Device types on which PyTorch runs products of float32 in ``tf32`` only where that is asked for;
what others do is not known, and a bound must hold for either."""


def product_of(chip: Chip, name: str = "") -> Product | None:
    """The product called ``name``, else the only one, else the fastest; None: nobody has said.

    Raises:
        UsageError: the chip has no such product.
    """
    if name:
        wanted = _plain(name)
        found = [product for product in chip.products if _plain(product.name) == wanted]
        found = found or [product for product in chip.products if wanted in _plain(product.name)]
        if len(found) != 1:
            known = ", ".join(product.name for product in (found or chip.products))
            hint = (
                Sentence("known: {text}", text=known)
                if known
                else Sentence("no product of it is known")
            )
            raise UsageError(
                Sentence(
                    "{text} is more than one product of {chip}"
                    if found
                    else "{text} is no product of {chip}",
                    text=repr(name),
                    chip=chip.name,
                ),
                hint,
            )
        return found[0]
    return chip.single or max(chip.products, key=_speed, default=None)


def roof_of(product: Product | None, device_type: str) -> Roof:
    """The rates of a product, for what PyTorch runs on devices of a type."""
    if product is None:
        return Roof()
    peaks = {dtype: peak.value for dtype in DTYPES if (peak := product.peak(dtype)) is not None}
    bandwidth = None if product.bandwidth is None else product.bandwidth.value
    return Roof(bandwidth, peaks, tf32_products=device_type not in _TF32_ASKED_FOR)


def _speed(product: Product) -> tuple[float, float, float]:
    """For choosing the fastest: bandwidth, then products in float16, then memory."""
    figures = product.bandwidth, product.peak("float16"), product.memory
    bandwidth, rate, memory = (0.0 if each is None else each.value for each in figures)
    return bandwidth, rate, memory


def _plain(name: str) -> str:
    return name.casefold().replace(" ", "").replace("-", "")
