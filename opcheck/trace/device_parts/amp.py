"""``torch.npu.amp``: torch's mixed precision with the device filled in."""

from collections.abc import Callable
from typing import Any

import torch
from torch.amp.autocast_mode import custom_bwd, custom_fwd

from opcheck.trace.device_parts.state import Part


def _device_type() -> str:
    return torch._C._get_privateuse1_backend_name()


class Autocast(torch.autocast):
    """``torch.autocast`` on the device."""

    def __init__(
        self,
        enabled: bool = True,
        dtype: torch.dtype = torch.float16,
        cache_enabled: bool = True,
    ) -> None:
        super().__init__(_device_type(), dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)


class GradScaler(torch.amp.GradScaler):
    """``torch.amp.GradScaler`` on the device."""

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        super().__init__(
            _device_type(), init_scale, growth_factor, backoff_factor, growth_interval, enabled
        )


class MixedPrecision(Part):
    """Autocast and gradient scaling."""

    autocast = Autocast
    GradScaler = GradScaler

    def custom_fwd(
        self,
        fwd: Callable[..., Any] | None = None,
        *,
        cast_inputs: torch.dtype | None = None,
    ) -> Any:
        """``torch.amp.custom_fwd`` on the device."""
        return custom_fwd(fwd, device_type=_device_type(), cast_inputs=cast_inputs)

    def custom_bwd(self, bwd: Callable[..., Any] | None = None) -> Any:
        """``torch.amp.custom_bwd`` on the device."""
        return custom_bwd(bwd, device_type=_device_type())


class AutocastState(Part):
    """How autocast is set, and what it may compute in."""

    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        """What autocast may compute in."""
        return list(self._host().amp_dtypes)

    def is_bf16_supported(self, including_emulation: bool = True) -> bool:
        """Whether the chip computes in bfloat16."""
        return torch.bfloat16 in self._host().amp_dtypes

    def is_autocast_enabled(self) -> bool:
        """Whether autocast is on."""
        return torch.is_autocast_enabled(_device_type())

    def set_autocast_enabled(self, enabled: bool) -> None:
        """Turn autocast on or off."""
        torch.set_autocast_enabled(_device_type(), enabled)

    def get_autocast_dtype(self) -> torch.dtype:
        """What autocast computes in."""
        return torch.get_autocast_dtype(_device_type())

    def set_autocast_dtype(self, dtype: torch.dtype) -> None:
        """Choose what autocast computes in."""
        torch.set_autocast_dtype(_device_type(), dtype)
