"""How a script's run is written down."""

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from msgspec.structs import replace
from referencing import Registry, Resource

from opcheck.lang.speech import Language, speaking
from opcheck.model.emulation import Site
from opcheck.model.script import Ending, Frame, ScriptRun, ScriptSpec, Write
from opcheck.views.formats import PLAIN, Page, command_view
from tests.views.emulations import EMULATIONS
from tests.views.test_json import schema

SCRIPT = ScriptSpec("train.py", argv=("--lr", "0.1"))
EMPTY = replace(EMULATIONS["clean"], kernels=(), host_calls=(), cautions=())
RUNS = {
    "clean": ScriptRun(SCRIPT, EMULATIONS["clean"], Ending.RETURNED, steps=1, forwards=2),
    "refused": ScriptRun(SCRIPT, EMULATIONS["mixed"], Ending.ENOUGH, steps=2, forwards=2),
    "unused": ScriptRun(SCRIPT, EMPTY, Ending.RETURNED),
    "failed": ScriptRun(
        SCRIPT,
        replace(EMULATIONS["clean"], finished=False, error="ValueError: no such file\nnor folder"),
        Ending.FAILED, 1, 0, 1,
        (Frame("train.py", 9, "<module>", "main()"), Frame("train.py", 3, "main", "read()")),
    ),
    "caught": ScriptRun(
        SCRIPT, EMULATIONS["mixed"], Ending.RETURNED, caught=(Site("", "net.py", 7),),
        writes=(Write("a/model.pt", 4096), Write("old.pt", None)),
    ),
    "exited": ScriptRun(SCRIPT, replace(EMPTY, finished=False, error="SystemExit: 7"),
                        Ending.EXITED, 7),
    "cut": ScriptRun(SCRIPT, replace(EMPTY, finished=False, error="interrupted"), Ending.CUT),
}  # fmt: skip
HEADS = {
    "clean": "✔ runs: train.py --lr 0.1 on an emulated ",
    "refused": "✘ will not run, ",
    "unused": "? never used the device: train.py --lr 0.1 on an emulated ",
    "failed": "? the script failed: train.py --lr 0.1 on an emulated ",
    "caught": "✘ will not run, ",
    "exited": "? the script ended with status 7: train.py --lr 0.1 on an emulated ",
    "cut": "? ended early: train.py --lr 0.1 on an emulated ",
}


def text(sample: str, page: Page = PLAIN) -> str:
    return command_view("run", "text").render(RUNS[sample], page)


@pytest.mark.parametrize("sample", RUNS)
def test_the_document_follows_its_schema(sample: str) -> None:
    emulation = Resource.from_contents(schema("emulation"))
    registry: Any = Registry().with_resource("opcheck.emulation-1.json", emulation)
    document = json.loads(command_view("run", "json").render(RUNS[sample]))
    Draft202012Validator(schema("run"), registry=registry).validate(document)
    assert document["runs"] is RUNS[sample].runs


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


def test_it_is_told_in_chinese() -> None:
    with speaking(Language.CHINESE):
        assert "从未使用该设备" in text("unused")
        assert "脚本自身出错" in text("failed")
        assert "1 个优化器步 · 2 次前向调用" in text("clean")
