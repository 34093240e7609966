"""Which suggestions of a plan are followed, and what that leaves. Pure."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from msgspec import Struct

from opcheck.commands.fix.values import Left
from opcheck.model.plan import Label, Suggestion, Tier
from opcheck.model.report import Finding, Place, Report


class Chosen(Struct, frozen=True):
    """The suggestions that may be followed, and what they leave."""

    ways: tuple[tuple[str, Suggestion], ...]
    """Operator of the finding, and the suggestion; one for each overload of a finding."""
    left: tuple[Left, ...]


def choose(report: Report, allow: Label) -> Chosen:
    """The cheapest suggestion that is close enough, for every overload that has to go."""
    ways: list[tuple[str, Suggestion]] = []
    left: list[Left] = []
    for finding in off_device(report):
        for replaces, found in _by_overload(finding.suggestions):
            fit = _fit(found, allow)
            if fit:
                ways.append((finding.op, fit[0]))
            else:
                left.append(Left(finding.op, replaces, _too_far(found)))
        if not finding.suggestions:
            left.append(_no_way(finding))
    return Chosen(tuple(ways), tuple(left))


class PlacedWay(Struct, frozen=True):
    """The suggestion to follow at one place of a finding."""

    op: str
    """Of the finding."""
    place: Place
    way: Suggestion

    def left(self, reason: str) -> Left:
        """Say why it is not followed."""
        return Left(self.op, self.way.replaces, reason)


class ChosenByPlace(Struct, frozen=True):
    """The suggestions that may be followed place by place, and what they leave."""

    ways: tuple[PlacedWay, ...]
    left: tuple[tuple[Place, Left], ...]

    def staying(self, done: Collection[PlacedWay]) -> Mapping[str, int]:
        """Operator of a finding -> how many of its calls stay once some ways are followed."""
        open_ = [(way.op, way.place) for way in self.ways if way not in done]
        open_ += [(rest.op, place) for place, rest in self.left]
        calls: Counter[str] = Counter()
        for op, place in dict.fromkeys(open_):
            calls[op] += place.count
        return calls


def choose_by_place(
    report: Report, allow: Label, can: Callable[[Suggestion], bool]
) -> ChosenByPlace:
    """The cheapest suggestion that is close enough, for each place by itself.

    Args:
        report: the plan.
        allow: how far a suggestion may be off.
        can: whether a suggestion is one that could be carried out; where several are close enough,
            the first such one is taken.
    """
    ways: list[PlacedWay] = []
    left: list[tuple[Place, Left]] = []
    for finding in off_device(report):
        for index, place in enumerate(finding.uses):
            here = [way for way in finding.suggestions if index in way.places]
            for replaces, found in _by_overload(here):
                fit = _fit(found, allow)
                if fit:
                    ways.append(PlacedWay(finding.op, place, next(filter(can, fit), fit[0])))
                else:
                    left.append((place, Left(finding.op, replaces, _too_far(found))))
            if not here:
                left.append((place, _no_way(finding)))
    return ChosenByPlace(tuple(ways), tuple(left))


def off_device(report: Report) -> Iterator[Finding]:
    """The findings of the one target that need a way out."""
    (target,) = report.targets
    yield from (finding for finding in target.findings if not finding.verdict.on_device)


def known(report: Report) -> frozenset[str]:
    """Operators that leave the device, and overloads in them that are to blame."""
    blamed = {way.replaces for finding in off_device(report) for way in finding.suggestions}
    return frozenset(blamed | {finding.op for finding in off_device(report)})


def _by_overload(ways: Iterable[Suggestion]) -> Iterator[tuple[str, tuple[Suggestion, ...]]]:
    ways = tuple(ways)
    for replaces in dict.fromkeys(way.replaces for way in ways):
        yield replaces, tuple(way for way in ways if way.replaces == replaces)


def _fit(found: Iterable[Suggestion], allow: Label) -> list[Suggestion]:
    return [way for way in found if way.label.rank <= allow.rank and way.code and not way.by_hand]


def _no_way(finding: Finding) -> Left:
    return Left(finding.op, finding.op, "nothing that the target runs was found")


def _too_far(found: Iterable[Suggestion]) -> str:
    others = [way for way in found if way.tier is not Tier.CUSTOM]
    if not others:
        return "nothing is left but a kernel of one's own: follow it with --custom-op"
    best = min(others, key=lambda way: way.label.rank)
    if best.by_hand:
        return f"{best.rule} changes more than the call, so it is left to you"
    if not best.code:
        return f"{best.rule} is not code that could be written for you"
    return f"{best.rule} is labelled {best.label}; follow it with --allow {best.label}"
