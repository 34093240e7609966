"""Documents are written with the indents of the standard library, by what does it faster."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opcheck.views.document.parts import as_text

_NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
_LEAVES = st.none() | st.booleans() | st.integers() | _NUMBERS | st.text()
_VALUES = st.recursive(
    _LEAVES, lambda below: st.lists(below) | st.dictionaries(st.text(), below), max_leaves=20
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.text(), _VALUES))
def test_a_document_reads_as_the_standard_library_writes_it(made: dict[str, object]) -> None:
    assert as_text(made) == json.dumps(made, indent=2) + "\n"


def test_half_of_a_pair_of_surrogates_is_written_as_the_standard_library_does() -> None:
    made = {"\udc00": ["\ud800", {"text": "\U0001f600"}]}
    assert as_text(made) == json.dumps(made, indent=2) + "\n"


def test_no_number_is_written_that_json_has_not() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        as_text({"ratio": float("nan")})
