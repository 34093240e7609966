"""``torch.npu.memory``: bytes of live tensors, as the host of the device counts them."""

from collections import OrderedDict
from typing import Any

from opcheck.trace.device_parts.state import Part


class Memory(Part):
    """There is no caching allocator: what is reserved is what is allocated."""

    def memory_allocated(self, device: Any = None) -> int:
        """Bytes of live tensors."""
        self._host().index(device)
        return self._host().memory.allocated

    def max_memory_allocated(self, device: Any = None) -> int:
        """Most bytes of live tensors since the last reset."""
        self._host().index(device)
        return self._host().memory.peak

    memory_reserved = memory_cached = memory_allocated
    max_memory_reserved = max_memory_cached = max_memory_allocated

    def reset_peak_memory_stats(self, device: Any = None) -> None:
        """Count the most bytes from here on."""
        self._host().index(device)
        memory = self._host().memory
        memory.peak = memory.allocated

    reset_max_memory_allocated = reset_max_memory_cached = reset_peak_memory_stats

    def reset_accumulated_memory_stats(self, device: Any = None) -> None:
        """Forget accumulated figures: none are kept."""
        self._host().index(device)

    def memory_stats(self, device: Any = None) -> "OrderedDict[str, int]":
        """Current and most bytes under the names that allocators give them."""
        now, most = self.memory_allocated(device), self.max_memory_allocated(device)
        stats = OrderedDict({"num_alloc_retries": 0, "num_ooms": 0})
        for kind in ("active_bytes", "allocated_bytes", "requested_bytes", "reserved_bytes"):
            stats[f"{kind}.all.current"] = now
            stats[f"{kind}.all.peak"] = most
        return stats

    def memory_stats_as_nested_dict(self, device: Any = None) -> dict[str, Any]:
        """:meth:`memory_stats`, one dictionary for each part of a name."""
        nested: dict[str, Any] = {}
        for name, value in self.memory_stats(device).items():
            *path, last = name.split(".")
            inner = nested
            for key in path:
                inner = inner.setdefault(key, {})
            inner[last] = value
        return nested

    def memory_summary(self, device: Any = None, abbreviated: bool = False) -> str:
        """:meth:`memory_stats` as text."""
        return "".join(f"{name}: {value}\n" for name, value in self.memory_stats(device).items())

    def memory_snapshot(self) -> list[Any]:
        """The allocator's segments: there are none."""
        return []

    def mem_get_info(self, device: Any = None) -> tuple[int, int]:
        """Free and total bytes."""
        total = self._host().total_memory
        return max(0, total - self.memory_allocated(device)), total

    def set_per_process_memory_fraction(self, fraction: float, device: Any = None) -> None:
        """Keep the fraction of the memory that the process may take."""
        self._host().index(device)
        if not 0 <= fraction <= 1:
            raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
        self._host().memory_fraction = float(fraction)

    def get_per_process_memory_fraction(self, device: Any = None) -> float:
        """The fraction of the memory that the process may take."""
        self._host().index(device)
        return self._host().memory_fraction

    def empty_cache(self) -> None:
        """Give cached memory back: none is cached."""

    def host_empty_cache(self) -> None:
        """Give cached pinned memory back: none is cached."""

    def get_allocator_backend(self) -> str:
        """Name of the allocator."""
        return "native"
