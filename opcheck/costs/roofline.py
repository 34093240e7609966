"""The least time that calls can take on a chip: for what they compute, or the bytes they move."""

from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from opcheck.costs.values import Bound, Leaf, Limit
from opcheck.model.verdict import Verdict

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
