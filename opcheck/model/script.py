"""A script that is run as it stands on an emulated device, and what became of it."""

import shlex
from collections.abc import Mapping, Sequence
from enum import StrEnum

from msgspec import Struct, field

from opcheck.errors import EmulationError, OpcheckError, UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.comparison import Comparison, Outputs
from opcheck.model.emulation import Emulation, Site
from opcheck.model.plan import PlanSummary
from opcheck.model.report import Finding, Reason
from opcheck.model.request import ModelSpec
from opcheck.model.shown import Shown
from opcheck.model.target import TargetSpec
from opcheck.model.verdict import Confidence, Evidence

SCHEMA = "opcheck.run/1"
ACCELERATE = "accelerate"
"""It starts one process as Python would."""
_LAUNCHERS = ("torchrun", ACCELERATE, "deepspeed", "python", "python3", "ipython")
_BY_MODULE = {
    "torch.distributed.run": "torchrun",
    "torch.distributed.launch": "torch.distributed.launch",
    "accelerate.commands.launch": ACCELERATE,
    "deepspeed.launcher.runner": "deepspeed",
}
"""Launchers that Python runs as modules."""
_RANK_GIVEN = {"deepspeed": "--local_rank=0", "torch.distributed.launch": "--local-rank=0"}
"""What launchers hand the script before its own arguments."""
_NOT_GIVEN = ("--no_local_rank", "--use-env", "--use_env")
_NOTEBOOK = ".ipynb"
_MODULE = ("-m", "--module")
_PROCESSES = ("nproc-per-node", "num-processes", "num-gpus", "nnodes", "num-nodes")
"""Options of launchers that say how many processes there are."""


class ScriptSpec(Struct, frozen=True):
    """What is run, as ``python`` would be given it."""

    name: str
    """A file, Python or a notebook, or the name of a module."""
    module: bool = False
    """Whether it is the name of a module, as with ``python -m``."""
    argv: tuple[str, ...] = ()
    """The script's own arguments."""
    launcher: str = ""
    """The program that was to start it: ``torchrun``; "" for none but Python."""
    options: tuple[str, ...] = ()
    """The launcher's own arguments."""
    processes: int = 1
    """How many processes the launcher was to start."""
    cells: tuple[str, ...] = ()
    """What was typed in a session of IPython, in the place of a file; its name is the last's."""

    def __str__(self) -> str:
        return self.name

    @property
    def notebook(self) -> bool:
        """Whether it is a notebook or a session, whose cells are run in their order."""
        return bool(self.cells) or (not self.module and self.name.endswith(_NOTEBOOK))

    @property
    def is_file(self) -> bool:
        """Whether there is a file of its name."""
        return not (self.module or self.cells)

    @property
    def command(self) -> tuple[str, ...]:
        """What a shell would be given after ``python``."""
        return (*(["-m"] if self.module else []), self.name, *self.argv)

    @property
    def text(self) -> str:
        """The whole command line, launcher and all, as a shell takes it."""
        launcher = [self.launcher, *self.options] if self.launcher else []
        return shlex.join([*launcher, *self.command])

    @property
    def grouped(self) -> bool:
        """Whether what starts it says in the environment which of how many processes it is."""
        return self.processes > 1 or self.launcher not in ("", ACCELERATE)

    @staticmethod
    def parse(words: Sequence[str], *, module: bool = False) -> "ScriptSpec":
        """Read a script with its arguments, or the command line of a launcher with both.

        Raises:
            UsageError: there is none, or a launcher's command line names none.
        """
        name, *rest = words
        if module:
            return ScriptSpec(name, True, tuple(rest))
        launcher = name.replace("\\", "/").rpartition("/")[2]
        if launcher not in _LAUNCHERS:
            return ScriptSpec(name, False, tuple(rest))
        return ScriptSpec._launched(launcher, rest)

    @staticmethod
    def _launched(launcher: str, rest: Sequence[str]) -> "ScriptSpec":
        """Read what follows a launcher on its command line."""
        place = next((i for i, word in enumerate(rest) if _begins(word)), None)
        if place is None or (rest[place] in _MODULE and place + 1 == len(rest)):
            raise UsageError(
                Sentence("the command line of {name} names no script", name=launcher),
                Sentence("write it whole, as in -- {name} train.py --lr 0.1", name=launcher),
            )
        by_module = rest[place] in _MODULE
        start = place + by_module
        script, argv, options = rest[start], tuple(rest[start + 1 :]), tuple(rest[:place])
        if "python" in launcher:
            if by_module and script in _BY_MODULE:
                return ScriptSpec._launched(_BY_MODULE[script], argv)
            return ScriptSpec(script, by_module, argv)
        if launcher in _RANK_GIVEN and not set(options) & set(_NOT_GIVEN):
            argv = (_RANK_GIVEN[launcher], *argv)
        return ScriptSpec(script, by_module, argv, launcher, options, _processes(options))


def _begins(word: str) -> bool:
    """Whether a word of a launcher's command line is where the script is named."""
    return word.endswith((".py", _NOTEBOOK)) or word in _MODULE


def _processes(options: Sequence[str]) -> int:
    """How many processes the options of a launcher ask for; 1 where they name no number."""
    found = 1
    for i, word in enumerate(options):
        name, sep, value = word.lstrip("-").replace("_", "-").partition("=")
        if name in _PROCESSES:
            value = value if sep else "".join(options[i + 1 : i + 2])
            found *= int(value) if value.isdecimal() and len(value) < len("10000") else 1
    return max(found, 1)


class Data(StrEnum):
    """What a script finds in place of data sets that are not here."""

    NONE = "none"
    FAKE = "fake"
    """Random images and rows, for those of torchvision and Hugging Face."""


class ScriptRequest(Struct, frozen=True):
    """One script to run on one emulated device."""

    script: ScriptSpec
    model: ModelSpec
    """Its file or module as a source, with the limits of its process."""
    target: TargetSpec
    values: bool = False
    """Whether to compute on the host; else only dtypes, shapes and strides are followed."""
    stop: bool = False
    """Whether a call that the device refuses raises, as it would there."""
    as_cuda: bool = True
    """Whether ``cuda`` is taken for the device, as the vendor's transfer module does."""
    steps: int | None = None
    """After how many optimizer steps the script is ended; None: it is not."""
    forwards: int | None = None
    """After how many forward calls of its outermost modules; None: it is not."""
    write: bool = False
    """Whether what it writes stays."""
    plan: bool = False
    """Whether to look for another way for what the device does not take."""
    data: Data = Data.NONE
    """What stands for data sets that are not here."""
    databases: tuple[str, ...] = ()
    """Folders of overlays, of which the last one holds."""
    compare: bool = False
    """Whether to keep what the run gives, for a run on the CPU and one on the device."""
    on_cpu: bool = False
    """Whether the device takes everything as the CPU does: the run to compare with."""


class Ending(StrEnum):
    """What ended a script."""

    RETURNED = "returned"
    """It came to its end."""
    EXITED = "exited"
    """It called ``sys.exit`` with a status that says that something failed."""
    ENOUGH = "enough"
    """It had taken the steps, or the forward calls, that were asked for."""
    FAILED = "failed"
    """An exception of its own."""
    NOT_EMULATED = "not-emulated"
    """It came to what the emulated device cannot follow, as sparse tensors are."""
    REFUSED = "refused"
    """The device's error, which the script did not catch."""
    CUT = "cut"
    """Its process ended: by a signal, a limit, or the user."""


ENDED_WELL = (Ending.RETURNED, Ending.ENOUGH)
"""Ends of a script that came as far as it was to come."""


class Write(Struct, frozen=True, order=True):
    """A file that a script wrote or took away."""

    path: str
    """Relative to the working directory, where it lies below."""
    nbytes: int | None
    """Its size in the end; None where it was taken away."""


class Frame(Struct, frozen=True):
    """A line of the user's own that an exception passed."""

    file: str
    line: int
    """1-based."""
    function: str
    source: str
    """The line itself; "" where it cannot be read."""


class Fact(Struct, frozen=True):
    """What the database says of a reason that calls of one overload have."""

    op: str
    code: str
    """The reason's."""
    confidence: Confidence
    evidence: tuple[Evidence, ...]


class ChipMemory(Struct, frozen=True):
    """Bytes that products with one chip have, as far as somebody has said."""

    least: int
    most: int


class Basis(Struct, frozen=True):
    """What the answer rests on in the database."""

    device_type: str = ""
    """The name that tensors report: ``npu``."""
    date: str = ""
    """ISO date of the vendor's data; "" where it is not known."""
    facts: tuple[Fact, ...] = ()
    """One for each overload and reason of the run that is no plain good news."""
    advisories: tuple[Reason, ...] = ()
    """What holds for the target as a whole; the run's notes say it too."""
    memory: ChipMemory | None = None
    """What the chip has; None where nobody has said."""


class ScriptPlan(Struct, frozen=True):
    """What to change in a script, by the calls that its device did not take as they are."""

    findings: tuple[Finding, ...]
    """One for each kind of call, worst first, with its suggestions."""
    summary: PlanSummary
    """What these come to once each tier is followed."""


class ScriptRun(Shown, frozen=True):
    """A script that ran on an emulated device."""

    command = "run"

    script: ScriptSpec
    emulation: Emulation
    """What the device was asked for; ``finished`` unless the script failed or was cut off."""
    ending: Ending
    status: int = 0
    """What the script's process would have exited with."""
    steps: int = 0
    """Optimizer steps that it took."""
    forwards: int = 0
    """Calls of its outermost modules."""
    frames: tuple[Frame, ...] = ()
    """The user's own frames of the exception that ended it, outermost first."""
    caught: tuple[Site, ...] = ()
    """Where the device's errors were raised that the script then caught."""
    unrecognized: tuple[str, ...] = ()
    """Words of its command line for which its argparse ended it."""
    writes: tuple[Write, ...] = ()
    """What it wrote that nobody but itself saw, sorted; () where it was let through."""
    basis: Basis = Basis()
    plan: ScriptPlan | None = None
    """What to change; None unless asked for."""
    outputs: Outputs | None = None
    """What the run gave, until it is compared; None unless that is requested."""
    comparison: Comparison | None = None
    """The run compared with one on the CPU; None unless that is requested."""
    files: Mapping[str, str] = field(default_factory=dict)
    """The user's own files whose code was imported -> digest."""

    @property
    def used(self) -> bool:
        """Whether the device was asked for anything at all."""
        return bool(self.emulation.kernels)

    @property
    def fits(self) -> bool | None:
        """Whether its tensors have room; None where that hangs on the product, or is not known."""
        peak, room = self.emulation.memory_peak, self.basis.memory
        if room is None:
            return None
        return True if peak <= room.least else None if peak <= room.most else False

    @property
    def runs(self) -> bool | None:
        """Whether the device takes what was run; None where nothing was, or nobody has said so.

        An exception of the script's own says nothing of the device.
        """
        if self.emulation.refusals:
            return False
        whole = self.ending in ENDED_WELL and self.used
        return self.emulation.runs if whole else None


class PartialRunError(EmulationError):
    """The script's process ended before the script did; ``run`` is what it did until then."""

    def __init__(self, error: OpcheckError, run: ScriptRun) -> None:
        super().__init__(error.message, error.hint)
        self.stop = error.stop
        self.run = run
