"""Data sets of torchvision that are not here: random images stand for them, where that is asked."""

from pathlib import Path

import pytest

from opcheck.commands.run import answer
from opcheck.errors import ExitCode
from opcheck.model.request import ModelSpec
from opcheck.model.script import Data, Ending, ScriptRequest, ScriptSpec
from opcheck.model.target import TargetSpec
from tests.app.stand_in import outcome

TRAIN = """\
import torch
from torch.utils.data import DataLoader
from torchvision import datasets, transforms


class Numbered(datasets.CIFAR10):
    def __getitem__(self, index):
        return index, self.targets[index], self.data[index].shape


tensor = transforms.ToTensor()
crop = transforms.Compose([transforms.CenterCrop(32), tensor])
mnist = datasets.MNIST("data", download=True, transform=tensor)
assert len(mnist) == 60_000 and len(datasets.FashionMNIST("data", train=False)) == 10_000
assert datasets.EMNIST("data", "letters", transform=tensor)[5][0].shape == (1, 28, 28)
assert Numbered("data", train=False)[11] == (11, 1, (32, 32, 3))
assert len(datasets.CIFAR100("data", target_transform=str).classes) == 100
assert datasets.CIFAR100("data", target_transform=str)[7][1] == "7"
for kind in (datasets.SVHN, datasets.STL10):
    assert kind("data", "test", transform=crop)[3][0].shape == (3, 32, 32)
for folder in (datasets.ImageFolder("data/train", crop), datasets.ImageNet("data", "val",
               transform=crop), datasets.EuroSAT("data", transform=crop)):
    assert folder[12][0].shape == (3, 32, 32) and folder[12][1] == 2
flowers = datasets.Flowers102("data", "test", transform=crop)
assert flowers[0][0].shape == (3, 32, 32) and sum(1 for _ in flowers) == len(flowers)
model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(784, 10)).cuda()
for x, y in DataLoader(mnist, 16, shuffle=True):
    torch.nn.functional.cross_entropy(model(x.cuda()), y.cuda()).backward()
    break
"""
HERE = """\
import os
import torch
from PIL import Image
from torchvision import datasets

os.makedirs("data/cat")
Image.new("RGB", (4, 4)).save("data/cat/a.png")
assert datasets.ImageFolder("data").classes == ["cat"]
torch.ones(2).cuda()
"""


@pytest.fixture(autouse=True)
def _in_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("text", "absent"), [(TRAIN, 10), (HERE, 0)])
def test_random_images_stand_for_what_is_not_here(text: str, absent: int) -> None:
    Path("train.py").write_text(text)
    request = ScriptRequest(
        ScriptSpec("train.py"), ModelSpec("train.py"), TargetSpec("ascend-910b"), data=Data.FAKE
    )
    found = answer.run(request)
    assert (found.ending, found.emulation.error, found.used) == (Ending.RETURNED, "", True)
    end = " is not here: random images stand for it"
    assert sum(note.endswith(end) for note in found.emulation.notes) == absent


@pytest.mark.slow
def test_where_nobody_asked_for_them_the_error_is_as_ever_and_names_the_option() -> None:
    Path("train.py").write_text(TRAIN)
    done = outcome(["run", "-t", "ascend-910b", "train.py"])
    assert done.exit_code == ExitCode.MODEL
    said = " ".join(done.stdout.split())
    assert "RuntimeError: Error downloading" in said
    assert "the data set MNIST of torchvision is not here; with --data fake" in said


def test_data_of_another_kind_is_refused() -> None:
    done = outcome(["run", "-t", "ascend-910b", "--data", "real", "train.py"])
    assert done.exit_code == ExitCode.USAGE
    assert "not one of none, fake: 'real'" in " ".join(done.stderr.split())
