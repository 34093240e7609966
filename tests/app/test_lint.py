"""``opcheck lint`` on the command line, and on real files."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from opcheck.commands.lint import answer as lint_answer
from opcheck.errors import ExitCode, UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.porting import LintRequest, SkippedFile
from opcheck.model.target import TargetSpec
from opcheck.views.formats import Page, command_view
from tests.app.stand_in import StandIn, run
from tests.views.lints import LINTS
from tests.views.test_json import schema

SOURCE = "import torch\n\nx = torch.ones(2).cuda()\n"
FIXED = "import torch\nimport torch_npu\n\nx = torch.ones(2).npu()\n"


def test_lint_asks_for_everything_that_was_said() -> None:
    rooms = StandIn()
    line = "lint src -t ascend-910b -t amd-mi300x --db a --fix --write --format json"
    assert run(line.split(), rooms) == ExitCode.PASS
    specs = (TargetSpec("ascend-910b"), TargetSpec("amd-mi300x"))
    assert rooms.asked == [LintRequest("src", specs, ("a",), fix=True, write=True)]


@pytest.mark.parametrize("name", ["json", "text"])
@pytest.mark.parametrize("sample", LINTS)
def test_stdout_is_the_answer_and_nothing_else(
    name: str, sample: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert run(f"lint {sample} --format {name}".split(), StandIn()) == ExitCode.PASS
    answer = command_view("lint", name).render(LINTS[sample], Page(100))
    assert capsys.readouterr().out == answer


def test_a_diff_stands_alone_on_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lint", "fixed", "-t", "ascend-910b", "--fix"], StandIn()) == ExitCode.PASS
    said = capsys.readouterr()
    assert said.out == LINTS["fixed"].diff
    assert "would change 1 file: src/train.py" in said.err


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("lint", ExitCode.USAGE),
        ("lint missing -t ascend-910b", ExitCode.USAGE),
        ("lint . -t no-such-chip", ExitCode.USAGE),
        ("lint . --fix", ExitCode.USAGE),
        ("lint . --fix -t ascend", ExitCode.USAGE),
        ("lint . --fix -t ascend-910b -t ascend-310p", ExitCode.USAGE),
        ("lint . --write -t ascend-910b", ExitCode.USAGE),
        ("lint . -t ascend-910b", ExitCode.MODEL),
    ],
)
def test_exit_codes(
    line: str, code: ExitCode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(line.split()) == code


def test_findings_leave_the_exit_code_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(SOURCE)
    (tmp_path / "b.py").write_text("def f(:\n")
    line = "lint . -t ascend-910b -t moorethreads -t amd-mi300x --format json"
    assert run(line.split()) == ExitCode.PASS
    found = json.loads(capsys.readouterr().out)
    Draft202012Validator(schema("lint")).validate(found)
    assert [one["file"] for one in found["skipped"]] == ["b.py"]
    ascend, *musa, amd = found["targets"]
    assert [f["replacement"] for f in ascend["findings"]] == [".npu()"]
    assert {f["replacement"] for one in musa for f in one["findings"]} == {".musa()"}
    assert [f["verdict"] for f in amd["findings"]] == ["native"]
    assert ascend["transfers"][0]["write"].endswith("transfer_to_npu")


@pytest.mark.parametrize(
    ("target", "code"), [("ascend-910b", ExitCode.GATE), ("amd-mi300x", ExitCode.PASS)]
)
def test_a_hook_fails_where_there_is_something_to_do(
    target: str, code: ExitCode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text(SOURCE)
    assert run(["lint", "--check", ".", "-t", target]) == code


def test_fix_shows_a_diff_and_writes_when_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "a.py"
    path.write_text(SOURCE)
    assert run(["lint", "a.py", "-t", "ascend-910b", "--fix"]) == ExitCode.PASS
    assert "+x = torch.ones(2).npu()" in capsys.readouterr().out
    assert path.read_text() == SOURCE
    assert run(["lint", "a.py", "-t", "ascend-910b", "--fix", "--write"]) == ExitCode.PASS
    assert path.read_text() == FIXED
    assert "changed 1 file: a.py" in capsys.readouterr().out


def test_files_are_written_all_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good, bad = tmp_path / "a.py", tmp_path / "b.py"
    good.write_text(SOURCE)
    bad.write_text(SOURCE)

    def refuse(files: object) -> None:
        raise UsageError(Sentence("cannot write b.py: permission denied"))

    monkeypatch.setattr("opcheck.commands.lint.answer.require_writable", refuse)
    request = LintRequest(str(tmp_path), (TargetSpec("ascend-910b"),), fix=True, write=True)
    with pytest.raises(UsageError):
        lint_answer.lint(request)
    assert good.read_text() == bad.read_text() == SOURCE


def test_a_file_that_changes_meanwhile_is_left_as_it_became(tmp_path: Path) -> None:
    path, other = tmp_path / "a.py", tmp_path / "b.py"
    path.write_text(SOURCE)
    other.write_text(SOURCE)

    def change(phase: str) -> None:
        if phase.endswith("a.py"):
            path.write_text("x = 1\n")

    request = LintRequest(str(tmp_path), (TargetSpec("ascend-910b"),), fix=True, write=True)
    found = lint_answer.lint(request, change)
    assert found.skipped == (SkippedFile(path.as_posix(), "it changed while it was read"),)
    assert found.changed == (other.as_posix(),)
    assert (path.read_text(), other.read_text()) == ("x = 1\n", FIXED)


def test_a_written_file_keeps_its_encoding_and_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    content = "# coding: latin-1\r\nä = x.cuda()\r\n".encode("latin-1")
    path.write_bytes(content)
    request = LintRequest(str(path), (TargetSpec("cambricon-mlu590"),), fix=True, write=True)
    assert lint_answer.lint(request).changed == (path.as_posix(),)
    assert path.read_bytes() == content.replace(b".cuda()", b".mlu()")


def test_the_sources_are_never_run(tmp_path: Path) -> None:
    path = tmp_path / "setup.py"
    path.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nimport torch\ntorch.cuda.init()\n")
    lint_answer.lint(LintRequest(str(path), (TargetSpec("ascend-910b"),)))
    assert not (tmp_path / "ran").exists()


def test_a_package_does_not_miss_itself(tmp_path: Path) -> None:
    inside = tmp_path / "xformers" / "__init__.py"
    inside.parent.mkdir()
    inside.write_text("from xformers import ops\nimport flash_attn\n")
    found = lint_answer.lint(LintRequest(str(tmp_path), (TargetSpec("ascend-910b"),)))
    assert [one.written for one in found.targets[0].findings] == ["flash_attn"]
