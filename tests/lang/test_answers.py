"""What every command answers, in Chinese: no sentence of its page stays English."""

import re
from collections.abc import Mapping
from typing import Any

import pytest

from opcheck.commands.probe.views.text import probe_page
from opcheck.lang.speech import Language, speaking
from opcheck.views.formats import Page, command_view
from tests.lang.test_languages import CHARACTER, left_in_english, texts_of
from tests.views.choosings import CHOOSINGS
from tests.views.databases import VIEWS
from tests.views.doctors import DOCTORS
from tests.views.fixes import FIXES
from tests.views.fleets import FLEETS
from tests.views.lints import LINTS
from tests.views.model_lists import MODELS
from tests.views.probes import PROBES
from tests.views.samples import EXPLAINED, ROWS
from tests.views.tunings import TUNINGS
from tests.views.upgrades import UPGRADES

ANSWERS: Mapping[str, Mapping[str, Any]] = {
    "choose": CHOOSINGS,
    "db": VIEWS,
    "doctor": DOCTORS,
    "explain": {"explained": EXPLAINED, "nothing": ()},
    "fix": FIXES,
    "fleet": FLEETS,
    "lint": LINTS,
    "models": MODELS,
    "probe": PROBES,
    "targets": {"rows": ROWS, "none": ()},
    "tune": TUNINGS,
    "upgrade": UPGRADES,
}
"""Command -> its standard answers; those of reports, runs and gates have tests of their own."""


def page_of(command: str, answer: Any, page: Page) -> str:
    """What a command writes for people."""
    if command == "probe":
        return probe_page(answer, page)
    return command_view(command, "text").render(answer, page)


def english(page: str, answer: Any) -> list[str]:
    """Sentences that the page has in English, and that no text of the answer has.

    A text may have places, for names that stand alone elsewhere in the answer.
    """
    texts = texts_of(answer)
    names = {word for text in texts if " " not in text for word in re.findall(r"[A-Za-z]+", text)}
    fixed = [{*re.findall(r"[A-Za-z]+", text), *names} for text in texts if "{" in text]
    return [
        phrase
        for phrase in left_in_english(page, answer)
        if not any(phrase in text for text in texts)
        and not any(words.issuperset(re.findall(r"[A-Za-z]+", phrase)) for words in fixed)
    ]


def test_a_sentence_that_stays_english_is_seen() -> None:
    answer = ("the {name} of the answer is known", "relu")
    page = "the relu of the answer is known\n原因 nobody wrote these words of\n"
    assert english(page, answer) == ["nobody wrote these words of"]


@pytest.mark.parametrize("verbose", [False, True])
@pytest.mark.parametrize(
    ("command", "sample"),
    [(command, sample) for command, answers in ANSWERS.items() for sample in answers],
)
def test_no_sentence_of_an_answer_is_left_in_english(
    command: str, sample: str, verbose: bool
) -> None:
    answer = ANSWERS[command][sample]
    with speaking(Language.CHINESE):
        page = page_of(command, answer, Page(width=10_000, verbose=verbose))
    assert CHARACTER.search(page)
    assert english(page, answer) == []
