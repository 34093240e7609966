"""How a script's run is written down."""

import json
from html import escape, unescape
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from msgspec.structs import replace
from referencing import Registry, Resource

from opcheck.commands.run import parting_words
from opcheck.lang.speech import Language, speaking, tell
from opcheck.model.comparison import Comparison, Kind, Moment, Parting, Recast, Why
from opcheck.model.emulation import Site
from opcheck.model.report import ModelInfo
from opcheck.model.script import Basis, ChipMemory, Ending, Frame, ScriptRun, ScriptSpec, Write
from opcheck.pipeline.script_report import report_of_script
from opcheck.site import SCHEMAS
from opcheck.views.document.report import report_in
from opcheck.views.formats import PLAIN, Page, command_view
from opcheck.views.order import arranged
from opcheck.views.terminal.findings import ROWS
from tests.lang.test_mixed import CHINESE, mixed
from tests.views.emulations import EMULATIONS
from tests.views.test_json import schema
from tests.views.test_sarif import VALIDATOR

SCRIPT = ScriptSpec("train.py", argv=("--lr", "0.1"))
FLOATS = ("float64", "float32")


def parting(why: Why, moment: Moment, line: int, path: str = "", **given: Any) -> Parting:
    alone = {Why.CPU_ONLY: ("float32", ""), Why.DEVICE_ONLY: ("", "float32")}
    dtypes = given.pop("dtypes", alone.get(why, ("float32", "float32")))
    shapes = given.pop("shapes", ((2, 4), (2, 4)))
    return Parting(why, moment, path, "net.py" * bool(line), line, dtypes, shapes, **given)


OUTPUT = Moment(Kind.OUTPUT, "Net", 2)
PARTS = Comparison(
    compared=12, apart=6, alone=3,
    partings=(
        parting(Why.VALUES, OUTPUT, 7, ".logits", absolute=0.25, relative=0.5,
                allowed=(1e-5, 1.3e-6), dtypes=FLOATS, drawn_apart=True, count=2,
                within=(parting(Why.VALUES, Moment(Kind.WITHIN, "Net.fc", 2), 3, absolute=0.5),)),
        parting(Why.VALUES, Moment(Kind.OUTPUT, "Ids", 1), 8, absolute=3.0),
        parting(Why.VALUES, Moment(Kind.LOSS, "", 1), 9, allowed=(1e-5, 1.3e-6)),
        parting(Why.SHAPE, Moment(Kind.LOSS, "", 2), 9, "[0]", shapes=((), (3,))),
        parting(Why.CPU_ONLY, Moment(Kind.STEP, "AdamW", 1), 10, "Net.fc.weight"),
        parting(Why.DEVICE_ONLY, Moment(Kind.STEP, "SGD", 1), 0),
    ),
    recast=Recast(OUTPUT, "", "net.py", 7, FLOATS, 2),
    left_out=5, seeded=False, cpu_error="ValueError: no\nmore",
)  # fmt: skip
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
    "parts": ScriptRun(SCRIPT, CLEAN, Ending.RETURNED, comparison=PARTS),
    "agrees": ScriptRun(SCRIPT, CLEAN, Ending.RETURNED, comparison=Comparison(12, 0, 0, ())),
    "alone": ScriptRun(
        SCRIPT, CLEAN, Ending.RETURNED,
        comparison=Comparison(0, 0, 2, (), Recast(OUTPUT, "", "", 0, FLOATS, 1)),
    ),
}  # fmt: skip
HEADS = {
    "clean": "✔ runs: train.py --lr 0.1 on an emulated ",
    "refused": "✘ will not run, ",
    "unused": "? never used the device: train.py --lr 0.1 on an emulated ",
    "failed": "? the script failed: train.py --lr 0.1 on an emulated ",
    "not_emulated": "? came to what is not emulated: train.py --lr 0.1 on an emulated ",
    "caught": "✘ will not run, ",
    "exited": "? the script ended with status 7, before it used the device: train.py --lr ",
    "stopped": "✘ stopped at a refusal: train.py --lr 0.1 on an emulated ",
    "cut": "? ended early, before it used the device: train.py --lr 0.1 on an emulated ",
    **dict.fromkeys(("parts", "agrees", "alone"), "✔ runs: train.py --lr 0.1 on an emulated "),
}


def text(sample: str, page: Page = PLAIN) -> str:
    return command_view("run", "text").render(RUNS[sample], page)


REGISTRY: Any = Registry().with_resources(
    (f"{SCHEMAS}opcheck.{name}-1.json", Resource.from_contents(schema(name)))
    for name in ("emulation", "report")
)


@pytest.mark.parametrize("sample", RUNS)
def test_the_document_follows_its_schema(sample: str) -> None:
    document = json.loads(command_view("run", "json").render(RUNS[sample]))
    Draft202012Validator(schema("run"), registry=REGISTRY).validate(document)
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


@pytest.mark.parametrize(
    ("peak", "room", "said"),
    [
        (0, (2**30, 2**31), ""),
        (3 * 2**19, None, "memory peak: 1.5 MiB (tracked tensors)"),
        (2**30, (2**30, 2**30), "memory peak: 1.0 GiB (tracked tensors) of the chip's 1.0 GiB"),
        (3 * 2**29, (2**30, 2**31),
         "memory peak: 1.5 GiB (tracked tensors) of the chip's 1.0 GiB to 2.0 GiB"),
        (2**31 + 1, (2**30, 2**31),
         "memory peak: 2.0 GiB (tracked tensors), more than the chip has: 2.0 GiB"),
    ],
)  # fmt: skip
def test_the_peak_of_memory_is_told_beside_what_the_chip_has(
    peak: int, room: tuple[int, int] | None, said: str
) -> None:
    basis = Basis(memory=None if room is None else ChipMemory(*room))
    run = ScriptRun(SCRIPT, replace(CLEAN, memory_peak=peak), Ending.RETURNED, basis=basis)
    shown = command_view("run", "text").render(run).splitlines()
    assert [line.strip() for line in shown if "memory peak" in line] == [said][: bool(said)]
    page = command_view("run", "html").render(run)
    assert f"<dd>{said}</dd>" in unescape(page) if said else "memory peak" not in page
    document = json.loads(command_view("run", "json").render(run))
    Draft202012Validator(schema("run"), registry=REGISTRY).validate(document)
    assert document["emulation"]["memory_peak"] == peak
    assert document["chip_memory"] == (room and {"least": room[0], "most": room[1]})


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
    assert failed.count("ValueError: no such file") == 1
    assert "Partial: the run ended at " in failed
    cut = command_view("run", "html").render(RUNS["cut"])
    assert ('class="failure">interrupted</pre>' in cut, cut.count("interrupted")) == (True, 1)
    caught = command_view("run", "html").render(RUNS["caught"])
    assert "<dt>net.py:7</dt>" in caught
    assert "1 place, errors of the device that the script went on from" in caught
    assert "<dt>a/model.pt</dt><dd>4.0 KiB</dd>" in caught


def test_it_is_told_in_chinese() -> None:
    with speaking(Language.CHINESE):
        assert "从未使用该设备" in text("unused")
        assert "\n数值从何处开始不同 · 12 个张量，设备上的运行与 CPU 上的运行\n" in text("parts")
        assert "\n    其后      net.py:8 · Ids 第 1 次调用的输出；相差 3\n" in text("parts")
        assert "脚本自身出错" in text("failed")
        assert "1 个优化器步 · 2 次前向调用" in text("clean")
        assert "，每次运行与主机往返搬运 " in text("refused")


TOLD = """
Where the numbers part · 12 tensors, the run on the device and one on the CPU

  net.py:7 · logits of the output of Net, call 2
    apart     off by 0.25, where 1e-05 + 1.3e-06 of the value is allowed; largest relative error 0.5
    dtypes    float64 on the CPU, float32 on the device
    within    net.py:3 · the output of Net.fc, call 2; off by 0.5
    then      net.py:8 · the output of Ids, call 1; off by 3
    then      net.py:9 · what backward is called on, call 1; NaN or infinity on one side alone
    then      net.py:9 · [0] of what backward is called on, call 2; [] on the CPU, [3] on the device
    then      net.py:10 · Net.fc.weight after step 1 of AdamW; the run on the device has no such
              tensor
    then      the model itself · the parameters after step 1 of SGD; the run on the CPU has no such
              tensor

  6 of 12 tensors agree
  by then one run had drawn more random numbers than the other
  of another dtype on the device: 2 tensors, first the output of Net, call 2 at net.py:7 (float64 on
  the CPU, float32 on the device)
  the run on the CPU ended early: ValueError: no
  in one of the runs alone: 3 tensors
  not kept to compare: 5 tensors
  the script sets no seed of torch's: both runs began with the same one

"""


def test_the_page_says_where_the_numbers_part_first_and_then() -> None:
    assert TOLD in text("parts", Page(100))
    heading = "\nWhere the numbers part · 12 tensors, the run on the device and one on the CPU\n"
    assert f"{heading}  ✔ no numbers part, in 12 tensors\n\n" in text("agrees")
    assert (
        "\nWhere the numbers part · the run on the device and one on the CPU\n"
        "  ? nothing to compare: the runs share no output, loss or optimizer step\n"
        "  of another dtype on the device: 1 tensor, first the output of Net, call 2\n"
        "  (float64 on the CPU, float32 on the device)\n"
        "  in one of the runs alone: 2 tensors\n"
    ) in text("alone")


def test_further_places_are_counted_where_there_are_many() -> None:
    others = tuple(parting(Why.CPU_ONLY, replace(OUTPUT, module=f"N{i}"), i) for i in range(1, 40))
    run = replace(RUNS["parts"], comparison=replace(PARTS, partings=others))
    view = command_view("run", "text")
    assert view.render(run, Page(200)).count("    then ") == ROWS
    assert f"              and {38 - ROWS} more places; " in view.render(run, Page(200))
    assert view.render(run, Page(verbose=True)).count("    then ") == 38


def test_partings_stand_at_their_lines() -> None:
    rule = "script/numbers-part"
    assert [one for one in results("parts") if one[0] == rule] == [
        *((rule, "warning", "net.py", line) for line in (7, 8, 9, 9, 10)),
        (rule, "warning", "train.py", 1),
    ]
    log = json.loads(command_view("run", "sarif").render(RUNS["agrees"]))
    told = log["runs"][0]["invocations"][0]["toolConfigurationNotifications"]
    assert "no numbers part, in 12 tensors" in [one["message"]["text"] for one in told]
    commands = command_view("run", "github").render(RUNS["parts"]).splitlines()
    assert commands[1] == (
        "::warning file=net.py,line=7,title=opcheck run%3A Where the numbers part::the numbers "
        "part first here: logits of the output of Net, call 2; off by 0.25, where 1e-05 + 1.3e-06 "
        "of the value is allowed; largest relative error 0.5; float64 on the CPU, float32 on the "
        "device; within it first the output of Net.fc, call 2 at net.py:3"
    )
    agrees = command_view("run", "github").render(RUNS["agrees"]).splitlines()
    assert agrees[1] == (
        "::notice title=opcheck run%3A Where the numbers part::no numbers part, in 12 tensors"
    )


def test_the_web_page_has_every_place_where_the_numbers_part() -> None:
    page = command_view("run", "html").render(RUNS["parts"])
    assert "<dt>net.py:7</dt><dd>logits of the output of Net, call 2; off by 0.25" in page
    assert "in one of the runs alone: 3 tensors" in page
    assert "no numbers part, in 12 tensors" in command_view("run", "html").render(RUNS["agrees"])


def test_the_web_page_says_in_chinese_how_far_a_script_came() -> None:
    with speaking(Language.CHINESE):
        page = unescape(command_view("run", "html").render(RUNS["cut"]))
    assert "运行情况" in page
    assert "运行到哪里，占用多少" in page


@pytest.mark.parametrize("sample", ["parts", "agrees", "alone"])
def test_what_is_said_of_numbers_is_told_in_chinese(sample: str) -> None:
    comparison = RUNS[sample].comparison
    assert comparison is not None
    said = [parting_words.headline(comparison), *parting_words.notes(comparison)]
    said += [
        parting_words.agreeing(comparison),
        *map(parting_words.briefly, comparison.partings),
    ]
    with speaking(Language.CHINESE):
        for sentence in (*said, *map(parting_words.told, comparison.partings)):
            assert CHINESE.search(tell(sentence))
            assert not mixed(tell(sentence)), tell(sentence)
