"""Where the device waits for the host: fallbacks, reads of values, and launches of kernels."""

from collections.abc import Iterator

from opcheck.commands.tune.base import THE_MODEL, Advisor, Ground, first, first_of, places
from opcheck.commands.tune.values import Advice, Gain
from opcheck.lang.sentence import Sentence, chained
from opcheck.model.text import percent, plural, size
from opcheck.model.trace import Node, Phase
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
            where = "outside of the compiled graph" if elsewhere else "on the host"
            reason = [
                _calls(sum(leaf.count for leaf in found), where),
                Sentence("{text} carried there and back", text=size(moved)),
                Sentence(
                    "all that falls back cuts the run into {said}",
                    said=plural(ground.report.summary.islands, "partition"),
                ),
            ]
            yield self.advice(
                Sentence("Keep {op} on the device", op=op),
                first(places(ground, found)),
                chained(reason, "; "),
                Gain(nbytes=moved, text="not known: figures of host and bus are missing"),
                lines=(f"opcheck plan {ground.source} -t {ground.running.matrix.target}",),
            )


def _calls(count: int, what: str, **named: object) -> Sentence:
    """How many calls there are of something."""
    calls = "call" if count == 1 else "calls"
    return Sentence(f"{{count}} {calls} {what}", count=f"{count:,}", **named)


_READS = frozenset(
    {"_local_scalar_dense", "item", "is_nonzero", "equal", "nonzero", "masked_select", "unique_dim",
     "_unique", "_unique2", "unique_consecutive", "unique_dim_consecutive"}
)  # fmt: skip
"""Operators whose answer is a number on the host, or of a size that depends on values."""


class HostReads(Advisor):
    """``item()``, ``nonzero()``, boolean indices and copies to the host, in the middle of a run."""

    name = "host-reads"
    about = "item, nonzero, boolean indices and copies to the host, each of which waits"

    def advise(self, ground: Ground) -> Iterator[Advice]:
        """Speak of every one: the device has nothing to do while the host reads."""
        reads = [leaf for leaf in ground.leaves if waits(ground.node(leaf))]
        if not reads:
            return
        counts: dict[str, int] = {}
        for leaf in reads:
            use = ground.use(leaf)
            place = f"{use.file}:{use.line}" if use.file else use.module or THE_MODEL
            counts[place] = counts.get(place, 0) + leaf.count
        ops = first_of(sorted({leaf.op for leaf in reads}))
        waiting = Sentence("the host waits there for all that the device was given before")
        yield self.advice(
            "Read no values on the way",
            first(sorted(counts, key=lambda place: (-counts[place], place))),
            chained([_calls(sum(counts.values()), "of {text}", text=ops), waiting], "; "),
            Gain(text="not known: how long the host waits is not in a trace"),
            actions=("keep decisions on the device: torch.where, masks, sizes that are fixed",),
        )


def waits(node: Node) -> bool:
    """Whether the host has to know values of the device's before it goes on."""
    tensors = [tensor for _, tensor in node.tensors()]
    device = any(not tensor.host for tensor in tensors)
    if not device:
        return False
    if node.op.base in _READS:
        return True
    if node.op.base in ("index", "index_put", "index_put_", "_index_put_impl_"):
        return any(tensor.dtype in ("bool", "uint8") for tensor in tensors[1:])
    gives_host = any(tensor.host for tensor in node.output_tensors())
    return gives_host and node.op.base in ("_to_copy", "to", "copy_", "_copy_from", "cpu")


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
        compilers = () if ground.running.matrix.target.mode else ground.chip.compilers
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
        share = percent(ground.share(seconds))
        reason = [
            _calls(calls, "without a product of matrices"),
            Sentence("{percent} of the time goes there", percent=share),
            Sentence("a compiler may fuse what they read and write"),
        ]
        most = chained(["not known", Sentence("{percent} at most", percent=share)], "; ")
        yield self.advice(
            Sentence("Try {text}", text=" or ".join(compiler.name for compiler in compilers)),
            (),
            chained(reason, "; "),
            Gain(text=most),
            actions=[
                Sentence("{text}: {said}", text=compiler.name, said=compiler.text)
                for compiler in compilers
            ],
            evidence=[fact for compiler in compilers for fact in compiler.evidence],
        )
