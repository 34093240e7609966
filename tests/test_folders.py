"""Folders are written whole, or everything stays as it was."""

import os
from pathlib import Path

import pytest

from opcheck.commands.fix.files import require_folder, write_folder
from opcheck.errors import UsageError

FILES = {"README.md": "new\n", "csrc/kernel.cu": "k\n", "build.sh": "#!/bin/sh\n"}


def tree(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_a_new_folder_holds_the_files_and_nothing_else(tmp_path: Path) -> None:
    wrote = write_folder(tmp_path / "made", FILES)
    assert wrote == tuple(str(tmp_path / "made" / path) for path in sorted(FILES))
    assert tree(tmp_path) == {f"made/{path}": text for path, text in FILES.items()}
    assert os.access(tmp_path / "made" / "build.sh", os.X_OK)
    assert not os.access(tmp_path / "made" / "README.md", os.X_OK) or os.name == "nt"
    mask = os.umask(0)
    os.umask(mask)
    assert (tmp_path / "made").stat().st_mode & 0o777 == 0o777 & ~mask


def test_what_is_beside_the_files_stays(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("old\n", encoding="utf-8")
    (tmp_path / "mine.txt").write_text("mine\n", encoding="utf-8")
    write_folder(tmp_path, FILES)
    assert tree(tmp_path) == {**FILES, "mine.txt": "mine\n"}


def test_where_one_cannot_be_written_all_stay_as_they_were(tmp_path: Path) -> None:
    before = {"README.md": "old\n", "csrc/kernel.cu/in_the_way": "x\n"}
    write_folder(tmp_path / "made", before)
    (tmp_path / "made" / "csrc" / "kernel.cu" / "in_the_way").unlink()
    (tmp_path / "made" / "other").write_text("a file\n", encoding="utf-8")
    kept = tree(tmp_path / "made")
    with pytest.raises(UsageError, match="cannot write"):
        write_folder(tmp_path / "made", {**FILES, "zz/deep.txt": "z\n", "other/new.txt": "n\n"})
    assert tree(tmp_path / "made") == kept
    assert not (tmp_path / "made" / "zz").exists()


def test_a_folder_that_is_there_is_left_alone_unless_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is there already"):
        require_folder(tmp_path, write=False)
    require_folder(tmp_path, write=True)


def test_places_that_cannot_be_written_are_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    (tmp_path / "link").symlink_to(tmp_path)
    for place, told in {
        "file": "no folder", "link": "no folder", "none/made": "there is no folder",
    }.items():  # fmt: skip
        with pytest.raises(UsageError, match=told):
            require_folder(tmp_path / place, write=True)
