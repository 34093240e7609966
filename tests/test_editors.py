"""What an editor shows of the library: names, types and defaults of every option.

What stands here is checked twice: mypy, which reads it as an editor does, wants each comment that
ignores an error to be needed, and the tests look at what IPython and ``help()`` show.
"""

import inspect
from collections.abc import Callable
from typing import Any, assert_type, get_type_hints

import pytest
import torch

import opcheck
from opcheck.commands.gate.values import GateResult
from opcheck.emulate.session import Emulator
from opcheck.model.report import Report
from opcheck.model.scan_options import ScanOptions
from opcheck.model.script import ScriptRun
from opcheck.testing import assert_compatible


def read_by_mypy(model: torch.nn.Module) -> None:
    """Never called: what an editor makes of these calls."""
    assert_type(opcheck.scan(model, targets=["ascend-910b"], train=True, plan=True), Report)
    assert_type(opcheck.gate(model, train=True, dynamic=["ids:1"]), GateResult)
    assert_type(assert_compatible(model, None, "ascend-910b", decode=True), GateResult)
    assert_type(opcheck.run("train.py", steps=2), ScriptRun)
    assert_type(opcheck.emulate("ascend-910b", values=False, confidence="high"), Emulator)
    with opcheck.emulate("ascend-910b") as device:
        assert_type(device, torch.device)
    opcheck.scan(model, tarin=True)  # type: ignore[call-arg]  # no such option
    opcheck.scan(model, train="yes")  # type: ignore[arg-type]  # it is true or false
    opcheck.gate(model, tarin=True)  # type: ignore[call-arg]  # no such option
    assert_compatible(model, decode=3)  # type: ignore[arg-type]  # it is true or false
    opcheck.emulate("ascend-910b", valeus=False)  # type: ignore[call-arg]  # no such option
    opcheck.emulate("ascend-910b", databases=1)  # type: ignore[arg-type]  # no folders


def shown(function: Callable[..., Any]) -> dict[str, Any]:
    """Name -> default of every option."""
    return {
        name: parameter.default
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    }


def test_emulate_shows_the_options_of_the_emulator() -> None:
    options = shown(opcheck.emulate)
    assert options == shown(Emulator)
    assert list(options) == ["values", "stop", "as_cuda", "confidence", "databases", "shims"]
    told = inspect.getdoc(type(opcheck.emulate).__call__)
    assert [name for name in options if f"{name}: " not in (told or "")] == []


def test_scan_shows_its_options() -> None:
    assert shown(opcheck.scan) == {
        "targets": (), "exact": False, "train": False, "step": (), "loss": None, "input_sets": "",
        "decode": False, "dynamic": (), "databases": (), "plan": False,
    }  # fmt: skip


def test_gate_takes_by_name_what_scan_does() -> None:
    own = {"inputs", "targets", "databases"}
    assert set(get_type_hints(ScanOptions)) == set(shown(opcheck.scan)) - own


@pytest.mark.parametrize("function", [opcheck.scan, opcheck.gate, opcheck.run, assert_compatible])
def test_every_argument_is_described_and_has_a_type(function: Callable[..., Any]) -> None:
    told = inspect.getdoc(function) or ""
    for name, parameter in inspect.signature(function).parameters.items():
        assert f"{name}: " in told, name
        assert parameter.annotation is not inspect.Parameter.empty, name
