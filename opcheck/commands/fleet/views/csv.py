"""A table of what is said of a fleet, in English, as any table is."""

from collections.abc import Iterator, Sequence
from typing import assert_never

from opcheck.commands.fleet.answers.values import (
    BlockedBy,
    Changed,
    Difference,
    FleetView,
    Missing,
    Standing,
    Summary,
    TargetChanges,
)
from opcheck.commands.fleet.values import Answers
from opcheck.lang.speech import Language, speaking
from opcheck.views.formats import PLAIN, Page
from opcheck.views.interchange import as_csv

Row = Sequence[object]
SUMMARY = (
    *("target", "vendor", "chip", "sdk", "torch", "database", "date"),
    *(standing.value for standing in Standing),
    "support_rate",
)
MISSING = (
    *("pool", "step", "operator", "cause", "code", "why", "confidence", "in_the_way_of"),
    *("models", "answers", "total_models", "total_answers"),
)
DIFF = (
    *("change", "model", "target", "target_before", "before", "after", "because"),
    *("came", "went", "why"),
)


ANSWERS = (
    *("model", "source", "ending", "target", "verdict", "runs", "support_rate"),
    *("operator", "cause", "code", "blocks", "confidence", "calls", "called"),
    *("module", "file", "line", "why"),
)


def fleet_rows(found: FleetView) -> tuple[Sequence[str], Iterator[Row]]:
    """The header, and a row for each target, need of a step, change, or thing in the way."""
    match found:
        case Summary():
            return SUMMARY, _summary(found)
        case Missing():
            return MISSING, _missing(found)
        case Difference():
            return DIFF, _difference(found)
        case Answers():
            return ANSWERS, _answers(found)
        case _:
            assert_never(found)


def _summary(found: Summary) -> Iterator[Row]:
    for tally in found.targets:
        target = tally.target
        yield (
            target.target, target.vendor, target.chip, target.sdk, target.torch,
            target.database_digest, target.database_date,
            *(tally.counts[standing] for standing in Standing),
            "" if tally.support_rate is None else tally.support_rate,
        )  # fmt: skip


def _answers(found: Answers) -> Iterator[Row]:
    """A row for each thing in the way of each answer."""
    for one in found.answers:
        head = (
            one.model, one.source, one.ending, one.target, one.verdict or "",
            "" if one.runs is None else str(one.runs).lower(),
            "" if one.support_rate is None else one.support_rate,
        )  # fmt: skip
        for blocker in one.blockers:
            yield (
                *head, blocker.op, blocker.cause, blocker.code, blocker.verdict,
                blocker.confidence, blocker.calls, " ".join(blocker.called), blocker.module,
                blocker.file, blocker.line, blocker.text,
            )  # fmt: skip
        if not one.blockers:
            yield (*head, *[""] * (len(ANSWERS) - len(head) - 1), one.reason)


def _missing(found: Missing) -> Iterator[Row]:
    for ranking in found.rankings:
        for number, step in enumerate(ranking.steps, 1):
            for need in step.needs:
                yield (
                    ranking.pool, number, need.op, need.cause, need.code, need.text,
                    need.confidence, need.answers, len(step.models), step.answers,
                    step.total_models, step.total_answers,
                )  # fmt: skip


def _difference(found: Difference) -> Iterator[Row]:
    for name in found.new:
        yield ("new", name, *[""] * 8)
    for name in found.gone:
        yield ("gone", name, *[""] * 8)
    for target in found.new_targets:
        yield ("new-target", "", target, *[""] * 7)
    for target in found.gone_targets:
        yield ("gone-target", "", "", target, *[""] * 6)
    for changes in found.targets:
        for changed in changes.changes:
            yield _changed(changed, changes)


def _changed(changed: Changed, changes: TargetChanges) -> Row:
    return (
        changed.change, changed.model, changes.after.target, changes.before.target,
        changed.before, changed.after, " ".join(changed.because),
        _listed(changed.came), _listed(changed.went), changed.reason,
    )  # fmt: skip


def _listed(found: Sequence[BlockedBy]) -> str:
    return "; ".join(dict.fromkeys(f"{one.op} ({one.code})" for one in found))


def render(view: FleetView, page: Page = PLAIN) -> str:
    """Give a row for each target, each need of a step, or each change."""
    with speaking(Language.ENGLISH):
        return as_csv(*fleet_rows(view))
