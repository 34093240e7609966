"""Models that run under autocast: the dtypes that a device is asked to compute in."""

import pytest
import torch
from torch import Tensor, nn

from opcheck.model.trace import Trace
from opcheck.trace import trace_model
from opcheck.trace.torch_internals.autocast import autocasting

TYPES = ["npu", "cuda", "xpu", "mps", "xla"]


class Halved(nn.Module):
    """A layer and a product under autocast, each of a policy of its own, and a sum after it."""

    def __init__(self, dtype: torch.dtype | None = torch.bfloat16, enabled: bool = True) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.dtype, self.enabled = dtype, enabled

    def forward(self, x: Tensor) -> Tensor:
        with torch.autocast(x.device.type, dtype=self.dtype, enabled=self.enabled):
            y = torch.exp(self.layer(x))
        return y.float() + x


def dtypes(trace: Trace, *wanted: str) -> dict[str, list[str]]:
    """Operator -> the dtypes of the tensors that it is given."""
    nodes = [trace.nodes[use.node] for use in trace.uses]
    return {
        str(node.op): [tensor.dtype for _, tensor in node.tensors()]
        for node in nodes
        if str(node.op) in wanted
    }


def traced(model: nn.Module, device_type: str) -> Trace:
    return trace_model(model, (torch.ones(2, 4),), {}, device_type=device_type)


@pytest.mark.parametrize("device_type", TYPES)
def test_each_operator_computes_in_the_dtype_of_its_policy(device_type: str) -> None:
    trace = traced(Halved(), device_type)
    assert trace.gaps == ()
    assert dtypes(trace, "aten::linear", "aten::exp", "aten::add.Tensor") == {
        "aten::linear": ["bfloat16"] * 3,
        "aten::exp": ["float32"],
        "aten::add.Tensor": ["float32"] * 2,
    }


@pytest.mark.parametrize("device_type", TYPES)
def test_autocast_that_is_off_changes_nothing(device_type: str) -> None:
    trace = traced(Halved(enabled=False), device_type)
    assert dtypes(trace, "aten::linear") == {"aten::linear": ["float32"] * 3}


@pytest.mark.parametrize(("device_type", "dtype"), [("cuda", "float16"), ("xla", "bfloat16")])
def test_without_a_dtype_it_is_the_device_s_own(device_type: str, dtype: str) -> None:
    trace = traced(Halved(dtype=None), device_type)
    assert dtypes(trace, "aten::linear") == {"aten::linear": [dtype] * 3}


@pytest.mark.parametrize("device_type", TYPES)
def test_nothing_of_it_is_left_behind(device_type: str) -> None:
    setters = torch.set_autocast_enabled, torch.set_autocast_dtype
    before = [(torch.is_autocast_enabled(t), torch.get_autocast_dtype(t)) for t in TYPES]
    traced(Halved(), device_type)
    assert [(torch.is_autocast_enabled(t), torch.get_autocast_dtype(t)) for t in TYPES] == before
    assert (torch.set_autocast_enabled, torch.set_autocast_dtype) == setters


def test_inside_another_block_the_outer_casts_hold() -> None:
    with autocasting({"fp32": ["aten::linear"]}) as _:
        trace = traced(Halved(), "npu")
    assert dtypes(trace, "aten::linear") == {"aten::linear": ["float32"] * 3}
