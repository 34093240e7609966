"""What a vendor ships against a finding: an option, an environment variable, a package."""

from msgspec import Struct

from opcheck.model.plan import Label
from opcheck.model.verdict import Confidence, Evidence


class Remedy(Struct, frozen=True):
    """One thing to write or to set, and which findings it is for."""

    id: str
    """``mps-host-fallback``."""
    summary: str
    """What to do, as an order."""
    write: str
    """The line to write or the variable to set; a shell or a Python line."""
    codes: frozenset[str]
    """Reason codes that it helps; empty for all."""
    ops: frozenset[str]
    """Overloads that it helps; empty for all."""
    dtypes: frozenset[str]
    """Dtypes that the call must have one of; empty for any."""
    on_device: bool
    """Whether the call then stays on the device, or runs on the host."""
    label: Label
    gives_up: str
    confidence: Confidence
    evidence: tuple[Evidence, ...]
