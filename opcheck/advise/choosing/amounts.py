"""Bytes and times as sentences have them."""

from opcheck.model.choice import Offer

GB = 1e9


def duration(seconds: float) -> str:
    """``1.25 ms``."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= scale:
            return f"{seconds / scale:,.3g} {unit}"
    return f"{seconds / 1e-6:.3g} us"


def nbytes(count: float) -> str:
    """``12.5 MiB``."""
    value = float(count)
    for unit in ("B", "KiB", "MiB"):
        if value < 1024:
            return f"{value:.3g} {unit}"
        value /= 1024
    return f"{value:,.1f} GiB"


def capacity(offer: Offer) -> str:
    """What a product has, as its vendor says it: ``16 GB (14.9 to 16.0 GiB)``."""
    memory = offer.memory
    if memory is None:
        return "?"
    if memory.upper is None:
        return nbytes(memory.value)
    least, most = nbytes(memory.value).removesuffix(" GiB"), nbytes(memory.most)
    return f"{memory.value / GB:g} GB ({least} to {most})"
