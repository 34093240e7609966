"""What calls of an exported model note of weights that are no parameters of it as they are."""

from collections.abc import Callable, Mapping

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import conv2d, linear

from opcheck.trace import trace_model
from opcheck.trace.device.tensors import DeviceTensor

Compute = Callable[["Weights", Tensor, Tensor], Tensor]
IMAGE = torch.ones(1, 8, 6, 6)


class Weights(nn.Module):
    """Some parameters and a buffer, and what a case computes of them."""

    kept: Tensor

    def __init__(self, compute: Compute) -> None:
        super().__init__()
        self.w, self.k = nn.Parameter(torch.ones(8, 8)), nn.Parameter(torch.ones(8, 8, 3, 3))
        self.down, self.up = nn.Parameter(torch.ones(8, 2)), nn.Parameter(torch.ones(2, 8))
        self.b = nn.Parameter(torch.ones(8))
        self.register_buffer("kept", torch.ones(8, 8))
        self._compute = compute

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """Compute the case."""
        return self._compute(self, x, y)


def noted(
    compute: Compute, *inputs: Tensor, device_type: str = "executorch"
) -> Mapping[str, Mapping[str, str]]:
    """By overload what its calls note."""
    trace = trace_model(Weights(compute), inputs, {}, device_type=device_type)
    return {str(node.op): dict(node.modes) for node in trace.nodes}


ROWS = torch.ones(4, 8), torch.ones(8, 8)
IMAGES = IMAGE, torch.ones(8, 8, 3, 3)
CASES: tuple[tuple[str, Compute, tuple[Tensor, Tensor], str, Mapping[str, str]], ...] = (
    ("parameter", lambda m, x, y: linear(x, m.w, m.b), ROWS, "aten::linear", {}),
    ("buffer", lambda m, x, y: linear(x, m.kept), ROWS, "aten::linear", {}),
    ("low rank", lambda m, x, y: linear(x, m.w + m.down @ m.up), ROWS, "aten::linear",
     {"computed weight": "parameters"}),
    ("view", lambda m, x, y: linear(x, m.w.t()), ROWS, "aten::linear",
     {"computed weight": "parameters"}),
    ("input", lambda m, x, y: linear(x, y), ROWS, "aten::linear",
     {"computed weight": "inputs"}),
    ("of an input", lambda m, x, y: linear(x, m.w * y.sum()), ROWS, "aten::linear",
     {"computed weight": "inputs"}),
    ("bias", lambda m, x, y: linear(x, m.w, y[0]), ROWS, "aten::linear",
     {"computed bias": "inputs"}),
    ("made here", lambda m, x, y: linear(x, torch.eye(8)), ROWS, "aten::linear",
     {"computed weight": "parameters"}),
    ("product", lambda m, x, y: x @ m.w, ROWS, "aten::mm", {}),
    ("product of inputs", lambda m, x, y: x @ y, ROWS, "aten::mm", {"computed mat2": "inputs"}),
    ("one tensor twice", lambda m, x, y: torch.cat((x, x), -1), ROWS, "aten::cat",
     {"tensors": "the same"}),
    ("distances", lambda m, x, y: x + (torch.arange(8) - 3).abs(), ROWS, "aten::abs",
     {"computed self": "parameters"}),
    ("buffer's size", lambda m, x, y: x + m.kept.abs(), ROWS, "aten::abs",
     {"computed self": "parameters"}),
    ("size of an input", lambda m, x, y: x.abs(), ROWS, "aten::abs", {}),
    ("two tensors", lambda m, x, y: torch.cat((x, x + 1), -1), ROWS, "aten::cat", {}),
    ("convolution", lambda m, x, y: conv2d(x, m.k), IMAGES, "aten::convolution", {}),
    ("convolution by an input", lambda m, x, y: conv2d(x, y), IMAGES, "aten::convolution",
     {"computed weight": "inputs"}),
)  # fmt: skip


@pytest.mark.parametrize(
    ("compute", "inputs", "op", "expected"), [case[1:] for case in CASES], ids=[c[0] for c in CASES]
)
def test_what_a_weight_is_computed_of(
    compute: Compute, inputs: tuple[Tensor, Tensor], op: str, expected: Mapping[str, str]
) -> None:
    assert noted(compute, *inputs)[op] == expected


def test_what_is_not_exported_notes_nothing() -> None:
    for device_type in ("npu", "cuda"):
        found = noted(lambda m, x, y: linear(x, y), *ROWS, device_type=device_type)
        assert not any(found.values())
    assert not DeviceTensor.followed


def test_a_layer_that_is_given_a_constant_is_no_repetition_of_one_that_is_not() -> None:
    layer, hyper = nn.Linear(8, 8), nn.Linear(8, 8)

    def compute(model: Weights, x: Tensor, y: Tensor) -> Tensor:
        of_inputs = linear(x, layer(layer(y)))
        return of_inputs + linear(x, hyper(hyper(model.kept)))

    class Both(Weights):
        def __init__(self) -> None:
            super().__init__(compute)
            self.layer, self.hyper = layer, hyper

    trace = trace_model(Both(), ROWS, {}, device_type="executorch")
    found = [dict(n.modes) for n in trace.nodes if str(n.op) == "aten::linear"]
    assert {"computed weight": "inputs"} in found
    assert {"computed weight": "parameters"} in found
    assert {} in found
