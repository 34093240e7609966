"""Python with PyTorch loaded already, for tests that start scripts: most of their time is that."""

import atexit
import os
import secrets
import socket
import subprocess
import sys
from functools import cache
from pathlib import Path

_HERE = Path(__file__).parent
Environment = tuple[tuple[str, str], ...]


@cache
def python(*modules: str, environment: Environment | None = None) -> tuple[str, ...]:
    """What to start instead of ``sys.executable``, followed by a file, ``-m`` or ``-c``.

    What it starts is what Python would start, had that imported the modules by itself: its streams,
    environment, folder and exit code are those of the process that is started here.

    Args:
        modules: what is imported, once for all.
        environment: in what it is imported; that of the first test that asks where none is given.
    """
    if sys.platform != "linux":
        return (sys.executable,)
    address = f"opcheck-tests-{os.getpid()}-{secrets.token_hex(8)}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(f"\0{address}")
        listening.listen()
        server = subprocess.Popen(
            [sys.executable, "-P", str(_HERE / "server.py"), str(listening.fileno()), *modules],
            stdin=subprocess.PIPE,  # it ends with whoever holds the other end
            stdout=subprocess.DEVNULL,
            env=None if environment is None else dict(environment),
            start_new_session=True,
            pass_fds=[listening.fileno()],
        )
    atexit.register(server.communicate)
    return sys.executable, "-S", "-E", str(_HERE / "client.py"), address
