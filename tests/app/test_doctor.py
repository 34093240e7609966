"""``opcheck doctor`` on the command line."""

import json
import shlex
import stat
import subprocess
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from opcheck.commands.doctor.values import DoctorRequest
from opcheck.errors import ExitCode
from opcheck.model.target import TargetSpec
from opcheck.views.formats import Page, command_view
from tests.app.stand_in import StandIn, run
from tests.views.doctors import DOCTORS
from tests.views.test_json import schema


def test_doctor_asks_for_everything_that_was_said() -> None:
    rooms = StandIn()
    line = (
        "doctor -t mismatch -t ascend-910b@8.x --db a --plan --no-import --timeout 5 "
        "--write Dockerfile --write env.sh --force --format json"
    )
    assert run(line.split(), rooms) == ExitCode.GATE
    specs = (TargetSpec("mismatch"), TargetSpec("ascend-910b", "8.x"))
    assert rooms.asked == [
        DoctorRequest(specs, ("a",), True, False, 5.0, ("Dockerfile", "env.sh"), True)
    ]


@pytest.mark.parametrize("name", ["json", "text"])
@pytest.mark.parametrize("sample", DOCTORS)
def test_stdout_is_the_answer_and_nothing_else(
    name: str, sample: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    code = run(["doctor", "-t", sample, "--format", name], StandIn())
    assert code == (ExitCode.PASS if DOCTORS[sample].passed else ExitCode.GATE)
    answer = command_view("doctor", name).render(DOCTORS[sample], Page(100))
    assert capsys.readouterr().out == answer


@pytest.mark.parametrize(
    "line",
    [
        "doctor -t no-such-chip --plan",
        "doctor -t all --plan",
        "doctor -t ascend-910b@99.x --plan",
        "doctor -t ascend-910b --plan --write setup.cfg",
        "doctor -t ascend-910b --plan --write missing/Dockerfile",
        "doctor --plan",
        "doctor --plan --write Dockerfile",
        "doctor -t ascend-910b -t amd-mi300x --plan --write Dockerfile",
        "doctor -t ascend-910b --plan --write there/Dockerfile",
        "doctor -t Ascend910B! --plan",
    ],
)
def test_what_is_not_understood(
    line: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "Dockerfile").write_text("FROM scratch\n")
    assert run(line.split()) == ExitCode.USAGE
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.strip()
    assert (tmp_path / "there" / "Dockerfile").read_text() == "FROM scratch\n"


def test_a_plan_is_written_where_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    line = (
        "doctor -t ascend-910b@9.1.0+torch2.12 --plan --format json "
        "--write Dockerfile --write requirements.txt --write env.sh"
    )
    assert run(line.split()) == ExitCode.PASS
    found = json.loads(capsys.readouterr().out)
    Draft202012Validator(schema("doctor")).validate(found)
    assert found["written"] == ["Dockerfile", "requirements.txt", "env.sh"]
    assert found["parts"] == []
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(found["written"])
    lines = (tmp_path / "requirements.txt").read_text().splitlines()
    assert [line for line in lines if not line.startswith("#")] == [
        "--extra-index-url https://download.pytorch.org/whl/cpu",
        "torch==2.12.0",
        "torch-npu==2.12.0",
        "torchvision==0.27.0",
    ]
    docker = (tmp_path / "Dockerfile").read_text().splitlines()
    assert "FROM quay.io/ascend/cann:9.1.0-910b-ubuntu22.04-py3.12" in docker
    assert "RUN pip install --no-cache-dir torch-npu==2.12.0" in docker
    (entry,) = (line.removeprefix("ENTRYPOINT ") for line in docker if line.startswith("ENTRY"))
    settings = tmp_path / "set_env.sh"
    settings.write_text("export SET_BY=the-toolkit\n")
    command = json.loads(
        entry.replace("/usr/local/Ascend/ascend-toolkit/set_env.sh", shlex.quote(str(settings)))
    )
    settled = subprocess.run([*command, "printenv", "SET_BY"], capture_output=True, check=True)
    assert settled.stdout == b"the-toolkit\n"
    settings.unlink()
    script = (tmp_path / "env.sh").read_text()
    assert script.endswith("source /usr/local/Ascend/ascend-toolkit/set_env.sh\n")
    assert stat.S_IMODE((tmp_path / "env.sh").stat().st_mode) & 0o600 == 0o600


def test_a_file_is_replaced_only_by_force(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "env.sh").write_text("mine\n")
    line = ["doctor", "-t", "cambricon-mlu370", "--plan", "--write", "env.sh"]
    assert run(line) == ExitCode.USAGE
    assert (tmp_path / "env.sh").read_text() == "mine\n"
    assert run([*line, "--force"]) == ExitCode.PASS
    assert "export NEUWARE_HOME=/usr/local/neuware" in (tmp_path / "env.sh").read_text()
