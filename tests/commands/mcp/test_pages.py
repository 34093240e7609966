"""Long answers in parts, and what is refused before anything runs."""

import anyio
import pytest

from opcheck.commands.mcp.pages import Pages
from opcheck.commands.mcp.values import Answer, ServerSettings
from opcheck.errors import UsageError
from tests.app.stand_in import StandIn, run

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


@pytest.mark.parametrize("number", ["999", "many", "9" * 40])
def test_a_number_of_characters_is_checked(number: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["mcp", "--characters", number], StandIn()) == 2
    assert "not a number from 1,000 on: " in capsys.readouterr().err


def test_a_graph_needs_a_folder() -> None:
    pytest.importorskip("mcp", reason="the extra opcheck[mcp] is not installed")
    from opcheck.commands.mcp.server import Tools

    tools = Tools(ServerSettings())
    found = anyio.run(lambda: tools.fix("model.pt2", "ascend-910b", way="graph"))
    assert found.is_error
    assert [getattr(block, "text", "") for block in found.content] == [
        "a .pt2 file cannot be given as text\n  name a folder to write it to"
    ]


def test_what_the_command_line_said_is_in_every_call() -> None:
    shared = ServerSettings(("a", "b"), trust=True, timeout=5.0, memory=2.0)
    assert shared.common() == ["--db=a", "--db=b"]
    assert shared.of_model() == [
        "--db=a", "--db=b", "--timeout=5.0", "--memory=2.0", "--trust",
    ]  # fmt: skip
    assert ServerSettings().of_model() == []
