"""The products that a chip is sold as, held against what one model needs."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from opcheck.commands.choose.values import PEAK, Fit, Offer, spelled
from opcheck.costs.roofline import Leaf, roof_of
from opcheck.model.costs import Chip, Figure, Grade, Product
from opcheck.model.verdict import Verdict

FEW = 0.01
"""A dtype with a smaller part of all operations is bounded by the bytes that move alone."""
_SHORT = {"float32": "tf32"}
"""What calls in a dtype may be computed in besides, by the rules of a roof."""


def computed(leaves: Iterable[Leaf]) -> Mapping[str, int]:
    """Operations of products of matrices by dtype, the most first."""
    found = Counter[str]()
    for leaf in leaves:
        if leaf.cost.flops:
            found[leaf.dtype] += leaf.cost.flops * leaf.count
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def offers(chip: Chip, device_type: str, leaves: Sequence[Leaf], need: int) -> tuple[Offer, ...]:
    """Every product with the chip in it, in the order of the chip's data."""
    flops = computed(leaf for leaf in leaves if leaf.verdict is not Verdict.FALLBACK)
    least = FEW * sum(flops.values())
    weighty = [
        leaf
        for leaf in leaves
        if leaf.cost.flops and leaf.verdict is not Verdict.FALLBACK and flops[leaf.dtype] >= least
    ]
    return tuple(_offer(each, device_type, leaves, weighty, need) for each in chip.products)


def _offer(
    product: Product, device_type: str, leaves: Sequence[Leaf], weighty: Sequence[Leaf], need: int
) -> Offer:
    roof = roof_of(product, device_type)
    slow = dict.fromkeys(leaf.dtype for leaf in weighty if roof.peak(leaf) is None)
    used = dict.fromkeys(name for leaf in weighty for name in (leaf.dtype, _SHORT.get(leaf.dtype)))
    figures = {"memory": product.memory, "bandwidth": product.bandwidth}
    return Offer(
        name=product.name,
        memory=product.memory,
        bandwidth=product.bandwidth,
        peaks={name: rate for name in used if name and (rate := product.peak(name))},
        fits=_fits(need, product.memory),
        bound=roof.total(leaves),
        missing=(
            *(name for name, figure in figures.items() if figure is None),
            *(f"{PEAK}{dtype}" for dtype in slow),
        ),
    )


def _fits(need: int, memory: Figure | None) -> bool | None:
    """Whether there is room; not known where it hangs on which bytes a vendor's GB are."""
    if memory is None:
        return None
    return True if need <= memory.value else None if need <= memory.most else False


def fit_of(found: Sequence[Offer]) -> Fit:
    """Whether there is room for a run in what the chip is sold as."""
    fits = [offer.fits for offer in found]
    if not fits or (True not in fits and None in fits):
        return Fit.UNKNOWN
    if True not in fits:
        return Fit.NONE
    return Fit.EVERY if all(fits) else Fit.SOME


def untold(found: Sequence[Offer]) -> tuple[str, ...]:
    """What nobody has said of the products, and what nobody but the press has."""
    if not found:
        return ("no source says its memory, bandwidth or peak rates",)
    missing: dict[str, list[str]] = {}
    press: dict[str, list[str]] = {}
    for offer in found:
        for name in offer.missing:
            missing.setdefault(name, []).append(offer.name)
        figures = {"memory": offer.memory, "bandwidth": offer.bandwidth}
        figures |= {f"{PEAK}{dtype}": rate for dtype, rate in offer.peaks.items()}
        for name, figure in figures.items():
            if figure is not None and figure.grade is Grade.PRESS:
                press.setdefault(name, []).append(offer.name)
    said = (("no source", missing), ("only the press", press))
    return tuple(
        f"{who} says its {spelled(name)}{_of(whom, found)}" for who, names in said
        for name, whom in names.items()
    )  # fmt: skip


def _of(whom: Sequence[str], found: Sequence[Offer]) -> str:
    """Of which products, where it is not of all of them."""
    return "" if len(whom) == len(found) else f", of {', '.join(whom)}"
