"""``file.py:name``: every form that a model comes in, and every way in which the file can fail."""

from pathlib import Path
from typing import Any

import pytest
from torch import Tensor
from torch.utils._pytree import tree_map_only

from opcheck.errors import OpcheckError, SourceError, UsageError
from opcheck.source.base import Loaded, LoadOptions
from opcheck.source.inputs import InputSpec
from opcheck.source.kinds.python_file import PythonFile

NET = """
import torch
from torch import nn
import sys

class Net(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.layer = nn.Linear(3, width)

    def forward(self, x, scale=None):
        return self.layer(x)

class Two(nn.Module):
    def forward(self, a, b):
        return a + b

class Outer:
    build = Net

instance = Net()
pair = (Net(), torch.ones(5, 3))

def module(): return Net()
def with_tensor(): return Net(), torch.ones(2, 3)
def with_tuple(): return Net(), (torch.ones(2, 3), None)
def with_names(): return Net(), {"x": torch.ones(2, 3)}
def with_both(): return Net(), ((torch.ones(2, 3),), {"scale": 2})
def large(): return nn.Linear(500, 500), torch.ones(200, 500)
def needs(width, depth=2): return Net(width)
def number(): return 5
def weights(): return Net().state_dict()
def fails(): raise ValueError("no such thing")
def missing(): import flash_attn
def leaves(): sys.exit(3)
def reads(): return torch.load("absent.pt")
def two(): return Two()
def on_cuda(): raise AssertionError("Torch not compiled with CUDA enabled")
def lazy(): return nn.Sequential(nn.LazyLinear(2)), torch.ones(5, 3)
def parallel(): return nn.DataParallel(Net())
def traced(): return torch.jit.trace(Net(), torch.ones(7, 3))
def exported(): return torch.export.export(Net(), (torch.ones(7, 3),)).module(), torch.ones(7, 3)
def loads():
    net = Net(500)
    torch.save(net.state_dict(), "net.pt")
    net.load_state_dict(torch.load("net.pt"))
    return net
"""


@pytest.fixture
def net(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("net.py").write_text(NET)
    return Path("net.py")


def load(text: str, *inputs: str) -> Loaded:
    specs = tuple(InputSpec.parse(item) for item in inputs)
    return PythonFile().load(text, LoadOptions(specs))


def described(loaded: Loaded) -> tuple[str, Any, Any]:
    """Class of the module and its inputs, tensors as shape and device."""

    def text(tensor: Tensor) -> str:
        return f"{list(tensor.shape)} {tensor.device.type}"

    args, kwargs = tree_map_only(Tensor, text, (loaded.args, dict(loaded.kwargs)))
    return type(loaded.module).__name__, args, kwargs


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Net", ("Net", ("[1, 3] cpu",), {})),
        ("Outer.build", ("Net", ("[1, 3] cpu",), {})),
        ("instance", ("Net", ("[1, 3] cpu",), {})),
        ("pair", ("Net", ("[5, 3] cpu",), {})),
        ("module", ("Net", ("[1, 3] cpu",), {})),
        ("with_tensor", ("Net", ("[2, 3] cpu",), {})),
        ("with_tuple", ("Net", ("[2, 3] cpu", None), {})),
        ("with_names", ("Net", (), {"x": "[2, 3] cpu"})),
        ("with_both", ("Net", ("[2, 3] cpu",), {"scale": 2})),
        ("lazy", ("Sequential", ("[5, 3] cpu",), {})),
        ("parallel", ("Net", ("[1, 3] cpu",), {})),
        ("traced", ("TopLevelTracedModule", ("[7, 3] cpu",), {})),
        ("loads", ("Net", ("[1, 3] cpu",), {})),
        ("large", ("Linear", ("[200, 500] meta",), {})),
    ],
)
def test_every_form_of_a_model(net: Path, name: str, expected: tuple[str, Any, Any]) -> None:
    loaded = load(f"{net}:{name}")
    assert described(loaded) == expected
    assert loaded.kind == "python"
    assert not loaded.module.training  # type: ignore[attr-defined]  # an nn.Module


def test_a_module_without_modes_is_taken_as_it_is(net: Path) -> None:
    assert load(f"{net}:exported").notes == ()


def test_what_was_guessed_is_said(net: Path) -> None:
    note = "no inputs given: 1x3:float32, as layer (Linear) wants"
    assert load(f"{net}:module").notes == (note,)
    assert load(f"{net}:with_tensor").notes == ()


def test_the_users_inputs_win(net: Path) -> None:
    assert described(load(f"{net}:with_tensor", "x=7x3")) == ("Net", ("[7, 3] cpu",), {})
    expected = ("Two", (), {"a": "[7, 3] cpu", "b": "[3] cpu"})
    assert described(load(f"{net}:two", "a=7x3", "b=3:float32")) == expected


@pytest.mark.slow
def test_the_digest_is_the_files(net: Path) -> None:
    first = load(f"{net}:module").digest
    assert len(first) == 16
    assert load(f"{net}:instance").digest == first
    net.write_text(NET + "\n# changed\n")
    assert load(f"{net}:module").digest != first


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("Nett", "net.py has no 'Nett'", "did you mean Net?"),
        ("needs", "needs() of net.py needs arguments: width", "without arguments"),
        ("number", "number() of net.py gives int, want a torch.nn.Module or (module, inputs)",
         "return the model itself"),
        ("weights", "weights() of net.py gives OrderedDict, want a torch.nn.Module or "
         "(module, inputs)", "return the model itself"),
        ("fails", "fails() of net.py raised ValueError: no such thing (at net.py:33)",
         "must build the model in plain Python"),
        ("missing", "missing() of net.py needs the module 'flash_attn', which is not installed "
         "(at net.py:34)", "only the schema of its operators is needed"),
        ("leaves", "leaves() of net.py ends the process: SystemExit(3) (at net.py:35)",
         "take that call out"),
        ("reads", "reads() of net.py raised FileNotFoundError: [Errno 2] No such file or "
         "directory: 'absent.pt' (at net.py:36)", "weights are not needed"),
        ("on_cuda", "on_cuda() of net.py raised AssertionError: Torch not compiled with CUDA "
         "enabled (at net.py:38)", "leave out .cuda()"),
        ("two", "cannot infer inputs for this model; it takes (a, b)",
         "--input a=1x16:float32 --input b=1x16:float32"),
    ],
)  # fmt: skip
def test_what_fails_says_what_and_where(net: Path, name: str, message: str, hint: str) -> None:
    with pytest.raises(SourceError) as caught:
        load(f"{net}:{name}")
    assert caught.value.message == message
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("code", "text", "kind", "message"),
    [
        (None, "net.py:build", SourceError, "net.py: no such file"),
        ("def build(:\n", "net.py:build", SourceError,
         "net.py:1: not valid Python (invalid syntax)"),
        ("\0", "net.py:build", SourceError,
         "net.py: not valid Python (source code string cannot contain null bytes)"),
        ("def build(): pass\n", "net.py", UsageError, "net.py: which model? write net.py:NAME"),
        ("x = 1\n1 / 0\n", "net.py:x", SourceError,
         "net.py raised ZeroDivisionError: division by zero (at net.py:2)"),
        ("import absent_library\n", "net.py:x", SourceError,
         "net.py needs the module 'absent_library', which is not installed (at net.py:1)"),
    ],
)  # fmt: skip
def test_files_that_cannot_be_used(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    code: str | None,
    text: str,
    kind: type[OpcheckError],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    if code is not None:
        Path("net.py").write_text(code)
    with pytest.raises(kind) as caught:
        load(text)
    assert caught.value.message == message
    assert caught.value.hint


@pytest.mark.slow
def test_a_file_finds_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "net_parts.py").write_text("from torch import nn\nlayer = nn.Linear(3, 4)\n")
    (tmp_path / "net.py").write_text("from net_parts import layer\n")
    assert described(load(f"{tmp_path}/net.py:layer"))[0] == "Linear"


@pytest.mark.slow
def test_a_file_in_a_package_may_import_relatively(tmp_path: Path) -> None:
    folder = tmp_path / "package_of_nets"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "parts.py").write_text("from torch import nn\nlayer = nn.Linear(3, 4)\n")
    (folder / "net.py").write_text("from .parts import layer\n")
    assert described(load(f"{folder}/net.py:layer"))[0] == "Linear"


@pytest.mark.slow
def test_a_file_named_like_a_library_is_not_taken_for_it(tmp_path: Path) -> None:
    (tmp_path / "numpy.py").write_text("from torch import nn\nlayer = nn.Linear(3, 4)\n")
    assert described(load(f"{tmp_path}/numpy.py:layer"))[0] == "Linear"
