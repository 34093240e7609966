"""What the database says by itself, without a model: its targets, and one operator on a target."""

from msgspec import Struct

from opcheck.model.matrix import Choice, Condition
from opcheck.model.report import Reason
from opcheck.model.target import Target
from opcheck.model.verdict import Confidence, Evidence, Verdict


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


class Statement(Struct, frozen=True):
    """What one layer of the database says of an overload; of several, the last one holds."""

    origin: str
    """The overlay, as people are told of it; "" for the database itself."""
    says: str
    """In a few words: ``registers a kernel``, ``withdraws dtype-not-supported``."""
    reason: str
    """Why the layer says it; "" for what an importer found."""
    evidence: tuple[Evidence, ...]


class Explanation(Struct, frozen=True):
    """One overload on one target: how it fares, and everything that bears on it."""

    target: Target
    op: str
    """Schema spelling."""
    verdict: Verdict
    """For a use on floating-point tensors that meets none of ``conditions``."""
    confidence: Confidence
    reason: Reason
    implementation: tuple[str, ...]
    """The vendor's own words for the kernel path: ``acl_op``, ``op_api``."""
    conditions: tuple[Condition, ...]
    """Uses that fare otherwise."""
    evidence: tuple[Evidence, ...]
    branches: tuple[tuple[str, ...], ...]
    """What a composite runs as, one tuple of overloads for each way it can go; those of
    floating-point tensors first."""
    registered_in: tuple[str, ...]
    """Releases of this vendor that register it, oldest first."""
    torch_range: tuple[str, str] | None
    """First and last torch version that has the overload; None: not known."""
    statements: tuple[Statement, ...] = ()
    """Where an overlay has its say: what every layer says, the last one holds."""
    package: str = ""
    """What brings the kernel where that is neither torch nor the vendor: ``torchvision 0.28.0``."""
    recorded_on: str = ""
    """The device type on which the branches were recorded; "" where there are none."""
    choices: tuple[Choice, ...] = ()
    """Ways that it goes on this device instead; the first that fits a call is taken."""
