"""Watched tensors: errors in their backward, which would end the process where Python raised."""

import subprocess
import sys

PROGRAM = """
import warnings
import torch
from opcheck.emulate.session import Emulator

warnings.simplefilter("ignore")
with Emulator("ascend-910b", watch=True, stop=False) as device:
    x = torch.ones(3, dtype=torch.float64, device=device).requires_grad_()
    assert type(x) is not torch.Tensor
    places = torch.tensor([0, 1, 2], device=device)
    y = x.index_reduce(0, places, x, "prod").sum()
    try:
        y.backward()  # casts to float64, which gives float32 on this device, and adds it
    except RuntimeError as error:
        print(error)
"""


def test_an_error_in_backward_reaches_who_called_it() -> None:
    """A process of its own: backward may have run here before, and a failure ends the process."""
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = "index_add_(): self (Double) and source (Float) must have the same scalar type\n"
    assert (done.returncode, done.stdout) == (0, said), done.stderr
