"""Loads PyTorch and is copied, once for each worker: ``… template SOCKET [LIBRARY…]``.

A worker that is a copy goes on as ``python -m opcheck.sandbox.child`` does, in the environment, the
folder and with the files that it is given.
"""

import contextlib
import fcntl
import gc
import importlib
import json
import os
import runpy
import select
import shutil
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

from opcheck.python_state import freeze
from opcheck.sandbox.child.late_imports import BY_SHAPES, leave_compiler_out
from opcheck.sandbox.limits.confine import tools_environment
from opcheck.sandbox.reaper import descendants, keep
from opcheck.source.load import kinds

_LOADED = (
    "opcheck.sandbox.child.answers", "opcheck.source.load", "opcheck.trace.run",
    "opcheck.trace.sizes.dynamic", "opcheck.emulate.run", "opcheck.source.building.ready",
    "opcheck.source.building.several", "opcheck.source.building.stand_ins.finder",
    "opcheck.source.building.torchscript",
    BY_SHAPES,
)  # fmt: skip
"""What almost every worker comes to use; nothing of the user's.

PyTorch's compiler is most of what a training step loads, and of no use to others.
"""
_MOST_FILES = 16
_SCRATCH = os.path.join(tempfile.gettempdir(), f"opcheck-template-{os.getpid()}")
_HEAD = 16
"""Bytes of what is asked; the rest is in the first file."""


def main() -> NoReturn:
    """Copy this process whenever it is asked for, until nobody can ask any more."""
    requests = socket.socket(fileno=int(sys.argv[1]))
    # torch's compiler, matplotlib and ultralytics make folders when they are imported
    places = tools_environment(_SCRATCH)
    for folder in places.values():
        os.makedirs(folder, exist_ok=True)
    os.environ.update(places)
    with _ended_with(requests):
        for module in _LOADED:
            with contextlib.suppress(ImportError):  # told by the worker that needs it
                importlib.import_module(module)
        kinds()  # imports each of them, and keeps which there are
        if libraries := sys.argv[2:]:
            _load(libraries)
        with contextlib.suppress(ImportError):
            leave_compiler_out()  # of what is frozen, a copy would not find the functions
    gc.collect()
    freeze()  # the collector would write to what copies share
    with contextlib.suppress(OSError):  # who asks next hears that nobody does any more
        requests.send(b"loaded")
    while True:
        try:
            text, files, _, _ = socket.recv_fds(requests, _HEAD, _MOST_FILES)
        except ConnectionResetError:  # "loaded" was not read before the end: that comes next
            continue
        if text.startswith(b"end "):
            _end_copy(int(text[4:]))
            continue
        if text != b"copy":
            _end(asked=bool(text))
        if not os.fork():
            requests.close()
            _keep(files)
        for file in files:
            os.close(file)
        _wait(os.WNOHANG)


@contextlib.contextmanager
def _ended_with(requests: socket.socket) -> Iterator[None]:
    """End while this is loading, which takes seconds, once nobody can ask for a copy any more."""
    loaded, stop = os.pipe()

    def watch() -> None:
        waiting = select.poll()
        waiting.register(requests, 0)  # poll reports a closed end whatever is asked for
        waiting.register(loaded, 0)
        if any(file == requests.fileno() for file, _ in waiting.poll()):
            _end(asked=False)

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield
    finally:
        os.close(stop)
        watching.join()  # a copy would miss it
        os.close(loaded)


def _load(libraries: Sequence[str]) -> None:
    """Import libraries of models in the way in which a worker does."""
    from opcheck.source.building import processes, torchvision_operators

    torchvision_operators.prepare()
    processes.prepare()
    for module in libraries:
        with contextlib.suppress(Exception):  # told by the worker that needs it
            importlib.import_module(module)
    torchvision_operators.settle()


def _end(*, asked: bool) -> NoReturn:
    """End, and the copies too where the process that has them is no more."""
    if asked:
        _wait()
    shutil.rmtree(_SCRATCH, ignore_errors=True)
    os._exit(0)


def _end_copy(pid: int) -> None:
    """End a copy for a process that may send no signals out of its confinement."""
    if pid in descendants(os.getpid()):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _wait(options: int = 0) -> None:
    """Wait for the keepers of copies; with ``os.WNOHANG``, of those that have ended."""
    with contextlib.suppress(ChildProcessError):  # none is left
        while os.waitpid(-1, options) != (0, 0):
            pass


def _keep(files: Sequence[int]) -> NoReturn:
    """Copy this process; tells how the copy ended, once nothing that it started is left."""
    _, told, *_ = files
    status = keep(but=told)
    if status is None:
        _work(files)
    with contextlib.suppress(BrokenPipeError):  # who asked for the copy has ended
        os.write(told, f"{os.waitstatus_to_exitcode(status)}\n".encode())
    os._exit(0)


def _work(files: Sequence[int]) -> NoReturn:
    request, told, *given = files
    with os.fdopen(request, encoding="utf-8") as file:
        file.seek(0)
        asked: Mapping[str, Any] = json.load(file)
    os.write(told, f"{os.getpid()}\n".encode())
    os.close(told)
    _place(given, asked["files"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    tempfile.tempdir = None  # may have been looked up in the environment before
    _use_threads()
    os.chdir(asked["folder"])
    runpy.run_module("opcheck.sandbox.child", run_name="__main__", alter_sys=True)
    os._exit(0)


def _place(files: Sequence[int], numbers: Sequence[int]) -> None:
    """Have files under the numbers that they are to have."""
    beyond = [fcntl.fcntl(file, fcntl.F_DUPFD, max(numbers) + 1) for file in files]
    for file in files:
        os.close(file)
    for file, number in zip(beyond, numbers, strict=True):
        os.dup2(file, number)
        os.close(file)


def _use_threads() -> None:
    """As many as it would have had from the beginning."""
    torch = sys.modules.get("torch")
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    if torch is not None and wanted != "1":
        most = len(os.sched_getaffinity(0))
        torch.set_num_threads(min(int(wanted), most) if wanted.isdecimal() else most)


if __name__ == "__main__":
    main()
