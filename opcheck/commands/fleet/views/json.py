"""``opcheck.fleet-summary/1``, ``-missing/1``, ``-diff/1``, ``-answers/1``."""

from typing import assert_never

from opcheck.commands.fleet.answers.values import (
    ANSWERS_SCHEMA,
    DIFF_SCHEMA,
    MISSING_SCHEMA,
    SUMMARY_SCHEMA,
    BlockedBy,
    Change,
    Changed,
    Difference,
    Failure,
    FleetView,
    Missing,
    Need,
    Ranking,
    Step,
    Summary,
    TargetChanges,
    TargetTally,
)
from opcheck.commands.fleet.values import Answer, Answers, Blocker, Run, RunTarget
from opcheck.views.document.parts import Json, as_text
from opcheck.views.formats import PLAIN, Page


def render(found: FleetView, page: Page = PLAIN) -> str:
    """Give what is said of a fleet by ``opcheck.fleet-summary/1`` or one of its other schemas."""
    return as_text(fleet_document(found))


def fleet_document(found: FleetView) -> Json:
    """Whatever it is, by its schema."""
    match found:
        case Summary():
            return _summary(found)
        case Missing():
            return _missing(found)
        case Difference():
            return _difference(found)
        case Answers():
            return _answers(found)
        case _:
            assert_never(found)


def _run(run: Run) -> Json:
    return {
        "id": run.id,
        "manifest": run.manifest,
        "begun": run.begun,
        "ended": run.ended or None,
        "opcheck_version": run.opcheck_version,
        "torch_version": run.torch_version,
        "engine": run.engine,
        "models": run.models,
        "done": run.done,
    }


def _target(target: RunTarget) -> Json:
    return {
        "target": target.target,
        "vendor": target.vendor,
        "chip": target.chip,
        "sdk": target.sdk,
        "torch": target.torch,
        "database": {"digest": target.database_digest, "date": target.database_date},
    }


def _summary(found: Summary) -> Json:
    return {
        "schema": SUMMARY_SCHEMA,
        "run": _run(found.run),
        "endings": {ending.value: count for ending, count in found.endings.items()},
        "targets": [_tally(tally) for tally in found.targets],
        "everywhere": found.everywhere,
        "nowhere": found.nowhere,
        "failures": [_failure(failure) for failure in found.failures],
    }


def _tally(tally: TargetTally) -> Json:
    return {
        **_target(tally.target),
        "models": {standing.value: count for standing, count in tally.counts.items()},
        "support_rate": tally.support_rate,
    }


def _failure(failure: Failure) -> Json:
    return {
        "ending": failure.ending.value,
        "reason": failure.reason,
        "hint": failure.hint,
        "models": list(failure.models),
    }


def _missing(found: Missing) -> Json:
    return {
        "schema": MISSING_SCHEMA,
        "run": _run(found.run),
        "goal": found.goal.value,
        "causes": [cause.value for cause in found.causes],
        "rankings": [_ranking(ranking) for ranking in found.rankings],
    }


def _ranking(ranking: Ranking) -> Json:
    return {
        "pool": ranking.pool,
        "targets": list(ranking.targets),
        "answers": ranking.answers,
        "blocked": ranking.blocked,
        "blocked_models": ranking.blocked_models,
        "unseen": ranking.unseen,
        "beyond": ranking.beyond,
        "steps": [_step(step) for step in ranking.steps],
        "more": ranking.more,
    }


def _step(step: Step) -> Json:
    return {
        "needs": [_need(need) for need in step.needs],
        "models": list(step.models),
        "answers": step.answers,
        "total_answers": step.total_answers,
        "total_models": step.total_models,
    }


def _need(need: Need) -> Json:
    return {
        "op": need.op,
        "cause": need.cause.value,
        "code": need.code,
        "text": need.text,
        "confidence": need.confidence.value,
        "answers": need.answers,
    }


def _answers(found: Answers) -> Json:
    """Nothing in it depends on when a run was made, or by what engine."""
    run = found.run
    return {
        "schema": ANSWERS_SCHEMA,
        "opcheck_version": run.opcheck_version,
        "torch_version": run.torch_version,
        "manifest": run.manifest,
        "models": run.models,
        "done": run.done,
        "targets": [_target(target) for target in run.targets],
        "answers": [_answer(answer) for answer in found.answers],
    }


def _answer(found: Answer) -> Json:
    return {
        "model": found.model,
        "source": found.source,
        "ending": found.ending.value,
        "reason": found.reason,
        "target": found.target or None,
        "verdict": None if found.verdict is None else found.verdict.value,
        "runs": found.runs,
        "support_rate": found.support_rate,
        "blockers": [_blocker(blocker) for blocker in found.blockers],
    }


def _blocker(found: Blocker) -> Json:
    return {
        "op": found.op,
        "cause": found.cause.value,
        "code": found.code,
        "verdict": found.verdict.value,
        "text": found.text,
        "confidence": found.confidence.value,
        "calls": found.calls,
        "called": list(found.called),
        "module": found.module,
        "file": found.file,
        "line": found.line,
    }


def _difference(found: Difference) -> Json:
    return {
        "schema": DIFF_SCHEMA,
        "before": _run(found.before),
        "after": _run(found.after),
        "new": list(found.new),
        "gone": list(found.gone),
        "new_targets": list(found.new_targets),
        "gone_targets": list(found.gone_targets),
        "targets": [_changes(changes) for changes in found.targets],
    }


def _changes(changes: TargetChanges) -> Json:
    return {
        "before": _target(changes.before),
        "after": _target(changes.after),
        "same": changes.same,
        "counts": {change.value: changes.count(change) for change in Change},
        "changes": [_changed(changed) for changed in changes.changes],
    }


def _changed(changed: Changed) -> Json:
    return {
        "model": changed.model,
        "change": changed.change.value,
        "before": changed.before.value,
        "after": changed.after.value,
        "because": [what.value for what in changed.because],
        "came": [_blocked_by(one) for one in changed.came],
        "went": [_blocked_by(one) for one in changed.went],
        "reason": changed.reason,
    }


def _blocked_by(one: BlockedBy) -> Json:
    return {
        "op": one.op,
        "cause": one.cause.value,
        "code": one.code,
        "verdict": one.verdict.value,
        "text": one.text,
        "confidence": one.confidence.value,
    }
