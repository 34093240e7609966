"""What is asked of a fleet as a whole: what runs, is missing or changed; all for a web page."""

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

from opcheck.commands.fleet.values import Answers, Cause, Ending, Run, RunTarget
from opcheck.model.verdict import Confidence, Verdict

SUMMARY_SCHEMA = "opcheck.fleet-summary/1"
MISSING_SCHEMA = "opcheck.fleet-missing/1"
ANSWERS_SCHEMA = "opcheck.fleet-answers/1"
DIFF_SCHEMA = "opcheck.fleet-diff/1"


class Standing(StrEnum):
    """How one model of a run stands on one target, best first."""

    DEVICE = "device"
    """It runs, all of it on the device."""
    FALLBACK = "fallback"
    """It runs, some of it on the host."""
    UNKNOWN = "unknown"
    """Nobody can tell: something in it is unknown, or was not seen."""
    BROKEN = "broken"
    """It does not run."""
    NO_ANSWER = "no-answer"
    """Its scan did not come so far."""

    @classmethod
    def of(cls, verdict: str | None, runs: int | bool | None) -> "Standing":
        """The standing of a stored answer; ``verdict`` is None where there is none."""
        if verdict is None:
            return cls.NO_ANSWER
        if runs is None:
            return cls.UNKNOWN
        if not runs:
            return cls.BROKEN
        return cls.DEVICE if Verdict(verdict).on_device else cls.FALLBACK

    @property
    def rank(self) -> int:
        """Badness: 0 for what runs on the device alone."""
        return list(Standing).index(self)


class TargetTally(Struct, frozen=True):
    """How the models of a run stand on one target."""

    target: RunTarget
    counts: Mapping[Standing, int]
    """All of them, in the order of :class:`Standing`."""
    support_rate: float | None
    """The mean over models that have one, to four decimals."""


class Failure(Struct, frozen=True):
    """Models whose scan ended alike, for the same reason."""

    ending: Ending
    reason: str
    hint: str
    models: tuple[str, ...]
    """In the order of the run."""


class Summary(Struct, frozen=True):
    """How a run went, and how its models stand on each target."""

    run: Run
    endings: Mapping[Ending, int]
    """Of the models that are done; all endings, in their order."""
    targets: tuple[TargetTally, ...]
    """In the order of the run."""
    everywhere: int
    """Models that run on every target, be it in part on the host."""
    nowhere: int
    """Models that are known not to run on any."""
    failures: tuple[Failure, ...]
    """Most models first, then by reason."""


class Goal(StrEnum):
    """What models are to do once what is missing is there."""

    RUNS = "runs"
    """Run: nothing is unsupported, nothing unknown."""
    DEVICE = "device"
    """Run on the device alone: nothing falls back to the host, either."""


class Pool(StrEnum):
    """Which targets are ranked together."""

    VENDOR = "vendor"
    TARGET = "target"


class Need(Struct, frozen=True):
    """One thing that would have to be there: a kernel, a condition lifted, a fact known."""

    op: str
    cause: Cause
    code: str
    text: str
    """One sentence; where several say it, that of most."""
    confidence: Confidence
    answers: int
    """How many of the blocked answers meet it, alone or beside others."""


class Step(Struct, frozen=True):
    """Needs that unblock models once all of them are met, and once those of steps before are."""

    needs: tuple[Need, ...]
    models: tuple[str, ...]
    """Those that gain a target by it, in the order of the run."""
    answers: int
    """How many answers, each a model on a target, are unblocked by it."""
    total_answers: int
    """The same for it and all steps before."""
    total_models: int
    """Distinct models that gain a target by it or by a step before."""


class Ranking(Struct, frozen=True):
    """What is missing on targets of one pool, what helps most first."""

    pool: str
    """The vendor or the target."""
    targets: tuple[str, ...]
    answers: int
    """Models on targets that have an answer."""
    blocked: int
    """Those that do not reach the goal."""
    blocked_models: int
    """Distinct models among them."""
    unseen: int
    """Of ``blocked``: parts of the model were not seen, so nothing can be promised."""
    beyond: int
    """Of ``blocked``: needs something else that was not to be counted on."""
    steps: tuple[Step, ...]
    more: int
    """How many steps there would be beyond those."""


class Missing(Struct, frozen=True):
    """The rankings of one run."""

    run: Run
    goal: Goal
    causes: tuple[Cause, ...]
    """Kinds of needs that are counted on."""
    rankings: tuple[Ranking, ...]
    """In the order of the run's targets."""


class Change(StrEnum):
    """What became of one model on one target, from one run to another."""

    BROKEN = "newly-broken"
    """It ran, and does not any more."""
    FIXED = "newly-fixed"
    """It did not run, and does now."""
    WORSE = "worse"
    """It stands worse otherwise: more on the host, or not known any more."""
    BETTER = "better"
    LOST = "answer-lost"
    """It had an answer; now its scan does not come so far."""
    GAINED = "answer-gained"

    @classmethod
    def of(cls, before: Standing, after: Standing) -> "Change":
        """The change between standings that differ."""
        if Standing.NO_ANSWER in (before, after):
            return cls.LOST if after is Standing.NO_ANSWER else cls.GAINED
        ran = (Standing.DEVICE, Standing.FALLBACK)
        if before in ran and after is Standing.BROKEN:
            return cls.BROKEN
        if before is Standing.BROKEN and after in ran:
            return cls.FIXED
        return cls.WORSE if after.rank > before.rank else cls.BETTER


class Because(StrEnum):
    """What differs between two answers beside the answers."""

    MODEL = "model"
    """Its digest: its files, its config or what it computes."""
    TARGET = "target"
    """The release or the torch version that the target names."""
    DATABASE = "database"
    """What is known of the target."""
    OPCHECK = "opcheck"
    TORCH = "torch"
    """The version that traced it."""


class BlockedBy(Struct, frozen=True):
    """One thing in the way of one model; two are the same where all of it is."""

    op: str
    cause: Cause
    code: str
    verdict: Verdict
    text: str
    confidence: Confidence


class Changed(Struct, frozen=True):
    """One model on one target that stands otherwise than before."""

    model: str
    change: Change
    before: Standing
    after: Standing
    because: tuple[Because, ...]
    came: tuple[BlockedBy, ...]
    """What is in the way now and was not, worst first."""
    went: tuple[BlockedBy, ...]
    """What was in the way and is not."""
    reason: str
    """Why there is no answer, of one that was lost or gained; else ""."""


class TargetChanges(Struct, frozen=True):
    """What changed on one target."""

    before: RunTarget
    after: RunTarget
    same: int
    """Models of both runs that stand as before."""
    changes: tuple[Changed, ...]
    """By kind, then in the order of the later run."""

    def count(self, change: Change) -> int:
        """How many changed that way."""
        return sum(changed.change is change for changed in self.changes)


class Difference(Struct, frozen=True):
    """What changed from one run to another, or from one target to another."""

    before: Run
    after: Run
    new: tuple[str, ...]
    """Models that the later run alone has, in its order."""
    gone: tuple[str, ...]
    new_targets: tuple[str, ...]
    gone_targets: tuple[str, ...]
    targets: tuple[TargetChanges, ...]
    """In the order of the later run."""


FleetView = Summary | Missing | Difference | Answers
"""What opcheck says of a fleet as a whole."""


class Cell(Struct, frozen=True):
    """One model on one target."""

    standing: Standing
    support_rate: float | None
    causes: tuple[int, ...]
    """Places in :attr:`FleetPage.causes`, worst first."""


class ModelRow(Struct, frozen=True):
    """One model of the run."""

    name: str
    source: str
    kind: str
    ending: Ending
    reason: str
    hint: str
    calls: int
    operators: int
    gaps: int
    """How many places were not seen."""
    cells: tuple[Cell, ...]
    """In the order of the run's targets."""
    report: str = ""
    """Address of its report, relative to the page; "" where none was written."""


class FleetPage(Struct, frozen=True):
    """A run with all its answers."""

    opcheck_version: str
    store: str
    """As the user named it."""
    summary: Summary
    missing: tuple[Missing, ...]
    """For each goal, by vendor."""
    causes: tuple[BlockedBy, ...]
    models: tuple[ModelRow, ...]
    """Those that are done, in the order of the run."""
