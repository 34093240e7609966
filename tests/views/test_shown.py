"""Answers as a notebook shows them."""

import html
import re
from html.parser import HTMLParser
from typing import Any

import pytest
from msgspec.structs import replace

from opcheck.model.shown import Shown
from opcheck.views import shown
from opcheck.views.formats import Page, command_view, report_view
from tests.commands.run.test_views import RUNS
from tests.views.emulations import EMULATIONS
from tests.views.gates import GATES
from tests.views.samples import STANDARD

ANSWERS: dict[str, Shown] = {
    **{f"report {name}": report for name, report in STANDARD.items()},
    **{f"gate {name}": found for name, found in GATES.items()},
    **{f"emulation {name}": found for name, found in EMULATIONS.items()},
    **{f"run {name}": found for name, found in RUNS.items()},
}


class Parsed(HTMLParser):
    """The text of a page, and what its elements are."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.text, self.tags, self.attributes = "", set[str](), set[str]()
        self._open: list[str] = []
        self.feed(page)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self._open.append(tag)
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


class Printer:
    """IPython's, as far as it is used."""

    def text(self, text: str) -> None:
        self.said = text


@pytest.mark.parametrize("name", ANSWERS)
def test_a_notebook_shows_the_page_of_the_terminal(name: str) -> None:
    answer = ANSWERS[name]
    view = command_view(answer.command, "text") if answer.command else report_view("text")
    page = Parsed(answer._repr_html_())
    assert page.text == view.render(answer, Page(100)).rstrip("\n")
    assert page.tags <= {"pre", "span"}
    assert page.attributes == {"style"}
    printer = Printer()
    answer._repr_pretty_(printer, False)
    assert printer.said == view.render(answer).rstrip("\n")


def test_what_comes_from_the_user_is_escaped() -> None:
    run = RUNS["failed"]
    error = "ValueError: <script>alert('1')</script>&amp; \x1b[31m"
    found = replace(run, emulation=replace(run.emulation, error=error))._repr_html_()
    assert "<script" not in found
    assert "\x1b" not in found
    assert html.escape("<script>alert('1')</script>&amp;") in found


def test_its_colours_can_be_read_on_white_and_on_black() -> None:
    colours = re.findall("#[0-9a-f]{6}", " ".join(shown._STYLES.values()))
    assert len(colours) == 6
    for colour in colours:
        light = _luminance(colour)
        assert min(1.05 / (light + 0.05), (light + 0.05) / (_luminance("#111111") + 0.05)) > 4


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(weight * p for weight, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
