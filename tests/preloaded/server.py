"""Imports modules and is copied by whoever connects: ``server.py SOCKET [MODULE…]``.

It imports nothing else that a script may ask after, and ends once its stdin does.
"""

import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import sys
import types
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_MOST = 2**18
"""Bytes of what is asked."""


def main() -> None:
    """Answer whoever connects; in a copy, come back when what it runs has ended."""
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    paths = [path for path in sys.path if path not in given]
    listening = socket.socket(fileno=int(sys.argv[1]))
    sys.path.append(str(Path(__file__).parents[2]))
    for name in sys.argv[2:]:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()  # the collector would write to what copies share
    while True:
        ready, _, _ = select.select([listening, sys.stdin], [], [])
        _reap()
        if sys.stdin in ready:
            return
        connection, _ = listening.accept()
        if not os.fork():
            listening.close()
            _answer(connection, paths)
            return
        connection.close()


def _reap() -> None:
    """Wait for copies that have ended."""
    try:
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass
    except ChildProcessError:  # none is left
        pass


def _answer(connection: socket.socket, paths: Sequence[str]) -> None:
    """Run what is asked in a copy, and tell from outside how it ended."""
    text, files, _, _ = socket.recv_fds(connection, _MOST, 3)
    pid = os.fork()
    if pid:
        ended = os.pidfd_open(pid)
        ready, _, _ = select.select([ended, connection.fileno()], [], [])
        if ended not in ready:  # whoever stood for it was killed
            os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        if ended in ready:
            connection.send(str(os.waitstatus_to_exitcode(status)).encode())
        os._exit(0)
    connection.close()
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    _run(json.loads(text), paths)


def _run(asked: Mapping[str, Any], paths: Sequence[str]) -> None:
    """Do what ``python ARGUMENT…`` does once it has started."""
    os.environ.clear()
    os.environ.update(asked["environment"])
    os.chdir(asked["folder"])
    arguments = asked["arguments"]
    safe = arguments[0] == "-P"
    first, *rest = arguments[safe:]
    if first in ("-c", "-m"):
        kind, what, rest = first, rest[0], rest[1:]
    else:
        kind, what = "", first
    sys.argv = [kind or what, *rest]
    begin = {"-c": "", "-m": asked["folder"], "": str(Path(what).resolve().parent)}[kind]
    given = asked["environment"].get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:] = [*([] if safe else [begin]), *filter(None, given), *paths]
    if kind == "-m":
        runpy.run_module(what, run_name="__main__", alter_sys=True)
    elif kind == "-c":
        space = sys.modules["__main__"] = types.ModuleType("__main__")
        exec(compile(what, "<string>", "exec"), vars(space))
    else:
        runpy.run_path(what, run_name="__main__")


if __name__ == "__main__":
    main()
