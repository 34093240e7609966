"""A device of kernels really registered in PyTorch's dispatcher, to hold exact kernels against.

It shares nothing with the tracer: the C++ dispatcher decides what is asked, and every kernel
computes on the CPU with real values. Kernels stay registered, so run it in a process of its own.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_map
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

DEVICE = "npu"


class OnDevice(torch.Tensor):
    """A tensor with only the PrivateUse1 key; its data is a CPU tensor."""

    elem: Tensor

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        # Leaves Python at once: from here on the C++ dispatcher alone decides.
        with torch._C._DisableTorchDispatch():
            return func(*args, **(kwargs or {}))

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    @staticmethod
    def of(elem: Tensor) -> "OnDevice":
        made: Any = torch.Tensor._make_wrapper_subclass(
            OnDevice, elem.shape, elem.stride(), elem.storage_offset(), None, elem.dtype,
            torch.strided, torch.device(DEVICE, 0),
        )  # fmt: skip
        made.elem = elem
        _BY_STORAGE[made.untyped_storage()._cdata] = made
        return made  # type: ignore[no-any-return]


_BY_STORAGE: dict[int, OnDevice] = {}
_STAND_INS: dict[str, Callable[..., Any]] = {
    "aten::convolution_overrideable": torch.ops.aten.convolution.default,
    "aten::_copy_from": lambda src, dst, non_blocking=False: dst.copy_(src),
    "aten::_thnn_fused_lstm_cell": lambda ig, hg, cx, *bias: (
        torch.empty_like(cx), torch.empty_like(cx), torch.empty_like(ig)
    ),
}  # fmt: skip


class RealDevice:
    """Counts which overloads reach the device and which it lacks."""

    def __init__(self, registered: frozenset[str]) -> None:
        _setup_privateuseone_for_python_backend(DEVICE)
        self.asked: Counter[str] = Counter()
        self.missing: Counter[str] = Counter()
        self._library = torch.library.Library("aten", "IMPL")
        for name in sorted(torch._C._dispatch_get_all_op_names()):
            if not name.startswith("aten::"):
                continue
            if name in registered:
                self._register(name, self.asked)
            elif not torch._C._dispatch_has_computed_kernel_for_dispatch_key(name, "PrivateUse1"):
                self._register(name, self.missing)
        for name in ("aten::convolution_overrideable",):
            if name not in registered:
                self._register(name, self.missing)

    def _register(self, name: str, counter: Counter[str]) -> None:
        base, _, overload = name.removeprefix("aten::").partition(".")
        try:
            func = getattr(getattr(torch.ops.aten, base), overload or "default")
        except AttributeError:
            return
        compute = _STAND_INS.get(name, func)

        def kernel(*args: Any, **kwargs: Any) -> Any:
            counter[name] += 1
            return _computed(compute, args, kwargs)

        self._library.impl(name.removeprefix("aten::"), kernel, "PrivateUse1")

    @contextmanager
    def running(self, model: nn.Module) -> Iterator[None]:
        """The model's parameters and buffers on the device."""
        for module in model.modules():
            for table in (module._parameters, module._buffers):
                for key, tensor in list(table.items()):
                    if tensor is not None:
                        table[key] = _moved(tensor, isinstance(tensor, nn.Parameter))
        self.asked.clear()
        self.missing.clear()
        with torch.no_grad():
            yield


def _moved(tensor: Tensor, parameter: bool = False) -> Any:
    made: Any = OnDevice.of(tensor.detach().clone())
    if parameter:
        made._is_param = True
    return made


def to_device(value: Any) -> Any:
    return tree_map(lambda v: _moved(v) if isinstance(v, Tensor) else v, value)


def _computed(compute: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    owners: dict[int, Any] = {}
    host = _asks_host(args, kwargs)

    def bare(value: Any) -> Any:
        if isinstance(value, Tensor) and value.device.type == DEVICE:
            elem = _elem(value)
            owners[id(elem)] = value
            return elem
        return torch.device("cpu") if isinstance(value, torch.device) else value

    result = compute(*tree_map(bare, args), **tree_map(bare, kwargs))

    def wrapped(value: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        owner = owners.get(id(value))
        if owner is None:
            return value if host else OnDevice.of(value)
        if host:
            return value.clone()
        if owner.shape != value.shape or owner.stride() != value.stride():
            fresh = OnDevice.of(value)
            owner.data = fresh
            owner.elem = value
            _BY_STORAGE[owner.untyped_storage()._cdata] = owner
        return owner

    return tree_map(wrapped, tuple(result) if isinstance(result, list) else result) if not (
        isinstance(result, list)
    ) else [wrapped(item) for item in result]


def _asks_host(args: Any, kwargs: Any) -> bool:
    devices = [v for v in (*args, *kwargs.values()) if isinstance(v, torch.device)]
    return any(device.type == "cpu" for device in devices)


def _elem(tensor: Tensor) -> Tensor:
    known = getattr(tensor, "elem", None)
    if known is not None:
        return known  # type: ignore[no-any-return]
    owner = _BY_STORAGE[tensor.untyped_storage()._cdata]
    return owner.elem.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())
