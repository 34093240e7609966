"""Expected failures: one class per room, each with the exit code that the command line gives it."""

from collections.abc import Mapping
from enum import IntEnum, StrEnum

from opcheck.lang.sentence import NOTHING, Sentence

EXTRAS: Mapping[str, str] = {
    "packaging": "doctor", "libcst": "fix", "jinja2": "html", "numpy": "probe",
    "expecttest": "probe", "mcp": "mcp",
}  # fmt: skip
"""A library that only some commands import -> the extra of opcheck that brings it."""


class ExitCode(IntEnum):
    """What the process exits with; documented in the README and tested as a table."""

    PASS = 0
    CRASH = 1
    USAGE = 2
    MODEL = 3
    DATABASE = 4
    GATE = 10


class TerminatedError(SystemExit):
    """SIGTERM came: what runs is to end, and may leave what it has."""


class Stop(StrEnum):
    """What ended the process of a model before it had answered."""

    TIME = "time"
    MEMORY = "memory"
    KILLED = "killed"
    """SIGKILL, from whoever: the kernel sends it as well where memory is short."""
    ENDED = "ended"
    """Another signal, or its own code."""


class OpcheckError(Exception):
    """A failure the user can act on: what was wrong and where, and in ``hint`` what to do next.

    Both are sentences, which keep what they are made of until they are shown in some language.
    """

    exit_code = ExitCode.CRASH

    def __init__(self, message: Sentence, hint: Sentence = NOTHING) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.stop: Stop | None = None
        """What ended the model's process, where that is what failed."""
        self.files: Mapping[str, str] = {}
        """The user's own files that had been imported in that process -> digest."""


class UsageError(OpcheckError):
    """The request itself cannot be understood: an unknown target, source or option value."""

    exit_code = ExitCode.USAGE


class SourceError(OpcheckError):
    """The model cannot be found, read or built, or building it is refused."""

    exit_code = ExitCode.MODEL


class TraceError(OpcheckError):
    """The model was built but could not be run far enough to say anything."""

    exit_code = ExitCode.MODEL


class EmulationError(OpcheckError):
    """The model was built but cannot be run on an emulated device, or not with this torch."""

    exit_code = ExitCode.MODEL


class InferenceError(OpcheckError):
    """A model cannot be run on the device that was found or asked for."""

    exit_code = ExitCode.MODEL


class DatabaseError(OpcheckError):
    """A support matrix is missing, damaged or not of this version."""

    exit_code = ExitCode.DATABASE


class WriteRefusedError(PermissionError):
    """A model's code tried to write to a file that is not its own."""


def out_of_memory(error: BaseException | str) -> bool:
    """Whether an error says that memory ran out: torch raises a RuntimeError for it."""
    return isinstance(error, MemoryError) or "DefaultCPUAllocator" in str(error)


def missing_library(error: ModuleNotFoundError) -> UsageError | None:
    """The error to show where a library of an extra is not installed; None for any other module."""
    library = (error.name or "").partition(".")[0]
    if library not in EXTRAS:
        return None
    return UsageError(
        Sentence("this needs {library}, which is not installed", library=library),
        Sentence("pip install 'opcheck[{extra}]'", extra=EXTRAS[library]),
    )
