"""What the commands ask for their answers: the pipeline, or a stand-in handed to ``run``."""

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import typer

from opcheck.model.choice import Choosing
from opcheck.model.database import Audit, Contents, DatabaseStatus, Imports, MatrixDiffs
from opcheck.model.doctor import Doctor, DoctorRequest
from opcheck.model.emulation import Emulation, EmulationRequest
from opcheck.model.explanation import Explanation, TargetRow
from opcheck.model.fix import Fix, FixRequest
from opcheck.model.gate import GateRequest, GateResult
from opcheck.model.lint import Lint, LintRequest
from opcheck.model.probe import Probe, ProbeRequest
from opcheck.model.report import Report
from opcheck.model.repro import ReproRequest
from opcheck.model.request import ScanRequest
from opcheck.model.rule import RuleCheck, RuleInfo
from opcheck.model.target import TargetSpec
from opcheck.model.tuning import Tuning
from opcheck.model.upgrade import Upgrade


class Rooms(Protocol):
    """The functions of ``opcheck.pipeline`` that commands call."""

    def scan(
        self,
        request: ScanRequest,
        progress: Callable[[str], None],
        output: Callable[[str], None],
    ) -> Report:
        """Hold a model against targets."""

    def upgrade(
        self,
        request: ScanRequest,
        progress: Callable[[str], None],
        output: Callable[[str], None],
    ) -> Upgrade:
        """Say which moves would unblock a model on its one target."""

    def plan(
        self,
        request: ScanRequest,
        progress: Callable[[str], None],
        output: Callable[[str], None],
    ) -> Report:
        """Hold a model against targets, with a way out of each finding."""

    def choose(
        self,
        request: ScanRequest,
        progress: Callable[[str], None],
        output: Callable[[str], None],
    ) -> Choosing:
        """Rank targets for a model."""

    def fix(
        self,
        request: FixRequest,
        progress: Callable[[str], None],
        output: Callable[[str], None],
    ) -> Fix:
        """Carry out the plan of a model for its one target."""

    def gate(
        self,
        request: GateRequest,
        progress: Callable[[str], None],
        output: Callable[[str], None],
    ) -> GateResult:
        """Hold a model, or a report of one, against a policy."""

    def init_policy(self, targets: tuple[TargetSpec, ...], folder: Path) -> tuple[Path, str]:
        """Say where a project's policy belongs, and what to put there."""

    def lint(self, request: LintRequest, progress: Callable[[str], None]) -> Lint:
        """Read sources, and say what in them is for CUDA alone."""

    def doctor(self, request: DoctorRequest, progress: Callable[[str], None]) -> Doctor:
        """Look at this machine, and say what goes together."""

    def rules(self, name: str, folders: tuple[str, ...]) -> tuple[RuleInfo, ...]:
        """Give the rewrite rules, or those of one name."""

    def check_rules(self, name: str, folders: tuple[str, ...]) -> tuple[RuleCheck, ...]:
        """Try rules on many calls."""

    def emulate(
        self,
        request: EmulationRequest,
        progress: Callable[[str], None],
        output: Callable[[str], None],
    ) -> Emulation:
        """Run a model on an emulated device."""

    def probe(self, request: ProbeRequest, progress: Callable[[str], None]) -> Probe:
        """Run samples of every operator on a device."""

    def tune(
        self,
        request: ScanRequest,
        product: str,
        progress: Callable[[str], None],
        output: Callable[[str], None],
    ) -> Tuning:
        """Say what a model costs on targets' chips, and what to change."""

    def repro(
        self,
        request: ReproRequest,
        progress: Callable[[str], None],
        output: Callable[[str], None],
    ) -> str:
        """Write a script for one finding."""

    def targets(self, databases: tuple[str, ...]) -> tuple[TargetRow, ...]:
        """Give the newest target of every chip."""

    def explain(
        self, operator: str, specs: tuple[TargetSpec, ...], databases: tuple[str, ...]
    ) -> tuple[Explanation, ...]:
        """Give each overload of an operator on each target."""

    def database_status(self, databases: tuple[str, ...]) -> DatabaseStatus:
        """Say how old the database is and what it holds."""

    def database_show(self, spec: TargetSpec, databases: tuple[str, ...]) -> Contents:
        """Say what the database holds for one target."""

    def database_diff(
        self, before: TargetSpec, after: TargetSpec | None, databases: tuple[str, ...]
    ) -> MatrixDiffs:
        """Say what changed from one target or release to another."""

    def database_check(self, databases: tuple[str, ...]) -> Audit:
        """Look at every file of the database and say what is wrong."""

    def database_import(
        self, vendor: str, sources: Path, releases: tuple[str, ...], into: Path | None
    ) -> Imports:
        """Write the files of a vendor's releases from its own files."""


def rooms(context: typer.Context) -> Rooms:
    """The rooms of this run; the pipeline is imported only when a command needs it."""
    given: Rooms | None = context.obj
    if given is not None:
        return given
    pipeline: Rooms = importlib.import_module("opcheck.pipeline")
    return pipeline
