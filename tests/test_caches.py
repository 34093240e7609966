"""Each run of a model is the first: what another left in a table or a cache is not there."""

import subprocess
import sys
import types
from pathlib import Path

import pytest
import torch

import opcheck
from opcheck.emulate.agreement import agreement
from opcheck.model.emulation import Asked, EmulationRequest
from opcheck.model.request import ModelSpec
from opcheck.model.target import TargetSpec
from opcheck.model.trace import Trace
from opcheck.model.work import DeviceWork, WorkRequest
from opcheck.python_state import left_as_found
from opcheck.sandbox.parent.run import emulate, run
from opcheck.trace.running import model_state
from opcheck.trace.running.model_state import forget

MODEL = """
import functools, torch
from torch import nn

_TABLE = {}
_MADE = None

def table(n, device):  # by size alone, as a model that stays on its device may have it
    if n not in _TABLE: _TABLE[n] = torch.arange(n, device=device, dtype=torch.float32).cos()
    return _TABLE[n]

@functools.lru_cache
def grid(n, device): return torch.linspace(0, 1, n, device=device).sin()

def steps(device):
    global _MADE
    if _MADE is None: _MADE = torch.ones(8, device=device).tan().shape
    return _MADE[0]  # no tensor is kept here

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.mask = nn.Linear(8, 8), None

    def forward(self, x):
        if self.mask is None: self.mask = torch.zeros(8, device=x.device).exp()
        kept = grid(8, str(x.device)) * self.mask * steps(x.device)
        return self.layer(x) * table(8, x.device) + kept

def net(): return Net(), torch.ones(1, 8)
def alone(): return Net()

class Fails(nn.Module):
    def forward(self, x):
        x = x.cos()
        raise RuntimeError("not like this")

def fails(): return Fails(), torch.ones(2)
"""
TARGET = TargetSpec.parse("ascend-910b")
MADE_ONCE = {"aten::cos", "aten::exp", "aten::sin", "aten::tan"}
slow = pytest.mark.slow  # whole processes
copied = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere processes are not copied")


@pytest.fixture
def source(tmp_path: Path) -> str:
    (tmp_path / "cached.py").write_text(MODEL)
    return f"{tmp_path / 'cached.py'}:net"


def called(trace: Trace) -> set[str]:
    return {str(trace.nodes[use.node].op) for use in trace.uses}


@slow
@copied
def test_each_device_type_and_each_count_is_of_a_first_run(source: str) -> None:
    ops = tuple(sorted(MADE_ONCE | {"aten::mul.Tensor"}))
    request = WorkRequest(
        ModelSpec(source),
        (
            (
                DeviceWork("npu", exact={"one": ops, "other": ops[:-1]}),
                DeviceWork("cuda"),
                DeviceWork("xpu"),
            ),
            (DeviceWork("mlu"),),
        ),
    )
    results = run(request)
    assert [result.trace.device_type for result in results] == ["npu", "cuda", "xpu", "mlu"]
    for result in results:
        assert called(result.trace) >= MADE_ONCE
    assert {*results[0].trace.kernels} == {"one", "other"}
    for kernels in results[0].trace.kernels.values():
        assert {f"aten::{kernel.op.base}" for kernel in kernels} >= MADE_ONCE


@slow
def test_what_the_search_for_inputs_left_is_gone(source: str) -> None:
    """It runs the model on another device."""
    (result,) = run(
        WorkRequest(ModelSpec(source.replace(":net", ":alone")), ((DeviceWork("npu"),),))
    )
    assert called(result.trace) >= MADE_ONCE - {"aten::tan"}  # of which no tensor is kept
    assert result.trace.gaps == ()


@slow
@copied
@pytest.mark.parametrize("values", [False, True])
def test_a_check_sees_what_the_run_before_it_left(source: str, values: bool) -> None:
    request = EmulationRequest(ModelSpec(source), TARGET, values=values, check=True)
    found = emulate(request)
    assert found.finished
    assert found.agreement is not None
    assert found.agreement.whole
    assert {kernel.op for kernel in found.kernels} >= MADE_ONCE
    assert found.agreement.native == len(found.kernels)


@slow
def test_a_check_of_a_run_that_ended_early_is_not_ticked(source: str) -> None:
    request = EmulationRequest(ModelSpec(source.replace(":net", ":fails")), TARGET, check=True)
    found = emulate(request)
    assert found.agreement is not None
    assert found.agreement.disagreements == ()
    assert found.agreement.ended == "RuntimeError: not like this"
    assert not found.agreement.whole


def test_agreement_is_whole_of_a_run_that_came_to_its_end() -> None:
    assert agreement(Asked(), Asked(), conditions=True).whole
    assert not agreement(Asked(), Asked(), conditions=True, ended="E").whole


def test_what_a_run_leaves_is_taken_out_again() -> None:
    this = sys.modules[__name__]
    with left_as_found(lambda value: isinstance(value, bytes)):
        LEFT["key"], LEFT["flag"] = b"", True
        vars(this)["LEFT_TOO"] = b""
    assert LEFT == {"old": b"", "flag": True}  # what is no value of a run stays
    assert not hasattr(this, "LEFT_TOO")


@pytest.mark.slow
def test_tables_of_modules_and_classes_are_emptied_of_tensors_of_the_device() -> None:
    import torch

    from opcheck.trace.device.tensors import Spec, device_tensor, prepare

    made = device_tensor(Spec.of(torch.float32, (2,), (1,)), None, prepare("npu"))
    other = torch.ones(2)
    LEFT["made"], LEFT["other"] = made, (other,)
    Holder.kept += [made, other]
    Holder.last = made
    try:
        forget()
        assert {"old": b"", "other": (other,)} | ({"flag": True} if "flag" in LEFT else {}) == LEFT
        assert [*map(id, Holder.kept)] == [id(other)]
        assert Holder.last is None
    finally:
        LEFT.clear()
        LEFT["old"] = b""
        Holder.kept.clear()


LEFT: dict[str, object] = {"old": b""}


class Holder:
    """Keeps what it is given."""

    kept: list[object] = []  # noqa: RUF012  # what models do
    last: object = None


@pytest.mark.slow
def test_what_the_user_has_on_an_emulated_device_is_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    users = types.ModuleType("users")
    monkeypatch.setitem(sys.modules, "users", users)
    with opcheck.emulate("ascend-910b") as device:
        tensor = torch.ones(2, device=device)
        vars(users).update(mine=tensor, table={"mine": tensor})
        forget()
        assert users.mine is tensor
        assert users.table == {"mine": tensor}


NOTHING_LEFT = """
import gc, sys, torch, opcheck
from opcheck.trace.device.tensors import DeviceTensor

class Fails(torch.nn.Module):
    def forward(self, x):
        x = x.cos()
        raise RuntimeError("not like this")

assert "torch._dynamo" not in sys.modules
layer, x = torch.nn.LayerNorm(4), torch.ones(2, 4)
for model, how in [(layer, {}), (layer, {"train": True}), (Fails(), {})]:
    opcheck.scan(model, x, targets=["ascend-910b"], **how)
gc.collect()
assert [item for item in gc.get_objects() if isinstance(item, DeviceTensor)] == []
from torch._dynamo.utils import unpatched_nn_module_call
assert unpatched_nn_module_call is torch.nn.Module.__call__, unpatched_nn_module_call
"""


@pytest.mark.slow
def test_a_scan_leaves_no_tensor_behind_and_no_module_call_of_its_own() -> None:
    """Dynamo notes how a module is called when it is imported, which a scan may be the first to."""
    run_python = [sys.executable, "-W", "ignore", "-c", NOTHING_LEFT]
    done = subprocess.run(run_python, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_modules_are_not_walked_where_no_run_left_a_tensor(monkeypatch: pytest.MonkeyPatch) -> None:
    """The walk takes longer than a small model's scan, and what is recorded holds no module."""
    from opcheck.trace.device.tensors import Spec, device_tensor, prepare

    forget()
    walks = list[int]()

    def all_function_caches() -> set[object]:
        walks.append(1)
        return set()

    monkeypatch.setattr(model_state, "all_function_caches", all_function_caches)
    model, batch = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.GELU()), torch.ones(2, 4)
    targets = ["ascend-910b", "cambricon-mlu590", "nvidia-h100"]
    reports = [opcheck.scan(model, batch, targets=targets, exact=True) for _ in range(2)]
    assert reports[0] == reports[1]
    assert not walks
    kept = device_tensor(Spec.of(torch.float32, (2,), (1,)), None, prepare("npu"))
    forget()
    assert walks, kept
    walks.clear()
    del kept
    with opcheck.emulate("ascend-910b") as device:
        emulated = torch.ones(2, device=device)
        forget()
        assert walks, emulated


def test_what_a_model_has_off_the_device_hides_nothing_that_a_run_left() -> None:
    """A sparse buffer stays where it is, and is none of the tensors that are there."""
    from opcheck.trace.device.tensors import Spec, device_tensor, prepare
    from opcheck.trace.running.model_state import swapped

    forget()
    device = prepare("npu")
    model = torch.nn.Module()
    model.register_buffer("edges", torch.eye(2).to_sparse())
    with swapped(model, device):
        LEFT["made"] = device_tensor(Spec.of(torch.float32, (2,), (1,)), None, device)
        forget()
        assert "made" not in LEFT
