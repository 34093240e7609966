"""What help shows is what the program takes and gives."""

import importlib
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from opcheck.app.commands import FOLDER, PURPOSES, names
from opcheck.app.guide import DYNAMIC, EXAMPLES, EXIT_CODES, INPUTS, STEPS
from opcheck.commands.choose.values import Choosing
from opcheck.commands.doctor.values import Doctor, DoctorRequest
from opcheck.commands.fix.fused import Better
from opcheck.commands.fix.padded import Padding
from opcheck.commands.fix.values import Fix, FixRequest
from opcheck.commands.gate.values import GateRequest, GateResult
from opcheck.commands.tune.values import Tuning
from opcheck.commands.upgrade.values import Upgrade
from opcheck.errors import ExitCode
from opcheck.model.dynamic import DynamicInput
from opcheck.model.emulation import Emulation, EmulationRequest
from opcheck.model.porting import Lint, LintRequest
from opcheck.model.report import Report
from opcheck.model.request import ScanRequest, TrainingSpec
from opcheck.model.script import Ending, ScriptRequest, ScriptRun
from opcheck.source.inputs import InputSpec
from opcheck.source.load import select
from opcheck.views.formats import report_view
from tests.app.stand_in import StandIn, outcome, run
from tests.views.betters import BETTERS
from tests.views.choosings import CHOOSINGS
from tests.views.doctors import DOCTORS
from tests.views.emulations import EMULATIONS
from tests.views.fixes import FIXES
from tests.views.gates import GATES
from tests.views.lints import LINTS
from tests.views.paddings import PADDINGS
from tests.views.plans import PLANS
from tests.views.samples import STANDARD
from tests.views.tunings import TUNINGS
from tests.views.upgrades import UPGRADES

README = Path(__file__).parent.parent.parent / "README.md"


class _AnyModel(StandIn):
    def scan(
        self,
        request: ScanRequest,
        progress: Callable[[str], None],
        output: Callable[[str], None],
    ) -> Report:
        self.asked.append(request)
        return STANDARD["empty"]

    def plan(
        self,
        request: ScanRequest,
        progress: Callable[[str], None],
        output: Callable[[str], None],
    ) -> Report:
        self.asked.append(request)
        return PLANS["nothing"]

    def fix(
        self,
        request: FixRequest,
        progress: Callable[[str], None],
        output: Callable[[str], None],
    ) -> Fix:
        self.asked.append(request)
        return FIXES["nothing"]

    def fuse(
        self,
        request: FixRequest,
        progress: Callable[[str], None],
        output: Callable[[str], None],
    ) -> Better:
        self.asked.append(request)
        return BETTERS["nothing"]

    def pad(
        self,
        request: FixRequest,
        progress: Callable[[str], None],
        output: Callable[[str], None],
    ) -> Padding:
        self.asked.append(request)
        return PADDINGS["told"]

    def upgrade(
        self,
        request: ScanRequest,
        progress: Callable[[str], None],
        output: Callable[[str], None],
    ) -> Upgrade:
        self.asked.append(request)
        return UPGRADES["nothing"]

    def choose(
        self,
        request: ScanRequest,
        progress: Callable[[str], None],
        output: Callable[[str], None],
    ) -> Choosing:
        self.asked.append(request)
        return CHOOSINGS["one"]

    def emulate(
        self,
        request: EmulationRequest,
        progress: Callable[[str], None],
        output: Callable[[str], None],
    ) -> Emulation:
        self.asked.append(request)
        return EMULATIONS["clean"]

    def run(
        self,
        request: ScriptRequest,
        progress: Callable[[str], None],
        output: Callable[[str], None],
    ) -> ScriptRun:
        self.asked.append(request)
        return ScriptRun(request.script, EMULATIONS["clean"], Ending.RETURNED)

    def gate(
        self,
        request: GateRequest,
        progress: Callable[[str], None],
        output: Callable[[str], None],
    ) -> GateResult:
        self.asked.append(request)
        return GATES["passing"]

    def tune(
        self,
        request: ScanRequest,
        product: str,
        progress: Callable[[str], None],
        output: Callable[[str], None],
    ) -> Tuning:
        self.asked.append(request)
        return TUNINGS["advised"]

    def doctor(self, request: DoctorRequest, progress: Callable[[str], None]) -> Doctor:
        self.asked.append(request)
        return DOCTORS["planned"]

    def lint(self, request: LintRequest, progress: Callable[[str], None]) -> Lint:
        self.asked.append(request)
        return LINTS["src"]


@pytest.mark.parametrize("line", EXAMPLES)
def test_examples_are_understood(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # some write files
    Path("report.json").write_text(report_view("json").render(STANDARD["mixed"]), "utf-8")
    rooms = _AnyModel()
    program, *arguments = line.split()
    assert (program, run(arguments, rooms)) == ("opcheck", ExitCode.PASS)
    if arguments[0] == "convert":
        assert rooms.asked == []
        return
    (asked,) = rooms.asked
    if isinstance(asked, ScanRequest | EmulationRequest):
        select(asked.model.source)
        assert [str(InputSpec.parse(text)) for text in asked.model.inputs] == list(
            asked.model.inputs
        )


@pytest.mark.parametrize("text", ", ".join(INPUTS).split(", "))
def test_forms_of_input_are_understood(text: str) -> None:
    assert str(InputSpec.parse(text)) == text


@pytest.mark.parametrize("text", DYNAMIC)
def test_forms_of_dynamic_are_understood(text: str) -> None:
    assert str(DynamicInput.parse(text)) == text


@pytest.mark.parametrize("text", STEPS)
def test_forms_of_a_training_step_are_understood(text: str) -> None:
    assert TrainingSpec.parse((text,)) != TrainingSpec()


def test_exit_codes_are_told_as_in_the_readme() -> None:
    rows = re.findall(r"^\| (\d+) \| \w+ \| (.+) \|$", README.read_text("utf-8"), re.MULTILINE)
    assert {ExitCode(int(code)): text for code, text in rows} == EXIT_CODES


@pytest.mark.parametrize(
    ("line", "sections"),
    [
        ("--help", ["Options", *PURPOSES.values(), "Examples"]),
        (
            "--help-all",
            ["Options", *PURPOSES.values(), "Examples", "Exit codes"],
        ),
        ("scan --help", ["Arguments", "Options", "Sources", "Examples"]),
        ("fleet --help", ["Options", "Commands", "Manifests", "Examples"]),
        (
            "scan --help-all",
            [
                *("Arguments", "Options", "Sources", "Inputs", "Dynamic sizes", "Training step"),
                *("Examples", "Exit codes"),
            ],
        ),
        (
            "emulate --help-all",
            [
                *("Arguments", "Options", "Sources", "Inputs", "Training step"),
                *("Examples", "Exit codes"),
            ],
        ),
    ],
)
def test_help_has_its_sections(line: str, sections: list[str]) -> None:
    text = outcome(line.split()).stdout
    assert re.findall(r"^(\w[\w ]*):$", text, re.MULTILINE) == sections


@pytest.mark.parametrize("command", ["scan", "emulate", "explain", "targets"])
def test_help_shows_the_default_of_every_option(command: str) -> None:
    text = outcome([command, "--help-all"]).stdout
    options = text.partition("Options:\n")[2].partition("\n\n")[0]
    each = re.split(r"^  (?=-)", options, flags=re.MULTILINE)[1:]
    undefaulted = [option.split()[0] for option in each if "[default:" not in option]
    assert undefaulted == ["--help-all", "-h,"]


def test_every_command_has_a_purpose_and_its_sentence_fits_a_line() -> None:
    text = outcome(["--help"]).stdout
    assert "..." not in text.partition("\n\n")[2]
    purposes = {importlib.import_module(f"{FOLDER}.{name}").PURPOSE for name in names()}
    assert purposes == set(PURPOSES)


@pytest.mark.parametrize("command", names())
def test_the_short_help_leaves_out_what_the_full_one_has(command: str) -> None:
    short, full = (
        outcome([command, text]).stdout.splitlines() for text in ("--help", "--help-all")
    )
    assert len(short) < min(len(full), 80)
    options = {line.split()[0] for line in short if line.startswith("  -")}
    assert options < {line.split()[0] for line in full if line.startswith("  -")} | {"more"}
