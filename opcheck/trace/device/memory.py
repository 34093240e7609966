"""``torch.npu.memory`` and ``torch.npu.random``: bytes of live tensors, and random numbers.

``torch.npu.random``: the device's own random numbers. A ``torch.Generator(device="npu")`` is not
possible: torch asks the backend's C++ hooks for one
(``PrivateUse1HooksInterface::getNewGenerator``), and of those hooks Python can give
``has_primary_context``, ``is_built`` and ``is_available`` alone (2.13.0, ``torch/csrc/acc``;
``tests/trace/test_private_api.py`` fails when that changes). It raises NotImplementedError,
but in a trace and on an emulated device (``generators.py``). The device's default generator is
therefore one of the host's that names the device (``philox.py``).
"""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from opcheck.trace.device.state import Part


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


class RandomNumbers(Part):
    """Seeds and states of the generator that the device draws from."""

    @property
    def default_generators(self) -> tuple[torch.Generator, ...]:
        """The generator of each device."""
        return (self._host().generator,)

    def manual_seed(self, seed: int) -> None:
        """Seed the device."""
        self._host().generator.manual_seed(int(seed))

    manual_seed_all = manual_seed

    def seed(self) -> None:
        """Seed the device with a random number."""
        self._host().generator.seed()

    seed_all = seed

    def initial_seed(self) -> int:
        """The seed that holds."""
        return self._host().generator.initial_seed()

    def get_rng_state(self, device: Any = None) -> Tensor:
        """The state of the device's random numbers: the seed and the offset, eight bytes each."""
        self._host().index(device)
        return self._host().generator.get_state()

    def get_rng_state_all(self) -> list[Tensor]:
        """The state of every device's random numbers."""
        return [self.get_rng_state()]

    def set_rng_state(self, new_state: Tensor, device: Any = None) -> None:
        """Go on from a state that :meth:`get_rng_state` gave."""
        self._host().index(device)
        self._host().generator.set_state(new_state)

    def set_rng_state_all(self, new_states: Sequence[Tensor]) -> None:
        """Go on from the states of all devices."""
        for index, state in enumerate(new_states):
            self.set_rng_state(state, index)
