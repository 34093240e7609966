"""The templates for GitLab, Jenkins and pre-commit: what scripts they have really run."""

import re
from pathlib import Path
from typing import Any

import pytest

from opcheck.app.main import run
from opcheck.errors import ExitCode
from opcheck.views.formats import command_formats, report_view
from tests.ci.pipelines import ROOT, Repository, loaded, parsed, program, repository
from tests.commands.gate.made import finding, report

GITLAB = ROOT / "ci/gitlab/opcheck.gitlab-ci.yml"
JENKINS = ROOT / "ci/jenkins/Jenkinsfile"
BAD, WORSE = report(finding()), report(finding(), finding("aten::new"))


@pytest.fixture
def scratch(tmp_path: Path) -> Repository:
    return repository(tmp_path)


def gitlab(scratch: Repository, **variables: str) -> int:
    """The job's script as the runner runs it, in one shell."""
    job = loaded(GITLAB)[".opcheck"]
    script = "\n".join([*job["before_script"], *job["script"]])
    given = {**job["variables"], "OPCHECK_PACKAGE": "", "OPCHECK_SOURCE": "report.json"}
    return scratch.run(script, **given | variables).returncode


def test_a_merge_request_has_its_reports(scratch: Repository) -> None:
    scratch.write("report.json", BAD)
    assert gitlab(scratch, OPCHECK_TARGETS="ascend-910b ascend") == ExitCode.GATE
    artifacts: Any = loaded(GITLAB)[".opcheck"]["artifacts"]
    for path in artifacts["reports"].values():
        assert (scratch.folder / path).is_file()
    (issue,) = parsed(scratch.folder / artifacts["reports"]["codequality"])
    assert issue["severity"] == "critical"


@pytest.mark.slow
def test_a_merge_request_beside_its_base(scratch: Repository) -> None:
    scratch.write("report.json", BAD)
    base = scratch.commit()
    beside = {"OPCHECK_COMPARE": "true", "CI_MERGE_REQUEST_DIFF_BASE_SHA": base}
    assert gitlab(scratch, **beside) == ExitCode.PASS
    scratch.write("report.json", WORSE)
    assert gitlab(scratch, **beside) == ExitCode.GATE
    told = (scratch.folder / "opcheck-report/comment.md").read_text()
    assert "1 new, 0 fixed, 1 unchanged" in told
    assert len(scratch.git("worktree", "list").splitlines()) == 1


def test_jenkins_runs_the_gate(scratch: Repository, tmp_path: Path) -> None:
    """Its virtual environment is a stand-in; what it asks of opcheck is not."""
    scratch.write("report.json", BAD)
    (block,) = re.findall(r"sh '''\n(.*?)'''", JENKINS.read_text(), re.DOTALL)
    programs = scratch.folder / ".venv/bin"
    programs.mkdir(parents=True)
    program(programs / "python", ":")
    program(programs / "opcheck", 'exec opcheck "$@"')
    program(tmp_path / "bin" / "python3", ":")
    done = scratch.run(block, OPCHECK_SOURCE="report.json")
    assert done.returncode == ExitCode.GATE, done.stderr
    for path in re.findall(r"testResults: '(.*?)'", JENKINS.read_text()):
        assert "<failure" in (scratch.folder / path).read_text()


@pytest.mark.parametrize(
    "hook", loaded(ROOT / ".pre-commit-hooks.yaml"), ids=lambda hook: hook["id"]
)
def test_a_hook_s_entry_is_a_command(hook: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    Path("net.py").write_text("import torch\n\nx = torch.ones(2)\n")
    Path("report.json").write_text(report_view("json").render(report()))
    command, *arguments = hook["entry"].split()
    assert command == "opcheck"
    assert hook["pass_filenames"] is False
    assert run([*arguments, *hook.get("args", ["report.json"])]) == ExitCode.PASS


@pytest.mark.slow
def test_the_guide_s_shell_lines_run(scratch: Repository) -> None:
    """The example for any other pipeline, beside a base that is no worse."""
    text = (ROOT / "docs/ci.md").read_text("utf-8")
    (block,) = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    scratch.write("report.json", BAD)
    scratch.commit()
    scratch.git("fetch", "--quiet", "origin")
    done = scratch.run(block.replace("path/to/file.py:build", "report.json"))
    assert done.returncode == ExitCode.PASS, done.stderr
    scratch.write("report.json", WORSE)
    done = scratch.run(block.replace("path/to/file.py:build", "report.json"))
    assert done.returncode == ExitCode.GATE


def test_the_guide_names_every_format_of_the_gate() -> None:
    text = (ROOT / "docs/ci.md").read_text("utf-8")
    assert all(f"`{name}`" in text for name in command_formats("gate"))
