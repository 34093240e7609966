"""Which suggestions of a plan are followed, what that leaves, and the answer made of both."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from opcheck.commands.fix.values import Fix, FixRequest, Followed, Left
from opcheck.lang.sentence import Sentence
from opcheck.model.plan import Label, Proof, Suggestion, Tier
from opcheck.model.report import Finding, Place, Report
from opcheck.version import __version__


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
        for replaces, found in _by_overload(_without_advice(finding.suggestions)):
            fit = _fit(found, allow)
            if fit:
                ways.append((finding.op, fit[0]))
            else:
                left.append(Left(finding.op, replaces, _too_far(found)))
        if not finding.suggestions:
            left.append(_no_way(finding))
    return Chosen(tuple(ways), tuple(left))


class PlacedSuggestion(Struct, frozen=True):
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

    ways: tuple[PlacedSuggestion, ...]
    left: tuple[tuple[Place, Left], ...]

    def staying(self, done: Collection[PlacedSuggestion]) -> Mapping[str, int]:
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
    ways: list[PlacedSuggestion] = []
    left: list[tuple[Place, Left]] = []
    for finding in off_device(report):
        for index, place in enumerate(finding.uses):
            here = [way for way in finding.suggestions if index in way.places]
            for replaces, found in _by_overload(_without_advice(here)):
                fit = _fit(found, allow)
                if fit:
                    ways.append(PlacedSuggestion(finding.op, place, next(filter(can, fit), fit[0])))
                else:
                    left.append((place, Left(finding.op, replaces, _too_far(found))))
            if not here:
                left.append((place, _no_way(finding)))
    return ChosenByPlace(tuple(ways), tuple(left))


def off_device(report: Report) -> Iterator[Finding]:
    """The findings of the one target that need a fix."""
    (target,) = report.targets
    yield from (finding for finding in target.findings if not finding.verdict.on_device)


def known(report: Report) -> frozenset[str]:
    """Operators that leave the device, and overloads in them that are to blame."""
    blamed = {way.replaces for finding in off_device(report) for way in finding.suggestions}
    return frozenset(blamed | {finding.op for finding in off_device(report)})


def _without_advice(ways: Sequence[Suggestion]) -> Sequence[Suggestion]:
    """Those that do something by themselves; advice alone where there are no others."""
    return [way for way in ways if not way.is_advice] or ways


def _by_overload(ways: Iterable[Suggestion]) -> Iterator[tuple[str, tuple[Suggestion, ...]]]:
    ways = tuple(ways)
    for replaces in dict.fromkeys(way.replaces for way in ways):
        yield replaces, tuple(way for way in ways if way.replaces == replaces)


def _fit(found: Iterable[Suggestion], allow: Label) -> list[Suggestion]:
    return [way for way in found if way.label.rank <= allow.rank and way.code and not way.by_hand]


def _no_way(finding: Finding) -> Left:
    return Left(finding.op, finding.op, Sentence("nothing that the target runs was found"))


def _too_far(found: Iterable[Suggestion]) -> Sentence:
    others = [way for way in found if way.tier is not Tier.CUSTOM]
    if not others:
        return Sentence("nothing is left but a kernel of one's own: follow it with --custom-op")
    best = min(others, key=lambda way: way.label.rank)
    if best.by_hand:
        return Sentence("{rule} changes more than the call, so it is left to you", rule=best.rule)
    if not best.code:
        return Sentence("{rule} is not code that could be written for you", rule=best.rule)
    return Sentence(
        "{rule} is labelled {label}; follow it with --allow {label}",
        rule=best.rule,
        label=best.label,
    )


AppliedSuggestion = tuple[str, Suggestion]
"""Operator of the finding, and what was followed of its suggestions."""


def answer(
    request: FixRequest,
    report: Report,
    *,
    files: tuple[str, ...] = (),
    ways: Iterable[AppliedSuggestion] = (),
    followed: Iterable[Followed] = (),
    left: Iterable[Left] = (),
    proof: Proof | None = None,
    unproven: str = "",
) -> Fix:
    """Put the answer together.

    Args:
        request: what was asked.
        report: the plan.
        files: what was written.
        ways: suggestions of the plan that were carried out; they get the proof.
        followed: the same as is told, with places; by default, of ``ways``.
        left: what stays.
        proof: what holds of the changed model.
        unproven: why there is no proof.
    """
    ways = tuple(ways)
    return Fix(
        opcheck_version=__version__,
        torch_version=report.torch_version,
        model=report.model,
        target=report.targets[0].target,
        kind=request.kind,
        files=files,
        text="",
        followed=tuple(followed) or followed_ways(dict.fromkeys(ways, ())),
        left=tuple(left),
        proof=proof,
        unproven=unproven,
        report=report if proof is None else _with_proof(report, frozenset(ways), proof),
    )


def followed_ways(places: Mapping[AppliedSuggestion, Iterable[str]]) -> tuple[Followed, ...]:
    """One for each operator and rule, with all places where it was followed."""
    found: dict[Followed, dict[str, None]] = {}
    for (op, way), here in places.items():
        key = Followed(op, way.replaces, way.rule, way.tier, way.label)
        found.setdefault(key, {}).update(dict.fromkeys(here))
    return tuple(replace(key, places=tuple(all_)) for key, all_ in found.items())


def _with_proof(report: Report, ways: Collection[AppliedSuggestion], proof: Proof) -> Report:
    """The plan; each suggestion that was followed has the proof."""

    def proven(finding: Finding) -> Finding:
        suggestions = (
            replace(way, proof=proof) if (finding.op, way) in ways else way
            for way in finding.suggestions
        )
        return replace(finding, suggestions=tuple(suggestions))

    (target,) = report.targets
    return replace(report, targets=(replace(target, findings=tuple(map(proven, target.findings))),))
