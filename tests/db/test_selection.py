"""Targets named one by one, by vendor, or all at once."""

import pytest

from opcheck.db.selection import names_groups, select
from opcheck.db.store import Database
from opcheck.errors import UsageError
from opcheck.model.target import TargetKind, TargetSpec


def specs(*texts: str) -> tuple[TargetSpec, ...]:
    return tuple(map(TargetSpec.parse, texts))


def test_all_and_nothing_mean_the_newest_of_every_target(database: Database) -> None:
    assert len(database.targets()) > 20
    exports = database.of_kind(TargetKind.EXPORT)
    assert select(database, ()) == database.targets()
    modes = tuple(t for t in database.of_kind(*TargetKind) if t.mode)
    assert select(database, specs("all")) == (*database.targets(), *modes, *exports)


def test_a_vendors_name_means_the_newest_of_its_targets(database: Database) -> None:
    newest = tuple(t for t in database.targets() if t.vendor == "cambricon")
    assert len(newest) > 1
    assert select(database, specs("cambricon")) == newest


@pytest.mark.parametrize("vendor", Database.open().vendors)
def test_every_vendor_can_be_named(database: Database, vendor: str) -> None:
    newest = tuple(t for t in database.of_kind(*TargetKind) if t.vendor == vendor)
    assert newest
    assert select(database, specs(vendor)) == newest


def test_a_vendors_release_means_every_chip_that_it_knows(database: Database) -> None:
    assert select(database, specs("ascend@6.0+torch2.1")) == select(
        database, specs("ascend@6.0.0+torch2.1")
    )
    assert [str(target) for target in select(database, specs("ascend@6.0.0+torch2.1"))] == [
        f"ascend-{chip}@6.0.0+torch2.1" for chip in ("310b", "310p", "910a", "910b", "910c")
    ]


def test_what_is_named_twice_comes_once_where_it_was_named_first(database: Database) -> None:
    found = select(database, specs("ascend-910b", "ascend-310p@6.0.0", "ascend"))
    assert [str(target) for target in found] == [
        "ascend-910b@26.1.0+torch2.12",
        "ascend-310p@6.0.0+torch2.4",
        *(f"ascend-{chip}@26.1.0+torch2.12" for chip in ("310b", "310p", "910a", "910c", "950")),
    ]


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (
            "all@6.0.0",
            "'all' takes neither a release nor a torch version, got 'all@6.0.0'",
            "each vendor names its own: give VENDOR@SDK instead",
        ),
        (
            "all+torch2.7",
            "'all' takes neither a release nor a torch version, got 'all+torch2.7'",
            "each vendor names its own: give VENDOR@SDK instead",
        ),
        (
            "ascend@9.9",
            "unknown release '9.9' of ascend-310b",
            "known: 26.1.0, 26.0.0, 7.3.0, 7.2.0, 7.1.0, 6.0.0, 5.0.0",
        ),
    ],
)
def test_what_no_group_has(database: Database, text: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        select(database, specs(text))
    assert (caught.value.message, caught.value.hint) == (message, hint)


def test_a_name_that_is_neither_is_refused_with_its_neighbours(database: Database) -> None:
    with pytest.raises(UsageError, match="unknown target 'asend'"):
        select(database, specs("asend"))


@pytest.mark.parametrize(
    ("texts", "group"),
    [
        ((), True),
        (("all",), True),
        (("ascend-910b", "ascend"), True),
        (("ascend-910b",), False),
        (("ascend-910b@6.0.0", "ascend-310p"), False),
    ],
)
def test_a_group_leaves_the_order_to_us(
    database: Database, texts: tuple[str, ...], group: bool
) -> None:
    assert names_groups(database, specs(*texts)) is group
