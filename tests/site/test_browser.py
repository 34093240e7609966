"""The site in a real browser: search, filters in the address, languages, schemes, phones."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.site.questions import MOST, QUESTIONS, SHOWN, Question, answered, follow
from tests.views.html.chromium import FOUND, Browser, browser, content

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not FOUND, reason="no chromium on this machine"),
]


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture
def page(opened: Browser) -> Iterator[Browser]:
    with content(opened):
        yield opened


def _rows(page: Browser) -> list[str]:
    found = page.value(
        "[...document.querySelectorAll('.grid tbody tr:not([hidden])')].map(r => r.innerText)"
    )
    return [" ".join(str(text).split()) for text in found]


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda one: one.asked)
def test_questions_are_answered_in_few_clicks(
    page: Browser, site: Path, question: Question
) -> None:
    assert len(question.ways) <= MOST
    assert answered(page, site, question)


def test_an_address_keeps_the_filters(page: Browser, site: Path) -> None:
    page.open(site / "en/operators/aten.gelu.html", "?targets=intel-arc,apple&dtype=float64")
    rows = _rows(page)
    assert [row.split()[0] for row in rows] == ["apple-m1", "intel-arc"]
    assert "unsupported" in rows[1]
    page.value("document.querySelector('#filters').targets.value = 'intel-arc'")
    page.value("document.querySelector('#filters').dispatchEvent(new Event('input'))")
    assert page.value("location.search") == "?dtype=float64&targets=intel-arc"
    assert len(_rows(page)) == 1


def test_the_other_language_is_asked_the_same(page: Browser, site: Path) -> None:
    page.open(site / "en/operators/aten.gelu.html", "?targets=ascend-910b#out")
    link = "document.querySelector('a.language')"
    page.value(f"{link}.addEventListener('click', event => event.preventDefault())")
    page.click("a.language")
    follow(page, f"{link}.href")
    assert page.value("document.documentElement.lang") == "zh"
    assert page.value("location.search + location.hash") == "?targets=ascend-910b#out"
    assert "原生" in str(page.value(SHOWN))


def test_keys_choose_among_what_is_found(page: Browser, site: Path) -> None:
    page.open(site / "zh/index.html")
    page.press("/")
    page.type("nms")
    page.until("document.querySelectorAll('#results a').length > 0")
    first = page.value("document.querySelector('#results [aria-selected=true]').textContent")
    assert first == "torchvision::nms算子"
    page.type(" nvidia-h100")
    page.until("document.querySelector('#results a').textContent.includes('h100')")
    assert "原生" in str(page.value("document.querySelector('#results a').textContent"))
    page.press("Escape")
    assert page.value("document.querySelector('#results').hidden") is True


def test_targets_are_compared_by_release(page: Browser, site: Path) -> None:
    page.open(site / "en/compare.html", "?targets=nvidia-h100,nobody-7,rebellions-atom&alike=1")
    heads = page.value("[...document.querySelectorAll('#table thead a')].map(e => e.textContent)")
    assert heads == ["nvidia-h100", "rebellions-atom"]
    assert "no target nobody-7" in str(page.value("document.querySelector('main output').value"))
    assert any(row.startswith("aten::gelu native fallback") for row in _rows(page))


def test_dark_is_as_the_system_has_it(page: Browser, site: Path) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    page.look(800, dark=True)
    page.open(site / "en/targets/ascend-910b.html")
    dark = page.value(ground)
    page.look(800, dark=False)
    assert page.value(ground) != dark


PAGES = (
    "index", "operators/aten.gelu", "targets/intel-arc", "compare", "advisories/index",
    "models/index", "vendors/nvidia",
)  # fmt: skip


@pytest.mark.parametrize("path", PAGES)
def test_a_phone_does_not_scroll_sideways(page: Browser, site: Path, path: str) -> None:
    page.look(400)
    page.open(site / "zh" / f"{path}.html")
    assert page.value("document.documentElement.scrollWidth") <= 400
