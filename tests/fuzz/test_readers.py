"""Every reader takes a hostile file or refuses it; ``python -m tests.fuzz SECONDS`` tries more."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz import programs
from tests.fuzz.campaign import learn
from tests.fuzz.effects import Canaries, Watch
from tests.fuzz.readers import READERS, WATCHES, Reader, inputs_of, tried, valid

readers = pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)


@pytest.fixture(scope="module")
def watch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watch]:
    """What looks for what readers do beside reading."""
    own = tmp_path_factory.getbasetemp()
    canaries, before = own / "canaries", programs.CANARIES
    programs.CANARIES = canaries
    WATCHES[:] = [Watch(Canaries(canaries), [own])]
    yield WATCHES[0]
    WATCHES.clear()
    programs.CANARIES = before


@readers
def test_valid_files_are_taken(reader: Reader, tmp_path: Path) -> None:
    taken = [tried(reader, content, tmp_path) for content in valid(reader)]
    assert any(taken)


@readers
@settings(
    max_examples=25, deadline=None, derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip
@given(seed=st.integers(0, 2**32))
def test_hostile_files_are_taken_or_refused(
    watch: Watch, reader: Reader, tmp_path: Path, seed: int
) -> None:
    if reader.name not in LEARNED:
        LEARNED.add(reader.name)
        learn(watch, reader, tmp_path)
    tried(reader, inputs_of(reader, Random(seed)), tmp_path)


LEARNED: set[str] = set()
"""The readers whose needs are known."""
