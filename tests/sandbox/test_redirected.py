"""What Python writes where the system has no overlays: seen by the process alone."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from opcheck.sandbox.limits.overlay import written

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
BEGINS = """\
import json, os, sys
from opcheck.sandbox.child.redirected import redirect
folder, aside = sys.argv[1:3]
os.chdir(folder)
calls = redirect([folder], aside)
"""


def done(folder: Path, aside: Path, code: str) -> object:
    """What code gives as JSON, in a process of its own whose writes to ``folder`` go aside."""
    aside.mkdir()
    ended = subprocess.run(
        [sys.executable, "-c", BEGINS + code, str(folder), str(aside)],
        capture_output=True, text=True, check=False, env=ENVIRONMENT,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = (tmp_path / "work").resolve()
    (made / "data/inner").mkdir(parents=True)
    (made / "kept.txt").write_text("kept")
    (made / "data/one.txt").write_text("one")
    (made / "data/inner/two.txt").write_text("two")
    (made / "link").symlink_to("data")
    return made


def content(folder: Path) -> dict[str, str]:
    """Every file of a folder, with its text."""
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def gone_and_written(aside: Path, folder: Path) -> dict[str, int | None]:
    return {os.path.relpath(path, folder): nbytes for path, nbytes in written(str(aside))}


def check(folder: Path, aside: Path, code: str, gives: object, **seen: int | None) -> None:
    """Hold what code gives, and what is left of it, against what is expected; nothing is there."""
    before = content(folder)
    assert done(folder, aside, code) == gives
    assert content(folder) == before
    assert gone_and_written(aside, folder) == {
        name.replace("__", "/").replace("_txt", ".txt"): nbytes for name, nbytes in seen.items()
    }


def test_a_file_is_written_anew_added_to_and_read_back(folder: Path, tmp_path: Path) -> None:
    code = """
open("new.txt", "w").write("new")
open("kept.txt", "a").write("+")
with open("data/one.txt", "r+") as file:
    file.write("O")
print(json.dumps([open(n).read() for n in ("new.txt", "kept.txt", "link/one.txt")]))
"""
    check(
        folder, tmp_path / "aside", code, ["new", "kept+", "One"],
        new_txt=3, kept_txt=5, data__one_txt=3,
    )  # fmt: skip


def test_what_is_removed_is_seen_no_more(folder: Path, tmp_path: Path) -> None:
    code = """
import shutil
from pathlib import Path
os.remove("kept.txt")
shutil.rmtree("data/inner")
found = [os.path.exists("kept.txt"), Path("data/inner").is_dir(), sorted(os.listdir("data"))]
try:
    open("kept.txt")
except FileNotFoundError as error:
    found.append(error.filename)
os.mkdir("data/inner")
found.append(os.listdir("data/inner"))
print(json.dumps(found))
"""
    check(
        folder, tmp_path / "aside", code, [False, False, ["one.txt"], "kept.txt", []],
        kept_txt=None, data__inner__two_txt=None,
    )  # fmt: skip


def test_folders_are_listed_and_walked_with_what_was_written(folder: Path, tmp_path: Path) -> None:
    code = """
import glob
from pathlib import Path
os.makedirs("out/a", exist_ok=True)
Path("out/a/x.txt").write_text("x")
Path("data/three.txt").touch()
os.remove("data/one.txt")
print(json.dumps([
    sorted((at, sorted(inner), sorted(names)) for at, inner, names in os.walk(".")),
    sorted(glob.glob("**/*.txt", recursive=True)),
    sorted(str(path) for path in Path("data").iterdir()),
    [entry.is_file() for entry in os.scandir("out/a")],
]))
"""
    walked = [
        [".", ["data", "link", "out"], ["kept.txt"]],
        ["./data", ["inner"], ["three.txt"]],
        ["./data/inner", [], ["two.txt"]],
        ["./out", ["a"], []],
        ["./out/a", [], ["x.txt"]],
    ]
    texts = ["data/inner/two.txt", "data/three.txt", "kept.txt"]
    linked = ["link/inner/two.txt", "link/three.txt", "out/a/x.txt"]
    check(
        folder, tmp_path / "aside", code,
        [walked, texts + linked, ["data/inner", "data/three.txt"], [True]],
        out__a__x_txt=1, data__three_txt=0, data__one_txt=None,
    )  # fmt: skip


def test_files_and_folders_are_moved_and_copied(folder: Path, tmp_path: Path) -> None:
    code = """
import shutil
os.replace("kept.txt", "moved.txt")
os.rename("data", "there")
shutil.copytree("there", "copy")
shutil.move("moved.txt", "copy/moved.txt")
os.symlink("copy/moved.txt", "to_it")
print(json.dumps([
    sorted(os.listdir(".")), sorted(os.listdir("there/inner")), open("to_it").read(),
    os.path.exists("kept.txt"), os.path.islink("to_it"), os.path.realpath("to_it")[len(folder):],
    os.path.lexists("link"), os.path.exists("link"),
]))
"""
    names = ["copy", "link", "there", "to_it"]
    check(
        folder, tmp_path / "aside", code,
        [names, ["two.txt"], "kept", False, True, "/copy/moved.txt", True, False],
        copy__one_txt=3, copy__inner__two_txt=3, copy__moved_txt=4, there__one_txt=3,
        there__inner__two_txt=3, to_it=14, kept_txt=None, data__one_txt=None,
        data__inner__two_txt=None,
    )  # fmt: skip


def test_errors_are_those_of_the_folders_as_they_are_seen(folder: Path, tmp_path: Path) -> None:
    code = """
import sys
def error(call, *args):
    try:
        call(*args)
    except OSError as error:
        return [type(error).__name__, error.filename]
open("new.txt", "x").close()
print(json.dumps([
    error(open, "new.txt", "x"), error(open, "nowhere/new.txt", "w"), error(os.mkdir, "data"),
    error(os.rmdir, "data"), error(os.remove, "data"), error(os.remove, "nothing"),
    error(os.listdir, "nothing"), error(os.rename, "nothing", "x"), error(os.stat, "new.txt/x"),
    error(os.open, "kept.txt", os.O_WRONLY | os.O_CREAT | os.O_EXCL),
]))
"""
    errors = [
        ["FileExistsError", "new.txt"], ["FileNotFoundError", "nowhere/new.txt"],
        ["FileExistsError", "data"], ["OSError", "data"], ["IsADirectoryError", "data"],
        ["FileNotFoundError", "nothing"], ["FileNotFoundError", "nothing"],
        ["FileNotFoundError", "x"], ["NotADirectoryError", "new.txt/x"],
        ["FileExistsError", "kept.txt"],
    ]  # fmt: skip
    check(folder, tmp_path / "aside", code, errors, new_txt=0)


def test_a_folder_that_was_made_is_worked_in_and_imported_from(
    folder: Path, tmp_path: Path
) -> None:
    code = """
import sys
os.mkdir("made")
os.chdir("made")
with open("helper.py", "w") as file:
    file.write("x = 7")
sys.path.insert(0, os.getcwd())
import helper
print(json.dumps([os.getcwd()[len(folder):], os.path.abspath("a")[len(folder):], helper.x,
                  os.listdir("."), file.name, sorted(os.listdir(".."))]))
"""
    check(
        folder, tmp_path / "aside", code,
        ["/made", "/made/a", 7, ["helper.py"], "helper.py", ["data", "kept.txt", "link", "made"]],
        **{"made__helper.py": 5},
    )  # fmt: skip


def test_a_database_and_functions_that_were_imported_before_write_aside(
    folder: Path, tmp_path: Path
) -> None:
    before = "import bz2, gzip, tarfile, sqlite3, zipfile\n"
    code = """
with sqlite3.connect("log.db") as log:
    log.execute("create table t (x)")
for module in (bz2, gzip):
    with module.open(module.__name__, "wb") as file:
        file.write(b"x")
with tarfile.open("a.tar", "w") as file:
    file.add("kept.txt")
with zipfile.ZipFile("a.zip", "w") as file:
    file.write("kept.txt")
print(json.dumps([sorted(os.listdir(".")), tarfile.open("a.tar").getnames(),
                  os.stat("/").st_ino == os.stat(b"/").st_ino, os.path.exists("/dev/stdout")]))
"""
    aside = tmp_path / "aside"
    aside.mkdir()
    ended = subprocess.run(
        [sys.executable, "-c", before + BEGINS + code, str(folder), str(aside)],
        capture_output=True, text=True, check=False, env=ENVIRONMENT,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    made = ["a.tar", "a.zip", "bz2", "gzip", "log.db"]
    assert json.loads(ended.stdout) == [
        sorted([*made, "data", "kept.txt", "link"]), ["kept.txt"], True, True,
    ]  # fmt: skip
    assert sorted(os.listdir(folder)) == ["data", "kept.txt", "link"]
    assert sorted(gone_and_written(aside, folder)) == made
