"""CUDA taken for the emulated device, as scripts that name no other accelerator need it."""

import subprocess

import pytest
import torch
from torch import nn

import opcheck
from opcheck.emulate.patches import as_cuda
from opcheck.emulate.session import Emulator
from tests.preloaded import python


def test_a_training_step_is_as_if_it_had_named_the_device() -> None:
    """Dropout is a composite that Ascend overrides: its gradient is computed anew in backward."""
    counted = []
    for named in ("cuda", "npu"):
        emulator = Emulator("ascend-910b", values=False)
        with emulator as device, as_cuda(device):
            model = nn.Sequential(nn.Linear(64, 64), nn.Dropout(0.5), nn.BatchNorm1d(64))
            model.to(named)
            model(torch.randn(8, 64, device=named))[:, :3].sum().backward()
        counted.append(emulator.kernels)
    assert counted[0] == counted[1] != ()


def test_functions_of_torch_cuda_take_its_devices() -> None:
    with Emulator("ascend-910b") as device, as_cuda(device):
        torch.cuda.set_device("cuda:0")
        torch.cuda.synchronize(torch.device("cuda", 0))
        assert torch.cuda.memory_allocated("cuda") == torch.cuda.memory_allocated()
        with torch.cuda.device("cuda:0"):
            assert torch.ones(2).cuda(0).device == device
        with pytest.raises(RuntimeError, match="invalid device index 1"):
            torch.cuda.set_device("cuda:1")
    with Emulator("ascend-910b") as device, pytest.raises(ValueError, match="Expected a npu"):
        torch.npu.set_device("cuda:0")  # type: ignore[attr-defined]  # the device's own module


@pytest.mark.parametrize(("target", "works"), [("cambricon-mlu590", True), ("ascend-910b", False)])
def test_ranges_of_nvtx_are_those_of_the_vendor_where_it_says_so(target: str, works: bool) -> None:
    """Cambricon's ``gpu_migration`` sets them; Ascend's transfer module does not."""
    code = """
import opcheck, sys, torch
with opcheck.emulate(sys.argv[1], as_cuda=True):
    try:
        print(torch.cuda.nvtx.range_push("step"))
    except RuntimeError as error:
        print(error)
"""
    ran = subprocess.run([*python("torch"), "-c", code, target], capture_output=True, text=True)
    said = ran.stdout.strip()
    assert said == "0" if works else said.startswith("NVTX functions not installed")


def test_the_device_opened_by_the_library_is_taken_for_cuda_where_that_is_asked_for() -> None:
    available = torch.cuda.is_available()
    with opcheck.emulate("ascend-910b", as_cuda=True) as device:
        assert torch.cuda.is_available()
        x = torch.ones(2).cuda() + torch.ones(2, device="cuda:0")
        assert (x.device, x.is_cuda, x.tolist()) == (device, True, [2, 2])
    assert torch.cuda.is_available() == available
    with opcheck.emulate("ascend-910b") as device:
        assert not torch.ones(2, device=device).is_cuda


@pytest.mark.parametrize("named", ["npu", "npu:0"])
def test_a_generator_of_the_device_draws_the_same_again(named: str) -> None:
    original = torch.Generator
    with Emulator("ascend-910b") as device:
        drawn = []
        for _ in range(2):
            generator = torch.Generator(device=named).manual_seed(3)
            assert isinstance(generator, torch.Generator)
            assert generator.device == torch.device("npu", 0)
            drawn.append(torch.randn(4, device=device, generator=generator).cpu())
        assert torch.equal(*drawn)
        assert torch.Generator().device.type == "cpu"
        assert isinstance(torch.default_generator, torch.Generator)
        with as_cuda(device):
            assert torch.Generator("cuda").device == torch.device("npu", 0)
        with pytest.raises(RuntimeError, match="CUDA"):
            torch.Generator("cuda")
    assert torch.Generator is original
