"""The library as a program uses it: ``opcheck.scan``."""

import json
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import torch
from torch import nn

import opcheck
from opcheck.commands.explain import answer as explain_answer
from opcheck.db.store import Database
from opcheck.errors import SourceError, TraceError, UsageError
from opcheck.model.report import Report
from opcheck.model.target import TargetSpec
from opcheck.model.verdict import Verdict
from opcheck.views.formats import report_view

TARGET = "ascend-910b@26.1.0+torch2.12"


class Net(nn.Module):
    """A few layers, one shared weight, one buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(8, 8)
        self.second = nn.Linear(8, 8)
        self.second.weight = self.first.weight
        self.register_buffer("scale", torch.ones(8))

    def forward(self, x: torch.Tensor, double: bool = False) -> torch.Tensor:
        y = self.second(torch.relu(self.first(x))) * self.scale
        return torch.lgamma(y) if double else y


def operators(report: Report, target: int = 0) -> dict[str, Verdict]:
    return {finding.op: finding.verdict for finding in report.targets[target].findings}


@pytest.mark.slow
@pytest.mark.parametrize(
    "inputs", [torch.ones(2, 8), (torch.ones(2, 8),), {"x": torch.ones(2, 8)}, None]
)
def test_inputs_of_every_form(inputs: Any) -> None:
    report = opcheck.scan(Net(), inputs, targets=[TARGET])
    assert operators(report) == {
        "aten::linear": Verdict.DECOMPOSED,
        "aten::mul.Tensor": Verdict.NATIVE,
        "aten::relu": Verdict.NATIVE,
    }
    assert report.targets[0].summary.runs is True
    assert report.targets[0].target == TARGET


@pytest.mark.slow
def test_positional_and_named_inputs_together() -> None:
    report = opcheck.scan(Net(), ((torch.ones(2, 8),), {"double": True}), targets=[TARGET])
    assert operators(report)["aten::lgamma"] is Verdict.FALLBACK


@pytest.mark.slow
def test_module_is_left_as_it_was() -> None:
    model = Net().train()
    before = dict(model.named_parameters()) | dict(model.named_buffers())
    values = {name: tensor.clone() for name, tensor in before.items()}
    opcheck.scan(model, torch.ones(2, 8), targets=[TARGET])
    after = dict(model.named_parameters()) | dict(model.named_buffers())
    assert all(after[name] is tensor for name, tensor in before.items())
    assert all(torch.equal(after[name], value) for name, value in values.items())
    assert model.first.weight is model.second.weight
    assert model.training
    assert model(torch.ones(2, 8)).shape == (2, 8)


@pytest.mark.slow
def test_same_model_gives_the_same_report() -> None:
    reports = [opcheck.scan(Net(), torch.ones(2, 8), targets=[TARGET]) for _ in range(2)]
    assert reports[0] == reports[1]


@pytest.mark.slow
def test_one_target_and_many_agree() -> None:
    names = ["ascend-910a", "ascend-310p", "ascend-910b@6.0.0", TARGET]
    many = opcheck.scan(Net(), torch.ones(2, 8), targets=names)
    for index, name in enumerate(names):
        alone = opcheck.scan(Net(), torch.ones(2, 8), targets=[name]).targets[0]
        assert alone.findings == many.targets[index].findings
        assert alone.summary == many.targets[index].summary
        assert alone.kernels is not None
    assert [target.kernels for target in many.targets] == [None] * 4


@pytest.mark.slow
def test_exact_gives_kernels_of_every_target() -> None:
    report = opcheck.scan(
        Net(), torch.ones(2, 8), targets=["ascend-910b", "ascend-910b@6.0.0"], exact=True
    )
    for target in report.targets:
        assert {k.op: k.count for k in target.kernels or ()} == {
            "aten::addmm": 2,
            "aten::as_strided": 2,
            "aten::mul.Tensor": 1,
            "aten::relu": 1,
        }


@pytest.mark.slow
def test_no_targets_means_the_newest_of_each() -> None:
    report = opcheck.scan(Net(), torch.ones(2, 8))
    newest = sorted(map(str, Database.open().targets()))
    assert sorted(t.target for t in report.targets) == newest  # the best of them first


@pytest.mark.slow
def test_report_is_valid_against_the_published_schema() -> None:
    schema = json.loads(
        resources.files("opcheck.views").joinpath("schema/opcheck.report-1.json").read_text()
    )
    report = opcheck.scan(Net(), torch.ones(2, 8), targets=["ascend-910a", TARGET])
    jsonschema.validate(json.loads(report_view("json").render(report)), schema)


@pytest.mark.parametrize(
    ("target", "hint"),
    [
        ("ascend-910x", "ascend-910"),
        ("ascend-910b@9.9", "26.1.0"),
        ("ascend-910b+torch1.1", "2.12"),
        ("not a target?", ""),
    ],
)
def test_unknown_target_names_what_there_is(target: str, hint: str) -> None:
    with pytest.raises(UsageError) as error:
        opcheck.scan(Net(), torch.ones(2, 8), targets=[target])
    assert hint in error.value.hint


@pytest.mark.slow
def test_inputs_that_do_not_fit() -> None:
    with pytest.raises(TraceError, match=r"refuses its inputs at once.*float32\[2, 7\]"):
        opcheck.scan(Net(), torch.ones(2, 7), targets=[TARGET])


@pytest.mark.slow
def test_model_without_operators() -> None:
    with pytest.raises(TraceError, match="calls no operator"):
        opcheck.scan(nn.Identity(), torch.ones(2), targets=[TARGET])


@pytest.mark.parametrize("model", [3, len, Net])
def test_what_is_no_module_is_refused(model: object) -> None:
    with pytest.raises(UsageError, match="not a model"):
        opcheck.scan(model, torch.ones(2), targets=[TARGET])


@pytest.mark.slow
def test_compiled_modules_keep_their_names() -> None:
    compiled: Any = torch.compile(nn.Sequential(nn.ReLU()))
    model = nn.Sequential(compiled)
    report = opcheck.scan(model, torch.ones(2), targets=[TARGET])
    (relu,) = (found for found in report.targets[0].findings if found.op == "aten::relu")
    assert [place.module for place in relu.uses] == ["*.*"]


@pytest.mark.slow
def test_source_text_is_scanned_as_on_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(
        "import torch\n"
        "class Net(torch.nn.Module):\n"
        "    def forward(self, x):\n"
        "        return torch.nextafter(x, x)\n"
    )
    report = opcheck.scan(f"{path}:Net", ["x=2x3"], targets=[TARGET])
    finding = report.targets[0].findings[0]
    assert (finding.op, finding.verdict) == ("aten::nextafter", Verdict.FALLBACK)
    assert (finding.uses[0].file, finding.uses[0].line) == ("net.py", 4)
    assert report.model.kind == "python"
    with pytest.raises(SourceError, match="no such file"):
        opcheck.scan(str(tmp_path / "none.py:Net"), targets=[TARGET])


@pytest.mark.slow
def test_explain_takes_every_spelling_of_an_operator() -> None:
    spec = (TargetSpec.parse(TARGET),)
    for text in ("aten::gelu", "gelu", "aten.gelu.default", "torch.ops.aten.gelu.default"):
        found = explain_answer.explain(text, spec)
        assert [e.op for e in found if e.op == "aten::gelu"] == ["aten::gelu"]
        gelu = next(e for e in found if e.op == "aten::gelu")
        assert (gelu.verdict, gelu.reason.code) == (Verdict.NATIVE, "registered-through-out")
    assert {e.op for e in explain_answer.explain("topk", spec)} == {
        "aten::topk",
        "aten::topk.values",
    }
    with pytest.raises(UsageError, match="unknown operator"):
        explain_answer.explain("no_such_operator", spec)
