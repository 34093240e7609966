"""A plan carried out: what was written, which suggestions it follows, and the proof."""

from enum import StrEnum

from msgspec import Struct

from opcheck.model.padding import BucketSizes
from opcheck.model.plan import Label, Proof, Tier
from opcheck.model.report import ModelInfo, Report
from opcheck.model.request import ScanRequest
from opcheck.model.verdict import Verdict

SCHEMA = "opcheck.fix/1"


class FixKind(StrEnum):
    """What is written."""

    SHIM = "shim"
    """A Python file that registers kernels at the target's dispatch key."""
    PATCH = "patch"
    """A module with subclasses for layers of libraries."""
    GRAPH = "graph"
    """A saved graph with other calls in it."""
    DIFF = "diff"
    """Changes to the user's own source files."""
    CUSTOM = "custom-op"
    """A project for an operator of one's own."""
    WRAPPER = "wrapper"
    """A module with a wrapper that pads inputs whose sizes vary."""


class FixRequest(Struct, frozen=True):
    """One model, one target, and what to write."""

    scan: ScanRequest
    kind: FixKind
    path: str = ""
    """What to write to; "" for stdout, or for a name of its own, where the kind allows it."""
    allow: Label = Label.EXACT
    """The least close suggestion to follow."""
    write: bool = False
    """Whether a file that is there may be written over."""
    operator: str = ""
    """The overload to write a project for."""
    toolchain: str = ""
    """What the project is built with; "" for what the vendor's devices are mostly built with."""
    helpers: str = ""
    """Name of the module that functions of a diff go into, beside the file that calls them; "" for
    the file itself where they are short."""
    buckets: tuple[BucketSizes, ...] = ()
    """The sizes that a wrapper pads to."""


class Followed(Struct, frozen=True):
    """One suggestion that was carried out."""

    op: str
    """Of the finding."""
    replaces: str
    rule: str
    tier: Tier
    label: Label
    places: tuple[str, ...] = ()
    """``file:line`` of the calls that were changed, where single calls were."""


class Left(Struct, frozen=True):
    """One finding, or a part of it, that stays as it was."""

    op: str
    """Of the finding."""
    replaces: str
    """The overload that is to blame."""
    reason: str
    """One sentence."""


_BLOCKING = frozenset({Verdict.UNSUPPORTED, Verdict.UNKNOWN})


class Fix(Struct, frozen=True):
    """What ``opcheck fix`` did."""

    opcheck_version: str
    torch_version: str
    model: ModelInfo
    target: str
    kind: FixKind
    files: tuple[str, ...]
    """What was written; empty where there was nothing to do, or the proof failed."""
    text: str
    """What goes to stdout instead of a file: a unified diff."""
    followed: tuple[Followed, ...]
    left: tuple[Left, ...]
    proof: Proof | None
    unproven: str = ""
    """Why there is no proof."""
    report: Report | None = None
    """The plan; what was followed of it has its proof there."""

    @property
    def trained(self) -> bool:
        """Whether it is for a training step."""
        return self.report is not None and self.report.trace.mode == "train"

    @property
    def holds(self) -> bool:
        """Whether nothing that was tried failed, and something came of it where that was needed."""
        return (self.proof is None or self.proof.holds) and not self.mended_nothing

    @property
    def mended_nothing(self) -> bool:
        """Whether what keeps the model from running, or what it was to change, is all still there.

        Where the target runs the model as it is there is nothing to mend.
        """
        if self.kind is FixKind.CUSTOM or self.report is None or not self.report.targets:
            return False
        (target,) = self.report.targets
        blocking = {finding.op for finding in target.findings if finding.verdict in _BLOCKING}
        if self.followed and not blocking:
            return False
        if self.followed:
            return blocking.isdisjoint(way.op for way in self.followed)
        return bool(self.left) or target.summary.runs is not True

    @property
    def unseen(self) -> bool:
        """Whether nothing is known to be in the way, and not all of the model was seen."""
        return self.mended_nothing and not (self.followed or self.left or self.proof)
