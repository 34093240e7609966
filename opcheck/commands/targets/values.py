"""The answer of ``opcheck targets``."""

from msgspec import Struct

from opcheck.model.target import Target


class TargetRow(Struct, frozen=True):
    """One chip of one vendor, at the newest release that the database has for it."""

    target: Target
    releases: tuple[str, ...]
    """SDK releases in the database, newest first."""
    torch_versions: tuple[str, ...]
    """torch versions, ``major.minor``, that the newest release serves, newest first."""
    registered: int
    """Overloads that the target registers a kernel for."""
    date: str
    """ISO date of the newest source commit."""
    device_name: str
    """What the vendor calls the chip: ``Ascend 910B``."""
    also: tuple[str, ...] = ()
    """Other names of the chip that are understood: ``h800``."""
    vendor_also: tuple[str, ...] = ()
    """Other names of its vendor: ``huawei``."""
    toolkits: tuple[str, ...] = ()
    """Releases by what goes with them, newest first: ``cann9.1.0``."""
    opsets: tuple[str, ...] = ()
    """Versions of ONNX's operators that it may be written in, the default first."""
