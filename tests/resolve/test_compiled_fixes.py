"""What a plan says of code that cannot be compiled on a target, or of which nobody knows."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from opcheck.commands.plan import answer as plan_answer
from opcheck.db.store import Database
from opcheck.model.matrix import Compiler, CompilerDoes
from opcheck.model.plan import Label, Suggestion, Tier
from opcheck.model.report import TargetReport
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.target import TargetSpec
from opcheck.resolve.compiled import NOT_PROVEN
from opcheck.resolve.compiled_fixes import fixes
from opcheck.resolve.findings import resolve
from opcheck.resolve.suggestions import planned
from opcheck.views.formats import report_view
from tests.resolve.test_compiled import RAISES, SOURCE, of, on, region

DATABASE = Database.open()
EAGER = "what compiling was to save: the calls go to the device one by one, as they were scanned"
NOT_SEEN = "what is compiled then was not seen"
ONE_BY_ONE = "the kernels that the other back end writes; Dynamo traces the code still"
Shown = tuple[str, Label, str, str, str]


def shown(way: Suggestion) -> Shown:
    return way.rule, way.label, way.summary, way.gives_up, way.unmeasured


DISABLED: Shown = (
    "compile-disabled", Label.EXACT,
    "Set the variable before the program starts; torch.compile then leaves the code as it is "
    "written: TORCHDYNAMO_DISABLE=1",
    EAGER, "",
)  # fmt: skip
STANCE: Shown = (
    "compile-eager", Label.EXACT,
    "Have torch.compile leave the code as it is written: "
    'torch.compiler.set_stance("force_eager")',
    EAGER, "",
)  # fmt: skip
ONE: Shown = (
    "compile-aot-eager", Label.TOLERANCE,
    "Compile with the back end that calls the own kernels of the device: "
    'torch.compile(model, backend="aot_eager")',
    ONE_BY_ONE, NOT_SEEN,
)  # fmt: skip
OWN: Shown = (
    "compile-npu", Label.TOLERANCE,
    "Compile with the back end of torch_npu, which is torchair: "
    'torch.compile(model, backend="npu")',
    "one more package: without torchair it calls the own kernels of the device one by one, and "
    "warns of it",
    NOT_SEEN,
)  # fmt: skip
XLA: Shown = (
    "compile-openxla", Label.TOLERANCE,
    'Compile with the back end of PyTorch/XLA: torch.compile(model, backend="openxla")',
    "it is for inference alone", NOT_SEEN,
)  # fmt: skip
SUPPRESSED: Shown = (
    "compile-suppress-errors", Label.TOLERANCE,
    "Have Dynamo run as it is written what does not compile: "
    "torch._dynamo.config.suppress_errors = True",
    "what compiling was to save, there alone; errors become warnings, and code that is compiled "
    "with fullgraph=True raises still",
    NOT_SEEN,
)  # fmt: skip


def plan_on(spec: str, compiler: Compiler) -> TargetReport:
    target = DATABASE.resolve(TargetSpec.parse(spec))
    given = of(region())
    found = resolve(given, on(inductor=compiler))
    return planned(found, given, (), DATABASE.remedies(target))


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("ascend-910b@7.2.0+torch2.1", [DISABLED, ONE, OWN]),
        ("google-tpu-v4@r2.10", [DISABLED, STANCE, ONE, XLA]),
        ("google-tpu-v4@r2.0", [DISABLED, ONE]),
        ("cambricon-mlu370@r2.4_develop", [DISABLED, ONE]),
        ("apple-mps@2.6.0", [DISABLED, STANCE, ONE]),
    ],
)
def test_a_backend_that_raises_has_ways_without_it(spec: str, expected: list[Shown]) -> None:
    report = plan_on(spec, RAISES)
    first = report.findings[0]
    assert [shown(way) for way in first.suggestions] == expected
    assert {way.places for way in first.suggestions} == {(0,)}
    assert {way.tier for way in first.suggestions} == {Tier.COMPAT}
    assert all(way.evidence for way in first.suggestions)


def test_code_that_runs_as_it_is_written_counts_and_other_backends_are_advice() -> None:
    report = plan_on("cambricon-mlu370@r2.4_develop", RAISES)
    assert [way.is_advice for way in report.findings[0].suggestions] == [False, True]
    assert report.summary.runs is False
    assert report.plan is not None
    assert [(one.tier, one.support_rate, one.runs) for one in report.plan.tiers] == [
        (Tier.SWAP, 0.5, False), (Tier.COMPAT, 1.0, True),
        (Tier.STRUCTURAL, 1.0, True), (Tier.CUSTOM, 1.0, True),
    ]  # fmt: skip
    assert report.plan.stuck == ()


def test_a_backend_that_nobody_called_supported_may_be_left_out() -> None:
    known = Compiler(CompilerDoes.RUNS, SOURCE)
    first = plan_on("hygon-k100", known).findings[0]
    assert first.reason.code == NOT_PROVEN
    assert [shown(way) for way in first.suggestions] == [DISABLED, STANCE]


def test_calls_that_do_not_compile_may_run_as_they_are_written() -> None:
    report = plan_on("nvidia-t4", RAISES)
    refused = report.findings[0]
    call = replace(refused, reason=replace(refused.reason, code="compile-call-not-supported"))
    target = DATABASE.resolve(TargetSpec.parse("nvidia-t4"))
    found = list(fixes(call, DATABASE.remedies(target)))
    assert list(map(shown, found)) == [DISABLED, STANCE, ONE, SUPPRESSED]


def test_code_that_compiles_has_no_fix() -> None:
    known = Compiler(CompilerDoes.RUNS, SOURCE, supported=frozenset({"inference"}))
    assert [one.suggestions for one in plan_on("nvidia-a100", known).findings] == [(), ()]


MODEL = """
import torch
from torch import nn

model = torch.compile(nn.Sequential(nn.Linear(8, 8), nn.ReLU()))
"""


@pytest.mark.slow
def test_a_plan_of_a_compiled_model_is_shown_in_every_format(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(MODEL)
    spec = ModelSpec(f"{path}:model", ("input=2x8:float32",))
    target = TargetSpec.parse("ascend-910b@7.2.0+torch2.1")
    report = plan_answer.plan(ScanRequest(spec, (target,)))
    (found,) = json.loads(report_view("json").render(report))["targets"][0]["findings"][:1]
    assert [way["rule"] for way in found["suggestions"]] == [DISABLED[0], ONE[0], OWN[0]]
    for view in ("text", "html", "sarif"):
        assert "TORCHDYNAMO_DISABLE=1" in " ".join(report_view(view).render(report).split())
    assert "compile-disabled" in report_view("markdown").render(report)
