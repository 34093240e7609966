"""Targets as users type them on the command line, in policies and in the library."""

import json
from pathlib import Path

import pytest

import opcheck
from opcheck.app.main import run
from opcheck.errors import ExitCode, UsageError

NET = """
import torch

class Net(torch.nn.Module):
    def forward(self, x):
        return x.relu()

def inputs():
    return (torch.ones(2, 3),)
"""


def test_what_a_name_was_taken_for_is_told_beside_the_answer(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["explain", "aten::gelu", "-t", "H100", "--format", "json"]) == ExitCode.PASS
    typed = capsys.readouterr()
    assert typed.err == "opcheck: took 'H100' for nvidia-h100\n"
    assert run(["explain", "aten::gelu", "-t", "nvidia-h100", "--format", "json"]) == ExitCode.PASS
    plain = capsys.readouterr()
    assert (plain.out, plain.err) == (typed.out, "")


def test_a_toolkit_is_told_with_other_torch_versions_that_it_goes_with(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["explain", "aten::gelu", "-t", "910b@cann8.3"]) == ExitCode.PASS
    told = capsys.readouterr()
    assert told.err == (
        "opcheck: took '910b@cann8.3' for ascend-910b@7.2.0+torch2.8; "
        "CANN 8.3.RC1 goes with torch 2.7, 2.6, 2.1 too\n"
    )
    assert told.out.startswith("ascend-910b@7.2.0+torch2.8:\n")


def test_it_is_told_in_the_language_of_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--lang", "zh", "explain", "aten::gelu", "-t", "910b@cann8.3"]) == ExitCode.PASS
    assert capsys.readouterr().err == (
        "opcheck: 已将 '910b@cann8.3' 视为 ascend-910b@7.2.0+torch2.8；"
        "CANN 8.3.RC1 也与 torch 2.7, 2.6, 2.1 配套\n"
    )


def test_a_runtimes_name_is_a_question(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "aten::gelu", "-t", "rocm"]) == ExitCode.USAGE
    said = capsys.readouterr().err
    assert said.startswith("opcheck: error: 'rocm' may be amd-mi300x, ")
    assert "name one; where several may be given, -t amd is all" in said


@pytest.mark.slow
def test_policies_and_reports_are_read_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("net.py").write_text(NET)
    Path("opcheck.yaml").write_text("schema: opcheck.policy/1\ntargets: [Ascend910B2]\n")
    arguments = ["gate", "net.py:Net", "--inputs", "net.py:inputs", "--report", "report.json"]
    assert run(arguments) == ExitCode.PASS
    assert "opcheck: took 'Ascend910B2' for ascend-910b\n" in capsys.readouterr().err
    report = json.loads(Path("report.json").read_text())
    assert [target["target"].partition("@")[0] for target in report["targets"]] == ["ascend-910b"]
    assert run(["gate", "report.json"]) == ExitCode.PASS
    assert run(["gate", "report.json", "-t", "h100"]) == ExitCode.USAGE


@pytest.mark.slow
def test_the_library_takes_them_too() -> None:
    import torch

    found = opcheck.scan(torch.nn.ReLU(), torch.ones(2), targets=["910b@cann8.3.RC1", "MI300"])
    assert [target.target.partition("+")[0] for target in found.targets] == [
        "ascend-910b@7.2.0",
        "amd-mi300x@2.15.0",
    ]
    with pytest.raises(UsageError, match="'cuda' may be nvidia-h100, "):
        opcheck.scan(torch.nn.ReLU(), torch.ones(2), targets=["cuda"])
