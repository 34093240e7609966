"""Figures of a target beyond what a policy allows."""

from collections.abc import Iterator

from opcheck.commands.gate.judging.accepted import AcceptedHere
from opcheck.commands.gate.values import Breach, Limit
from opcheck.model.policy import Limits
from opcheck.model.report import Summary


def breaches(
    summary: Summary, limits: Limits, accepted: AcceptedHere, before: AcceptedHere
) -> tuple[Breach, ...]:
    """Every figure beyond its limit; one that was accepted no better is no news.

    ``accepted`` is what a baseline has, ``before`` the report that this one is compared with.
    """
    return tuple(_breaches(summary, limits, accepted, before))


def _breaches(
    summary: Summary, limits: Limits, accepted: AcceptedHere, before: AcceptedHere
) -> Iterator[Breach]:
    least, rate = limits.min_support_rate, summary.support_rate
    if least is not None and (rate is None or rate < least):
        known, same = (
            any(was is None or (rate is not None and rate >= was) for was in had.support_rates)
            for had in (accepted, before)
        )
        yield Breach(Limit.SUPPORT_RATE, least, rate, known, same and not known)
    for limit, most, found, had, was in (
        (Limit.ISLANDS, limits.max_islands, summary.islands, accepted.islands, before.islands),
        (
            Limit.FALLBACK_BYTES,
            limits.max_fallback_bytes,
            summary.fallback_bytes,
            accepted.fallback_bytes,
            before.fallback_bytes,
        ),
    ):
        if most is not None and found > most:
            known, same = (worst is not None and found <= worst for worst in (had, was))
            yield Breach(limit, most, found, known, same and not known)
