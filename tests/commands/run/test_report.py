"""A script's run in the form of a scan's answer, and at the gate."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from opcheck.commands.gate.files import ended_early, require_whole
from opcheck.db.store import Database
from opcheck.errors import ExitCode, TraceError
from opcheck.model.costs import Chip
from opcheck.model.emulation import Caution, Emulation, HostCalls, Refusal, Site
from opcheck.model.plan import AfterTier, PlanSummary, Tier
from opcheck.model.report import Place, Reason
from opcheck.model.script import ChipMemory, Ending, ScriptPlan, ScriptRun
from opcheck.model.target import TargetSpec
from opcheck.model.trace import Gap, Phase
from opcheck.model.verdict import Confidence, Verdict
from opcheck.pipeline.script_report import report_of_script
from opcheck.resolve.basis import basis_of
from opcheck.views.formats import command_view
from tests.app.stand_in import outcome
from tests.commands.run.test_views import RUNS, SCRIPT
from tests.views.emulations import kernel, run

HERE, THERE = Site("Net.blocks.*", "net.py", 3), Site("", "train.py", 9)
NO_BFLOAT16 = Reason("dtype-not-supported", "self is bfloat16")
ON_HOST = Reason("host-fallback", "ascend registers no kernel for aten::i0.out")
FOUND = run(
    refusals=(
        Refusal("aten::add.Tensor", NO_BFLOAT16, "E: one", 2, Phase.FORWARD, (HERE, THERE), (1, 1)),
        Refusal("aten::add.Tensor", NO_BFLOAT16, "E: other", 3, Phase.FORWARD, (HERE,), (3,)),
    ),
    host_calls=(HostCalls("aten::i0.out", ON_HOST, 4, 64, Phase.FORWARD, (HERE,), (4,)),),
    kernels=(
        kernel("aten::add.Tensor", 7, Verdict.UNSUPPORTED),
        kernel("aten::i0.out", 4, Verdict.FALLBACK),
        kernel("aten::mm", 2),
    ),
)


def test_a_run_is_a_report_with_a_finding_for_each_reason() -> None:
    report = report_of_script(ScriptRun(SCRIPT, FOUND, Ending.RETURNED))
    (target,) = report.targets
    assert (target.vendor, target.chip, target.sdk, target.torch) == (
        "ascend", "910b", "26.1.0", "2.12",
    )  # fmt: skip
    refused, on_host, *plain = target.findings
    assert (refused.verdict, refused.count) == (Verdict.UNSUPPORTED, 5)
    assert refused.uses == (
        Place("", "train.py", 9, (), (), 1), Place("Net.blocks.*", "net.py", 3, (), (), 4),
    )  # fmt: skip
    assert (on_host.verdict, on_host.count) == (Verdict.FALLBACK, 4)
    told = [(one.op, one.verdict, one.count) for one in plain]
    assert told == [("aten::add.Tensor", Verdict.NATIVE, 2), ("aten::mm", Verdict.NATIVE, 2)]
    summary = target.summary
    assert (summary.runs, summary.support_rate, summary.fallback_bytes) == (False, 0.3333, 64)
    assert sum(summary.calls.values()) == report.trace.calls == 13


def test_a_finding_keeps_its_id_where_lines_move_and_not_where_modules_do() -> None:
    def identities(site: Site) -> set[str]:
        (calls,) = FOUND.host_calls
        moved = replace(FOUND, host_calls=(replace(calls, sites=(site,)),))
        (target,) = report_of_script(ScriptRun(SCRIPT, moved, Ending.RETURNED)).targets
        return {one.id for one in target.findings}

    assert identities(HERE) == identities(replace(HERE, line=8))
    assert identities(HERE) != identities(replace(HERE, module="Net.head"))


def test_the_database_says_how_sure_each_reason_is_and_by_what() -> None:
    database = Database.open()
    matrix = database.matrix(database.resolve(TargetSpec("ascend-910a")))
    basis = basis_of(FOUND, matrix, database.chip(matrix.target))
    assert (basis.device_type, basis.date) == ("npu", matrix.database_date)
    assert basis.memory == ChipMemory(32 * 10**9, 32 * 2**30)
    assert basis_of(FOUND, matrix, Chip("ascend", "910a", "")).memory is None
    by_code = {fact.code: fact for fact in basis.facts}
    assert by_code["dtype-not-supported"].confidence is Confidence.HIGH
    assert by_code["dtype-not-supported"].evidence[0].path.endswith("NpuVariables.cpp")
    assert by_code["host-fallback"].evidence == matrix.fallback.evidence
    assert "torch-differs" in {advisory.code for advisory in basis.advisories}
    (target,) = report_of_script(ScriptRun(SCRIPT, FOUND, Ending.RETURNED, basis=basis)).targets
    assert target.findings[0].evidence == by_code["dtype-not-supported"].evidence
    assert target.advisories == basis.advisories


def planned(found: Emulation, ending: Ending, *, runs: bool | None = True) -> list[AfterTier]:
    """The steps of a run of whose calls a plan was made, i0 being swapped by it."""
    alone = report_of_script(ScriptRun(SCRIPT, found, Ending.RETURNED)).targets[0].findings
    kept = tuple(one for one in alone if one.op == "aten::i0.out")
    tiers = (
        AfterTier(Tier.SWAP, 1.0, runs, ("aten::i0.out",)),
        AfterTier(Tier.COMPAT, 1.0, runs, ()),
    )
    plan = ScriptPlan(kept, PlanSummary(tiers, ()))
    (target,) = report_of_script(ScriptRun(SCRIPT, found, ending, plan=plan)).targets
    assert target.plan is not None
    assert target.plan.stuck == tuple(
        sorted({one.op for one in alone if not one.verdict.on_device} - {"aten::i0.out"})
    )
    return [*target.plan.tiers]


def test_the_steps_of_a_plan_are_counted_in_all_that_the_script_called() -> None:
    clean = replace(FOUND, refusals=(), kernels=FOUND.kernels[1:])
    swap, compat = planned(clean, Ending.RETURNED)
    assert swap == AfterTier(Tier.SWAP, 1.0, True, ("aten::i0.out",))
    assert compat == AfterTier(Tier.COMPAT, 1.0, True, ())


def test_a_step_does_not_make_a_script_run_of_which_something_else_is_left() -> None:
    swap, _ = planned(FOUND, Ending.RETURNED)  # no fix was looked for of what is refused
    assert swap == AfterTier(Tier.SWAP, 0.6667, False, ("aten::i0.out",))
    clean = replace(FOUND, refusals=(), kernels=FOUND.kernels[1:])
    unknown = Caution("aten::mm", Reason("?", "?"), 1, Phase.FORWARD, (HERE,), Verdict.UNKNOWN)
    gap = Gap("net.py:3", "not seen", "other")
    assert [planned(found, ending, runs=runs)[0].runs for found, ending, runs in (
        (clean, Ending.RETURNED, None),
        (clean, Ending.FAILED, True),
        (replace(clean, cautions=(unknown,)), Ending.RETURNED, True),
        (replace(clean, gaps=(gap,)), Ending.ENOUGH, True),
        (clean, Ending.RETURNED, False),
    )] == [None, None, None, None, False]  # fmt: skip


@pytest.mark.parametrize("sample", ["failed", "not_emulated", "exited", "cut"])
def test_a_script_that_did_not_come_to_its_end_is_partial(sample: str) -> None:
    found = ended_early(report_of_script(RUNS[sample]))
    assert found is not None
    assert found.hint.endswith("run the script again once it comes to its end")


def test_a_script_that_never_used_the_device_cannot_be_judged() -> None:
    with pytest.raises(TraceError, match=r"train\.py never used the device, so there is nothing"):
        require_whole(report_of_script(RUNS["unused"]))


@pytest.mark.parametrize(
    ("sample", "code"),
    [
        ("clean", ExitCode.PASS),
        ("refused", ExitCode.GATE),
        ("failed", ExitCode.MODEL),
        ("unused", ExitCode.MODEL),
    ],
)
def test_the_gate_judges_what_a_run_wrote(
    sample: str, code: ExitCode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run.json").write_text(command_view("run", "json").render(RUNS[sample]))
    done = outcome(["gate", "run.json", "--format", "json"])
    assert done.exit_code == code, done.stderr
    if sample == "refused":
        assert outcome(["gate", "run.json", "--against", "run.json"]).exit_code == ExitCode.PASS
        assert outcome(["gate", "run.json", "--write-baseline", "b.json"]).exit_code == 0
        assert outcome(["gate", "run.json", "--baseline", "b.json"]).exit_code == ExitCode.PASS
    if sample == "failed":
        reasons = [
            one["reason"]["text"] for one in json.loads(done.stdout)["targets"][0]["findings"]
        ]
        assert "the script failed: ValueError: no such file" in reasons


def test_a_run_is_converted_to_formats_that_it_does_not_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run.json").write_text(command_view("run", "json").render(RUNS["refused"]))
    done = outcome(["convert", "run.json", "--format", "csv"])
    assert done.exit_code == ExitCode.PASS
    assert "aten::view_as_complex" in done.stdout
