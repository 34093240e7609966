"""Products of float32 in the short mantissa that the chip's matrix unit takes."""

from collections.abc import Iterator

from msgspec.structs import replace

from opcheck.commands.tune.base import WORTH, Advisor, Ground, first, places
from opcheck.commands.tune.values import Advice
from opcheck.costs.roofline import convolves
from opcheck.model.text import operations, rate


class ShortFloat32(Advisor):
    """PyTorch computes convolutions so unless told otherwise, and products of matrices not."""

    name = "tf32"
    about = "products of float32 matrices on a CUDA device that has TF32, which PyTorch leaves off"

    def advise(self, ground: Ground) -> Iterator[Advice]:
        """Speak where TF32 is known to be off and faster."""
        roof = ground.roof
        if roof.tf32_products or "tf32" not in roof.peaks:
            return
        kept = [
            leaf
            for leaf in ground.leaves
            if leaf.cost.flops and leaf.dtype == "float32" and not convolves(leaf.op)
        ]
        if not kept:
            return
        gain = ground.less(ground.leaves, "mantissas of 10 bits", replace(roof, tf32_products=True))
        if gain.share is None or gain.share < WORTH:
            return
        counted = sum(leaf.count * (leaf.cost.flops or 0) for leaf in kept)
        yield self.advice(
            "Allow TF32 for products of matrices",
            first(places(ground, kept)),
            f"{operations(counted)} are float32 products, which PyTorch runs without TF32 unless "
            f"told to; the chip does {rate(roof.peaks['tf32'])} with it",
            gain,
            lines=('torch.set_float32_matmul_precision("high")',),
            evidence=ground.evidence("tf32"),
        )
