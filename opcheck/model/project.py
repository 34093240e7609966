"""A project: what can be checked in it, what was asked, and what came of each of its sources."""

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct, field

from opcheck.lang.sentence import NOTHING, Sentence
from opcheck.model.report import Report, TargetReport
from opcheck.model.shown import Shown
from opcheck.model.target import TargetSpec
from opcheck.model.verdict import Verdict

SCHEMA = "opcheck.project/1"
FORMATS = "scan.project"
"""Where the formats of a project's answer are, as :func:`opcheck.views.formats.command_view` takes
it."""


class Kind(StrEnum):
    """What a source of a project is."""

    FACTORY = "factory"
    """A function that returns a model."""
    CLASS = "class"
    """A class of modules."""
    CONFIG = "config"
    """A config of which a library makes the model."""
    SAVED = "saved"
    """A saved model."""
    SCRIPT = "script"
    """A script that trains, or a notebook that does."""


class Lacks(StrEnum):
    """What keeps a source from being checked as it is."""

    NOTHING = "nothing"
    INPUTS = "inputs"
    """Its forward has several parameters, and nothing tells what they are."""
    ARGUMENTS = "arguments"
    """It cannot be made or run without arguments."""


class Candidate(Struct, frozen=True):
    """One source of a project."""

    source: str
    """``models/net.py:build`` from the project's folder on; of a script its path."""
    kind: Kind
    reason: Sentence
    """Why it is one."""
    line: int = 0
    """Where it is defined; 0 for what is a file of its own."""
    inputs: tuple[str, ...] = ()
    """As ``--input`` has them, where the project's own code calls it on such."""
    inputs_from: Sentence | None = None
    """What tells its inputs; None where nothing does, or none are needed."""
    lacks: Lacks = Lacks.NOTHING
    names: tuple[str, ...] = ()
    """Parameters of which nothing is known: of its forward, of itself, or options of a script."""
    made_as: str = ""
    """How it may be made where it lacks arguments, ``GPT(GPTConfig())``; "" where nothing tells."""
    options: Mapping[str, str | int] = field(default_factory=dict)
    """Options of a script."""

    @property
    def is_script(self) -> bool:
        """Whether it is run, and not called."""
        return self.kind is Kind.SCRIPT


class Found(Struct, frozen=True):
    """What of a folder can be checked."""

    candidates: tuple[Candidate, ...]
    """In the order of their files and lines; those that lack something too."""
    notes: tuple[Sentence, ...] = ()
    """What was not read, or left out, and why."""

    @property
    def ready(self) -> tuple[Candidate, ...]:
        """Those that can be checked as they are."""
        return tuple(one for one in self.candidates if one.lacks is Lacks.NOTHING)

    @property
    def lacking(self) -> tuple[Candidate, ...]:
        """Those that lack something."""
        return tuple(one for one in self.candidates if one.lacks is not Lacks.NOTHING)


class ProjectRequest(Struct, frozen=True):
    """One scan of a project, before anything of it was read."""

    folder: str
    targets: tuple[TargetSpec, ...] = ()
    """Empty: those of the policy, else every target at its newest release."""
    policy: str = ""
    """Path of the policy that may list sources; empty for the folder's own, or one above."""
    only: tuple[str, ...] = ()
    """Globs on names of sources; empty: all of them."""
    options: tuple[tuple[str, float], ...] = ()
    """``timeout`` and ``memory`` of those that say nothing else."""
    databases: tuple[str, ...] = ()
    schemas: tuple[str, ...] = ()
    max_age: int | None = None
    trust: bool = False
    explained: bool = False
    plan: bool = False
    """Whether to look for fixes too."""


class SourceResult(Struct, frozen=True):
    """What came of one source."""

    name: str
    source: str
    """The model's source, or the script's command line."""
    report: Report | None
    """None where there is none; partial where its run ended too early."""
    error: str = NOTHING
    """Why there is no whole report; a sentence, or nothing."""
    hint: str = NOTHING

    @property
    def runs(self) -> bool | None:
        """Whether it runs on every target; None where that is not known."""
        if self.refused:
            return False
        if self.report is None or self.error:
            return None
        found = {target.summary.runs for target in self.report.targets}
        return None if None in found or not found else True

    @property
    def refused(self) -> bool:
        """Whether it is known not to run on some target, however its run ended."""
        targets = () if self.report is None else self.report.targets
        return any(target.summary.runs is False for target in targets)


class ProjectReport(Shown, frozen=True):
    """The whole answer on a project."""

    command = FORMATS

    opcheck_version: str
    folder: str
    policy: str
    """The file that lists the sources; "" where they were found."""
    sources: tuple[SourceResult, ...]
    lacking: tuple[Candidate, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def answered(self) -> bool:
        """Whether there is an answer on any source."""
        return any(not one.error or one.refused for one in self.sources)


def worst(target: TargetReport) -> Verdict:
    """The worst verdict that calls have on a target; unknown where the trace has gaps."""
    met = [verdict for verdict, count in target.summary.calls.items() if count]
    if target.summary.runs is None:
        met.append(Verdict.UNKNOWN)
    return max(met, key=lambda verdict: verdict.rank, default=Verdict.UNKNOWN)
