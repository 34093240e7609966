"""Files whose names say by a convention which model they hold, and what it is made with."""

from pathlib import Path
from typing import Any

import pytest
from torch import Tensor

from opcheck.errors import SourceError, UsageError
from opcheck.source.base import Loaded, LoadOptions
from opcheck.source.kinds.python_file import PythonFile

BENCHMARK = """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self, width, scale):
        super().__init__()
        self.layer, self.scale = nn.Linear(3, width), scale

    def forward(self, x, y):
        return self.layer(x) * self.scale + y

class ModelNew(Model):
    pass

def get_inputs():
    return [torch.rand(5, 3), torch.rand(5, 4)]

def get_init_inputs():
    return [4, 0.5]
"""
HUB = """
import torch
dependencies = [{needs}]

def tiny(pretrained=True, width=2):
    if pretrained:
        raise RuntimeError("downloads")
    return torch.nn.Linear(3, width), torch.ones(5, 3)

def wide(pretrained):
    return torch.nn.Linear(3, 9 if not pretrained else 0), torch.ones(7, 3)
"""


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def load(text: str) -> Loaded:
    return PythonFile().load(text, LoadOptions())


def shapes(loaded: Loaded) -> list[tuple[int, ...]]:
    return [tuple(value.shape) for value in loaded.args if isinstance(value, Tensor)]


@pytest.mark.parametrize(
    ("text", "name"),
    [("bench.py", "Model"), ("bench.py:Model", "Model"), ("bench.py:ModelNew", "ModelNew")],
)
def test_a_kernelbench_file_gives_its_class_its_arguments_and_its_inputs(
    text: str, name: str
) -> None:
    Path("bench.py").write_text(BENCHMARK)
    found = load(text)
    module: Any = found.module
    assert (type(module).__name__, module.scale, module.layer.out_features) == (name, 0.5, 4)
    assert shapes(found) == [(5, 3), (5, 4)]


def test_named_arguments_of_a_kernelbench_class() -> None:
    Path("bench.py").write_text(BENCHMARK.replace("[4, 0.5]", '{"scale": 2, "width": 6}'))
    module: Any = load("bench.py").module
    assert (module.scale, module.layer.out_features) == (2, 6)


def test_a_class_without_the_conventions_functions_needs_its_arguments() -> None:
    Path("bench.py").write_text(BENCHMARK.replace("get_init_inputs", "others"))
    with pytest.raises(SourceError) as caught:
        load("bench.py:ModelNew")
    assert caught.value.message == "ModelNew() of bench.py needs arguments: width, scale"


def test_a_model_alone_is_no_convention() -> None:
    Path("bench.py").write_text(BENCHMARK.replace("get_inputs", "others"))
    with pytest.raises(UsageError) as caught:
        load("bench.py")
    assert caught.value.message == "bench.py: which model? write bench.py:NAME"
    assert caught.value.hint == "it defines Model, ModelNew, others, get_init_inputs"


def test_an_entry_point_of_torch_hub_downloads_nothing() -> None:
    Path("hubconf.py").write_text(HUB.format(needs="'torch'"))
    assert shapes(load("hubconf.py:tiny")) == [(5, 3)]
    assert shapes(load("hubconf.py:wide")) == [(7, 3)]
    Path("other.py").write_text(HUB.format(needs=""))
    with pytest.raises(SourceError, match="downloads"):
        load("other.py:tiny")


@pytest.mark.parametrize(
    ("needs", "text", "kind", "message", "hint"),
    [
        ("'torch', 'absent_one', 'absent.two'", "hubconf.py:tiny", SourceError,
         "hubconf.py needs packages that are not installed: absent_one, absent.two",
         "install them beside opcheck"),
        ("'torch'", "hubconf.py", UsageError, "hubconf.py: which model? write hubconf.py:NAME",
         "it defines tiny, wide"),
    ],
)  # fmt: skip
def test_what_a_hubconf_lacks(
    needs: str, text: str, kind: type[SourceError], message: str, hint: str
) -> None:
    Path("hubconf.py").write_text(HUB.format(needs=needs))
    with pytest.raises(kind) as caught:
        load(text)
    assert (caught.value.message, caught.value.hint) == (message, hint)
