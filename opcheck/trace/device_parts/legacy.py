"""``torch.npu.FloatTensor`` and its like: names of dtypes on the device, made as classes."""

from typing import Any

import torch
from torch import Tensor

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


class _LegacyType(type):
    """A class whose instances are the device's tensors of one dtype."""

    dtype: torch.dtype
    device_type: str

    def __call__(cls, *content: Any) -> Tensor:
        """Make a tensor of these sizes, or of this content."""
        if len(content) == 1 and not isinstance(content[0], int):
            (data,) = content
            if isinstance(data, torch.Size):
                return torch.empty(data, dtype=cls.dtype, device=cls.device_type)
            return torch.as_tensor(data, dtype=cls.dtype).to(cls.device_type)
        return torch.empty(content or (0,), dtype=cls.dtype, device=cls.device_type)

    def __instancecheck__(cls, instance: Any) -> bool:
        return (
            isinstance(instance, Tensor)
            and instance.device.type == cls.device_type
            and instance.dtype == cls.dtype
        )


def legacy_types(device_type: str) -> dict[str, type]:
    """Make the tensor types of a device by name; torch itself knows them by their class names."""
    return {
        name: _LegacyType(
            f"torch.{device_type}.{name}", (), {"dtype": dtype, "device_type": device_type}
        )
        for name, dtype in DTYPES.items()
    }
