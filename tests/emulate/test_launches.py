"""Kernels of a model's own on an emulated device: refused as a scan says, and never run."""

from pathlib import Path

import pytest
import torch

import opcheck
from opcheck.emulate.agreement import predict_refused
from opcheck.model.launches import Language
from opcheck.model.trace import Gap, Phase
from opcheck.source.building.stand_ins.extensions import Extension
from tests.emulate.matrices import matrix_of
from tests.kernel_code.stood_in import imported

TARGET = "ascend-910b@26.1.0+torch2.7"
FILLED = """
@triton.jit
def fill_kernel(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), 1.0)

def filled(x):
    out = torch.zeros_like(x)
    fill_kernel[(1,)](out, BLOCK=4)
    return out
"""


def test_a_kernel_is_not_run_and_is_a_gap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = imported(FILLED, tmp_path, monkeypatch)
    emulator = opcheck.emulate(TARGET)
    with emulator as device:
        found = module.filled(torch.ones(4, device=device)).cpu()
    assert found.tolist() == [0.0] * 4
    assert [*emulator.device.record.gaps] == [
        Gap(
            "with_kernels.py:11",
            "launches triton::fill_kernel, which nothing runs here: what it writes to stays as it "
            "was",
            "kernel-not-run",
        )
    ]
    assert emulator.refusals == ()


def test_cpp_that_gets_no_tensor_of_the_device_is_the_host_s_and_no_gap() -> None:
    extension = Extension(Language.CPP, "adam.py", 1, "int step(int id, torch::Tensor x) {}")
    emulator = opcheck.emulate(TARGET, values=False)
    with emulator as device:
        assert extension.step(1, torch.ones(4)) == 0
        assert not emulator.device.record.gaps
        assert extension.step(1, torch.ones(4, device=device)) == 0
    (gap,) = emulator.device.record.gaps
    assert gap.reason.startswith("launches cpp::step")
    assert (
        "calls cpp::step of a C++ extension, which was not built: what it computes on the host is "
        "not known" in emulator.device.record.notes
    )


def test_a_kernel_is_refused_as_the_scan_predicts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = imported(FILLED, tmp_path, monkeypatch)
    emulator = opcheck.emulate(TARGET)
    text = "triton-ascend has no store of float64, which the kernel calls in line 7"
    with emulator as device:
        wide = torch.ones(4, device=device, dtype=torch.float64)
        with pytest.raises(RuntimeError, match=text):
            module.filled(wide)
    (refusal,) = [each for each in emulator.refusals if each.op == "triton::fill_kernel"]
    assert (refusal.reason.code, refusal.reason.text) == ("kernel-dtype-not-supported", text)
    wide = torch.ones(4, dtype=torch.float64)
    net = torch.nn.Module()
    net.forward = module.filled
    predicted = predict_refused(net, (wide,), {}, matrix_of(TARGET), None)
    assert ("triton::fill_kernel", Phase.FORWARD) in predicted.refused
