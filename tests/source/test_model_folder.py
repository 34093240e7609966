"""Folders that a model was saved to, named as they are or by a file in them."""

import json
from pathlib import Path

import pytest

from opcheck.errors import SourceError
from opcheck.source.base import LoadOptions
from opcheck.source.load import load, select
from opcheck.source.model_folder import config_of

BERT = {
    "model_type": "bert", "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2,
    "intermediate_size": 32,
}  # fmt: skip
SAFETENSORS = b"\x02\x00\x00\x00\x00\x00\x00\x00{}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "config.json").write_text(json.dumps(BERT))
    (tmp_path / "model.safetensors").write_bytes(SAFETENSORS)
    (tmp_path / "model.safetensors.index.json").write_text("{}")
    return tmp_path


@pytest.mark.parametrize(
    "name", ["", "config.json", "model.safetensors", "model.safetensors.index.json"]
)
def test_whatever_is_named_its_config_counts(folder: Path, name: str) -> None:
    assert config_of(str(folder / name)) == folder / "config.json"
    assert select(str(folder / name)).name == "hf"


@pytest.mark.slow
def test_weights_are_resolved_through_the_config_beside_them(folder: Path) -> None:
    loaded = load(str(folder / "model.safetensors"), LoadOptions())
    assert type(loaded.module).__name__ == "BertForMaskedLM"
    assert loaded.notes[0] == (
        f"{folder}/config.json tells which model {folder}/model.safetensors is of"
    )
    assert load(str(folder), LoadOptions()).digest == loaded.digest


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "is a directory without a config.json or model_index.json"),
        ({"model.safetensors": SAFETENSORS}, "is a directory without a config.json"),
        ({"config.json": b"{"}, "config.json: not JSON"),
        ({"config.json": b"[" * 200_000}, "config.json: nested too deeply to be a config"),
        ({"config.json": b"{}"}, "config.json: says no model_type"),
        ({"config.json": b'{"architecture": "resnet18"}'}, "config.json: a timm config"),
        ({"config.json": b"\xff\xfe{"}, "config.json: not JSON"),
    ],
)
def test_folders_that_hold_no_model(tmp_path: Path, files: dict[str, bytes], message: str) -> None:
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    with pytest.raises(SourceError) as caught:
        select(str(tmp_path)).check(str(tmp_path), LoadOptions())
    assert f"{tmp_path}" in caught.value.message
    assert message in caught.value.message
    assert caught.value.hint


def test_a_name_that_no_file_can_have_has_no_config() -> None:
    assert config_of("a\0b") is None
    assert config_of("x" * 5000) is None
