"""The comment as Markdown is read, and within what a comment may be."""

import re

import pytest
from hypothesis import given, settings
from markdown_it import MarkdownIt
from markdown_it.token import Token
from msgspec.structs import replace

from opcheck.model.report import Report
from opcheck.model.trace import Gap
from opcheck.model.verdict import Verdict
from opcheck.views.formats import report_view
from opcheck.views.interchange import one_line
from opcheck.views.markdown_text import LIMIT, cell, code, prose, size
from tests.views.hostile import HOSTILE, TEXTS
from tests.views.plans import PLANS
from tests.views.samples import STANDARD, finding, place, report, summary, target
from tests.views.strategies import reports

READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
BLOCK = re.compile(
    r"<!-- opcheck -->|</details>|<details><summary><b>[^<>]*</b>, [^<>]*</summary>", re.ASCII
)
OURS = {"<sub>", "</sub>"}
ACTIVE = {"link_open", "image", "s_open", "em_open", "code_block", "fence", "blockquote_open", "hr"}


def tokens(text: str) -> list[Token]:
    found = READER.parse(text)
    return [*found, *(child for token in found for child in token.children or ())]


def check(report: Report) -> str:
    """Nothing is in the comment but what the format itself puts there."""
    text = report_view("markdown").render(report)
    assert size(text) <= LIMIT
    depth = 0
    for token in tokens(text):
        assert token.type not in ACTIVE, token.content
        if token.type == "html_inline":
            assert token.content in OURS
        elif token.type == "html_block":
            assert BLOCK.fullmatch(token.content.strip()), token.content
            depth += token.content.startswith("<details>") - token.content.startswith("</details>")
            assert depth in (0, 1)
    assert depth == 0
    return text


@pytest.mark.parametrize("report", [*STANDARD.values(), *PLANS.values(), *HOSTILE])
def test_reports_are_shown_and_do_nothing_else(report: Report) -> None:
    check(report)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(reports)
def test_any_report_is_shown_and_does_nothing_else(report: Report) -> None:
    check(report)


@pytest.mark.parametrize("text", [text for text in TEXTS if len(text) < 400])
def test_text_is_read_as_it_was_written(text: str) -> None:
    for markdown in (f"why: {prose(text)}", f"why: {code(text)}"):
        (_, inline, _) = READER.parse(markdown)
        shown = "".join(child.content for child in inline.children or ())
        assert shown.replace("\u200b", "").strip() == f"why: {one_line(text)}".strip()


def test_nobody_is_called_and_nothing_is_linked() -> None:
    text = prose("@everyone #1 GH-1 :cat: www.example.org https://example.org aten::cat: no")
    assert text == (
        "@&#8203;everyone \\#&#8203;1 GH&#8203;-1 :&#8203;cat: www&#8203;.example.org "
        "https:&#8203;//example.org `aten::cat`: no"
    )


def test_a_bar_does_not_end_a_cell() -> None:
    rows = READER.parse(f"| a | b |\n| --- | --- |\n| {cell(code('x|y'))} | z |\n")
    assert [token.content for token in rows if token.type == "inline"] == ["a", "b", "`x|y`", "z"]


def _long(count: int, words: str) -> Report:
    findings = tuple(
        finding(
            f"aten::operator_{i:05}",
            Verdict.UNSUPPORTED if i % 2 else Verdict.FALLBACK,
            f"reason-{i}",
            f"{words} {i}",
            place("net.py", i, f"blocks.{i}"),
        )
        for i in range(count)
    )
    return report(target("910b", findings, summary(findings)))


def test_what_does_not_fit_is_counted() -> None:
    text = check(_long(2_000, "Something is said of this operator, at some length, and more"))
    assert size(text) > LIMIT * 0.9
    shown = text.count("- **`aten::operator_")
    (left,) = re.findall(r"\*\*Not shown here[^\n]*", text)
    counts = [int(number.replace(",", "")) for number in re.findall(r"([\d,]+) operators? ", left)]
    assert shown + sum(counts) == 2_000
    assert "1,000 operators under “Fallback”" in left


def test_each_finding_keeps_its_own_suggestion() -> None:
    ways = PLANS["swap"].targets[0].findings
    (way, *_) = next(f.suggestions for f in ways if f.suggestions)
    alike = [
        replace(
            finding(op, Verdict.UNSUPPORTED, "no-kernel", f"There is no {op}."),
            suggestions=(replace(way, summary=f"Write something else than {op}"),),
        )
        for op in ("aten::one", "aten::two")
    ]
    text = check(report(target("910b", tuple(alike))))
    assert "Write something else than `aten::one`" in text
    assert "Write something else than `aten::two`" in text


def test_long_texts_and_lists_do_not_push_findings_out() -> None:
    gaps = tuple(Gap(f"module.{i}", "x" * 5_000) for i in range(2_000))
    one = STANDARD["mixed"].targets[0]
    targets = tuple(
        replace(one, target=f"{i}" + "y" * 3_000, elsewhere=f"which something {i} runs")
        for i in range(300)
    )
    text = check(report(*targets, gaps=gaps, source="z" * 100_000))
    assert "aten::view_as_complex" in text
    assert re.search(r"and 1,\d\d\d more gaps", text)
    assert re.search(r"and 2\d\d more targets", text)
