"""Choices made by hand."""

from opcheck.commands.choose.answer import fit_of, unknown_figures
from opcheck.commands.choose.values import Choice, Offer, Way
from opcheck.costs.roofline import Bound, Limit, MemoryNeed
from opcheck.model.costs import Figure, Grade
from opcheck.model.plan import Tier
from opcheck.model.verdict import Evidence, Method

SHEET = Evidence(Method.DOCUMENTED, "acme.com", "products/one", None, "", "2026-01-02")
NEED = MemoryNeed(weights=24 * 10**9, buffers=0, inputs=1000, activations=10**9)


def figure(value: float, grade: Grade = Grade.VENDOR, upper: float | None = None) -> Figure:
    return Figure(value, grade, (SHEET,), "", upper)


def offer(
    name: str = "One",
    seconds: float | None = 0.002,
    fits: bool | None = True,
    missing: tuple[str, ...] = (),
    grade: Grade = Grade.VENDOR,
) -> Offer:
    """A product; without a time, its rate in float16 is not known unless ``missing`` says more."""
    if seconds is None and not missing:
        missing = ("peak float16",)
    size = {True: 80, False: 16, None: 24}[fits]
    return Offer(
        name,
        None if "memory" in missing else figure(size * 1e9, grade, size * 2**30),
        None if "bandwidth" in missing else figure(2e12, grade),
        {} if "peak float16" in missing else {"float16": figure(3e14, grade)},
        fits,
        Bound(seconds or 0.001, Limit.BANDWIDTH, whole=not missing),
        missing,
    )


def choice(
    chip: str,
    *offers: Offer,
    way: Way = Way.ITSELF,
    tier: Tier | None = None,
    share: float | None = 1.0,
    host: tuple[int, int] = (0, 0),
    blocking: tuple[str, ...] = (),
    unseen: tuple[str, ...] = (),
    sdk: str = "1.0",
) -> Choice:
    """A target of ``acme``; ``host``: calls that leave the device, and bytes."""
    return Choice(
        target=f"acme-{chip}@{sdk}+torch2.9",
        vendor="acme",
        chip=chip,
        name=f"Acme {chip}",
        way=way,
        fit=fit_of(offers),
        need=NEED,
        offers=offers,
        support_rate=share,
        repaired_rate=share,
        tier=tier,
        blocking=blocking,
        host_calls=host[0],
        host_bytes=host[1],
        unseen=unseen,
        untold=unknown_figures(offers),
    )
