"""Every reader takes a hostile file or refuses it; ``python -m tests.fuzz SECONDS`` tries more."""

from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.readers import READERS, Reader, inputs_of, tried, valid

readers = pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)


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
def test_hostile_files_are_taken_or_refused(reader: Reader, tmp_path: Path, seed: int) -> None:
    tried(reader, inputs_of(reader, Random(seed)), tmp_path)
