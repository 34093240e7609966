"""Whatever the process that runs the user's model can be asked, and with what it may use."""

from collections.abc import Mapping

from msgspec import Struct, field

from opcheck.lang.sentence import Sentence
from opcheck.model.emulation import Difference, EmulationRequest
from opcheck.model.exporting import ExportRequest
from opcheck.model.fusing import FuseRun, FuseSpec
from opcheck.model.limits import Profile
from opcheck.model.padding import PadRun, PadSpec
from opcheck.model.request import ModelSpec
from opcheck.model.script import ScriptRequest
from opcheck.model.work import WorkRequest

STACK_SECONDS = 0.3
"""So long before its time is over the process writes where the code stands."""
JOURNAL = "{}.jsonl"
"""The file for what is recorded towards the answer of a number."""
FIRST_JOURNAL = JOURNAL.format(0)
AT_ONCE = 2
"""Processes that work side by side, and share what memory there is."""


class Tolerance(Struct, frozen=True):
    """How far what replaces an overload may be off."""

    eps: float
    """In ``eps`` of the largest value."""
    calls: tuple[str, ...]
    """The model's own calls that it is inside of, which may run as something else on the host."""


class LayerClass(Struct, frozen=True):
    """The class of a layer."""

    module: str
    """The Python module that it is in."""
    name: str
    """With the classes that it is in."""
    package: str
    """The distribution that it is of; "" where none is known."""
    version: str
    users: bool = False
    """Whether it is the user's own."""

    @property
    def shown(self) -> str:
        """As people name it: ``timm 1.0.31's WindowAttention``."""
        return f"{self.package} {self.version}'s {self.name}"


class HostRequest(Struct, frozen=True):
    """One model to run on the host, with values: as it is, or as it became."""

    model: ModelSpec
    keep: str = ""
    """The file to write the results to."""
    against: str = ""
    """The file of results, written so, to compare with."""
    tolerances: Mapping[str, Tolerance] = field(default_factory=dict)
    """Overload -> how far what replaces it may be off; how far that moves results is then found."""
    layers: tuple[str, ...] = ()
    """Paths of layers, numbers as ``*``, to tell the classes of; nothing is run then."""


class HostRun(Struct, frozen=True):
    """A model that ran on the host."""

    forward: tuple[Difference, ...]
    """From the results that it was to be compared with."""
    backward: tuple[Difference, ...]
    """From the gradients that it was to be compared with."""
    no_backward: str = ""
    """Why there are no gradients."""
    moved: Mapping[str, float] | None = field(default_factory=dict)
    """Result or gradient -> how far the tolerances move it, for those that they move; None where
    this torch cannot tell."""
    classes: Mapping[str, tuple[LayerClass, ...]] = field(default_factory=dict)
    """Path of layers that were asked for -> their classes."""


class Replacement(Struct, frozen=True):
    """One overload to replace in a program."""

    replaces: str
    """Schema spelling; the graph calls it, or a composite that runs as it."""
    rule: str
    """Name of the rule that stands for it."""


class GraphRequest(Struct, frozen=True):
    """One exported program to write anew with other calls in it."""

    model: ModelSpec
    replacements: tuple[Replacement, ...]
    path: str
    """The file to write it to; "" where there is none to write."""
    rules: tuple[str, ...] = ()
    """Folders of the user's own rules."""
    fuse: FuseSpec | None = None
    """What to fuse calls into, instead of replacing any; None: nothing."""
    pad: PadSpec | None = None
    """What to write a wrapper for that pads, instead of a program; None: nothing."""


class GraphRun(Struct, frozen=True):
    """A program that was written."""

    left: Mapping[str, str]
    """Overload that was to be replaced -> why some call of it stays."""
    fused: FuseRun | None = None
    """What was fused, where that was asked for."""
    padded: PadRun | None = None
    """The wrapper, where that was asked for."""


Request = (
    WorkRequest | EmulationRequest | HostRequest | GraphRequest | ScriptRequest | ExportRequest
)
"""Whatever the process can be asked."""


class Job(Struct, frozen=True):
    """A request as the process gets it, with what it may use."""

    request: Request
    memory: int
    """Bytes that it may allocate."""
    ends: float | None
    """When it is ended, as ``time.time`` tells it; None: never."""
    stack: str
    """The file to write to where the code stands when it crashes or time runs out."""
    shared: bool = False
    """Whether copies of the process share its memory, instead of having as much each."""
    journals: str = ""
    """The folder for what is traced so far, one file a trace; "": it is not kept."""
    aside: int | None = None
    """File descriptor for what is printed by copies beside the first, which print the same."""
    at_once: int = AT_ONCE
    """How many copies of the process may work side by side."""
    limits: Profile | None = None
    """What the process may do beside that; None: whatever its user may."""
    code: bool = False
    """Whether it runs code that the user knows of, rather than reads a model file."""

    @property
    def memory_hint(self) -> Sentence:
        """What either process says when memory ran out."""
        if isinstance(self.request, EmulationRequest | ScriptRequest) and self.request.values:
            return Sentence("raise --memory, give smaller inputs, or leave --values out")
        return Sentence("raise --memory, or do not load weights: they are not needed")
