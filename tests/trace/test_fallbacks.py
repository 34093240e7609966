"""The kernels of a trace come and go; of several fallbacks of one dispatch key the last answers."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
import torch

from opcheck.errors import EmulationError
from opcheck.model.trace import Composite
from opcheck.trace.device.tensors import Spec, device_tensor, live, prepare
from opcheck.trace.torch_internals.dispatcher import composite_kind
from opcheck.trace.torch_internals.kernels import LAYOUTS, Kernels, falling_back

KEYS = ("PrivateUse1",)
AFTERWARDS = "Could not run 'aten::tril|its emulated device is closed"
"""What torch says; after an emulated device was open in this process, what that one says."""


def saying(text: str) -> Callable[..., Any]:
    def kernel(func: Any, *args: Any, **kwargs: Any) -> Any:
        raise LookupError(f"{text}: {func.name()}")

    return kernel


def test_the_last_fallback_answers_while_it_holds() -> None:
    x = device_tensor(Spec.of(torch.float32, (2, 2), (2, 1)), None, prepare("npu"))
    with live(gradients=False), falling_back(saying("first"), KEYS):
        with falling_back(saying("second"), KEYS), pytest.raises(LookupError, match="second: aten"):
            torch.ops.aten.tril_(x)
        with pytest.raises(LookupError, match="first: aten"):
            torch.ops.aten.tril_(x)
    with (
        live(gradients=False),
        pytest.raises((NotImplementedError, EmulationError), match=AFTERWARDS),
    ):
        torch.ops.aten.tril_(x)


def test_kernels_are_there_only_while_a_run_asks() -> None:
    def registered() -> bool:
        return torch._C._dispatch_has_kernel_for_dispatch_key("aten::tril", "PrivateUse1")

    kernels = Kernels()
    with kernels.registered(lambda *_: None, implicit=True):
        assert registered()
    assert not registered()
    with kernels.kept():
        with kernels.registered(lambda *_: None, implicit=False):
            pass
        assert registered()
    assert not registered()


def registered_at(key: str) -> set[str]:
    return set(torch._C._dispatch_get_registrations_for_dispatch_key(key))


def test_only_overloads_that_no_fallback_is_asked_for_have_a_kernel_each() -> None:
    """Each takes its share of what a scan waits for before the model runs."""
    prepare("npu")
    before = registered_at("PrivateUse1")
    explicit = {Composite.EXPLICIT, Composite.NON_FUNCTIONAL}
    kinds = {name: composite_kind(name) for name in torch._C._dispatch_get_all_op_names()}
    seen: list[set[str]] = []
    for implicit in (False, True):
        with Kernels().registered(lambda *_: None, implicit=implicit):
            seen.append({*registered_at("PrivateUse1")})
    forward, both = seen
    assert {kinds[name] for name in forward - before} == explicit
    assert {kinds[name] for name in both - forward} == {Composite.IMPLICIT}
    assert registered_at("PrivateUse1") == before


def test_fallbacks_of_other_layouts_are_registered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch goes through all its operators for each.

    The device's own stays, too, where an emulated device was closed in this process.
    """
    prepare("npu")
    asked: list[str] = []
    fallback: Any = torch.library.Library.fallback

    def counting(library: Any, kernel: Any, key: str) -> None:
        asked.append(key)
        fallback(library, kernel, key)

    kernels = Kernels()
    with kernels.registered(lambda *_: None, implicit=False):
        pass
    monkeypatch.setattr(torch.library.Library, "fallback", counting)
    with kernels.registered(lambda *_: None, implicit=False):
        pass
    assert not {*LAYOUTS}.intersection(asked)


@pytest.mark.parametrize("key", LAYOUTS)
def test_where_no_fallback_is_left_an_overload_is_refused_as_torch_does(key: str) -> None:
    with falling_back(saying("first"), LAYOUTS):
        pass
    found = getattr(torch._C.DispatchKey, key)
    with pytest.raises(NotImplementedError, match=f"Could not run 'aten::bincount' .* '{key}'"):
        torch.ops.aten.bincount.default.redispatch(torch._C.DispatchKeySet(found), torch.ones(2))


@pytest.mark.parametrize("key", LAYOUTS)
def test_where_a_plugin_has_named_the_device_its_own_fallbacks_hold_again(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = prepare("npu")
    monkeypatch.setattr(torch, device.type, ModuleType("a plugin's"))
    with falling_back(saying("first"), LAYOUTS):
        pass
    found = getattr(torch._C.DispatchKey, key)
    with pytest.raises(NotImplementedError, match="is only available for these backends"):
        torch.ops.aten.bincount.default.redispatch(torch._C.DispatchKeySet(found), torch.ones(2))
