"""How old the database is and what it holds."""

from datetime import date, timedelta
from pathlib import Path

import pytest

from opcheck.db.status import contents, days_since, diffs, require_fresh, status
from opcheck.db.store import Database
from opcheck.errors import DatabaseError, ExitCode, UsageError
from opcheck.model.database import AdditionStatus
from opcheck.model.target import TargetSpec
from opcheck.model.verdict import Method, Verdict
from tests.db.overlays import OVERLAY, ROOT, acme, written

TODAY = date(2026, 11, 21)


def spec(text: str) -> TargetSpec:
    return TargetSpec.parse(text)


@pytest.mark.slow
def test_every_vendor_and_release_is_there(database: Database) -> None:
    found = status(database, TODAY)
    assert [vendor.vendor for vendor in found.vendors] == list(database.vendors)
    names = [name for vendor in found.vendors for name in vendor.targets]
    assert sorted(names) == list(database.names())
    (ascend,) = [vendor for vendor in found.vendors if vendor.vendor == "ascend"]
    assert [release.release for release in ascend.releases] == [
        "26.1.0", "26.0.0", "7.3.0", "7.2.0", "7.1.0", "6.0.0", "5.0.0",
    ]  # fmt: skip
    newest = ascend.releases[0]
    assert (newest.date, newest.age, newest.edited) == ("2026-08-22", 91, False)
    assert newest.torch_versions == ("2.12", "2.11", "2.10", "2.9", "2.7")
    assert newest.entries.keys() == {Method.REGISTERED}
    listed = len(database.vendors["ascend"].release("26.1.0").data["operators"])
    assert newest.entries[Method.REGISTERED] == listed
    assert set(found.advisories) == {path.stem for path in (ROOT / "advisories").rglob("*.yaml")}


@pytest.mark.slow
def test_overlays_are_told_and_change_the_digest(database: Database, tmp_path: Path) -> None:
    folder = written(acme(tmp_path), team=OVERLAY)
    found = status(Database.open(ROOT, cached=False, overlays=[folder]), TODAY)
    origin = tmp_path.as_posix()
    assert found.overlays == (
        AdditionStatus(f"{origin}/team.yaml", "ascend", "Measured in our laboratory.", 3, 2),
    )
    (added,) = [vendor for vendor in found.vendors if vendor.vendor == "acme"]
    assert added.releases[0].origin == f"{origin}/acme/1.0.yaml"
    assert found.digest != status(database, TODAY).digest


def test_ages() -> None:
    assert days_since("2026-11-01", TODAY) == 20
    assert days_since("2027-01-01", TODAY) == 0
    assert days_since("soon", TODAY) is None


def test_an_age_is_a_vendors_not_a_releases(database: Database) -> None:
    old = database.resolve(spec("ascend-910b@5.0.0"))
    newest = date(2026, 8, 22)
    require_fresh(database, [old], 10, newest + timedelta(days=10))
    with pytest.raises(DatabaseError) as caught:
        require_fresh(database, [old], 10, newest + timedelta(days=11))
    assert caught.value.message == (
        "the data of ascend is 11 days old (of 2026-08-22), too old for the policy of 10 days"
    )
    assert caught.value.exit_code is ExitCode.DATABASE


def test_vendors_that_are_old(database: Database) -> None:
    found = status(database, TODAY)
    assert found.older_than(10**6) == ()
    assert "ascend" in {vendor.vendor for vendor in found.older_than(90)}
    assert "ascend" not in {vendor.vendor for vendor in found.older_than(91)}


def test_contents_count_what_the_matrix_has(database: Database) -> None:
    target = database.resolve(spec("ascend-910b"))
    matrix = database.matrix(target)
    found = contents(database, target)
    assert found.operators == tuple(sorted(matrix.entries))
    assert found.entries == {Method.REGISTERED: len(matrix.entries)}
    counted = {(g.code, g.verdict): g.overloads for g in found.conditions}
    assert counted["dtype-not-supported", Verdict.UNSUPPORTED] == sum(
        any(c.code == "dtype-not-supported" for c in listed)
        for listed in matrix.conditions.values()
    )
    assert {source.repo for source in found.sources} >= {"Ascend/op-plugin", "Ascend/pytorch"}


def test_a_diff_is_what_differs(database: Database) -> None:
    (found,) = diffs(database, spec("ascend-910b@26.0.0"), spec("ascend-910b@26.1.0")).diffs
    old, new = database.matrix(found.before), database.matrix(found.after)
    assert found.added == tuple(sorted(new.entries.keys() - old.entries.keys()))
    assert found.removed == tuple(sorted(old.entries.keys() - new.entries.keys()))
    assert "aten::bmm.dtype" in found.added
    for change in found.changed:
        before = {c.code for c in old.conditions.get(change.op, ())}
        assert {c.code for c in change.gone} <= before
        assert all(not c.evidence for c in (*change.gone, *change.come))


def test_nothing_differs_from_itself(database: Database) -> None:
    (found,) = diffs(database, spec("ascend-910b"), spec("ascend-910b")).diffs
    assert (found.added, found.removed, found.changed) == ((), (), ())


def test_an_overlay_is_all_that_differs(database: Database, tmp_path: Path) -> None:
    layered = Database.open(ROOT, overlays=[written(tmp_path, team=OVERLAY)])
    older, newer = spec("ascend-910b@26.1.0+torch2.7"), spec("ascend-910b@26.1.0+torch2.9")
    (found,), (plain,) = (diffs(found, older, newer).diffs for found in (layered, database))
    assert set(found.added) - set(plain.added) == {"aten::lgamma"}
    assert set(found.removed) - set(plain.removed) == {"aten::gelu.out"}


@pytest.mark.slow
def test_a_vendor_stands_for_its_chips(database: Database) -> None:
    found = diffs(database, spec("ascend@7.3.0"), spec("ascend@26.0.0")).diffs
    chips = [diff.before.chip for diff in found]
    assert chips == [diff.after.chip for diff in found]
    assert chips == ["310b", "310p", "910a", "910b", "910c"]  # 950 is newer than 7.3.0


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("ascend@26.0.0", "ascend-910b", "ascend has several chips; want one"),
        ("ascend@9.9", "ascend@26.0.0", "unknown release '9.9' of ascend-310b"),
        ("nobody", "ascend-910b", "unknown target 'nobody'"),
    ],
)
def test_what_cannot_be_compared(before: str, after: str, message: str, database: Database) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        diffs(database, spec(before), spec(after))
    assert caught.value.hint
