"""The model's process as its parent sees it: started, read line by line, and ended."""

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import IO

from opcheck import errors
from opcheck.errors import OpcheckError
from opcheck.model.emulation import EmulationRequest
from opcheck.model.jobs import Request
from opcheck.model.script import ScriptRequest
from opcheck.model.work import WorkRequest
from opcheck.sandbox.parent.limits import is_code
from opcheck.sandbox.parent.preloaded import Copy, current
from opcheck.sandbox.reaper import descendants

ERRORS: Mapping[str, type[OpcheckError]] = {
    name: value
    for name, value in vars(errors).items()
    if isinstance(value, type) and issubclass(value, OpcheckError)
}
"""The errors that a process may tell of, by name."""


def signal_name(number: int) -> str:
    """``SIGABRT``; of a signal without a name ``signal 40``."""
    try:
        return signal.Signals(number).name
    except ValueError:  # most of those for real time have no name
        return f"signal {number}"


Event = tuple[str, str]
"""What is heard and the line: ``message`` and ``said``, ``aside`` of copies that say the same as
the first one, and last of all ``ended``."""

_LONGEST_LINE = 4096
_LONGEST_ANSWER = 2**29
_GRACE_SECONDS = 1.0
_END_SECONDS = 5.0
"""So long a reaper has to end what a worker started, before it is ended itself."""
_ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "YOLO_OFFLINE": "true",
    "YOLO_AUTOINSTALL": "false",
    "YOLO_VERBOSE": "false",
    "CUDA_VISIBLE_DEVICES": "-1",  # the same answer on every machine
    "PYTHONHASHSEED": "0",  # and in every process: sets have one order
    "TORCHDYNAMO_DISABLE": "1",  # what torch.compile would wrap is traced as it is written
    "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",  # the emulated device takes that place
}

_PREFIXES = (
    "PATH", "LANG", "LC_", "TZ", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "PWD", "TMP", "TEMP",
    "PYTHON", "VIRTUAL_ENV", "CONDA_PREFIX", "LD_LIBRARY_PATH", "DYLD_", "SYSTEMROOT", "COLUMNS",
    "LINES", "NO_COLOR", "FORCE_COLOR", "OMP_", "MKL_", "KMP_", "OPENBLAS_", "NUMEXPR_", "ATEN_",
    "TORCH_", "PYTORCH_", "TIMM_", "YOLO_", "XDG_", "PYTEST_", "OPCHECK_LANG",
)  # fmt: skip
"""How the names of variables begin that the process of a model file keeps."""

_ONE_THREAD = {"OMP_NUM_THREADS": "1"}
"""With as little to compute as shapes need, threads only wait for each other."""


def environment(request: Request | None) -> Mapping[str, str]:
    """What the process gets: no network, no accelerator, and threads where it computes.

    ``request``: what it works on; None: it reads no model.
    """
    package = str(Path(__file__).resolve().parents[3])
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    paths = [str(Path(path).absolute()) for path in given if path]
    follows_shapes = isinstance(request, EmulationRequest | ScriptRequest) and not request.values
    computes = request is not None and not (isinstance(request, WorkRequest) or follows_shapes)
    whole = request is not None and is_code(request)
    return {
        **(os.environ if whole else _without_secrets(os.environ)),
        **_ENVIRONMENT,
        **({} if computes else _ONE_THREAD),
        "PYTHONPATH": os.pathsep.join([*paths, package]),
        "PYTHONUTF8": "1",
    }


def _without_secrets(environment: Mapping[str, str]) -> Mapping[str, str]:
    """What an interpreter and its libraries read; no keys and tokens that a shell has beside it."""
    return {name: text for name, text in environment.items() if name.upper().startswith(_PREFIXES)}


def total_memory() -> int:
    """Bytes of memory that this machine, or the container around us, has."""
    sizes = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    group = Path("/sys/fs/cgroup/memory.max")
    with contextlib.suppress(OSError, ValueError):  # absent, or "max"
        sizes.append(int(group.read_text()))
    return min(sizes)


class Started(subprocess.Popen[str]):
    """A worker that was started, under a reaper that ends what it leaves behind."""

    def end(self) -> None:
        """End it with all that it started."""
        if self.poll() is None:
            self.terminate()  # the reaper ends the others, and then itself
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.wait(_END_SECONDS)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        self.kill()
        self.wait()


def _started(request: Request, files: Collection[int]) -> Started | Copy:
    """A worker with these files open: a copy where there is what to copy, or started.

    A library has asked torch what it has when it was imported: where some of that is to be hidden,
    nothing is copied that has loaded libraries.
    """
    template, given = current(), environment(request)
    late = bool(request.model.older_torch and template is not None and template.libraries)
    copy = None if template is None or late else template.copy(given, files)
    if copy is not None:
        return copy
    # -P: a file of the user's named like a library must not be taken for it
    return Started(
        [sys.executable, "-P", "-m", "opcheck.sandbox.reaper", "opcheck.sandbox.child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
        env=given,
        start_new_session=True,
        pass_fds=files,
    )


class WorkerProcess:
    """A worker that waits for its job."""

    def __init__(self, request: Request) -> None:
        self.events: queue.Queue[Event] = queue.Queue()
        pipe = os.pipe() if os.name == "posix" else None
        self.aside = pipe[1] if pipe else None
        """What copies of the worker write to beside the first: a file descriptor there."""
        self.popen = _started(request, pipe[1:] if pipe else ())
        streams = {"message": self.popen.stdout, "said": self.popen.stderr}
        if pipe:
            os.close(pipe[1])
            streams["aside"] = os.fdopen(pipe[0], encoding="utf-8", errors="replace")
        threading.Thread(target=self._listen, args=(streams,), daemon=True).start()

    def feed(self, text: str) -> None:
        """Hand over the job; a worker that is dead by now is noticed later."""
        assert self.popen.stdin is not None  # asked for above
        with contextlib.suppress(BrokenPipeError), self.popen.stdin:
            self.popen.stdin.write(text)

    def descendants(self, most: int) -> Collection[int]:
        """The processes that it started and those started by them, at least ``most`` if so many."""
        return descendants(self.popen.pid, most)

    def kill(self) -> None:
        """End the process and all that it started."""
        self.popen.end()

    def _listen(self, streams: Mapping[str, IO[str] | None]) -> None:
        """Queue every line of the process, and then that it ended."""
        pumps = [
            threading.Thread(target=self._pump, args=(stream, name), daemon=True)
            for name, stream in streams.items()
        ]
        for pump in pumps:
            pump.start()
        self.popen.wait()
        for pump in pumps:
            pump.join(_GRACE_SECONDS)  # a process that it started may hold the pipes open
        self.events.put(("ended", ""))

    def _pump(self, stream: IO[str], name: str) -> None:
        with contextlib.suppress(ValueError), stream:
            # what the model prints may never end its line; an answer is one line, however long
            longest = _LONGEST_ANSWER if name == "message" else _LONGEST_LINE
            while line := stream.readline(longest):
                self.events.put((name, line.rstrip("\n")))
