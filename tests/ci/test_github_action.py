"""The GitHub action, its steps really run in a scratch repository."""

import re
from datetime import date, timedelta
from pathlib import Path

import pytest

from opcheck.errors import ExitCode
from tests.ci.pipelines import ACTION, Repository, github_step, loaded, parsed, program, repository
from tests.commands.gate.made import finding, report

TOMORROW, YESTERDAY = (date.today() + timedelta(days) for days in (1, -1))
WAIVER = 'waivers: [{{operator: "aten::view_as_*", reason: soon, expires: {0}}}]\n'
BAD = report(finding())

NETS = """
import torch
from torch import nn


def good():
    return nn.Linear(4, 4)


class Turned(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("angles", torch.zeros(8, dtype=torch.float64))

    def forward(self, x):
        return x * torch.polar(torch.ones_like(self.angles), self.angles).real.float()


def old():
    return Turned(), (torch.zeros(2, 8),)
"""
NEW = """

def new():
    return Turned(), (torch.zeros(2, 8),)
"""


@pytest.fixture
def scratch(tmp_path: Path) -> Repository:
    return repository(tmp_path)


def test_every_expression_stands_in_the_environment_alone() -> None:
    """One in a script would be read as part of it, whatever a branch or a path is called."""
    steps = loaded(ACTION)["runs"]["steps"]
    assert all(step["shell"] == "bash" for step in steps)
    assert not [step for step in steps if "${{" in step["run"]]


def test_every_input_is_used_and_every_output_is_set() -> None:
    action, text = loaded(ACTION), ACTION.read_text()
    for name, one in action["inputs"].items():
        assert one["description"]
        assert re.search(rf"inputs\.{name}\b(?!-)", text.partition("runs:")[2]), name
    told = (ACTION.parent / "ci/github/gate.sh").read_text()
    for name, one in action["outputs"].items():
        assert one["value"] == f"${{{{ steps.gate.outputs.{name} }}}}"
        assert f'"{name}=' in told


WALK = {
    "pass": ("", report(), ExitCode.PASS),
    "fail": ("", BAD, ExitCode.GATE),
    "waived": (WAIVER.format(TOMORROW), BAD, ExitCode.PASS),
    "expired": (WAIVER.format(YESTERDAY), BAD, ExitCode.GATE),
    "stale": ("max-age: 1\n", report(), ExitCode.DATABASE),
}


@pytest.mark.parametrize("case", WALK)
def test_the_walk_of_a_pipeline(case: str, scratch: Repository) -> None:
    policy, judged, code = WALK[case]
    scratch.write("report.json", judged)
    if policy:
        scratch.write("opcheck.yaml", policy)
    step = github_step(scratch, "Gate", source="report.json")
    assert step.code == code, step.errors
    assert step.outputs["exit-code"] == str(int(code))
    if code is ExitCode.DATABASE:
        assert "::error title=opcheck gate::" in step.log
        assert "Traceback" not in step.errors
        assert step.summary == ""
        return
    assert step.outputs["passed"] == ("true" if code is ExitCode.PASS else "false")
    assert step.log.startswith("::error" if code else "::notice")
    assert step.summary.startswith("<!-- opcheck gate yolov8n.pt2 -->\n### ")
    assert ("::warning" in step.log) is (case == "expired")
    log = parsed(scratch.folder / step.outputs["sarif"])
    assert len(log["runs"][0]["results"]) == (0 if case == "pass" else 1)


def test_a_damaged_database_is_an_error_with_its_place(scratch: Repository) -> None:
    (scratch.folder / "overlay").mkdir()
    scratch.write("overlay/broken.yaml", "schema: opcheck.overlay/1\nvendor: [\n")
    scratch.write("report.json", report())
    scratch.write("opcheck.yaml", "max-age: 36500\n")
    step = github_step(scratch, "Gate", source="report.json", arguments="--db\noverlay")
    assert step.code == ExitCode.DATABASE
    assert re.search(r"^::error title=opcheck gate::.*broken\.yaml", step.log, re.MULTILINE)


@pytest.mark.slow
def test_a_baseline_from_the_first_day_on(scratch: Repository) -> None:
    scratch.write("report.json", BAD)
    written = scratch.run("opcheck gate report.json --write-baseline accepted.json")
    assert written.returncode == ExitCode.PASS
    assert github_step(scratch, "Gate", source="report.json", baseline="accepted.json").code == 0
    scratch.write("report.json", report(finding(), finding("aten::new")))
    step = github_step(scratch, "Gate", source="report.json", baseline="accepted.json")
    assert step.code == ExitCode.GATE
    assert "aten::new" in step.summary


@pytest.mark.slow
def test_a_pull_request_fails_by_what_is_new_alone(scratch: Repository) -> None:
    """The base's tree is taken from its commit; nothing of it is left behind."""
    scratch.write("report.json", BAD)
    base = scratch.commit()
    step = github_step(scratch, "Gate", base=base, source="report.json", compare="true")
    assert step.code == ExitCode.PASS, step.log + step.errors
    assert "compared with opcheck-report/base.json: 0 new, 0 fixed, 1 unchanged" in step.summary
    assert step.log.startswith("::notice")
    scratch.write("report.json", report(finding(), finding("aten::new")))
    step = github_step(scratch, "Gate", base=base, source="report.json", compare="true")
    assert step.code == ExitCode.GATE
    assert "1 new, 0 fixed, 1 unchanged" in step.summary
    assert github_step(scratch, "Gate", base=base, source="report.json").code == ExitCode.GATE
    assert len(scratch.git("worktree", "list").splitlines()) == 1


@pytest.mark.slow
def test_a_folder_is_one_comment_and_is_compared_with_its_base(scratch: Repository) -> None:
    (scratch.folder / "zoo").mkdir()
    scratch.write("zoo/net.py", NETS)
    base = scratch.commit()
    given = {"source": "zoo", "targets": "ascend-910b", "plan": "false"}
    step = github_step(scratch, "Gate", base=base, compare="true", **given)
    assert step.code == ExitCode.PASS, step.log + step.errors
    assert step.summary.startswith("<!-- opcheck gate zoo -->\n### ✅ `zoo` passes the gate\n")
    scratch.write("zoo/net.py", NETS + NEW)
    step = github_step(scratch, "Gate", base=base, compare="true", **given)
    assert step.code == ExitCode.GATE
    assert "2 pass, 1 fail, 0 cannot be judged" in step.summary
    assert "has no whole answer on net.py:" in step.summary
    scratch.write("zoo/net.py", f"{NETS}\n\ndef lost() -> nn.Module:\n    raise ValueError\n")
    step = github_step(scratch, "Gate", **given)
    assert step.code == ExitCode.GATE  # what is there before fails without a base
    scratch.write(
        "zoo/net.py", f"{NETS.partition('class')[0]}\ndef lost() -> nn.Module:\n    bad\n"
    )
    step = github_step(scratch, "Gate", **given)
    assert (step.code, step.outputs["passed"]) == (ExitCode.MODEL, "false")
    assert "cannot be judged as a whole" in step.summary


def test_a_base_without_the_model_has_nothing_to_compare(scratch: Repository) -> None:
    base = scratch.commit()
    scratch.write("report.json", BAD)
    step = github_step(scratch, "Gate", base=base, source="report.json", compare="true")
    assert step.code == ExitCode.GATE
    assert "The base has no answer to compare with" in step.log


def test_formats_targets_and_arguments(scratch: Repository) -> None:
    scratch.write("report.json", BAD)
    step = github_step(
        scratch, "Gate", source="report.json", targets="ascend-910b ascend", fail="false",
        formats="junit gitlab json csv text", arguments="--show-waived\n\n--max-age\n36500\n",
        output="a folder/of reports",
    )  # fmt: skip
    assert (step.code, step.outputs["passed"], "sarif" in step.outputs) == (0, "false", False)
    names = {path.name for path in (scratch.folder / "a folder/of reports").iterdir()}
    assert names == {
        "opcheck.csv", "opcheck.gate.json", "opcheck.gitlab", "opcheck.md", "opcheck.txt",
        "opcheck.xml", "report.json",
    }  # fmt: skip


ASKED = 'echo "$@" > "$HOME/asked"\nexit 2'


@pytest.mark.parametrize(
    ("source", "plan", "asked"),
    [
        ("net.py:net", "true", True),
        ("net.py:net", "false", False),
        ("report.json", "true", False),
    ],
)
def test_suggestions_are_looked_for_in_a_model(
    source: str, plan: str, asked: bool, scratch: Repository, tmp_path: Path
) -> None:
    program(tmp_path / "bin" / "opcheck", ASKED)
    github_step(scratch, "Gate", source=source, plan=plan)
    line = (tmp_path / "asked").read_text().split()
    assert line[:2] == ["gate", source]
    assert ("--plan" in line) is asked


@pytest.mark.parametrize("text", ["$(touch owned)", "`touch owned`", '"; touch owned; "', "*"])
def test_no_input_is_run(text: str, scratch: Repository) -> None:
    step = github_step(scratch, "Gate", source=text, targets=text, policy=text, arguments=text)
    assert step.code == ExitCode.USAGE
    assert not (scratch.folder / "owned").exists()


GH = """
echo "$@" >> "$HOME/asked"
case "$*" in *--jq*) cat "$HOME/ids" ;; esac
"""


@pytest.mark.parametrize(("ids", "method"), [("", None), ("7\n8\n", "PATCH")])
def test_a_comment_takes_the_place_of_the_one_before(
    ids: str, method: str | None, scratch: Repository, tmp_path: Path
) -> None:
    program(tmp_path / "bin" / "gh", GH)
    (tmp_path / "ids").write_text(ids)
    scratch.write("comment.md", "<!-- opcheck gate net.py:net -->\n### passes\n")
    step = github_step(scratch, "Comment", number="12", body="comment.md", token="secret")
    assert step.code == 0, step.errors
    listed, written = (tmp_path / "asked").read_text().splitlines()
    assert listed.startswith("api --paginate repos/somebody/models/issues/12/comments --jq")
    assert written.endswith("-F body=@comment.md")
    if method:
        assert f"--method {method} repos/somebody/models/issues/comments/7 " in written
    else:
        assert "repos/somebody/models/issues/12/comments " in written


def test_outside_of_a_pull_request_there_is_no_comment(scratch: Repository) -> None:
    scratch.write("comment.md", "<!-- opcheck gate net.py:net -->\n")
    step = github_step(scratch, "Comment", number="", body="comment.md", token="secret")
    assert (step.code, step.errors) == (0, "")
