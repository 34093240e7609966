"""The least time that calls can take on a chip: for what they compute, or the bytes they move."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from opcheck.model.tuning import Bound, Leaf, Limit
from opcheck.model.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Roof:
    """How fast a chip is at best; what nobody has said is left out, never taken to be something."""

    bandwidth: float | None = None
    """Bytes a second to and from its memory; None: not known."""
    peaks: Mapping[str, float] = field(default_factory=dict)
    """dtype -> operations a second of matrix products, dense ones, where that is known."""

    def bound(self, leaf: Leaf) -> Bound:
        """The least time for all of a leaf's calls."""
        if leaf.verdict is Verdict.FALLBACK:
            return Bound(None, Limit.HOST, whole=False)
        cost, known = leaf.cost, leaf.cost.flops is not None
        peak = self.peaks.get(leaf.dtype)
        compute = cost.flops * leaf.count / peak if cost.flops and peak else None
        moving = cost.moved * leaf.count / self.bandwidth if self.bandwidth else None
        needed = [part for part in (compute, moving) if part is not None]
        whole = known and (compute is not None or not cost.flops)
        whole = whole and (moving is not None or not cost.moved)
        if not (cost.flops or cost.moved) and known:
            return Bound(0.0, Limit.BANDWIDTH)
        if not needed:
            return Bound(None, Limit.UNKNOWN, whole=False)
        limit = Limit.COMPUTE if compute == max(needed) else Limit.BANDWIDTH
        return Bound(max(needed), limit, whole)

    def total(self, leaves: Iterable[Leaf]) -> Bound:
        """The least time for calls that run one after the other."""
        return summed(self.bound(leaf) for leaf in leaves)


def summed(bounds: Iterable[Bound]) -> Bound:
    """One after the other: limited by what most of the time goes to."""
    found = list(bounds)
    known = [bound for bound in found if bound.seconds is not None]
    if not known:
        limits = {bound.limit for bound in found}
        return Bound(None, limits.pop() if len(limits) == 1 else Limit.UNKNOWN, whole=False)
    times = {limit: sum(b.seconds or 0 for b in known if b.limit is limit) for limit in Limit}
    seconds = sum(times.values())
    limit = max(times, key=lambda one: times[one])
    return Bound(seconds, limit, all(bound.whole for bound in found))
