"""One kind claims each text, without torch, and what none claims is named."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

from opcheck.errors import OpcheckError, SourceError, UsageError
from opcheck.source.base import LoadOptions
from opcheck.source.load import kinds, select


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("net.py:build", "python"),
        ("a/b/net.py", "python"),
        ("hf:models/bert", "hf"),
        ("hf:config.json", "hf"),
        ("timm:resnet50", "timm"),
        ("torchvision:resnet50", "torchvision"),
        ("ultralytics:yolov8n.yaml", "ultralytics"),
    ],
)
def test_names(text: str, name: str) -> None:
    assert select(text).name == name
    assert [kind.name for kind in kinds() if kind.claims(text)] == [name]


def test_files_are_told_by_what_they_hold(tmp_path: Path) -> None:
    torch.jit.script(nn.ReLU()).save(str(tmp_path / "script.pth"))
    torch.save(nn.ReLU(), tmp_path / "module.pt")
    assert select(str(tmp_path / "script.pth")).name == "torchscript"
    assert select(str(tmp_path / "module.pt")).name == "pickle"


def test_every_kind_says_its_form() -> None:
    assert len(kinds()) >= 7
    for kind in kinds():
        assert kind.name
        assert kind.help
        assert kind.__doc__


def test_what_is_no_source_names_the_kinds() -> None:
    with pytest.raises(UsageError) as caught:
        select("no model")
    assert caught.value.message == "not a model source: 'no model'"
    for kind in kinds():
        assert kind.help in caught.value.hint


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("yolov8n.pt", "did you mean ultralytics:yolov8n.yaml?"),
        ("yolo11n-seg", "did you mean ultralytics:yolo11n-seg.yaml?"),
        ("resnet50", "as in torchvision:resnet50 or timm:resnet50"),
        ("resnet50.a1_in1k", "as in torchvision:resnet50.a1_in1k"),
    ],
)
def test_a_name_alone_is_told_where_it_belongs(text: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        select(text)
    assert hint in caught.value.hint


@pytest.mark.parametrize("name", ["opcheck.yaml", "models.csv", "setup.toml"])
def test_a_file_that_is_not_there_is_no_model_of_a_library(name: str) -> None:
    with pytest.raises(SourceError) as caught:
        select(name)
    assert (caught.value.message, caught.value.hint) == (f"{name}: no such file", "check the path")


@pytest.mark.parametrize(
    ("name", "data", "message", "hint"),
    [
        ("model.pt", None, "{path}: no such file", "check the path"),
        ("model.pt", b"", "{path}: the file is empty", "was it copied or saved completely?"),
        ("model.onnx", b"\x08\x07", "{path} is an ONNX model; this reads PyTorch models",
         "torch.export.save"),
        ("model.bin", b"xx", "{path}: no model file that this release knows", "file.py:function"),
    ],
)  # fmt: skip
def test_files_that_are_no_model(
    tmp_path: Path, name: str, data: bytes | None, message: str, hint: str
) -> None:
    path = tmp_path / name
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(SourceError) as caught:
        select(str(path))
    assert caught.value.message == message.format(path=path)
    assert hint in caught.value.hint


def test_weights_alone_are_no_model(tmp_path: Path) -> None:
    path = tmp_path / "weights.pt"
    torch.save(nn.Linear(2, 2).state_dict(), path)
    with pytest.raises(SourceError) as caught:
        select(str(path))
    assert caught.value.message == (
        f"{path} holds only weights, a state_dict (weight, bias): "
        "the code or graph of the model is missing"
    )
    assert "path/to/file.py:function" in caught.value.hint


@pytest.mark.parametrize(
    "text",
    ["net.py:", "absent.py:build", "hf:", "hf:org/name", "ultralytics:yolov8n.pt", "what", "x.pt"],
)
def test_refusals_load_no_torch(text: str) -> None:
    code = (
        "import sys\n"
        "from opcheck.errors import OpcheckError\n"
        "from opcheck.source.base import LoadOptions\n"
        "from opcheck.source.load import select\n"
        "try:\n"
        "    select(sys.argv[1]).check(sys.argv[1], LoadOptions())\n"
        "except OpcheckError as error:\n"
        "    print(bool(error.message), bool(error.hint), 'torch' in sys.modules)\n"
    )
    command = [sys.executable, "-c", code, text]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("True True False\n", "")


def test_a_pickle_is_refused_unless_trusted(tmp_path: Path) -> None:
    path = tmp_path / "module.pt"
    torch.save(nn.ReLU(), path)
    select(str(path)).check(str(path), LoadOptions(trust=True))
    with pytest.raises(OpcheckError) as caught:
        select(str(path)).check(str(path), LoadOptions())
    assert caught.value.message == (
        f"{path} is a pickle that builds torch.nn.modules.activation.ReLU: "
        "reading it runs code stored in the file"
    )
    assert caught.value.hint.startswith("--trust reads it")
