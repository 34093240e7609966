"""What was read of the database is kept for the next to open it, until a file changes."""

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from opcheck.db.files import kept
from opcheck.db.files.kept import Kept
from opcheck.db.store import Database

CHANGES: dict[str, Callable[[Path], object]] = {
    "a file is written": lambda folder: (folder / "below" / "a.yaml").write_text("b: 1\n"),
    "a file of the same length": lambda folder: (folder / "below" / "a.yaml").write_text("a: 2\n"),
    "a file comes": lambda folder: (folder / "b.yaml").write_text(""),
    "a file goes": lambda folder: (folder / "below" / "a.yaml").unlink(),
    "an older file takes its place": lambda folder: (folder.parent / "old.yaml").replace(
        folder / "below" / "a.yaml"
    ),
    "the folder goes": lambda folder: folder.rename(folder.with_name("gone")),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(kept, "MARGIN", 0)
    made = tmp_path / "made"
    (made / "below").mkdir(parents=True)
    (made / "below" / "a.yaml").write_text("a: 1\n")
    (tmp_path / "old.yaml").write_text("a: 3\n")
    os.utime(tmp_path / "old.yaml", (1, 1))
    (made / "below" / "above").symlink_to(made)
    time.sleep(0.05)  # the file system's clock ticks
    return made


def test_it_is_kept_while_nothing_changes(folder: Path) -> None:
    own = Kept[list[int]]()
    first = own.while_unchanged(folder, [1])
    assert own.while_unchanged(folder, [1]) is first
    assert own.while_unchanged(folder, [2]) == [2]  # another database


@pytest.mark.parametrize("change", CHANGES)
def test_it_is_read_anew_after_a_change(folder: Path, change: str) -> None:
    own = Kept[list[int]]()
    first = own.while_unchanged(folder, [1])
    time.sleep(0.05)
    CHANGES[change](folder)
    assert own.while_unchanged(folder, [1]) is not first


def test_what_has_changed_only_now_may_change_once_more(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    own = Kept[list[int]]()
    first = own.while_unchanged(folder, [1])
    assert own.while_unchanged(folder, [1]) is not first


def test_each_thread_has_its_own(folder: Path) -> None:
    own, found = Kept[list[int]](), list[list[int]]()
    first = own.while_unchanged(folder, [1])
    thread = threading.Thread(target=lambda: found.append(own.while_unchanged(folder, [1])))
    thread.start()
    thread.join()
    assert found[0] == first
    assert found[0] is not first


def test_the_database_without_others_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = Database.open()
    assert Database.open() is own
    assert Database.open(own.root) is not own
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # where another index is
    assert Database.open() != own
