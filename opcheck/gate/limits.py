"""Figures of a target beyond what a policy allows."""

from collections.abc import Iterator

from opcheck.gate.accepted import AcceptedHere
from opcheck.model.gate import Breach, Limit
from opcheck.model.policy import Limits
from opcheck.model.report import Summary


def breaches(summary: Summary, limits: Limits, accepted: AcceptedHere) -> tuple[Breach, ...]:
    """Every figure beyond its limit; one that a baseline has no better is no news."""
    return tuple(_breaches(summary, limits, accepted))


def _breaches(summary: Summary, limits: Limits, accepted: AcceptedHere) -> Iterator[Breach]:
    least, rate = limits.min_support_rate, summary.support_rate
    if least is not None and (rate is None or rate < least):
        before = accepted.support_rates
        known = any(had is None or (rate is not None and rate >= had) for had in before)
        yield Breach(Limit.SUPPORT_RATE, least, rate, known)
    for limit, most, found, had in (
        (Limit.ISLANDS, limits.max_islands, summary.islands, accepted.islands),
        (
            Limit.FALLBACK_BYTES,
            limits.max_fallback_bytes,
            summary.fallback_bytes,
            accepted.fallback_bytes,
        ),
    ):
        if most is not None and found > most:
            yield Breach(limit, most, found, had is not None and found <= had)
