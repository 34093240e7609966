"""``opcheck.gate`` and ``opcheck.testing`` as a user's test suite has them."""

from pathlib import Path
from typing import Any

import pytest
import torch
from msgspec.structs import replace
from torch import nn

import opcheck
from opcheck.commands.gate.values import Standing
from opcheck.errors import TraceError, UsageError
from opcheck.model.policy import Policy
from opcheck.testing import assert_compatible
from opcheck.views.formats import report_view
from tests.commands.gate.made import finding, report

TARGET = "ascend-910b@26.1.0+torch2.12"
STRICT = {"fail-on": {"verdict": ["unsupported", "fallback"]}}


class Plain(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x)


class Gamma(nn.Module):
    """The target leaves ``lgamma`` to the host."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.lgamma(x)


X = torch.ones(2, 8)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No project's policy is near."""
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)


def failure(*arguments: Any, **options: Any) -> str:
    with pytest.raises(AssertionError) as caught:
        assert_compatible(*arguments, **options)
    return str(caught.value)


@pytest.mark.slow
def test_what_runs_passes() -> None:
    found = assert_compatible(Plain(), X, TARGET)
    assert [target.target for target in found.targets] == [TARGET]


@pytest.mark.slow
def test_the_message_says_what_fails_where_and_the_suggestion() -> None:
    told = failure(Gamma(), X, TARGET, policy=STRICT)
    assert told.startswith(f"✘ fails the gate: Gamma\n  ✘ {TARGET}: fails by 1 finding\n")
    assert "aten::lgamma · fallback · 1 call" in told
    assert "test_testing.py:" in told
    assert "instead   Write it with polynomials" in told
    assert "lgamma-by-polynomials" in told


@pytest.mark.slow
def test_inputs_of_an_iterator_are_read_once() -> None:
    assert "aten::lgamma" in failure(Gamma(), iter([X, X[:1]]), TARGET, policy=STRICT)


@pytest.mark.slow
def test_what_is_allowed_passes() -> None:
    found = assert_compatible(Gamma(), X, TARGET, policy=STRICT, allow=["aten::lgam*"])
    assert found.standings[Standing.WAIVED] == 1
    (one,) = (one for target in found.targets for one in target.judged)
    assert_compatible(Gamma(), X, TARGET, policy=STRICT, allow=[one.finding.id])


@pytest.mark.slow
def test_what_is_allowed_for_nothing_is_told() -> None:
    with pytest.warns(UserWarning, match="nothing that fails matches allow='aten::sin'"):
        assert_compatible(Plain(), X, TARGET, allow=["aten::sin"])


@pytest.mark.slow
def test_a_test_looks_for_no_policy_file() -> None:
    Path("opcheck.yaml").write_text("fail-on: {reason: ['*']}\n")
    assert_compatible(Plain(), X, TARGET)
    assert "policy: opcheck.yaml" in failure(Plain(), X, TARGET, policy="opcheck.yaml")


@pytest.mark.slow
def test_the_policy_names_targets_where_the_test_does_not() -> None:
    found = assert_compatible(Plain(), X, policy={"targets": [TARGET]})
    assert [target.target for target in found.targets] == [TARGET]


@pytest.mark.slow
def test_what_failed_before_does_not_fail_beside_it() -> None:
    base = opcheck.scan(Gamma(), X, targets=[TARGET])
    found = assert_compatible(Gamma(), X, TARGET, policy=STRICT, against=base)
    assert found.standings[Standing.UNCHANGED] == 1


def test_no_answer_is_no_failure_of_the_test() -> None:
    with pytest.raises(UsageError, match="ascend-1"):
        assert_compatible(Plain(), X, "ascend-1")


def test_a_report_is_judged_as_it_is() -> None:
    assert not opcheck.gate(report(finding())).passed
    assert opcheck.gate(report(finding()), {"fail-on": {"verdict": []}}).passed
    assert opcheck.gate(report(finding()), Policy(fail_verdicts=frozenset())).passed
    Path("report.json").write_text(report_view("json").render(report(finding())))
    assert not opcheck.gate("report.json").passed


def test_the_project_s_policy_holds_as_on_the_command_line() -> None:
    Path("opcheck.yaml").write_text("fail-on: {verdict: []}\n")
    assert opcheck.gate(report(finding())).passed
    assert opcheck.gate(report(finding())).policy == "opcheck.yaml"


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ({"fail-on": {"verdict": ["bad"]}}, "the policy: .*bad. .at fail-on > verdict > 0"),
        ({"colour": "red"}, "the policy: .*colour"),
        ("none.yaml", "cannot read none.yaml"),
    ],
)
def test_what_is_no_policy_is_told(policy: Any, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        opcheck.gate(report(), policy)
    caught.match(message)


def test_a_report_is_not_run() -> None:
    with pytest.raises(UsageError, match="a report was given"):
        opcheck.gate(report(), inputs=X)
    with pytest.raises(UsageError, match="has no target"):
        opcheck.gate(report(), targets=["nvidia-a100"])


def test_what_cannot_be_judged_never_passes() -> None:
    with pytest.raises(TraceError, match="no target"):
        opcheck.gate(replace(report(), targets=()))
