"""Where a call came from: the user's own line, the module, its pattern."""

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
import torch
from torch import Tensor, nn

from opcheck.model.trace import Trace
from opcheck.trace.calls.call_site import NOWHERE, from_error, shown
from opcheck.trace.calls.modules import pattern
from tests.trace.look import traced

Writer = Callable[[str, str], ModuleType]


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Writer:
    """Imports a module of this text, from a file below the working directory."""

    def load(name: str, text: str) -> ModuleType:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        spec = importlib.util.spec_from_file_location("user_" + path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, spec.name, module)
        spec.loader.exec_module(module)
        return module

    monkeypatch.chdir(tmp_path)
    return load


def sites(trace: Trace) -> list[tuple[str, str, int]]:
    """(operator, file, line) of every use."""
    return [(str(trace.nodes[u.node].op), u.file, u.line) for u in trace.uses]


NET = """\
import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 4), nn.ReLU())

    def forward(self, x):
        x = self.net(x)
        x = (
            F.layer_norm(x, [4])
        )
        return helper(x) + 1


def helper(x):
    return torch.sigmoid(x)
"""


def test_the_users_line_though_torchs_modules_stand_between(written: Writer) -> None:
    assert sites(traced(written("net.py", NET).Net(), torch.ones(2, 4))) == [
        ("aten::linear", "net.py", 12),
        ("aten::relu", "net.py", 12),
        ("aten::layer_norm", "net.py", 14),
        ("aten::sigmoid", "net.py", 20),
        ("aten::add.Tensor", "net.py", 16),
    ]


def test_a_line_in_a_folder_is_relative_to_the_working_directory(written: Writer) -> None:
    net = written("src/models/net.py", NET).Net()
    assert {file for _, file, _ in sites(traced(net, torch.ones(2, 4)))} == {"src/models/net.py"}


def test_the_users_line_though_a_library_stands_between(written: Writer) -> None:
    library = written(
        "venv/lib/site-packages/lib/nets.py",
        "def attend(x):\n    return (x @ x).softmax(-1)\n",
    )
    sys.modules["lib_nets"] = library
    user = written("mine.py", "import lib_nets\n\n\ndef run(x):\n    return lib_nets.attend(x)\n")
    del sys.modules["lib_nets"]
    assert sites(traced(user.run, torch.ones(4, 4))) == [
        ("aten::matmul", "mine.py", 5),
        ("aten::softmax.int", "mine.py", 5),
    ]


def test_a_librarys_line_relative_to_its_package_where_no_user_code_ran(written: Writer) -> None:
    library = written(
        "venv/lib/site-packages/lib/nets.py", "def attend(x):\n    return (x @ x).softmax(-1)\n"
    )
    assert {(file, line) for _, file, line in sites(traced(library.attend, torch.ones(4, 4)))} == {
        ("lib/nets.py", 2)
    }


def test_nothing_of_anybodys_is_no_place() -> None:
    assert sites(traced(nn.ReLU(), torch.ones(2))) == [("aten::relu", *NOWHERE)]


def test_a_file_elsewhere_is_relative_to_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "far" / "pkg" / "sub"
    package.mkdir(parents=True)
    (tmp_path / "here").mkdir()
    for folder in (package, package.parent):
        (folder / "__init__.py").touch()
    monkeypatch.chdir(tmp_path / "here")
    assert shown(str(package / "net.py")) == "pkg/sub/net.py"
    assert shown(str(tmp_path / "far" / "alone.py")) == "alone.py"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("layers.3.attn", "layers.*.attn"),
        ("3", "*"),
        ("0.conv", "*.conv"),
        ("blocks.0.1.fc2", "blocks.*.*.fc2"),
        ("conv1", "conv1"),
        ("layer4.12", "layer4.*"),
        ("", ""),
    ],
)
def test_layer_numbers_are_a_pattern(path: str, expected: str) -> None:
    assert pattern(path) == expected


def test_a_call_belongs_to_the_innermost_module() -> None:
    class Outer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Sequential(nn.ReLU(), nn.Sequential(nn.Tanh()))

        def forward(self, x: Tensor) -> Tensor:
            return torch.exp(self.inner(x.abs()))

    trace = traced(Outer(), torch.ones(2))
    assert [(str(trace.nodes[u.node].op), u.module) for u in trace.uses] == [
        ("aten::abs", ""),
        ("aten::relu", "inner.*"),
        ("aten::tanh", "inner.*.*"),
        ("aten::exp", ""),
    ]


def test_one_line_in_two_modules_is_two_uses() -> None:
    shared = nn.Linear(4, 4)
    trace = traced(nn.Sequential(nn.Sequential(shared), nn.Linear(4, 4)), torch.ones(2, 4))
    assert [(u.node, u.module, u.count) for u in trace.uses] == [(0, "*.*", 1), (0, "*", 1)]


def test_modules_that_never_ran_are_listed_by_their_outermost_path() -> None:
    class Auxiliary(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Sequential(nn.ReLU(), nn.Tanh())
            self.aux = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
            self.extra = nn.ModuleList([nn.ReLU(), nn.Tanh()])

        def forward(self, x: Tensor) -> Tensor:
            return torch.exp(self.extra[1](self.body(x)))

    assert traced(Auxiliary(), torch.ones(2)).modules_not_called == ("aux", "extra.0")


def test_an_error_is_placed_at_the_innermost_line_of_the_user(written: Writer) -> None:
    module = written("fails.py", "import torch\n\n\ndef run(x):\n    return torch.relu(x, x)\n")
    with pytest.raises(TypeError) as caught:
        module.run(torch.ones(1))
    assert from_error(caught.value) == ("fails.py", 5)


def test_an_error_without_user_code_has_no_place() -> None:
    assert from_error(ValueError("never raised")) == NOWHERE
