"""Errors and hints of whole rooms are in Chinese."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from opcheck.lang.languages import Language
from opcheck.lang.speech import speaking, tell
from tests.lang.messages import PACKAGE, Message, is_prose, literals
from tests.lang.test_catalogue import SHAPES

TOLD = (
    "cli/commands",
    "cli/completion/install.py",
    "isolate/probe_journal.py",
    "isolate/probing.py",
    "lint",
    "model/calls.py",
    "model/training.py",
    "pipeline/fixing",
    "pipeline/folders.py",
    "pipeline/gated.py",
    "pipeline/doctored.py",
    "pipeline/probed.py",
    "pipeline/probed_target.py",
    "pipeline/writing.py",
    "repro",
    "settings/reading.py",
    "trace/device.py",
    "trace/step.py",
    "trace/size_inputs.py",
    "trace/wrapping.py",
    "worker/changed.py",
    "worker/probing.py",
)
"""Where every error's message and hint must have its Chinese."""
ERRORS = ("UsageError", "SourceError", "TraceError", "DatabaseError", "EmulationError")


def raised(path: Path) -> Iterator[Message]:
    """The texts that the errors of a module are made with."""
    spans = [
        (node.lineno, node.end_lineno or node.lineno)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ERRORS
    ]
    for message in literals(path):
        if any(first <= message.line <= last for first, last in spans) and is_prose(message.text):
            yield message


def _messages() -> list[Message]:
    paths = [PACKAGE / name for name in TOLD]
    files = [f for path in paths for f in ([path] if path.suffix else sorted(path.rglob("*.py")))]
    return [message for path in files for message in raised(path)]


MESSAGES = _messages()


def test_there_are_errors() -> None:
    assert len(MESSAGES) > 60


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: f"{message.path}:{message.line}")
def test_an_error_has_its_chinese(message: Message) -> None:
    assert message.shape in SHAPES, f"zh.po has no message {message.text!r}"


def test_an_error_is_told_whole() -> None:
    with speaking(Language.CHINESE):
        assert tell("--step 'train,cast=int3': cannot cast to 'int3'") == (
            "--step 'train,cast=int3'：无法转换为 'int3'"
        )
        assert tell("hint: give a file or a folder") == "提示：请给出文件或目录"
