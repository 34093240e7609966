"""The page of kernels that are written is what the tables say."""

from tests.custom_kernels_document import COMMAND, PATH, page


def test_the_page_is_what_the_tables_say() -> None:
    assert PATH.read_text(encoding="utf-8") == page(), f"run {COMMAND}"
