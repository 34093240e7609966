"""Programs that are said to be unable to run: torch is asked, so that no case claims too much."""

import os
from pathlib import Path

import pytest

import tests.hostile.corpus
from tests.hostile import truth
from tests.hostile.case import CASES, Case
from tests.hostile.place import Place
from tests.hostile.valid import program

assert tests.hostile.corpus
BROKEN = [case for case in CASES if case.harmless]


@pytest.mark.slow
def test_torch_runs_what_is_said_to_run_and_nothing_else(tmp_path: Path) -> None:
    place = Place.below(tmp_path / "place", 1)
    place.fill()
    assert truth.runs(BROKEN, place) == {case.key: case.runnable for case in BROKEN}


@pytest.mark.parametrize("kind", ["plain", "dynamic", "branching", "buffered"])
def test_the_programs_that_they_are_made_of_run_in_torch(kind: str, tmp_path: Path) -> None:
    def make(_: Place) -> bytes:
        return program(kind).packed()

    one = BROKEN[0]
    case = Case(one.reader, kind, one.about, one.file, make, one.family, near=True, runnable=True,
                harmless=True, runs_code=False, limit=60, options=(), says="",
                opens_key=False, opens_bait=False)  # fmt: skip
    assert truth.runs([case], Place.below(tmp_path, os.getpid())) == {case.key: True}
