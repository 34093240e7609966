"""What the host runs in the middle of the device's work."""

from collections.abc import Iterator

from opcheck.commands.tune.base import Advisor, Ground, first, places
from opcheck.commands.tune.values import Advice, Gain
from opcheck.model.text import plural, size
from opcheck.model.verdict import Verdict


class Fallbacks(Advisor):
    """Islands of the host's, by the bytes that cross to them and back."""

    name = "host-fallback"
    about = "operators that fall back, the ones that move most bytes first"

    def advise(self, ground: Ground) -> Iterator[Advice]:
        """Speak of each operator that falls back."""
        left = [leaf for leaf in ground.leaves if leaf.verdict is Verdict.FALLBACK]
        elsewhere = ground.report.elsewhere
        for op in sorted({leaf.op for leaf in left}):
            found = [leaf for leaf in left if leaf.op == op]
            moved = sum(leaf.count * leaf.cost.moved for leaf in found)
            calls = plural(sum(leaf.count for leaf in found), "call")
            islands = plural(ground.report.summary.islands, "island")
            where = "outside of the compiled graph" if elsewhere else "on the host"
            yield self.advice(
                f"Keep {op} on the device",
                first(places(ground, found)),
                f"{calls} {where}; {size(moved)} carried there and back; all that falls "
                f"back cuts the run into {islands}",
                Gain(nbytes=moved, text="not known: figures of host and bus are missing"),
                lines=(f"opcheck plan {ground.source} -t {ground.running.matrix.target}",),
            )
