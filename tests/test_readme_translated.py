"""The README in Chinese is kept in step: the same sections, commands, outputs and links."""

import re

from tests.readme import FENCED, README, TRANSLATED

ENGLISH = README.read_text(encoding="utf-8")
CHINESE = TRANSLATED.read_text(encoding="utf-8")
CHARACTER = re.compile(r"[\u4e00-\u9fff]")


def prose(text: str) -> str:
    return FENCED.sub("", text)


def levels(text: str) -> list[str]:
    return re.findall(r"^#+(?= )", prose(text), re.MULTILINE)


def links(text: str) -> list[str]:
    found = re.findall(r"\]\(([^)]*)\)", prose(text))
    return sorted(link for link in found if link not in (README.name, TRANSLATED.name))


def rows(text: str) -> int:
    return len(re.findall(r"^\|", prose(text), re.MULTILINE))


def spans(text: str) -> set[str]:
    """What stands as code inside sentences: commands, options, files."""
    return {" ".join(span.split()) for span in re.findall(r"`([^`]+)`", prose(text))}


def test_every_block_is_the_same() -> None:
    assert FENCED.findall(CHINESE) == FENCED.findall(ENGLISH)


def test_sections_have_the_same_order() -> None:
    assert levels(CHINESE) == levels(ENGLISH)
    assert len(levels(CHINESE)) > 5


def test_tables_links_and_code_are_the_same() -> None:
    assert rows(CHINESE) == rows(ENGLISH)
    assert links(CHINESE) == links(ENGLISH)
    assert spans(CHINESE) == spans(ENGLISH)


def test_every_paragraph_is_in_chinese() -> None:
    """Headings and paragraphs but the name of the program, the licence and links alone."""
    paragraphs = [part.strip() for part in prose(CHINESE).split("\n\n") if part.strip()]
    foreign = [part for part in paragraphs if not CHARACTER.search(part)]
    assert foreign == ["# opcheck", "[Apache-2.0](LICENSE)"]


def test_each_points_to_the_other() -> None:
    assert f"({TRANSLATED.name})" in ENGLISH
    assert f"({README.name})" in CHINESE
