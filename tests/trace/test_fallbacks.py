"""The kernels of a trace come and go; of several fallbacks of one dispatch key the last answers."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from opcheck.errors import EmulationError
from opcheck.trace.device.tensors import Spec, device_tensor, live, prepare
from opcheck.trace.torch_internals.kernels import Kernels, falling_back

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
