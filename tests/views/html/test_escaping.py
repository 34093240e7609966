"""Nothing of a report is ever more than text on the page."""

import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from opcheck.model.report import Place, Report
from opcheck.model.text import printable
from opcheck.views.formats import report_view
from tests.views.html.parsed import Element, embedded, parsed
from tests.views.samples import STANDARD
from tests.views.strategies import reports

BAIT = (
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "]]></style><img src=x onerror=alert(1)>",
    "\" autofocus onfocus=alert(1) x='",
    "{{ 7 * 7 }}{% raw %}",
    "\x00\x1b[31m\u202e\u2028\u2066\ud800",
    "&lt;b&gt;&amp;",
    "javascript:alert(1)//\\u003c/script>",
)


def baited(bait: str) -> Report:
    """The report in which a bait stands wherever a text can."""
    report = STANDARD["mixed"]
    target = report.targets[0]
    place = Place(bait, bait, 3, (bait,), (bait,), 2)
    findings = tuple(
        replace(f, op=bait, id=bait, reason=replace(f.reason, text=bait), uses=(place,))
        for f in target.findings[:1]
    )
    return replace(
        report,
        opcheck_version=bait,
        torch_version=bait,
        model=replace(report.model, source=bait, kind=bait, digest=bait),
        trace=replace(report.trace, modules_not_called=(bait,), notes=(bait,), device_type=bait),
        targets=(replace(target, target=bait, chip=bait, findings=findings, elsewhere=bait),),
    )


def skeleton(element: Element) -> list[tuple[str, tuple[str, ...]]]:
    """Tags and names of attributes, top down."""
    found = [(element.tag, tuple(element.attributes))]
    for child in element.children:
        if isinstance(child, Element):
            found += skeleton(child)
    return found


@pytest.mark.parametrize("bait", BAIT)
def test_no_text_becomes_an_element(bait: str) -> None:
    page = parsed(report_view("html").render(baited(bait)))
    assert skeleton(page) == skeleton(parsed(report_view("html").render(baited("plain"))))


@pytest.mark.parametrize("bait", BAIT)
def test_texts_stand_as_they_are_but_for_what_cannot_be_seen(bait: str) -> None:
    page = parsed(report_view("html").render(baited(bait)))
    shown = printable(bait)
    (finding,) = embedded(page)["findings"]
    assert (finding["op"], finding["reason"]["text"]) == (shown, shown)
    assert embedded(page)["tables"]["uses"][0]["module"] == shown
    assert page.one("p", class_="source").text == shown


@pytest.mark.slow
@given(reports)
@settings(max_examples=60, deadline=None)
def test_any_report_is_a_page_of_one_shape(report: Report) -> None:
    text = report_view("html").render(report)
    page = parsed(text)
    assert len(page.all("script")) == 2
    assert len(page.all("style")) == 1
    assert len(embedded(page)["findings"]) == sum(len(t.findings) for t in report.targets)
    assert all(character.isprintable() or character in "\n\t" for character in text)


@pytest.mark.slow
@given(reports)
@settings(max_examples=30, deadline=None)
def test_no_encoding_can_spoil_a_page(report: Report) -> None:
    assert report_view("html").render(report).isascii()
