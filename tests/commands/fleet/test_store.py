"""The store: what is kept of a run, what survives a kill, and what is read back."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from opcheck.commands.fleet.engine import lost
from opcheck.commands.fleet.store.reading import answers, run_named, runs
from opcheck.commands.fleet.store.store import Store
from opcheck.commands.fleet.store.writing import adopt, end, finish
from opcheck.commands.fleet.values import Answer, Done, Ending, Filters
from opcheck.errors import UsageError
from opcheck.model.verdict import Verdict
from tests.commands.fleet.made import (
    asked,
    begun,
    entry,
    failed,
    filled,
    kernel,
    result,
    scanned,
    target,
)
from tests.lang.told import in_chinese

A, B = target("ascend-910b@26.1.0+torch2.12"), target("ascend-310p@26.1.0+torch2.12")
ERFCX, GELU = kernel("aten::special_erfcx"), kernel("aten::gelu", Verdict.FALLBACK, 3)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store of one run: one model that does not run on A, and one that could not be loaded."""
    path = tmp_path / "fleet.db"
    outcomes = {
        "odd": scanned(result(A, ERFCX, GELU), result(B, GELU)),
        "gone": failed(Ending.FAILED, "gone.py: no such file"),
    }
    filled(path, outcomes, [A, B])
    return path


def test_what_was_written_is_read_back_whole(path: Path) -> None:
    with Store(path, create=False) as store:
        (run,) = runs(store)
        assert (run.targets, run.models, run.done, run.manifest) == ((A, B), 2, 2, "models.yaml")
        assert run.ended
        odd = ("models.py:odd", Ending.SCANNED, "")
        assert answers(store, run.id) == (
            Answer(
                0, "odd", *odd, A.target, Verdict.UNSUPPORTED, False, 0.6, (ERFCX, GELU)
            ),
            Answer(0, "odd", *odd, B.target, Verdict.FALLBACK, True, 0.75, (GELU,)),
            Answer(
                1, "gone", "models.py:gone", Ending.FAILED, "gone.py: no such file", "", None,
                None, None,
            ),
        )  # fmt: skip


def test_why_a_model_was_given_up_is_told_in_chinese_when_read_back(tmp_path: Path) -> None:
    path = tmp_path / "fleet.db"
    filled(path, {"cursed": lost()}, [A])
    with Store(path, create=False) as store:
        (answer,) = answers(store, 1)
    assert in_chinese([answer.reason]) == ["处理它的工作进程被终止了 3 次"]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(targets=("ascend-310*",)), [("odd", B.target)]),
        (Filters(targets=(A.target,)), [("odd", A.target)]),
        (Filters(models=("g*",)), [("gone", "")]),
        (Filters(verdicts=(Verdict.UNSUPPORTED,)), [("odd", A.target)]),
        (Filters(operators=("special_erfcx",)), [("odd", A.target)]),
        (Filters(operators=("aten::g*",)), [("odd", A.target), ("odd", B.target)]),
        (Filters(operators=("add",)), []),
        (Filters(endings=(Ending.FAILED,)), [("gone", "")]),
    ],
    ids=str,
)
def test_filters_choose_answers(
    path: Path, filters: Filters, expected: list[tuple[str, str]]
) -> None:
    with Store(path) as store:
        found = answers(store, 1, filters)
    assert [(one.model, one.target) for one in found] == expected


def test_operators_asked_for_are_the_blockers_that_come(path: Path) -> None:
    with Store(path) as store:
        (found,) = answers(store, 1, Filters(operators=("special_erfcx",)))
    assert found.blockers == (ERFCX,)


def test_a_run_that_is_not_over_is_gone_on_with(tmp_path: Path) -> None:
    entries = [entry("one"), entry("two")]
    with Store(tmp_path / "fleet.db") as store:
        first = begun(store, entries, [A])
        finish(store, first, asked(entries[0]), Done(0, scanned(result(A)), 1.0))
    with Store(tmp_path / "fleet.db") as store:
        again = begun(store, entries, [A])
        assert (again.id, again.open) == (first.id, frozenset({1}))
        finish(store, again, asked(entries[1]), Done(1, scanned(result(A)), 1.0))
        end(store, again)
        assert begun(store, entries, [A]).id != first.id


def test_another_question_is_another_run(tmp_path: Path) -> None:
    with Store(tmp_path / "fleet.db") as store:
        first = begun(store, [entry("one")], [A])
        second = begun(store, [entry("one")], [A, B], digest="asked otherwise")
    assert first.id != second.id


def test_a_model_that_is_interrupted_while_it_is_written_leaves_nothing(tmp_path: Path) -> None:
    entries = [entry("one")]
    broken = result(B)  # not a target of the run
    with Store(tmp_path / "fleet.db") as store:
        run = begun(store, entries, [A])
        with pytest.raises(KeyError):
            finish(store, run, asked(entries[0]), Done(0, scanned(result(A), broken), 1.0))
        for table in ("models", "traces", "results", "blockers"):
            assert store.connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0] == 0
        assert begun(store, entries, [A]).open == {0}


def test_a_second_run_takes_what_is_known(path: Path) -> None:
    with Store(path) as store:
        known = store.known("key of odd", lambda files: not files)
        assert known is not None
        assert (known.ending, len(known.results)) == (Ending.SCANNED, 2)
        assert [trace.device_type for trace in store.traces(known.model)] == ["npu"]
        run = begun(store, [entry("odd")], [B], digest="of B alone")
        adopt(store, run, 0, known.model)
        assert [one.target for one in answers(store, run.id)] == [B.target]
        assert store.known("another key", lambda files: True) is None
        assert store.known("key of odd", lambda files: False) is None


def test_a_model_scanned_after_it_failed_is_another_version_of_it(path: Path) -> None:
    filled(path, {"gone": scanned(result(A))}, [A], digest="again")
    with Store(path) as store:
        assert [one.ending for one in answers(store, 1, Filters(models=("gone",)))] == [
            Ending.FAILED
        ]
        assert [one.ending for one in answers(store, 2)] == [Ending.SCANNED]


def test_data_of_another_digest_is_another_answer(path: Path) -> None:
    newer = target(A.target, "fedcba0987654321")
    filled(path, {"odd": scanned(result(newer))}, [newer], digest="newer")
    with Store(path) as store:
        verdicts = [
            [one.verdict for one in answers(store, run, Filters(("ascend-910b",), ("odd",)))]
            for run in (1, 2)
        ]
        assert verdicts == [[Verdict.UNSUPPORTED], [Verdict.NATIVE]]
        assert store.connection.execute("SELECT COUNT(*) FROM models").fetchone()[0] == 2


def test_runs_are_named_by_number_or_from_the_end(path: Path) -> None:
    with Store(path) as store:
        assert run_named(store).id == run_named(store, "1").id == 1
        with pytest.raises(UsageError, match="no run 'previous'"):
            run_named(store, "previous")
        with pytest.raises(UsageError, match="no run '7'"):
            run_named(store, "7")


def test_other_databases_and_formats_are_refused(path: Path, tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE meta (name, value)")
    other.close()
    with pytest.raises(UsageError, match="is no store of opcheck fleet"):
        Store(tmp_path / "other.db")
    with sqlite3.connect(path) as newer:
        newer.execute("UPDATE meta SET value='99'")
    with pytest.raises(UsageError, match="of format 99"):
        Store(path)
    with pytest.raises(UsageError, match="there is no store"):
        Store(tmp_path / "none.db", create=False)
    assert not (tmp_path / "none.db").exists()


def _database(path: Path) -> bytes:
    """Some other program's database, in SQLite's first kind of journal."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE notes (text TEXT)")
        connection.commit()
    return path.read_bytes()


@pytest.mark.parametrize("create", [True, False])
@pytest.mark.parametrize("content", [b"\0", b"my notes\n" * 200, b"SQLite format 3\0", None])
def test_what_is_no_store_is_left_as_it_is(
    tmp_path: Path, content: bytes | None, create: bool
) -> None:
    path = tmp_path / "notes.db"
    if content is None:
        content = _database(path)
    path.write_bytes(content)
    with pytest.raises(UsageError, match=r"notes\.db"):
        Store(path, create=create)
    assert path.read_bytes() == content
    assert [*tmp_path.iterdir()] == [path]


def test_an_empty_file_is_begun_only_by_a_run(tmp_path: Path) -> None:
    path = tmp_path / "fleet.db"
    path.write_bytes(b"")
    with pytest.raises(UsageError, match="is no store of opcheck fleet"):
        Store(path, create=False)
    assert path.read_bytes() == b""
    with Store(path) as store:
        assert runs(store) == ()
