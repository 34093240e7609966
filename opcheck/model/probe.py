"""What a device did with PyTorch's own samples of every operator."""

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

from opcheck.model.target import Target, TargetSpec
from opcheck.model.trace import Phase, Value
from opcheck.model.verdict import Verdict


class Outcome(StrEnum):
    """What came of one call, best first."""

    WORKS = "works"
    FALLS_BACK = "falls-back"
    """It ran on the host, as the vendor's warning says."""
    WRONG = "wrong-values"
    RAISES = "raises"
    CRASHES = "crashes"
    """The process ended."""
    HANGS = "hangs"
    """There was no answer within the limit."""

    @property
    def fails(self) -> bool:
        """Whether the call gave nothing to go on with."""
        return self not in (Outcome.WORKS, Outcome.FALLS_BACK)


class Observed(Struct, frozen=True):
    """One call of one overload on the device."""

    op: str
    """Schema spelling."""
    arguments: tuple[tuple[str, Value], ...]
    """(schema argument name, value), in schema order, as in a trace."""
    phase: Phase
    outcome: Outcome
    text: str = ""
    """The error, how far values are off, or why there was nothing to compare with."""
    registered: bool = False
    """Whether the dispatcher has a kernel of the device's for it."""
    composite: bool = False
    """Whether PyTorch has a composite kernel for it."""
    fell_back: tuple[str, ...] = ()
    """Overloads that ran on the host, itself or what it runs as."""
    results: tuple[Value, ...] = ()
    """What it gave, or where it raised, what the host gives."""


class Unit(Struct, frozen=True):
    """All samples of one operator in one dtype."""

    operator: str
    """PyTorch's test database's name for it: ``nn_functional_conv2d``."""
    dtype: str
    only: str = ""
    """The name of the one sample to run; "" for all of them."""
    after: str = ""
    """The name of the sample to go on after; "" to begin at the first."""

    @property
    def name(self) -> str:
        """``add float32``."""
        return f"{self.operator} {self.dtype}"


class Sample(Struct, frozen=True):
    """One sample, forward or with its gradients."""

    operator: str
    dtype: str
    index: int
    phase: Phase

    @property
    def unit(self) -> str:
        """The unit that it is of."""
        return f"{self.operator} {self.dtype}"

    @property
    def name(self) -> str:
        """What it is called within its unit: ``0 forward``."""
        return f"{self.index} {self.phase}"


class Finished(Struct, frozen=True):
    """One sample that was run, and each distinct call that it made on the device."""

    sample: Sample
    observed: tuple[Observed, ...]
    note: str = ""
    """Why it came to nothing, if the host refuses it too."""


class Tried(Struct, frozen=True):
    """The device, as the process that tries it finds it."""

    device: str
    """``npu:0``."""
    name: str
    """What it calls itself: ``NVIDIA A100-SXM4-80GB``; "" where it has no name."""
    torch_version: str


class ProbeJob(Struct, frozen=True):
    """What one process is to run."""

    device_type: str
    module: str = ""
    """The vendor's plugin, to be imported; "" for none."""
    emulated: str = ""
    """The target to emulate; "" for a real device."""
    databases: tuple[str, ...] = ()
    fallback: str = ""
    """The warning of the vendor's fallback, ``{op}`` in place of the overload."""
    samples: int = 1
    """How many of each operator, dtype and direction."""
    backward: bool = True
    operators: tuple[str, ...] = ()
    """Patterns; () for all. Only where the units are asked for."""
    dtypes: tuple[str, ...] = ()
    units: tuple[Unit, ...] | None = None
    """What to run; None: say which units there are."""


class ProbeRequest(Struct, frozen=True):
    """One device to try."""

    device_type: str
    """``npu``; "" for that of the target."""
    target: TargetSpec | None = None
    emulate: bool = False
    operators: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()
    samples: int = 3
    backward: bool = True
    timeout: float = 60.0
    """Seconds that one sample may take."""
    into: str = "probe"
    """The folder that the overlay and the journal are written to."""
    restart: bool = False
    """Whether to forget what was run before."""
    databases: tuple[str, ...] = ()


class ProbeHead(Struct, frozen=True):
    """What a journal is of; one that is of something else is not gone on with."""

    device_type: str
    target: str
    emulated: bool
    samples: int
    backward: bool
    device: str
    torch_version: str


class Noted(Struct, frozen=True):
    """One call, and the line of the journal that has it."""

    line: int
    observed: Observed


class Differs(Struct, frozen=True):
    """A call that fared otherwise than the target's list says."""

    line: int
    observed: Observed
    listed: Verdict
    reason: str
    """Why the list says so."""


class Probe(Struct, frozen=True):
    """What a device did, and where the list of its target says otherwise."""

    device: str
    target: Target | None
    """None for the host, which is no target."""
    overlay: str
    """The path of what was written."""
    journal: str
    samples: int
    refused: int
    """Samples that the host refuses as well, so that they tell nothing."""
    overloads: Mapping[Outcome, int]
    """Distinct overloads by the worst that came of them."""
    failures: tuple[Noted, ...]
    """One call of each overload that failed, by overload."""
    compared: int
    """Distinct calls that the list has something to say of."""
    differs: tuple[Differs, ...]
    """By overload, then line."""
