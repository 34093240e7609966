"""The index of compiled files: the same answers, and no trust in what it holds."""

import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from opcheck.db.files import document, folder, index, noted
from opcheck.db.files.document import Document, read
from opcheck.db.files.folder import read_folder
from opcheck.db.files.index import _remove_old, cache_folder, load_compiled, save_compiled
from opcheck.db.prebuilt import prebuild
from opcheck.db.schema.additions import ADVISORY_FILE, LIBRARY_FILE
from opcheck.db.schema.checks import Shape
from opcheck.db.schema.tables import HISTORY_FILE
from opcheck.db.schema.vendor import RELEASE, VENDOR_FILE
from opcheck.db.store import Database
from opcheck.errors import DatabaseError
from opcheck.lang.sentence import Sentence
from opcheck.model.target import TargetSpec

_CHECKOUT = Path(__file__).resolve().parent.parent.parent
_FILES: list[tuple[str, Shape]] = [
    ("ascend/vendor.yaml", VENDOR_FILE),
    ("ascend/26.1.0.yaml", RELEASE),
    ("pytorch/history.yaml", HISTORY_FILE),
]


@pytest.mark.parametrize(("name", "shape"), _FILES)
def test_warm_is_cold(name: str, shape: Shape, tmp_path: Path) -> None:
    path = _CHECKOUT / "compat_db" / name
    cold = read(path, shape, tmp_path / "cache")
    kept = list((tmp_path / "cache").iterdir())
    assert len(kept) == 1
    assert read(path, shape, tmp_path / "cache") == cold == read(path, shape)


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"\x00\xff",
        b"{",
        b"null",
        b"[" * 100_000,
        b'SEAL\n{"schema": 3}',
        b'{"schema": "opcheck.vendor/1"}',
        b"SEAL\nnull",
    ],
)
def test_a_damaged_index_changes_nothing(damage: bytes, tmp_path: Path) -> None:
    path = _CHECKOUT / "compat_db" / "ascend" / "vendor.yaml"
    cold = read(path, VENDOR_FILE, tmp_path)
    (kept,) = tmp_path.iterdir()
    whole = kept.read_bytes()
    seal, _, _ = kept.read_bytes().partition(b"\n")
    kept.write_bytes(damage.replace(b"SEAL", seal))
    assert read(path, VENDOR_FILE, tmp_path) == cold
    assert kept.read_bytes() == whole  # written anew


def loaded(cache: Path) -> bytes | None:
    found = load_compiled(cache, "x.yaml", "0" * 64)
    return None if found is None else bytes(found)


def test_every_bit_of_the_index_counts(tmp_path: Path) -> None:
    save_compiled(tmp_path, "x.yaml", "0" * 64, b'{"a":[1,2]}')
    (kept,) = tmp_path.iterdir()
    whole = kept.read_bytes()
    for place in range(len(whole)):
        kept.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert loaded(tmp_path) is None
    kept.write_bytes(whole)
    assert loaded(tmp_path) == b'{"a":[1,2]}'


def test_a_file_of_another_kind_is_checked_though_it_was_read_before(tmp_path: Path) -> None:
    path = _CHECKOUT / "compat_db" / "ascend" / "vendor.yaml"
    read(path, VENDOR_FILE, tmp_path)
    with pytest.raises(DatabaseError, match="expected the key 'release', which is missing"):
        read(path, RELEASE, tmp_path)


_WRITER = """
import sys
from pathlib import Path
from opcheck.db.files.index import save_compiled
folder, text = Path(sys.argv[1]), sys.argv[2].encode() * 200_000
print("ready", flush=True)
sys.stdin.readline()
for _ in range(40):
    save_compiled(folder, "x.yaml", "0" * 64, text)
"""


def test_a_folder_of_small_files_has_one_file_in_the_index(tmp_path: Path) -> None:
    files, cache = tmp_path / "advisories", tmp_path / "cache"
    files.mkdir()
    for path in sorted((_CHECKOUT / "compat_db" / "advisories" / "apple").glob("mps-c*.yaml")):
        (files / path.name).write_bytes(path.read_bytes())
    cold = read_folder(files, ADVISORY_FILE, cache)
    assert cold == tuple(read(path, ADVISORY_FILE) for path in sorted(files.iterdir()))
    (kept,) = cache.iterdir()
    assert read_folder(files, ADVISORY_FILE, cache) == cold
    kept.write_bytes(kept.read_bytes()[:-1])
    assert read_folder(files, ADVISORY_FILE, cache) == cold
    with pytest.raises(DatabaseError, match="expected"):
        read_folder(files, LIBRARY_FILE, cache)
    path = cold[0].path
    path.write_text(path.read_text().replace("complete: true", "complete: maybe"))
    with pytest.raises(DatabaseError, match=f"{path.name}.*expected true or false"):
        read_folder(files, ADVISORY_FILE, cache)
    path.unlink()
    assert read_folder(files, ADVISORY_FILE, cache) == cold[1:]


def test_files_of_a_folder_are_opened_again_when_one_of_them_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, cache = tmp_path / "advisories", tmp_path / "cache"
    files.mkdir()
    for path in sorted((_CHECKOUT / "compat_db" / "advisories" / "apple").glob("mps-c*.yaml")):
        (files / path.name).write_bytes(path.read_bytes())
    opened: list[Path] = []

    def counted(path: Path, hint: Sentence) -> bytes:
        opened.append(path)
        return document.content(path, hint)

    def read_again() -> tuple[Document, ...]:
        opened.clear()
        return read_folder(files, ADVISORY_FILE, cache)

    monkeypatch.setattr(folder, "content", counted)
    cold = read_again()
    assert read_again() == cold
    assert len(opened) == len(cold) > 2  # they are so new that another write may look the same
    monkeypatch.setattr(folder, "MARGIN", -(10**12))  # as if they had been there for long
    assert read_again() == cold
    assert read_again() == cold
    assert not opened

    path = cold[0].path
    text, before = path.read_text(), path.stat()
    path.write_text(text.replace("complete: true", "complete: tru9"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))  # of the same size and age
    with pytest.raises(DatabaseError, match=f"{path.name}.*expected true or false"):
        read_again()
    path.write_text(text)
    assert read_again() == cold
    assert opened
    path.rename(path.with_name("zz.yaml"))
    assert [one.path.name for one in read_again()][-1] == "zz.yaml"
    for told in cache.glob("advisories.files-*"):
        seal, _, _ = told.read_bytes().partition(b"\n")
        told.write_bytes(seal + b"\n{}")
    assert len(read_again()) == len(cold)


def test_a_file_is_read_through_again_when_it_or_its_compiled_form_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, cache, opened = tmp_path / "vendor.yaml", tmp_path / "cache", list[Path]()
    text = (_CHECKOUT / "compat_db" / "ascend" / "vendor.yaml").read_text()
    path.write_text(text)

    real = document.content

    def counted(path: Path, hint: Sentence) -> bytes:
        opened.append(path)
        return real(path, hint)

    def read_again() -> Document:
        opened.clear()
        return read(path, VENDOR_FILE, cache)

    monkeypatch.setattr(document, "content", counted)
    cold = read_again()
    assert read_again() == cold
    assert opened  # it is so new that another write may look the same
    monkeypatch.setattr(noted, "MARGIN", -(10**12))  # as if it had been there for long
    assert read_again() == cold
    assert read_again() == cold
    assert not opened

    before = path.stat()
    path.write_text(text.replace("complete: true", "complete: tru9"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))  # of the same size and age
    with pytest.raises(DatabaseError, match="expected true or false"):
        read_again()
    path.write_text(text)
    assert read_again() == cold
    for compiled in cache.glob("vendor.yaml-*"):
        compiled.write_bytes(compiled.read_bytes().replace(b"ascend", b"ascenb"))
    assert read_again() == cold
    assert opened
    assert read_again() == cold
    assert read_again() == cold
    assert not opened
    (notes,) = cache.glob("all.noted-*")
    for damaged in (b"{}\n", b"\xff\n", notes.read_bytes()[:-5], b"\n"):
        notes.write_bytes(damaged)
        noted._notes.cache_clear()  # as in a later process
        assert read_again() == cold
        assert opened
        noted._notes.cache_clear()
        assert read_again() == cold
        assert not opened


def test_two_processes_may_write_at_once(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(_CHECKOUT)}
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(tmp_path), letter],
            env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for letter in "ab"
    ]  # fmt: skip
    for writer in writers:
        assert writer.stdout is not None
        writer.stdout.readline()
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    wanted = [letter * 200_000 for letter in (b"a", b"b")]
    seen = 0
    while any(writer.poll() is None for writer in writers):
        found = loaded(tmp_path)
        assert found is None or found in wanted
        assert found is not None or not seen, "a whole file was there before"
        seen += found is not None
    for writer in writers:
        writer.communicate()
        assert writer.returncode == 0
    assert loaded(tmp_path) in wanted
    assert len(list(tmp_path.iterdir())) == 1  # nothing is left over


def test_a_changed_file_finds_no_older_index(tmp_path: Path) -> None:
    path = tmp_path / "history.yaml"
    text = (_CHECKOUT / "compat_db" / "pytorch" / "history.yaml").read_text()
    path.write_text(text)
    before = read(path, HISTORY_FILE, tmp_path / "cache")
    path.write_text(text.replace('aten::abs: ["1.12", "2.15"]', 'aten::abs: ["2.0", "2.1"]'))
    after = read(path, HISTORY_FILE, tmp_path / "cache")
    assert before.data["overloads"]["aten::abs"] == ["1.12", "2.15"]
    assert after.data["overloads"]["aten::abs"] == ["2.0", "2.1"]


def test_a_cache_that_cannot_be_written_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    path = _CHECKOUT / "compat_db" / "ascend" / "vendor.yaml"
    found = read(path, VENDOR_FILE, tmp_path / "file" / "cache")
    assert isinstance(found, Document)


def test_no_half_written_file_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    save_compiled(tmp_path, "x.yaml", "0" * 64, b"{}")
    assert list(tmp_path.iterdir()) == []


def test_compiled_files_of_a_month_ago_are_removed_and_no_others(tmp_path: Path) -> None:
    save_compiled(tmp_path, "x.yaml", "0" * 64, b"{}")
    (kept,) = tmp_path.iterdir()
    name = kept.name.replace("0" * 16, "1" * 16)
    old = [tmp_path / name, tmp_path / f"{name}{'a' * 16}"]  # one was never written to its end
    others = [tmp_path / "notes.json", tmp_path / "x-3-00000000-y.json"]
    for path in (*old, *others):
        path.write_bytes(b"{}")
        os.utime(path, (0, 0))
    _remove_old.cache_clear()
    save_compiled(tmp_path, "y.yaml", "0" * 64, b"{}")
    left = set(tmp_path.iterdir())
    assert not left & set(old)
    assert {kept, *others} < left


def test_cache_folder_follows_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "opcheck"


@pytest.mark.slow
def test_matrices_from_the_index_are_equal(tmp_path: Path) -> None:
    root = _CHECKOUT / "compat_db"
    spec = TargetSpec.parse("ascend-910a@26.1.0+torch2.7")
    cold, *warm = (Database(root, tmp_path) for _ in range(3))
    expected = cold.matrix(cold.resolve(spec))
    for database in warm:
        matrix = database.matrix(database.resolve(spec))
        assert dict(matrix.entries) == dict(expected.entries)
        assert dict(matrix.conditions) == dict(expected.conditions)
        assert matrix.database_digest == expected.database_digest


def test_neither_torch_nor_yaml_is_loaded_when_the_index_is_warm(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from opcheck.db.store import Database\n"
        "from opcheck.model.target import TargetSpec\n"
        "database = Database.open()\n"
        "database.matrix(database.resolve(TargetSpec('ascend-910b'))).entries['aten::abs']\n"
        "print(sorted({'torch', 'yaml', 'difflib'} & set(sys.modules)))\n"
    )
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "PYTHONPATH": str(_CHECKOUT)}
    runs = [
        subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for _ in range(2)
    ]
    assert runs[1] == "[]"


def test_tables_that_are_asked_for_late_are_indexed_before_a_command_confines_itself(
    tmp_path: Path,
) -> None:
    model = tmp_path / "model.pt2"
    model.write_bytes(b"no archive")
    scan = [sys.executable, "-m", "opcheck", "scan", str(model), "-t", "ascend-910b"]
    cache = tmp_path / "cache"
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "PYTHONPATH": str(_CHECKOUT)}
    ended = subprocess.run(scan, env=environment, capture_output=True, check=False)
    assert ended.returncode == 3  # it read the database, and then no more than the file
    late = [
        path
        for pattern in ("operators@*", "composites@*", "choices@*", "sparse*")
        for path in (_CHECKOUT / "compat_db" / "pytorch").glob(pattern)
    ]
    assert late
    folders = (cache / "opcheck", _CHECKOUT / "opcheck" / "_index")  # of an editable installation
    for path in late:
        digest = sha256(path.read_bytes()).hexdigest()
        kept = [index.compiled_path(folder, path.name, digest) for folder in folders]
        assert any(map(os.path.exists, kept)), path.name


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What a wheel brings, with one file in it."""
    path = _CHECKOUT / "compat_db" / "ascend" / "vendor.yaml"
    read(path, VENDOR_FILE, tmp_path / "shipped")
    monkeypatch.setattr(index, "SHIPPED", tmp_path / "shipped")
    return tmp_path / "shipped"


def test_what_the_wheel_brings_is_not_compiled_again(
    shipped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, cache = _CHECKOUT / "compat_db" / "ascend" / "vendor.yaml", tmp_path / "cache"
    whole = read(path, VENDOR_FILE)
    monkeypatch.setattr(document, "checked", None)  # what decodes it
    for _ in range(2):  # by its bytes, then by what was noted of it
        assert read(path, VENDOR_FILE, cache) == whole
        assert all(".noted-" in kept.name for kept in cache.glob("*"))


def test_a_damaged_file_of_the_wheel_is_compiled_anew(shipped: Path, tmp_path: Path) -> None:
    path, cache = _CHECKOUT / "compat_db" / "ascend" / "vendor.yaml", tmp_path / "cache"
    (brought,) = shipped.iterdir()
    damaged = brought.read_bytes().replace(b"Huawei", b"HUAWEI")
    brought.write_bytes(damaged)
    assert read(path, VENDOR_FILE, cache) == read(path, VENDOR_FILE)
    assert len(list(cache.iterdir())) == 1
    assert brought.read_bytes() == damaged, "nothing is written there"


@pytest.mark.slow
def test_a_wheel_s_index_is_of_every_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = prebuild(_CHECKOUT / "compat_db", tmp_path / "shipped")
    assert size < 40 * 10**6, "bytes of an installation"
    monkeypatch.setattr(index, "SHIPPED", tmp_path / "shipped")
    database = Database(_CHECKOUT / "compat_db", tmp_path / "cache")
    for name in ("ascend-910b@5.0.0", "nvidia-h100", "apple-m1"):
        target = database.resolve(TargetSpec.parse(name))
        assert len(database.matrix(target).entries) > 100
        database.chip(target)
    compiled = [kept for kept in (tmp_path / "cache").glob("*") if ".noted" not in kept.name]
    assert [kept for kept in compiled if ".files" not in kept.name] == []
