"""``--engine local``: processes on this machine, one for each processor."""

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from msgspec.structs import replace

from opcheck.commands.fleet.engine import ATTEMPTS, Engine, Setup, lost, processors
from opcheck.commands.fleet.values import Began, Done, Job
from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.codec import MalformedError, from_json, to_json

_END_SECONDS = 2.0
"""So long a worker has to end its model's process, before it is ended itself."""
_Told = Began | Done | BaseException


class Local(Engine):
    """Workers that are processes; each is handed one job at a time."""

    name = "local"

    def run(self, jobs: Iterable[Job], began: Callable[[Began], None]) -> Iterator[Done]:
        """Do every job and give each as soon as it is over.

        Raises:
            UsageError: something is asked for that only a cluster has.
        """
        if self.setup.address or self.setup.ship:
            raise UsageError(
                Sentence("--address and --ship are for a cluster"), Sentence("add --engine ray")
            )
        count = self.setup.workers or processors()
        todo: queue.Queue[Job | None] = queue.Queue()
        told: queue.Queue[_Told] = queue.Queue()
        setup = replace(self.setup, workers=count)  # so many share the machine's memory
        hands = [_Hand(number, setup, todo, told) for number in range(1, count + 1)]
        more, out = iter(jobs), 0
        try:
            while True:
                while out < count and (job := next(more, None)) is not None:
                    todo.put(job)
                    hands[out].start()  # a worker begins when there is work for it
                    out += 1
                if not out:
                    return
                match told.get():
                    case Began() as event:
                        began(event)
                    case Done() as done:
                        out -= 1
                        yield done
                    case error:
                        raise error
        finally:
            for hand in hands:
                hand.tell_to_stop()  # all of them: whichever thread takes the word first
            for hand in hands:
                hand.stop()


class _Hand:
    """A thread that hands jobs to one worker, and begins another where it is ended."""

    def __init__(
        self,
        number: int,
        setup: Setup,
        todo: "queue.Queue[Job | None]",
        told: "queue.Queue[_Told]",
    ) -> None:
        self._name = str(number)
        self._setup, self._todo, self._told = setup, todo, told
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._process: _Process | None = None
        self._stopping = False

    def start(self) -> None:
        """Begin, unless it has begun."""
        if not self._thread.ident:
            self._thread.start()

    def tell_to_stop(self) -> None:
        """Have no job begun any more."""
        self._stopping = True
        self._todo.put(None)

    def stop(self) -> None:
        """End the worker and all that it has started."""
        if self._thread.ident:
            while self._thread.is_alive():
                process = self._process
                if process is not None:
                    process.end()
                self._thread.join(0.05)

    def _work(self) -> None:
        try:
            while not self._stopping and (job := self._todo.get()) is not None:
                self._told.put(Began(job.position, self._name))
                self._told.put(self._done(job))
        except BaseException as error:  # told to whoever waits
            self._told.put(error)
        finally:
            if self._process is not None:
                self._process.end()

    def _done(self, job: Job) -> Done:
        for _ in range(ATTEMPTS):
            if self._stopping:
                break
            if self._process is None:
                self._process = _Process(self._setup)
            done = self._process.done(job)
            if done is not None:
                return Done(done.position, done.outcome, done.seconds, self._name)
            self._process.end()
            self._process = None
        return Done(job.position, lost(), 0.0, self._name)


class _Process:
    """One worker."""

    def __init__(self, setup: Setup) -> None:
        package = str(Path(__file__).resolve().parents[3])
        paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
        self._popen = subprocess.Popen(
            [sys.executable, "-P", "-m", "opcheck.commands.fleet.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join([*paths, package]),
            },
            start_new_session=True,  # Ctrl-C is for the run, which ends its workers
        )
        self._ended, self._ending = False, threading.Lock()
        self._send(to_json(setup))

    def done(self, job: Job) -> Done | None:
        """What came of a job; None where the worker was ended over it."""
        self._send(to_json(job))
        assert self._popen.stdout is not None  # asked for above
        line = self._popen.stdout.readline()
        with contextlib.suppress(ValueError, MalformedError):
            return from_json(Done, json.loads(line))
        return None

    def end(self) -> None:
        """End it; it ends what it has started, and what it can no longer end is ended here.

        Whoever asks second waits: with the thread that began it, the system would kill it.
        """
        with self._ending:
            if self._ended:
                return
            self._ended = True
            self._popen.terminate()
            try:
                self._popen.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                self._popen.kill()
                self._popen.wait()

    def _send(self, message: object) -> None:
        assert self._popen.stdin is not None  # asked for above
        with contextlib.suppress(BrokenPipeError):
            self._popen.stdin.write(json.dumps(message) + "\n")
            self._popen.stdin.flush()
