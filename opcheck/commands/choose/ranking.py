"""The order of targets for a model, and why each has its place; unknown is never better."""

import math
from collections.abc import Iterable, Sequence
from functools import reduce

from msgspec.structs import replace

from opcheck.commands.choose.values import Choice, Criterion, Fit, Offer, Way, spelled
from opcheck.lang.sentence import Sentence, chained, verbatim
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


def first(choice: Choice) -> Sentence:
    """What speaks for the first of all, or against it."""
    said = [_way(choice), _fit(choice)]
    return chained(said if choice.fit is Fit.NONE else [*said, _time(choice)], "; ")


def behind(criterion: Criterion, choice: Choice, above: Choice) -> Sentence:
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
            return Sentence(
                "{text} cross to the host, {text_other} of {name}",
                text=size(choice.host_bytes),
                text_other=size(above.host_bytes),
                name=other,
            )
        case Criterion.SHARE:
            template = "it supports {text} of the operators, {name} {text_other}"
            if choice.way is Way.REPAIRED:
                template = "after repair it supports {text} of the operators, {name} {text_other}"
            mine, theirs = _percent(choice), _percent(above)
            return Sentence(template, text=mine, name=other, text_other=theirs)
        case Criterion.BOUND:
            return _slower(choice, above)


def _other(choice: Choice, above: Choice) -> str:
    """What the one above is called beside this one."""
    same = (choice.vendor, choice.chip) == (above.vendor, above.chip)
    return above.target if same else target_name(above.vendor, above.chip)


def _way(choice: Choice) -> Sentence:
    match choice.way:
        case Way.ITSELF:
            return Sentence("every call stays on the device")
        case Way.HOST:
            leave = (
                "it runs, but {count} call leaves the device"
                if choice.host_calls == 1
                else "it runs, but {count} calls leave the device"
            )
            return Sentence(leave, count=f"{choice.host_calls:,}")
        case Way.REPAIRED:
            tier = choice.tier or Tier.STRUCTURAL
            return Sentence(
                "it runs after repair, by tier {count}: {said}",
                count=int(tier),
                said=Sentence(TIERS[tier]),
            )
        case Way.UNKNOWN:
            return _blocked("whether it runs is not known", choice.blocking)
        case Way.NOT:
            return _blocked("it does not run", choice.blocking)


def _blocked(said: str, operators: Sequence[str]) -> Sentence:
    if not operators:
        return Sentence(said)
    more = " and {count} more" if len(operators) > 1 else ""
    others = f"{len(operators) - 1:,}"
    return Sentence(f"{said}: {{name}}{more}", name=operators[0], count=others)


def _fit(choice: Choice) -> Sentence:
    count = len(choice.offers)
    match choice.fit:
        case Fit.EVERY:
            fits = "it fits" if count == 1 else "it fits in each of {count} products"
            return Sentence(fits, count=count)
        case Fit.SOME:
            return Sentence(
                "it is known to fit in {count} of {count_all} products",
                count=sum(offer.fits is True for offer in choice.offers),
                count_all=count,
            )
        case Fit.UNKNOWN:
            return Sentence("whether it fits is not known: {said}", said=_why_unknown(choice))
        case Fit.NONE:
            return Sentence(
                "it does not fit: it needs {text}, of {text_capacity}",
                text=size(choice.need.total),
                text_capacity=size(max(map(_memory, choice.offers))),
            )


def _why_unknown(choice: Choice) -> Sentence:
    """Why nobody can say whether it fits."""
    if not choice.offers:
        return Sentence("no source says how much memory it has")
    near = [offer for offer in choice.offers if offer.fits is None and offer.memory]
    if near:
        return _near(choice.need.total, near[0])
    names = ", ".join(offer.name for offer in choice.offers if offer.memory is None)
    return Sentence("no source says the memory of {text}", text=names)


def _near(need: int, offer: Offer) -> Sentence:
    """What a product has in either reading, where its vendor's GB may be larger ones."""
    return Sentence(
        "it needs {text}, and {text_product} has {text_capacity}, or {text_larger} if a GB is "
        "2**30 bytes",
        text=size(need),
        text_product=offer.name,
        text_capacity=size(_memory(offer)),
        text_larger=size(offer.memory.most if offer.memory else 0),
    )


def _memory(offer: Offer) -> float:
    return offer.memory.value if offer.memory else 0


def _trouble(choice: Choice) -> Sentence:
    """What keeps a target from taking the model, or from being known to."""
    if choice.way is Way.NOT:
        return _way(choice)
    if choice.fit is Fit.NONE:
        return _fit(choice)
    return _way(choice) if choice.way is Way.UNKNOWN else _fit(choice)


def _time(choice: Choice) -> Sentence:
    if choice.best and choice.seconds is not None:
        best = "{text} at best, on {text_product}" if len(choice.offers) > 1 else "{text} at best"
        time, name = duration(choice.seconds), choice.best.name
        return Sentence(best, text=time, text_product=name)
    missing = dict.fromkeys(
        name for offer in choice.open_offers for name in offer.missing if name != "memory"
    )
    names = list(map(spelled, missing)) if choice.offers else [Sentence("bandwidth")]
    if not names:
        return Sentence("how fast it can be is not known")
    return Sentence(
        "how fast it can be is not known: no source says its {said}", said=reduce(_both, names)
    )


def _both(one: Sentence, other: Sentence) -> Sentence:
    return Sentence("{said} and {said_b}", said=one, said_b=other)


def _slower(choice: Choice, above: Choice) -> Sentence:
    best, before = choice.best, above.seconds
    if best is None or best.seconds is None or not before:
        return _time(choice)
    ratio = best.seconds / before
    said = "{text} times as long as {name} at best"
    if ratio < _CLOSE:
        said = "a little longer than {name} at best"
    if len(choice.offers) > 1:
        said = f"{said}, on {{text_product}}"
    other = _other(choice, above)
    return Sentence(said, text=f"{ratio:,.3g}", name=other, text_product=best.name)


def _percent(choice: Choice) -> Sentence:
    rate = choice.rate
    return Sentence("an unknown share") if rate is None else verbatim(f"{rate:.1%}")


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
    for choice in sorted(choices, key=lambda one: (standing(one), one.target.split("@"))):
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
