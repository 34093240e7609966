"""``opcheck plan`` and ``opcheck rules`` on the command line, and on a model of a user's."""

import json
from pathlib import Path

import pytest

from opcheck.commands.plan import answer as plan_answer
from opcheck.commands.rules import answer as rules_answer
from opcheck.errors import ExitCode, UsageError
from opcheck.model.plan import Label, Tier
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.target import TargetSpec
from opcheck.views.formats import Page, report_view
from tests.app.stand_in import StandIn, run
from tests.views.plans import PLANS, RULES


def test_plan_asks_for_everything_that_was_said() -> None:
    rooms = StandIn()
    line = (
        "plan swap -t ascend-310p@26.0.0+torch2.7 -t all --input ids=1x128:int64 --db a --db b "
        "--max-age 90 --timeout 2.5 --memory 4 --trust --format json"
    )
    assert run(line.split(), rooms) == ExitCode.PASS
    assert rooms.asked == [
        ScanRequest(
            ModelSpec("swap", ("ids=1x128:int64",), trust=True, timeout=2.5, memory=4.0),
            (TargetSpec("ascend-310p", "26.0.0", "2.7"), TargetSpec("all")),
            databases=("a", "b"),
            max_age=90,
        )
    ]


@pytest.mark.parametrize("name", ["json", "text"])
@pytest.mark.parametrize("sample", PLANS)
def test_stdout_is_the_answer_and_nothing_else(
    name: str, sample: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert run(f"plan {sample} --format {name}".split(), StandIn()) == ExitCode.PASS
    assert capsys.readouterr().out == report_view(name).render(PLANS[sample], Page(100))


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("plan", ExitCode.USAGE),
        ("plan swap -t Ascend!", ExitCode.USAGE),
        ("plan swap --exact", ExitCode.USAGE),
        ("plan no-such-kind", ExitCode.USAGE),
        ("plan missing.pt2", ExitCode.MODEL),
        ("plan no-database", ExitCode.DATABASE),
        ("plan stuck", ExitCode.PASS),
        ("rules", ExitCode.PASS),
        ("rules roll-by-joining", ExitCode.PASS),
        ("rules a b", ExitCode.USAGE),
        ("rules roll-by-joining --check", ExitCode.PASS),
        ("explain roll-by-joining", ExitCode.PASS),
    ],
)
def test_exit_codes(line: str, code: ExitCode, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(line.split(), StandIn()) == code
    assert bool(capsys.readouterr().out) is (code == ExitCode.PASS)


def test_a_rule_that_is_off_fails_the_check(capsys: pytest.CaptureFixture[str]) -> None:
    rooms = StandIn()
    assert run(["rules", "--check", "--rules", "mine"], rooms) == ExitCode.GATE
    assert rooms.asked == [("check rules", "", ("mine",))]
    assert "3 off" in capsys.readouterr().out


def test_one_rule_is_shown_whole(capsys: pytest.CaptureFixture[str]) -> None:
    rooms = StandIn()
    assert run(["rules", "roll-by-joining", "--format", "json"], rooms) == ExitCode.PASS
    assert rooms.asked == [("rules", "roll-by-joining", ())]
    (rule,) = json.loads(capsys.readouterr().out)["rules"]
    assert rule["patch"] == RULES[0].code


# --- the rooms themselves ------------------------------------------------------------------------

NET = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x):
        return torch.isin(x, torch.tensor([1, 2], device=x.device)), torch.neg(x)


def model():
    return Net(), torch.arange(12).reshape(3, 4)
"""


@pytest.mark.slow
def test_a_model_of_a_users_gets_its_suggestion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("net.py").write_text(NET, encoding="utf-8")
    targets = (TargetSpec("moorethreads-s4000", "1.0.0"), TargetSpec("ascend-910b"))
    missing, native = plan_answer.plan(ScanRequest(ModelSpec("net.py:model"), targets)).targets
    (finding,) = [f for f in missing.findings if not f.verdict.on_device]
    assert (finding.op, finding.uses[0].line) == ("aten::isin.Tensor_Tensor", 6)
    (way,) = finding.suggestions
    assert (way.rule, way.tier, way.label) == ("isin-by-comparing", Tier.SWAP, Label.EXACT)
    assert missing.plan is not None
    assert missing.plan.tiers[0].operators == ("aten::isin.Tensor_Tensor",)
    assert missing.plan.tiers[0].runs is True
    assert native.plan is not None
    assert not any(f.suggestions for f in native.findings)


@pytest.mark.parametrize("name", ["isin-by-comparing", "aten::isin.Tensor_Tensor", "isin"])
def test_rules_are_found_by_name_and_by_what_they_replace(name: str) -> None:
    assert [rule.name for rule in rules_answer.rules(name)] == ["isin-by-comparing"]


RULE = """\
import torch
from torch import Tensor

from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.draw import Draw


def erfcx(self: Tensor) -> Tensor:
    return torch.exp(self * self) * torch.erfc(self) SPOILED


class ErfcxByErfc(Rule):
    \"\"\"By its definition.\"\"\"

    name = "erfcx-by-definition"
    label = "tolerance"
    tolerance = 1e4
    replaces = ("aten::special_erfcx",)
    summary = "Multiply erfc by the exponential"
    replace = staticmethod(erfcx)

    def example(self, op: str, draw: Draw) -> Arguments:
        return (draw.tensor(edges=False, dtypes=(torch.float64,)),), {}
"""


@pytest.mark.slow
def test_rules_of_the_users_own_are_tried_and_planned_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, spoiled in {"good": "", "bad": "+ 1"}.items():
        Path(name).mkdir()
        Path(name, "erfcx.py").write_text(RULE.replace("SPOILED", spoiled), encoding="utf-8")
    (good,) = rules_answer.check_rules("", ["good"]).checks
    (bad,) = rules_answer.check_rules("", ["bad"]).checks
    assert (good.holds, good.wrong, bad.holds) == (True, 0, False)
    assert good.compared > 100
    assert bad.first
    Path("net.py").write_text(
        NET.replace("torch.neg(x)", "torch.special.erfcx(x.float())"), encoding="utf-8"
    )
    request = ScanRequest(ModelSpec("net.py:model"), (TargetSpec("ascend-910b"),), rules=("good",))
    (target,) = plan_answer.plan(request).targets
    ways = {way.rule for finding in target.findings for way in finding.suggestions}
    assert "erfcx-by-definition" in ways


@pytest.mark.parametrize(
    ("file", "text", "told"),
    [
        (None, "", "is no folder"),
        ("none.txt", "", "no file in rules has a rule"),
        ("broken.py", "1 / 0", "ZeroDivisionError"),
        ("half.py", RULE.replace("    summary =", "    other ="), "does not say its summary"),
        ("gone.py", RULE.replace("aten::special_erfcx", "aten::nothing"), "aten::nothing"),
        ("twice.py", RULE.replace("erfcx-by-definition", "roll-by-joining"), "two rules"),
        ("label.py", RULE.replace('"tolerance"', '"close"'), "'close' is not a valid Label"),
        ("abstract.py", RULE.replace("def example", "def other"), "is not whole"),
    ],
)
def test_a_folder_of_rules_that_is_none_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str | None, text: str, told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    if file:
        Path("rules").mkdir()
        Path("rules", file).write_text(text.replace("SPOILED", ""), encoding="utf-8")
    with pytest.raises(UsageError, match=told):
        rules_answer.rules("", ["rules"])


def test_an_unknown_rule_names_its_neighbours() -> None:
    with pytest.raises(UsageError, match="isin-by-comparin'") as caught:
        rules_answer.rules("isin-by-comparin")
    assert caught.value.hint.startswith("did you mean isin-by-comparing")
