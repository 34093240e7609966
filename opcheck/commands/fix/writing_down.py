"""What is said of a plan that was carried out."""

from collections.abc import Collection, Iterable, Mapping

from msgspec.structs import replace

from opcheck.commands.fix.values import Fix, FixRequest, Followed, Left
from opcheck.model.plan import Proof, Suggestion
from opcheck.model.report import Finding, Report
from opcheck.version import __version__

Way = tuple[str, Suggestion]
"""Operator of the finding, and what was followed of its suggestions."""


def answer(
    request: FixRequest,
    report: Report,
    *,
    files: tuple[str, ...] = (),
    ways: Iterable[Way] = (),
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


def followed_ways(places: Mapping[Way, Iterable[str]]) -> tuple[Followed, ...]:
    """One for each operator and rule, with all places where it was followed."""
    found: dict[Followed, dict[str, None]] = {}
    for (op, way), here in places.items():
        key = Followed(op, way.replaces, way.rule, way.tier, way.label)
        found.setdefault(key, {}).update(dict.fromkeys(here))
    return tuple(replace(key, places=tuple(all_)) for key, all_ in found.items())


def _with_proof(report: Report, ways: Collection[Way], proof: Proof) -> Report:
    """The plan; each suggestion that was followed has the proof."""

    def proven(finding: Finding) -> Finding:
        suggestions = (
            replace(way, proof=proof) if (finding.op, way) in ways else way
            for way in finding.suggestions
        )
        return replace(finding, suggestions=tuple(suggestions))

    (target,) = report.targets
    return replace(report, targets=(replace(target, findings=tuple(map(proven, target.findings))),))
