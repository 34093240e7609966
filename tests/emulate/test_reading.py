"""What users look at: printed tensors, numbers, and data that loads and moves."""

import subprocess
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

import opcheck
from tests.preloaded import python

SHOWN = (
    torch.arange(3.0), torch.tensor([True, False]), torch.arange(6).view(2, 3), torch.tensor(2.5),
    torch.empty(0), torch.ones(3, dtype=torch.complex64), torch.ones(2, dtype=torch.float16),
    torch.rand(1000, 1000, generator=torch.Generator().manual_seed(0)), torch.tensor([1e-9, 1e9]),
    torch.zeros(2, 0), torch.tensor([float("nan"), float("inf")]),
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("host", SHOWN, ids=lambda t: f"{t.dtype}{list(t.shape)}")
def test_a_tensor_is_shown_with_its_values_and_its_device(
    device: torch.device, host: Tensor
) -> None:
    shown = "".join(repr(host.to(device)).split())
    assert shown.count(",device='npu:0'") == 1
    assert shown.replace(",device='npu:0'", "") == "".join(repr(host).split())


@pytest.mark.slow
def test_tensors_are_shown_wherever_they_are(device: torch.device) -> None:
    x = torch.ones(2, device=device)
    shown = "tensor([1., 1.], device='npu:0')"
    assert [repr([x]), f"{x}", "%s" % x, str({"a": x})] == [  # noqa: UP031  # it is what is tested
        f"[{shown}]", shown, shown, f"{{'a': {shown}}}",
    ]  # fmt: skip
    assert f"{x.sum():.2f}" == "2.00"
    assert repr(nn.Parameter(x)).splitlines() == [
        "Parameter containing:", "tensor([1., 1.], device='npu:0', requires_grad=True)",
    ]  # fmt: skip
    y = x.requires_grad_() * 2
    assert repr(y) == "tensor([2., 2.], device='npu:0', grad_fn=<MulBackward0>)"


@pytest.mark.slow
def test_without_values_a_tensor_is_shown_by_its_size() -> None:
    with opcheck.emulate("ascend-910b", values=False) as device:
        x = torch.rand(500, 500, device=device)
        shown = "tensor(..., size=(500, 500), device='npu:0')"
        assert repr(x) == f"{x}" == shown
        assert repr([x.half()]) == f"[{shown[:-1]}, dtype=torch.float16)]"
        assert repr(torch.arange(3, device=device)) == "tensor([0, 1, 2], device='npu:0')"


@pytest.mark.slow
def test_showing_a_tensor_asks_the_device_for_nothing() -> None:
    emulator = opcheck.emulate("ascend-910b")
    with emulator as device:
        x = torch.ones(300, 300, device=device)
        before = emulator.kernels
        assert repr(x)
        assert repr(x.dtype)
        assert emulator.kernels == before


@pytest.mark.slow
def test_reading_a_number_asks_the_device_for_it() -> None:
    emulator = opcheck.emulate("ascend-910b")
    with emulator as device:
        x = torch.ones(1, device=device)
        before = {k.op: k.count for k in emulator.kernels}
        assert (x.item(), float(x), int(x), bool(x)) == (1.0, 1.0, 1, True)
        after = {k.op: k.count for k in emulator.kernels}
    assert after == before | {"aten::_local_scalar_dense": 4}


@pytest.mark.slow
@pytest.mark.parametrize("workers", [0, 2])
def test_batches_load_and_move(either: torch.device, workers: int) -> None:
    data = TensorDataset(torch.arange(8.0), torch.arange(8))
    seen = []
    for x, y in DataLoader(data, batch_size=4, num_workers=workers):
        seen.append((x.to(either, non_blocking=True) + 1, y.to(either)))
    assert [(x.device, x.shape, y.dtype) for x, y in seen] == [
        (either, torch.Size([4]), torch.int64)
    ] * 2
    assert [y.tolist() for _, y in seen] == [[0, 1, 2, 3], [4, 5, 6, 7]]


@pytest.mark.slow
def test_pinned_memory_is_host_memory_that_says_so(device: torch.device) -> None:
    x: Any = torch.ones(3).pin_memory()
    assert x.is_pinned()
    assert x.to(device, non_blocking=True).tolist() == [1, 1, 1]
    batches = DataLoader(TensorDataset(torch.arange(4.0)), batch_size=2, pin_memory=True)
    assert [x.to(device).tolist() for (x,) in batches] == [[0, 1], [2, 3]]


def test_what_is_taken_to_be_finite_is_noted_where_python_reads_it(shapes: torch.device) -> None:
    x = torch.empty(3000, 1000, device=shapes)
    mask = torch.isfinite(x)
    assert mask.all().item()
    assert mask.cpu().all().item()
    other = mask.clone()
    other[0] = False
    assert not other.all()


@pytest.mark.slow
def test_where_numbers_are_taken_to_be_finite_is_noted() -> None:
    emulator = opcheck.emulate("ascend-910b", values=False)
    with emulator as device:
        mask = torch.isfinite(torch.empty(3000, 1000, device=device))
        copied = torch.empty(3000, 1000, dtype=torch.bool).copy_(mask)
        kept = mask.clone()
        kept[0] = False
        assert (bool(copied.all()), bool(kept.all())) == (True, False)
    assert [note.partition("; ")[2] for note in emulator.device.record.notes] == [
        "it is taken to be True here", "it is taken to be False here",
    ]  # fmt: skip


@pytest.mark.slow
def test_values_that_are_not_followed_are_zeros_on_the_host_of_every_vendor() -> None:
    """Moore Threads copies by ``_copy_from``, whose result is what it writes to."""
    program = """
import torch
from opcheck.emulate.session import Emulator

emulator = Emulator("moorethreads-s5000", values=False)
with emulator as device:
    x = torch.rand(5000, device=device)
    held = torch.ones(5000)
    held.copy_(x)
    print(held.unique().tolist(), x.cpu().unique().tolist(), len(emulator.device.record.notes))
"""
    ran = subprocess.run([*python("torch"), "-c", program], capture_output=True, text=True)
    assert ran.stdout == "[0.0] [0.0] 1\n", ran.stderr
