"""What sources of the user's say that no dispatcher ever sees, and how that fares on targets."""

from collections import Counter
from collections.abc import Mapping

from msgspec import Struct

from opcheck.model.porting import Transfer
from opcheck.model.target import Target, TargetSpec
from opcheck.model.verdict import Confidence, Evidence, Verdict

SCHEMA = "opcheck.lint/1"


class LintRequest(Struct, frozen=True):
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


class Span(Struct, frozen=True, order=True):
    """Where something is written: lines and columns from 1, the end is one behind."""

    line: int
    column: int
    end_line: int
    end_column: int


class LintFinding(Struct, frozen=True):
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


class SkippedFile(Struct, frozen=True, order=True):
    """A file that could not be read, and why."""

    file: str
    reason: str


class LintTarget(Struct, frozen=True):
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


class Lint(Struct, frozen=True):
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
    diff: str = ""
    """The changes as a unified diff, where they were not written."""
    written: bool = False
