"""A device's random numbers, with the state that vendors' have: a seed and an offset.

The state of CUDA's generator is 16 bytes, the seed and Philox's offset, and so is that of
torch_npu's, torch_mlu's and torch_musa's (``get_state`` of ``NPUGeneratorImpl``,
``MLUGeneratorImpl`` and ``MUSAGeneratorImpl``). Programs rely on it: DTensors move the offset so
that every rank draws its own part of one tensor (``torch/distributed/tensor/_random.py``).

Private torch API used here, checked on 2.13.0: ``Generator._cdata``.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from struct import Struct
from typing import Any
from weakref import WeakValueDictionary

import torch
from torch import Tensor

_LAYOUT = Struct("<Qq")
_SEED_ALONE = 8
"""Bytes of a state without an offset, which is 0 then."""
_STEP = 4
"""Numbers that Philox gives at a time: what an offset is a multiple of."""
_BITS = 0xFFFF_FFFF_FFFF_FFFF


class DeviceGenerator(torch.Generator):
    """A generator of the host's that names another device, and counts its draws as that does.

    Every draw begins from the seed and the offset alone, so that either can be set at any time.
    The numbers are not the vendor's.
    """

    _named: str
    _seed: int
    _offset: int

    def __new__(cls, named: str) -> "DeviceGenerator":
        """Make one of the host's, seeded as every new one is.

        Args:
            named: the device, of a type that torch may come to know only later.
        """
        made = super().__new__(cls)
        made._named = named
        made._seed, made._offset = torch.Generator.initial_seed(made), 0
        _MADE[_passed_on(made)] = made
        return made

    @property
    def device(self) -> torch.device:  # type: ignore[override]  # an attribute of C's
        """The device that it draws for."""
        return torch.device(self._named)

    @contextmanager
    def drawing(self, *, surely: bool = True) -> Iterator[None]:
        """Draw from where the seed and the offset say inside the block, then be one step further.

        What draws by default on the host draws the same numbers: overloads such as
        ``native_dropout`` take no generator, and know the default one alone.

        Args:
            surely: whether it is a step further though nothing was drawn, as where no number is
                computed; else attention without a dropout leaves the offset as it is.
        """
        default = torch.default_generator
        before = default.get_state()
        self._place()
        begun = super().get_state()
        default.set_state(begun)
        try:
            yield
        finally:
            states = () if surely else (default.get_state(), super().get_state())
            if surely or not all(torch.equal(begun, state) for state in states):
                self._offset += _STEP
            default.set_state(before)

    def manual_seed(self, seed: int) -> "DeviceGenerator":
        """Begin anew from a seed."""
        super().manual_seed(seed)
        self._seed, self._offset = int(seed) & _BITS, 0
        return self

    def seed(self) -> int:
        """Begin anew from a random seed, and give it."""
        self._seed, self._offset = super().seed(), 0
        return self._seed

    def initial_seed(self) -> int:
        """The seed that holds."""
        return self._seed

    def get_offset(self) -> int:
        """How far it has drawn."""
        return self._offset

    def set_offset(self, offset: int) -> "DeviceGenerator":
        """Go on from another offset.

        Raises:
            RuntimeError: it is no multiple of four.
        """
        if offset % _STEP:
            raise RuntimeError("offset must be a multiple of 4")
        self._offset = int(offset)
        self._place()
        return self

    def get_state(self) -> Tensor:
        """The seed and the offset, eight bytes each."""
        return torch.frombuffer(
            bytearray(_LAYOUT.pack(self._seed, self._offset)), dtype=torch.uint8
        )

    def set_state(self, new_state: Tensor) -> "DeviceGenerator":
        """Go on from a seed and an offset.

        Raises:
            TypeError: it is no tensor of bytes on the host.
            RuntimeError: it has another size, or the offset is no multiple of four.
        """
        if new_state.device.type != "cpu" or new_state.dtype != torch.uint8:
            raise TypeError("RNG state must be a torch.ByteTensor")
        data = bytes(new_state.flatten().tolist())
        if len(data) not in (_SEED_ALONE, _LAYOUT.size):
            raise RuntimeError("RNG state is wrong size")
        seed, offset = _LAYOUT.unpack(data.ljust(_LAYOUT.size, b"\0"))
        self._seed = seed
        return self.set_offset(offset)

    def _place(self) -> None:
        """Have the host's numbers follow from the seed and the offset."""
        place = self._seed
        if self._offset:  # a seed alone gives the numbers that it gives on the host
            digest = blake2b(_LAYOUT.pack(self._seed, self._offset), digest_size=8).digest()
            place = int.from_bytes(digest, "little")
        super().manual_seed(place)


_MADE: WeakValueDictionary[int, DeviceGenerator] = WeakValueDictionary()
"""Every one that there is, by what torch's C++ code passes on in its place."""


def among(values: Iterable[Any]) -> DeviceGenerator | None:
    """The device's generator among the arguments of a call.

    A kernel that C++ code calls is given another Python object for the same generator.
    """
    generators = (value for value in values if isinstance(value, torch._C.Generator))
    return next((_MADE[one] for one in map(_passed_on, generators) if one in _MADE), None)


def _passed_on(generator: torch.Generator) -> int:
    """What C++ code knows a generator by."""
    known_by: int = generator._cdata  # type: ignore[attr-defined]  # not among torch's types
    return known_by
