"""Kernels in Python: registered where they should be, and run in Triton's interpreter."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.rewrite.custom.made import CHAINS, made, written

TRITON = importlib.util.find_spec("triton")
RUN = """
import sys, torch
x, row = torch.randn(5, 3), torch.randn(3)
calls = {
    "lerp": lambda: torch.lerp(x, row, 0.25), "place": lambda: x.clone().lerp_(row, 0.75),
    "sigmoid": lambda: torch.sigmoid(x), "half": lambda: torch.sigmoid(x.half()),
    "whole": lambda: torch.sigmoid(torch.arange(3)), "empty": lambda: torch.sigmoid(x[:0]),
    "sign": lambda: torch.sign(torch.tensor([3, 0, -2])),
}
before = {name: call() for name, call in calls.items()}
import opcheck_lerp_scalar, opcheck_sigmoid, opcheck_sign
for name, call in calls.items():
    near = 2e-3 if name == "half" else 1e-5
    torch.testing.assert_close(call(), before[name], rtol=near, atol=near)
print("held")
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "TRITON_INTERPRET": "1"}
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, cwd=folder,
        env=environment,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.skipif(TRITON is None, reason="no triton here: its kernels are parsed, not run")
def test_triton_kernels_run_in_its_interpreter(tmp_path: Path) -> None:
    for op in ("aten::lerp.Scalar", "aten::sigmoid", "aten::sign"):
        folder = written(tmp_path / "projects", made(CHAINS["triton"], op))
        kernel = folder / folder.name / "kernel.py"
        text = kernel.read_text(encoding="utf-8").replace('"CUDA")', '"CPU")')
        kernel.write_text(text, encoding="utf-8")
        (folder / folder.name).rename(tmp_path / folder.name)
    (tmp_path / "run.py").write_text(RUN, encoding="utf-8")
    done = run(tmp_path, "run.py")
    assert done.stdout.strip() == "held", done.stderr[-3000:]


@pytest.mark.slow
def test_a_metal_kernel_is_registered_without_a_device(tmp_path: Path) -> None:
    folder = written(tmp_path, made(CHAINS["metal"], "aten::sigmoid"))
    code = (
        f"import torch, {folder.name};"
        "print(torch._C._dispatch_has_kernel_for_dispatch_key('aten::sigmoid', 'MPS'))"
    )
    done = run(folder, "-c", code)
    assert done.stdout.strip() == "True", done.stderr[-3000:]
