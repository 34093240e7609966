"""Example tensors, and what the user's own inputs replace."""

from collections.abc import Mapping
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from opcheck.errors import SourceError
from opcheck.source.building.example import (
    Inputs,
    Signature,
    example,
    float_dtype,
    normalise,
    override,
    require,
    vocabulary,
)
from opcheck.source.inputs import InputSpec

FORWARD = Signature(("ids", "mask", "scale"), ("ids",))
ANY = Signature(("ids",), (), open=True)


def shapes(inputs: Inputs) -> tuple[list[str], dict[str, str]]:
    """Inputs as text: dtype and shape of tensors, ``repr`` of the rest."""

    def text(value: Any) -> str:
        if isinstance(value, Tensor):
            return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
        return repr(value)

    return [text(value) for value in inputs[0]], {k: text(v) for k, v in inputs[1].items()}


def given(*texts: str) -> tuple[InputSpec, ...]:
    return tuple(InputSpec.parse(text) for text in texts)


def test_integers_are_valid_ids() -> None:
    made = example("ids", (2, 70), torch.int64, ids=5)
    assert made.device.type == "cpu"
    assert (int(made.min()), int(made.max())) == (0, 4)


def test_masks_let_everything_through() -> None:
    assert bool(example("attention_mask", (1, 8), torch.int64).all())
    assert bool(example("mask", (1, 8), torch.bool).all())


def test_large_floats_have_no_values_and_small_ones_all_different() -> None:
    assert example("x", (1, 3, 224, 224), torch.float32).is_meta
    assert len(set(example("x", (4, 4), torch.float32).flatten().tolist())) == 16


@pytest.mark.parametrize("dtype", [torch.complex64, torch.float16, torch.float8_e4m3fn, torch.bool])
def test_every_dtype_can_be_made(dtype: torch.dtype) -> None:
    assert example("x", (2, 3), dtype).dtype is dtype


def test_vocabulary_is_the_smallest_embedding() -> None:
    assert vocabulary(nn.Sequential(nn.Embedding(9, 2), nn.Embedding(7, 2))) == 7
    assert vocabulary(nn.Linear(2, 2)) == 2


def test_float_dtype_is_the_modules() -> None:
    assert float_dtype(nn.Linear(2, 2, dtype=torch.bfloat16)) is torch.bfloat16
    assert float_dtype(nn.ReLU()) is torch.float32


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ((), (["int64[1, 4]"], {"scale": "1.0"})),
        (("ids=2x8",), (["int64[2, 8]"], {"scale": "1.0"})),
        (("2x8",), (["int64[2, 8]"], {"scale": "1.0"})),
        (("2x8:int32", "mask=2x8:bool"), (["int32[2, 8]"], {"scale": "1.0", "mask": "bool[2, 8]"})),
        (("2x8", "2x8", "3"), (["int64[2, 8]", "float32[2, 8]", "3"], {})),
        (("scale=none",), (["int64[1, 4]"], {"scale": "None"})),
    ],
)
def test_what_the_user_gives_replaces_the_default(
    texts: tuple[str, ...], expected: tuple[list[str], dict[str, str]]
) -> None:
    default: Inputs = ((torch.zeros(1, 4, dtype=torch.int64),), {"scale": 1.0})
    assert shapes(override(default, given(*texts), FORWARD)) == expected


def test_a_list_is_one_argument() -> None:
    (value,), _ = override(((), {}), given("[3x4x5,3x2x2]"), FORWARD)
    assert [list(item.shape) for item in value] == [[3, 4, 5], [3, 2, 2]]


def test_a_name_that_the_forward_lacks_is_refused() -> None:
    with pytest.raises(SourceError) as caught:
        override(((), {}), given("idz=1x4:int64"), FORWARD)
    assert caught.value.message == "--input idz=…: the model's forward has no parameter 'idz'"
    assert caught.value.hint == "it takes (ids, mask=…, scale=…)"


def test_a_forward_that_takes_any_name_still_refuses_a_slip() -> None:
    assert override(((), {}), given("other=:bool"), ANY)[1].keys() == {"other"}
    with pytest.raises(SourceError):
        override(((), {}), given("idss=1x4:int64"), ANY)


def test_a_parameter_without_a_value_is_asked_for() -> None:
    require(((1,), {}), FORWARD)
    require(((), {"ids": 1}), FORWARD)
    with pytest.raises(SourceError) as caught:
        require(((), {"mask": 1}), FORWARD)
    assert caught.value.message == "the model's forward needs ids; it takes (ids, mask=…, scale=…)"
    assert "--input ids=1x16:float32" in caught.value.hint


X = torch.zeros(2)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (X, ((X,), {})),
        ((X, 1), ((X, 1), {})),
        ([X], (([X],), {})),
        ({"x": X}, ((), {"x": X})),
        (((X,), {"n": 1}), ((X,), {"n": 1})),
        ((X, {"n": 1}), ((X, {"n": 1}), {})),
    ],
)
def test_the_forms_in_which_inputs_come(
    value: Any, expected: tuple[tuple[Any, ...], Mapping[str, Any]]
) -> None:
    assert normalise("build()", value) == expected


def test_other_inputs_are_refused() -> None:
    with pytest.raises(SourceError, match="build\\(\\) gives inputs of type int"):
        normalise("build()", 5)


@pytest.mark.parametrize("shape", [(1, 4, 2**63), (2**31, 2**31, 4), (1, 4, -3)])
def test_a_shape_that_no_tensor_has_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(SourceError, match="none that a tensor can have"):
        example("sample", shape, torch.float32)
