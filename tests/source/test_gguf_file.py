"""GGUF files as sources: which texts name one, and which files hold no model."""

import json
from pathlib import Path

import pytest

from opcheck.errors import SourceError
from opcheck.source.base import LoadOptions
from opcheck.source.gguf_file import files_of
from opcheck.source.load import load, select
from tests.source.gguf_files import LLAMA, header, whole

FLUX = {"_class_name": "FluxTransformer2DModel"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "m.gguf").write_bytes(whole())
    (tmp_path / "README.md").write_text("a model")
    return tmp_path


@pytest.mark.parametrize("name", ["", "m.gguf"])
@pytest.mark.parametrize("prefix", ["", "hf:"])
def test_the_file_or_its_folder_may_be_named(folder: Path, prefix: str, name: str) -> None:
    text = f"{prefix}{folder / name}"
    source = select(text)
    assert source.name == "gguf"
    assert files_of(text) == (folder / "m.gguf",)
    assert source.path(text) == folder / name
    source.check(text, LoadOptions())


def test_a_file_counts_before_a_config_of_transformers_beside_it(folder: Path) -> None:
    (folder / "config.json").write_text(json.dumps({"model_type": "bert"}))
    assert select(str(folder / "m.gguf")).name == "gguf"
    assert select(str(folder)).name == "hf"


def test_a_file_beside_a_config_of_diffusers_holds_weights_for_it(folder: Path) -> None:
    (folder / "config.json").write_text(json.dumps(FLUX))
    assert select(str(folder / "m.gguf")).name == "diffusers"


def test_of_several_files_one_is_to_be_named(folder: Path) -> None:
    (folder / "n.gguf").write_bytes(whole())
    source = select(str(folder))
    with pytest.raises(SourceError) as raised:
        source.check(str(folder), LoadOptions())
    assert raised.value.message == f"{folder} holds 2 GGUF files, want one"
    assert raised.value.hint == f"name one of them: {folder}/m.gguf, {folder}/n.gguf"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (header({}), "general.architecture is '', want the name of an architecture"),
        (header({"general.architecture": "../x"}),
         "general.architecture is '../x', want the name of an architecture"),
        (header({**LLAMA, "general.architecture": 7}),
         "general.architecture is '', want the name of an architecture"),
        (header(LLAMA, []), "it holds a vocabulary and no model"),
        (header({**LLAMA, "general.type": "adapter"}), "it holds adapter and no model"),
        (header({**LLAMA, "split.count": 3}),
         "it is one of 3 parts, and transformers reads one file"),
    ],
)  # fmt: skip
def test_files_that_hold_no_whole_model(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(content)
    with pytest.raises(SourceError) as raised:
        select(str(path)).check(str(path), LoadOptions())
    assert raised.value.message == f"{path}: {said}"


@pytest.mark.slow
def test_a_file_is_loaded_ready_to_be_called(folder: Path) -> None:
    loaded = load(str(folder / "m.gguf"), LoadOptions())
    assert (loaded.kind, type(loaded.module).__name__) == ("gguf", "LlamaForCausalLM")
    assert list(loaded.kwargs) == ["input_ids"]
    assert loaded.unseen == ()
