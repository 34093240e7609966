"""Which language is spoken, and what is the same in all of them."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct
from rich.cells import cell_len

from opcheck.app.language import language_named, language_of_arguments
from opcheck.errors import ExitCode, UsageError
from opcheck.lang.catalogue import read_po
from opcheck.lang.sentence import (
    Sentence,
    chained,
    from_data,
    in_brackets,
    verbatim,
    with_sign,
)
from opcheck.lang.speech import (
    Language,
    language_of,
    speaking,
    spoken,
    tell,
    writable,
)
from opcheck.model.report import Report
from opcheck.views.document.report import from_json
from opcheck.views.formats import Page, command_formats, command_view, report_formats, report_view
from opcheck.views.terminal.notation import plural
from opcheck.views.terminal.wide import columns, pieces, wrapped
from opcheck.views.terminal.words import in_module, more
from tests.app.stand_in import outcome
from tests.views.emulations import EMULATIONS
from tests.views.gates import GATES
from tests.views.plans import PLANS
from tests.views.samples import STANDARD

FOR_PEOPLE = {"text", "markdown", "html"}
SHOWN_TO_PEOPLE = {"github", "gitlab", "junit"}
"""Formats with messages that a page shows, between keys that programs read."""
FOR_PROGRAMS = [name for name in report_formats() if name not in FOR_PEOPLE | SHOWN_TO_PEOPLE]
REPORTS = {**STANDARD, **PLANS}
PROSE = re.compile(r"[A-Za-z][a-z']+(?: [a-z']{2,}){2,}")
"""Three English words in a row: names, dtypes and code are not that."""
SHARED = ("the", "operator", "a", "tensor")
"""What stands for a name in a reason that several operators share."""
CHARACTER = re.compile(r"[\u4e00-\u9fff]")


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({}, "en"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh"}, "zh"),
        ({"LANG": "zh-Hans"}, "zh"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_MESSAGES": "zh_CN.UTF-8"}, "zh"),
        ({"LC_MESSAGES": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LC_ALL": "", "LANG": "zh_CN"}, "zh"),
        ({"OPCHECK_LANG": "en", "LANG": "zh_CN.UTF-8"}, "en"),
        ({"OPCHECK_LANG": "zh", "LC_ALL": "C"}, "zh"),
    ],
)
def test_the_environment_names_a_language(environment: dict[str, str], language: str) -> None:
    assert language_of(environment) == language


@pytest.mark.parametrize("arguments", [["scan", "x", "--lang", "zh"], ["--lang=zh", "targets"]])
def test_the_option_holds_wherever_it_stands(arguments: list[str]) -> None:
    assert language_of_arguments(arguments) is Language.CHINESE
    assert language_of_arguments(["targets"]) is Language.ENGLISH


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(UsageError, match="'fr'") as refused:
        language_named("fr")
    assert refused.value.hint == "known languages: en, zh"


@pytest.mark.parametrize(
    ("encoding", "chinese"),
    [("utf-8", True), ("gbk", True), ("ascii", False), ("latin-1", False), ("nonsense", False)],
)
def test_chinese_is_spoken_where_it_can_be_written(encoding: str, chinese: bool) -> None:
    assert writable(Language.CHINESE, encoding) is chinese
    assert writable(Language.ENGLISH, "utf-8")


def test_english_is_told_as_it_is() -> None:
    assert spoken() is Language.ENGLISH
    assert tell("3 operators") == "3 operators"


@pytest.mark.parametrize(
    ("said", "chinese"),
    [
        (plural(3, "operator"), "3 个算子"),
        (plural(1, "operator"), "1 个算子"),
        (plural(1200, "call"), "1,200 次调用"),
        (more(3, "place"), "另有 3 处；用 --verbose 列出全部"),
        (chained([plural(1, "operator"), "known not to run"], ", "), "1 个算子，已知无法运行"),
        (chained([plural(2, "operator"), "runs as other operators, every one native"], ", "),
         "2 个算子，分解为其他算子运行，且全部原生"),
        (in_brackets(plural(2, "call")), "（2 次调用）"),
        (with_sign(plural(2, "call"), ":"), "2 次调用："),
        (Sentence("it runs as {op}: {said}", op="aten::mm",
                  said="ascend registers no kernel for aten::mm"),
         "它实际执行为 aten::mm：ascend 没有为 aten::mm 注册 kernel"),
        ("forward", "前向"),
        ("a sentence that nobody wrote", "a sentence that nobody wrote"),
        ("", ""),
    ],
)  # fmt: skip
def test_a_sentence_is_told(said: str, chinese: str) -> None:
    with speaking(Language.CHINESE):
        assert tell(said) == chinese
        assert tell(tell(said)) == chinese
    assert spoken() is Language.ENGLISH
    assert tell(said) == said


@pytest.mark.parametrize(
    "finished", ["3 operators", "and 3 more places", "(2 calls)", "runs on 2 of 3 targets"]
)
def test_finished_english_is_never_recognised(finished: str) -> None:
    """Only what is said to be of the database or of a document is, and no message of views."""
    with speaking(Language.CHINESE):
        assert tell(finished) == finished
        assert tell(from_data(finished)) == finished


@pytest.mark.parametrize(
    ("written", "chinese"),
    [
        ("ascend registers no kernel for aten::mm", "ascend 没有为 aten::mm 注册 kernel"),
        ("computed on the host CPU unless XLA_EXPERIMENTAL=nms is set",
         "除非设置 XLA_EXPERIMENTAL=nms，否则在主机 CPU 上计算"),
        ("a sentence that nobody wrote", "a sentence that nobody wrote"),
    ],
)  # fmt: skip
def test_a_text_of_data_is_recognised(written: str, chinese: str) -> None:
    with speaking(Language.CHINESE):
        assert tell(from_data(written)) == chinese
        assert tell(written) == written


def test_names_are_never_told() -> None:
    """An operator, a file or a module may be called as a message is."""
    with speaking(Language.CHINESE):
        assert tell(Sentence("did you mean {text}?", text="model, turn")) == (
            "是否想输入 model, turn？"
        )
        assert tell(in_module("native")) == "，模块 native"
        assert tell(verbatim("native")) == "native"
        no_kernel = from_data("ascend registers no kernel for fallback")
        assert tell(no_kernel) == "ascend 没有为 fallback 注册 kernel"


@pytest.mark.parametrize("sample", REPORTS)
@pytest.mark.parametrize("name", FOR_PROGRAMS)
def test_what_programs_read_is_the_same_in_each(name: str, sample: str) -> None:
    english = report_view(name).render(REPORTS[sample])
    with speaking(Language.CHINESE):
        assert report_view(name).render(REPORTS[sample]) == english


@pytest.mark.parametrize("sample", GATES)
@pytest.mark.parametrize("name", [name for name in FOR_PROGRAMS if name in command_formats("gate")])
def test_what_programs_read_of_a_gate_is_the_same(name: str, sample: str) -> None:
    english = command_view("gate", name).render(GATES[sample])
    with speaking(Language.CHINESE):
        assert command_view("gate", name).render(GATES[sample]) == english


@pytest.mark.parametrize("sample", STANDARD)
def test_a_saved_report_is_read_in_either(sample: str) -> None:
    with speaking(Language.CHINESE):
        saved = report_view("json").render(STANDARD[sample])
        chinese = report_view("text").render(from_json(saved, "report.json"))
        assert chinese == report_view("text").render(STANDARD[sample])
    assert CHARACTER.search(chinese)
    assert report_view("text").render(from_json(saved, "report.json")) == report_view(
        "text"
    ).render(STANDARD[sample])


def texts_of(value: Any) -> list[str]:
    """Every text that a value holds: of a sample, they are not ours to translate."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, Struct):
        return [text for name in value.__struct_fields__ for text in texts_of(getattr(value, name))]
    if isinstance(value, dict):
        return [text for pair in value.items() for text in texts_of(pair)]
    if isinstance(value, list | tuple | frozenset | set):
        return [text for item in value for text in texts_of(item)]
    return []


def left_in_english(page: str, sample: Any) -> list[str]:
    """Sentences that the page has in English, and that the sample does not bring."""
    brought = [{*re.findall(r"[A-Za-z]+", text), *SHARED} for text in texts_of(sample)]
    said = (found.group() for line in page.splitlines() for found in PROSE.finditer(line))
    return [
        phrase
        for phrase in said
        if not any(words.issuperset(re.findall(r"[A-Za-z]+", phrase)) for words in brought)
    ]


@pytest.mark.parametrize("verbose", [False, True])
@pytest.mark.parametrize("sample", REPORTS)
def test_no_sentence_of_a_report_is_left_in_english(sample: str, verbose: bool) -> None:
    page = Page(width=10_000, verbose=verbose, explain=verbose)
    with speaking(Language.CHINESE):
        for told in (
            report_view("text").render(REPORTS[sample], page),
            report_view("text").render(REPORTS[sample], page),
            report_view("markdown").render(REPORTS[sample]),
        ):
            assert left_in_english(told, REPORTS[sample]) == []


@pytest.mark.parametrize("sample", GATES)
def test_no_sentence_of_a_gate_is_left_in_english(sample: str) -> None:
    page = Page(width=10_000, waived=True)
    with speaking(Language.CHINESE):
        for name in command_formats("gate"):
            if name in FOR_PEOPLE | SHOWN_TO_PEOPLE:
                told = without_keys(command_view("gate", name).render(GATES[sample], page))
                assert left_in_english(told, GATES[sample]) == [], name


@pytest.mark.parametrize("sample", REPORTS)
def test_no_message_to_people_is_left_in_english(sample: str) -> None:
    with speaking(Language.CHINESE):
        for name in sorted(SHOWN_TO_PEOPLE):
            told = without_keys(report_view(name).render(REPORTS[sample]))
            assert left_in_english(told, REPORTS[sample]) == [], name


KEYS = (
    r"<!--.*-->", r"<property .*/>", r'(?:name|classname|type|timestamp)="[^"]*"', r"%0A",
    r'"(?:check_name|fingerprint|path)": ".*"',
)  # fmt: skip


def without_keys(page: str) -> str:
    """What is left of a page once everything that programs read is taken out."""
    if page.startswith("["):
        page = json.dumps(json.loads(page), indent=1, ensure_ascii=False)
    return re.sub("|".join(KEYS), " ", page)


@pytest.mark.parametrize("sample", GATES)
def test_keys_of_a_gate_are_the_same(sample: str) -> None:
    def keys(name: str) -> list[str]:
        found = command_view("gate", name).render(GATES[sample], Page(waived=True))
        return re.findall("|".join(KEYS), found.replace("%0A", ""))

    english = {name: keys(name) for name in sorted(SHOWN_TO_PEOPLE)}
    with speaking(Language.CHINESE):
        assert {name: keys(name) for name in english} == english


@pytest.mark.parametrize("sample", EMULATIONS)
def test_no_sentence_of_a_run_is_left_in_english(sample: str) -> None:
    with speaking(Language.CHINESE):
        page = command_view("emulate", "text").render(EMULATIONS[sample], Page(width=10_000))
    assert left_in_english(page, EMULATIONS[sample]) == []


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("sample", REPORTS)
def test_lines_are_as_wide_as_the_terminal(sample: str, width: int) -> None:
    """Chinese characters take two columns; only a name, which is never broken, may run over."""
    with speaking(Language.CHINESE):
        page = report_view("text").render(REPORTS[sample], Page(width=width))
    for line in page.splitlines():
        longest = max((cell_len(word) for word in line.split()), default=0)
        assert cell_len(line) <= width or longest > width - 20


@pytest.mark.parametrize("sample", REPORTS)
def test_no_line_begins_with_a_sign_that_closes(sample: str) -> None:
    with speaking(Language.CHINESE):
        page = report_view("text").render(REPORTS[sample], Page())
    assert not [line for line in page.splitlines() if line.lstrip()[:1] in tuple("，。；：）、")]


def test_a_line_of_chinese_is_broken_between_characters() -> None:
    lines = wrapped("这个算子在主机上运行，可用但慢 aten::nonzero 见 docs/算子清单.md:88。", 12)
    assert [columns(line) <= 12 or "算子清单" in line or "::" in line for line in lines]
    assert "docs/算子清单.md:88。" in lines
    assert pieces("慢，但可用") == ["慢，", "但", "可", "用"]


@pytest.mark.parametrize("text", ['msgid "a', "msgstr", '"lost"', "word"])
def test_a_damaged_catalogue_says_where(text: str) -> None:
    with pytest.raises(ValueError, match=r"x\.po:1: not a line of a PO file"):
        read_po(text, "x.po")


@pytest.mark.parametrize(
    "command", [[], ["scan"], ["gate"], ["doctor"], ["fleet"], ["fleet", "run"], ["db", "import"]]
)
def test_help_is_in_chinese(command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for option in ("--help", "--help-all"):
        code, told, error = outcome(["--lang", "zh", *command, option])
        assert (code, error) == (ExitCode.PASS, "")
        assert "用法：" in told
        assert PROSE.findall(re.sub(r"\bopcheck [a-z ]*", "", told)) == []
        lines = [line for line in told.splitlines() if not line.startswith("  opcheck ")]
        assert all(columns(line) <= 80 for line in lines)


def test_commands_keep_their_names() -> None:
    """One of them is called as a word of the reports is, which has its Chinese."""
    told = run("fleet", "--help", lang="zh")
    assert re.findall(r"^  ([a-z]+) +\S*[\u4e00-\u9fff]", told, re.MULTILINE) == [
        "diff", "export", "missing", "page", "query", "report", "run", "summary",
    ]  # fmt: skip


def test_a_refusal_is_in_chinese() -> None:
    told = run("scan", "--bogus", lang="zh", code=2)
    assert told == "用法：opcheck scan [OPTIONS] {SOURCE}\n用 'opcheck scan -h' 查看帮助。\n\n" + (
        "错误：没有这个选项：--bogus（相近的有：--verbose）\n"
    )


@pytest.mark.parametrize(
    "line",
    [
        "scan",
        "scan net.py -t",
        "scan net.py --quiet=3",
        "scan net.py --jobs 2",
        "scan net.py --timeout soon",
        "scan net.py other.py",
        "scan net.py --format",
        "targets 910b",
        "frobnicate",
    ],
)
def test_what_the_library_of_the_command_line_refuses_is_in_chinese(line: str) -> None:
    *_, said = run(*line.split(), lang="zh", code=2).splitlines()
    assert said.startswith("错误：")
    assert PROSE.findall(said) == []


@pytest.mark.slow
def test_json_of_a_command_is_the_same() -> None:
    assert json.loads(run("targets", "--format", "json", lang="zh")) == json.loads(
        run("targets", "--format", "json", lang="en")
    )


def run(*arguments: str, lang: str, code: int = 0) -> str:
    """What a process of its own prints."""
    done = subprocess.run(
        [sys.executable, "-m", "opcheck", *arguments],
        capture_output=True,
        encoding="utf-8",
        check=False,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "OPCHECK_LANG": lang, "COLUMNS": "80", "PYTHONIOENCODING": "utf-8"},
    )
    assert done.returncode == code, done.stderr
    return done.stdout or done.stderr


def test_there_are_reports() -> None:
    assert all(isinstance(report, Report) for report in REPORTS.values())
    assert len(REPORTS) > 8
