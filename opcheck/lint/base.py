"""What a check of sources is, what it sees, and what it says of that on a target."""

import functools
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import ClassVar

from msgspec import Struct, field
from msgspec.structs import replace

from opcheck.lang.sentence import Sentence
from opcheck.lint.python_source import PythonSource
from opcheck.lint.sources import KernelSource
from opcheck.model.launches import KernelCode, TritonCompiler
from opcheck.model.matrix import Compiler
from opcheck.model.porting import CudaNames, Porting, Span
from opcheck.model.verdict import Confidence, Evidence, Verdict


class Spot(Struct, frozen=True):
    """A piece of a source that may be replaced: offsets of characters, and what stands there."""

    start: int
    end: int
    written: str


class Sighting(Struct, frozen=True):
    """One place that a check has something to say about, whatever the target."""

    span: Span
    written: str
    """What the source says, imports resolved: ``torch.cuda.synchronize``."""
    topic: str = ""
    """What of the check it is."""
    guard: str = ""
    """Why it is not reached where CUDA is missing; "" where it is."""
    spot: Spot | None = None
    kernel: KernelCode | None = None
    """What was read of a kernel, where it is one."""


class Judgement(Struct, frozen=True):
    """How a sighting fares on a target."""

    verdict: Verdict
    text: str
    replacement: str = ""
    confidence: Confidence = Confidence.HIGH
    caution: bool = False
    edit: str | None = None
    """What to put at the sighting's spot; None where that is not plain."""
    evidence: tuple[Evidence, ...] = ()


class Ground(Struct, frozen=True, dict=True):
    """What sightings are compared with: a target's words, and what is so on all of them."""

    porting: Porting
    names: CudaNames
    compilers: Mapping[str, Compiler] = field(default_factory=dict)
    """What becomes of code that a back end of ``torch.compile`` is to compile, by its name."""
    triton: TritonCompiler | None = None
    """The Triton that compiles for the target, or that there is none; None: nobody has said."""
    chip: str = ""

    @functools.cached_property
    def answered(self) -> Judgement:
        """That a target answers to CUDA's names."""
        words = self.porting
        why = words.answers or "the device answers to cuda"
        return Judgement(Verdict.NATIVE, why, evidence=words.known_by("answers", "device"))

    def raises(
        self, text: str, replacement: str = "", edit: str | None = None, *topics: str
    ) -> Judgement:
        """That it raises an error there."""
        return Judgement(
            Verdict.UNSUPPORTED, text, replacement, edit=edit,
            evidence=self.porting.known_by(*topics),
        )  # fmt: skip


class Check(ABC):
    """One thing to look for; a file in ``checks`` is all that a new one needs."""

    name: ClassVar[str]
    """The code of its findings: ``cuda-call``."""
    topic: ClassVar[str] = ""
    """What a vendor's transfer module must cover to help."""

    def in_python(self, source: PythonSource) -> Iterator[Sighting]:
        """What it sees in a Python source."""
        yield from ()

    def in_kernels(self, source: KernelSource) -> Iterator[Sighting]:
        """What it sees in a source for CUDA's compiler, or in C++."""
        yield from ()

    @abstractmethod
    def judge(self, seen: Sighting, ground: Ground) -> Judgement | None:
        """How a sighting fares; None where it does not concern the target."""


def unreached(found: Judgement, guard: str) -> Judgement:
    """A judgement of what stands behind a guard that is closed on the target."""
    if not guard or found.verdict is not Verdict.UNSUPPORTED:
        return found
    return replace(
        found,
        verdict=Verdict.FALLBACK,
        text=Sentence("{said_guard}; if it were, it {said}", said_guard=guard, said=found.text),
    )
