"""What a run of a fleet tells while it goes on, and what a worker says of a bug of opcheck's."""

import io
import re
import sys

import pytest

from opcheck.commands.fleet.engine import Setup
from opcheck.commands.fleet.subcommands.run import FleetProgress
from opcheck.commands.fleet.values import Began, Done, Ending, Job, Outcome
from opcheck.commands.fleet.worker import Worker
from opcheck.db.store import Database
from opcheck.lang.speech import Language, speaking
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.target import TargetSpec
from tests.commands.fleet.made import entry, failed

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def watched(progress: FleetProgress) -> None:
    """A run of five models, of which one is over before and one is known."""
    with progress:
        progress.planned([entry(name) for name in ("over", "a", "b", "c", "d")], 4)
        progress.known(1)
        progress.began(Began(2, "1"))
        progress.done(Done(2, failed(Ending.TIMED_OUT, "not over after 4 s"), 4.0, "1"))
        progress.done(Done(3, failed(Ending.OUT_OF_MEMORY, ""), 1.5, "1"))


@pytest.mark.parametrize(
    ("language", "lines"),
    [
        (
            Language.ENGLISH,
            [
                "opcheck: going on: 1 of 5 models are over already",
                "[1/4] a known",
                "[2/4] b timed-out 4.0 s: not over after 4 s",
                "[3/4] c out-of-memory 1.5 s",
            ],
        ),
        (
            Language.CHINESE,
            [
                "opcheck: 继续：5 个模型中已完成 1 个",
                "[1/4] a 已知",
                "[2/4] b 超时 4.0 s: not over after 4 s",
                "[3/4] c 内存不足 1.5 s",
            ],
        ),
    ],
)
def test_a_model_is_a_line_where_nobody_watches(
    language: Language, lines: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with speaking(language):
        watched(FleetProgress())
    assert capsys.readouterr().err.splitlines() == lines


class Terminal(io.StringIO):
    """Where somebody watches."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_is_told_how_much_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    watched(FleetProgress())
    last = ESCAPE.sub("", terminal.getvalue()).replace("\r", "\n").splitlines()
    assert "3 of 4 models, 1 known, 2 not scanned well, 0:00, 0:00 left" in map(str.strip, last)


class WithABug(Worker):
    """A worker of an opcheck that fails over every model."""

    @property
    def _database(self) -> Database:
        raise ZeroDivisionError("division by zero")


def test_a_bug_is_an_outcome_of_its_model_and_asks_to_be_reported() -> None:
    request = ScanRequest(ModelSpec("net.py:net"), (TargetSpec("ascend-910b"),))
    with WithABug(Setup()) as worker:
        assert worker.outcome(Job(0, "net", request)) == Outcome(
            Ending.FAILED,
            "opcheck failed: ZeroDivisionError: division by zero",
            "this is a bug in opcheck; please report it",
        )
