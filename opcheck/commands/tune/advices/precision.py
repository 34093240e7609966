"""Fewer bits where the chip computes faster in them: sixteen, eight, or a short mantissa."""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from opcheck.commands.tune.base import WORTH, Advisor, Ground, first, first_of, places
from opcheck.commands.tune.values import Advice, Gain
from opcheck.costs.roofline import Leaf, convolves
from opcheck.lang.sentence import NOTHING as NO_WORDS
from opcheck.lang.sentence import Sentence, chained
from opcheck.model.text import operations, percent, rate
from opcheck.model.trace import DTYPE_BYTES, Constant, Node, Phase, TensorMeta, Value
from opcheck.model.verdict import Evidence, Verdict

FULL = "float32"
OFF = frozenset({Verdict.FALLBACK, Verdict.UNSUPPORTED})
"""Verdicts on what is known not to run on the device."""
HALVES = ("bfloat16", "float16")
"""Dtypes of 16 bits, the one with the range of float32 first."""


def recast(leaf: Leaf, before: str, after: str) -> Leaf:
    """The leaf in ``after`` where it computes in ``before``: its bytes shrink or grow with that."""
    if leaf.dtype != before:
        return leaf
    ratio = DTYPE_BYTES[after] / DTYPE_BYTES[before]
    cost = leaf.cost
    sizes = (round(size * ratio) for size in (cost.read, cost.written, cost.weights, cost.inside))
    read, written, weights, inside = sizes
    cost = replace(cost, read=read, written=written, weights=weights, inside=inside)
    return replace(leaf, dtype=after, cost=cost)


def fares(ground: Ground, leaf: Leaf, before: str, after: str) -> Verdict:
    """How the leaf's call would fare in ``after``."""
    return ground.running.verdict_of(_node_in(ground.node(leaf), before, after))


def refused(ground: Ground, before: str, after: str) -> tuple[str, ...]:
    """Overloads that run on the device in ``before`` and would not in ``after``; sorted."""
    found = {
        leaf.op
        for leaf in ground.leaves
        if leaf.dtype == before
        and leaf.verdict.on_device
        and fares(ground, leaf, before, after) in OFF
    }
    return tuple(sorted(found))


def halved(ground: Ground) -> tuple[str, tuple[Leaf, ...]]:
    """The type of 16 bits in which the chip is fastest of those that it takes, and the run in it.

    "" and the run as it is where the chip takes none, or no rate in one is known. Under autocast an
    optimizer stays in float32.
    """
    rates = ground.roof.peaks
    takes = [half for half in HALVES if half in rates and not refused(ground, FULL, half)]
    if not takes:
        return "", ground.leaves
    best = max(takes, key=lambda half: rates[half])  # of equals the first, of larger range
    return best, tuple(
        leaf if leaf.phase is Phase.OPTIMIZER else recast(leaf, FULL, best)
        for leaf in ground.leaves
    )


def _node_in(node: Node, before: str, after: str) -> Node:
    """The same call on tensors of another dtype; it is not taken apart."""
    arguments = tuple((name, _in(value, before, after)) for name, value in node.arguments)
    outputs = tuple(_in(value, before, after) for value in node.outputs)
    return replace(node, arguments=arguments, outputs=outputs)


def _in(value: Value, before: str, after: str) -> Value:
    match value:
        case TensorMeta() if value.dtype == before:
            return replace(value, dtype=after)
        case Constant("dtype", text) if text == before:
            return replace(value, value=after)
        case tuple():
            return tuple(_in(item, before, after) for item in value)
        case _:
            return value


class HalfPrecision(Advisor):
    """``float32`` on a chip whose matrix unit is built for 16 bits."""

    name = "half-precision"
    about = (
        "products of float32 on a chip that is faster in 16 bits; or a type of 16 bits that the "
        "chip does not take, where it takes the other"
    )

    def advise(self, ground: Ground) -> Iterator[Advice]:
        """Speak of float32, or of the half that does not run."""
        full = [leaf for leaf in ground.leaves if leaf.cost.flops and leaf.dtype == FULL]
        if full:
            yield from self._from_full(ground, full)
        for before, after in (HALVES, HALVES[::-1]):
            yield from self._other_half(ground, before, after)

    def _from_full(self, ground: Ground, full: Sequence[Leaf]) -> Iterator[Advice]:
        best, after = halved(ground)
        if not best:
            return
        rates = ground.roof.peaks
        gain = ground.less(
            after, Sentence("at most: autocast leaves some operators in {dtype}", dtype=FULL)
        )
        if gain.share is not None and gain.share < WORTH:
            return
        slow = ground.roof.peak(max(full, key=ground.seconds))
        told = [
            Sentence("{dtype} is not taken by {text}", dtype=half, text=first_of(ops))
            for half in HALVES
            if half in rates and (ops := refused(ground, FULL, half))
        ]
        yield self.advice(
            Sentence("Run in {dtype}", dtype=best),
            (),
            chained([_counted(ground, full), _faster(rates[best], best, slow), *told], "; "),
            gain,
            lines=_lines(ground, best),
            evidence=ground.evidence(best),
        )

    def _other_half(self, ground: Ground, before: str, after: str) -> Iterator[Advice]:
        """Where a half does not run on the device, and the other would."""
        mended = [
            leaf
            for leaf in ground.leaves
            if leaf.dtype == before
            and leaf.verdict in OFF
            and fares(ground, leaf, before, after).on_device
        ]
        if not mended:
            yield from self._known_half(ground, before, after)
            return
        ops = first_of(sorted({leaf.op for leaf in mended}))
        reason = [
            Sentence("in {dtype} the device does not run {text}", dtype=before, text=ops),
            Sentence("in {dtype} it does", dtype=after),
        ]
        yield self.advice(
            Sentence("Run in {dtype}", dtype=after),
            first(places(ground, mended)),
            chained(reason, "; "),
            Gain(text="not known"),
            lines=(f"model.to(torch.{after})",),
            needed=any(leaf.verdict is Verdict.UNSUPPORTED for leaf in mended),
        )

    def _known_half(self, ground: Ground, before: str, after: str) -> Iterator[Advice]:
        """Where nobody has said how fast the chip is in a half, and it is known of the other."""
        rates = ground.roof.peaks
        products = [leaf for leaf in ground.leaves if leaf.cost.flops and leaf.dtype == before]
        known = after in rates and before not in rates
        if products and known and not refused(ground, before, after):
            nobody = Sentence("of {dtype} nobody says how fast", dtype=before)
            yield self.advice(
                Sentence("Run in {dtype}", dtype=after),
                (),
                chained([_faster(rates[after], after), nobody], "; "),
                Gain(text="not known"),
                lines=(f"model.to(torch.{after})",),
                evidence=ground.evidence(after),
            )


def _faster(best: float, dtype: str, slow: float | None = None) -> Sentence:
    """What the chip does in a dtype, and what in the one that the model has."""
    if slow is None:
        return Sentence("the chip does {text} in {dtype}", text=rate(best), dtype=dtype)
    return Sentence(
        "the chip does {text} in {dtype} and {text_slow} as it is",
        text=rate(best),
        dtype=dtype,
        text_slow=rate(slow),
    )


def _counted(ground: Ground, full: Sequence[Leaf]) -> Sentence:
    """How much of the run's products is in float32."""
    counted = sum(leaf.count * (leaf.cost.flops or 0) for leaf in full)
    everything = sum(leaf.count * (leaf.cost.flops or 0) for leaf in ground.leaves)
    return Sentence(
        "{percent} of {text} are in {dtype}",
        percent=percent(counted / everything),
        text=operations(everything),
        dtype=FULL,
    )


def _lines(ground: Ground, dtype: str) -> tuple[str, ...]:
    """What to write for it."""
    device = ground.running.matrix.target.device_type
    if ground.step is None:
        return (f"model.to(torch.{dtype})", f'torch.autocast("{device}", dtype=torch.{dtype})')
    scaled = (f'torch.amp.GradScaler("{device}")',) if dtype == "float16" else ()
    return (f'torch.autocast("{device}", dtype=torch.{dtype})', *scaled)


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
        reason = [
            Sentence(
                "the chip does {text} in {dtype}", text=rate(peaks["int8"], "OP"), dtype="INT8"
            ),
            Sentence("products are {text}", text=operations(counted)),
            way,
        ]
        yield self.advice(
            "Quantise to INT8",
            (),
            chained(reason, "; "),
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
    text = "at most: all products in INT8, at a loss of accuracy that is not known"
    if half and helped:
        text = (
            "at most, beyond {dtype}: all products in INT8, at a loss of accuracy that is not known"
        )
    return ground.gain(least - quantised, Sentence(text, dtype=half))


def _way(ground: Ground, products: Sequence[Leaf]) -> tuple[Sentence, tuple[Evidence, ...]]:
    """What may compute so on the target, and what says so; no words where nobody has said."""
    entries, compilers = ground.running.matrix.entries, ground.chip.compilers
    work = [(leaf.count * (leaf.cost.flops or 0), convolves(leaf.op)) for leaf in products]
    convolved = sum(flops for flops, convolution in work if convolution)
    kernels = _CONVOLUTIONS if 2 * convolved > sum(flops for flops, _ in work) else _MATRICES
    for op in kernels:
        if op in entries:
            return Sentence("{op} is registered", op=op), entries[op].evidence[:1]
    if not compilers:
        return NO_WORDS, ()
    names = " or ".join(compiler.name for compiler in compilers)
    may = Sentence("{text} may have one", text=names)
    none = Sentence("no kernel for them is in the lists")
    return chained([none, may], "; "), compilers[0].evidence[:1]


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
            chained([_without(counted), _with(roof.peaks["tf32"])], "; "),
            gain,
            lines=('torch.set_float32_matmul_precision("high")',),
            evidence=ground.evidence("tf32"),
        )


def _without(flops: int) -> Sentence:
    return Sentence(
        "{text} are float32 products, which PyTorch runs without TF32 unless told to",
        text=operations(flops),
    )


def _with(peak: float) -> Sentence:
    return Sentence("the chip does {text} with it", text=rate(peak))
