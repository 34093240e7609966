"""A run: what is scanned, what is known, and what is gone on with; an engine made by hand."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import pytest

from opcheck.commands.fleet.engine import Engine
from opcheck.commands.fleet.run import run_fleet, targets_of
from opcheck.commands.fleet.store.reading import answers, runs
from opcheck.commands.fleet.store.store import Store
from opcheck.commands.fleet.values import (
    Began,
    Done,
    Ending,
    Entry,
    FleetRequest,
    Job,
    Outcome,
    StoredTrace,
    TargetResult,
)
from opcheck.errors import UsageError
from opcheck.model.target import TargetSpec
from opcheck.model.verdict import Verdict
from opcheck.pipeline.database import matrices_of, open_database

NPU, MUSA = TargetSpec("ascend-910b"), TargetSpec("moorethreads-s4000")
DIGESTS = {str(m.target): m.database_digest for m in matrices_of(open_database(), (NPU, MUSA))}
COUNTS = dict.fromkeys(Verdict, 0) | {Verdict.NATIVE: 1}


class ByHand(Engine):
    """Answers that every model runs, but for those whose ending was told beforehand."""

    name = "by-hand"
    jobs: ClassVar[list[Job]] = []
    endings: ClassVar[dict[str, Ending]] = {}
    killed_after: ClassVar[int | None] = None

    def run(self, jobs: Iterable[Job], began: Callable[[Began], None]) -> Iterator[Done]:
        for count, job in enumerate(jobs):
            if count == self.killed_after:
                raise KeyboardInterrupt
            self.jobs.append(job)
            began(Began(job.position, "1"))
            yield Done(job.position, self._outcome(job), 1.0, "1")

    def _outcome(self, job: Job) -> Outcome:
        ending = self.endings.get(job.name, Ending.SCANNED)
        if ending is not Ending.SCANNED:
            return Outcome(ending, "it did not end well")
        targets = tuple(
            TargetResult(str(spec), DIGESTS[str(spec)], Verdict.NATIVE, True, 1.0, COUNTS, COUNTS,
                         1, 0, ())
            for spec in job.request.targets
        )  # fmt: skip
        known = {trace.name for trace in job.traces}
        made = (StoredTrace(type_, casts, "eJw=") for type_, casts in job.casts.items())
        traces = tuple(trace for trace in made if trace.name not in known)
        return Outcome(ending, kind="python", targets=targets, traces=traces)


@dataclass
class Heard:
    """A watcher that remembers."""

    left: list[int] = field(default_factory=list)
    adopted: list[int] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def planned(self, entries: Iterable[Entry], left: int) -> None:
        self.left.append(left)

    def began(self, event: Began) -> None:
        pass

    def done(self, event: Done) -> None:
        pass

    def known(self, position: int) -> None:
        self.adopted.append(position)

    def note(self, text: str) -> None:
        self.notes.append(text)


@pytest.fixture(autouse=True)
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three models in two files, and an engine without a past."""
    monkeypatch.chdir(tmp_path)
    Path("one.py").write_text("def a(): ...\ndef b(): ...\n")
    Path("two.py").write_text("def c(): ...\n")
    Path("models.yaml").write_text("- one.py:a\n- one.py:b\n- two.py:c\n")
    monkeypatch.setattr(ByHand, "jobs", [])
    monkeypatch.setattr(ByHand, "endings", {})
    monkeypatch.setattr(ByHand, "killed_after", None)


def run(heard: Heard | None = None, *targets: TargetSpec, **rest: object) -> list[str]:
    """Run the manifest; gives the names of the models that were scanned."""
    ByHand.jobs.clear()
    request = FleetRequest("models.yaml", targets or (NPU,), "fleet.db", **rest)  # type: ignore[arg-type]  # fields of it
    run_fleet(request, heard or Heard(), ByHand)
    return [job.name for job in ByHand.jobs]


def told() -> list[tuple[str, str]]:
    """Models and endings of the last run."""
    with Store(Path("fleet.db")) as store:
        return [(one.model, one.ending) for one in answers(store, runs(store)[-1].id)]


def test_every_model_is_scanned_once() -> None:
    assert run() == ["one.py:a", "one.py:b", "two.py:c"]
    assert [ending for _, ending in told()] == ["scanned"] * 3


def test_a_second_run_scans_nothing() -> None:
    run()
    heard = Heard()
    assert run(heard) == []
    assert (heard.left, heard.adopted) == ([3], [0, 1, 2])
    assert len(told()) == 3


def test_a_changed_file_is_scanned_again() -> None:
    run()
    Path("two.py").write_text("def c(): return 1\n")
    assert run() == ["two.py:c"]
    Path("two.py").write_text("def c(): ...\n")
    assert run() == []


def test_other_options_are_another_model() -> None:
    run()
    text = Path("models.yaml").read_text()
    Path("models.yaml").write_text(text.replace("- two.py:c", "- {source: two.py:c, input: 1x3}"))
    assert run() == ["two.py:c"]


def test_limits_are_no_part_of_what_is_asked() -> None:
    run()
    assert run(options={"timeout": 7.0}) == []


def test_a_run_that_was_ended_is_gone_on_with(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ByHand, "killed_after", 2)
    with pytest.raises(KeyboardInterrupt):
        run()
    monkeypatch.setattr(ByHand, "killed_after", None)
    heard = Heard()
    assert run(heard) == ["two.py:c"]
    assert heard.left == [1]
    with Store(Path("fleet.db")) as store:
        (only,) = runs(store)
        assert (only.done, bool(only.ended)) == (3, True)


def test_another_target_is_worked_out_alone_from_what_is_known() -> None:
    run()
    assert run(None, NPU, MUSA) == ["one.py:a", "one.py:b", "two.py:c"]
    job = ByHand.jobs[0]
    assert [spec.name for spec in job.request.targets] == ["moorethreads-s4000"]
    assert [trace.device_type for trace in job.traces] == ["npu"]
    assert run(None, MUSA) == []


def test_newer_data_comes_with_the_traces_that_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    run()
    with Store(Path("fleet.db")) as store, store.transaction() as write:
        write.execute("UPDATE targets SET database_digest='of an older release'")
    assert run() == ["one.py:a", "one.py:b", "two.py:c"]
    (npu,) = targets_of(matrices_of(open_database(), (NPU,)))
    casts = npu.casts
    assert casts.startswith("float64=float32;autocast=")
    assert [trace.name for trace in ByHand.jobs[0].traces] == [f"npu {casts}"]


def test_entries_that_ask_the_same_are_scanned_once() -> None:
    Path("models.yaml").write_text("- one.py:a\n- {source: one.py:a, name: twin}\n")
    heard = Heard()
    assert run(heard) == ["one.py:a"]
    assert heard.adopted == [1]
    assert told() == [("one.py:a", "scanned"), ("twin", "scanned")]


@pytest.mark.parametrize("ending", [Ending.FAILED, Ending.CRASHED, Ending.TIMED_OUT])
def test_what_did_not_end_well_is_known_until_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, ending: Ending
) -> None:
    monkeypatch.setattr(ByHand, "endings", {"one.py:b": ending})
    run(options={"timeout": 5.0})
    assert ("one.py:b", ending) in told()
    assert run(options={"timeout": 5.0}) == []
    monkeypatch.setattr(ByHand, "endings", {})
    assert run(options={"timeout": 5.0}, retry=True) == ["one.py:b"]
    assert ("one.py:b", Ending.SCANNED) in told()


def test_a_raised_limit_is_a_reason_to_scan_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        ByHand, "endings", {"one.py:a": Ending.TIMED_OUT, "one.py:b": Ending.OUT_OF_MEMORY}
    )
    run(options={"timeout": 5.0, "memory": 1.0})
    assert run(options={"timeout": 4.0, "memory": 1.0}) == []
    assert run(options={"timeout": 9.0, "memory": 1.0}) == ["one.py:a"]
    assert run(options={"timeout": 9.0}) == ["one.py:b"]


def test_what_was_lost_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ByHand, "endings", {"one.py:a": Ending.LOST})
    run()
    assert run() == ["one.py:a"]


def test_answers_from_other_data_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = (target for target in DIGESTS if target.startswith("ascend"))
    monkeypatch.setitem(DIGESTS, name, "of another machine")
    with pytest.raises(UsageError, match="other data of ascend-910b"):
        run()
    assert told() == []


def test_what_a_pattern_leaves_out_is_told() -> None:
    Path("readme.txt").write_text("no model")
    Path("models.yaml").write_text("- one.py:a\n")
    Path("exported").mkdir()
    Path("exported/config.json").write_text('{"model_type": "bert"}')
    Path("models.yaml").write_text('- "e*"\n- "*.txt"\n')
    with pytest.raises(UsageError, match=r"\*\.txt: fits no model"):
        run()
    Path("models.yaml").write_text('- "[er]*"\n')
    heard = Heard()
    assert run(heard) == ["exported"]
    assert heard.notes == ["readme.txt is no model, and was left out"]


@pytest.mark.parametrize(
    "change",
    ["SET files = '['", "SET files = 7", "SET ending = 'won'"],
)
def test_a_run_on_a_store_that_was_changed_is_one_error(change: str) -> None:
    run()
    with closing(sqlite3.connect("fleet.db")) as connection:
        connection.execute(f"UPDATE models {change}")
        connection.commit()
    with pytest.raises(UsageError, match=r"the store fleet\.db is damaged: a value of models\."):
        run()
