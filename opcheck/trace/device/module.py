"""``torch.npu`` whole, for one device that is traced or emulated, and ``torch.accelerator``.

What scripts for Ascend set when they start: kept and read back, and changing nothing here. Named
after torch_npu 26.1.0, ``torch_npu/npu/npu_config.py`` and ``torch_npu/npu/__init__.py``.

Checked on 2.13.0: the device guard and the allocator of such a device are C++ without overrides, so
``synchronize`` and the memory figures raise, and ``empty_host_cache`` ends the process. Everything
else there works by itself or asks the device module.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any

import torch

from opcheck.trace.device.devices import Devices, Streams
from opcheck.trace.device.dtypes import AutocastState, MixedPrecision, legacy_types
from opcheck.trace.device.memory import Memory, RandomNumbers
from opcheck.trace.device.ranges import CNPX, Cnpx, Mstx
from opcheck.trace.device.state import DeviceState, Part, now

_ASKED = {
    "synchronize": "synchronize",
    "empty_cache": "empty_cache",
    "empty_host_cache": "host_empty_cache",
    "get_memory_info": "mem_get_info",
    "memory_stats": "memory_stats",
    "memory_allocated": "memory_allocated",
    "memory_reserved": "memory_reserved",
    "max_memory_allocated": "max_memory_allocated",
    "max_memory_reserved": "max_memory_reserved",
    "reset_peak_memory_stats": "reset_peak_memory_stats",
    "reset_accumulated_memory_stats": "reset_accumulated_memory_stats",
}
"""Function of ``torch.accelerator`` -> the device module's own."""


@contextmanager
def answering(module: Any) -> Iterator[None]:
    """Have the device module answer for ``torch.accelerator`` inside the block."""
    accelerator: Any = torch.accelerator
    before = {name: vars(accelerator)[name] for name in _ASKED if hasattr(accelerator, name)}
    for name in before:
        setattr(accelerator, name, getattr(module, _ASKED[name]))
    try:
        yield
    finally:
        for name, function in before.items():
            setattr(accelerator, name, function)


_JIT = "jitCompile"
_ND_FORMAT = "MM_BMM_ND_ENABLE"
_COMPATIBLE = "TORCH_NPU_USE_COMPATIBLE_IMPL"
_WORDS = {True: "enable", False: "disable"}


class NpuOptions(Part):
    """Options of the Ascend runtime."""

    def set_option(self, option: Mapping[str, Any]) -> None:
        """Set options of the runtime by name."""
        if not isinstance(option, dict):
            raise TypeError("npu option must be a dict.")
        self._host().options.update((name, str(value)) for name, value in option.items())

    def set_compile_mode(self, jit_compile: bool = False) -> None:
        """Choose whether kernels are compiled when they are first called."""
        self.set_option({_JIT: _WORDS[bool(jit_compile)]})

    def is_jit_compile_false(self) -> bool:
        """Whether kernels come compiled."""
        return self._has(_JIT, "disable")

    def set_mm_bmm_format_nd(self, is_nd: bool = True) -> None:
        """Choose the layout of matrix products."""
        self.set_option({_ND_FORMAT: _WORDS[bool(is_nd)]})

    def get_mm_bmm_format_nd(self) -> bool:
        """Whether matrix products take the plain layout."""
        return self._has(_ND_FORMAT, "enable")

    def use_compatible_impl(self, is_enabled: bool) -> None:
        """Choose kernels closer to torch's own."""
        self.set_option({_COMPATIBLE: _WORDS[bool(is_enabled)]})

    def are_compatible_impl_enabled(self) -> bool:
        """Whether kernels closer to torch's own are chosen."""
        return self._has(_COMPATIBLE, "enable", unset="disable")

    def set_deterministic_level(self, level: int) -> None:
        """Choose how reproducible kernels are: here they always are."""

    def enable_deterministic_with_backward(self, tensor: Any) -> Any:
        """Make what follows deterministic: here it always is."""
        return tensor

    disable_deterministic_with_backward = enable_deterministic_with_backward

    def set_op_timeout_ms(self, timeout: int) -> None:
        """Limit the time that a kernel may take."""

    @property
    def config(self) -> SimpleNamespace:
        """``allow_internal_format`` and others."""
        return self._settings("config", allow_internal_format=False)

    @property
    def matmul(self) -> SimpleNamespace:
        """How matrix products compute."""
        return self._settings("matmul", allow_hf32=False, cube_math_type=0)

    @property
    def conv(self) -> SimpleNamespace:
        """How convolutions compute."""
        return self._settings("conv", allow_hf32=True)

    def _has(self, option: str, value: str, unset: str | None = None) -> bool:
        default = value if unset is None else unset
        return bool(self._host().options.get(option, default) == value)

    def _settings(self, name: str, **defaults: Any) -> SimpleNamespace:
        found: SimpleNamespace = self._host().options.setdefault(name, SimpleNamespace(**defaults))
        return found


class DeviceModule(ModuleType):
    """The module of one device type: what its parts give, from the state that its host sets."""

    _initialized = True  # checkpointing keeps a device's random numbers only if it reads this

    def __init__(self, device_type: str) -> None:
        super().__init__(f"torch.{device_type}", __doc__)
        self.host = traced(device_type)
        """What it answers from."""
        memory, random = Memory(self._now), RandomNumbers(self._now)
        streams, amp = Streams(self._now), MixedPrecision(self._now)
        vendor = (NpuOptions(self._now),) if device_type == "npu" else ()
        self._parts: tuple[Part, ...] = (
            Devices(self._now), memory, random, streams, AutocastState(self._now), *vendor,
        )  # fmt: skip
        self.submodules: dict[str, Part] = {
            "amp": amp, "memory": memory, "random": random, "streams": streams,
        }  # fmt: skip
        """What can be imported from it, by name."""
        match device_type:
            case "npu":
                vars(self)["mstx"] = Mstx(self._now)
            case "mlu":
                self.submodules[CNPX] = Cnpx(self._now)
        vars(self).update(self.submodules, **legacy_types(device_type))

    def _now(self) -> DeviceState:
        return self.host

    @contextmanager
    def hosted(self, state: DeviceState) -> Iterator[None]:
        """Answer from ``state`` inside the block; nothing that is set there outlives it."""
        before, self.host = self.host, state
        try:
            with answering(self):
                yield
        finally:
            self.host = before

    def publish(self) -> None:
        """Let Python import the submodules, as ``import torch.npu.amp`` does."""
        for name, part in self.submodules.items():
            sys.modules[f"{self.__name__}.{name}"] = part  # type: ignore[assignment]  # any object does

    def _lazy_init(self) -> None: ...

    def _lazy_call(self, function: Callable[[], Any]) -> None:
        function()

    def _is_in_bad_fork(self) -> bool:
        return False

    def _is_compiled(self) -> bool:
        return True

    def _sleep(self, cycles: int) -> None: ...

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_"):
            for part in self._parts:
                if hasattr(part, name):
                    return getattr(part, name)
        raise AttributeError(
            f"module {self.__name__!r} has no attribute {name!r}; it is emulated by opcheck, which "
            "offers what programs commonly ask a device for"
        )

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *(name for part in self._parts for name in dir(part))})


def traced(device_type: str) -> DeviceState:
    """Give the device as a trace presents it: there while a model runs, taking no memory."""

    def running() -> bool:
        return getattr(now(), "device_type", None) == device_type

    return DeviceState(
        device_type=device_type,
        available=running,
        name=f"{device_type} (emulated)",
    )
