"""Models that import libraries which are not installed, from the file to the finding."""

from pathlib import Path

import pytest

from opcheck.commands.scan import answer as scan_answer
from opcheck.errors import UsageError
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.target import TargetSpec

MODEL = """\
import torch
from torch import nn
from flash_attn import flash_attn_func
from mine.ops import twice


class Net(nn.Module):
    def forward(self, x):
        return twice(flash_attn_func(x, x, x, causal=True).flatten(0, 2), times=3)


def net():
    return Net(), (torch.randn(1, 4, 2, 8),)
"""
OWN = """\
schema: opcheck.schemas/1
library: mine
operators:
  mine::twice:
    signature: "(Tensor x, int times=2) -> Tensor"
    sizes: {x: [rows, columns]}
    returns: [{like: x, shape: [rows * times, columns]}]
functions:
  mine.ops.twice: mine::twice
"""


def asked(tmp_path: Path, own: str) -> ScanRequest:
    (tmp_path / "net.py").write_text(MODEL)
    (tmp_path / "own.yaml").write_text(own)
    targets = (TargetSpec("nvidia-a100"), TargetSpec("ascend-910b"))
    return ScanRequest(
        ModelSpec(f"{tmp_path}/net.py:net", schemas=(f"{tmp_path}/own.yaml",)), targets
    )


@pytest.mark.slow
def test_calls_of_libraries_are_findings_with_their_lines(tmp_path: Path) -> None:
    report = scan_answer.scan(asked(tmp_path, OWN))
    found = {
        f"{target.vendor}-{target.chip}": {
            finding.op: (finding.verdict.value, finding.uses[0].line)
            for finding in target.findings
            if not finding.op.startswith("aten::")
        }
        for target in report.targets
    }
    assert found == {
        "nvidia-a100": {
            "flash_attn::flash_attn_func": ("native", 9),
            "mine::twice": ("unsupported", 9),
        },
        "ascend-910b": {
            "flash_attn::flash_attn_func": ("unsupported", 9),
            "mine::twice": ("unsupported", 9),
        },
    }


def test_a_broken_file_ends_the_scan_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"own\.yaml:2: expected a name, found '0'"):
        scan_answer.scan(asked(tmp_path, OWN.replace("library: mine", 'library: "0"')))
