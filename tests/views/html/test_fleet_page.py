"""The page of a fleet: what it says, what it embeds, and that it asks for nothing elsewhere."""

import base64
import hashlib

import pytest

from opcheck.commands.fleet.answers.values import Standing, Summary
from opcheck.commands.fleet.html.page import fleet_page
from opcheck.lang.speech import Language, speaking
from tests.views.html.fleet_samples import CAUSES, MODELS, PAGE, baited
from tests.views.html.parsed import Element, embedded, parsed
from tests.views.html.test_escaping import BAIT


def words_of(element: Element) -> str:
    return " ".join(element.text.split())


def page_of() -> Element:
    return parsed(fleet_page(PAGE))


def test_the_verdict_comes_first() -> None:
    verdict = page_of().one("section", id="verdict")
    assert words_of(verdict.one("h1")) == "184 of 300 models run on each of 3 targets"
    assert words_of(verdict).startswith("models.yaml")


def test_every_target_has_a_line() -> None:
    assert isinstance(PAGE.summary, Summary)
    rows = page_of().one("section", id="targets").all("tr")[1:]
    told = [[words_of(cell) for cell in row.all("td")[1:]] for row in rows]
    assert told == [
        [f"{sum(list(tally.counts.values())[:2]):,}", *map(str, tally.counts.values()), share]
        for tally, share in zip(PAGE.summary.targets, ("98.7%", "91.2%", "100%"), strict=True)
    ]


def test_steps_name_what_they_need() -> None:
    section = page_of().one("section", id="missing")
    ops = [button.attributes["data-op"] for button in section.all("button")]
    assert ops == [
        need.op for ranking in PAGE.missing[0].rankings for step in ranking.steps
        for need in step.needs
    ]  # fmt: skip
    assert words_of(section).count("these 2 help only together") == 1


def test_every_cell_is_embedded_with_what_is_in_its_way() -> None:
    found = embedded(page_of())
    assert [(one["op"], one["cause"], one["code"]) for one in found["causes"]] == [
        (cause.op, cause.cause, cause.code) for cause in CAUSES
    ]
    standings = [*Standing]
    for model, values in zip(MODELS, found["models"], strict=True):
        assert values[0] == model.name
        assert [standings[int(digit)] for digit in values[9]] == [c.standing for c in model.cells]
        assert [found["sets"][place] for place in values[11]] == [
            list(cell.causes) for cell in model.cells
        ]
        rates = values[10] if len(values[10]) > 1 else values[10] * len(model.cells)
        expected = [-1 if c.support_rate is None else int(c.support_rate * 1000)
                    for c in model.cells]  # fmt: skip
        assert rates == expected
        assert values[12] == model.report


def test_a_browser_may_ask_for_nothing() -> None:
    page = page_of()
    policy = page.one("meta", http_equiv="Content-Security-Policy").attributes["content"]
    script = next(s for s in page.all("script") if "type" not in s.attributes)
    hashes = [
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
        for text in (script.text, page.one("style").text)
    ]
    assert policy.split("; ")[:3] == [
        "default-src 'none'", f"script-src {hashes[0]}", f"style-src {hashes[1]}",
    ]  # fmt: skip


@pytest.mark.parametrize("bait", BAIT)
def test_bait_is_text(bait: str) -> None:
    page = parsed(fleet_page(baited(bait)))
    assert len(page.all("script")) == 2
    assert not page.all("img")
    assert len(embedded(page)["models"]) == len(MODELS)


def test_the_same_fleet_is_the_same_page_in_ascii() -> None:
    text = fleet_page(PAGE)
    assert text == fleet_page(PAGE)
    assert text.isascii()
    assert text.endswith("</html>\n")


def test_the_page_speaks_chinese() -> None:
    with speaking(Language.CHINESE):
        page = parsed(fleet_page(PAGE))
    assert page.one("html").attributes["lang"] == "zh"
    assert [words_of(title) for title in page.all("h2")] == [
        "目标", "补上什么最有用", "模型与目标", "没有答案",
    ]  # fmt: skip
    assert embedded(page)["words"]["names"]["broken"] == "无法运行"
