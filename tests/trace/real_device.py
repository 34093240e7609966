"""A device of kernels really registered in PyTorch's dispatcher, to hold exact kernels against.

The C++ dispatcher decides what is asked, and every kernel computes on the CPU with real values. It
shares with the tracer only what any device needs for the gradients of overridden composites, and
what a training step is. Kernels stay registered, so run it in a process of its own.
"""

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import tree_map
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

from opcheck.model.trace import Phase
from opcheck.trace.running.training_step import TrainingStep
from opcheck.trace.torch_internals.overrides import overriding

DEVICE = "npu"


_BEHIND: dict[int, Tensor] = {}
"""The CPU tensor that computes for each storage on the device."""


class _Keyed(torch.Tensor):
    """What torch can make of a device's type without memory; it has a Python key."""

    @classmethod
    def __torch_dispatch__(cls, *_: Any) -> Any:
        raise AssertionError("only an alias of it is ever used")


def on_device(elem: Tensor) -> Tensor:
    """A plain tensor of the device, which says of a CPU tensor that it is there."""
    keyed = torch.Tensor._make_wrapper_subclass(
        _Keyed, elem.shape, elem.stride(), elem.storage_offset(), None, elem.dtype,
        torch.strided, torch.device(DEVICE, 0),
    )  # fmt: skip
    made: Tensor = torch.ops.aten.alias.default._op_dk(
        torch._C.DispatchKey.CompositeExplicitAutograd, keyed
    )
    _BEHIND[made.untyped_storage()._cdata] = elem
    return made


def to_device(value: Any) -> Any:
    """Copy every tensor in nested inputs to the device."""
    return tree_map(lambda v: _moved(v) if isinstance(v, Tensor) else v, value)


def _moved(tensor: Tensor) -> Tensor:
    made = on_device(tensor.detach().clone())
    if isinstance(tensor, nn.Parameter):
        made._is_param = True  # makes it an nn.Parameter
    return made.requires_grad_(tensor.requires_grad)


def on_host(tensor: Tensor) -> Tensor:
    """The values of a tensor on the device."""
    return _elem(tensor).detach().clone()


def _lstm_cell(gates: Tensor, _: Tensor, cx: Tensor, *bias: Tensor) -> tuple[Tensor, ...]:
    return torch.empty_like(cx), torch.empty_like(cx), torch.empty_like(gates)


def _gru_cell(gates: Tensor, _: Tensor, hx: Tensor, *bias: Tensor) -> tuple[Tensor, ...]:
    return torch.empty_like(hx), hx.new_empty(hx.shape[0], hx.shape[1] * 5)


def _lstm_backward(
    grad_hy: Tensor, grad_cy: Tensor, cx: Tensor, cy: Tensor, gates: Tensor, has_bias: bool
) -> tuple[Tensor | None, ...]:
    return torch.empty_like(gates), torch.empty_like(cx), gates.sum(0) if has_bias else None


def _gru_backward(grad_hy: Tensor, workspace: Tensor, has_bias: bool) -> tuple[Tensor | None, ...]:
    gates = grad_hy.new_empty(grad_hy.shape[0], grad_hy.shape[1] * 3)
    bias = gates.sum(0) if has_bias else None
    return gates, gates.clone(), torch.empty_like(grad_hy), bias, bias


def _convolution_backward(
    grad: Tensor, x: Tensor, weight: Tensor, *options: Any
) -> tuple[Tensor, ...]:
    *geometry, mask = options
    found: tuple[Tensor, ...] = torch.ops.aten.convolution_backward.default(
        grad, x, weight, [grad.shape[1]], *geometry, mask
    )
    return found


def _copy(source: Tensor, target: Tensor, non_blocking: bool = False) -> Tensor:
    return target.copy_(source)


_STAND_INS: dict[str, Callable[..., Any]] = {
    "aten::convolution_overrideable": torch.ops.aten.convolution.default,
    "aten::convolution_backward_overrideable": _convolution_backward,
    "aten::_copy_from": _copy,
    "aten::_copy_from_and_resize": _copy,
    "aten::_thnn_fused_lstm_cell": _lstm_cell,
    "aten::_thnn_fused_gru_cell": _gru_cell,
    "aten::_thnn_fused_lstm_cell_backward_impl": _lstm_backward,
    "aten::_thnn_fused_gru_cell_backward": _gru_backward,
}
"""What computes for kernels that only devices have."""
_RAISING = ("aten::convolution_overrideable", "aten::convolution_backward_overrideable")
"""Composites that exist to say "replace me": a device without them lacks them."""


class _Quiet(threading.local):
    on = False


class RealDevice:
    """Counts which overloads reach the device and which it lacks."""

    def __init__(self, registered: frozenset[str]) -> None:
        _setup_privateuseone_for_python_backend(DEVICE)
        self.asked: Counter[str] = Counter()
        self.missing: Counter[str] = Counter()
        self.phase = ""
        """Stands before the names that are counted."""
        self._quiet = _Quiet()
        self._library = torch.library.Library("aten", "IMPL")
        for name in sorted(torch._C._dispatch_get_all_op_names()):
            if name.startswith("aten::"):
                if name in registered:
                    self._register(name, self.asked)
                elif name in _RAISING or not _inherited(name):
                    self._register(name, self.missing)

    def _register(self, name: str, counter: Counter[str]) -> None:
        base, _, overload = name.removeprefix("aten::").partition(".")
        func = getattr(getattr(torch.ops.aten, base, None), overload or "default", None)
        if func is None:  # an overload that Python cannot name
            return
        compute: Callable[..., Any] = _STAND_INS.get(name, func)

        def kernel(*args: Any, **kwargs: Any) -> Any:
            self._count(counter, name)
            return _computed(compute, args, kwargs)

        self._library.impl(name.removeprefix("aten::"), kernel, "PrivateUse1")

    def _count(self, counter: Counter[str], name: str) -> None:
        if not self._quiet.on:
            counter[f"{self.phase} {name}".strip()] += 1

    def asked_for(self, op: str) -> None:
        """Count a kernel of the vendor's."""
        self._count(self.asked, op)

    @contextmanager
    def running(self, model: nn.Module) -> Iterator[None]:
        """The model's parameters and buffers on the device, and counts from zero."""
        self._take(model)
        with torch.no_grad():
            yield

    def train(
        self,
        model: nn.Module,
        inputs: Any,
        overrides: Sequence[str],
        gradients: Mapping[str, tuple[str, ...]],
    ) -> None:
        """One training step of the model on the device, with counts from zero by phase."""
        self._take(model)
        args, kwargs = inputs
        with overriding(overrides, gradients, _Listener(self)):
            TrainingStep().run(model, args, kwargs, self._begins)
        self.phase = ""

    def _begins(self, phase: Phase) -> None:
        self.phase = phase

    def _take(self, model: nn.Module) -> None:
        moved: dict[int, Tensor] = {}
        for module in model.modules():
            tables: tuple[dict[str, Any], ...] = (module._parameters, module._buffers)
            for table in tables:
                for key, tensor in table.items():
                    if tensor is not None:
                        table[key] = moved.setdefault(id(tensor), _moved(tensor))
        self.asked.clear()
        self.missing.clear()


class _Listener:
    def __init__(self, device: RealDevice) -> None:
        self._device = device
        self.kernel_ran = device.asked_for
        self.generator = torch.default_generator

    @contextmanager
    def quiet(self) -> Iterator[None]:
        flag = self._device._quiet
        outer, flag.on = flag.on, True
        try:
            yield
        finally:
            flag.on = outer


def _inherited(name: str) -> bool:
    """Whether a PrivateUse1 tensor reaches a composite kernel."""
    return torch._C._dispatch_has_computed_kernel_for_dispatch_key(name, "PrivateUse1")


def _computed(compute: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Run on the CPU tensors behind; what comes out is on the device unless asked otherwise."""
    behind: dict[int, Tensor] = {}
    owners: dict[int, Tensor] = {}
    host = any(isinstance(v, torch.device) and v.type == "cpu" for v in (*args, *kwargs.values()))

    def bare(value: Any) -> Any:
        if not isinstance(value, Tensor):
            return torch.device("cpu") if isinstance(value, torch.device) else value
        if value.device.type != DEVICE:
            return value
        elem = behind.setdefault(id(value), _elem(value))
        owners[id(elem)] = value
        return elem

    def wrapped(value: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        owner = owners.get(id(value))
        if owner is None:
            return value if host else on_device(value)
        return value.clone() if host else _followed(owner, value)

    with _disable_current_modes(), torch.no_grad():
        result = compute(*tree_map(bare, args), **tree_map(bare, kwargs))
    return [wrapped(v) for v in result] if isinstance(result, list) else tree_map(wrapped, result)


def _followed(owner: Tensor, value: Tensor) -> Tensor:
    """The caller's own tensor, which an ``out=`` or in-place kernel may have resized."""
    if owner.shape != value.shape or owner.stride() != value.stride():
        owner.data = on_device(value)
    return owner


def _elem(tensor: Tensor) -> Tensor:
    elem = _BEHIND[tensor.untyped_storage()._cdata]
    return elem.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())
