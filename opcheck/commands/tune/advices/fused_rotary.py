"""Rotary position embeddings that are spelled out, where the vendor has a kernel for them."""

from collections.abc import Iterator, Mapping, Sequence

from opcheck.commands.tune.base import Advisor, Ground, first
from opcheck.commands.tune.values import Advice
from opcheck.costs.roofline import Leaf
from opcheck.model.text import plural, size
from opcheck.model.trace import Node, Phase

_KERNELS: Mapping[str, str] = {
    "npu::npu_rotary_mul": "torch_npu.npu_rotary_mul(x, cos, sin)",
    "npu::npu_apply_rotary_pos_emb": "torch_npu.npu_apply_rotary_pos_emb(query, key, cos, sin)",
}
"""Kernel of a vendor's -> how it is reached."""


class FusedRotary(Advisor):
    """``x * cos + rotate_half(x) * sin``: negated, joined, and three more."""

    name = "fused-rotary"
    about = "rotary embeddings that are spelled out, where the vendor has a kernel for them"

    def advise(self, ground: Ground) -> Iterator[Advice]:
        """Speak of halves that are negated and put in front of the other half."""
        kernel = next((op for op in _KERNELS if op in ground.running.matrix.entries), "")
        modules: dict[str, list[Leaf]] = {}
        for leaf in ground.leaves:
            if leaf.phase is Phase.FORWARD and leaf.verdict.on_device:
                modules.setdefault(ground.use(leaf).module, []).append(leaf)
        found = {name: parts for name, each in modules.items() if (parts := _rotary(ground, each))}
        if not kernel or not found:
            return
        leaves = [leaf for each in found.values() for leaf in each]
        moved = sum(leaf.count * leaf.cost.moved for leaf in leaves)
        halves = [leaf for leaf in leaves if leaf.base == "neg"]
        least = sum(leaf.count * 2 * 2 * _size(ground.node(leaf)) for leaf in halves)
        bandwidth = ground.roof.bandwidth
        saved = max(moved - least, 0)
        gain = ground.gain(saved / bandwidth if bandwidth else 0.0, "for what is moved less")
        if ground.is_little(gain):
            return
        yield self.advice(
            "Use the vendor's rotary embedding",
            first(sorted(found)),
            f"{plural(sum(leaf.count for leaf in halves), 'rotation')} as "
            f"{plural(sum(leaf.count for leaf in leaves), 'call')}; {size(moved)} moved; "
            f"{kernel} moves {size(least)}",
            gain,
            lines=(_KERNELS[kernel],),
            evidence=ground.running.matrix.entries[kernel].evidence[:1],
        )


def _size(node: Node) -> int:
    tensors = node.output_tensors()
    return tensors[0].nbytes if tensors else 0


def _joins_halves(node: Node) -> bool:
    parts = [tensor.nbytes for _, tensor in node.tensors()]
    return len(parts) == 2 and parts[0] == parts[1]


def _rotary(ground: Ground, leaves: Sequence[Leaf]) -> list[Leaf]:
    """The leaves of a module that rotate: halves negated, joined, and used in that shape."""
    negated = {_size(ground.node(leaf)) for leaf in leaves if leaf.base == "neg"}
    joined = [leaf for leaf in leaves if leaf.base == "cat" and _joins_halves(ground.node(leaf))]
    turned = {
        _size(ground.node(leaf)) for leaf in joined if _size(ground.node(leaf)) // 2 in negated
    }
    if not turned:
        return []
    return [
        leaf
        for leaf in leaves
        if ((leaf in joined or leaf.base in ("mul", "add")) and _size(ground.node(leaf)) in turned)
        or (leaf.base == "neg" and 2 * _size(ground.node(leaf)) in turned)
    ]
