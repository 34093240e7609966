"""TorchScript and pickled modules, loaded from files."""

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from opcheck.errors import SourceError
from opcheck.source.base import LoadOptions
from opcheck.source.inputs import InputSpec
from opcheck.source.load import load

pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")

TRUSTED = LoadOptions(trust=True)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 300, 5)
        self.wide = nn.Linear(300, 300)
        self.register_buffer("steps", torch.tensor([3]))

    def forward(self, x: Tensor, repeat: int = 1) -> Tensor:
        y: Tensor = self.wide(self.stem(x).mean((2, 3)))
        for _ in range(repeat):
            y = y.relu()
        return y


def specs(*texts: str) -> LoadOptions:
    return LoadOptions(tuple(InputSpec.parse(text) for text in texts))


@pytest.fixture
def scripted(tmp_path: Path) -> str:
    path = tmp_path / "model.pt"
    torch.jit.script(Net()).save(str(path))
    return str(path)


def test_a_traced_module_tells_its_inputs(tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    torch.jit.trace(Net().eval(), torch.zeros(2, 3, 20, 20)).save(str(path))
    loaded = load(str(path), LoadOptions())
    assert [list(arg.shape) for arg in loaded.args] == [[2, 3, 20, 20]]
    assert (loaded.kind, loaded.notes, len(loaded.digest)) == ("torchscript", (), 16)


@pytest.mark.slow
def test_a_scripted_module_is_asked_through_its_layers(scripted: str) -> None:
    loaded = load(scripted, LoadOptions())
    assert [list(arg.shape) for arg in loaded.args] == [[1, 3, 224, 224]]
    assert loaded.notes == ("no inputs given: 1x3x224x224:float32, as stem (Conv2d) wants",)


def test_the_users_inputs_win(scripted: str) -> None:
    loaded = load(scripted, specs("x=1x3x32x32", "repeat=2"))
    assert list(loaded.kwargs["x"].shape) == [1, 3, 32, 32]
    assert loaded.kwargs["repeat"] == 2
    with pytest.raises(SourceError) as caught:
        load(scripted, specs("y=1x3x32x32"))
    assert caught.value.hint == "it takes (x, repeat=…)"


def test_large_weights_are_given_up_and_small_values_kept(scripted: str) -> None:
    module = load(scripted, specs("1x3x32x32")).module
    assert module.wide.weight.is_meta  # type: ignore[attr-defined]  # of the module above
    assert module.steps.tolist() == [3]  # type: ignore[attr-defined]  # of the module above


@pytest.mark.slow
@pytest.mark.parametrize("stored", [lambda m: m, lambda m: {"epoch": 1, "model": m}])
@pytest.mark.parametrize("new", [True, False])
def test_a_trusted_pickle_is_loaded(tmp_path: Path, stored: object, new: bool) -> None:
    assert callable(stored)
    path = tmp_path / "model.pt"
    torch.save(stored(nn.Linear(3, 4)), path, _use_new_zipfile_serialization=new)
    loaded = load(str(path), TRUSTED)
    assert isinstance(loaded.module, nn.Linear)
    assert [list(arg.shape) for arg in loaded.args] == [[1, 3]]
    assert loaded.kind == "pickle"


def test_a_trusted_pickle_without_a_module_says_what_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    torch.save({"path": tmp_path}, path)
    with pytest.raises(SourceError) as caught:
        load(str(path), TRUSTED)
    assert caught.value.message == f"{path} holds a dict without a torch.nn.Module in it"


def test_a_class_that_is_not_found_is_named(tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    torch.save(Net(), path, _use_new_zipfile_serialization=False)
    data = path.read_bytes().replace(b"test_files", b"test_filez")
    path.write_bytes(data)
    with pytest.raises(SourceError, match="test_filez"):
        load(str(path), TRUSTED)
