"""Importing as users do it: the same bytes, digests noted, nothing half done."""

from pathlib import Path

import pytest

from opcheck.db.files import digests
from opcheck.db.importing import import_files, known
from opcheck.errors import DatabaseError, OpcheckError, UsageError
from tests.db.overlays import ROOT


def test_the_same_files_give_the_same_bytes(sources: Path, tmp_path: Path) -> None:
    first = import_files("google", sources, ["r2.9"], tmp_path)
    assert {file.path.name: file.changed for file in first} == {
        "vendor.yaml": True,
        "r2.9.yaml": True,
        digests.NAME: True,
    }
    for name in ("vendor.yaml", "r2.9.yaml"):
        assert (tmp_path / "google" / name).read_bytes() == (ROOT / "google" / name).read_bytes()
    again = import_files("google", sources, ["r2.9"], tmp_path)
    assert not any(file.changed for file in again)


def test_a_second_release_keeps_what_was_noted_of_the_first(sources: Path, tmp_path: Path) -> None:
    import_files("google", sources, ["r2.9"], tmp_path)
    import_files("google", sources, ["r2.10"], tmp_path)
    folder = tmp_path / "google"
    assert digests.noted(folder) == digests.of_files(folder)
    assert set(digests.noted(folder)) == {"vendor.yaml", "r2.9.yaml", "r2.10.yaml"}
    (folder / "r2.9.yaml").write_text("edited")
    import_files("google", sources, ["r2.10"], tmp_path)
    assert digests.noted(folder)["r2.9.yaml"] != digests.of_files(folder)["r2.9.yaml"]


def test_the_vendors_own_folder_will_do(sources: Path, tmp_path: Path) -> None:
    import_files("ascend", sources / "ascend", ["5.0.0"], tmp_path)
    written = (tmp_path / "ascend" / "5.0.0.yaml").read_bytes()
    assert written == (ROOT / "ascend" / "5.0.0.yaml").read_bytes()


@pytest.mark.parametrize(
    ("vendor", "folder", "error", "message"),
    [
        ("nobody", ".", UsageError, "unknown vendor 'nobody'"),
        ("ascend", "gone", UsageError, "no folder of vendor files"),
        ("ascend", ".", DatabaseError, "cannot read"),
    ],
)
def test_what_cannot_be_imported(
    vendor: str, folder: str, error: type[OpcheckError], message: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=message) as caught:
        import_files(vendor, tmp_path / folder, (), tmp_path / "out")
    assert caught.value.hint
    assert not (tmp_path / "out").exists()


def test_every_vendor_of_the_database_can_be_imported() -> None:
    assert {path.parent.name for path in ROOT.glob("*/vendor.yaml")} <= set(known())


@pytest.mark.parametrize("text", ["", "garbage\n", "\xff", "a b c d\n\n"])
def test_odd_notes_note_nothing_that_is_there(text: str, tmp_path: Path) -> None:
    (tmp_path / digests.NAME).write_bytes(text.encode("latin-1"))
    (tmp_path / "a.yaml").write_text("x")
    assert "a.yaml" not in digests.noted(tmp_path)
    assert digests.listing(tmp_path, {"a.yaml": "x"}).endswith("  a.yaml\n")
