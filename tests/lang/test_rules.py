"""Every rewrite rule, and every setting and package of a vendor, says in Chinese what it does."""

from pathlib import Path

import pytest
import yaml
from msgspec.structs import replace

from opcheck.commands.rules import answer as rules_answer
from opcheck.commands.rules.views.text import render
from opcheck.lang.sentence import Sentence, from_data
from opcheck.lang.speech import Language, speaking, tell
from opcheck.views.terminal import plan_words
from tests.lang.messages import PACKAGE
from tests.lang.test_mixed import CHINESE, mixed

SUMMARIES = sorted({rule.summary for rule in rules_answer.rules("", ())})
COSTS = sorted({rule.gives_up for rule in rules_answer.rules("", ())} - {""})
REMEDIES = sorted((PACKAGE.parent / "compat_db" / "remedies").glob("*.yaml"))


def test_there_are_rules() -> None:
    assert len(SUMMARIES) > 100


@pytest.mark.parametrize("text", [*SUMMARIES, *COSTS])
def test_a_rule_has_its_chinese(text: str) -> None:
    with speaking(Language.CHINESE):
        assert CHINESE.search(tell(text)), f"zh.po lacks {text!r}"
        assert not mixed(tell(text))


def test_a_description_without_translation_says_that_it_is_in_english() -> None:
    (rule,) = rules_answer.rules("einsum-by-matmul", ())
    head = "以下说明为英文："
    english = render((rule,))
    with speaking(Language.CHINESE):
        chinese = render((rule,))
        without = render((replace(rule, page=""),))
    assert "Operands are multiplied" in english
    assert head not in english and plan_words.IN_ENGLISH not in english
    assert chinese.index(head) < chinese.index("Operands are multiplied")
    assert head not in without


@pytest.mark.parametrize("path", REMEDIES, ids=lambda path: path.stem)
def test_a_remedy_has_its_chinese(path: Path) -> None:
    """What it does, with what to write behind it, and what that costs."""
    told = yaml.safe_load(path.read_text(encoding="utf-8"))
    with speaking(Language.CHINESE):
        summary = " ".join(told["summary"].split())
        does = tell(Sentence(f"{summary}: {{text}}", text=told["write"]))
        assert CHINESE.search(does) and does.endswith(f"：{told['write']}")
        assert CHINESE.search(tell(from_data(" ".join(told["gives_up"].split()))))
