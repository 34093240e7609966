"""Reads of the device's values that the host waits for."""

from collections.abc import Iterator

from opcheck.commands.tune.base import THE_MODEL, Advisor, Ground, first
from opcheck.commands.tune.values import Advice, Gain
from opcheck.model.text import plural
from opcheck.model.trace import Node

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
        ops = sorted({leaf.op for leaf in reads})
        yield self.advice(
            "Read no values on the way",
            first(sorted(counts, key=lambda place: (-counts[place], place))),
            f"{plural(sum(counts.values()), 'call')} of {', '.join(first(ops))}; the host waits "
            "there for all that the device was given before",
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
