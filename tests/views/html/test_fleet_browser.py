"""The page of a fleet in a real browser: filtered, sorted, walked with keys, and large."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from opcheck.commands.fleet.answers.values import FleetPage
from opcheck.commands.fleet.html.page import fleet_page
from tests.views.html.chromium import FOUND, Browser, Pages, content
from tests.views.html.fleet_samples import MODELS, PAGE, baited

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not FOUND, reason="no chromium on this machine"),
]

MANY = 5_000


@pytest.fixture
def page(opened: Browser, tmp_path: Path) -> Iterator["Page"]:
    """Opens pages, and ends well only if the browser had nothing to complain of."""
    with content(opened):
        yield Page(opened, tmp_path)


class Page(Pages):
    def show(self, found: FleetPage = PAGE, fragment: str = "") -> Browser:
        return self.written(fleet_page(found).encode(), fragment)

    def models(self) -> list[str]:
        found = self.browser.value(
            "[...document.querySelectorAll('.models .first')].map(e => e.textContent)"
        )
        return [str(text) for text in found]

    def opened(self) -> str:
        return str(self.browser.value("document.querySelector('dialog[open] .body')?.textContent"))


def test_filters_leave_what_fits(page: Page) -> None:
    shown = page.show()
    assert page.models() == [model.name for model in MODELS]
    shown.click(".chip.v-broken")
    assert page.models() == ["odd"]
    shown.click(".chip.v-broken")
    shown.press("/")
    shown.type("aten::sort")
    assert page.models() == ["slow", "odd"]
    shown.press("Escape")
    shown.click("#targets tr:nth-child(2) button")
    assert shown.value("document.querySelectorAll('.heads .turned').length") == 1
    shown.click("#missing button[data-op='aten::mm']")
    assert page.models() == ["odd"]
    shown.click("#filters > button:last-child")
    assert len(page.models()) == len(MODELS)


def test_columns_sort_the_worst_first(page: Page) -> None:
    shown = page.show()
    shown.click(".heads .turned button")
    assert page.models() == ["late", "odd", "hidden", "slow", "fine"]
    shown.click(".heads .turned button")
    assert page.models() == ["fine", "slow", "hidden", "odd", "late"]
    shown.click(".heads .tail button")
    assert page.models() == ["fine", "slow", "odd", "hidden", "late"]
    shown.click(".heads .first button")
    assert page.models() == sorted(page.models())


def test_keys_walk_the_cells_and_open_one(page: Page) -> None:
    shown = page.show()
    shown.value("document.querySelector('[role=grid]').focus()")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        shown.press(key)
    assert "odd, ascend-310p: will not run" in str(
        shown.value("document.getElementById('reading').textContent")
    )
    shown.press("Enter")
    assert page.opened().index("aten::mm") < page.opened().index("aten::special_erfcx")
    shown.press("ArrowRight")
    assert "hidden" in page.opened()
    shown.click(".bar-top button:last-child")
    shown.until("!document.querySelector('dialog').open")


def test_a_model_leads_to_its_report_or_says_how_to_write_it(page: Page) -> None:
    shown = page.show(fragment="#model=fine")
    assert shown.value("document.querySelector('dialog a').getAttribute('href')") == (
        "reports/fine.html"
    )
    shown = page.show(fragment="#model=odd&standings=broken")
    assert "opcheck fleet report fleet.db odd --run 2 --format html" in page.opened()
    page.show(fragment="#model=late")
    assert "not over after 120 s" in page.opened()


def test_bait_is_text(page: Page) -> None:
    shown = page.show(baited("<img src=x onerror=alert(1)>"))
    shown.click(".models .box")
    assert shown.value("document.querySelectorAll('img').length") == 0


def test_a_large_fleet_has_few_elements(page: Page) -> None:
    many = tuple(replace(MODELS[at % 4], name=f"m{at}") for at in range(MANY))
    shown = page.show(replace(PAGE, models=many))
    assert shown.value("document.querySelectorAll('.box').length") < 300
    shown.value("document.querySelector('[role=grid]').focus()")
    shown.press("End")
    shown.until(f"[...document.querySelectorAll('.first')].at(-1).textContent === 'm{MANY - 1}'")


@pytest.mark.parametrize("width", [360, 1280])
def test_the_page_itself_is_never_wider_than_the_window(page: Page, width: int) -> None:
    page.browser.look(width)
    shown = page.show()
    assert shown.value("document.documentElement.scrollWidth <= innerWidth")
