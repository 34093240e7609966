"""A newer release of a vendor from a checkout: files, index, import, differences and models."""

import gzip
import shutil
import subprocess
from pathlib import Path

import pytest

from opcheck.commands.db.answer import database_refresh
from opcheck.commands.db.subcommands.refresh import refresh
from opcheck.db.importers.base import load_yaml
from opcheck.db.refreshing import collect
from opcheck.db.store import Database
from opcheck.errors import DatabaseError, UsageError
from opcheck.model.database import ModelChange

ROOT = Database.open().root
PATH = "codegen/xla_native_functions.yaml"
LISTED = "  - acosh\n"


def git(folder: Path, *arguments: str) -> str:
    me = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main")
    done = subprocess.run(
        ["git", "-C", str(folder), *me, *arguments], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def committed(folder: Path, path: str, text: str, branch: str) -> str:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(text, encoding="utf-8")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", branch)
    git(folder, "branch", branch)
    return git(folder, "rev-parse", "HEAD")


CHIPS = ["tpu-v4", "tpu-v5e", "tpu-v5p", "tpu-v6e", "tpu-v7x"]


@pytest.fixture
def places(sources: Path, tmp_path: Path) -> tuple[Path, Path, Path]:
    """Sources of the TPU and of PyTorch, a checkout with a release more, and a database."""
    files, checkout, database = (tmp_path / name for name in ("sources", "checkout", "db"))
    shutil.copytree(sources / "google-tpu", files / "google-tpu")
    (files / "pytorch").symlink_to((sources / "pytorch").resolve())
    checkout.mkdir()
    git(checkout, "init", "-q")
    old = (files / "google-tpu/xla_native_functions@r2.10.yaml").read_text(encoding="utf-8")
    commit = committed(checkout, PATH, old, "r2.10")
    index = files / "google-tpu/SOURCES.yaml"
    entry = next(e for e in load_yaml(index)["files"] if "@r2.10." in e["file"])
    index.write_text(index.read_text("utf-8").replace(entry["commit"], commit), encoding="utf-8")
    assert LISTED in old
    committed(checkout, PATH, old.replace(LISTED, ""), "r2.11")
    for name in ("google", "pytorch", "names", "chips"):
        shutil.copytree(ROOT / name, database / name)
    for folder in ("names", "chips"):
        for path in (database / folder).glob("*.yaml"):
            if path.stem != "google":
                path.unlink()
    return files, checkout, database


def test_a_release_is_taken_as_the_last_one_was(places: tuple[Path, Path, Path]) -> None:
    files, checkout, _ = places
    index = files / "google-tpu/SOURCES.yaml"
    before = load_yaml(index)
    found = collect("google", files, "r2.11", [checkout])
    assert (found.before, found.by_hand) == ("r2.10", ())
    (file,) = found.files
    assert (file.file, file.ref, file.path) == ("xla_native_functions@r2.11.yaml", "r2.11", PATH)
    text = (files / "google-tpu" / file.file).read_text(encoding="utf-8")
    assert text == git(checkout, "show", f"r2.11:{PATH}") + "\n"
    after = load_yaml(index)
    names = [entry["file"] for entry in after["files"]]
    assert names[names.index("xla_native_functions@r2.10.yaml") + 1] == file.file
    noted = after["files"].pop(names.index(file.file))
    assert noted["commit"] == git(checkout, "rev-parse", "r2.11")
    assert noted["blob"] == git(checkout, "rev-parse", f"r2.11:{PATH}")
    assert after == before


def test_taking_it_again_changes_nothing(places: tuple[Path, Path, Path]) -> None:
    files, checkout, _ = places
    first = collect("google", files / "google-tpu", "r2.11", [checkout])
    written = (files / "google-tpu/SOURCES.yaml").read_bytes()
    assert collect("google", files, "r2.11", [checkout]).files == first.files
    assert (files / "google-tpu/SOURCES.yaml").read_bytes() == written


def test_what_is_no_copy_is_left_to_be_made_by_hand(places: tuple[Path, Path, Path]) -> None:
    files, checkout, _ = places
    listed = files / "google-tpu/xla_native_functions@r2.10.yaml"
    listed.write_text(f"# shortened\n{listed.read_text('utf-8')}", encoding="utf-8")
    with pytest.raises(DatabaseError, match=r"no checkout has a file that .* has of r2\.10"):
        collect("google", files, "r2.11", [checkout])


def test_packed_files_are_packed_again(places: tuple[Path, Path, Path]) -> None:
    files, checkout, _ = places
    plain = files / "google-tpu/xla_native_functions@r2.10.yaml"
    packed = files / "google-tpu/packed@r2.10.yaml.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    index = files / "google-tpu/SOURCES.yaml"
    entry = next(e for e in load_yaml(index)["files"] if "@r2.10." in e["file"])
    text = index.read_text("utf-8")
    start = text.index("- file: xla_native_functions@r2.10.yaml")
    block = text[start : text.index("- file: ", start + 1)]
    copied = block.replace("xla_native_functions@r2.10.yaml", packed.name)
    index.write_text(text.replace(block, block + copied), encoding="utf-8")
    found = collect("google", files, "r2.11", [checkout])
    assert [file.file for file in found.files] == [
        entry["file"].replace("r2.10", "r2.11"),
        "packed@r2.11.yaml.gz",
    ]
    made = gzip.decompress((files / "google-tpu/packed@r2.11.yaml.gz").read_bytes()).decode()
    assert made == git(checkout, "show", f"r2.11:{PATH}") + "\n"


@pytest.mark.parametrize(
    ("vendor", "error", "said"),
    [
        ("acme", UsageError, "unknown vendor 'acme'"),
        ("ascend", UsageError, "no folder of vendor files: "),
    ],
)
def test_what_cannot_be_refreshed_is_told(
    places: tuple[Path, Path, Path], vendor: str, error: type[Exception], said: str
) -> None:
    files, checkout, _ = places
    with pytest.raises(error, match=said):
        collect(vendor, files, "r2.11", [checkout])


def test_a_folder_without_a_release_has_nothing_to_go_by(
    places: tuple[Path, Path, Path],
) -> None:
    files, checkout, _ = places
    for path in (files / "google-tpu").glob("xla_native_functions@r*"):
        path.unlink()
    with pytest.raises(UsageError, match="no release of google to go by in "):
        collect("google", files, "r2.11", [checkout])


@pytest.mark.slow
def test_what_a_release_changes_is_told(places: tuple[Path, Path, Path]) -> None:
    files, checkout, database = places
    heard: list[str] = []
    found = database_refresh(
        "google", files, [checkout], "r2.11", models=("torchvision:resnet18",), into=database,
        progress=heard.append,
    )  # fmt: skip
    assert heard == [
        "taking files of google r2.11", "comparing r2.11 with r2.10",
        "scanning torchvision:resnet18",
    ]  # fmt: skip
    assert {Path(file.path).name for file in found.files if file.changed} == {
        "r2.11.yaml",
        "SHA256SUMS",
    }
    assert [diff.after.chip for diff in found.diffs] == CHIPS
    assert "aten::acosh" in found.diffs[0].removed
    assert [p for p in found.audit.problems if p.file.startswith("google/")] == []
    assert found.models == tuple(
        ModelChange("torchvision:resnet18", f"google-{chip}", before=True, after=True)
        for chip in CHIPS
    )


@pytest.mark.slow
def test_the_command_writes_it_and_ends_by_what_the_check_found(
    places: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    import typer

    files, checkout, database = places
    names = database / "names/google.yaml"
    names.write_text(names.read_text("utf-8").replace("  tpu-v4: ", "  tpu-v0: "), "utf-8")
    output = tmp_path / "out.txt"
    with pytest.raises(typer.Exit) as ended:
        refresh("google", files, [checkout], "r2.11", no_models=True, into=database, output=output)
    assert ended.value.exit_code == 4
    lines = output.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "google r2.11, after r2.10"
    assert "Removed · " in "\n".join(lines)
    assert "  unknown-name: line 9: no chip of google is tpu-v0" in lines
