"""Which finding is meant, and which of its calls is the smallest."""

from collections.abc import Sequence

from opcheck.commands.repro.values import Argument
from opcheck.errors import UsageError
from opcheck.model.report import Finding, Report, TargetReport
from opcheck.model.trace import TensorMeta, Value

SHORTEST = 4
"""Characters of an id that may stand for it, where only one begins so."""
_LISTED = 5


def chosen(report: Report, wanted: str) -> tuple[TargetReport, Finding]:
    """The finding of a report that an id, its beginning or an overload stands for.

    Raises:
        UsageError: it stands for none, or for several.
    """
    every = [(target, finding) for target in report.targets for finding in target.findings]
    found = [pair for pair in every if pair[1].id == wanted]
    found = found or [pair for pair in every if pair[1].op == wanted]
    if not found and len(wanted) >= SHORTEST:
        found = [pair for pair in every if pair[1].id.startswith(wanted)]
    match found:
        case [pair]:
            return pair
        case []:
            raise UsageError(
                f"{report.model.source} has no finding {wanted!r}",
                _known([finding for _, finding in every]),
            )
    if len({target.target for target, _ in found}) > 1:
        names = ", ".join(dict.fromkeys(target.target for target, _ in found))
        raise UsageError(
            f"{wanted!r} is a finding on several targets: {names}", "name one of them with -t"
        )
    raise UsageError(
        f"{wanted!r} stands for {len(found)} findings of {report.model.source}",
        f"give the id of one: {', '.join(_told(finding) for _, finding in found)}",
    )


def _known(findings: Sequence[Finding]) -> str:
    """What there is, what blocks first."""
    worst = sorted(findings, key=lambda finding: -finding.verdict.rank)[:_LISTED]
    if not worst:
        return "it has none at all"
    rest = f" and {len(findings) - len(worst)} more" if len(findings) > len(worst) else ""
    return (
        f"ids are in what opcheck scan --format json writes: {', '.join(map(_told, worst))}{rest}"
    )


def _told(finding: Finding) -> str:
    return f"{finding.id} ({finding.op}, {finding.verdict})"


def smallest(calls: Sequence[tuple[Argument, ...]]) -> tuple[Argument, ...]:
    """The first of the calls with the fewest elements."""
    return min(calls, key=lambda given: sum(_elements(each.value) for each in given))


def _elements(value: Value) -> int:
    if isinstance(value, tuple):
        return sum(map(_elements, value))
    return value.numel if isinstance(value, TensorMeta) else 0
