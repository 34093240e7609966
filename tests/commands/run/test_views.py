"""How a script's run is written down."""

import json
from html import escape
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from msgspec.structs import replace
from referencing import Registry, Resource

from opcheck.lang.speech import Language, speaking
from opcheck.model.emulation import Site
from opcheck.model.report import ModelInfo
from opcheck.model.script import Ending, Frame, ScriptRun, ScriptSpec, Write
from opcheck.pipeline.script_report import report_of_script
from opcheck.views.document.report import report_in
from opcheck.views.formats import PLAIN, Page, command_view
from opcheck.views.order import arranged
from tests.views.emulations import EMULATIONS
from tests.views.test_json import schema
from tests.views.test_sarif import VALIDATOR

SCRIPT = ScriptSpec("train.py", argv=("--lr", "0.1"))
MODEL = ModelInfo("train.py", "script", "89abcdef01234567")
CLEAN, MIXED = (replace(EMULATIONS[name], model=MODEL) for name in ("clean", "mixed"))
EMPTY = replace(CLEAN, kernels=(), host_calls=(), cautions=())
RUNS = {
    "clean": ScriptRun(SCRIPT, CLEAN, Ending.RETURNED, steps=1, forwards=2),
    "refused": ScriptRun(SCRIPT, MIXED, Ending.ENOUGH, steps=2, forwards=2),
    "unused": ScriptRun(SCRIPT, EMPTY, Ending.RETURNED),
    "failed": ScriptRun(
        SCRIPT,
        replace(CLEAN, finished=False, error="ValueError: no such file\nnor folder"),
        Ending.FAILED, 1, 0, 1,
        (Frame("train.py", 9, "<module>", "main()"), Frame("train.py", 3, "main", "read()")),
    ),
    "not_emulated": ScriptRun(
        SCRIPT, replace(CLEAN, finished=False, error="EmulationError: sparse"),
        Ending.NOT_EMULATED, 1, 0, 1, (Frame("train.py", 3, "<module>", "x.to_sparse()"),),
    ),
    "caught": ScriptRun(
        SCRIPT, MIXED, Ending.RETURNED, caught=(Site("", "net.py", 7),),
        writes=(Write("a/model.pt", 4096), Write("old.pt", None)),
    ),
    "exited": ScriptRun(SCRIPT, replace(EMPTY, finished=False, error="SystemExit: 7"),
                        Ending.EXITED, 7),
    "stopped": ScriptRun(
        SCRIPT, replace(MIXED, finished=False, error="RuntimeError: no"), Ending.REFUSED, 1, 0, 1,
        (Frame("train.py", 3, "<module>", "model(x)"),),
    ),
    "cut": ScriptRun(SCRIPT, replace(EMPTY, finished=False, error="interrupted"), Ending.CUT),
}  # fmt: skip
HEADS = {
    "clean": "✔ runs: train.py --lr 0.1 on an emulated ",
    "refused": "✘ will not run, ",
    "unused": "? never used the device: train.py --lr 0.1 on an emulated ",
    "failed": "? the script failed: train.py --lr 0.1 on an emulated ",
    "not_emulated": "? came to what is not emulated: train.py --lr 0.1 on an emulated ",
    "caught": "✘ will not run, ",
    "exited": "? the script ended with status 7: train.py --lr 0.1 on an emulated ",
    "stopped": "✘ stopped at a refusal: train.py --lr 0.1 on an emulated ",
    "cut": "? ended early: train.py --lr 0.1 on an emulated ",
}


def text(sample: str, page: Page = PLAIN) -> str:
    return command_view("run", "text").render(RUNS[sample], page)


@pytest.mark.parametrize("sample", RUNS)
def test_the_document_follows_its_schema(sample: str) -> None:
    parts = [f"opcheck.{name}-1.json" for name in ("emulation", "report")]
    named = [(name, Resource.from_contents(schema(name[8:-7]))) for name in parts]
    registry: Any = Registry().with_resources(named)
    document = json.loads(command_view("run", "json").render(RUNS[sample]))
    Draft202012Validator(schema("run"), registry=registry).validate(document)
    assert document["runs"] is RUNS[sample].runs
    assert report_in(json.dumps(document)) == arranged(report_of_script(RUNS[sample]))


@pytest.mark.parametrize("sample", RUNS)
def test_the_first_line_says_what_became_of_the_script(sample: str) -> None:
    assert text(sample, Page(120)).startswith(HEADS[sample])
    assert text(sample, Page(quiet=True)).startswith(HEADS[sample])
    assert text(sample, Page(quiet=True)).count("\n") == 1


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("sample", RUNS)
def test_no_line_is_wider_than_the_page(sample: str, width: int) -> None:
    assert max(map(len, text(sample, Page(width)).splitlines())) <= width
    assert text(sample, Page(width, ascii=True)).isascii()


def test_the_page_names_what_the_headline_rests_on() -> None:
    failed = text("failed", Page(100)).splitlines()
    assert failed[1:5] == [
        '  File "train.py", line 3, in main', "    read()", "  ValueError: no such file",
        "  nor folder",
    ]  # fmt: skip
    assert '  File "train.py", line 9, in <module>' in text("failed", Page(verbose=True))
    caught = text("caught")
    assert "  the script caught what the device raised at net.py:7, and went on\n" in caught
    assert "    a/model.pt 4.0 KiB\n    old.pt taken away\n  --write keeps such files\n" in caught
    assert "2 optimizer steps · 2 forward calls · then ended, as asked" in text("refused")


def results(sample: str) -> list[tuple[str, str, str, int]]:
    """Rule, level, file and line of each result."""
    log = json.loads(command_view("run", "sarif").render(RUNS[sample]))
    VALIDATOR.validate(log)
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    found = []
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        place = result["locations"][0]["physicalLocation"]
        found.append((
            result["ruleId"], result["level"], place["artifactLocation"]["uri"],
            place["region"]["startLine"],
        ))  # fmt: skip
    return found


@pytest.mark.parametrize("sample", RUNS)
def test_a_log_follows_the_schema_of_sarif(sample: str) -> None:
    results(sample)


def test_a_log_has_every_call_that_is_no_good_news_at_the_user_s_line() -> None:
    assert results("failed") == [("script/failed", "error", "train.py", 3)]
    assert results("caught")[0] == ("script/caught", "warning", "net.py", 7)
    assert set(results("caught")[1:]) == set(results("refused"))
    assert {rule for rule, *_ in results("refused")} == {
        "unsupported/dtype-not-supported", "unsupported/fallback-crashes",
        "fallback/host-fallback", "native/float64-becomes-float32",
    }  # fmt: skip
    line = "unsupported/dtype-not-supported", "error", "examples/rope/model.py", 145
    assert line in results("refused")


def test_a_log_has_the_frames_of_the_script_s_own_error_the_innermost_first() -> None:
    log = json.loads(command_view("run", "sarif").render(RUNS["failed"]))
    (stack,) = log["runs"][0]["results"][0]["stacks"]
    names = [frame["location"]["logicalLocations"][0]["name"] for frame in stack["frames"]]
    assert names == ["main", "<module>"]


def test_workflow_commands_stand_at_the_lines_of_the_script() -> None:
    failed = command_view("run", "github").render(RUNS["failed"]).splitlines()
    assert failed[1] == (
        "::error file=train.py,line=3,title=opcheck run%3A the script failed::"
        "ValueError: no such file%0Anor folder"
    )
    assert not any("not seen" in line for line in failed)
    caught = command_view("run", "github").render(RUNS["caught"]).splitlines()
    assert caught[1].startswith("::warning file=net.py,line=7,title=opcheck run::the script caught")
    assert any(line.startswith("::error file=examples/rope/model.py,line=") for line in caught)
    cut = command_view("run", "github").render(RUNS["cut"])
    assert "not seen::train.py: the script was ended: interrupted" in cut
    (gap,) = report_of_script(RUNS["stopped"]).trace.gaps[-1:]
    assert gap.reason == "the script ended with what the device refused: RuntimeError: no"
    (gap,) = report_of_script(RUNS["not_emulated"]).trace.gaps[-1:]
    assert gap.reason == "the script came to what is not emulated: EmulationError: sparse"


def test_a_cell_s_line_is_shown_at_its_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = "a.ipynb#In[3]"
    failed = replace(RUNS["failed"], frames=(Frame(cell, 7, "<module>", "read()"),))
    caught = replace(RUNS["caught"], caught=(Site("", cell, 2),))
    for name, run in (("failed", failed), ("caught", caught)):
        monkeypatch.setitem(RUNS, name, run)
        assert results(name)[0][2:] == ("a.ipynb", 1)
        commands = command_view("run", "github").render(run).splitlines()
        assert " file=a.ipynb,line=1,title=opcheck run" in commands[1]


@pytest.mark.parametrize("sample", RUNS)
def test_the_web_page_begins_with_the_outcome(sample: str) -> None:
    page = command_view("run", "html").render(RUNS[sample])
    head = text(sample, Page(quiet=True)).partition(" ")[2].rstrip()
    assert f"<h1>{escape(head)}</h1>" in page
    assert page.isascii()


def test_the_web_page_has_the_error_what_was_caught_and_what_was_written() -> None:
    failed = command_view("run", "html").render(RUNS["failed"])
    assert (
        'class="failure">File &#34;train.py&#34;, line 9, in &lt;module&gt;\n  main()\n'
        "File &#34;train.py&#34;, line 3, in main\n  read()\nValueError: no such file\nnor folder"
    ) in failed
    caught = command_view("run", "html").render(RUNS["caught"])
    assert "<dt>net.py:7</dt>" in caught
    assert "<dt>a/model.pt</dt><dd>4.0 KiB</dd>" in caught


def test_it_is_told_in_chinese() -> None:
    with speaking(Language.CHINESE):
        assert "从未使用该设备" in text("unused")
        assert "脚本自身出错" in text("failed")
        assert "1 个优化器步 · 2 次前向调用" in text("clean")
