"""Every sentence about a fleet as a whole."""

from collections import Counter
from collections.abc import Iterable, Mapping

from opcheck.commands.fleet.answers.values import Because, Change, Goal, Need, Ranking
from opcheck.commands.fleet.values import Cause, Ending, Run
from opcheck.views.terminal.notation import plural

TARGETS = ("Targets", "how many models run there")
FAILURES = ("Without an answer", "their scan did not come so far")
SUMMARY_COLUMNS = (
    "target", "run", "device", "fallback", "unknown", "broken", "no answer", "share"
)  # fmt: skip
"""Those of :data:`LESS` are left out where there is no room."""
LESS = ("device", "share", "unknown")
MISSING_COLUMNS = ("step", "models", "in all", "pairs")
NOTHING_BLOCKED = "nothing is blocked"
NOTHING_HELPS = "nothing of what is asked about unblocks any of them by itself"
TOGETHER = "only together"
NOT_OVER = "this run is not over; all of this holds for the models that are done"
NOTHING_FITS = "no answer of this run fits"
NOTHING_CHANGED = "every model of both runs stands as before"
NO_TARGETS = "the runs have no target in common; --from and --to name two to compare"
NO_REASON = "nothing that is known"

ENDINGS: Mapping[Ending, str] = {
    Ending.SCANNED: "scanned",
    Ending.FAILED: "failed",
    Ending.TIMED_OUT: "timed out",
    Ending.OUT_OF_MEMORY: "out of memory",
    Ending.CRASHED: "crashed",
    Ending.LOST: "lost",
}
CAUSES: Mapping[Cause, str] = {
    Cause.KERNEL: "no kernel",
    Cause.CONDITION: "condition",
    Cause.UNKNOWN: "unknown",
}
GOALS: Mapping[Goal, str] = {
    Goal.RUNS: "to run at all",
    Goal.DEVICE: "to run on the device alone",
}
CHANGES: Mapping[Change, str] = {
    Change.BROKEN: "Newly broken",
    Change.FIXED: "Newly fixed",
    Change.WORSE: "Worse",
    Change.BETTER: "Better",
    Change.LOST: "Answer lost",
    Change.GAINED: "Answer gained",
}
CHANGES_ARE: Mapping[Change, str] = {
    Change.BROKEN: "it ran, and does not any more",
    Change.FIXED: "it did not run, and does now",
    Change.WORSE: "more of it on the host, or not known any more",
    Change.BETTER: "less of it on the host, or known now",
    Change.LOST: "its scan does not come so far any more",
    Change.GAINED: "its scan comes so far now",
}
BECAUSE: Mapping[Because, str] = {
    Because.MODEL: "the model",
    Because.TARGET: "the target",
    Because.DATABASE: "the database",
    Because.OPCHECK: "opcheck",
    Because.TORCH: "torch",
}
NEW, GONE = "new models:", "models gone:"
NEW_TARGETS, GONE_TARGETS = "new targets:", "targets gone:"


def everywhere(count: int, models: int, targets: int) -> str:
    """How many models run on every target."""
    where = "this target" if targets == 1 else f"each of {targets:,} targets"
    return f"{count:,} of {plural(models, 'model')} run on {where}"


def nowhere(count: int) -> str:
    """How many run on none."""
    return f"{count:,} run on none"


def run_of(run: Run) -> str:
    """Which run it is."""
    return f"run {run.id:,} over {run.manifest}, begun {run.begun}"


def endings(counts: Mapping[Ending, int]) -> str:
    """How many models ended how."""
    return ", ".join(f"{count:,} {ENDINGS[ending]}" for ending, count in counts.items() if count)


def done(run: Run) -> str:
    """How far a run is that is not over."""
    return f"{run.done:,} of {plural(run.models, 'model')} done"


def blocked(ranking: Ranking, goal: Goal) -> str:
    """How much of a pool is blocked."""
    models = plural(ranking.blocked_models, "model")
    if len(ranking.targets) == 1:
        verb = "is" if ranking.blocked_models == 1 else "are"
        return f"{models} of {ranking.answers:,} {verb} blocked"
    return (
        f"{models} blocked on {plural(len(ranking.targets), 'target')}: "
        f"{ranking.blocked:,} of {plural(ranking.answers, 'pair')}"
    )


def unblock(needs: Iterable[Need], models: int, answers: int, ranking: Ranking) -> str:
    """What all steps that are shown come to."""
    of = f"{models:,} of {plural(ranking.blocked_models, 'blocked model')}"
    text = f"{kinds(needs)} would unblock {of}"
    if len(ranking.targets) == 1:
        return text
    return f"{text}: {answers:,} of {plural(ranking.blocked, 'blocked pair')}"


def kinds(needs: Iterable[Need]) -> str:
    """How many needs of each kind there are."""
    counts = Counter(need.cause for need in needs)
    names = {Cause.KERNEL: "kernel", Cause.CONDITION: "condition", Cause.UNKNOWN: "unknown"}
    return ", ".join(plural(counts[cause], names[cause]) for cause in Cause if counts[cause])


def met_by(count: int) -> str:
    """How many answers a need is in the way of."""
    return f"in the way of {plural(count, 'pair')}"


def left(ranking: Ranking) -> tuple[str, ...]:
    """What is not in the steps, and why."""
    answers = ranking.steps[-1].total_answers if ranking.steps else 0
    later = ranking.blocked - ranking.unseen - ranking.beyond - answers
    said = (
        (
            later,
            f"{plural(ranking.more, 'more step')} would unblock {plural(later, 'more pair')}",
        ),
        (ranking.beyond, f"{plural(ranking.beyond, 'pair')} beyond: something else is missing"),
        (ranking.unseen, f"{plural(ranking.unseen, 'pair')} open: parts were not seen"),
    )
    return tuple(text for count, text in said if count)


def more_operators(count: int) -> str:
    """Operators that are not named."""
    return f"and {plural(count, 'more operator')}"


def together(needs: int) -> str:
    """That needs of a step help only together."""
    return f"these {needs:,} help only together"


def models(count: int) -> str:
    """So many models."""
    return plural(count, "model")


def as_before(count: int) -> str:
    """How many stand as before."""
    return f"{count:,} as before"


def changed(counts: Mapping[Change, int]) -> str:
    """How many changed how."""
    return ", ".join(
        f"{count:,} {CHANGES[change].lower()}" for change, count in counts.items() if count
    )
