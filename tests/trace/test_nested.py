"""Nested tensors are not followed, and one sentence says so."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import opcheck
from opcheck.errors import SourceError
from opcheck.trace.calls.modules import WITHOUT_NESTED, is_of_nested
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


class Packed(nn.Module):
    """A layer of rows of several lengths."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x: Tensor) -> Any:
        rows = torch.nested.nested_tensor_from_jagged(x.flatten(0, 1), torch.tensor([0, 3, 8]))
        return self.layer(rows).values()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_one_with_gradients_is_a_gap_on_a_device_that_this_torch_has_no_guard_for() -> None:
    report = opcheck.scan(Packed(), (X,), targets=["apple-mps"], train=True)
    assert [gap.code for gap in report.trace.gaps] == ["module-failed"]


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


class Padded(nn.Module):
    """An encoder, which PyTorch has leave the padding out where it computes without gradients."""

    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.encoder, self.head = nn.TransformerEncoder(layer, 2), nn.Linear(8, 3)

    def forward(self, x: Tensor, padding: Tensor) -> Tensor:
        made: Tensor = self.head(self.encoder(x, src_key_padding_mask=padding))
        return made


def test_an_encoder_that_leaves_padding_out_is_seen_as_with_it() -> None:
    padding = torch.tensor([[False] * 4, [False, False, True, True]])
    model = Padded().eval()
    trace = trace_model(model, (torch.ones(2, 4, 8), padding), {}, device_type="npu")
    (gap,) = trace.gaps
    assert (gap.where, gap.reason) == ("encoder", WITHOUT_NESTED)
    layers = {use.module for use in trace.uses if use.module.startswith("encoder.layers")}
    assert layers
    head = next(node for node in trace.nodes if str(node.op) == "aten::linear")
    assert head.tensors()[0][1].shape == (2, 4, 8)
    assert model.encoder.use_nested_tensor  # the user's own module is as it was
