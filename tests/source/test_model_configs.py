"""Configs of mmengine and detectron2: how they are told, and what their library is asked.

Neither library is here; packages that have the same names and functions stand for them.
"""

import shlex
import subprocess
from pathlib import Path

import pytest

from opcheck.errors import ExitCode
from opcheck.source.model_configs import is_settings
from tests.console import ran

SETTINGS = "default_scope = 'mmengine'\nmodel = dict(type='TinyNet', width=8)\n"
CHANGED = "_base_ = ['./settings.py']\nmodel = dict(width=16)\n"
IMPORTED = "with read_base():\n    from .settings import *\n"
LIBRARY = {
    "mmengine/__init__.py": "",
    "mmengine/config.py": """
class Config(dict):
    @classmethod
    def fromfile(cls, name):
        found = {}
        exec(open(name).read(), found)
        return cls({key: value for key, value in found.items() if key != "__builtins__"})
""",
    "mmengine/registry.py": """
import torch

class Models:
    def build(self, settings):
        assert scopes == ["mmengine"] and settings["type"] == "TinyNet"
        return torch.nn.Conv2d(3, settings["width"], 3)

MODELS, scopes = Models(), []
init_default_scope = scopes.append
""",
    "detectron2/__init__.py": "",
    "detectron2/config.py": """
def LazyCall(target):
    return lambda **given: {"_target_": target, **given}

def instantiate(settings):
    target = settings.pop("_target_")
    return target(**settings)
""",
}
LAZY = """
import torch
from detectron2.config import LazyCall as L

model = L(torch.nn.Conv2d)(in_channels=3, out_channels=8, kernel_size=3)
other = dict(width=3)
"""


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        (SETTINGS, True),
        (CHANGED, True),
        (IMPORTED, True),
        ("model = {'type': 'TinyNet'}\n", True),
        ("model = dict(width=16)\n", False),
        ("import torch\nmodel = torch.nn.ReLU()\n", False),
        (SETTINGS + "def build():\n    return model\n", False),
        (LAZY, False),
        ("model = dict(type=\n", False),
    ],
)
def test_what_is_a_config_of_mmengine(text: str, is_one: bool, tmp_path: Path) -> None:
    path = tmp_path / "settings.py"
    path.write_text(text, encoding="utf-8")
    assert is_settings(path) == is_one


def scanned(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return ran(shlex.join(["opcheck", "scan", "-t", "ascend-910b", "--quiet", *arguments]), folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in {"settings.py": SETTINGS, "lazy.py": LAZY}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def with_libraries(folder: Path) -> Path:
    for name, text in LIBRARY.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("source", ["settings.py", "settings.py:model", "lazy.py:model"])
def test_the_library_makes_the_model(source: str, with_libraries: Path) -> None:
    done = scanned(with_libraries, source, "--input", "1x3x8x8")
    assert (done.returncode, done.stderr) == (ExitCode.PASS, "")
    assert f"runs: {source} on ascend-910b" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "message", "hint"),
    [
        ("settings.py", "is a config of mmengine, which is not installed", "install it and the"),
        ("lazy.py:model", "needs the module 'detectron2'", "install detectron2"),
    ],
)
def test_a_library_that_is_not_there(source: str, message: str, hint: str, folder: Path) -> None:
    done = scanned(folder, source)
    assert done.returncode == ExitCode.MODEL
    assert message in done.stderr
    assert hint in done.stderr


@pytest.mark.slow
def test_a_setting_that_is_not_there(with_libraries: Path) -> None:
    done = scanned(with_libraries, "settings.py:head")
    assert done.returncode == ExitCode.MODEL
    assert "settings.py has no setting head for a model" in done.stderr
    assert "it has default_scope, model" in done.stderr
