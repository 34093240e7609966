"""Code written for CUDA - how it is written for a target, and what a lint of sources found."""

from collections import Counter
from collections.abc import Mapping

from msgspec import Struct, field

from opcheck.model.target import Target, TargetSpec
from opcheck.model.verdict import Confidence, Evidence, Verdict

CUDA = "cuda"
"""The device type that such code names."""


class NameAdvice(Struct, frozen=True):
    """What a vendor or PyTorch says of one name."""

    use: str
    """What to write instead; "" where nothing is named."""
    text: str = ""
    evidence: tuple[Evidence, ...] = ()


class Package(Struct, frozen=True):
    """A Python package made for CUDA."""

    use: str
    """What does the same in PyTorch; "" where nothing does."""
    text: str
    vendors: frozenset[str]
    """Whose devices its own page names."""
    evidence: tuple[Evidence, ...] = ()


class Transfer(Struct, frozen=True):
    """What a vendor ships that takes CUDA's names for its own: tier 2."""

    write: str
    text: str
    covers: frozenset[str]
    """Topics: ``device``, ``method``, ``module``, ``nccl``, ``tensor-type``, ``extension``."""
    evidence: tuple[Evidence, ...] = ()


class CudaNames(Struct, frozen=True):
    """What is so of code for CUDA on every other device."""

    quiet: Mapping[str, str]
    """Of ``torch.cuda``, what does not raise without CUDA -> what comes of it."""
    deprecated: Mapping[str, NameAdvice]
    packages: Mapping[str, Package]


class Porting(Struct, frozen=True):
    """One vendor's words for what CUDA has."""

    vendor: str
    device: str
    """The device type: ``npu``."""
    module: str = ""
    """What stands for ``torch.cuda``; "" where nothing does."""
    package: str = ""
    """What has to be imported beside torch; "" for nothing."""
    autoloads: bool = False
    """Whether torch from 2.5 on imports that package by itself."""
    method: bool = False
    """Whether tensors and modules have a method of the device's name."""
    collectives: str = ""
    extension: str = ""
    """What stands for ``CUDAExtension``."""
    hip: bool = False
    """Whether extensions for CUDA are turned into HIP as they are built."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variable of CUDA -> the vendor's."""
    monitor: str = ""
    """What stands for ``nvidia-smi``."""
    same: frozenset[str] = frozenset()
    """Names that ``module`` has as ``torch.cuda`` has them."""
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Name in ``torch.cuda`` -> name in ``module``, or a whole dotted one."""
    unsupported: Mapping[str, NameAdvice] = field(default_factory=dict)
    """Dotted names that the vendor says it does not support."""
    deprecated: Mapping[str, NameAdvice] = field(default_factory=dict)
    answers: str = ""
    """Why the device answers to CUDA's names, where it does."""
    transfers: tuple[Transfer, ...] = ()
    cited: Mapping[str, tuple[Evidence, ...]] = field(default_factory=dict)
    """Field -> how that is known."""

    @property
    def answers_cuda(self) -> bool:
        """Whether tensors on the device say that they are on ``cuda``."""
        return self.device == CUDA

    def known_by(self, *topics: str) -> tuple[Evidence, ...]:
        """How fields are known."""
        found = (fact for topic in topics for fact in self.cited.get(topic, ()))
        return tuple(dict.fromkeys(found))

    def counterpart(self, name: str) -> str:
        """What stands for ``torch.cuda.NAME``, dotted; "" where nothing does."""
        renamed = self.renamed.get(name, "")
        if "." in renamed:
            return renamed
        found = renamed or (name if name in self.same else "")
        return f"{self.module}.{found}" if found else ""


LINT_SCHEMA = "opcheck.lint/1"


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
