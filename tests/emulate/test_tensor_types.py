"""Old tensor types such as ``torch.cuda.FloatTensor`` where CUDA is taken for the device."""

import subprocess
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

import pytest
import torch

from opcheck.emulate.patches import as_cuda
from opcheck.emulate.session import Emulator
from tests.preloaded import python

TOLD = "torch.set_default_device and torch.set_default_dtype are what works there"
CONVERTED = """
import torch
from opcheck.emulate.patches import as_cuda
from opcheck.emulate.session import Emulator

with Emulator({target!r}) as device, as_cuda(device):
    half = torch.ones(2).type("torch.cuda.HalfTensor")
    print(half.device.type, half.dtype, torch.cuda.DoubleTensor([1]).dtype)
"""


@contextmanager
def catch_threading_exception(raised: list[BaseException | None]) -> Iterator[None]:
    before = threading.excepthook
    threading.excepthook = lambda caught: raised.append(caught.exc_value)
    try:
        yield
    finally:
        threading.excepthook = before


def test_constructors_of_cuda_make_tensors_of_the_device() -> None:
    with Emulator("ascend-910b") as device, as_cuda(device):
        cuda: Any = torch.cuda
        made = (
            cuda.FloatTensor(3, 4), cuda.FloatTensor([1.0, 2.0], device="cuda:0"),
            cuda.LongTensor(size=(2,)), cuda.DoubleTensor(2),
        )  # fmt: skip
        assert {tensor.device for tensor in made} == {device}
        assert [(tuple(t.shape), t.dtype) for t in made] == [
            ((3, 4), torch.float32), ((2,), torch.float32), ((2,), torch.int64),
            ((2,), torch.float32),  # transfer_to_npu takes FloatTensor for it
        ]  # fmt: skip
        assert made[1].tolist() == [1.0, 2.0]


@pytest.mark.parametrize("kind", ["torch.cuda.FloatTensor", "torch.npu.HalfTensor"])
def test_a_type_of_the_device_cannot_be_the_default(kind: str) -> None:
    emulator, original = Emulator("ascend-910b"), torch.set_default_tensor_type
    with emulator as device, as_cuda(device), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(TypeError, match=r"^invalid type object: only floating-point types"):
            torch.set_default_tensor_type(kind)
        torch.set_default_tensor_type(torch.FloatTensor)
    assert torch.set_default_tensor_type is original
    (note,) = emulator.device.record.notes
    name = kind.replace("cuda", "npu")
    assert note.startswith(f"makes {name} the default at ")
    assert note.endswith(f", which torch takes from no plugin: {TOLD}")


def test_a_default_that_no_line_of_the_user_sets_is_noted_without_a_place() -> None:
    emulator, raised = Emulator("ascend-910b"), list[BaseException | None]()
    with emulator, catch_threading_exception(raised):
        kind = vars(torch)["npu"].FloatTensor
        thread = Thread(target=torch.set_default_tensor_type, args=(kind,))
        thread.start()
        thread.join()
    assert [type(error) for error in raised] == [TypeError]
    told = f"makes torch.npu.FloatTensor the default, which torch takes from no plugin: {TOLD}"
    assert told in emulator.device.record.notes


def test_the_default_device_may_be_cuda() -> None:
    with Emulator("ascend-910b") as device, as_cuda(device):
        try:
            torch.set_default_device("cuda")
            assert (torch.zeros(2).device, torch.nn.Linear(2, 2).weight.device) == (device, device)
        finally:
            torch.set_default_device(None)
        with torch.device("cuda"):
            assert torch.zeros(2).device == device
        assert torch.zeros(2).device.type == "cpu"


def test_ascend_replaces_no_name_of_a_type() -> None:
    with (
        Emulator("ascend-910b") as device,
        as_cuda(device),
        pytest.raises(RuntimeError, match=r"^Cannot initialize CUDA"),
    ):
        torch.ones(2).type("torch.cuda.HalfTensor")


@pytest.mark.slow
@pytest.mark.parametrize("target", ["cambricon-mlu590", "moorethreads-s5000"])
def test_other_vendors_take_the_name_of_a_type_for_theirs(target: str) -> None:
    program = CONVERTED.format(target=target)
    ran = subprocess.run([*python("torch"), "-c", program], capture_output=True, text=True)
    device_type = {"cambricon-mlu590": "mlu", "moorethreads-s5000": "musa"}[target]
    assert ran.stdout == f"{device_type} torch.float16 torch.float64\n", ran.stderr
