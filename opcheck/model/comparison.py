"""What two runs of a script gave, once on the CPU and once on a device, and where that parts."""

from enum import StrEnum

from msgspec import Struct


class Kind(StrEnum):
    """What gave a tensor that is compared."""

    OUTPUT = "output"
    """A call of a module outside of all others."""
    WITHIN = "within"
    """A call of a module within that one, which says where an output parts."""
    LOSS = "loss"
    """What ``backward`` was called on."""
    STEP = "step"
    """An optimizer's step: a parameter after it."""


class Moment(Struct, frozen=True, order=True):
    """One of the moments of a run whose tensors are kept; the same one of another run is equal."""

    kind: Kind
    module: str
    """The module as the script's calls are told, or with its whole path where it is within; the
    optimizer's class; "" of a loss."""
    call: int
    """Which call of all that have this kind and this name, from 1."""


class Kept(Struct, frozen=True):
    """One tensor of a run, or a part of its values."""

    moment: Moment
    path: str
    """Where in the output it was, or the parameter's name; "" for the output itself."""
    file: str
    """The user's file whose line made the call; "" if none."""
    line: int
    dtype: str
    shape: tuple[int, ...]
    values: str
    """As float64 of this machine, in base64: all, or some that are evenly spread."""
    drawn: int
    """How far the device's random numbers had been drawn."""


class Outputs(Struct, frozen=True):
    """What one run gave, in its order."""

    kept: tuple[Kept, ...]
    left_out: int = 0
    """Tensors beyond what is kept of a run."""
    seeded: bool = True
    """Whether the script itself seeded torch's random numbers."""


class Why(StrEnum):
    """What makes two tensors part."""

    VALUES = "values"
    """Some differ by more than is allowed, or one side has a NaN or an infinity there."""
    SHAPE = "shape"
    CPU_ONLY = "cpu-only"
    """The run on the device has no such tensor."""
    DEVICE_ONLY = "device-only"
    """The run on the CPU has no such tensor."""


class Parting(Struct, frozen=True):
    """A tensor that is not the same in both runs."""

    why: Why
    moment: Moment
    path: str
    file: str
    line: int
    dtypes: tuple[str, str]
    """On the CPU and on the device; "" where there is none."""
    shapes: tuple[tuple[int, ...], tuple[int, ...]]
    absolute: float | None = None
    """The largest difference; None where it is no number, or no values were compared."""
    relative: float | None = None
    """The largest difference by the CPU's value; None as above, or where that is 0."""
    allowed: tuple[float, float] = (0.0, 0.0)
    """The absolute difference that is allowed, and the part of the CPU's value on top of it."""
    drawn_apart: bool = False
    """Whether the device's random numbers had been drawn further in one run by then."""
    count: int = 1
    """Tensors of this place and module that part."""
    within: tuple["Parting", ...] = ()
    """Of an output the first that parts of the modules within; () where none does, or none of them
    was kept."""


class Recast(Struct, frozen=True):
    """The first tensor that has another dtype on the device, and how many have."""

    moment: Moment
    path: str
    file: str
    line: int
    dtypes: tuple[str, str]
    count: int


class Comparison(Struct, frozen=True):
    """A script's run on a device compared with its run on the CPU."""

    compared: int
    """Tensors that both runs have."""
    apart: int
    """Those of them that part."""
    alone: int
    """Tensors that only one of the runs has."""
    partings: tuple[Parting, ...]
    """The first of each place and module, in the order of the run on the CPU."""
    recast: Recast | None = None
    left_out: int = 0
    """Tensors beyond what is kept of a run."""
    seeded: bool = True
    """Whether the script itself seeds torch's random numbers; else both runs began alike."""
    cpu_error: str = ""
    """What ended the run on the CPU early; "": it came as far as it was to come."""

    @property
    def agreeing(self) -> int:
        """Tensors that both runs have and that do not part."""
        return self.compared - self.apart

    @property
    def first(self) -> Parting | None:
        """Where the runs part first; None where they do not."""
        return self.partings[0] if self.partings else None
