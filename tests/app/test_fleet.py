"""``opcheck fleet summary``, ``missing`` and ``diff`` on the command line."""

import json
from pathlib import Path
from typing import Any

import pytest

from opcheck.app.main import run
from opcheck.errors import ExitCode
from opcheck.model.verdict import Verdict
from tests.commands.fleet.made import filled, kernel, result, scanned, target

A, B = target("ascend-910b@26.1.0+torch2.12"), target("ascend-310p@26.1.0+torch2.12")
ERFCX, SORT = kernel("aten::special_erfcx"), kernel("aten::sort", Verdict.FALLBACK)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Two runs: first a kernel is missing on one target, then newer data has it."""
    path = tmp_path / "fleet.db"
    before = {"erf": scanned(result(A, ERFCX), result(B)), "sort": scanned(result(A, SORT))}
    filled(path, before, [A, B])
    later = [target(one.target, "fedcba0987654321") for one in (A, B)]
    filled(path, {"erf": scanned(*map(result, later))}, later, digest="later")
    return path


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert run(["fleet", *arguments, "--format", "json"]) == ExitCode.PASS
    found = capsys.readouterr()
    assert not found.err
    return json.loads(found.out)


def test_a_summary_is_of_the_run_that_is_named(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [answer(capsys, "summary", str(store), *of)["run"]["id"]
            for of in ([], ["--run", "1"], ["--run", "previous"])]  # fmt: skip
    assert runs == [2, 1, 1]


def test_options_of_a_ranking_reach_it(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = ("missing", str(store), "--run", "1", "-t", "ascend-9*", "--goal", "device",
            "--by", "target", "--cause", "kernel", "--top", "1")  # fmt: skip
    found = answer(capsys, *line)
    assert (found["goal"], found["causes"]) == ("device", ["kernel"])
    (ranking,) = found["rankings"]
    assert ranking["pool"] == A.target
    assert [step["models"] for step in ranking["steps"]] == [["sort"]]
    assert ranking["more"] == 1


def test_a_difference_names_models_on_both_sides(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = answer(capsys, "diff", str(store))
    assert (found["before"]["id"], found["after"]["id"], found["gone"]) == (1, 2, ["sort"])
    assert [one["change"] for one in found["targets"][0]["changes"]] == ["newly-fixed"]
    turned = answer(capsys, "diff", str(store), "--before", "2", "--after", "1", "-t", "*910b*")
    assert [len(one["changes"]) for one in turned["targets"]] == [1]
    found = answer(capsys, "diff", str(store), "--after", "1", "--from", A.target, "--to",
                   "ascend-310p")  # fmt: skip
    assert [one["model"] for one in found["targets"][0]["changes"]] == ["erf", "sort"]


@pytest.mark.parametrize("name", ["summary", "missing", "diff"])
def test_text_goes_to_a_file_as_well(store: Path, tmp_path: Path, name: str) -> None:
    out = tmp_path / "out.txt"
    assert run(["fleet", name, str(store), "-o", str(out)]) == ExitCode.PASS
    assert out.read_text("utf-8").endswith("\n")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("summary none.db", "there is no store none.db"),
        ("summary STORE --run 9", "the store has no run '9'"),
        ("summary STORE --format html", "the format 'html' is for reports"),
        ("missing STORE -t tpu", "run 2 has no target 'tpu'"),
        ("missing STORE --goal fly", "'fly': want runs, device"),
        ("missing STORE --by chip", "'chip': want vendor, target"),
        ("missing STORE --cause luck", "'luck': want kernel, condition, unknown"),
        ("missing STORE --top 0", "not a number of steps: '0'"),
        ("diff STORE --from ascend-910b", "--from and --to belong together"),
        ("diff STORE none.db", "there is no store none.db"),
        ("diff STORE --from ascend --to ascend-310p", "'ascend' is 2 targets of run 2"),
        ("summary", "Missing argument"),
    ],
)
def test_what_cannot_be_answered_is_refused(
    store: Path, capsys: pytest.CaptureFixture[str], line: str, said: str
) -> None:
    arguments = [str(store) if word == "STORE" else word for word in line.split()]
    assert run(["fleet", *arguments]) == ExitCode.USAGE
    found = capsys.readouterr()
    assert not found.out
    assert said in found.err
