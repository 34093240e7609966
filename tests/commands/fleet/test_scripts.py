"""Scripts of a fleet: one answer for each target, resumed, shown and kept as those of models."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from msgspec.structs import replace

from opcheck.app.main import run as command
from opcheck.commands.fleet.answers.queries import (
    Compared,
    difference_of,
    missing_of,
    query_of,
    summary_of,
)
from opcheck.commands.fleet.answers.queries import Wanted as Ranked
from opcheck.commands.fleet.answers.report import report_of_model
from opcheck.commands.fleet.answers.summary import page_of
from opcheck.commands.fleet.answers.values import Goal, Standing
from opcheck.commands.fleet.keys import key_of
from opcheck.commands.fleet.manifest.read import read_manifest
from opcheck.commands.fleet.store.store import Store
from opcheck.commands.fleet.store.writing import end, finish
from opcheck.commands.fleet.values import Done, Ending, Entry, FleetRequest, Outcome
from opcheck.commands.fleet.views import text
from opcheck.errors import ExitCode, UsageError
from opcheck.model.report import SCRIPT
from opcheck.model.target import TargetSpec
from opcheck.model.verdict import Verdict
from tests.commands.fleet import made
from tests.commands.fleet.made import failed, kernel, result, scanned, target
from tests.commands.fleet.made import script_on as on
from tests.commands.fleet.test_run import MUSA, NPU, ByHand, Heard
from tests.views.test_json import schema

A, B = target("ascend-910b@26.1.0+torch2.12"), target("ascend-310p@26.1.0+torch2.12")
ERFCX, SORT = kernel("aten::special_erfcx"), kernel("aten::sort", Verdict.FALLBACK)
STORE = Path("fleet.db")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ByHand, "jobs", [])
    monkeypatch.setattr(ByHand, "endings", {})
    monkeypatch.setattr(ByHand, "killed_after", None)
    Path("train.py").write_text("print(1)\n")
    Path("net.py").write_text("def build(): ...\n")
    Path("models.yaml").write_text("- {script: train.py --lr 1, name: nano}\n- net.py:build\n")


def kept(outcomes: list[tuple[Entry, Outcome | None]], digest: str = "asked") -> None:
    """A run in the store; None: that entry is not over."""
    entries = [entry for entry, _ in outcomes]
    with Store(STORE) as store:
        run = made.begun(store, entries, [A, B], digest)
        for position, (entry, outcome) in enumerate(outcomes):
            if outcome is not None:
                key = f"{entry.label} {digest}"
                asked = replace(made.asked(entry), key=key)
                finish(store, run, asked, Done(position, outcome, 1.5, "1"))
        if all(outcome is not None for _, outcome in outcomes):
            end(store, run)


def mixed() -> None:
    """A model that runs everywhere, a script that does, one that fails on the second target."""
    kept([
        (made.entry("plain"), scanned(result(A), result(B))),
        (on(A, "good"), scanned(result(A, SORT))),
        (on(B, "good"), scanned(result(B))),
        (on(A), scanned(result(A))),
        (on(B), failed(Ending.FAILED, "no such thing")),
        (on(A, "lost"), failed(Ending.LOST, "gone")),
        (on(B, "lost"), failed(Ending.LOST, "gone")),
    ])  # fmt: skip


def run(*targets: TargetSpec, **rest: object) -> list[str]:
    """Run the manifest; gives what was done."""
    ByHand.jobs.clear()
    from opcheck.commands.fleet.run import run_fleet

    request = FleetRequest("models.yaml", targets or (NPU, MUSA), "fleet.db", **rest)  # type: ignore[arg-type]  # fields of it
    run_fleet(request, Heard(), ByHand)
    return [f"{job.name} {len(job.request.targets)}" for job in ByHand.jobs]


def test_a_script_is_run_once_for_each_target() -> None:
    assert run() == ["nano 1", "nano 1", "net.py:build 2"]
    scripts = [job.script for job in ByHand.jobs[:2]]
    assert [script and script.target.name for script in scripts] == [NPU.name, MUSA.name]
    assert run() == []
    assert [(one.model, one.source, one.ending) for one in query_of(STORE).answers] == [
        *[("nano", "train.py --lr 1", Ending.SCANNED)] * 2,
        *[("net.py:build", "net.py:build", Ending.SCANNED)] * 2,
    ]


def test_a_target_that_is_new_is_all_that_is_run() -> None:
    run(NPU)
    assert run() == ["nano 1", "net.py:build 1"]
    (script,) = [job.script for job in ByHand.jobs if job.script]
    assert script.target.name == MUSA.name


def test_a_run_that_was_ended_goes_on_with_the_targets_that_are_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ByHand, "killed_after", 1)
    with pytest.raises(KeyboardInterrupt):
        run()
    monkeypatch.setattr(ByHand, "killed_after", None)
    assert run() == ["nano 1", "net.py:build 2"]


def _changed_text() -> None:
    Path("train.py").write_text("print(2)\n")


def _changed_manifest(before: str, after: str) -> Callable[[], None]:
    def change() -> None:
        path = Path("models.yaml")
        path.write_text(path.read_text().replace(before, after))

    return change


@pytest.mark.parametrize(
    ("change", "again"),
    [
        (_changed_text, 2),
        (_changed_manifest("--lr 1", "--lr 2"), 2),
        (_changed_manifest("name: nano", "name: nano, steps: 2"), 2),
        (_changed_manifest("name: nano", "name: nano, timeout: 99"), 0),
        (_changed_manifest("name: nano", "name: other"), 0),
    ],
)
def test_what_is_run_again_is_what_changed(change: Callable[[], None], again: int) -> None:
    run()
    change()
    assert len(run()) == again


def test_a_script_that_failed_is_run_again_where_that_is_asked_for() -> None:
    ByHand.endings["nano"] = Ending.FAILED
    run()
    assert run() == []
    assert run(retry=True) == ["nano 1", "nano 1"]


def test_the_key_of_a_script_tells_data_of_its_target_apart() -> None:
    entry = read_manifest("models.yaml").entries[0]
    newer = replace(A, database_digest="feed")
    keys = {key_of(entry.request, [one], entry.script) for one in (A, B, newer)}
    assert len(keys) == 3


def test_models_are_counted_and_not_runs_of_scripts() -> None:
    mixed()
    found = summary_of(STORE)
    assert (found.run.models, found.run.done) == (4, 4)
    counts = {ending: count for ending, count in found.endings.items() if count}
    assert counts == {Ending.SCANNED: 2, Ending.FAILED: 1, Ending.LOST: 1}
    assert (found.everywhere, found.nowhere) == (2, 0)
    of_target = [
        {standing: count for standing, count in tally.counts.items() if count}
        for tally in found.targets
    ]
    assert of_target == [
        {Standing.DEVICE: 2, Standing.FALLBACK: 1, Standing.NO_ANSWER: 1},
        {Standing.DEVICE: 2, Standing.NO_ANSWER: 2},
    ]
    assert [(one.reason, one.models) for one in found.failures] == [
        ("no such thing", ("nano (ascend-310p@26.1.0)",)), ("gone", ("lost",)),
    ]  # fmt: skip


def test_a_script_that_is_not_over_on_a_target_is_not_done() -> None:
    kept([(on(A), scanned(result(A))), (on(B), None)])
    found = summary_of(STORE)
    assert (found.run.models, found.run.done, found.everywhere) == (1, 0, 0)
    (row,) = page_of(STORE).models
    assert [cell.standing for cell in row.cells] == [Standing.DEVICE, Standing.NO_ANSWER]


def test_a_target_that_is_not_over_has_no_report() -> None:
    kept([(on(A), scanned(result(A))), (on(B), None)])
    with pytest.raises(UsageError, match="nano has no report: it is not over on that target"):
        report_of_model(STORE, "nano", targets=[B.target])


def test_a_query_has_a_row_for_each_target_of_a_script() -> None:
    mixed()
    found = query_of(STORE)
    assert [(one.model, one.target, one.verdict, one.reason) for one in found.answers[4:]] == [
        ("nano", A.target, Verdict.NATIVE, ""),
        ("nano", B.target, None, "no such thing"),
        ("lost", A.target, None, "gone"),
        ("lost", B.target, None, "gone"),
    ]
    assert text.render(found).endswith("""\
nano
  native ascend-910b@26.1.0 100%
  ascend-310p@26.1.0 failed: no such thing
lost
  lost: gone
""")


def test_a_query_as_json_follows_its_schema(capsys: pytest.CaptureFixture[str]) -> None:
    mixed()
    assert command(["fleet", "query", "fleet.db", "--format", "json"]) == ExitCode.PASS
    document = json.loads(capsys.readouterr().out)
    Draft202012Validator(schema("fleet-answers")).validate(document)
    rows = [(one["model"], one["target"], one["ending"]) for one in document["answers"]]
    assert rows[-4:] == [
        ("nano", A.target, "scanned"), ("nano", B.target, "failed"),
        ("lost", A.target, "lost"), ("lost", B.target, "lost"),
    ]  # fmt: skip
    assert command(["fleet", "query", "fleet.db", "--format", "csv"]) == ExitCode.PASS
    table = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [(row["model"], row["target"], row["why"]) for row in table][-1] == (
        "lost", B.target, "gone",
    )  # fmt: skip


def test_the_page_has_a_row_for_a_script_and_says_where_it_failed() -> None:
    mixed()
    rows = {row.name: row for row in page_of(STORE).models}
    assert [*rows] == ["plain", "good", "nano", "lost"]
    assert (rows["nano"].ending, rows["nano"].kind) == (Ending.FAILED, SCRIPT)
    assert rows["nano"].reason == "ascend-310p@26.1.0: no such thing"
    assert rows["lost"].reason == "gone"
    standings = [cell.standing for cell in rows["good"].cells]
    assert standings == [Standing.FALLBACK, Standing.DEVICE]


def test_a_script_counts_once_among_the_models_that_a_step_unblocks() -> None:
    kept([(on(A), scanned(result(A, ERFCX))), (on(B), scanned(result(B, ERFCX)))])
    (ranking,) = missing_of(STORE, "last", Ranked(goal=Goal.RUNS)).rankings
    (step,) = ranking.steps
    assert (ranking.blocked, ranking.blocked_models) == (2, 1)
    assert (step.models, step.answers, step.total_models) == (("nano",), 2, 1)


def test_a_difference_compares_a_script_on_each_target() -> None:
    kept([(on(A), scanned(result(A))), (on(B), scanned(result(B)))], "first")
    kept([
        (on(A), scanned(result(A))), (on(B), scanned(result(B, ERFCX))),
        (on(A, "new"), scanned(result(A))), (on(B, "new"), scanned(result(B))),
    ], "second")  # fmt: skip
    found = difference_of(STORE, None, Compared())
    assert found.new == ("new",)
    changes = [(one.same, [changed.model for changed in one.changes]) for one in found.targets]
    assert changes == [(1, []), (0, ["nano"])]


def test_the_summary_counts_scripts_without_an_answer_once() -> None:
    mixed()
    shown = text.render(summary_of(STORE))
    assert "Without an answer · 2 models" in shown
    assert "nano (ascend-310p@26.1.0)" in shown
