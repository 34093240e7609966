"""What tensors of an emulated device do: errors in backward, custom operators, numbers in text."""

import re
import subprocess
from collections.abc import Iterator

import pytest
import torch

from opcheck.emulate.session import Emulator
from opcheck.errors import EmulationError
from tests.preloaded import python

PROGRAM = """
import warnings
import torch
from opcheck.emulate.session import Emulator

warnings.simplefilter("ignore")
with Emulator("ascend-910b", stop=False) as device:
    x = torch.ones(3, dtype=torch.float64, device=device).requires_grad_()
    places = torch.tensor([0, 1, 2], device=device)
    y = x.index_reduce(0, places, x, "prod").sum()
    try:
        y.backward()  # casts to float64, which gives float32 on this device, and adds it
    except RuntimeError as error:
        print(error)
"""


@pytest.mark.slow
def test_an_error_in_backward_reaches_who_called_it() -> None:
    """A process of its own: backward may have run here before, and a failure ends the process."""
    command = [*python("torch"), "-c", PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = "index_add_(): self (Double) and source (Float) must have the same scalar type\n"
    assert (done.returncode, done.stdout) == (0, said), done.stderr


@pytest.fixture
def emulator() -> Iterator[Emulator]:
    emulator = Emulator("ascend-910b", stop=False)
    with emulator:
        yield emulator


@pytest.mark.slow
def test_an_operator_of_an_extension_is_missing(emulator: Emulator) -> None:
    library = torch.library.Library("opcheck_tests", "FRAGMENT")
    try:
        library.define("doubled(Tensor x) -> Tensor")
        library.impl("doubled", lambda x: x * 2, "CPU")
        x = torch.ones(3).to(emulator.device.torch_device)
        for _ in range(2):
            assert torch.ops.opcheck_tests.doubled(x).tolist() == [2, 2, 2]
    finally:
        library._destroy()
    missing = {op: count for (op, _), count in emulator.asked.missing.items()}
    assert missing == {"opcheck_tests::doubled": 2}


@pytest.mark.slow
def test_values_are_brought_to_the_host(emulator: Emulator) -> None:
    x = torch.ones(2).to(emulator.device.torch_device)
    before = sum(emulator.asked.native.values())
    assert x.tolist() == [1, 1]
    assert x.numpy(force=True).tolist() == [1, 1]
    said = "can't convert npu:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to"
    with pytest.raises(TypeError, match=re.escape(said)):
        x.numpy()
    assert sum(emulator.asked.native.values()) == before + 2


@pytest.mark.slow
def test_a_sparse_tensor_is_refused(emulator: Emulator) -> None:
    x = torch.ones(3, 3).to(emulator.device.torch_device)
    with pytest.raises(EmulationError, match=r"^aten::\w+ takes or gives a sparse"):
        torch.sparse.sampled_addmm(torch.eye(3).to_sparse_csr(), x, x)


@pytest.mark.slow
def test_a_number_in_text_is_read(emulator: Emulator) -> None:
    x = torch.ones(()).to(emulator.device.torch_device)
    assert f"{x:.2f} {x}" == "1.00 1.0"
    read = {op: n for (op, _), n in emulator.asked.native.items() if op != "aten::_copy_from"}
    assert read["aten::_local_scalar_dense"] == 2
