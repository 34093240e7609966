"""One finding on its own: the call that a script repeats without the model."""

from msgspec import Struct

from opcheck.model.report import Finding
from opcheck.model.request import ScanRequest
from opcheck.model.target import Target
from opcheck.model.trace import OpName, Value


class ReproRequest(Struct, frozen=True):
    """One finding to write a script for."""

    scan: ScanRequest
    """The model, or the report of one, and its target."""
    finding: str
    """Its id, the beginning of it, or an overload in schema spelling."""


class Argument(Struct, frozen=True):
    """One argument of the call."""

    name: str
    """As the schema has it."""
    value: Value
    differentiated: bool = False
    """Whether the training step needs its gradient."""


class Repro(Struct, frozen=True):
    """All that a script needs to make one call on one target."""

    target: Target
    op: OpName
    finding: Finding
    arguments: tuple[Argument, ...]
    """In schema order; those left at their default are not there."""
    strides: bool
    """Whether strides were traced; else every tensor is taken to be contiguous."""
    emulated: bool
    """Whether opcheck emulates the target's device."""
    module: str
    """The Python module of the vendor's plugin; "" where torch alone has the device."""
    package: str
    """The distribution that it comes in; "" likewise."""
    torch_version: str
    """Of the torch that traced."""
    opcheck_version: str
