"""The command line with a stand-in for the pipeline; ``python -m`` runs it as a process."""

import io
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from opcheck.app import main
from opcheck.commands.choose.values import Choosing
from opcheck.commands.doctor.values import Doctor, DoctorRequest
from opcheck.commands.fix.values import Fix, FixRequest
from opcheck.commands.fleet.answers.values import FleetView
from opcheck.commands.fleet.values import FleetRequest
from opcheck.commands.gate.values import GateRequest, GateResult
from opcheck.commands.models.values import ModelsAnswer
from opcheck.commands.repro.values import ReproRequest
from opcheck.commands.rules.answer import Checked
from opcheck.commands.targets.values import TargetRow
from opcheck.commands.tune.values import Tuning
from opcheck.commands.upgrade.values import Upgrade
from opcheck.errors import DatabaseError, EmulationError, SourceError, TraceError, UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.database import (
    Audit,
    Contents,
    DatabaseStatus,
    Explanation,
    Imports,
    MatrixDiffs,
    Refreshed,
)
from opcheck.model.emulation import Emulation, EmulationRequest
from opcheck.model.plan import RuleInfo
from opcheck.model.porting import Lint, LintRequest
from opcheck.model.probe import Probe, ProbeRequest
from opcheck.model.report import Report
from opcheck.model.request import ScanRequest
from opcheck.model.target import TargetSpec
from opcheck.settings.policy_file import starting_policy
from tests.views.choosings import CHOOSINGS
from tests.views.databases import CONTENTS, DIFFS, IMPORTS, REFRESHED, SOUND, STATUS, UNSOUND
from tests.views.doctors import DOCTORS
from tests.views.emulations import EMULATIONS
from tests.views.fixes import FIXES
from tests.views.fleets import FLEETS
from tests.views.gates import GATES
from tests.views.lints import LINTS
from tests.views.model_lists import MODELS
from tests.views.plans import CHECKS, PLANS, RULES
from tests.views.probes import PROBES
from tests.views.samples import EXPLAINED, ROWS, STANDARD
from tests.views.tunings import TUNINGS
from tests.views.upgrades import UPGRADES

FAILURES: dict[str, BaseException] = {
    "no-such-kind": UsageError(
        Sentence("not a model source: 'no-such-kind'"), Sentence("give one of: a file")
    ),
    "missing.pt2": SourceError(Sentence("missing.pt2 does not exist")),
    "hangs.py:net": TraceError(
        Sentence("no answer within 4 s\nwhile running"), Sentence("give it longer")
    ),
    "old-torch": EmulationError(Sentence("torch 2.6.0 cannot emulate"), Sentence("torch 2.9 can")),
    "no-database": DatabaseError(Sentence("compat_db/ascend/26.1.0.yaml:7: expected a list")),
    "bug": ZeroDivisionError("division by zero"),
    "interrupted": KeyboardInterrupt(),
}


class StandIn:
    """Answers with the standard reports by name, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[object] = []

    def _ran(
        self,
        request: object,
        source: str,
        progress: Callable[[str], None],
        output: Callable[[str], None],
    ) -> None:
        """What running any model does: it is remembered, tells, and may fail."""
        self.asked.append(request)
        progress(f"loading {source}")
        output("the model prints this")
        if source in FAILURES:
            raise FAILURES[source]

    def scan(
        self,
        request: ScanRequest,
        progress: Callable[[str], None],
        output: Callable[[str], None],
    ) -> Report:
        """The standard report that the source names, or the failure that it stands for."""
        self._ran(request, request.model.source, progress, output)
        return STANDARD[request.model.source]

    def run_fleet(self, request: FleetRequest, watcher: object) -> FleetView:
        """The standard summary."""
        self.asked.append(request)
        return FLEETS["summary"]

    def upgrade(
        self,
        request: ScanRequest,
        progress: Callable[[str], None],
        output: Callable[[str], None],
    ) -> Upgrade:
        """The standard answer that the source names, or the failure that it stands for."""
        self._ran(request, request.model.source, progress, output)
        return UPGRADES[request.model.source]

    def choose(
        self,
        request: ScanRequest,
        progress: Callable[[str], None],
        output: Callable[[str], None],
    ) -> Choosing:
        """The standard answer that the source names, or the failure that it stands for."""
        self._ran(request, request.model.source, progress, output)
        return CHOOSINGS[request.model.source]

    def probe(self, request: ProbeRequest, progress: Callable[[str], None]) -> Probe:
        """The standard answer that the device's type names; of a target, that of ``npu``."""
        self.asked.append(request)
        return PROBES[request.device_type or "npu"]

    def repro(
        self,
        request: ReproRequest,
        progress: Callable[[str], None],
        output: Callable[[str], None],
    ) -> str:
        """A script, or the failure that the source stands for."""
        self._ran(request, request.scan.model.source, progress, output)
        return "import torch\n"

    def plan(
        self,
        request: ScanRequest,
        progress: Callable[[str], None],
        output: Callable[[str], None],
    ) -> Report:
        """The standard plan that the source names, or the failure that it stands for."""
        self._ran(request, request.model.source, progress, output)
        return PLANS[request.model.source]

    def fix(
        self,
        request: FixRequest,
        progress: Callable[[str], None],
        output: Callable[[str], None],
    ) -> Fix:
        """The standard fix that the source names, or the failure that it stands for."""
        source = request.scan.model.source
        self._ran(request, source, progress, output)
        return FIXES[source]

    def gate(
        self,
        request: GateRequest,
        progress: Callable[[str], None],
        output: Callable[[str], None],
    ) -> GateResult:
        """The standard answer that the source names, or the failure that it stands for."""
        source = request.scan.model.source
        self._ran(request, source, progress, output)
        return GATES[source]

    def init_policy(
        self, targets: tuple[TargetSpec, ...], folder: Path, sources: str = "", *, force: bool
    ) -> tuple[Path, str]:
        """The policy to start from, wherever it is to be."""
        self.asked.append(("init", targets))
        assert not force
        return folder / "opcheck.yaml", starting_policy(targets, sources)

    def lint(self, request: LintRequest, progress: Callable[[str], None]) -> Lint:
        """The standard answer that the path names, or the failure that it stands for."""
        self.asked.append(request)
        progress(f"reading {request.path}")
        if request.path in FAILURES:
            raise FAILURES[request.path]
        return LINTS[request.path]

    def doctor(self, request: DoctorRequest, progress: Callable[[str], None]) -> Doctor:
        """The standard answer that the first target names."""
        self.asked.append(request)
        progress("looking at what is installed")
        return DOCTORS[request.targets[0].name]

    def tune(
        self,
        request: ScanRequest,
        product: str,
        progress: Callable[[str], None],
        output: Callable[[str], None],
    ) -> Tuning:
        """The standard answer that the source names, or the failure that it stands for."""
        self._ran(request, request.model.source, progress, output)
        self.asked.append(product)
        return TUNINGS[request.model.source]

    def rules(self, name: str, folders: tuple[str, ...]) -> tuple[RuleInfo, ...]:
        """The standard rules, or the one that is asked for."""
        self.asked.append(("rules", name, folders))
        return tuple(rule for rule in RULES if name in ("", rule.name))

    def check_rules(self, name: str, folders: tuple[str, ...]) -> Checked:
        """The standard trials, or those of the rule that is asked for."""
        self.asked.append(("check rules", name, folders))
        return Checked(tuple(one for one in CHECKS if name in ("", one.rule)))

    def emulate(
        self,
        request: EmulationRequest,
        progress: Callable[[str], None],
        output: Callable[[str], None],
    ) -> Emulation:
        """The standard run that the source names, or the failure that it stands for."""
        self._ran(request, request.model.source, progress, output)
        return EMULATIONS[request.model.source]

    def targets(self, databases: tuple[str, ...]) -> tuple[TargetRow, ...]:
        """The standard rows."""
        self.asked.append(("targets", databases))
        return ROWS

    def models(
        self, name: str, specs: tuple[TargetSpec, ...], databases: tuple[str, ...]
    ) -> ModelsAnswer:
        """The standard rows."""
        self.asked.append(("models", name, specs, databases))
        return MODELS["rows"]

    def explain(
        self, operator: str, specs: tuple[TargetSpec, ...], databases: tuple[str, ...]
    ) -> tuple[Explanation, ...]:
        """The standard explanations."""
        self.asked.append((operator, specs, databases))
        return EXPLAINED

    def database_status(self, databases: tuple[str, ...]) -> DatabaseStatus:
        """The standard status."""
        self.asked.append(("status", databases))
        return STATUS

    def database_show(self, spec: TargetSpec, databases: tuple[str, ...]) -> Contents:
        """The standard contents."""
        self.asked.append(("show", spec, databases))
        return CONTENTS

    def database_diff(
        self, before: TargetSpec, after: TargetSpec | None, databases: tuple[str, ...]
    ) -> MatrixDiffs:
        """The standard changes."""
        self.asked.append(("diff", before, after, databases))
        return DIFFS

    def database_check(self, databases: tuple[str, ...]) -> Audit:
        """A sound database, unless overlays are asked for."""
        self.asked.append(("check", databases))
        return UNSOUND if databases else SOUND

    def database_import(
        self, vendor: str, sources: Path, releases: tuple[str, ...], into: Path | None
    ) -> Imports:
        """The standard import."""
        self.asked.append(("import", vendor, sources, releases, into))
        return IMPORTS

    def database_refresh(self, *asked: object) -> Refreshed:
        """The standard release; the last of what is asked for hears how far it is."""
        self.asked.append(("refresh", *asked[:-1]))
        return REFRESHED


_ANSWERS = {
    "check_rules": "rules", "fuse": "fix", "init_policy": "gate", "pad": "fix",
    "run_fleet": "fleet.run",
    **{
        f"database_{what}": "db"
        for what in ("status", "show", "diff", "check", "import", "refresh")
    },
}  # fmt: skip
"""Function -> the command whose answer it is, where that has another name."""


def _answered_by(rooms: StandIn | None) -> list[str]:
    names = [] if rooms is None else dir(rooms)
    return [name for name in names if not name.startswith("_") and name != "asked"]


def run(arguments: Sequence[str], rooms: StandIn | None = None) -> int:
    """Run one command line, with the stand-in's answers in place of the commands' own."""
    with ExitStack() as stack:
        for name in _answered_by(rooms):
            command = _ANSWERS.get(name, name)
            module = command if "." in command else f"{command}.answer"
            place = f"opcheck.commands.{module}.{name}"
            stack.enter_context(patch(place, getattr(rooms, name)))
        return main.run(arguments)


class Outcome(NamedTuple):
    """What a command line came to."""

    exit_code: int
    stdout: str
    stderr: str


def outcome(arguments: Sequence[str], rooms: StandIn | None = None) -> Outcome:
    """Run one command line, and keep what it writes."""
    out, error = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(error):
        code = run(arguments, rooms)
    return Outcome(code, out.getvalue(), error.getvalue())


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:], StandIn()))
