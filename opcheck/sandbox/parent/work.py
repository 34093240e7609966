"""One request being worked on by a process of its own, under a time and a memory limit.

Whatever the user's code does to that process, the caller gets results or one clear error.
"""

import contextlib
import json
import queue
import shutil
import tempfile
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from opcheck.errors import EmulationError, OpcheckError, SourceError, Stop, TraceError
from opcheck.lang.sentence import NOTHING, Sentence
from opcheck.model.codec import from_json, sentence_from_json, to_json
from opcheck.model.emulation import Emulation, EmulationRequest
from opcheck.model.exporting import ExportRun
from opcheck.model.jobs import (
    AT_ONCE,
    FIRST_JOURNAL,
    STACK_SECONDS,
    GraphRun,
    HostRun,
    Job,
    Request,
)
from opcheck.model.script import ScriptRequest, ScriptRun
from opcheck.model.trace import run_ended
from opcheck.model.work import WorkRequest, WorkResult
from opcheck.sandbox.limits.overlay import written
from opcheck.sandbox.parent.answers import Results, require_answer
from opcheck.sandbox.parent.limits import is_code, profile_of, seconds_of, temporary_of
from opcheck.sandbox.parent.process import ERRORS, Event, WorkerProcess, signal_name, total_memory
from opcheck.sandbox.parent.recovered import cut_short, left_off
from opcheck.source.user_code import innermost

MEMORY_SHARE = 0.8
"""Part of the machine's memory that the model's process may use where no limit was given."""
LOOK_SECONDS = 0.5
"""So often the processes that it started are counted while it says nothing."""
MOST_PROCESSES = 128
"""How many a model's process may have started, at one time."""
_CRASHES = ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT", "SIGTRAP")
_KEPT_LINES = 20
_LONGEST_STACK = 2**20
_STAGES: Mapping[str, type[OpcheckError]] = {
    "load": SourceError,
    "trace": TraceError,
    "emulate": EmulationError,
}
"""What the process is at -> the error of a failure there."""

Say = Callable[[str], None]
T = TypeVar("T", bound=WorkResult | Emulation | HostRun | GraphRun | ScriptRun | ExportRun)


def ignore(text: str) -> None:
    """Hear nothing."""


class Work(Generic[T]):
    """One request being worked on; leaving the ``with`` block ends the process."""

    def __init__(
        self,
        request: Request,
        answer: type[T],
        *,
        beside: int = 1,
        at_once: int = AT_ONCE,
    ) -> None:
        """Begin to work on a request.

        Args:
            request: what is asked.
            answer: what is answered with.
            beside: how many such processes, this one included, share the machine's memory.
            at_once: how many copies of it may work side by side.
        """
        self._answer = answer
        self._answers: list[T] = []
        self._results = Results()
        self._expected = 1
        model = request.model
        self._timeout = seconds_of(request)
        self._started = time.monotonic()
        self._doing = Sentence("loading {source}", source=model.source)
        self._failure: type[OpcheckError] = SourceError
        self._said: deque[str] = deque(maxlen=_KEPT_LINES)
        limit = int(
            model.memory * 2**30 if model.memory else total_memory() * MEMORY_SHARE / beside
        )
        self._process = WorkerProcess(request)
        self._folder = Path(tempfile.mkdtemp(prefix="opcheck-", dir=temporary_of(request)))
        self._stack = self._folder / "stack"
        self._job = Job(
            request,
            limit,
            ends=None if (left := self._left()) is None else time.time() + left,
            stack=str(self._stack),
            journals=str(self._folder),
            shared=model.memory is None,
            aside=self._process.aside,
            at_once=at_once,
            limits=profile_of(request, self._folder),
            code=is_code(request),
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
        shutil.rmtree(self._folder, ignore_errors=True)

    def results(
        self,
        progress: Say = ignore,
        output: Say = ignore,
        heard: Callable[[T], object] = lambda _: None,
    ) -> tuple[T, ...]:
        """Wait for the answers.

        ``progress`` hears stages, ``output`` what the model prints, ``heard`` each answer when it
        comes.
        """
        while len(self._answers) < self._expected:
            name, text = self._next()
            if name == "ended":
                raise self._died()
            if name == "message":
                known = len(self._answers)
                self._message(text, progress)
                for answer in self._answers[known:]:
                    heard(answer)
                continue
            self._said.append(text)
            if name == "said":
                output(text)
        return tuple(self._answers)

    @property
    def written(self) -> tuple[tuple[str, int | None], ...]:
        """What the process wrote that only itself saw, so far: path and bytes, None if removed."""
        limits = self._job.limits
        return tuple(written(limits.aside)) if limits is not None and limits.aside else ()

    def interrupted(self, signal: str = "") -> OpcheckError:
        """End the process because its user wants that; gives the error with what it did so far.

        ``signal``: the name of the signal that came; "" for Ctrl-C.
        """
        said = "interrupted by {signal} while {said}" if signal else "interrupted while {said}"
        what = Sentence(said, signal=signal, said=self._doing)
        return self._ended(what, NOTHING, Stop.ENDED)

    def _next(self) -> Event:
        left = self._left()
        while left is None or left > 0:
            with contextlib.suppress(queue.Empty):
                return self._process.events.get(timeout=min(left or LOOK_SECONDS, LOOK_SECONDS))
            if len(self._process.descendants(MOST_PROCESSES + 1)) > MOST_PROCESSES:
                raise self._ended(
                    Sentence(
                        "the model's code started more than {count} processes while {said}",
                        count=MOST_PROCESSES,
                        said=self._doing,
                    ),
                    Sentence("look for calls of os.fork, subprocess or multiprocessing in a loop"),
                    Stop.ENDED,
                )
            left = self._left()
        raise self._took_too_long()

    def _left(self) -> float | None:
        """Seconds until time runs out; None: it never does."""
        if self._timeout is None:
            return None
        return self._started + self._timeout - time.monotonic()

    def _took_too_long(self) -> OpcheckError:
        return self._ended(
            Sentence(
                "no answer within {figure} s while {said}",
                figure=f"{self._timeout:g}",
                said=self._doing,
            ),
            Sentence("give it longer with --timeout, or look for an endless loop there"),
            Stop.TIME,
        )

    def _ended(self, message: Sentence, hint: Sentence, stop: Stop) -> OpcheckError:
        """The error of a process that ended too early, with what was traced until then."""
        self._process.kill()  # or it might write on
        error = self._until_then(message, hint)
        error.stop = stop
        return error

    def _until_then(self, message: Sentence, hint: Sentence) -> OpcheckError:
        place, request = self._place(), self._job.request
        error = self._failure(
            Sentence("{said} (at {text})", said=message, text=place) if place else message, hint
        )
        of_device = isinstance(request, EmulationRequest | ScriptRequest)
        if of_device and self._failure is EmulationError:
            unused = isinstance(request, ScriptRequest)
            return left_off(error, place, self._folder / FIRST_JOURNAL, unused=unused)
        if not isinstance(request, WorkRequest) or self._failure is not TraceError:
            return error
        whole = [answer for answer in self._answers if isinstance(answer, WorkResult)]
        gap = run_ended(place, message)
        return cut_short(error, gap, request, whole, self._folder)

    def _message(self, text: str, progress: Say) -> None:
        """Act on one message."""
        try:
            message: Mapping[str, Any] = json.loads(text)
            if "result" in message:
                self._answers += self._read(message["result"])
                return
            if "answers" in message:
                self._expected = max(int(message["answers"]), 1)
                return
            if "error" in message:
                raise _error(message)
            if "stopped" in message:
                what, hint, stop = message["stopped"]
                told = Sentence(
                    "the model's code {said} while {said_doing}",
                    said=sentence_from_json(what),
                    said_doing=self._doing,
                )
                raise self._ended(told, sentence_from_json(hint), Stop(stop))
            if "crash" in message:
                raise RuntimeError(f"opcheck failed in the model's process:\n{message['crash']}")
            self._failure = _STAGES[message["stage"]]
            self._doing = sentence_from_json(message["progress"])
            calls = int(message.get("calls", 0))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise self._ended(
                Sentence(
                    "the model's process sent what is not an answer while {said}: {text}",
                    said=self._doing,
                    text=error,
                ),
                Sentence("the model's code must leave file descriptors that it did not open alone"),
                Stop.ENDED,
            ) from error
        progress(
            Sentence("{said}, {count} calls so far", said=self._doing, count=f"{calls:,}")
            if calls
            else self._doing
        )

    def _read(self, data: Any) -> Sequence[T]:
        """An answer that is what was asked for, once for each device type that it is true of."""
        if self._answer is not WorkResult:
            return [from_json(self._answer, data)]
        answer = self._results.read(data)
        require_answer(answer, self._job.request)
        found: Any = answer.by_type()
        return found  # type: ignore[no-any-return]  # T is WorkResult here

    def _died(self) -> OpcheckError:
        """Say how the process ended without an answer."""
        code = self._process.popen.wait()
        if code >= 0:
            return self._ended(
                Sentence(
                    "the model's code ended the process with exit code {count} while {said}",
                    count=code,
                    said=self._doing,
                ),
                Sentence("take calls of os._exit out of the code that builds and runs the model"),
                Stop.ENDED,
            )
        name, left = signal_name(-code), self._left()
        if name == "SIGSEGV" and left is not None and left < STACK_SECONDS:
            # faulthandler reads the stacks of threads that go on, and may stumble over one
            return self._took_too_long()
        message = Sentence(
            "the model's process was ended by {signal} while {said}", signal=name, said=self._doing
        )
        stop = Stop.KILLED if name == "SIGKILL" else Stop.ENDED
        return self._ended(message, self._remedy(name), stop)

    def _remedy(self, name: str) -> Sentence:
        if name == "SIGKILL":
            return self._job.memory_hint
        what = Sentence(
            "native code crashed" if name in _CRASHES else "look for what sends it that signal"
        )
        return Sentence("{said}; {said_more}", said=what, said_more=self._last_words())

    def _place(self) -> str:
        """Where in the user's code the process stood, if it could still say so."""
        try:
            with self._stack.open(encoding="utf-8", errors="replace") as file:
                return innermost(file.read(_LONGEST_STACK))
        except OSError:  # it ended before it could begin to write
            return ""

    def _last_words(self) -> Sentence:
        if not self._said:
            return Sentence("it printed nothing")
        return Sentence("its last output: {text}", text=self._said[-1])


def _error(message: Mapping[str, Any]) -> OpcheckError:
    """The error that the process tells of."""
    name, what, hint = message["error"]
    error = ERRORS[name](sentence_from_json(what), sentence_from_json(hint))
    error.files = {f"{file}": f"{digest}" for file, digest in message["files"].items()}
    return error
