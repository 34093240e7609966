"""The sources of a project, and what came of each: ``opcheck.project/1``."""

from msgspec import Struct

from opcheck.commands.fleet.values import Entry
from opcheck.lang.sentence import NOTHING, Sentence
from opcheck.model.report import Report, TargetReport
from opcheck.model.shown import Shown
from opcheck.model.target import TargetSpec
from opcheck.model.verdict import Verdict
from opcheck.source.finding.values import Candidate

SCHEMA = "opcheck.project/1"
FORMATS = "scan.project"
"""Where the formats of a project's answer are, as :func:`opcheck.views.formats.command_view` takes
it."""


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


class Project(Struct, frozen=True):
    """What of a folder is to be checked."""

    folder: str
    policy: str
    """The file that lists the sources; "" where they were found."""
    entries: tuple[Entry, ...]
    lacking: tuple[Candidate, ...] = ()
    """What was found and cannot be checked as it is."""
    notes: tuple[Sentence, ...] = ()


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
