"""Spans of versions with or without ends."""

import pytest

from opcheck.db.versions import covers


@pytest.mark.parametrize(
    ("spans", "inside", "outside"),
    [
        ("2.7", "2.7 2.7.1", "2.6 2.8 2.70"),
        ("..2.4", "1.12 2.3 2.4 2.4.1", "2.5 2.40"),
        ("2.13..", "2.13 2.13.0 2.14 3.0", "2.12 2.9"),
        ("2.9..2.11", "2.9 2.10 2.11.2", "2.8 2.12"),
        ("..2.4, 2.7, 2.9..", "2.0 2.7 2.10", "2.5 2.6 2.8"),
        ("r2.1..r2.3", "r2.1_develop r2.2 r2.3_develop", "r1.22_pt2.4.0 r2.4_develop"),
        ("26.0.0..", "26.0.0 26.1.0", "7.3.0"),
    ],
)
def test_covers(spans: str, inside: str, outside: str) -> None:
    assert [version for version in inside.split() if not covers(spans, version)] == []
    assert [version for version in outside.split() if covers(spans, version)] == []
