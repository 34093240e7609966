"""Root-mean-square norms that are spelled out, where the vendor has a kernel for them."""

from collections.abc import Iterator, Mapping, Sequence

from opcheck.commands.tune.base import Advisor, Ground, first
from opcheck.commands.tune.values import Advice
from opcheck.costs.roofline import Leaf
from opcheck.model.text import plural, size
from opcheck.model.trace import Phase

_KERNELS: Mapping[str, str] = {
    "aten::_fused_rms_norm": "F.rms_norm(x, x.shape[-1:], weight, eps)",
    "aten::rms_norm": "F.rms_norm(x, x.shape[-1:], weight, eps)",
    "npu::npu_rms_norm": "torch_npu.npu_rms_norm(x, weight, epsilon=eps)[0]",
}
"""Kernel of a vendor's -> how it is reached."""
_SQUARES = frozenset({"pow", "square", "mul"})
_ROOTS = frozenset({"rsqrt"})
_MEANS = frozenset({"mean"})


class FusedNorm(Advisor):
    """``x * rsqrt(mean(x ** 2) + eps) * weight``, each operator of which reads and writes x."""

    name = "fused-norm"
    about = "root-mean-square norms that are spelled out, where the vendor has a kernel for them"

    def advise(self, ground: Ground) -> Iterator[Advice]:
        """Speak of modules that compute such a norm and nothing else that is a product."""
        kernel = next((op for op in _KERNELS if op in ground.running.matrix.entries), "")
        norms = {module: leaves for module, leaves in _modules(ground) if _is_norm(leaves)}
        if not kernel or not norms:
            return
        found = [leaf for leaves in norms.values() for leaf in leaves]
        moved = sum(leaf.count * leaf.cost.moved for leaf in found)
        least = sum(_least(ground, leaves) for leaves in norms.values())
        bandwidth = ground.roof.bandwidth
        saved = max(moved - least, 0)
        count = sum(leaf.count for leaf in found if leaf.base in _ROOTS)
        gain = ground.gain(saved / bandwidth if bandwidth else 0.0, "for what is moved less")
        if ground.is_little(gain):
            return
        yield self.advice(
            "Use the vendor's root-mean-square norm",
            first(sorted(norms)),
            f"{plural(count, 'norm')} as {plural(sum(leaf.count for leaf in found), 'call')}; "
            f"{size(moved)} moved; {kernel} moves {size(least)}",
            gain,
            lines=(_KERNELS[kernel],),
            evidence=ground.running.matrix.entries[kernel].evidence[:1],
        )


def _modules(ground: Ground) -> Iterator[tuple[str, Sequence[Leaf]]]:
    found: dict[str, list[Leaf]] = {}
    for leaf in ground.leaves:
        if leaf.phase is Phase.FORWARD and leaf.verdict.on_device:
            found.setdefault(ground.use(leaf).module, []).append(leaf)
    yield from found.items()


def _is_norm(leaves: Sequence[Leaf]) -> bool:
    bases = {leaf.base for leaf in leaves}
    has = bases & _ROOTS and bases & _MEANS and bases & _SQUARES
    return bool(has) and not any(leaf.cost.flops for leaf in leaves)


def _least(ground: Ground, leaves: Sequence[Leaf]) -> int:
    """Bytes of what such norms take and give, each once."""
    squares = [leaf for leaf in leaves if leaf.base in ("pow", "square")] or leaves[:1]
    least = 0
    for leaf in squares:
        tensors = ground.node(leaf).output_tensors()
        least += leaf.count * 2 * (tensors[0].nbytes if tensors else 0)
    return least
