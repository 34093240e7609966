"""Which product of a chip's is meant, and how fast it is."""

from opcheck.costs.roofline import Roof
from opcheck.errors import UsageError
from opcheck.model.costs import DTYPES, Chip, Product

_TF32_ASKED_FOR = frozenset({"cuda"})
"""Device types on which PyTorch runs products of float32 in ``tf32`` only where that is asked for;
what others do is not known, and a bound must hold for either."""


def product_of(chip: Chip, name: str = "") -> Product | None:
    """The product called ``name``, else the only one, else the fastest; None: nobody has said.

    Raises:
        UsageError: the chip has no such product.
    """
    if name:
        wanted = _plain(name)
        found = [product for product in chip.products if _plain(product.name) == wanted]
        found = found or [product for product in chip.products if wanted in _plain(product.name)]
        if len(found) != 1:
            known = ", ".join(product.name for product in (found or chip.products))
            what = "is more than one product" if found else "is no product"
            hint = f"known: {known}" if known else "no product of it is known"
            raise UsageError(f"{name!r} {what} of {chip.name}", hint)
        return found[0]
    return chip.single or max(chip.products, key=_speed, default=None)


def roof_of(product: Product | None, device_type: str) -> Roof:
    """The rates of a product, for what PyTorch runs on devices of a type."""
    if product is None:
        return Roof()
    peaks = {dtype: peak.value for dtype in DTYPES if (peak := product.peak(dtype)) is not None}
    bandwidth = None if product.bandwidth is None else product.bandwidth.value
    return Roof(bandwidth, peaks, tf32_products=device_type not in _TF32_ASKED_FOR)


def _speed(product: Product) -> tuple[float, float, float]:
    """For choosing the fastest: bandwidth, then products in float16, then memory."""
    figures = product.bandwidth, product.peak("float16"), product.memory
    bandwidth, rate, memory = (0.0 if each is None else each.value for each in figures)
    return bandwidth, rate, memory


def _plain(name: str) -> str:
    return name.casefold().replace(" ", "").replace("-", "")
