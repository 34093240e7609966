"""What a device module answers from, and the engine that answers for the device meanwhile."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import torch

from opcheck.trace.device.philox import DeviceGenerator, among


class Alive:
    """Counts what was made for the device and still is: the collector takes long to name it.

    Each tensor of a recording has one, and so has what stands behind an emulated device's storage.
    """

    __slots__ = ()
    count: ClassVar[int] = 0

    def __init__(self) -> None:
        type(self).count += 1

    def __del__(self) -> None:
        type(self).count -= 1


class _Now:
    engine: ClassVar[Any] = None
    alive: ClassVar[type[Alive]] = Alive


@contextmanager
def answering(engine: Any) -> Iterator[None]:
    """Have ``engine`` be the one inside the block."""
    before, _Now.engine = _Now.engine, engine
    try:
        yield
    finally:
        _Now.engine = before


def now() -> Any:
    """The engine that answers, or None."""
    return _Now.engine


def alive() -> Alive:
    """For something that was made just now."""
    return _Now.alive()


def living() -> int:
    """How many there are, beside those from before the last :func:`count_from_here`."""
    return _Now.alive.count


def count_from_here() -> None:
    """Leave out what there is, as what a process keeps for good."""

    class Later(Alive):
        __slots__ = ()
        count = 0

    _Now.alive = Later


ONLY = 0
"""Index of the one device that is used."""


def _nothing() -> None: ...


class MemoryUse(Protocol):
    """Counts the bytes of the live tensors on the device."""

    allocated: int
    peak: int


@dataclass(slots=True)
class NoMemoryUse:
    """A device that takes no memory."""

    allocated: int = 0
    peak: int = 0


@dataclass(slots=True)
class DeviceState:
    """One device as its host presents it, with everything that its user can set."""

    device_type: str
    available: Callable[[], bool]
    name: str
    """What ``get_device_name`` gives: the vendor's own name of the chip."""
    total_memory: int = 64 << 30
    """Bytes; the default is a round figure."""
    memory: MemoryUse = field(default_factory=NoMemoryUse)
    capability: tuple[int, int] | None = None
    """What ``get_device_capability`` gives; None where the vendor has no such thing."""
    capability_variable: str = ""
    """What in the environment gives it in the vendor's place; "": nothing."""
    met_without_capability: Callable[[], None] = _nothing
    """Called where a program is given None for it."""
    amp_dtypes: tuple[torch.dtype, ...] = (torch.float16, torch.bfloat16)
    """What autocast may compute in; bfloat16 is supported if it is among them."""
    generator: DeviceGenerator = field(init=False)
    """Draws the device's random numbers, apart from those of the host."""
    stream: torch.Stream | None = None
    """The chosen stream; None: the default one."""
    memory_fraction: float = 1.0
    count: int = 1
    """How many devices there are said to be; this process has the first."""
    stands_for: str = ""
    """The type of device that it is taken for as well; "": none."""
    options: dict[str, Any] = field(default_factory=dict)
    """Settings of the vendor that change nothing here, kept to be read back."""

    def __post_init__(self) -> None:
        """Give it random numbers of its own."""
        self.generator = DeviceGenerator(f"{self.device_type}:{ONLY}")

    def drawing(
        self, given: Iterable[Any] = (), *, surely: bool = True
    ) -> AbstractContextManager[None]:
        """Draw random numbers inside the block, from the generator that is given or its own.

        ``surely``: whether some are drawn whatever the host's generator says.
        """
        return (among(given) or self.generator).drawing(surely=surely)

    def index(self, device: Any = None) -> int:
        """Give the index that an index, a name or a ``torch.device`` means; None: the chosen one.

        Raises:
            ValueError: it is a device of another type.
            RuntimeError: there is no such device.
        """
        if isinstance(device, str):
            device = int(device) if device.isdecimal() else torch.device(device)
        if isinstance(device, torch.device):
            if device.type not in (self.device_type, self.stands_for):
                raise ValueError(f"Expected a {self.device_type} device, but got: {device}")
            device = device.index
        if device is None:
            return ONLY
        if not 0 <= device < self.count:
            raise RuntimeError(
                f"invalid device index {device}: torch.{self.device_type} is emulated here, "
                + ("with one device" if self.count == 1 else f"with {self.count} devices")
            )
        return ONLY


class Part:
    """Functions of one device module that belong together; public names are theirs."""

    def __init__(self, host: Callable[[], DeviceState]) -> None:
        self._host = host
        """The state that holds now; it changes with who hosts the device."""

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.startswith("_")]
