"""What the vendors' files tell doctor to say is in Chinese."""

import re

import pytest
from msgspec.structs import replace

from opcheck.commands.doctor.installation import (
    Build,
    Distribution,
    Imported,
    Installation,
    Outcome,
)
from opcheck.commands.doctor.packages import parts
from opcheck.lang.sentence import from_data
from opcheck.lang.speech import Language, speaking, tell
from tests.lang.messages import PACKAGE

ENVIRONMENTS = sorted((PACKAGE.parent / "compat_db" / "environment").glob("*.yaml"))
TEXT = re.compile(r'\btext: "([^"]*)"')
"""Steps by hand, and what a variable is for; other texts of these files are nobody's to read."""


def test_every_step_and_setting_has_its_chinese() -> None:
    found = [text for path in ENVIRONMENTS for text in TEXT.findall(path.read_text("utf-8"))]
    assert len(found) > 10
    filled = [from_data(re.sub(r"\{[^{}]*\}", "9.1.0", text)) for text in found]
    with speaking(Language.CHINESE):
        assert [text for text in filled if tell(text) == text] == []


TORCH = Distribution("torch", "2.13.0")
MACHINE = Installation("3.12.1", "Linux", "x86_64", distributions={"torch": TORCH})


@pytest.mark.parametrize(
    ("build", "outcome", "told"),
    [
        (Build("2.13.0+cu130", "cuda", "13.0"), Outcome.FAILED, "面向 CUDA 13.0，导入失败"),
        (Build("2.13.0+cpu", "cpu"), Outcome.LOADED, "面向 CPU，可导入"),
    ],
)
def test_a_part_says_what_it_is_for(build: Build, outcome: Outcome, told: str) -> None:
    here = replace(MACHINE, builds={"torch": build}, imports={"torch": Imported("torch", outcome)})
    (part,) = (part for part in parts(here, {}) if part.name == "torch")
    with speaking(Language.CHINESE):
        assert tell(part.note) == told
