"""A process that writes for one that no longer may, to the files that were named before.

The command line forks it before it confines itself. It writes each file whole or not at all, and to
nowhere but the places that it was made with.
"""

import os
import signal
import socket
import struct
from collections.abc import Callable, Sequence
from pathlib import Path

from opcheck.sandbox.reaper import close_files, end_as

Write = Callable[[Path, bytes], None]
_HEAD = struct.Struct("=IQ")
"""Number of the place, and of bytes."""
_ANSWER = struct.Struct("=I")
"""Number of bytes of what went wrong; 0: nothing did."""


class Steward:
    """The process, as the confined one sees it."""

    def __init__(self, places: Sequence[tuple[Path, Write]]) -> None:
        """Fork it; what is open here by then, it does not keep."""
        self._paths = [path for path, _ in places]
        self._requests, theirs = socket.socketpair()
        if not os.fork():
            self._requests.close()
            _serve(theirs, places)
        theirs.close()

    def write(self, path: Path, data: bytes) -> None:
        """Have a file written that was named before.

        Raises:
            OSError: it cannot be written.
        """
        self._requests.sendall(_HEAD.pack(self._paths.index(path), len(data)))
        self._requests.sendall(data)
        (length,) = _ANSWER.unpack(_received(self._requests, _ANSWER.size))
        if length:
            raise OSError(_received(self._requests, length).decode("utf-8", "replace"))


def _serve(requests: socket.socket, places: Sequence[tuple[Path, Write]]) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # it ends with the process that it writes for
    try:
        close_files(requests.fileno())
        while head := requests.recv(_HEAD.size, socket.MSG_WAITALL):
            place, length = _HEAD.unpack(head)
            data = _received(requests, length)
            requests.sendall(_written(data, *places[place]))
    finally:
        end_as(0)


def _written(data: bytes, path: Path, write: Write) -> bytes:
    try:
        write(path, data)
    except OSError as error:
        told = (error.strerror or str(error)).encode()
        return _ANSWER.pack(len(told)) + told
    return _ANSWER.pack(0)


def _received(connection: socket.socket, length: int) -> bytes:
    data = bytearray()
    while len(data) < length:
        part = connection.recv(min(length - len(data), 1 << 20))
        if not part:
            raise OSError("the process that writes has ended")
        data += part
    return bytes(data)
