"""Host tensors beside device tensors: which calls take them, by PyTorch's own list."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import torchgen  # type: ignore[import-untyped]
import yaml
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

import opcheck
from opcheck.model.trace import Composite
from opcheck.resolve.kernels import _TAKES_BOTH
from opcheck.resolve.walk import Walk
from tests.resolve.made import matrix, node, tensor, trace

BOTH = {"lp": tensor(), "lengths": tensor("int64", 2, host=True)}


def resolution(op: str, *registered: str, composite: Composite | None = None) -> str:
    """The code of a call on a device tensor and a host tensor, which runs as ``aten::inner``."""
    inner = node("aten::inner")
    called = node(op, *((0,) if composite else ()), given=BOTH, composite=composite)
    found = trace(inner, called)
    return Walk(found.nodes, matrix("aten::inner", *registered), "2.13.0").resolution(1).code


@pytest.mark.parametrize(
    ("op", "registered", "composite", "code"),
    [
        ("aten::mul", ("aten::mul",), None, "host-tensor"),
        ("aten::mul", (), None, "host-tensor"),
        ("aten::index", ("aten::index",), None, "registered"),
        ("aten::whole", (), Composite.IMPLICIT, "decomposes"),
        ("aten::whole", ("aten::whole",), Composite.IMPLICIT, "host-tensor"),
        ("acme::mul", ("acme::mul",), None, "registered"),
    ],
)
def test_kernels_look_at_devices_and_composites_do_not(
    op: str, registered: tuple[str, ...], composite: Composite | None, code: str
) -> None:
    assert resolution(op, *registered, composite=composite) == code


@pytest.mark.slow
def test_pytorch_does_not_check_the_devices_of_what_takes_both() -> None:
    """Only kernels of devices check; ``device_check: NoCheck`` is PyTorch's word for not to."""
    path = Path(torchgen.__file__).with_name("packaged") / "ATen/native/native_functions.yaml"
    checked = set()
    for function in yaml.load(path.read_text(), yaml.CSafeLoader):
        kernels = " ".join(function.get("dispatch", {}))
        if function.get("device_check") != "NoCheck" and any(
            device in kernels for device in ("CUDA", "MPS", "XPU")
        ):
            checked.add(function["func"].partition("(")[0])
    bases = {name.partition(".")[0] for name in checked}
    # MPS's own copies between devices, and an overload of set_ that takes one tensor
    assert bases & _TAKES_BOTH == {"_copy_from", "_copy_from_and_resize", "set_"}


def ctc(x: Tensor) -> Tensor:
    targets = torch.ones(2, 3, dtype=torch.int64, device=x.device)
    return functional.ctc_loss(
        x.log_softmax(2), targets, torch.tensor([6, 6]), torch.tensor([3, 3])
    )


def packed(x: Tensor) -> Tensor:
    return pad_packed_sequence(pack_padded_sequence(x, torch.tensor([6, 4])))[0]


def split(x: Tensor) -> Tensor:
    return x.tensor_split(torch.tensor([1, 2]))[0]


def repeated(x: Tensor) -> Tensor:
    return x.repeat_interleave(torch.tensor([1, 2, 1, 1, 1, 1]), 0)


class Calls(nn.Module):
    """A model that is one function."""

    def __init__(self, function: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Tensor) -> Tensor:
        return self.function(x)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "runs"), [(ctc, True), (packed, True), (split, True), (repeated, False)]
)
def test_scan_and_device_agree_on_composites_with_host_tensors(
    function: Callable[[Tensor], Tensor], runs: bool
) -> None:
    x = torch.ones(6, 2, 5)
    report = opcheck.scan(Calls(function), x, targets=["ascend-910b", "cambricon-mlu370"])
    assert [found.summary.runs for found in report.targets] == [runs, runs]
    emulator = opcheck.emulate("ascend-910b", stop=False)
    with emulator as device:
        function(x.to(device))
    assert (not emulator.refusals) is runs


class Recurrent(nn.Module):
    """A layer that is given packed sequences, whose lengths are in host memory."""

    def __init__(self, kind: Callable[[int, int], nn.Module]) -> None:
        super().__init__()
        self.layer = kind(5, 3)

    def forward(self, x: Tensor) -> Tensor:
        made, _ = self.layer(pack_padded_sequence(x, torch.tensor([6, 4])))
        return pad_packed_sequence(made)[0]


@pytest.mark.slow
@pytest.mark.parametrize("train", [False, True])
@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_the_lengths_of_packed_sequences_are_on_the_host_for_cudnn_too(
    kind: Callable[[int, int], nn.Module], train: bool
) -> None:
    targets = ["nvidia-h100", "amd-mi300x", "intel-arc"]
    report = opcheck.scan(Recurrent(kind), torch.ones(6, 2, 5), targets=targets, train=train)
    assert [found.summary.runs for found in report.targets] == [True, True, True]
