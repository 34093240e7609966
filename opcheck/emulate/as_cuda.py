"""CUDA taken for the emulated device, in programs that name no other accelerator.

It follows what Ascend's transfer module replaces (``torch_npu/contrib/transfer_to_npu.py``): the
functions of ``torch.cuda``, ``cuda`` devices among arguments, ``Tensor.cuda``, ``Module.cuda`` and
``Tensor.is_cuda``. As there, ``tensor.device.type`` is the vendor's own name, and a
``torch.device("cuda")`` stays one until it is used.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial, wraps
from types import ModuleType
from typing import Any

import torch

from opcheck.trace.eager import OtherAsDevice

_CLASSES = (torch.autocast, torch.amp.GradScaler)
"""They take a device type, and no mode sees it."""


@contextmanager
def as_cuda(device: torch.device) -> Iterator[None]:
    """Have ``cuda`` mean ``device``, which is open, inside the block."""
    name, moved = device.type, partial(_moved, device)
    with ExitStack() as undo:
        _answer(undo, torch.cuda, getattr(torch, name))
        for owner in (torch.Tensor, torch.nn.Module):
            _set(undo, owner, "cuda", getattr(owner, name))
        _set(undo, torch.Tensor, "is_cuda", getattr(torch.Tensor, f"is_{name}"))
        _set(undo, torch, "load", _taking(torch.load, moved))
        for made in _CLASSES:
            _set(undo, made, "__init__", _taking(made.__init__, moved))
        undo.enter_context(_Transfer(device, lambda _: None))
        yield


class _Transfer(OtherAsDevice):
    """Takes ``cuda`` for the device where it is used, not where it is named."""

    def __torch_function__(
        self,
        func: Any,
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Replace devices among the arguments of everything but ``torch.device``."""
        __tracebackhide__ = True
        if func is torch.device:
            return func(*args, **(kwargs or {}))
        return super().__torch_function__(func, types, args, kwargs)


def _answer(undo: ExitStack, asked: ModuleType, module: Any) -> None:
    """Have ``module`` answer for every public name of ``asked`` that both have."""
    for name in dir(module):
        own = vars(asked).get(name)
        if name.startswith("_") or own is None:
            continue
        if isinstance(own, ModuleType):
            _answer(undo, own, getattr(module, name))
        else:
            _set(undo, asked, name, getattr(module, name))


def _set(undo: ExitStack, owner: Any, name: str, value: Any) -> None:
    """Set an attribute until ``undo`` is closed."""
    own = vars(owner)
    if name in own:
        undo.callback(setattr, owner, name, own[name])
    else:
        undo.callback(delattr, owner, name)
    setattr(owner, name, value)


def _taking(function: Callable[..., Any], moved: Callable[[Any], Any]) -> Callable[..., Any]:
    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        return function(*map(moved, args), **{name: moved(v) for name, v in kwargs.items()})

    return call


def _moved(device: torch.device, value: Any) -> Any:
    """Give the device for a CUDA one; any other value as it is."""
    if isinstance(value, torch.device):
        return device if value.type == "cuda" else value
    if value == "cuda":
        return device.type
    if isinstance(value, str) and value.startswith("cuda:"):
        return str(device)
    if type(value) is dict:  # a map_location
        return {_moved(device, key): _moved(device, item) for key, item in value.items()}
    return value
