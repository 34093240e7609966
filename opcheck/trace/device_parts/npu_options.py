"""What scripts for Ascend set when they start: kept and read back, and changing nothing here.

Named after torch_npu 26.1.0, ``torch_npu/npu/npu_config.py`` and ``torch_npu/npu/__init__.py``.
"""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from opcheck.trace.device_parts.state import Part

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
