"""Load and run a model in a process of its own, under a time and a memory limit.

Whatever the user's code does to that process, the caller gets a result or one clear error.
"""

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Generic, Self, TypeVar

from opcheck import errors
from opcheck.errors import EmulationError, OpcheckError, SourceError, TraceError
from opcheck.model.codec import MalformedError, from_json, to_json
from opcheck.model.emulation import Emulation, EmulationRequest
from opcheck.model.work import STACK_SECONDS, Job, WorkRequest, WorkResult
from opcheck.source.base import LoadOptions
from opcheck.source.inputs import InputSpec
from opcheck.source.select import select
from opcheck.source.user_code import innermost

MEMORY_SHARE = 0.8
"""Part of the machine's memory that the model's process may use where no limit was given."""
_AT_ONCE = 2
"""Processes that work side by side, and share what memory there is."""
_KEPT_LINES = 20
_LONGEST_LINE = 4096
_GRACE_SECONDS = 1.0
_ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "YOLO_OFFLINE": "true",
    "YOLO_AUTOINSTALL": "false",
    "YOLO_VERBOSE": "false",
    "CUDA_VISIBLE_DEVICES": "-1",  # the same answer on every machine
    "TORCHDYNAMO_DISABLE": "1",  # what torch.compile would wrap is traced as it is written
    "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",  # the emulated device takes that place
}

_ONE_THREAD = {"OMP_NUM_THREADS": "1"}
"""With as little to compute as shapes need, threads only wait for each other."""
_STAGES: Mapping[str, type[OpcheckError]] = {
    "load": SourceError,
    "trace": TraceError,
    "emulate": EmulationError,
}
"""What the process is at -> the error of a failure there."""

Say = Callable[[str], None]
Request = WorkRequest | EmulationRequest
T = TypeVar("T", bound=WorkResult | Emulation)


def _ignore(text: str) -> None:
    """Hear nothing."""


class Work(Generic[T]):
    """One request being worked on; leaving the ``with`` block ends the process."""

    def __init__(
        self,
        request: Request,
        answer: type[T],
        *,
        timeout: float | None = None,
        memory: float | None = None,
    ) -> None:
        self._answer = answer
        self._timeout = timeout
        self._started = time.monotonic()
        self._doing = f"loading {request.source}"
        self._failure: type[OpcheckError] = SourceError
        self._said: deque[str] = deque(maxlen=_KEPT_LINES)
        self._events: queue.Queue[tuple[str, str]] = queue.Queue()
        handle, stack = tempfile.mkstemp(prefix="opcheck-")
        os.close(handle)
        self._stack = Path(stack)
        limit = int(memory * 2**30) if memory else int(total_memory() * MEMORY_SHARE)
        self._job = Job(request, limit, timeout, str(self._stack))
        self._process = _start(environment(request))
        _feed(self._process, json.dumps(to_json(self._job)))
        threading.Thread(target=_listen, args=(self._process, self._events), daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _kill(self._process)
        self._stack.unlink(missing_ok=True)

    def result(self, progress: Say = _ignore, output: Say = _ignore) -> T:
        """Wait for the answer; ``progress`` hears the stages, ``output`` what the model prints."""
        while True:
            name, text = self._next()
            if name == "ended":
                raise self._died()
            if name == "said":
                self._said.append(text)
                output(text)
            else:
                answer = self._message(text, progress)
                if answer is not None:
                    return answer

    def _next(self) -> tuple[str, str]:
        left = self._left()
        with contextlib.suppress(queue.Empty):
            if left is None or left > 0:
                return self._events.get(timeout=left)
        raise self._took_too_long()

    def _left(self) -> float | None:
        """Seconds until time runs out; None: it never does."""
        if self._timeout is None:
            return None
        return self._started + self._timeout - time.monotonic()

    def _took_too_long(self) -> OpcheckError:
        return self._failure(
            f"no answer within {self._timeout:g} s while {self._doing}{self._where()}",
            "give it longer with --timeout, or look for an endless loop there",
        )

    def _message(self, text: str, progress: Say) -> T | None:
        """Act on one message; the result if it is the last."""
        try:
            message: Mapping[str, Any] = json.loads(text)
            if "result" in message:
                return from_json(self._answer, message["result"])
            if "error" in message:
                name, what, hint = message["error"]
                raise _ERRORS[name](what, hint)
            if "stopped" in message:
                what, hint = message["stopped"]
                raise self._failure(f"the model's code {what} while {self._doing}", hint)
            if "crash" in message:
                raise RuntimeError(f"opcheck failed in the model's process:\n{message['crash']}")
            self._failure = _STAGES[message["stage"]]
            self._doing = message["progress"]
        except (MalformedError, ValueError, KeyError, TypeError) as error:
            raise self._failure(
                f"the model's process sent what is not an answer while {self._doing}: {error}",
                "the model's code must leave file descriptors that it did not open alone",
            ) from error
        progress(self._doing)
        return None

    def _died(self) -> OpcheckError:
        """Say how the process ended without an answer."""
        code = self._process.wait()
        if code >= 0:
            return self._failure(
                f"the model's code ended the process with exit code {code} while {self._doing}",
                "take calls of os._exit out of the code that builds and runs the model",
            )
        name, left = signal.Signals(-code).name, self._left()
        if name == "SIGSEGV" and left is not None and left < STACK_SECONDS:
            # faulthandler reads the stacks of threads that go on, and may stumble over one
            return self._took_too_long()
        crashed = f"native code crashed; {self._last_words()}"
        hint = self._job.memory_hint if name == "SIGKILL" else crashed
        return self._failure(
            f"the model's process was ended by {name} while {self._doing}{self._where()}", hint
        )

    def _where(self) -> str:
        """Where in the user's code the process stood, if it could still say so."""
        place = innermost(self._stack.read_text(encoding="utf-8", errors="replace"))
        return f" (at {place})" if place else ""

    def _last_words(self) -> str:
        return f"its last output: {self._said[-1]}" if self._said else "it printed nothing"


def run(
    request: WorkRequest,
    *,
    timeout: float | None = None,
    memory: float | None = None,
    progress: Say = _ignore,
    output: Say = _ignore,
) -> WorkResult:
    """Trace a model: ``timeout`` in seconds, ``memory`` in GiB.

    What can be refused without torch is refused before a process is started.
    """
    return run_all(
        (request,), timeout=timeout, memory=memory, progress=progress, output=output
    )[0]  # fmt: skip


def run_all(
    requests: Sequence[WorkRequest],
    *,
    timeout: float | None = None,
    memory: float | None = None,
    progress: Say = _ignore,
    output: Say = _ignore,
) -> tuple[WorkResult, ...]:
    """Trace a model once for each request, as :func:`run` does, two at a time.

    The listeners hear of the first request alone: the others do the same again.
    """
    for request in requests:
        check(request)
    done: list[WorkResult] = []
    for start in range(0, len(requests), _AT_ONCE):
        batch = requests[start : start + _AT_ONCE]
        share = memory or total_memory() * MEMORY_SHARE / len(batch) / 2**30
        with contextlib.ExitStack() as ends:
            works = [
                ends.enter_context(Work(request, WorkResult, timeout=timeout, memory=share))
                for request in batch
            ]
            for work in works:
                hear = (_ignore, _ignore) if done else (progress, output)
                done.append(work.result(*hear))
    return tuple(done)


def emulate(
    request: EmulationRequest, *, progress: Say = _ignore, output: Say = _ignore
) -> Emulation:
    """Run a model on an emulated device; refuses without a process what :func:`run` does."""
    check(request)
    with Work(request, Emulation, timeout=request.timeout, memory=request.memory) as work:
        return work.result(progress, output)


def check(request: Request) -> None:
    """Raise what can be known to be wrong with a request without torch."""
    inputs = tuple(InputSpec.parse(text) for text in request.inputs)
    select(request.source).check(request.source, LoadOptions(inputs, request.trust))


def environment(request: Request) -> Mapping[str, str]:
    """What the process gets: no network, no accelerator, and threads where it computes."""
    package = str(Path(__file__).resolve().parent.parent)
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    computes = isinstance(request, EmulationRequest) and request.values
    return {
        **os.environ,
        **_ENVIRONMENT,
        **({} if computes else _ONE_THREAD),
        "PYTHONPATH": os.pathsep.join([*paths, package]),
        "PYTHONUTF8": "1",
    }


def total_memory() -> int:
    """Bytes of memory that this machine, or the container around us, has."""
    sizes = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    group = Path("/sys/fs/cgroup/memory.max")
    with contextlib.suppress(OSError, ValueError):  # absent, or "max"
        sizes.append(int(group.read_text()))
    return min(sizes)


_ERRORS: Mapping[str, type[OpcheckError]] = {
    name: value
    for name, value in vars(errors).items()
    if isinstance(value, type) and issubclass(value, OpcheckError)
}


def _start(environment: Mapping[str, str]) -> subprocess.Popen[str]:
    # -P: a file of the user's named like a library must not be taken for it
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "opcheck.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
        env=environment,
        start_new_session=True,
    )


def _feed(process: subprocess.Popen[str], text: str) -> None:
    assert process.stdin is not None  # asked for in _start
    with contextlib.suppress(BrokenPipeError), process.stdin:  # a dead child is noticed later
        process.stdin.write(text)


def _listen(process: subprocess.Popen[str], events: "queue.Queue[tuple[str, str]]") -> None:
    """Queue every line of the process, and then that it ended."""
    streams = (("message", process.stdout), ("said", process.stderr))
    pumps = [
        threading.Thread(target=_pump, args=(stream, name, events), daemon=True)
        for name, stream in streams
    ]
    for pump in pumps:
        pump.start()
    process.wait()
    for pump in pumps:
        pump.join(_GRACE_SECONDS)  # a process that it started may hold the pipes open
    events.put(("ended", ""))


def _pump(stream: IO[str], name: str, events: "queue.Queue[tuple[str, str]]") -> None:
    with contextlib.suppress(ValueError):  # closed by the main thread
        # what the model prints may never end its line; an answer is one line, however long
        longest = _LONGEST_LINE if name == "said" else -1
        while line := stream.readline(longest):
            events.put((name, line.rstrip("\n")))


def _kill(process: subprocess.Popen[str]) -> None:
    """End the process and all that it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()
