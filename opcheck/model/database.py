"""What the database says without a model - its operators, contents, age and problems."""

from collections.abc import Mapping

from msgspec import Struct

from opcheck.model.matrix import Choice, Condition, Fallback
from opcheck.model.report import Reason
from opcheck.model.target import Target
from opcheck.model.verdict import Confidence, Evidence, Method, Verdict


class Statement(Struct, frozen=True):
    """What one layer of the database says of an overload; of several, the last one holds."""

    origin: str
    """The overlay, as people are told of it; "" for the database itself."""
    says: str
    """In a few words: ``registers a kernel``, ``withdraws dtype-not-supported``."""
    reason: str
    """Why the layer says it; "" for what an importer found."""
    evidence: tuple[Evidence, ...]


class BackendRow(Struct, frozen=True):
    """A row of what a backend of ``torch.distributed`` sends and reduces."""

    verdict: Verdict
    """NATIVE for what it has, UNSUPPORTED for what it lacks."""
    text: str
    """One sentence."""
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
    backend: tuple[BackendRow, ...] = ()
    """Of a collective: what the backend sends and reduces in it."""


class ReleaseStatus(Struct, frozen=True):
    """One release of one vendor."""

    release: str
    date: str
    """ISO date of the newest source commit."""
    age: int | None
    """Days since then; None: the date is none."""
    torch_versions: tuple[str, ...]
    """torch versions, ``major.minor``, that it serves, newest first."""
    entries: Mapping[Method, int]
    """Overloads with a kernel, by how that is known; only methods that there are."""
    conditions: int
    digest: str
    """sha256 of its file, first 16 hex digits."""
    origin: str = ""
    """The overlay that has it; "" for the database itself."""
    edited: bool = False
    """Whether the file is no longer what its importer wrote."""


class VendorStatus(Struct, frozen=True):
    """One vendor with its releases."""

    vendor: str
    """Folder name: ``ascend``."""
    name: str
    """As people call it: ``Huawei Ascend``."""
    targets: tuple[str, ...]
    """Short names, sorted."""
    date: str
    """ISO date of the newest source commit of any release."""
    age: int | None
    """Days since then; None: no release has a date."""
    releases: tuple[ReleaseStatus, ...]
    """Newest first."""


class AdditionStatus(Struct, frozen=True):
    """What one overlay file or advisory adds."""

    origin: str
    """The file, as people are told of it; for an advisory of the database its id."""
    vendor: str
    reason: str
    operators: int
    conditions: int


class DatabaseStatus(Struct, frozen=True):
    """The database as a whole."""

    today: str
    """ISO date that ages count to."""
    digest: str
    """sha256 over all its files, first 16 hex digits."""
    vendors: tuple[VendorStatus, ...]
    overlays: tuple[AdditionStatus, ...]
    """In the order in which they hold: the last wins."""
    advisories: tuple[str, ...]
    """Their ids, sorted."""

    def older_than(self, days: int) -> tuple[VendorStatus, ...]:
        """Vendors whose newest data is older than so many days, or of no known date."""
        return tuple(v for v in self.vendors if v.age is None or v.age > days)


class SourceFile(Struct, frozen=True):
    """One of the files that a target's data was read from."""

    repo: str
    ref: str
    commit: str
    path: str
    date: str
    origin: str = ""


class ConditionGroup(Struct, frozen=True):
    """Conditions of one code."""

    code: str
    verdict: Verdict
    overloads: int
    """How many overloads have one; those that hold for every overload count as one."""


class Contents(Struct, frozen=True):
    """Everything known about one target, counted."""

    target: Target
    device_name: str
    dispatch_key: str
    date: str
    digest: str
    entries: Mapping[Method, int]
    """Overloads with a kernel, by how that is known; only methods that there are."""
    operators: tuple[str, ...]
    """Those overloads, sorted."""
    conditions: tuple[ConditionGroup, ...]
    gradients: int
    """Overloads that the vendor differentiates itself."""
    fallback: Fallback
    advisories: tuple[Condition, ...]
    sources: tuple[SourceFile, ...]


Pair = tuple[tuple[str, ...], tuple[str, ...]]
"""Before and after."""


class CellChange(Struct, frozen=True):
    """How one overload differs between two targets that both know it."""

    op: str
    """Schema spelling; ``*`` for what holds for every overload."""
    keys: Pair | None
    """Dispatch keys of its kernel, where they differ."""
    paths: Pair | None
    """The vendor's words for the kernel path, where they differ."""
    gone: tuple[Condition, ...]
    """Conditions that the second lacks; without evidence, whose lines differ in every release."""
    come: tuple[Condition, ...]
    """Conditions that the first lacks, likewise."""


class MatrixDiff(Struct, frozen=True):
    """What changed from one target to another."""

    before: Target
    after: Target
    added: tuple[str, ...]
    """Overloads with a kernel on the second alone, sorted."""
    removed: tuple[str, ...]
    """Overloads with a kernel on the first alone, sorted."""
    changed: tuple[CellChange, ...]
    """Overloads whose keys, kernel paths or conditions differ, sorted."""


class MatrixDiffs(Struct, frozen=True):
    """What changed, one after the other for each chip."""

    diffs: tuple[MatrixDiff, ...]


class Problem(Struct, frozen=True, order=True):
    """One thing that is wrong with a file of the database."""

    file: str
    """Relative to its database folder."""
    line: int
    """1-based; 0 for the file as a whole."""
    code: str
    """Stable, for machines: ``schema``, ``edited``, ``no-evidence``, …"""
    text: str


class Audit(Struct, frozen=True):
    """What a check of every file found."""

    files: int
    """How many were looked at."""
    problems: tuple[Problem, ...]
    """By file, then line."""


class ImportedFile(Struct, frozen=True):
    """One file that an importer gave."""

    path: str
    changed: bool
    """Whether it was not there, or said something else before."""


class Imports(Struct, frozen=True):
    """What an import wrote."""

    files: tuple[ImportedFile, ...]


class CollectedFile(Struct, frozen=True):
    """A vendor's file of a newer release, copied from a checkout."""

    file: str
    """As it is called among the vendor's files."""
    ref: str
    commit: str
    path: str
    """In the repository."""
    date: str
    """ISO date of the commit."""


class ModelChange(Struct, frozen=True):
    """Whether one model runs on one chip, at the release before and at the newer one."""

    model: str
    name: str
    """The target, without its release: ``google-tpu-v4``."""
    before: bool | None
    after: bool | None

    @property
    def differs(self) -> bool:
        """Whether the answer is another one."""
        return self.before is not self.after


class Refreshed(Struct, frozen=True):
    """A newer release of a vendor, from its own files to what it changes."""

    vendor: str
    before: str
    release: str
    collected: tuple[CollectedFile, ...]
    by_hand: tuple[str, ...]
    """Files of the release before that no checkout gives: they are made by hand, if need be."""
    files: tuple[ImportedFile, ...]
    diffs: tuple[MatrixDiff, ...]
    """One for each chip that both releases know."""
    audit: Audit
    models: tuple[ModelChange, ...]
    """By model, then chip."""


DatabaseView = DatabaseStatus | Contents | MatrixDiffs | Audit | Imports | Refreshed
"""What ``opcheck db`` answers with."""
