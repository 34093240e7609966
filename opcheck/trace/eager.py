"""A run as eager PyTorch: nothing compiled, and a hard-coded CUDA device taken for the traced one.

Private torch API used here, checked on 2.13.0: ``torch.utils._device._device_constructors``.
``torch.compiler.set_stance`` is used where Dynamo is already loaded.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._device import _device_constructors
from torch.utils._pytree import tree_map

from opcheck.trace.compiled import as_written, listening
from opcheck.trace.device import DeviceTensor

NEEDS_CUDA = ("not compiled with CUDA", "Found no NVIDIA driver", "No CUDA GPUs are available")
"""What torch says where code asks for CUDA and there is none."""

PLUGINS = ("mlu", "musa", "npu")
"""Device types that vendors' plugins name, none of which torch knows by itself."""

_NEEDS_PLUGIN = tuple(f"device type at start of device string: {name}" for name in PLUGINS)


@contextmanager
def not_compiled(met: Callable[[str], None]) -> Iterator[None]:
    """Have ``torch.compile`` give back what it is given, and compiled code run as written.

    ``met`` is told the backend by which a function that is called was to be compiled.
    """
    original = torch.compile
    torch.compile = as_written
    stance = torch.compiler.set_stance("force_eager") if "torch._dynamo" in sys.modules else None
    try:
        with stance or nullcontext(), listening(met):
            yield
    finally:
        torch.compile = original


@contextmanager
def numbers_read() -> Iterator[None]:
    """Have ``torch.tensor`` read device tensors inside lists as every device does, one by one.

    Its C++ reads them below the mode, where this device has no kernels.
    """
    # torch notes for good, when first asked, which functions a ``with torch.device(...)`` is for:
    # asked while ours stand in for them, it would never again mean the real ones
    _device_constructors()
    originals = {name: getattr(torch, name) for name in ("tensor", "as_tensor")}
    for name, original in originals.items():
        setattr(torch, name, _reading(original))
    try:
        yield
    finally:
        for name, original in originals.items():
            setattr(torch, name, original)


def _reading(original: Callable[..., Any]) -> Callable[..., Any]:
    def call(data: Any, *args: Any, **kwargs: Any) -> Any:
        return original(_numbers(data), *args, **kwargs)

    return call


def _numbers(data: Any) -> Any:
    if isinstance(data, (list, tuple)):
        return [item.tolist() if type(item) is DeviceTensor else _numbers(item) for item in data]
    return data


def asks_for_other(error: BaseException) -> bool:
    """Whether a model failed only because it names a CUDA device, or one of another vendor."""
    return any(text in str(error) for text in (*NEEDS_CUDA, *_NEEDS_PLUGIN))


class OtherAsDevice(TorchFunctionMode):
    """Takes every ``cuda`` device for the traced one, as the vendors' transfer modules do.

    Those that another vendor's plugin names too; ``met`` is told the type of each.
    """

    def __init__(self, device: torch.device, met: Callable[[str], None]) -> None:
        super().__init__()
        self._device = device
        self._met = met
        self._others = {"cuda", *PLUGINS} - {device.type}

    def __torch_function__(
        self,
        func: Any,
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Replace devices among the arguments; ``.cuda()`` becomes ``.to(device)``."""
        __tracebackhide__ = True
        kwargs = dict(kwargs or {})
        if func is torch.Tensor.cuda:
            self._met("cuda")
            return args[0].to(self._device)
        return func(*tree_map(self._moved, args), **tree_map(self._moved, kwargs))

    def _moved(self, value: Any) -> Any:
        named = ""
        if isinstance(value, str):
            named = value.partition(":")[0]
        elif isinstance(value, torch.device):
            named = value.type
        if named not in self._others:
            return value
        self._met(named)
        return self._device
