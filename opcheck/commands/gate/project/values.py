"""What a gate says of a project: ``opcheck.project-gate/1``."""

from msgspec import Struct

from opcheck.commands.gate.values import GateRequest, GateResult
from opcheck.errors import ExitCode
from opcheck.lang.sentence import NOTHING, Sentence
from opcheck.model.project import Candidate, ProjectReport, ProjectRequest
from opcheck.model.shown import Shown

SCHEMA = "opcheck.project-gate/1"
FORMATS = "gate.project"


class ProjectGateRequest(Struct, frozen=True):
    """One run of the gate on a project, before anything was read."""

    scan: ProjectRequest
    gate: GateRequest
    """The options of the gate; its source is the folder, or what a scan of it wrote."""
    kept: bool = False
    """Whether the source is what a scan of a folder wrote."""


class SourceGate(Struct, frozen=True):
    """One source at the gate."""

    name: str
    result: GateResult | None
    """None where it has no answer."""
    error: str = NOTHING
    """Why there is no whole answer."""
    hint: str = NOTHING

    @property
    def passed(self) -> bool | None:
        """Whether every target passes; None where that cannot be judged."""
        if self.result is None or (self.error and not self.fails):
            return None
        return not self.fails

    @property
    def fails(self) -> bool:
        """Whether something fails that was seen, and not only that the run ended too early."""
        for target in () if self.result is None else self.result.targets:
            seen = [one for one in target.failing if one.finding.op or not self.error]
            if seen or (target.broken and not self.error):
                return True
        return False


class ProjectGate(Shown, frozen=True):
    """The whole answer of a gate on a project."""

    command = FORMATS

    opcheck_version: str
    report: ProjectReport
    """What was judged."""
    policy: str
    """The file; empty for the defaults."""
    against: str
    """The file of what this is compared with; empty for none."""
    sources: tuple[SourceGate, ...]
    notes: tuple[Sentence, ...] = ()

    @property
    def lacking(self) -> tuple[Candidate, ...]:
        """What was found and cannot be checked as it is."""
        return self.report.lacking

    @property
    def passed(self) -> bool:
        """Whether every source passes; what cannot be judged does not."""
        return self.exit_code is ExitCode.PASS

    @property
    def exit_code(self) -> ExitCode:
        """GATE where a source fails; MODEL where none does, and one cannot be judged."""
        standings = [one.passed for one in self.sources]
        if False in standings:
            return ExitCode.GATE
        if None in standings or self.lacking or not standings:
            return ExitCode.MODEL
        return ExitCode.PASS
