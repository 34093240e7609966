"""Models that ask torch what it has, for targets whose torch has less."""

from pathlib import Path

import pytest

from opcheck.commands.scan.answer import scan
from opcheck.model.report import Report, TargetReport
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.target import TargetSpec
from opcheck.model.trace import NOT_AS_OLDER

pytestmark = pytest.mark.since("2.10")  # what the models ask for

NEW, OLD = "moorethreads-s4000@2.7.1+torch2.7", "cambricon-mlu590@r2.4_develop+torch2.4"
ASKS = """
import torch
import torch.nn.functional as F
from torch import nn

GROUPED = hasattr(torch, "_grouped_mm")


class Net(nn.Module):
    def forward(self, x, weights, ends):
        if GROUPED:
            return torch._grouped_mm(x, weights, offs=ends)
        return torch.bmm(x.unsqueeze(0), weights[:1])


def made():
    ends = torch.tensor([8], dtype=torch.int32)
    return Net(), (torch.zeros(8, 16).bfloat16(), torch.zeros(1, 16, 16).bfloat16(), ends)
"""
VERSION = """
import importlib.metadata
import torch
from torch import nn

try:
    from torch.nn.functional import grouped_mm
except ImportError:
    grouped_mm = None

OLD = tuple(map(int, torch.__version__.split(".")[:2])) < (2, 5)
assert torch.__version__.split("+")[0] == importlib.metadata.version("torch").split("+")[0]


class Net(nn.Module):
    def forward(self, x, weights, ends):
        if grouped_mm is not None:
            return grouped_mm(x, weights, offs=ends)
        return torch.sigmoid(x) if OLD else torch.tanh(x)


""" + ASKS[ASKS.index("def made") :]
NEEDS = ASKS.replace("GROUPED = hasattr", "GROUPED = True or hasattr")
REFUSES = ASKS.replace(
    "GROUPED =", "if torch.__version__ < '2.6': raise ImportError('needs torch 2.6')\nGROUPED ="
)
LOOKS = """
import importlib
import torch
from torch import nn
from torch.nn.functional import rms_norm


def imports(line):
    try:
        exec(line)
    except ImportError:
        return False
    return True


SEEN = (
    hasattr(torch.ops.aten, "_grouped_mm"), hasattr(torch.Tensor, "hash_tensor"),
    hasattr(torch.ones(1), "hash_tensor"), "accelerator" in dir(torch),
    imports("import torch.accelerator"), imports("from torch import accelerator"),
    imports("from torch.nn.attention.flex_attention import flex_attention"),
)
KNOWN = (
    hasattr(torch.ops.aten, "rms_norm"), hasattr(torch.Tensor, "dim_order"),
    imports("from torch.nn.attention import sdpa_kernel"), imports("import torch.export"),
)


class Net(nn.Module):
    def forward(self, x, weights, ends):
        if hasattr(torch, "_grouped_mm") and all(SEEN):
            return torch._grouped_mm(x, weights, offs=ends)
        assert all(KNOWN) and not any(SEEN), (KNOWN, SEEN)
        return rms_norm(x, (16,))


""" + ASKS[ASKS.index("def made") :]


def scanned(folder: Path, text: str, *targets: str) -> Report:
    file = folder / "asks.py"
    file.write_text(text, encoding="utf-8")
    specs = tuple(map(TargetSpec.parse, targets))
    return scan(ScanRequest(ModelSpec(f"{file}:made"), specs))


def operators(target: TargetReport) -> list[str]:
    return sorted(finding.op for finding in target.findings)


def traced_as(target: TargetReport) -> list[str]:
    return [a.text for a in target.advisories if a.code == "traced-as-older-torch"]


@pytest.mark.slow
def test_each_target_gets_the_way_that_its_own_torch_takes(tmp_path: Path) -> None:
    report = scanned(tmp_path, VERSION, NEW, OLD, "ascend-910b@26.1.0+torch2.12")
    new, old, ascend = report.targets
    assert operators(new) == ["aten::tanh"]
    assert operators(old) == ["aten::sigmoid"]
    assert operators(ascend) == ["aten::_grouped_mm"]
    told = "traced as torch {} takes it: what that lacks was hidden from the model's code and its "
    told += "libraries, which looked for torch.nn.functional.grouped_mm"
    assert traced_as(new) == [told.format("2.7")]
    assert traced_as(old) == [told.format("2.4")]
    assert traced_as(ascend) == []
    assert new.summary.runs is True
    assert report.trace.gaps == ()


@pytest.mark.slow
def test_one_target_alone_is_reported_by_the_trace_of_its_torch(tmp_path: Path) -> None:
    report = scanned(tmp_path, ASKS, NEW)
    (target,) = report.targets
    assert operators(target) == ["aten::bmm", "aten::slice.Tensor", "aten::unsqueeze"]
    assert report.trace.calls == 3
    assert target.kernels is not None
    assert "aten::_grouped_mm" not in {kernel.op for kernel in target.kernels}


@pytest.mark.slow
def test_code_that_does_without_nothing_keeps_its_answer_and_says_why(tmp_path: Path) -> None:
    report = scanned(tmp_path, NEEDS, NEW, "nvidia-h100@2.13.0")
    needs, has = report.targets
    assert [(f.op, f.reason.code) for f in needs.findings] == [
        ("aten::_grouped_mm", "not-in-target-torch")
    ]
    assert needs.summary.runs is None
    assert traced_as(needs) == []
    assert has.summary.runs is True
    (gap,) = report.trace.gaps
    assert (gap.where, gap.code) == (NEW, NOT_AS_OLDER)
    assert gap.reason.startswith("with what torch 2.7 lacks hidden from it, the model did not run")
    assert "has no attribute '_grouped_mm'" in gap.reason


@pytest.mark.slow
def test_where_the_target_s_torch_is_refused_a_newer_one_that_lacks_it_too_is_taken(
    tmp_path: Path,
) -> None:
    report = scanned(tmp_path, REFUSES, OLD)
    (target,) = report.targets
    assert operators(target) == ["aten::bmm", "aten::slice.Tensor", "aten::unsqueeze"]
    (told,) = traced_as(target)
    assert told.startswith("traced as torch 2.7 takes it: ")
    assert "With torch 2.4, which the target runs, it does not load" in told
    assert "needs torch 2.6" in told


@pytest.mark.slow
def test_code_that_runs_on_neither_gives_today_s_answer_with_the_reason(tmp_path: Path) -> None:
    text = ASKS.replace("GROUPED =", "from torch import _grouped_mm\nGROUPED =")
    report = scanned(tmp_path, text, OLD)
    (target,) = report.targets
    assert [(f.op, f.reason.code) for f in target.findings] == [
        ("aten::_grouped_mm", "not-in-target-torch")
    ]
    (gap,) = report.trace.gaps
    assert gap.code == NOT_AS_OLDER
    assert "cannot import name '_grouped_mm' from 'torch'" in gap.reason


@pytest.mark.slow
def test_nothing_is_traced_again_where_no_call_is_missing(tmp_path: Path) -> None:
    heard: list[str] = []
    file = tmp_path / "plain.py"
    file.write_text(ASKS.replace('hasattr(torch, "_grouped_mm")', "False"), encoding="utf-8")
    request = ScanRequest(ModelSpec(f"{file}:made"), (TargetSpec.parse(OLD),))
    report = scan(request, progress=heard.append)
    assert traced_as(report.targets[0]) == []
    assert not any("once more" in line for line in heard)


@pytest.mark.slow
def test_modules_operators_and_methods_are_hidden_and_nothing_older(tmp_path: Path) -> None:
    report = scanned(tmp_path, LOOKS, OLD)
    (target,) = report.targets
    assert report.trace.gaps == ()
    assert operators(target) == ["aten::rms_norm"]
    (told,) = traced_as(target)
    assert told.endswith(
        "torch.Tensor.hash_tensor, torch._grouped_mm, torch.accelerator, "
        "torch.nn.attention.flex_attention, torch.ops.aten._grouped_mm"
    )
