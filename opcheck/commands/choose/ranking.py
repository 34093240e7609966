"""The order of targets for a model, and why each has its place; unknown is never better."""

import math
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from opcheck.commands.choose.values import Choice, Criterion, Fit, Offer, Way, spelled
from opcheck.model.plan import Tier
from opcheck.model.target import target_name
from opcheck.model.text import duration, size

TIERS = {
    Tier.SWAP: "native swap",
    Tier.COMPAT: "vendor compat layer",
    Tier.STRUCTURAL: "structural rewrite",
}


_CLOSE = 1.005
"""A ratio of times that would read as 1."""


def first(choice: Choice) -> str:
    """What speaks for the first of all, or against it."""
    said = [_way(choice), _fit(choice)]
    return "; ".join(said if choice.fit is Fit.NONE else [*said, _time(choice)])


def behind(criterion: Criterion, choice: Choice, above: Choice) -> str:
    """What a target is behind the one above it for."""
    other = _other(choice, above)
    match criterion:
        case Criterion.TAKES:
            return _trouble(choice)
        case Criterion.WAY | Criterion.TIER:
            return _way(choice)
        case Criterion.FIT | Criterion.ROOM:
            return _fit(choice)
        case Criterion.HOST:
            mine, theirs = size(choice.host_bytes), size(above.host_bytes)
            return f"{mine} cross to the host, {theirs} of {other}"
        case Criterion.SHARE:
            mine, theirs = _percent(choice), _percent(above)
            if choice.way is Way.REPAIRED:
                return f"after repair it supports {mine} of the operators, {other} {theirs}"
            return f"it supports {mine} of the operators, {other} {theirs}"
        case Criterion.BOUND:
            return _slower(choice, above)


def _other(choice: Choice, above: Choice) -> str:
    """What the one above is called beside this one."""
    same = (choice.vendor, choice.chip) == (above.vendor, above.chip)
    return above.target if same else target_name(above.vendor, above.chip)


def _way(choice: Choice) -> str:
    match choice.way:
        case Way.ITSELF:
            return "every call stays on the device"
        case Way.HOST:
            calls = (
                "1 call leaves" if choice.host_calls == 1 else f"{choice.host_calls:,} calls leave"
            )
            return f"it runs, but {calls} the device"
        case Way.REPAIRED:
            tier = choice.tier or Tier.STRUCTURAL
            return f"it runs after repair, by tier {int(tier)}: {TIERS[tier]}"
        case Way.UNKNOWN:
            return _blocked("whether it runs is not known", choice.blocking)
        case Way.NOT:
            return _blocked("it does not run", choice.blocking)


def _blocked(said: str, operators: Sequence[str]) -> str:
    if not operators:
        return said
    more = f" and {len(operators) - 1:,} more" if len(operators) > 1 else ""
    return f"{said}: {operators[0]}{more}"


def _fit(choice: Choice) -> str:
    count = len(choice.offers)
    match choice.fit:
        case Fit.EVERY:
            return "it fits" if count == 1 else f"it fits in each of {count} products"
        case Fit.SOME:
            fitting = sum(offer.fits is True for offer in choice.offers)
            return f"it is known to fit in {fitting} of {count} products"
        case Fit.UNKNOWN:
            return f"whether it fits is not known: {_why_unknown(choice)}"
        case Fit.NONE:
            most = size(max(map(_memory, choice.offers)))
            return f"it does not fit: it needs {size(choice.need.total)}, of {most}"


def _why_unknown(choice: Choice) -> str:
    """Why nobody can say whether it fits."""
    if not choice.offers:
        return "no source says how much memory it has"
    near = [offer for offer in choice.offers if offer.fits is None and offer.memory]
    if near:
        return f"it needs {size(choice.need.total)}, and {near[0].name} has {_capacity(near[0])}"
    names = ", ".join(offer.name for offer in choice.offers if offer.memory is None)
    return f"no source says the memory of {names}"


def _capacity(offer: Offer) -> str:
    """What a product has in either reading, where its vendor's GB may be larger ones."""
    if offer.memory is None or offer.memory.upper is None:
        return size(_memory(offer))
    return f"{size(offer.memory.value)}, or {size(offer.memory.upper)} if a GB is 2**30 bytes"


def _memory(offer: Offer) -> float:
    return offer.memory.value if offer.memory else 0


def _trouble(choice: Choice) -> str:
    """What keeps a target from taking the model, or from being known to."""
    if choice.way is Way.NOT:
        return _way(choice)
    if choice.fit is Fit.NONE:
        return _fit(choice)
    return _way(choice) if choice.way is Way.UNKNOWN else _fit(choice)


def _time(choice: Choice) -> str:
    if choice.best and choice.seconds is not None:
        said = f"{duration(choice.seconds)} at best"
        return f"{said}, on {choice.best.name}" if len(choice.offers) > 1 else said
    missing = dict.fromkeys(
        name for offer in choice.open_offers for name in offer.missing if name != "memory"
    )
    names = " and ".join(map(spelled, missing)) if choice.offers else "bandwidth"
    said = "how fast it can be is not known"
    return f"{said}: no source says its {names}" if names else said


def _slower(choice: Choice, above: Choice) -> str:
    best, before = choice.best, above.seconds
    if best is None or best.seconds is None or not before:
        return _time(choice)
    ratio, other = best.seconds / before, _other(choice, above)
    said = f"{ratio:,.3g} times as long as {other} at best"
    if ratio < _CLOSE:
        said = f"a little longer than {other} at best"
    return f"{said}, on {best.name}" if len(choice.offers) > 1 else said


def _percent(choice: Choice) -> str:
    rate = choice.rate
    return "an unknown share" if rate is None else f"{rate:.1%}"


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
