"""Compilers of graphs, where calls that compute little are a good part of the time."""

from collections.abc import Iterator

from opcheck.commands.tune.base import Advisor, Ground
from opcheck.commands.tune.values import Advice, Gain
from opcheck.model.text import percent, plural
from opcheck.model.trace import Phase

_WORTH = 0.1
"""Part of the time that the calls between products must take."""
_MANY = 2
"""So many such calls at least: one alone has nothing to be fused with."""


class GraphCompiler(Advisor):
    """Calls that read and write tensors only for the next one to read them again."""

    name = "graph-compiler"
    about = "calls between products that take a good part of the time, on a chip with a compiler"

    def advise(self, ground: Ground) -> Iterator[Advice]:
        """Speak of every compiler that is known for the chip."""
        compilers = ground.chip.compilers
        small = [
            leaf
            for leaf in ground.leaves
            if not leaf.cost.flops
            and leaf.cost.moved
            and leaf.verdict.on_device
            and leaf.phase is not Phase.OPTIMIZER
        ]
        seconds = sum(map(ground.seconds, small))
        calls = sum(leaf.count for leaf in small)
        if not compilers or calls < _MANY or ground.share(seconds) < _WORTH:
            return
        yield self.advice(
            f"Try {' or '.join(compiler.name for compiler in compilers)}",
            (),
            f"{plural(calls, 'call')} without a product of matrices; "
            f"{percent(ground.share(seconds))} of the time goes there; a compiler may fuse "
            "what they read and write",
            Gain(text=f"not known; {percent(ground.share(seconds))} at most"),
            actions=[f"{compiler.name}: {compiler.text}" for compiler in compilers],
            evidence=[fact for compiler in compilers for fact in compiler.evidence],
        )
