"""Pages that a command writes are those that it would write today."""

from tests import rules_document


def test_the_page_of_rules_is_current() -> None:
    written = rules_document.PATH.read_text(encoding="utf-8")
    assert written == rules_document.page(), f"run {rules_document.COMMAND}"
