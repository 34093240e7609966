"""Opening and closing an emulated device: what is refused, and that nothing is left behind."""

import gc
import subprocess
import threading
import warnings
from collections.abc import Callable
from copy import copy, deepcopy
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.optim.optimizer import _global_optimizer_pre_hooks

import opcheck
from opcheck.errors import EmulationError, OpcheckError, UsageError
from tests.preloaded import python

OVERLOADS = (
    "aten::add.Tensor", "aten::add.out", "aten::mm", "aten::addmm", "aten::linear", "aten::matmul",
    "aten::convolution", "aten::convolution_overrideable", "aten::relu", "aten::gelu",
    "aten::scaled_dot_product_attention", "aten::layer_norm", "aten::native_layer_norm",
    "aten::native_dropout", "aten::dropout", "aten::empty.memory_format", "aten::empty_strided",
    "aten::_copy_from", "aten::_to_copy", "aten::to.dtype", "aten::view", "aten::as_strided",
    "aten::set_.source_Tensor", "aten::resize_", "aten::isin.Tensor_Tensor", "aten::sort",
    "aten::index.Tensor", "aten::_foreach_add.List", "aten::_fused_adamw_", "aten::std.dim",
    "aten::repeat_interleave.self_int", "aten::polar", "aten::_local_scalar_dense",
    "aten::lstm.input", "aten::_efficientzerotensor", "aten::batch_norm", "aten::normal_",
)  # fmt: skip


def left_behind() -> dict[str, Any]:
    """Everything of torch's that an open device changes."""
    return {
        "kernels": [torch._C._dispatch_dump(name) for name in OVERLOADS],
        "at each key": [
            torch._C._dispatch_get_registrations_for_dispatch_key(key)
            for key in ("PrivateUse1", "AutogradPrivateUse1", "AutocastPrivateUse1")
        ],
        "fallbacks": torch._C._dispatch_dump("aten::alias"),
        "storage": vars(torch.UntypedStorage).get("__new__"),
        "printing": torch._tensor_str._str,
        "compile": (torch.compile, nn.Module.compile),
        "backward": torch.autograd._engine_run_backward,  # type: ignore[attr-defined]  # private
        "autocast cache": torch.clear_autocast_cache,
        "pinning": (Tensor.pin_memory, torch.utils.data._utils.pin_memory.pin_memory),
        "random": (torch.manual_seed, torch.random.manual_seed, torch.get_rng_state().tolist()),
        "hooks": len(_global_optimizer_pre_hooks),
        "module hooks": len(torch.nn.modules.module._global_forward_hooks),
        "modes": torch._C._len_torch_dispatch_stack() + torch._C._len_torch_function_stack(),
        "warnings": list(warnings.filters),
        "available": torch.npu.is_available(),  # type: ignore[attr-defined]  # made by the device
    }


def use(device: torch.device) -> None:
    """Something of everything, one refusal included."""
    model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(), nn.LayerNorm(4)).to(device)
    with torch.autocast("npu", dtype=torch.float16):
        model(torch.ones(2, 4, device=device)).float().sum().backward()
    torch.optim.AdamW(model.parameters()).step()
    torch.compile(lambda x: x + 1)(torch.ones(2, device=device))
    with pytest.raises(RuntimeError):
        torch.ones(2, 2, dtype=torch.float64, device=device).mm(torch.ones(2, device=device))


@pytest.mark.slow
@pytest.mark.parametrize("values", [True, False])
def test_a_closed_device_leaves_torch_as_it_was(values: bool) -> None:
    with torch.random.fork_rng(devices=[]), opcheck.emulate("ascend-910b") as device:
        use(device)  # torch imports and registers more of itself when it is first asked to
    before = left_behind()
    with (
        torch.random.fork_rng(devices=[]),
        opcheck.emulate("ascend-910b", values=values) as device,
    ):
        inside = left_behind()
        assert {name for name in before if inside[name] != before[name]} >= {
            "kernels", "at each key", "storage", "printing", "compile", "backward", "hooks",
            "available",
        }  # fmt: skip
        use(device)
    after = left_behind()
    assert {name for name in before if after[name] != before[name]} == set()


@pytest.mark.slow
def test_a_device_that_ends_in_an_error_leaves_torch_as_it_was() -> None:
    before = left_behind()
    with pytest.raises(ZeroDivisionError), opcheck.emulate("ascend-910b"):
        raise ZeroDivisionError
    assert left_behind() == before
    with opcheck.emulate("ascend-910b") as device:
        assert (torch.ones(2, device=device) + 1).tolist() == [2, 2]


@pytest.mark.slow
def test_one_target_after_another_behaves_each_as_its_own() -> None:
    refused, asked = {}, {}
    names = ("ascend-910b", "ascend-910a", "ascend-910b@5.0.0", "ascend-910b")
    for name in names:
        emulator = opcheck.emulate(name, stop=False)
        with emulator as device:
            torch.isin(torch.arange(4, device=device), torch.arange(2, device=device))
            torch.nn.functional.silu(torch.ones(2, device=device, dtype=torch.bfloat16))
        refused[name] = tuple(r.op for r in emulator.refusals)
        asked[name] = tuple((h.op, h.count) for h in emulator.host_calls)
        assert emulator.target.startswith(name)
    nothing: dict[str, Any] = dict.fromkeys(names, ())
    assert refused == nothing | {"ascend-910a": ("aten::ones", "aten::silu")}
    assert asked == nothing | {"ascend-910b@5.0.0": (("aten::isin.Tensor_Tensor_out", 1),)}


@pytest.mark.slow
def test_one_emulator_opens_again_and_counts_anew() -> None:
    emulator = opcheck.emulate("ascend-910b")
    for _ in range(2):
        with emulator as device:
            torch.ones(2, device=device).exp()
        assert [(k.op, k.count) for k in emulator.kernels] == [("aten::exp", 1), ("aten::ones", 1)]


@pytest.mark.slow
def test_a_second_device_is_refused_while_one_is_open() -> None:
    with opcheck.emulate("ascend-910b") as device:
        with pytest.raises(EmulationError) as caught, opcheck.emulate("ascend-910a"):
            pass
        assert caught.value.message.startswith("an emulated device is open already: ascend-910b@")
        assert "tests/emulate/test_opening.py:" in caught.value.message
        assert caught.value.hint
        assert (torch.ones(2, device=device) * 3).tolist() == [3, 3]


@pytest.mark.slow
def test_another_thread_may_use_the_device_but_not_open_one() -> None:
    found: list[Any] = []

    def work() -> None:
        found.append((torch.ones(2, device="npu") * 3).tolist())
        try:
            with opcheck.emulate("ascend-910b"):
                pass
        except EmulationError as error:
            found.append(error.message.partition(":")[0])

    emulator = opcheck.emulate("ascend-910b")
    with emulator:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert found == [[3.0, 3.0], "an emulated device is open already"]
    assert {k.op: k.count for k in emulator.kernels} == {
        "aten::_to_copy": 1, "aten::mul.Tensor": 1, "aten::ones": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("", UsageError), ("ascend", UsageError), ("ascend-910z", UsageError),
        ("ascend-910b@", UsageError), ("ascend-910b@0.0.1", UsageError),
        ("ascend-910b+torch0.1", UsageError), ("Ascend 910Z", UsageError), ("../x", UsageError),
        ("nobody-x1", UsageError),
    ],
)  # fmt: skip
def test_a_target_that_there_is_not_is_refused(name: str, kind: type[OpcheckError]) -> None:
    before = left_behind()
    with pytest.raises(kind) as caught:
        opcheck.emulate(name)
    assert caught.value.message
    assert caught.value.hint
    assert left_behind() == before


def test_a_wrong_confidence_is_refused() -> None:
    with pytest.raises(OpcheckError) as caught:
        opcheck.emulate("ascend-910b", confidence="sure")
    assert "high" in caught.value.message + caught.value.hint


def test_a_device_that_was_never_opened_tells_nothing() -> None:
    with pytest.raises(UsageError) as caught:
        opcheck.emulate("ascend-910b").kernels  # noqa: B018  # reading it is what is tested
    assert caught.value.message == "the emulated device was never opened"


def test_a_device_is_not_copied() -> None:
    with pytest.raises(TypeError, match="cannot be copied"):
        copy(opcheck.emulate("ascend-910b"))


@pytest.mark.slow
@pytest.mark.parametrize("values", [True, False])
def test_memory_is_given_back_when_tensors_die(values: bool) -> None:
    emulator = opcheck.emulate("ascend-910b", values=values)
    with emulator as device:
        npu: Any = torch.npu  # type: ignore[attr-defined]  # made by the device
        x = torch.ones(1024, device=device)
        assert npu.memory_allocated() == 4096
        y = x[10:].view(2, -1)
        del x
        assert npu.memory_allocated() == 4096
        z = y + 1
        assert npu.memory_allocated() == 4096 + 1014 * 4
        del y, z
        assert npu.memory_allocated() == 0
        assert npu.max_memory_allocated() == 4096 + 1014 * 4
        model = nn.Linear(64, 64).to(device)
        model(torch.ones(2, 64, device=device)).sum().backward()
        del model
        gc.collect()
        assert npu.memory_allocated() == 0
    assert emulator.device.memory.allocated == 0


OUTLIVING: dict[str, Callable[[Tensor], Any]] = {
    "aten::empty.memory_format": lambda x: x + 1,
    "aten::as_strided": lambda x: x[0],
    "aten::_copy_from": lambda x: x.cpu(),
    "aten::equal": lambda x: torch.equal(x, x),
    "aten::empty_strided": lambda x: torch.ones(2).to(x.device),
    "a storage": deepcopy,
}


@pytest.mark.slow
@pytest.mark.parametrize("asked", OUTLIVING)
def test_a_tensor_that_outlives_its_device_says_so(asked: str) -> None:
    with opcheck.emulate("ascend-910b") as device:
        x = torch.ones(2, device=device)
    with pytest.raises(NotImplementedError) as caught:
        OUTLIVING[asked](x)
    assert str(caught.value).partition("; ")[0] == (
        f"{asked} is asked of npu:0, but its emulated device is closed"
    )
    with opcheck.emulate("ascend-910b"):
        assert (x + 1).tolist() == [2, 2]


@pytest.mark.slow
@pytest.mark.parametrize("values", [True, False])
def test_a_tensor_prints_after_its_device_was_closed_as_before(values: bool) -> None:
    emulator = opcheck.emulate("ascend-910b", values=values)
    with emulator as device:
        layer = nn.Linear(2, 3).to(device)
        tensors = {
            "plain": torch.arange(4, device=device).view(2, 2),
            "view": torch.arange(12.0, device=device).view(3, 4)[:, 1:3].t(),
            "complex": torch.ones(2, device=device, dtype=torch.complex64).conj(),
            "half": torch.ones(2, device=device, dtype=torch.float16),
            "empty": torch.ones(0, 3, device=device),
            "large": torch.ones(100, 100, device=device),
            "parameter": layer.weight,
            "computed": layer(torch.ones(1, 2, device=device)),
        }
        asked = emulator.kernels
        inside = {name: repr(tensor) for name, tensor in tensors.items()}
        assert emulator.kernels == asked
    assert {name: repr(tensor) for name, tensor in tensors.items()} == inside
    if values:
        with opcheck.emulate("ascend-910b"):
            on_host = {name: repr(tensor.detach().cpu()) for name, tensor in tensors.items()}
        assert inside["plain"] == on_host["plain"][:-1] + ", device='npu:0')"
        assert inside["view"] == on_host["view"][:-1] + ", device='npu:0')"
    else:
        assert inside["large"] == "tensor(..., size=(100, 100), device='npu:0')"


OTHER_VENDOR = """
from msgspec.structs import replace
import opcheck
from opcheck.emulate.session import Emulator
from opcheck.errors import EmulationError
from opcheck.db.store import Database
from opcheck.model.target import TargetSpec

database = Database.open()
matrix = database.matrix(database.resolve(TargetSpec.parse("ascend-910b")))
with opcheck.emulate("ascend-910b"):
    pass
try:
    with Emulator(replace(matrix, target=replace(matrix.target, device_type="mlu"))):
        pass
except EmulationError as error:
    print(error.message)
    print(error.hint)
with opcheck.emulate("ascend-910b") as device:
    print(device)
"""
TOO_LATE = """
import torch, opcheck
torch.ones(1, requires_grad=True).sum().backward()
with opcheck.emulate("ascend-910b") as device:
    try:
        torch.ones(2, device=device, requires_grad=True).sum().backward()
    except opcheck.errors.EmulationError as error:
        print(error.message)
        print(error.hint)
"""


def said(program: str) -> list[str]:
    """What a process of its own prints."""
    ran = subprocess.run([*python("torch"), "-c", program], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


@pytest.mark.slow
def test_another_vendors_name_needs_another_process() -> None:
    assert said(OTHER_VENDOR) == [
        "this process already uses torch's PrivateUse1 device as 'npu', "
        "so 'mlu' cannot be emulated in it",
        "torch lets that device be named once a process: "
        "use another process, as the command line does",
        "npu:0",
    ]


@pytest.mark.slow
def test_a_backward_before_the_first_device_is_told() -> None:
    message, hint = said(TOO_LATE)
    assert message == (
        "this process ran a backward before the emulated device was first opened, and torch's "
        "autograd knows only the devices that were there then"
    )
    assert hint.startswith("open the device once before the first backward")
