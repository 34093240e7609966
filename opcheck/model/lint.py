"""What sources of the user's say that no dispatcher ever sees, and how that fares on targets."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from opcheck.model.porting import Transfer
from opcheck.model.target import Target, TargetSpec
from opcheck.model.verdict import Confidence, Evidence, Verdict

SCHEMA = "opcheck.lint/1"


@dataclass(frozen=True, slots=True)
class LintRequest:
    """Sources to read, and what to hold them against."""

    path: str
    """A file or a folder."""
    targets: tuple[TargetSpec, ...] = ()
    """All where it is empty."""
    databases: tuple[str, ...] = ()
    fix: bool = False
    """Whether to replace what is plain."""
    write: bool = False
    """Whether to change the files themselves."""


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Where something is written: lines and columns from 1, the end is one behind."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class LintFinding:
    """One place, and how what is written there fares on a target."""

    file: str
    """Relative to the working directory where it is in it."""
    span: Span
    code: str
    """The check: ``cuda-call``."""
    written: str
    """What the source says: ``torch.cuda.synchronize``."""
    verdict: Verdict
    text: str
    replacement: str = ""
    """What to write instead; "" where there is no one thing."""
    confidence: Confidence = Confidence.HIGH
    caution: bool = False
    """Whether what runs has a catch."""
    fixable: bool = False
    """Whether ``--fix`` replaces it."""
    evidence: tuple[Evidence, ...] = ()

    @property
    def quiet(self) -> bool:
        """Whether there is nothing to do about it."""
        return self.verdict is Verdict.NATIVE and not self.caution


@dataclass(frozen=True, slots=True, order=True)
class SkippedFile:
    """A file that could not be read, and why."""

    file: str
    reason: str


@dataclass(frozen=True, slots=True)
class LintTarget:
    """The findings on one target."""

    target: Target
    findings: tuple[LintFinding, ...]
    answers: str = ""
    """Why the target answers to CUDA's names, where it does."""
    transfers: tuple[Transfer, ...] = ()
    """What the vendor ships that helps with any of them."""

    @property
    def counts(self) -> Mapping[Verdict, int]:
        """Findings by verdict, those with a catch apart from them."""
        return Counter(f.verdict for f in self.findings if not f.caution)

    @property
    def cautions(self) -> int:
        """Findings that run with a catch."""
        return sum(finding.caution for finding in self.findings)


@dataclass(frozen=True, slots=True)
class Lint:
    """What ``opcheck lint`` found."""

    opcheck_version: str
    path: str
    files: int
    """How many were read."""
    targets: tuple[LintTarget, ...]
    skipped: tuple[SkippedFile, ...] = ()
    ignored: int = 0
    """Places that a comment in the source silences."""
    changed: tuple[str, ...] = ()
    """Files that were, or would be, changed."""
    diff: str = field(default="", repr=False)
    """The changes as a unified diff, where they were not written."""
    written: bool = False
