"""Imports of Triton that a file cannot do without, found by reading it."""

from pathlib import Path

import pytest

import opcheck
from opcheck.model.verdict import Verdict
from opcheck.source.building.stand_ins.imports import in_file


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        ("import torch\nimport triton.language as tl\n", [2]),
        ("from triton import jit\n", [1]),
        ("try:\n    import triton\nexcept ImportError:\n    triton = None\n", []),
        ("if False:\n    import triton\n", []),
        ("def later():\n    import triton\n", []),
        ("from .triton import jit\n", []),
        ("import tritonclient\n", []),
        ("import triton  # and a fault\nx = (", []),
    ],
)
def test_what_fails_with_the_import_is_found(tmp_path: Path, code: str, lines: list[int]) -> None:
    path = tmp_path / "net.py"
    path.write_text(code)
    assert list(in_file(str(path))) == [("triton", str(path), n) for n in lines]


_MODEL = """
import helper
from torch import nn, ones

def model():
    return nn.Linear(2, 2), (ones(1, 2),)
"""


@pytest.mark.slow
def test_a_model_that_imports_triton_through_another_file_does_not_load_on_macos(
    tmp_path: Path,
) -> None:
    (tmp_path / "net.py").write_text(_MODEL)
    (tmp_path / "helper.py").write_text("import triton.language as tl\n")
    report = opcheck.scan(f"{tmp_path}/net.py:model", targets=["apple-mps", "ascend-910b"])
    apple, ascend = report.targets
    found = [f for f in apple.findings if f.op == "triton::import"]
    assert [(f.verdict, f.reason.code, f.uses[0].line) for f in found] == [
        (Verdict.UNSUPPORTED, "kernel-language-not-installed", 1)
    ]
    assert (apple.summary.runs, ascend.summary.runs) == (False, True)
    assert not any(f.op == "triton::import" for f in ascend.findings)
