"""opcheck gate and opcheck init, as a pipeline runs them."""

import json
import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path

import pytest

from opcheck.commands.gate.values import GateRequest
from opcheck.errors import ExitCode
from opcheck.model.report import Report
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.target import TargetSpec
from opcheck.model.trace import run_ended
from opcheck.views.formats import command_view, report_view
from tests.app.stand_in import StandIn, run
from tests.commands.gate.made import finding, report
from tests.preloaded import python
from tests.views.gates import GATES
from tests.views.samples import STANDARD

ROOT = Path(__file__).parent.parent.parent
TOMORROW = (date.today() + timedelta(1)).isoformat()
YESTERDAY = (date.today() - timedelta(1)).isoformat()
WAIVER = 'waivers: [{{operator: "aten::view_as_*", reason: soon, expires: {0}, module: "{1}"}}]\n'


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of its own, with reports in it."""
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    reports = {
        "good": report(),
        "bad": report(finding()),
        "partial": report(gaps=(run_ended("head", "killed"),)),
        "worse": report(finding(), finding("aten::new")),
        **STANDARD,
    }
    for name, one in reports.items():
        written(name, one)
    return tmp_path


def written(name: str, one: Report) -> None:
    Path(f"{name}.json").write_text(report_view("json").render(one), encoding="utf-8")


def gate(*arguments: str) -> int:
    return run(["gate", *arguments])


def policy(text: str, name: str = "opcheck.yaml") -> None:
    Path(name).write_text(text, encoding="utf-8")


TABLE = {
    "pass": ("", "good.json", ExitCode.PASS),
    "fail": ("", "bad.json", ExitCode.GATE),
    "waived": (WAIVER.format(TOMORROW, "*"), "bad.json", ExitCode.PASS),
    "waived elsewhere": (WAIVER.format(TOMORROW, "head"), "bad.json", ExitCode.GATE),
    "expired": (WAIVER.format(YESTERDAY, "*"), "bad.json", ExitCode.GATE),
    "a limit": ("max-islands: 0\n", "good.json", ExitCode.GATE),
    "allowed": ("fail-on: {verdict: []}\n", "bad.json", ExitCode.PASS),
    "by reason": ("fail-on: {verdict: [], reason: [dtype-*]}\n", "bad.json", ExitCode.GATE),
    "unknown": ("", "unknown.json", ExitCode.GATE),
    "one target": ("", "three-targets.json -t ascend-910b", ExitCode.PASS),
    "the policy's target": ("targets: [ascend-910b]\n", "three-targets.json", ExitCode.PASS),
    "all of a vendor": ("targets: [ascend]\n", "three-targets.json", ExitCode.GATE),
    "another release": ("", "three-targets.json -t ascend-910b@26.0", ExitCode.USAGE),
    "stale": ("max-age: 1\n", "good.json", ExitCode.DATABASE),
    "stale as asked": ("", "good.json --max-age 1", ExitCode.DATABASE),
    "new enough": ("max-age: 36500\n", "good.json", ExitCode.PASS),
    "empty": ("", "empty.json", ExitCode.MODEL),
    "partial": ("allow-unknown: true\n", "partial.json", ExitCode.MODEL),
    "as before": ("", "bad.json --against bad.json", ExitCode.PASS),
    "new since": ("", "worse.json --against bad.json", ExitCode.GATE),
    "nothing to compare": ("", "bad.json --against none.json", ExitCode.USAGE),
    "partial before": ("", "bad.json --against partial.json", ExitCode.MODEL),
    "no such target": ("targets: [nvidia-a100]\n", "good.json", ExitCode.USAGE),
    "no policy": ("", "good.json --policy none.yaml", ExitCode.USAGE),
    "a broken policy": ("max-age: soon\n", "good.json", ExitCode.USAGE),
    "no baseline": ("baseline: none.json\n", "bad.json", ExitCode.USAGE),
    "no report": ("", "none.json", ExitCode.USAGE),
    "another document": ("", "policy.json", ExitCode.USAGE),
    "options of a model": ("", "good.json --train", ExitCode.USAGE),
    "a plan of a report": ("", "good.json --plan", ExitCode.USAGE),
    "no model": ("", "none.py:net", ExitCode.MODEL),
    "no such source": ("", "nothing-at-all", ExitCode.USAGE),
    "no format": ("", "good.json --format xml", ExitCode.USAGE),
}


@pytest.mark.parametrize("case", TABLE)
def test_exit_codes(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    text, line, code = TABLE[case]
    Path("policy.json").write_text('{"schema": "opcheck.lint/1"}')
    if text:
        policy(text)
    assert gate(*line.split()) == code
    out, err = capsys.readouterr()
    answers = code in (ExitCode.PASS, ExitCode.GATE)
    assert bool(out) is (answers or case == "partial")  # which is told as far as it goes
    assert bool(err) is not answers
    assert "Traceback" not in err


def test_what_was_not_seen_to_its_end_does_not_pass(capsys: pytest.CaptureFixture[str]) -> None:
    policy("allow-unknown: true\n")
    assert gate("partial.json", "--format", "json") == ExitCode.MODEL
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert (found["passed"], found["counts"]["fails"]) == (False, 0)
    assert "the run ended here" in err


def test_a_damaged_database_ends_in_its_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    Path("overlay").mkdir()
    Path("overlay/broken.yaml").write_text("schema: opcheck.overlay/1\nvendor: [\n")
    policy("max-age: 36500\n")
    assert gate("good.json", "--db", "overlay") == ExitCode.DATABASE
    assert "broken.yaml" in capsys.readouterr().err


def test_a_cut_report_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    text = Path("bad.json").read_text()
    Path("bad.json").write_text(text[: len(text) // 2])
    assert gate("bad.json") == ExitCode.USAGE
    assert "bad.json is not JSON" in capsys.readouterr().err


def test_a_baseline_from_the_first_day_on(capsys: pytest.CaptureFixture[str]) -> None:
    policy("baseline: accepted.json\n")
    assert gate("bad.json", "--write-baseline", "accepted.json") == ExitCode.PASS
    assert "1 finding accepted as the baseline" in capsys.readouterr().out
    assert gate("bad.json") == ExitCode.PASS
    assert "1 in the baseline" in capsys.readouterr().out
    assert gate("worse.json") == ExitCode.GATE
    out = capsys.readouterr().out
    assert "aten::new" in out
    assert "aten::view_as_complex" not in out
    assert gate("good.json") == ExitCode.PASS
    assert "1 finding of the baseline is no more" in capsys.readouterr().out


def test_a_baseline_is_not_of_what_is_new_alone(capsys: pytest.CaptureFixture[str]) -> None:
    line = "worse.json --against bad.json --write-baseline accepted.json"
    assert gate(*line.split()) == ExitCode.USAGE
    assert "give --write-baseline or --against, not both" in capsys.readouterr().err
    assert not Path("accepted.json").exists()


def test_a_change_is_told_by_what_is_new_and_what_is_fixed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert gate("worse.json", "--against", "bad.json") == ExitCode.GATE
    assert "compared with bad.json: 1 new, 0 fixed, 1 unchanged" in capsys.readouterr().out
    assert gate("good.json", "--against", "worse.json") == ExitCode.PASS
    assert "compared with worse.json: 0 new, 2 fixed, 0 unchanged" in capsys.readouterr().out


def test_a_baseline_lies_beside_its_policy(monkeypatch: pytest.MonkeyPatch) -> None:
    policy("baseline: accepted.json\n")
    assert gate("bad.json", "--write-baseline", "accepted.json") == ExitCode.PASS
    Path("deep").mkdir()
    monkeypatch.chdir("deep")
    assert gate("../bad.json") == ExitCode.PASS


def test_where_a_baseline_cannot_be_written_is_told_before_the_work() -> None:
    rooms = StandIn()
    line = ["gate", "passing", "--write-baseline", "no/such/folder/b.json"]
    assert run(line, rooms) == ExitCode.USAGE
    assert rooms.asked == []


def test_a_baseline_replaces_no_other_file(capsys: pytest.CaptureFixture[str]) -> None:
    before = Path("bad.json").read_text()
    assert gate("bad.json", "--write-baseline", "bad.json") == ExitCode.USAGE
    assert "bad.json is there, and is none" in capsys.readouterr().err
    assert Path("bad.json").read_text() == before
    for _ in range(2):
        assert gate("bad.json", "--write-baseline", "accepted.json") == ExitCode.PASS


def test_what_is_waived_is_listed_when_asked(capsys: pytest.CaptureFixture[str]) -> None:
    policy(WAIVER.format(TOMORROW, "*"))
    gate("bad.json")
    assert "soon" not in capsys.readouterr().out
    gate("bad.json", "--show-waived")
    assert f"aten::view_as_*: soon (until {TOMORROW})" in capsys.readouterr().out


def test_a_project_file_holds_the_policy(capsys: pytest.CaptureFixture[str]) -> None:
    policy("[tool.opcheck]\nfail-on = {verdict = []}\n", "pyproject.toml")
    assert gate("bad.json") == ExitCode.PASS
    assert "policy: pyproject.toml" in capsys.readouterr().out


def test_a_report_of_today_s_database_is_as_old_as_its_vendor_s_data() -> None:
    """An old release does not make it old: so it is in a scan."""
    from opcheck.db.store import Database

    database = Database.open()
    target = next(t for t in database.releases("ascend-910b"))
    matrix = database.matrix(target)
    old = json.loads(Path("good.json").read_text())
    (said,) = old["targets"]
    said["target"], said["sdk"], said["torch"] = str(target), target.sdk, target.torch
    said["database"] = {"digest": matrix.database_digest, "date": "2020-01-01"}
    Path("old.json").write_text(json.dumps(old))
    assert gate("old.json", "--max-age", "2000") == ExitCode.PASS
    said["database"]["digest"] = "of another day"
    Path("old.json").write_text(json.dumps(old))
    assert gate("old.json", "--max-age", "2000") == ExitCode.DATABASE


def test_gate_asks_for_everything_that_was_said() -> None:
    rooms = StandIn()
    line = (
        "gate passing -t ascend-910b --policy p.yaml --baseline b.json --write-baseline c.json "
        "--show-waived --against d.json --input ids=1x128:int64 --max-age 90 --format json "
        "--db a --trust --plan"
    )
    rooms_code = run(line.split(), rooms)
    scan = ScanRequest(
        ModelSpec("passing", ("ids=1x128:int64",), trust=True),
        (TargetSpec("ascend-910b"),),
        databases=("a",),
        max_age=90,
    )
    assert rooms_code == ExitCode.PASS
    assert rooms.asked == [GateRequest(scan, "p.yaml", "b.json", "c.json", "d.json", plan=True)]


@pytest.mark.parametrize("sample", GATES)
def test_the_exit_code_is_that_of_the_answer(
    sample: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    expected = ExitCode.PASS if GATES[sample].passed else ExitCode.GATE
    assert run(["gate", sample], StandIn()) == expected
    assert capsys.readouterr() == (command_view("gate", "text").render(GATES[sample]), "")


def test_init_writes_a_policy_that_gate_reads(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["init", "-t", "ascend-910b"]) == ExitCode.PASS
    assert capsys.readouterr() == ("wrote opcheck.yaml\n", "")
    assert gate("good.json") == ExitCode.PASS
    assert gate("bad.json") == ExitCode.GATE


@pytest.mark.parametrize("name", ["opcheck.yaml", "pyproject.toml"])
def test_init_leaves_a_policy_as_it_is(name: str) -> None:
    policy("[tool.opcheck]\nmax-age = 90\n", name)
    before = Path(name).read_text()
    assert run(["init"]) == ExitCode.USAGE
    assert Path(name).read_text() == before
    assert Path("opcheck.yaml").exists() is (name == "opcheck.yaml")


def test_init_knows_its_targets() -> None:
    assert run(["init", "-t", "ascend-1"]) == ExitCode.USAGE
    assert not Path("opcheck.yaml").exists()


def test_a_report_is_judged_without_torch() -> None:
    code = (
        "import sys; from opcheck.app.main import run;"
        "code = run(['gate', 'bad.json', '--max-age', '36500']);"
        "sys.exit(code if 'torch' not in sys.modules else 'loaded')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=False,
        capture_output=True,
        env={"PYTHONPATH": str(ROOT)},
    )
    assert (done.returncode, done.stderr) == (ExitCode.GATE, b"")


LOADED = ("opcheck.app.main", "tests.preloaded.workers")
NET = "import torch\nnet = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU())\n"


@pytest.mark.slow
def test_the_model_itself_in_a_pipeline() -> None:
    """A process of its own: what it exits with is all that a pipeline sees."""
    Path("net.py").write_text(NET)
    environment = {"PYTHONPATH": str(ROOT)}
    program = python(*LOADED, environment=tuple(environment.items()))
    command = [*program, "-m", "opcheck", "gate", "net.py:net", "--input", "2x3"]

    def code(*more: str) -> int:
        return subprocess.run(
            [*command, *more], check=False, capture_output=True, env=environment
        ).returncode

    policy("targets: [ascend-910b]\n")
    assert code() == ExitCode.PASS
    policy("targets: [ascend-910b]\nfail-on: {reason: ['registered*', decomposes]}\n")
    assert code() == ExitCode.GATE
    assert code("--write-baseline", "accepted.json") == ExitCode.PASS
    assert code("--baseline", "accepted.json") == ExitCode.PASS
    policy("targets: [ascend-910b]\nmax-age: 0\n")
    assert code() == ExitCode.DATABASE


BESSEL = """
import torch

def net():
    class Net(torch.nn.Module):
        def forward(self, x):
            return torch.special.bessel_j0(x)
    return Net()
"""


@pytest.mark.slow
def test_a_plan_names_the_suggestion_where_it_fails() -> None:
    Path("net.py").write_text(BESSEL)
    policy("targets: [ascend-910b]\nfail-on: {verdict: [fallback]}\n")
    line = [
        "gate",
        "net.py:net",
        "--input",
        "2x3",
        "--format",
        "markdown=c.md",
        "--report",
        "r.json",
    ]
    assert run([*line, "--plan"]) == ExitCode.GATE
    assert "tier 1, tolerance · `bessel-by-ratios`: " in Path("c.md").read_text("utf-8")
    planned = Path("c.md").read_text("utf-8").replace("net.py:net", "r.json")
    assert gate("r.json", "--format", "markdown=d.md") == ExitCode.GATE
    assert Path("d.md").read_text("utf-8").replace("net.py:net", "r.json") == planned
    assert run(line) == ExitCode.GATE
    assert "fix" not in Path("c.md").read_text("utf-8")
