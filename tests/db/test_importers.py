from pathlib import Path

import pytest

from opcheck.db import importers
from opcheck.db.files import digests
from opcheck.db.files.yaml_writer import flow, scalar
from opcheck.db.importers.__main__ import main
from opcheck.db.importers.ascend import AscendImporter
from opcheck.db.importers.base import Importer
from opcheck.errors import DatabaseError
from opcheck.registry import discover

_CHECKED_IN = Path(__file__).resolve().parent.parent.parent / "compat_db"


_FOUND = discover(importers, Importer)  # type: ignore[type-abstract]  # a base
_NAMES = [importer.name for importer in _FOUND]


def test_every_folder_of_the_database_has_an_importer() -> None:
    assert {"ascend", "pytorch"} <= set(_NAMES)
    folders = {path.parent.name for path in _CHECKED_IN.glob("*/vendor.yaml")}
    assert folders | {"pytorch"} == set(_NAMES)


@pytest.mark.parametrize("name", _NAMES)
def test_the_database_is_what_the_importer_writes(name: str, sources: Path, tmp_path: Path) -> None:
    assert main([name, str(sources), "--into", str(tmp_path)]) == 0
    written = {path.name: path.read_text() for path in (tmp_path / name).iterdir()}
    noted = set(written.pop(digests.NAME).splitlines())
    assert written
    for file, text in written.items():
        assert text == (_CHECKED_IN / name / file).read_text(), file
    assert noted <= set((_CHECKED_IN / name / digests.NAME).read_text().splitlines())


def test_an_unknown_release_names_the_known_ones(sources: Path) -> None:
    with pytest.raises(DatabaseError) as caught:
        AscendImporter().run(sources, "9.9")
    assert "9.9" in caught.value.message
    assert "26.1.0" in caught.value.hint


def test_a_folder_without_sources_is_an_error_not_a_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ascend").mkdir()
    assert main(["ascend", str(tmp_path), "--into", str(tmp_path / "out")]) == 4
    assert capsys.readouterr().err.startswith("error: cannot read")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("aten::add.Tensor", "aten::add.Tensor"),
        ("2.10", '"2.10"'),
        ("910b", '"910b"'),
        ("true", '"true"'),
        ("a: b", '"a: b"'),
        ('say "no"', '"say \\"no\\""'),
        (True, "true"),
        (3, "3"),
    ],
)
def test_scalars_are_quoted_where_yaml_would_read_something_else(
    value: bool | int | str, text: str
) -> None:
    import yaml

    assert scalar(value) == text
    assert yaml.safe_load(text) == value


def test_flow_style_reads_back() -> None:
    import yaml

    value = {"at": "plugin:61", "impl": ["acl_op"], "torch": "2.1..2.4, 2.7", "x": [{"*": "-"}]}
    assert yaml.safe_load(flow(value)) == value
