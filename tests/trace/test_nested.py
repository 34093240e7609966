"""Nested tensors are not followed, and one sentence says so."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import opcheck
from opcheck.errors import SourceError
from opcheck.trace.calls.modules import is_of_nested
from opcheck.trace.run import trace_model

X = torch.ones(2, 4, 3)
ROWS = [torch.ones(2, 3), torch.ones(4, 3)]
TAIL = (
    "it makes a nested tensor, and only tensors of one size in each dimension are followed; "
    "pad to one size and give a mask"
)


def jagged(x: Tensor) -> Tensor:
    return torch.nested.nested_tensor([x[0], x[1][:2]], layout=torch.jagged).sin()


def strided(x: Tensor) -> Tensor:
    return torch.nested.as_nested_tensor([x[0], x[1][:2]]).sin()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
@pytest.mark.parametrize("model", [jagged, strided])
def test_a_model_that_makes_them_has_one_gap_with_its_line(model: Callable[..., Any]) -> None:
    trace = trace_model(model, (X,), {}, device_type="npu", exact={"a": frozenset()})
    line = model.__code__.co_firstlineno + 1
    (gap,) = trace.gaps
    assert gap.reason == f"at tests/trace/test_nested.py:{line}, {TAIL}"


class Takes(nn.Module):
    """Takes anything."""

    def forward(self, x: Any) -> Any:
        return x


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
@pytest.mark.parametrize("layout", [torch.jagged, torch.strided])
@pytest.mark.parametrize("within", [False, True])
def test_one_that_is_given_is_refused(layout: torch.layout, within: bool) -> None:
    given: Any = torch.nested.nested_tensor(ROWS, layout=layout)
    with pytest.raises(SourceError) as caught:
        opcheck.scan(Takes(), ([given] if within else given,), targets=["ascend-910b"])
    assert caught.value.message == (
        "the input number 1 is a nested tensor: only tensors of one size in each dimension are "
        "followed"
    )
    assert "to_padded_tensor" in caught.value.hint


def test_a_kernel_that_is_missing_is_not_taken_for_a_nested_tensor() -> None:
    """PyTorch names every backend that has one, those of nested tensors too."""
    with pytest.raises(NotImplementedError, match="NestedTensor") as raised:
        torch.rand(2, device="vulkan")
    assert not is_of_nested(raised.value)
    assert is_of_nested(RuntimeError("NestedTensorImpl doesn't support sizes"))
