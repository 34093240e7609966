"""Files are told apart by their bytes, and no pickle is ever run."""

import json
import os
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from opcheck.errors import SourceError
from opcheck.lang.speech import Language, speaking, tell
from opcheck.source.archive import ALWAYS_FINE
from opcheck.source.load import select
from opcheck.source.sniff import Form, PickleContents, Sniffed, holds, read_pickle, sniff


class Evil:
    """Makes a directory when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.path),)


def save(value: Any, **options: Any) -> Callable[[Path], None]:
    return lambda path: torch.save(value, path, **options)


def write(data: bytes) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        path.write_bytes(data)

    return make


def script(path: Path) -> None:
    torch.jit.script(nn.Linear(2, 2)).save(str(path))


def export(path: Path) -> None:
    torch.export.save(torch.export.export(nn.Linear(2, 2), (torch.ones(1, 2),)), path)


def safetensors(header: dict[str, Any]) -> bytes:
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text


def archive(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as zip_file:
        zip_file.writestr("notes/read me.txt", "nothing")


STATE = nn.Linear(2, 2).state_dict()
OLD: dict[str, Any] = {"_use_new_zipfile_serialization": False}


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (script, Sniffed(Form.TORCHSCRIPT, "a TorchScript model")),
        (export, Sniffed(Form.EXPORTED, "a torch.export program")),
        (save(STATE), Sniffed(Form.WEIGHTS, "a state_dict (weight, bias)")),
        (save(STATE, **OLD), Sniffed(Form.WEIGHTS, "a state_dict (weight, bias)")),
        (save({"epoch": 3, "model": STATE}),
         Sniffed(Form.WEIGHTS, "a state_dict (epoch, model, weight, …)")),
        (save([torch.ones(2)]), Sniffed(Form.WEIGHTS, "bare tensors")),
        (save(nn.Parameter(torch.ones(2))), Sniffed(Form.WEIGHTS, "bare tensors")),
        (save(nn.ReLU()),
         Sniffed(Form.PICKLED, "a pickle that builds torch.nn.modules.activation.ReLU")),
        (save({"model": nn.ReLU()}, **OLD),
         Sniffed(Form.PICKLED, "an old-style pickle that builds "
                               "torch.nn.modules.activation.ReLU")),
        (write(safetensors({"__metadata__": {}, "b": {}, "a": {}})),
         Sniffed(Form.WEIGHTS, "safetensors (a, b)")),
        (write(b"GGUF\x03\x00\x00\x00\x00"), Sniffed(Form.WEIGHTS, "GGUF weights")),
        (write(b"\x89HDF\r\n\x1a\n\x00"), Sniffed(Form.WEIGHTS, "HDF5 weights")),
        (archive,
         Sniffed(Form.OTHER, "a zip archive without a model (it holds notes/read me.txt)")),
        (write(b"hello"), Sniffed(Form.OTHER, "no model file that this release knows")),
    ],
)  # fmt: skip
def test_forms(tmp_path: Path, make: Callable[[Path], None], expected: Sniffed) -> None:
    path = tmp_path / "model.bin"
    make(path)
    assert sniff(path) == expected
    assert holds(path, expected.form)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_is_named_and_not_run(tmp_path: Path, protocol: int) -> None:
    made = tmp_path / "made"
    contents = read_pickle(pickle.dumps(Evil(made), protocol))
    assert contents.classes == (f"{os.mkdir.__module__}.mkdir",)
    for save_as in (lambda path: torch.save(Evil(made), path), script):
        save_as(tmp_path / "model.pt")
        sniff(tmp_path / "model.pt")
    assert not made.exists()


def test_names_repeated_through_the_memo_are_found() -> None:
    # "posix" and "system" are pushed once, and fetched again for the second import
    data = (
        b"\x80\x04\x8c\x05posix\x94\x8c\x06system\x94\x930" b"h\x00h\x01\x93."
    )  # fmt: skip
    assert read_pickle(data).classes == ("posix.system",)


def test_a_damaged_pickle_says_so() -> None:
    contents = read_pickle(b"\x80\x04\x95\x10")
    assert contents == PickleContents((), (), contents.damage)
    assert contents.damage


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "{path}: the file is empty"),
        (b"PK\x03\x04 and no more",
         "{path}: the zip archive is truncated or damaged: its directory cannot be read "
         "(File is not a zip file)"),
    ],
)  # fmt: skip
def test_broken_files(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "model.pt"
    path.write_bytes(data)
    with pytest.raises(SourceError) as caught:
        sniff(path)
    assert caught.value.message == message.format(path=path)
    assert caught.value.hint
    assert not holds(path, Form.OTHER)


def test_a_truncated_model_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    script(path)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(SourceError, match="truncated or damaged"):
        sniff(path)


@pytest.mark.slow
def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as bomb:
        bomb.writestr("model/data.pkl", b"\0" * (2 * ALWAYS_FINE))
    with pytest.raises(SourceError, match=f"would unpack to {2 * ALWAYS_FINE} bytes"):
        sniff(path)


def test_no_file_and_a_directory(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no such file"):
        sniff(tmp_path / "model.pt")
    with pytest.raises(SourceError, match="is a directory"):
        sniff(tmp_path)


def test_a_file_that_changed_is_looked_at_again(tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    path.write_bytes(b"hello")
    assert sniff(path).form is Form.OTHER
    script(path)
    assert sniff(path).form is Form.TORCHSCRIPT


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (write(b"\x89HDF\r\n\x1a\n\x00"), "HDF5 权重"),
        (save([torch.ones(2)]), "单独的张量"),
    ],
)
def test_weights_are_refused_in_chinese(
    tmp_path: Path, make: Callable[[Path], None], said: str
) -> None:
    path = tmp_path / "model.bin"
    make(path)
    with pytest.raises(SourceError) as caught:
        select(str(path))
    with speaking(Language.CHINESE):
        assert tell(caught.value.message) == f"{path} 只含权重（{said}）：缺少模型的代码或图"
