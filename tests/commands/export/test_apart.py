"""ExecuTorch's runtime runs in a process of its own where one may be started, else in ours."""

import subprocess
import sys

import pytest

PROGRAM = """
import os
import torch
from opcheck.exporting.execu_torch import _apart
from opcheck.model.limits import Filter
from opcheck.sandbox.limits.confine import allow

ours = os.getpid()
if {confined}:
    allow(Filter(processes=False))
(found,) = _apart(lambda: [torch.tensor([os.getpid(), 7])])
print(found[0].item() == ours, found[1].item())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the filter is of Linux")
@pytest.mark.parametrize(("confined", "told"), [(True, "True 7"), (False, "False 7")])
def test_a_program_runs_where_no_process_may_be_started(confined: bool, told: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(confined=confined)],
        capture_output=True, text=True, check=True, timeout=300,
    )  # fmt: skip
    assert ended.stdout.strip() == told
