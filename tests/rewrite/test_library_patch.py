"""A module that has layers of a library call other functions: what it does once it is imported."""

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import nn

from opcheck.errors import SourceError
from opcheck.model.jobs import LayerClass
from opcheck.rewrite.library_patch import PatchedLayer, library_patch
from opcheck.rewrite.source.changing import Form
from opcheck.source.patches import classes_at, patched

CODE = """\
import torch


def doubled(self, *, approximate="none"):
    return 2 * torch.ops.aten.gelu.default(self, approximate=approximate)
"""
GELU = LayerClass("torch.nn.modules.activation", "GELU", "torch", torch.__version__)
FORMS = {"torch.nn.functional.gelu": Form(CODE, "doubled")}


def text(layer: LayerClass = GELU, forms: dict[str, Form] | None = None) -> str:
    return library_patch([PatchedLayer(("parts.*",), layer, forms or FORMS)], "some-chip", "made")


def module_of(folder: Path, written: str) -> ModuleType:
    (folder / "made.py").write_text(written, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("made", folder / "made.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Net(nn.Module):
    def __init__(self, own: Callable[[], nn.Module] = nn.GELU) -> None:
        super().__init__()
        self.parts = nn.ModuleList([own(), nn.Linear(3, 3)])
        self.other = nn.GELU()

    def forward(self, x: Any) -> Any:
        return self.parts[1](self.parts[0](x)), self.other(x)


def test_only_layers_that_were_named_call_what_was_written(tmp_path: Path) -> None:
    net, x = Net(), torch.randn(4, 3)
    wanted, state = net(x), net.state_dict()
    made = module_of(tmp_path, text())
    assert made.patch(net) is net
    found = net(x)
    torch.testing.assert_close(found[0], net.parts[1](2 * nn.functional.gelu(x)))
    torch.testing.assert_close(found[1], wanted[1])
    assert isinstance(net.parts[0], nn.GELU)
    assert list(net.state_dict()) == list(state)
    net.load_state_dict(state)
    assert made.patch(net)(x)[0].equal(found[0])  # again: nothing is left to do


def test_gradients_go_through_what_was_written(tmp_path: Path) -> None:
    net, x = module_of(tmp_path, text()).patch(Net()), torch.randn(4, 3, requires_grad=True)
    (found,) = torch.autograd.grad(net.parts[0](x).sum(), x)
    (wanted,) = torch.autograd.grad(2 * nn.functional.gelu(x).sum(), x)
    torch.testing.assert_close(found, wanted)


def test_a_call_that_passes_something_else_stays(tmp_path: Path) -> None:
    code = "def plain(self):\n    return self * 0\n"
    forms = {"torch.nn.functional.gelu": Form(code, "plain")}
    net, x = module_of(tmp_path, text(forms=forms)).patch(Net()), torch.randn(4, 3)
    torch.testing.assert_close(net.parts[0](x), nn.functional.gelu(x))  # it passes approximate=


def test_another_version_of_the_library_is_refused(tmp_path: Path) -> None:
    older = LayerClass(GELU.module, GELU.name, "torch", "1.0")
    with pytest.raises(ImportError, match=r"is for torch 1\.0, and .* is installed"):
        module_of(tmp_path, text(older))


def test_a_model_without_such_layers_is_refused(tmp_path: Path) -> None:
    made = module_of(tmp_path, text())
    with pytest.raises(ValueError, match=r"no such layers: parts\.\*"):
        made.patch(nn.Sequential(nn.GELU()))


def test_what_fails_while_a_model_is_loaded_says_so(tmp_path: Path) -> None:
    (tmp_path / "made.py").write_text("raise ImportError('of another version')", encoding="utf-8")
    with pytest.raises(SourceError, match="the patch fails: ImportError: of another version"):
        patched(Net(), [str(tmp_path / "made.py")])


def test_classes_are_told_by_path_and_whose_they_are() -> None:
    class Own(nn.Module):
        pass

    found = classes_at(Net(Own), ["parts.*", "no.*"])
    linear = LayerClass("torch.nn.modules.linear", "Linear", "torch", torch.__version__)
    own = LayerClass(__name__, Own.__qualname__, "", "", users=True)
    assert found == {"parts.*": (own, linear)}
    assert linear.shown == f"torch {torch.__version__}'s Linear"
