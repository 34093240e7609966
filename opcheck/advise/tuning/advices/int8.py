"""Eight bits, where the chip computes faster in them."""

from collections.abc import Iterator

from opcheck.advise.costs.roofline import convolves
from opcheck.advise.tuning.base import Advisor, Ground
from opcheck.advise.tuning.recast import recast
from opcheck.model.figures import operations, rate
from opcheck.model.tuning import Advice

_FLOATING = ("float32", "float16", "bfloat16")
_WORTH = 0.1
"""Part of the bound that it must save: it is the most work of all, and costs accuracy."""


_MATRICES = ("npu::npu_quant_matmul", "aten::_int_mm", "quantized::linear")
_CONVOLUTIONS = ("npu::npu_quant_conv2d", "quantized::conv2d", "quantized::conv2d.new")
"""Products of eight bits as vendors register them."""


class EightBits(Advisor):
    """Quantised products for inference."""

    name = "int8"
    about = "inference whose products take most of the time, on a chip that is faster in INT8"

    def advise(self, ground: Ground) -> Iterator[Advice]:
        """Speak in inference, of what 16 bits do not save already."""
        peaks = ground.roof.peaks
        products = {leaf for leaf in ground.leaves if leaf.cost.flops and leaf.dtype in _FLOATING}
        if ground.step is not None or not products or "int8" not in peaks:
            return
        after = [
            recast(leaf, leaf.dtype, "int8") if leaf in products else leaf for leaf in ground.leaves
        ]
        text = "at most: all products in INT8, and what accuracy that costs is not known"
        gain = ground.less(after, text)
        if gain.share is None or gain.share < _WORTH:
            return
        counted = sum(leaf.count * (leaf.cost.flops or 0) for leaf in products)
        entries = ground.running.matrix.entries
        convolved = sum(
            leaf.count * (leaf.cost.flops or 0) for leaf in products if convolves(leaf.op)
        )
        kernels = _CONVOLUTIONS if 2 * convolved > counted else _MATRICES
        kernel = next((op for op in kernels if op in entries), "")
        reason = (
            f"the chip does {rate(peaks['int8'], 'OP')} in INT8; products are {operations(counted)}"
        )
        compilers = ground.chip.compilers
        if not (kernel or compilers):
            return  # nobody has said of a way to compute so
        found = f"{kernel} is registered"
        if not kernel:
            names = " or ".join(compiler.name for compiler in compilers)
            found = f"no kernel for them is in the lists; {names} may have one"
        evidence = entries[kernel].evidence[:1] if kernel else compilers[0].evidence[:1]
        yield self.advice(
            "Quantise to INT8",
            (),
            f"{reason}; {found}",
            gain,
            evidence=(*ground.evidence("int8"), *evidence),
        )
