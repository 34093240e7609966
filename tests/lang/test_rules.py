"""Every rewrite rule says in Chinese what it does."""

import pytest

from opcheck.commands.rules import answer as rules_answer
from opcheck.lang.speech import Language, catalogue

SUMMARIES = sorted({rule.summary for rule in rules_answer.rules("", ())})


def test_there_are_rules() -> None:
    assert len(SUMMARIES) > 100


@pytest.mark.parametrize("summary", SUMMARIES)
def test_a_rule_has_its_chinese(summary: str) -> None:
    assert catalogue(Language.CHINESE).knows(summary), f"zh.po lacks {summary!r}"
