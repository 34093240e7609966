"""The order of targets among which the user did not choose."""

from collections.abc import Iterable

from opcheck.model.report import TargetReport
from opcheck.model.verdict import Verdict

_OUTCOMES = (True, None, False)
"""What ``Summary.runs`` may be, best first."""


def best_first(targets: Iterable[TargetReport]) -> tuple[TargetReport, ...]:
    """Those that run the model before the others, then by share, host calls, bytes and islands.

    Of equals, by name.
    """
    return tuple(sorted(targets, key=_rank))


def _rank(target: TargetReport) -> tuple[int, float, int, int, int, str]:
    summary = target.summary
    return (
        _OUTCOMES.index(summary.runs),
        -(summary.support_rate or 0.0),
        summary.calls.get(Verdict.FALLBACK, 0),
        summary.fallback_bytes,
        summary.islands,
        target.target,
    )
