"""Damaged database files: which file, which line, what was expected."""

from pathlib import Path

import pytest

from opcheck.db.files.document import read
from opcheck.db.schema.vendor import RELEASE
from opcheck.errors import DatabaseError, ExitCode

_GOOD = """\
schema: opcheck.matrix/1
vendor: ascend
release: "26.1.0"
date: "2026-08-22"
torch: ["2.7"]
sources:
  plugin: {repo: a/b, ref: "1", commit: c, path: list.yaml}
operators:
  aten::abs: {at: plugin:1, impl: [acl_op]}
  aten::add.Tensor: {at: plugin:2, impl: [acl_op], torch: "2.7"}
complete: true
"""


def _read(folder: Path, text: str | bytes) -> None:
    path = folder / "26.1.0.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    read(path, RELEASE)


def test_a_good_file_is_read(tmp_path: Path) -> None:
    _read(tmp_path, _GOOD)


@pytest.mark.parametrize(
    ("old", "new", "line", "expected"),
    [
        ("impl: [acl_op]}", "impl: [acl_op}", 9, "expected valid YAML"),
        ("impl: [acl_op]}", "impl: acl_op}", 9, "expected a list, found 'acl_op'"),
        ("impl: [acl_op]}", "impl: [3]}", 9, "expected text (in quotes, if a number), found 3"),
        ("impl: [acl_op], torch", "imp: [acl_op], torch", 10, "expected no key 'imp' here"),
        ('torch: "2.7"}', 'torch: "2.7", x: 1}', 10, "expected no key 'x' here"),
        ('torch: "2.7"}', "torch: 2.7}", 10, "expected text (in quotes, if a number), found 2.7"),
        ('release: "26.1.0"\n', "", 1, "expected the key 'release', which is missing"),
        ("opcheck.matrix/1", "opcheck.matrix/9", 1, "expected one of opcheck.matrix/1"),
        ("aten::abs: {at: plugin:1, impl: [acl_op]}", "aten::abs: null", 9, "expected a mapping"),
        ("  aten::abs", "  1: {}\n  aten::abs", 8, "expected text keys"),
        ('date: "2026-08-22"', "date: 2026-08-22", 4, "expected text"),
        ("complete: true\n", "", 1, "expected the key 'complete', which is missing"),
        ('torch: ["2.7"]', "torch: []", 5, "expected a list of 1 or more, found 0"),
        ('torch: "2.7"}', 'torch: "2.7.."}', 10, "expected spans of versions"),
        (_GOOD, "", 1, "expected a mapping, found nothing"),
        (_GOOD, "just words", 1, "expected a mapping, found a text"),  # it may be a key
        (_GOOD, "a: &x [*x]", 1, "expected"),
        (
            "vendor: ascend",
            "vendor: !!python/object:os.system x",
            2,
            "expected a value without a tag",
        ),
    ],
)
def test_damage_is_told(tmp_path: Path, old: str, new: str, line: int, expected: str) -> None:
    assert old in _GOOD
    with pytest.raises(DatabaseError) as caught:
        _read(tmp_path, _GOOD.replace(old, new, 1))
    assert caught.value.message.startswith(f"{tmp_path / '26.1.0.yaml'}:{line}: ")
    assert expected in caught.value.message
    assert caught.value.hint
    assert caught.value.exit_code is ExitCode.DATABASE


@pytest.mark.parametrize("text", [b"\xff\xfe\x00", b"a: \x00", b"\x80abc"])
def test_bytes_that_are_no_text(tmp_path: Path, text: bytes) -> None:
    with pytest.raises(DatabaseError, match=r"26\.1\.0\.yaml:\d+: expected"):
        _read(tmp_path, text)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match="cannot read"):
        read(tmp_path / "absent.yaml", RELEASE)


def test_a_folder_in_its_place(tmp_path: Path) -> None:
    (tmp_path / "26.1.0.yaml").mkdir()
    with pytest.raises(DatabaseError, match="cannot read"):
        read(tmp_path / "26.1.0.yaml", RELEASE)
