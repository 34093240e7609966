"""Sizes of matrices that the matrix unit has to fill up."""

from collections.abc import Iterator, Mapping, Sequence
from math import ceil, prod

from opcheck.commands.tune.advices.precision import HALVES
from opcheck.commands.tune.base import NO_BOUND, WORTH, Advisor, Ground, first
from opcheck.commands.tune.values import Advice, Gain
from opcheck.costs.roofline import Leaf, convolves
from opcheck.lang.sentence import Sentence, chained
from opcheck.model.costs import Multiple
from opcheck.model.text import percent
from opcheck.model.trace import Node

_IMAGE = 4
"""So many channels an image has, which nobody can choose."""
_FULL = "float32"
_LATER = "not known: it counts once the model runs in 16 bits"
Sizes = Mapping[str, int]
"""Name of a size of a layer's own -> elements."""


class TileSizes(Advisor):
    """A layer whose features or channels do not divide by what the matrix unit takes at once."""

    name = "tile-multiple"
    about = "layers whose features or channels are no multiples of what the matrix unit takes"

    def advise(self, ground: Ground) -> Iterator[Advice]:
        """Speak of layers that take a part of the time that is worth it."""
        for dtype in sorted({leaf.dtype for leaf in ground.leaves}):
            multiple = multiple_of(ground, dtype)
            if multiple is None:
                continue
            off = [leaf for leaf in ground.leaves if leaf.dtype == dtype and _off(ground, leaf)]
            if off and ground.share(sum(map(ground.seconds, off))) >= WORTH:
                yield self._of(ground, off, dtype, multiple)

    def _of(self, ground: Ground, off: Sequence[Leaf], dtype: str, multiple: Multiple) -> Advice:
        rows: dict[str, float] = {}
        for leaf in off:
            sizes = _off(ground, leaf)
            told = ", ".join(f"{name} {size}" for name, size in sizes.items())
            where = f"{ground.use(leaf).module or leaf.op} ({told})"
            rows[where] = rows.get(where, 0.0) + ground.seconds(leaf)
        share = ground.share(sum(map(ground.seconds, off)))
        known = ground.chip.multiples
        meant = dtype if dtype in known else next(half for half in HALVES if half in known)
        reason = [
            Sentence(
                "the matrix unit takes multiples of {count} in {dtype}",
                count=multiple.elements,
                dtype=meant,
            ),
            Sentence("layers of other sizes take {percent} of the time", percent=percent(share)),
        ]
        return self.advice(
            Sentence("Make sizes multiples of {count}", count=multiple.elements),
            first(sorted(rows, key=lambda row: (-rows[row], row))),
            chained(reason, "; "),
            _gain(ground, off, multiple.elements) if meant == dtype else Gain(text=_LATER),
            evidence=multiple.evidence,
        )


def multiple_of(ground: Ground, dtype: str) -> Multiple | None:
    """What sizes should divide by in a dtype, or in 16 bits; None where nobody has said."""
    known = ground.chip.multiples
    if dtype in known or dtype != _FULL:
        return known.get(dtype)
    return next((known[half] for half in HALVES if half in known), None)


def sizes_of(node: Node) -> Sizes:
    """The sizes of a product that are the layer's own, and not its input's."""
    shapes = {name: tensor.shape for name, tensor in node.tensors()}
    base = node.op.base
    if convolves(str(node.op)) and len(shapes.get("weight", ())) > 2:
        out, into = shapes["weight"][:2]
        return {"out": out} if into <= _IMAGE else {"in": into, "out": out}
    if base == "linear" and len(shapes.get("weight", ())) == 2:
        return {"in": shapes["weight"][1], "out": shapes["weight"][0]}
    if base in ("mm", "addmm", "_int_mm") and len(shapes.get("mat2", ())) == 2:
        return {"in": shapes["mat2"][0], "out": shapes["mat2"][1]}
    return {}


def _off(ground: Ground, leaf: Leaf) -> Sizes:
    """Those sizes of a product with weights that are no multiples."""
    multiple = multiple_of(ground, leaf.dtype)
    if multiple is None or not leaf.cost.flops or not leaf.cost.weights:
        return {}
    sizes = sizes_of(ground.node(leaf))
    return {name: size for name, size in sizes.items() if size % multiple.elements}


def _gain(ground: Ground, off: Sequence[Leaf], multiple: int) -> Gain:
    """What is computed only to fill sizes up, where that takes longer than moving bytes."""
    parts = [_padding(ground, leaf, multiple) for leaf in off]
    padding = sum(part for part in parts if part is not None)
    if None in parts or not ground.bound.seconds:
        return Gain(text=NO_BOUND)
    share = padding / (ground.bound.seconds + padding)
    if share < WORTH / 10:
        return Gain(text="not known: filling up takes no longer than moving the bytes does")
    return Gain(share, padding, None, "for filling up alone")


def _padding(ground: Ground, leaf: Leaf, multiple: int) -> float | None:
    """Seconds that go to what the sizes are filled up with; None where no rate is known."""
    peak = ground.roof.peak(leaf)
    if peak is None:
        return None
    sizes = sizes_of(ground.node(leaf)).values()
    ratio = prod(ceil(size / multiple) * multiple / size for size in sizes)
    filled = ratio * leaf.count * (leaf.cost.flops or 0) / peak
    return max(0.0, filled - ground.seconds(leaf))
