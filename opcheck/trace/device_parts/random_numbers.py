"""``torch.npu.random``: the device's own random numbers.

A ``torch.Generator(device="npu")`` is not possible: torch asks the backend's C++ hooks for one
(``PrivateUse1HooksInterface::getNewGenerator``), and of those hooks Python can give
``has_primary_context``, ``is_built`` and ``is_available`` alone (2.13.0, ``torch/csrc/acc``;
``tests/trace/test_private_api.py`` fails when that changes). It raises NotImplementedError. The
device's default generator is therefore one of the host's, and says so when asked for its device.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from opcheck.trace.device_parts.state import Part


class RandomNumbers(Part):
    """Seeds and states of the generator that the device draws from."""

    @property
    def default_generators(self) -> tuple[torch.Generator, ...]:
        """The generator of each device; its own device is the host."""
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
        """The state of the device's random numbers."""
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
