"""Every error's message and hint is in Chinese."""

import re
from collections.abc import Iterator

import pytest

from opcheck.lang.speech import Language, speaking, tell
from tests.lang.messages import PLACE
from tests.lang.raised import raised, says
from tests.lang.test_catalogue import SHAPES
from tests.lang.test_mixed import CHINESE, QUOTED, mixed

FILLED = ("3", "word", "3, 4", "")
"""What may stand in the places of a message: a count, a name, a list, or nothing at its end."""
ENDS = re.compile(r"[；。]|(?<=[.;]) ")
ALLOWED: frozenset[str] = frozenset()
"""Messages that stay English, and why."""


def in_chinese(text: str) -> bool:
    """Whether a message that is made of ``text`` is told whole, or the catalogue has it so."""
    return text in SHAPES or any(map(_told_whole, _made(text)))


def _made(text: str) -> Iterator[str]:
    for filling in FILLED:
        yield re.sub(r"(?<=\w)\{\}$", "", text).replace(PLACE, filling)


def _told_whole(text: str) -> bool:
    told = tell(text)
    clauses = ENDS.split(QUOTED.sub(" ", told))
    return (
        bool(CHINESE.search(told))
        and not mixed(told)
        and all(CHINESE.search(clause) for clause in clauses if says(clause))
    )


@pytest.mark.slow
def test_every_error_has_its_chinese() -> None:
    messages = raised()
    assert len(messages) > 700
    with speaking(Language.CHINESE):
        english = {
            one.text: f"{one.path}:{one.line}" for one in messages if not in_chinese(one.shape)
        }
    missing = {text: where for text, where in english.items() if text not in ALLOWED}
    assert missing == {}, "zh.po lacks them"
    assert english.keys() >= ALLOWED, "no longer English"


@pytest.mark.slow
def test_a_message_is_seen_wherever_it_comes_from() -> None:
    """A text in the call, one that a name holds, a module's hint, and what a helper is handed."""
    seen = {(one.path.removeprefix("opcheck/"), one.text) for one in raised()}
    assert {
        ("app/output.py", "cannot write {}"),
        ("db/by_hand/chips.py", "correct the file, or restore it from the release"),
        ("source/pt2/file.py", "nested too deeply to be a model"),
        ("db/files/yaml_reader.py", "expected the key '{}' once, found it again"),
        ("model/request.py", "give one of {}"),
    } <= seen


def test_an_error_is_told_whole() -> None:
    with speaking(Language.CHINESE):
        assert tell("--step 'train,cast=int3': cannot cast to 'int3'") == (
            "--step 'train,cast=int3'：无法转换为 'int3'"
        )
        assert tell("hint: give a file or a folder") == "提示：请给出文件或目录"
        assert tell("opcheck: error: build() of net.py raised KeyError: 'x' (at net.py:5)") == (
            "opcheck：错误：net.py 的 build() 抛出 KeyError：'x'（位于 net.py:5）"
        )
        assert tell("a.yaml:12: expected a list, found a mapping (at operators > aten::add)") == (
            "a.yaml:12：应为列表，实为映射（位于 operators > aten::add）"
        )


def test_what_is_half_known_is_not_in_chinese() -> None:
    with speaking(Language.CHINESE):
        assert not in_chinese("cannot write {}; and nobody wrote this")
        assert not in_chinese("nobody wrote {}")
