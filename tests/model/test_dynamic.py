"""What ``--dynamic`` takes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opcheck.errors import UsageError
from opcheck.model.dynamic import DynamicInput


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("ids:1", DynamicInput("ids", (1,))),
        ("x:2,3", DynamicInput("x", (2, 3))),
        ("x:-1", DynamicInput("x", (-1,))),
        ("0:0", DynamicInput("0", (0,))),
    ],
)
def test_forms(text: str, found: DynamicInput) -> None:
    assert DynamicInput.parse(text) == found
    assert str(found) == text


@pytest.mark.parametrize("text", ["", "ids", "ids:", ":1", "ids:a", "ids:1,", "ids:1.5", "a b:1"])
def test_what_is_no_dimension_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--dynamic") as refused:
        DynamicInput.parse(text)
    assert "NAME:DIM" in refused.value.hint


@given(st.text(max_size=20))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = DynamicInput.parse(text)
    except UsageError:
        return
    assert DynamicInput.parse(str(found)) == found
