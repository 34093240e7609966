"""What ``torch.npu`` answers: one device without a state of its own, there while a model runs."""

from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import _get_current_dispatch_mode


class DeviceModule:
    """The functions that torch, its samples and models ask a device module for."""

    def is_initialized(self) -> bool:
        """Whether the device is ready."""
        return True

    def is_available(self) -> bool:
        """Whether there is a device: outside of a trace nothing could run on it."""
        return _get_current_dispatch_mode() is not None

    def device_count(self) -> int:
        """How many devices there are."""
        return int(self.is_available())

    def current_device(self) -> int:
        """Index of the chosen device."""
        return 0

    def set_device(self, device: Any) -> None:
        """Choose a device: there is only one."""

    def synchronize(self, device: Any = None) -> None:
        """Wait for the device: it does nothing by itself."""

    def empty_cache(self) -> None:
        """Give memory back: none is taken."""

    def manual_seed(self, seed: int) -> None:
        """Seed the device's random numbers: none are drawn."""

    def manual_seed_all(self, seed: int) -> None:
        """Seed every device's random numbers."""

    def get_rng_state(self, device: Any = "npu") -> Tensor:
        """The state of the device's random numbers."""
        return torch.zeros(16, dtype=torch.uint8)

    def set_rng_state(self, new_state: Tensor, device: Any = "npu") -> None:
        """Set the state of the device's random numbers."""

    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        """What autocast may compute in."""
        return [torch.float16, torch.bfloat16]

    def _is_in_bad_fork(self) -> bool:
        return False
