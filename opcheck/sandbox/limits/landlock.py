"""Landlock: the kernel lets this thread, and what it starts, reach the named files alone.

``landlock(7)`` of Linux; three system calls, for which no Python package was found. Rights that an
older kernel does not know are left out, and :func:`abi` gives its version for the user to be
warned.
"""

import ctypes
import os
import struct
import sys
from collections.abc import Iterable
from enum import IntFlag
from functools import cache
from pathlib import Path

_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446
"""Numbers of the system calls, the same on every machine."""
_VERSION = 1
_PATH_BENEATH = 1
_PR_SET_NO_NEW_PRIVS = 38
TCP = 0b11
"""``LANDLOCK_ACCESS_NET_BIND_TCP | _CONNECT_TCP``, of ABI 4."""
SCOPES = 0b11
"""Abstract unix sockets and signals stay inside, of ABI 6."""


class Access(IntFlag):
    """``LANDLOCK_ACCESS_FS_…``."""

    EXECUTE = 1 << 0
    WRITE_FILE = 1 << 1
    READ_FILE = 1 << 2
    READ_DIR = 1 << 3
    REMOVE_DIR = 1 << 4
    REMOVE_FILE = 1 << 5
    MAKE_CHAR = 1 << 6
    MAKE_DIR = 1 << 7
    MAKE_REG = 1 << 8
    MAKE_SOCK = 1 << 9
    MAKE_FIFO = 1 << 10
    MAKE_BLOCK = 1 << 11
    MAKE_SYM = 1 << 12
    REFER = 1 << 13
    TRUNCATE = 1 << 14
    IOCTL_DEV = 1 << 15


READ = Access.READ_FILE | Access.READ_DIR
WRITE = (
    Access.WRITE_FILE | Access.REMOVE_DIR | Access.REMOVE_FILE | Access.MAKE_CHAR
    | Access.MAKE_DIR | Access.MAKE_REG | Access.MAKE_SOCK | Access.MAKE_FIFO
    | Access.MAKE_BLOCK | Access.MAKE_SYM | Access.REFER | Access.TRUNCATE
)  # fmt: skip
_MAKE = (
    READ | Access.WRITE_FILE | Access.REMOVE_DIR | Access.REMOVE_FILE | Access.MAKE_DIR
    | Access.MAKE_REG | Access.MAKE_SOCK | Access.MAKE_FIFO | Access.MAKE_SYM | Access.REFER
    | Access.TRUNCATE
)  # fmt: skip
"""In a folder that is free to use: everything but devices and programs."""
_OF_FILES = (
    Access.EXECUTE | Access.WRITE_FILE | Access.READ_FILE | Access.TRUNCATE | Access.IOCTL_DEV
)
"""The rights that a rule for a single file may have."""
_SINCE = ((2, Access.REFER), (3, Access.TRUNCATE), (5, Access.IOCTL_DEV))
"""ABI -> the right that it brought."""
NET_ABI, SCOPE_ABI = 4, 6


@cache
def abi() -> int:
    """The version that the kernel has; 0 where there is none, or it is switched off."""
    if sys.platform != "linux":
        return 0
    libc = ctypes.CDLL(None)
    return max(0, int(libc.syscall(ctypes.c_long(_CREATE), None, ctypes.c_size_t(0), _VERSION)))


class Ruleset:
    """Files and folders that may be used; nothing is refused before :meth:`restrict`."""

    def __init__(self, handled: Access, *, network: bool = False) -> None:
        """``handled``: what is refused but for the rules; ``network``: whether TCP is left alone.

        Raises:
            OSError: the kernel has no Landlock.
        """
        for version, right in _SINCE:
            if abi() < version:
                handled &= ~right
        self._handled = handled
        net = TCP if abi() >= NET_ABI and not network else 0
        scopes = SCOPES if abi() >= SCOPE_ABI else 0
        self._libc = ctypes.CDLL(None, use_errno=True)
        attributes = struct.pack("=QQQ", handled, net, scopes)
        self._file = self._call(_CREATE, attributes, ctypes.c_size_t(len(attributes)), 0)

    def allow(self, places: Iterable[str | Path], access: Access) -> None:
        """Allow these rights on files, and on folders with all that is in them.

        A place that is not there has nothing to be used.
        """
        for place in places:
            try:
                beneath = os.open(place, os.O_PATH | os.O_CLOEXEC)
            except (OSError, ValueError):
                continue
            try:
                rights = access & self._handled
                if not _is_folder(beneath):
                    rights &= _OF_FILES
                if rights:
                    rule = struct.pack("=Qi", rights, beneath)
                    self._call(_ADD_RULE, self._file, _PATH_BENEATH, rule, 0)
            finally:
                os.close(beneath)

    def allow_use(self, places: Iterable[str | Path]) -> None:
        """Allow to make, change and remove whatever is in these folders."""
        self.allow(places, _MAKE)

    def restrict(self) -> None:
        """Refuse what no rule allows, to this thread and what it starts, for good."""
        if self._libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "prctl(PR_SET_NO_NEW_PRIVS)")
        self._call(_RESTRICT, self._file, 0)
        os.close(self._file)

    def _call(self, number: int, *arguments: object) -> int:
        found = int(self._libc.syscall(ctypes.c_long(number), *arguments))
        if found < 0:
            code = ctypes.get_errno()
            raise OSError(code, f"landlock call {number}: {os.strerror(code)}")
        return found


def _is_folder(file: int) -> bool:
    return os.stat(file).st_mode & 0o170000 == 0o040000
