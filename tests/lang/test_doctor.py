"""What the vendors' files tell doctor to say is in Chinese."""

import re

from opcheck.lang.speech import Language, catalogue, speaking, tell
from tests.lang.messages import PACKAGE

ENVIRONMENTS = sorted((PACKAGE.parent / "compat_db" / "environment").glob("*.yaml"))
TEXT = re.compile(r'\btext: "([^"]*)"')
"""Steps by hand, and what a variable is for; other texts of these files are nobody's to read."""


def test_every_step_and_setting_has_its_chinese() -> None:
    found = [text for path in ENVIRONMENTS for text in TEXT.findall(path.read_text("utf-8"))]
    assert len(found) > 10
    chinese = catalogue(Language.CHINESE)
    told = {text: re.sub(r"\{[^{}]*\}", "9.1.0", text) for text in found}
    assert [text for text, filled in told.items() if not chinese.knows(filled)] == []


def test_a_part_says_what_it_is_for() -> None:
    with speaking(Language.CHINESE):
        assert tell("for CUDA 13.0, import failed") == "面向 CUDA 13.0，导入失败"
        assert tell("for CPU, imports") == "面向 CPU，可导入"
        assert tell("it is not set: torch_npu looks for CANN where it says") == (
            "未设置：torch_npu 按它所指的位置查找 CANN"
        )
