"""Calls of a model fused into kernels of a vendor's, with what that brings and how it is proved."""

from msgspec import Struct

from opcheck.model.plan import Label
from opcheck.model.verdict import Evidence


class FuseSpec(Struct, frozen=True):
    """What calls of a program may be fused into."""

    kernels: tuple[str, ...]
    """Overloads that the target has a kernel of its own for."""
    chip: str
    """Of the target: ``910b``."""
    without: tuple[str, ...] = ()
    """Names of fusions that are not to be used."""
    modules: tuple[str, ...] | None = None
    """The modules whose own calls may be fused; None: all."""


class LeftCalls(Struct, frozen=True):
    """Calls that could be fused by what they compute, and are not."""

    rule: str
    module: str
    """Where the model makes them."""
    reason: str
    """One sentence."""


class ValueCheck(Struct, frozen=True):
    """A fusion's calls compared with the kernel's formula, on random numbers."""

    dtype: str
    draws: int
    """How many sets of numbers."""
    error: float
    """The largest difference, relative to the largest result, in units of the dtype's ``eps``."""
    allowed: float
    """How large it may be."""

    @property
    def holds(self) -> bool:
        """Whether it is as small as it may be; NaN is not."""
        return self.error <= self.allowed


class FusedCalls(Struct, frozen=True):
    """What one fusion did to a program."""

    rule: str
    summary: str
    kernel: str
    """The overload that is called now."""
    kernels: tuple[str, ...]
    """Overloads, one of which has to run for it: itself, or what it runs as."""
    label: Label
    tolerance: float
    modules: tuple[str, ...]
    """Where calls were fused; one for each place."""
    calls_before: int
    calls_after: int
    bytes_before: int
    """Read and written by the calls that were fused."""
    bytes_after: int
    checks: tuple[ValueCheck, ...]
    references: tuple[str, ...] = ()
    """Where the kernel's formula and conditions are from."""
    evidence: tuple[Evidence, ...] = ()
    """How the target is known to have the kernel."""
    seconds: float | None = None
    """The least time that the bytes saved would take on the chip; None: its bandwidth is not
    known."""


class ModelCheck(Struct, frozen=True):
    """The whole model run on the host, as it was and fused."""

    results: int
    draws: int
    """How many sets of inputs."""
    name: str
    """The result that comes nearest to what is allowed, or goes furthest beyond."""
    difference: float | None
    """Its largest absolute difference; None where just one side has NaN or infinity."""
    allowed: float
    """How far the unchanged model moves, when what was fused moves by four times its tolerance."""
    holds: bool


class LayerCode(Struct, frozen=True):
    """A class of the user's whose whole forward is one fusion."""

    file: str
    line: int
    """Where its ``forward`` is defined; 1-based."""
    name: str
    """Of the class."""
    rule: str
    vendor: tuple[str, str]
    """Python that defines what calls the vendor's kernel, and the name of that function."""
    arguments: tuple[tuple[str, str], ...]
    """Name of an argument -> the expression for it in ``forward``."""
    plugin: str
    """The module whose import brings the vendor's operator."""
    modules: tuple[str, ...]
    """Paths of the class's layers in the model."""


class FuseRun(Struct, frozen=True):
    """A program with calls fused."""

    fused: tuple[FusedCalls, ...]
    left: tuple[LeftCalls, ...]
    check: ModelCheck | None
    """None where nothing was fused."""
    operators: str = ""
    """The text of a module that has what the vendor's operators compute, for where the vendor's
    plugin is not installed; "" where PyTorch has all that is called."""
    layers: tuple[LayerCode, ...] = ()
    """Classes whose forward can be written anew."""
    calls: int = 0
    """Of the whole program, before."""
    moved: int = 0
    """Bytes that these read and write."""
