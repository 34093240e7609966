"""Sixteen bits where the chip computes faster in them, and the one of the two that runs there."""

from collections.abc import Iterator, Sequence

from opcheck.commands.tune.base import WORTH, Advisor, Ground, first, places
from opcheck.commands.tune.recast import FULL, HALVES, OFF, fares, halved, refused
from opcheck.commands.tune.values import Advice, Gain
from opcheck.costs.roofline import Leaf
from opcheck.model.text import operations, percent, rate
from opcheck.model.verdict import Verdict


class HalfPrecision(Advisor):
    """``float32`` on a chip whose matrix unit is built for 16 bits."""

    name = "half-precision"
    about = (
        "products of float32 on a chip that is faster in 16 bits; or a type of 16 bits that the "
        "chip does not take, where it takes the other"
    )

    def advise(self, ground: Ground) -> Iterator[Advice]:
        """Speak of float32, or of the half that does not run."""
        full = [leaf for leaf in ground.leaves if leaf.cost.flops and leaf.dtype == FULL]
        if full:
            yield from self._from_full(ground, full)
        for before, after in (HALVES, HALVES[::-1]):
            yield from self._other_half(ground, before, after)

    def _from_full(self, ground: Ground, full: Sequence[Leaf]) -> Iterator[Advice]:
        best, after = halved(ground)
        if not best:
            return
        rates = ground.roof.peaks
        gain = ground.less(after, f"at most: autocast leaves some operators in {FULL}")
        if gain.share is not None and gain.share < WORTH:
            return
        reason = f"{_counted(ground, full)} in {FULL}; the chip does {rate(rates[best])} in {best}"
        slow = ground.roof.peak(max(full, key=ground.seconds))
        if slow is not None:
            reason += f" and {rate(slow)} as it is"
        told = [
            f"{half} is not taken by {', '.join(first(ops))}"
            for half in HALVES
            if half in rates and (ops := refused(ground, FULL, half))
        ]
        yield self.advice(
            f"Run in {best}",
            (),
            "; ".join([reason, *told]),
            gain,
            lines=_lines(ground, best),
            evidence=ground.evidence(best),
        )

    def _other_half(self, ground: Ground, before: str, after: str) -> Iterator[Advice]:
        """Where a half does not run on the device, and the other would."""
        mended = [
            leaf
            for leaf in ground.leaves
            if leaf.dtype == before
            and leaf.verdict in OFF
            and fares(ground, leaf, before, after).on_device
        ]
        if not mended:
            yield from self._known_half(ground, before, after)
            return
        ops = ", ".join(first(sorted({leaf.op for leaf in mended})))
        yield self.advice(
            f"Run in {after}",
            first(places(ground, mended)),
            f"in {before} the device does not run {ops}; in {after} it does",
            Gain(text="not known"),
            lines=(f"model.to(torch.{after})",),
            needed=any(leaf.verdict is Verdict.UNSUPPORTED for leaf in mended),
        )

    def _known_half(self, ground: Ground, before: str, after: str) -> Iterator[Advice]:
        """Where nobody has said how fast the chip is in a half, and it is known of the other."""
        rates = ground.roof.peaks
        products = [leaf for leaf in ground.leaves if leaf.cost.flops and leaf.dtype == before]
        known = after in rates and before not in rates
        if products and known and not refused(ground, before, after):
            yield self.advice(
                f"Run in {after}",
                (),
                f"the chip does {rate(rates[after])} in {after}; of {before} nobody says how fast",
                Gain(text="not known"),
                lines=(f"model.to(torch.{after})",),
                evidence=ground.evidence(after),
            )


def _counted(ground: Ground, full: Sequence[Leaf]) -> str:
    """How much of the run's products is in float32."""
    counted = sum(leaf.count * (leaf.cost.flops or 0) for leaf in full)
    everything = sum(leaf.count * (leaf.cost.flops or 0) for leaf in ground.leaves)
    return f"{percent(counted / everything)} of {operations(everything)} are"


def _lines(ground: Ground, dtype: str) -> tuple[str, ...]:
    """What to write for it."""
    device = ground.running.matrix.target.device_type
    if ground.step is None:
        return (f"model.to(torch.{dtype})", f'torch.autocast("{device}", dtype=torch.{dtype})')
    scaled = (f'torch.amp.GradScaler("{device}")',) if dtype == "float16" else ()
    return (f'torch.autocast("{device}", dtype=torch.{dtype})', *scaled)
