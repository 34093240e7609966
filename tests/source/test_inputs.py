"""The ``--input`` language."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opcheck.errors import UsageError
from opcheck.model.trace import DTYPE_BYTES
from opcheck.source.inputs import ConstantSpec, InputSpec, ListSpec, TensorSpec, ValueSpec

NAMES = st.one_of(st.just(""), st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True))
DTYPES = st.sampled_from(sorted(DTYPE_BYTES))
SIZES = st.integers(min_value=0, max_value=9999)
TENSORS = st.one_of(
    st.builds(TensorSpec, st.lists(SIZES, min_size=2, max_size=4).map(tuple)),
    st.builds(TensorSpec, st.lists(SIZES, max_size=4).map(tuple), DTYPES),
)
CONSTANTS = st.one_of(
    st.integers(-(10**18), 10**18).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.sampled_from(("true", "false", "none")),
    st.text(string.ascii_letters + " =,:[]", max_size=8).map(lambda text: f"'{text}'"),
).map(ConstantSpec)
VALUES = st.recursive(
    st.one_of(TENSORS, CONSTANTS),
    lambda inner: st.builds(ListSpec, st.lists(inner, max_size=3).map(tuple)),
    max_leaves=5,
)


@given(NAMES, VALUES)
def test_every_spec_survives_its_text(name: str, value: ValueSpec) -> None:
    spec = InputSpec(name, value)
    assert InputSpec.parse(str(spec)) == spec


@given(st.text(string.digits + "x:=[],.'-abefilnorstu", max_size=16))
def test_any_text_is_read_back_exactly_or_refused(text: str) -> None:
    try:
        spec = InputSpec.parse(text)
    except UsageError as error:
        assert error.hint
        return
    assert str(spec) == text


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("ids=1x128:int64", InputSpec("ids", TensorSpec((1, 128), "int64"))),
        ("1x3x224x224", InputSpec("", TensorSpec((1, 3, 224, 224)))),
        ("scale=:float32", InputSpec("scale", TensorSpec((), "float32"))),
        ("n=5:int64", InputSpec("n", TensorSpec((5,), "int64"))),
        ("n=5", InputSpec("n", ConstantSpec("5"))),
        ("[3x4x5,3x2x2]", InputSpec("", ListSpec((TensorSpec((3, 4, 5)), TensorSpec((3, 2, 2)))))),
    ],
)
def test_forms(text: str, spec: InputSpec) -> None:
    assert InputSpec.parse(text) == spec


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5),
        ("-1", -1),
        ("1e-3", 0.001),
        (".5", 0.5),
        ("true", True),
        ("none", None),
        ("'a'", "a"),
    ],
)
def test_constants(text: str, value: object) -> None:
    constant = InputSpec.parse(text).value
    assert isinstance(constant, ConstantSpec)
    assert constant.value == value
    assert type(constant.value) is type(value)


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("x=1x3:flaot32", "--input 'x=1x3:flaot32': unknown dtype 'flaot32'", "float32"),
        ("x=", "--input 'x=': '' is neither a shape nor a constant", "NAME=SHAPE:DTYPE"),
        ("=1x3", "--input '=1x3': '' is not a parameter name", "NAME=SHAPE:DTYPE"),
        ("x=1,3", "--input 'x=1,3': '1,3' is neither a shape nor a constant", "mean 1x3?"),
        ("x=1x3:", "--input 'x=1x3:': unknown dtype ''", "named as in torch"),
        ("x=01x3", "--input 'x=01x3': '01x3' is not a shape", "did you mean 1x3?"),
        ("x=1x-1", "--input 'x=1x-1': '1x-1' is neither a shape nor a constant", "ids=1x128"),
        (
            "x=9999999999x9999999999",
            "--input 'x=9999999999x9999999999': more elements than a tensor can have",
            "SHAPE",
        ),
        (f"x={'[' * 9000}2x3{']' * 9000}", "--input: lists are more than 20 deep", "SHAPE"),
    ],
)
def test_refusals(text: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        InputSpec.parse(text)
    assert caught.value.message == message
    assert hint in caught.value.hint
