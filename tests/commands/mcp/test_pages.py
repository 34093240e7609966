"""Long answers in parts."""

import pytest

from opcheck.commands.mcp.pages import Pages
from opcheck.commands.mcp.values import Answer
from opcheck.errors import UsageError

LINES = "".join(f"line {number}\n" for number in range(400))


@pytest.mark.parametrize("text", [LINES, "x" * 2_500, "", "short\n"])
def test_parts_are_the_whole(text: str) -> None:
    pages = Pages(1_000)
    part, note = pages.part(text)
    parts = [part]
    while note is not None:
        assert 0 < len(part) <= 1_000
        part, note = pages.part(text, int(note.arguments["offset"]))
        parts.append(part)
    assert "".join(parts) == text


def test_a_part_ends_with_a_line_and_says_how_to_go_on() -> None:
    part, note = Pages(1_000).part(LINES)
    assert part.endswith("\n")
    assert note == (
        f"Characters 1 to {len(part)} of {len(LINES):,}; the same call with offset={len(part)} "
        "goes on."
    )


def test_an_offset_beyond_the_end_is_an_error() -> None:
    with pytest.raises(UsageError) as caught:
        Pages(1_000).part("short\n", 6)
    assert caught.value.message == "offset 6 is not within the 6 characters of the answer"


def test_the_oldest_answers_are_forgotten() -> None:
    pages = Pages(1_000)
    for number in range(20):
        pages.keep(number, Answer(str(number)))
    assert [pages.kept(number) is None for number in range(20)] == [True] * 4 + [False] * 16
