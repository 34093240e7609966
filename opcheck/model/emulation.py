"""What happened when a model ran on an emulated device."""

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct, field

from opcheck.errors import EmulationError, OpcheckError
from opcheck.model.report import KernelCount, ModelInfo, Reason
from opcheck.model.request import ModelSpec
from opcheck.model.shown import Shown
from opcheck.model.target import TargetSpec
from opcheck.model.trace import Gap, Phase
from opcheck.model.verdict import Verdict

SCHEMA = "opcheck.emulation/1"


class Site(Struct, frozen=True, order=True):
    """Where in the user's code a call came from."""

    module: str
    """Module path with layer numbers as ``*``; "" where none is known."""
    file: str
    """The user's file, relative to the working directory or to its package; "" if none."""
    line: int
    """1-based line in ``file``; 0 if none."""


class Happened(StrEnum):
    """What an event on a device is."""

    ASKED = "asked"
    """A call reached a kernel of the device."""
    LACKED = "lacked"
    """A call found no kernel."""
    STAYED = "stayed"
    """A kernel ran on the device."""
    LEFT = "left"
    """A call ran on the host."""
    REFUSED = "refused"
    CAUTION = "caution"
    """A call ran otherwise than on the host."""
    STEPPED = "stepped"
    """An optimizer took a step."""
    CALLED = "called"
    """An outermost module was called."""
    NOTE = "note"
    GAP = "gap"
    """Something was not seen: the place stands for the operator."""


class Event(Struct, frozen=True):
    """One thing that happened on a device; added up, they are what is said of a run."""

    kind: Happened
    op: str = ""
    phase: Phase = Phase.FORWARD
    reason: Reason | None = None
    text: str = ""
    """The error of a refusal, or the sentence of a note."""
    nbytes: int = 0
    """Bytes that crossed; of ASKED, the most that were live at once until then."""
    by_condition: bool = False
    """Whether a condition refuses it, and not the lack of a kernel."""
    verdict: Verdict = Verdict.NATIVE
    """Of a caution: NATIVE, or UNKNOWN where nobody has said whether the device takes it."""
    site: Site | None = None


class Refusal(Struct, frozen=True):
    """A call that the device refuses: no kernel anywhere, or a use that it does not take."""

    op: str
    """Schema spelling."""
    reason: Reason
    error: str
    """What the device raises: the exception's type and its text."""
    count: int
    phase: Phase
    sites: tuple[Site, ...]
    counts: tuple[int, ...] = ()
    """Calls from each of ``sites``, in their order; () where that is not known."""


class HostCalls(Struct, frozen=True):
    """Calls of one overload that ran on the host because the device has no kernel for them."""

    op: str
    reason: Reason
    count: int
    nbytes: int
    """Bytes that crossed between device and host for all of them."""
    phase: Phase
    sites: tuple[Site, ...]
    counts: tuple[int, ...] = ()
    """Calls from each of ``sites``, in their order; () where that is not known."""


class Caution(Struct, frozen=True):
    """Calls that ran, but otherwise than on the host: in another dtype, or slowly."""

    op: str
    reason: Reason
    count: int
    phase: Phase
    sites: tuple[Site, ...]
    verdict: Verdict = Verdict.NATIVE
    """UNKNOWN where nobody has said whether the device takes them."""
    counts: tuple[int, ...] = ()
    """As of host calls."""


class Difference(Struct, frozen=True):
    """One output, gradient or parameter, computed on the device and on the host."""

    name: str
    """``output``, ``output[0]``, ``grad of encoder.weight``, ``encoder.weight after the step``."""
    shape: tuple[int, ...]
    dtype: str
    largest: float | None
    """Largest absolute difference; None where one side has NaN or infinity and the other not."""

    @property
    def of_backward(self) -> bool:
        """Whether it is what a backward or a step gives: a gradient, or a parameter after it."""
        return is_of_backward(self.name)


def gradient_of(name: str) -> str:
    """What the gradient of a tensor is called."""
    return f"{_GRADIENT}{name.replace(_HIDDEN, '')}"


def after_step(name: str) -> str:
    """What a parameter is called once the optimizer has changed it."""
    return f"{name.replace(_HIDDEN, '')}{_AFTER}"


def is_of_backward(name: str) -> bool:
    """Whether such a name is one of these two, and not that of an output."""
    return is_gradient(name) or is_after_step(name)


def is_gradient(name: str) -> bool:
    """Whether such a name is that of a gradient."""
    return name.startswith(_GRADIENT)


def is_after_step(name: str) -> bool:
    """Whether such a name is that of a parameter after the step."""
    return name.endswith(_AFTER)


_GRADIENT, _AFTER = "grad of ", " after the step"
_HIDDEN = "_orig_mod."
"""What wraps a model that is compiled, or called several times; no path shows it."""


class Disagreement(Struct, frozen=True):
    """One overload that the scan predicted otherwise than the dispatcher was asked."""

    op: str
    kind: str
    """``native`` (kernels that ran), ``missing`` (no kernel) or ``refused`` (conditions)."""
    phase: Phase
    predicted: int
    """How often the scan says."""
    asked: int
    """How often the dispatcher asked."""


class Agreement(Struct, frozen=True):
    """The scan's prediction compared with what the dispatcher did."""

    native: int
    """Distinct native kernels asked for in either."""
    missing: int
    """Distinct missing overloads asked for in either."""
    refused: int
    """Distinct overloads refused by a condition in either."""
    disagreements: tuple[Disagreement, ...]
    ended: str = ""
    """What ended the run early that the prediction was compared with; "": it came to its end."""

    @property
    def whole(self) -> bool:
        """Whether all of the prediction came true, of a run that came to its end."""
        return not (self.disagreements or self.ended)


class Emulation(Shown, frozen=True):
    """One run on one emulated device."""

    command = "emulate"

    opcheck_version: str
    torch_version: str
    target: str
    """``str(Target)``."""
    database_digest: str
    model: ModelInfo
    mode: str
    """``inference`` or ``train``."""
    values: bool
    """Whether it computed, or only followed shapes."""
    finished: bool
    """Whether the run came to its end, counting what was refused as done."""
    error: str
    """What ended it otherwise: the exception's type and text; "" if finished."""
    error_site: Site | None
    refusals: tuple[Refusal, ...]
    host_calls: tuple[HostCalls, ...]
    cautions: tuple[Caution, ...]
    islands: int
    """Maximal runs of kernels that stay on the device between host calls."""
    kernels: tuple[KernelCount, ...]
    """Every overload that the device was asked to run, missing ones included."""
    differences: tuple[Difference, ...] | None = None
    """Device against host; None unless it computed."""
    agreement: Agreement | None = None
    """None unless the scan's prediction was asked for."""
    notes: tuple[str, ...] = ()
    """What rests on an assumption, and what is not emulated here."""
    error_source: str = ""
    """The line of source at ``error_site``; "" where it cannot be read."""
    gaps: tuple[Gap, ...] = ()
    """What the run could not show: it counts as unknown."""
    memory_peak: int = 0
    """Most bytes of tensors that were live on the device at once; 0 where there were none."""

    @property
    def runs(self) -> bool | None:
        """Whether the device would take the whole run; None where nobody has said so of a call."""
        if not self.finished or self.refusals:
            return False
        return None if self.unknown or self.gaps else True

    @property
    def unknown(self) -> tuple[Caution, ...]:
        """Calls of which nobody has said whether the device takes them."""
        return tuple(item for item in self.cautions if item.verdict is Verdict.UNKNOWN)


class EmulationRequest(Struct, frozen=True):
    """One model to run on one emulated device."""

    model: ModelSpec
    target: TargetSpec
    values: bool = False
    """Whether to compute on the host, and compare with a run there."""
    stop: bool = False
    """Whether to stop at the first call that the device refuses."""
    check: bool = False
    """Whether to compare the run with the scan's prediction."""
    gradients: bool = False
    """Whether to take gradients of a forward's results, of random numbers, and compare those."""
    databases: tuple[str, ...] = ()
    """Folders of overlays, of which the last one holds."""
    shims: tuple[str, ...] = ()
    """Files with further kernels for the device."""


class PartialEmulationError(EmulationError):
    """The model's process ended before the model did; ``emulation`` is what it did until then."""

    def __init__(
        self, error: OpcheckError, emulation: Emulation, steps: int = 0, forwards: int = 0
    ) -> None:
        super().__init__(error.message, error.hint)
        self.emulation = emulation
        self.steps, self.forwards = steps, forwards


class Asked(Struct, frozen=True):
    """How often a device was asked for what, by overload and phase: what two runs compare."""

    native: Mapping[tuple[str, Phase], int] = field(default_factory=dict)
    missing: Mapping[tuple[str, Phase], int] = field(default_factory=dict)
    refused: Mapping[tuple[str, Phase], int] = field(default_factory=dict)
