"""The page in a real browser: clicked, filtered, printed, and 20,000 findings long."""

import base64
import colorsys
import io
import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import cycle, islice
from pathlib import Path

import pytest
from msgspec.structs import replace
from pypdf import PdfReader

import opcheck
from opcheck.model.report import Report, Segment
from opcheck.model.verdict import Verdict
from opcheck.views.formats import report_view
from tests.views.html.chromium import FOUND, Browser, Pages, content
from tests.views.html.test_escaping import BAIT, baited
from tests.views.plans import PLANS
from tests.views.samples import STANDARD

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not FOUND, reason="no chromium on this machine"),
]

MANY = 20_000


@pytest.fixture
def page(opened: Browser, tmp_path: Path) -> Iterator["Page"]:
    """Opens reports, and ends well only if the browser had nothing to complain of."""
    with content(opened):
        yield Page(opened, tmp_path)


class Page(Pages):
    def show(self, report: Report, fragment: str = "") -> Browser:
        return self.written(
            report_view("html").render(report).encode("utf-8", "backslashreplace"), fragment
        )

    def rows(self) -> list[str]:
        found = self.browser.value(
            "[...document.querySelectorAll('.scroller .op')].map(e => e.textContent)"
        )
        return [str(text) for text in found]

    def count(self) -> str:
        return str(self.browser.value("document.getElementById('count').textContent"))


@pytest.mark.parametrize("sample", [*STANDARD, *(f"plan-{name}" for name in PLANS)])
def test_every_report_is_drawn(page: Page, sample: str) -> None:
    report = {**STANDARD, **{f"plan-{name}": plan for name, plan in PLANS.items()}}[sample]
    shown = page.show(report)
    total = sum(len(target.findings) for target in report.targets)
    assert page.count() == f"{total} of {total} findings"
    boxes = shown.value("document.querySelectorAll('#icicle button').length")
    assert (boxes > 1) == bool(total)


@pytest.mark.parametrize("bait", BAIT)
def test_bait_is_text(page: Page, bait: str) -> None:
    shown = page.show(baited(bait))
    shown.click(".scroller .row")
    assert shown.value("document.querySelectorAll('img, iframe, object, svg script').length") == 0
    assert shown.value("document.querySelectorAll('script').length") == 2


def test_filters_search_and_sorting(page: Page) -> None:
    report = STANDARD["mixed"]
    findings = report.targets[0].findings
    shown = page.show(report)
    worst = [f for f in findings if f.verdict == "unsupported"]
    shown.click(".chip.v-unsupported")
    assert page.count() == f"{len(worst)} of {len(findings)} findings"
    shown.click(".chip.v-unsupported")
    shown.press("/")
    shown.type("nms")
    assert page.rows() == ["torchvision::nms"]
    shown.press("Escape")
    assert len(page.rows()) == len(findings)
    shown.click("[role=columnheader]:nth-child(2) button")
    assert page.rows() == sorted(page.rows())
    shown.click("[role=columnheader]:nth-child(2) button")
    assert page.rows() == sorted(page.rows(), reverse=True)


def test_a_finding_opens_with_keys_and_closes(page: Page) -> None:
    shown = page.show(PLANS["swap"])
    shown.value("document.querySelector('[role=grid]').focus()")
    shown.press("ArrowDown")
    shown.press("Enter")
    first = page.rows()[1]
    assert shown.value("document.querySelector('dialog[open] h3').textContent") == first
    shown.press("ArrowLeft")
    assert shown.value("document.querySelector('dialog[open] h3').textContent") == page.rows()[0]
    shown.click(".bar-top button:last-child")
    shown.until("!document.querySelector('dialog').open")


def test_an_address_leads_to_a_finding(page: Page) -> None:
    report = STANDARD["mixed"]
    found = report.targets[0].findings[1]
    shown = page.show(report, f"#finding={report.targets[0].target} {found.id}".replace("+", "%2B"))
    assert shown.value("document.querySelector('dialog[open] h3').textContent") == found.op


def test_the_picture_leads_into_a_module_and_out(page: Page) -> None:
    shown = page.show(STANDARD["mixed"])
    all_rows = len(page.rows())
    shown.click("#icicle button:not(.op):not(:first-child)")
    assert shown.value("document.querySelectorAll('#trail button').length") == 1
    assert 0 < len(page.rows()) < all_rows
    shown.click("#trail button")
    assert len(page.rows()) == all_rows


def test_the_picture_is_walked_with_keys(page: Page) -> None:
    shown = page.show(STANDARD["mixed"])
    shown.value("document.querySelector('#icicle button').focus()")
    shown.press("ArrowDown")
    first = shown.value("document.activeElement.getAttribute('aria-label')")
    shown.press("ArrowRight")
    assert shown.value("document.activeElement.getAttribute('aria-label')") != first
    shown.press("ArrowLeft")
    shown.press("ArrowUp")
    assert shown.value("document.activeElement === document.querySelector('#icicle button')")


def test_a_cell_of_the_heat_map_shows_its_findings(page: Page) -> None:
    shown = page.show(STANDARD["three-targets"])
    before = page.count()
    shown.click(".heat .cell")
    assert page.count() != before
    assert shown.value("document.querySelectorAll('.heat [aria-pressed=true]').length") == 1
    shown.click(".heat [aria-pressed=true]")
    assert page.count() == before


def test_the_theme_follows_the_system_and_the_switch(page: Page) -> None:
    shown = page.show(STANDARD["mixed"])
    paper = "getComputedStyle(document.body).backgroundColor"
    light = shown.value(paper)
    shown.look(1280, dark=True)
    dark = shown.value(paper)
    assert light != dark
    shown.click("#theme")
    assert shown.value(paper) == light
    shown.click("#theme")
    assert shown.value(paper) == dark
    shown.click("#theme")


@pytest.mark.parametrize("width", [360, 768, 1280])
@pytest.mark.parametrize("sample", ["mixed", "three-targets", "alike"])
def test_no_width_needs_scrolling_sideways(page: Page, sample: str, width: int) -> None:
    page.browser.look(width)
    shown = page.show(STANDARD[sample])
    assert shown.value("document.documentElement.scrollWidth") <= width


LETTER, A4 = {"paperWidth": 8.5, "paperHeight": 11}, {"paperWidth": 8.27, "paperHeight": 11.69}


@pytest.mark.parametrize("paper", [LETTER, A4], ids=["letter", "a4"])
@pytest.mark.parametrize(
    ("source", "targets", "plan"),
    [
        ("torchvision:resnet50", ("ascend-910b",), False),
        ("examples/rotary_attention.py:model", ("ascend-910a", "apple-mps", "nvidia-h100"), False),
        ("examples/rotary_attention.py:model", ("ascend-910a",), True),
    ],
    ids=["resnet", "three targets", "plan"],
)
def test_an_ordinary_report_prints_on_two_pages(
    page: Page, source: str, targets: tuple[str, ...], plan: bool, paper: Mapping[str, float]
) -> None:
    shown = page.show(_scanned(source, targets, plan))
    found = shown.call("Page.printToPDF", printBackground=True, **paper)
    pages = PdfReader(io.BytesIO(base64.b64decode(found["data"]))).pages
    text = "\n".join(one.extract_text() for one in pages)
    assert 1 <= len(pages) <= 2
    for part in ("The model", "Findings", "What it rests on", "database"):
        assert part in text


@cache
def _scanned(source: str, targets: tuple[str, ...], plan: bool) -> Report:
    return opcheck.scan(source, targets=targets, plan=plan)


def test_nothing_is_cut_off_on_paper(page: Page) -> None:
    shown = page.show(STANDARD["three-targets"])
    shown.call("Emulation.setEmulatedMedia", media="print")
    shown.call(
        "Emulation.setDeviceMetricsOverride",
        width=720, height=900, deviceScaleFactor=1, mobile=False,
    )  # fmt: skip
    boxes = "[...document.querySelectorAll('#icicle button, .depth, .row')]"
    try:
        assert shown.value("document.documentElement.scrollWidth") <= 720
        assert shown.value(f"Math.max(...{boxes}.map(b => b.getBoundingClientRect().right))") <= 720
    finally:
        shown.call("Emulation.setEmulatedMedia", media="")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_what_breaks_is_red_along_the_run_and_what_falls_back_amber(page: Page, dark: bool) -> None:
    report = STANDARD["mixed"]
    segments = (
        Segment(None, 6, ""),
        Segment(Verdict.UNSUPPORTED, 1, "a"),
        Segment(Verdict.FALLBACK, 2, "b"),
        Segment(Verdict.UNKNOWN, 1, "c"),
    )
    target = replace(report.targets[0], segments=segments)
    shown = page.show(replace(report, targets=(target,)))
    shown.look(1280, dark=dark)
    hues = {
        verdict: _hue(shown.value(f"getComputedStyle(document.querySelector('{place}')).fill"))
        for verdict in ("native", "fallback", "unknown", "unsupported")
        for place in (f".depth rect.f-{verdict}",)
    }
    legend = {
        verdict: _hue(shown.value(f"getComputedStyle(document.querySelector('{place}')).fill"))
        for verdict in hues
        for place in (f".swatch rect.f-{verdict}",)
    }
    assert legend == hues
    assert (hues["unsupported"] + 20) % 360 < 30
    assert 30 < hues["fallback"] < 50
    assert 110 < hues["native"] < 150
    assert 250 < hues["unknown"] < 280


def _hue(colour: str) -> float:
    red, green, blue = (int(part) / 255 for part in re.findall(r"\d+", colour)[:3])
    return 360 * colorsys.rgb_to_hls(red, green, blue)[0]


def test_twenty_thousand_findings_are_few_rows_at_a_time(page: Page) -> None:
    report = STANDARD["mixed"]
    target = report.targets[0]
    findings = tuple(
        replace(
            finding,
            id=f"f{number}",
            op=f"{finding.op}_{number}",
            uses=tuple(
                replace(use, module=f"layers.{number % 97}.block.{number % 7}.{use.module}")
                for use in finding.uses
            ),
        )
        for number, finding in enumerate(islice(cycle(target.findings), MANY))
    )
    shown = page.show(replace(report, targets=(replace(target, findings=findings),)))
    assert page.count() == f"{MANY:,} of {MANY:,} findings"
    assert len(page.rows()) < 60
    assert shown.value("document.querySelectorAll('*').length") < 3_000
    shown.value("document.querySelector('.scroller').scrollTop = 1e9")
    shown.until(f"document.getElementById('row-{MANY - 1}') !== null")
    assert len(page.rows()) < 60
    shown.press("/")
    shown.type(f"_{MANY - 1}")
    assert page.count() == f"1 of {MANY:,} findings"
