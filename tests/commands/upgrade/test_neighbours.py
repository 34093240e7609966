"""Where one can move to from a target, the nearest first."""

import pytest

from opcheck.commands.upgrade.answer import neighbours
from opcheck.commands.upgrade.values import MoveKind
from opcheck.db.store import Database
from opcheck.model.target import TargetSpec


@pytest.fixture(scope="module")
def database() -> Database:
    return Database.open(cached=False)


def found(database: Database, text: str) -> dict[MoveKind, list[str]]:
    target = database.resolve(TargetSpec.parse(text))
    listed: dict[MoveKind, list[str]] = {kind: [] for kind in MoveKind}
    for candidate in neighbours(database, target):
        listed[candidate.kind].append(str(candidate.target))
    return listed


def test_torch_then_releases_then_chips(database: Database) -> None:
    assert found(database, "ascend-950@26.0.0+torch2.8") == {
        MoveKind.TORCH: ["ascend-950@26.0.0+torch2.9", "ascend-950@26.0.0+torch2.7"],
        MoveKind.RELEASE: [
            f"ascend-950@26.1.0+torch{torch}" for torch in ("2.9", "2.10", "2.11", "2.12", "2.7")
        ],
        MoveKind.CHIP: [
            *(
                f"ascend-{chip}@26.0.0+torch2.8"
                for chip in ("310b", "310p", "910a", "910b", "910c")
            ),
            *(
                f"ascend-{chip}@26.1.0+torch2.12"
                for chip in ("310b", "310p", "910a", "910b", "910c")
            ),
        ],
    }


def test_the_newest_release_has_none_after_it(database: Database) -> None:
    assert found(database, "ascend-910b")[MoveKind.RELEASE] == []


@pytest.mark.parametrize("name", Database.open().names())
def test_every_target_has_itself_left_out(database: Database, name: str) -> None:
    target = database.resolve(TargetSpec(name))
    targets = [candidate.target for candidate in neighbours(database, target)]
    assert target not in targets
    assert len(set(targets)) == len(targets)
    assert {found.vendor for found in targets} <= {target.vendor}
