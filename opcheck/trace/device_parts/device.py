"""What stands in the device module itself: which devices there are, and which one is chosen."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from msgspec import Struct

from opcheck.trace.device_parts.state import ONLY, Part


class DeviceProperties(Struct, frozen=True):
    """What the device says of itself."""

    name: str
    total_memory: int


class Devices(Part):
    """One device; choosing it changes nothing."""

    def is_available(self) -> bool:
        """Whether there is a device now."""
        return self._host().available()

    def device_count(self) -> int:
        """How many devices there are."""
        return int(self.is_available())

    def current_device(self) -> int:
        """Index of the chosen device."""
        return ONLY

    def set_device(self, device: Any) -> None:
        """Choose a device: there is only one."""
        self._host().index(device)

    def device(self, device: Any) -> AbstractContextManager[None]:
        """Choose a device inside the block; None and a negative index change nothing."""
        if not (isinstance(device, int) and device < 0):
            self._host().index(device)
        return nullcontext()

    def device_of(self, obj: Any) -> AbstractContextManager[None]:
        """Choose a tensor's device inside the block; one of the host changes nothing."""
        return nullcontext()

    def get_device_name(self, device: Any = None) -> str:
        """Name of the chip."""
        return self.get_device_properties(device).name

    def get_device_properties(self, device: Any = None) -> DeviceProperties:
        """What the device says of itself."""
        host = self._host()
        host.index(device)
        return DeviceProperties(host.name, host.total_memory)

    def get_device_capability(self, device: Any = None) -> tuple[int, int] | None:
        """Major and minor version of the chip; None where the vendor has no such thing."""
        self._host().index(device)
        return self._host().capability

    def can_device_access_peer(self, device: Any, peer_device: Any) -> bool:
        """Whether a device reads another's memory: there is no other."""
        self._host().index(device)
        self._host().index(peer_device)
        return False

    def synchronize(self, device: Any = None) -> None:
        """Wait for the device: it computes at once."""
        self._host().index(device)

    def utilization(self, device: Any = None) -> int:
        """Per cent of the time in which the device computes."""
        self._host().index(device)
        return 0

    def ipc_collect(self) -> None:
        """Give back memory shared with other processes: none is."""

    def get_sync_debug_mode(self) -> int:
        """Whether waiting for the device is reported: 0, it is not."""
        return int(self._host().options.get("sync_debug_mode", 0))

    def set_sync_debug_mode(self, debug_mode: int | str) -> None:
        """Choose whether waiting for the device is reported: it never waits."""
        modes = {"default": 0, "warn": 1, "error": 2}
        self._host().options["sync_debug_mode"] = modes.get(str(debug_mode), debug_mode)

    def is_initialized(self) -> bool:
        """Whether the device is ready."""
        return True

    def init(self) -> None:
        """Make the device ready: it is."""
