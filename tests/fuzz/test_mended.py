"""What hostile files were once able to do, one test each."""

import json
from pathlib import Path
from typing import Any

import pytest

from opcheck.db.files import document
from opcheck.db.schema.additions import OVERLAY_FILE
from opcheck.errors import DatabaseError, SourceError, UsageError
from opcheck.model.text import printable
from opcheck.source.base import LoadOptions
from opcheck.source.kinds.exported_program import read_model
from opcheck.source.load import load
from opcheck.source.pt2.file import read_program
from opcheck.source.sniff import Form, sniff
from opcheck.views.document.report import from_json
from tests.db.overlays import OVERLAY
from tests.fuzz.readers import READERS, archived, valid


def test_a_header_nested_too_deeply_is_no_model(tmp_path: Path) -> None:
    header = b'{"a":' * 100_000
    path = tmp_path / "m.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header)
    assert sniff(path).form is Form.OTHER


def test_a_member_without_a_name_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.pt"
    path.write_bytes(archived({"x": b"1"}).replace(b"x", b"\0"))
    with pytest.raises(SourceError, match="without a name"):
        sniff(path)


@pytest.mark.parametrize(("place", "value"), [(6, 0x808), (6, 0x1), (30, 0xADAD), (8, 99)])
def test_a_member_that_its_own_header_denies_is_refused(
    tmp_path: Path, place: int, value: int
) -> None:
    content = bytearray(archived({"serialized_exported_program.json": b"{}"}))
    content[place : place + 2] = value.to_bytes(2, "little")
    if value == 0xADAD:
        content[6:8] = b"\0\x08"  # its name is UTF-8, says the flag
    path = tmp_path / "m.pt2"
    path.write_bytes(content)
    with pytest.raises(SourceError):
        read_program(path)


def test_a_file_that_only_the_quick_reader_takes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "o.yaml"
    path.write_text(OVERLAY.replace("vendor: ascend\n", "").replace("schema: ", "schema: a: "))
    with pytest.raises(DatabaseError):
        document.read(path, OVERLAY_FILE)


def test_a_number_without_a_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "o.yaml"
    path.write_text(OVERLAY.replace("vendor: ascend", f"vendor: 0x{'f' * 5000}"))
    with pytest.raises(DatabaseError, match="a number beyond all measure"):
        document.read(path, OVERLAY_FILE)


def test_a_count_that_no_figure_can_show_is_refused() -> None:
    (reader,) = (reader for reader in READERS if reader.name == "report")
    report = json.loads(valid(reader)[0])
    report["trace"]["calls"] = 10**400
    with pytest.raises(UsageError, match="got a larger one"):
        from_json(json.dumps(report))


@pytest.mark.parametrize("strides", [[], [{"as_int": -1}] * 4, [{"as_int": 2**63}] * 4])
def test_a_tensor_that_cannot_be_is_refused(tmp_path: Path, strides: list[Any]) -> None:
    program = json.loads((Path(__file__).parent / "seeds" / "convolution.json").read_text())
    program["graph_module"]["graph"]["tensor_values"]["x"]["strides"] = strides
    path = tmp_path / "m.pt2"
    path.write_bytes(archived({"m/models/model.json": json.dumps(program).encode()}))
    with pytest.raises(SourceError, match=r"cannot be run \(a (tensor has the sizes|size is)"):
        read_model(read_program(path))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain [bold]words[/]", "plain [bold]words[/]"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("to the \u202eleft", "to the \\u202eleft"),
        ("a\rb\x07", "a\\rb\\x07"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
    ],
)
def test_what_a_terminal_obeys_is_spelled_out(text: str, shown: str) -> None:
    assert printable(text) == shown


@pytest.mark.slow
@pytest.mark.parametrize("kind", ['"bert\ud800"', "[]", "{}", "null", "1"])
def test_a_config_of_no_model_type_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(f'{{"model_type": {kind}}}'.encode("utf-8", "surrogatepass"))
    with pytest.raises(SourceError):
        load(f"hf:{path}", LoadOptions())
