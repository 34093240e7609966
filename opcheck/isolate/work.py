"""One request being worked on by a process of its own, under a time and a memory limit.

Whatever the user's code does to that process, the caller gets results or one clear error.
"""

import contextlib
import json
import os
import queue
import signal
import tempfile
import time
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from opcheck import errors
from opcheck.errors import EmulationError, OpcheckError, SourceError, TraceError
from opcheck.isolate.process import Event, WorkerProcess, total_memory
from opcheck.model.codec import MalformedError, from_json, to_json
from opcheck.model.emulation import Emulation
from opcheck.model.work import STACK_SECONDS, GraphRun, HostRun, Job, Request, WorkResult
from opcheck.source.user_code import innermost

MEMORY_SHARE = 0.8
"""Part of the machine's memory that the model's process may use where no limit was given."""
_KEPT_LINES = 20
_STAGES: Mapping[str, type[OpcheckError]] = {
    "load": SourceError,
    "trace": TraceError,
    "emulate": EmulationError,
}
"""What the process is at -> the error of a failure there."""
_ERRORS: Mapping[str, type[OpcheckError]] = {
    name: value
    for name, value in vars(errors).items()
    if isinstance(value, type) and issubclass(value, OpcheckError)
}

Say = Callable[[str], None]
T = TypeVar("T", bound=WorkResult | Emulation | HostRun | GraphRun)


def ignore(text: str) -> None:
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
        beside: int = 1,
    ) -> None:
        """``beside``: how many such processes, this one included, share the machine's memory."""
        self._answer = answer
        self._answers: list[T] = []
        self._expected = 1
        self._timeout = timeout
        self._started = time.monotonic()
        self._doing = f"loading {request.source}"
        self._failure: type[OpcheckError] = SourceError
        self._said: deque[str] = deque(maxlen=_KEPT_LINES)
        handle, stack = tempfile.mkstemp(prefix="opcheck-")
        os.close(handle)
        self._stack = Path(stack)
        limit = int(memory * 2**30 if memory else total_memory() * MEMORY_SHARE / beside)
        self._process = WorkerProcess(request)
        self._job = Job(
            request,
            limit,
            ends=None if timeout is None else time.time() + timeout,
            stack=str(self._stack),
            shared=memory is None,
            aside=self._process.aside,
        )
        self._process.feed(json.dumps(to_json(self._job)))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._stack.unlink(missing_ok=True)

    def results(self, progress: Say = ignore, output: Say = ignore) -> tuple[T, ...]:
        """Wait for the answers; ``progress`` hears stages, ``output`` what the model prints."""
        while len(self._answers) < self._expected:
            name, text = self._next()
            if name == "ended":
                raise self._died()
            if name == "message":
                self._message(text, progress)
                continue
            self._said.append(text)
            if name == "said":
                output(text)
        return tuple(self._answers)

    def _next(self) -> Event:
        left = self._left()
        with contextlib.suppress(queue.Empty):
            if left is None or left > 0:
                return self._process.events.get(timeout=left)
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

    def _message(self, text: str, progress: Say) -> None:
        """Act on one message."""
        try:
            message: Mapping[str, Any] = json.loads(text)
            if "result" in message:
                self._answers.append(from_json(self._answer, message["result"]))
                return
            if "answers" in message:
                self._expected = int(message["answers"])
                return
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

    def _died(self) -> OpcheckError:
        """Say how the process ended without an answer."""
        code = self._process.popen.wait()
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
