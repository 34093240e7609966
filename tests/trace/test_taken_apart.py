"""What a target asks of a composite holds in training, where autograd has taken it apart."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

import opcheck
from opcheck.model.trace import TensorMeta, Value
from opcheck.model.verdict import Verdict
from opcheck.trace.torch_internals.autocast_casts import handed_on

TARGET = "ascend-910b@26.1.0"
OLDER = "ascend-910b@26.0.0"
"""Of whose kernels no page says that they take bfloat16 in cross entropy."""
HALF = torch.bfloat16
CODES = ("dtype-not-supported", "document-contradicts-registration")


class Loss(nn.Module):
    """A layer with a loss, which casts nothing itself."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.layer = nn.Linear(8, 5)
        self.name = name

    def forward(self, x: Tensor) -> Tensor:
        y = self.layer(x)
        target = torch.zeros(6, dtype=torch.int64, device=x.device)
        if self.name == "nll":
            return functional.nll_loss(y, target)
        return functional.cross_entropy(y, target)


LAYERS: dict[str, tuple[nn.Module, Tensor]] = {
    "conv1d": (nn.Conv1d(4, 4, 3), torch.ones(2, 4, 9)),
    "conv2d": (nn.Conv2d(4, 4, 3), torch.ones(2, 4, 9, 9)),
    "conv_transpose2d": (nn.ConvTranspose2d(4, 4, 3), torch.ones(2, 4, 9, 9)),
    "group_norm": (nn.GroupNorm(2, 4), torch.ones(2, 4, 9)),
    "layer_norm": (nn.LayerNorm(9), torch.ones(2, 4, 9)),
    "batch_norm": (nn.BatchNorm1d(4), torch.ones(2, 4, 9)),
    "log_softmax": (nn.Sequential(nn.Linear(4, 4), nn.LogSoftmax(1)), torch.ones(2, 4)),
    "cross_entropy": (Loss("cross_entropy"), torch.ones(6, 8)),
    "gru": (nn.GRU(4, 4), torch.ones(2, 3, 4)),
    "linear": (nn.Linear(4, 4), torch.ones(2, 4)),
}


def worst(found: dict[str, Verdict]) -> Verdict | None:
    return max(found.values(), key=lambda verdict: verdict.rank, default=None)


def judged(layer: nn.Module, x: Tensor, target: str = TARGET, **how: Any) -> dict[str, Verdict]:
    """Composites of the forward that a target asks something of, with its verdict on them."""
    (scanned,) = opcheck.scan(layer, x, targets=[target], **how).targets
    return {
        found.op: found.verdict
        for found in scanned.findings
        if found.reason.code in CODES and found.phase == "forward"
    }


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [HALF, torch.float64], ids=str)
@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_fares_in_training_as_it_does_without(name: str, dtype: torch.dtype) -> None:
    layer, x = LAYERS[name]
    layer, x = layer.to(dtype), x.to(dtype)
    asked = judged(layer.train(), x)
    trained = judged(layer, x, train=True)
    assert worst(asked) == worst(trained), (asked, trained)


@pytest.mark.slow
def test_the_vendor_says_something_of_the_layers_in_that_dtype() -> None:
    """Else the test above would compare nothing with nothing."""
    refused = {
        name
        for name, (layer, x) in LAYERS.items()
        if judged(layer.to(HALF), x.to(HALF), train=True)
    }
    assert "conv_transpose2d" in refused
    assert "linear" not in refused


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", ["nll", "cross_entropy"])
def test_scan_and_device_agree_under_autocast(name: str, dtype: torch.dtype) -> None:
    step = (f"autocast={str(dtype).removeprefix('torch.')}",)
    scanned = judged(Loss(name), torch.ones(6, 8), OLDER, step=step)
    model = Loss(name)
    emulator = opcheck.emulate(OLDER, stop=False)
    with emulator as device:
        model.to(device)
        with torch.autocast("npu", dtype):
            loss = model(torch.ones(6, 8, device=device))
        loss.backward()
    refused = {op for op, verdict in scanned.items() if verdict == "unsupported"}
    assert {refusal.op for refusal in emulator.refusals} == refused
    assert ("aten::cross_entropy_loss" in scanned) is (name == "cross_entropy" and dtype is HALF)
    assert "aten::nll_loss_nd" not in scanned  # autocast has what it runs as compute in float32


def test_dtypes_are_those_that_reach_what_a_composite_runs_as() -> None:
    x, ids = TensorMeta("bfloat16", (2,), (1,)), TensorMeta("int64", (2,), (1,))
    given: tuple[tuple[str, Value], ...] = (("self", x), ("rest", (x, ids)), ("dim", 1))
    wide = TensorMeta("float32", (2,), (1,))
    assert handed_on(given, set()) == given
    assert handed_on(given, {"bfloat16", "float32"}) == given
    assert handed_on(given, {"float32"}) == (("self", wide), ("rest", (wide, ids)), ("dim", 1))
