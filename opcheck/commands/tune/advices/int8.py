"""Eight bits, where the chip computes faster in them."""

from collections.abc import Iterator, Sequence

from opcheck.commands.tune.base import Advisor, Ground
from opcheck.commands.tune.recast import FULL, halved, recast
from opcheck.commands.tune.values import Advice, Gain
from opcheck.costs.roofline import Leaf, convolves
from opcheck.model.text import operations, rate
from opcheck.model.verdict import Evidence

_FLOATING = ("float32", "float16", "bfloat16")
_WORTH = 0.1
"""Part of the least time that it must save: it is the most work of all, and costs accuracy."""
_MATRICES = ("npu::npu_quant_matmul", "aten::_int_mm", "quantized::linear")
_CONVOLUTIONS = ("npu::npu_quant_conv2d", "quantized::conv2d", "quantized::conv2d.new")
"""Products of eight bits as vendors register them."""


class EightBits(Advisor):
    """Quantised products for inference."""

    name = "int8"
    about = "inference whose products take most of the time, on a chip that is faster in INT8"

    def advise(self, ground: Ground) -> Iterator[Advice]:
        """Speak in inference, where there is a kernel or a compiler for it."""
        peaks = ground.roof.peaks
        products = [leaf for leaf in ground.leaves if _is_product(leaf)]
        if ground.step is not None or not products or "int8" not in peaks:
            return
        gain, (way, evidence) = _gain(ground), _way(ground, products)
        if gain is None or not way:
            return
        counted = sum(leaf.count * (leaf.cost.flops or 0) for leaf in products)
        yield self.advice(
            "Quantise to INT8",
            (),
            f"the chip does {rate(peaks['int8'], 'OP')} in INT8; products are "
            f"{operations(counted)}; {way}",
            gain,
            evidence=(*ground.evidence("int8"), *evidence),
        )


def _is_product(leaf: Leaf) -> bool:
    return bool(leaf.cost.flops) and leaf.dtype in _FLOATING


def _gain(ground: Ground) -> Gain | None:
    """What it brings beyond 16 bits, which are less work; None where that is little."""
    half, before = halved(ground)
    after = [recast(leaf, leaf.dtype, "int8") if _is_product(leaf) else leaf for leaf in before]
    least, quantised = (ground.roof.total(leaves).seconds for leaves in (before, after))
    if not least or quantised is None or least - quantised < _WORTH * least:
        return None
    helped = any(_is_product(leaf) and leaf.dtype == FULL for leaf in ground.leaves)
    beyond = f"at most, beyond {half}" if half and helped else "at most"
    text = f"{beyond}: all products in INT8, at a loss of accuracy that is not known"
    return ground.gain(least - quantised, text)


def _way(ground: Ground, products: Sequence[Leaf]) -> tuple[str, tuple[Evidence, ...]]:
    """What may compute so on the target, and what says so; "" where nobody has said."""
    entries, compilers = ground.running.matrix.entries, ground.chip.compilers
    work = [(leaf.count * (leaf.cost.flops or 0), convolves(leaf.op)) for leaf in products]
    convolved = sum(flops for flops, convolution in work if convolution)
    kernels = _CONVOLUTIONS if 2 * convolved > sum(flops for flops, _ in work) else _MATRICES
    for op in kernels:
        if op in entries:
            return f"{op} is registered", entries[op].evidence[:1]
    if not compilers:
        return "", ()
    names = " or ".join(compiler.name for compiler in compilers)
    return f"no kernel for them is in the lists; {names} may have one", compilers[0].evidence[:1]
