"""The order of targets for a model: what is known to be better comes first, unknown never does."""

import math
from collections.abc import Iterable

from msgspec.structs import replace

from opcheck.commands.choose.reasons import behind, first
from opcheck.commands.choose.values import Choice, Criterion, Fit, Way

_TAKES = (True, None, False)
"""What ``Choice.takes`` may be, best first."""


def ranked(choices: Iterable[Choice]) -> tuple[Choice, ...]:
    """The same targets, the best first, each with its place and the reason for it.

    Those that nothing tells apart share a place and what they are behind for; they stand in it by
    name.
    """
    found: list[Choice] = []
    above: Choice | None = None
    """The last one of the place before."""
    for choice in sorted(choices, key=lambda one: (standing(one), one.target)):
        if found and standing(choice) != standing(found[-1]):
            above = found[-1]
        same = bool(found) and above is not found[-1]
        place = found[-1].place if same else len(found) + 1
        criterion = _criterion(choice, above) if above else None
        why = behind(criterion, choice, above) if above and criterion else first(choice)
        found.append(replace(choice, place=place, criterion=criterion, why=why))
    return tuple(found)


def standing(choice: Choice) -> tuple[float, ...]:
    """How a target fares by each criterion, in their order; less is better.

    What is not known counts as worse than anything that is.
    """
    values = {
        Criterion.TAKES: _TAKES.index(choice.takes),
        Criterion.WAY: choice.way.rank,
        Criterion.TIER: choice.tier or 0,
        Criterion.FIT: 0 if choice.fit is Fit.SOME else choice.fit.rank,
        Criterion.ROOM: -(choice.most_memory or 0) if choice.fit is Fit.NONE else 0,
        Criterion.HOST: choice.host_bytes if choice.way is Way.HOST else 0,
        Criterion.SHARE: _share(choice),
        Criterion.BOUND: math.inf if choice.seconds is None else choice.seconds,
    }
    return tuple(values[criterion] for criterion in Criterion)


def _share(choice: Choice) -> float:
    """Of what it does not support: where all of it runs as it is, that says nothing."""
    if choice.way is Way.ITSELF:
        return 0
    return math.inf if choice.rate is None else 1 - choice.rate


def _criterion(choice: Choice, above: Choice) -> Criterion | None:
    pairs = zip(Criterion, standing(choice), standing(above), strict=True)
    return next((criterion for criterion, mine, theirs in pairs if mine != theirs), None)
