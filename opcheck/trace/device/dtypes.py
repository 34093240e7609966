"""``torch.npu.amp``, and the old tensor types such as ``torch.npu.FloatTensor``."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.amp.autocast_mode import custom_bwd, custom_fwd

from opcheck.trace.device.state import Part

DTYPES = {
    "BFloat16Tensor": torch.bfloat16,
    "BoolTensor": torch.bool,
    "ByteTensor": torch.uint8,
    "CharTensor": torch.int8,
    "DoubleTensor": torch.float64,
    "FloatTensor": torch.float32,
    "HalfTensor": torch.float16,
    "IntTensor": torch.int32,
    "LongTensor": torch.int64,
    "ShortTensor": torch.int16,
}


class LegacyType(type):
    """A class whose instances are the device's tensors of one dtype."""

    dtype: torch.dtype
    device_type: str

    def __call__(cls, *content: Any, size: Any = None, device: Any = None) -> Tensor:
        """Make a tensor of these sizes, or of this content."""
        device = cls.device_type if device is None else device
        if size is not None:
            content = tuple(size)
        if len(content) == 1 and not isinstance(content[0], int):
            (data,) = content
            if isinstance(data, torch.Size):
                return torch.empty(data, dtype=cls.dtype, device=device)
            return torch.as_tensor(data, dtype=cls.dtype).to(device)
        return torch.empty(content or (0,), dtype=cls.dtype, device=device)

    def __instancecheck__(cls, instance: Any) -> bool:
        return (
            isinstance(instance, Tensor)
            and instance.device.type == cls.device_type
            and instance.dtype == cls.dtype
        )


def legacy_types(device_type: str) -> dict[str, type]:
    """Make the tensor types of a device by name; torch itself knows them by their class names."""
    return {
        name: LegacyType(
            f"torch.{device_type}.{name}", (), {"dtype": dtype, "device_type": device_type}
        )
        for name, dtype in DTYPES.items()
    }


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
