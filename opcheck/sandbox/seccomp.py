"""seccomp: the kernel refuses some system calls to this thread, and to what it starts.

No network of any kind, no programs, no changed modes, nothing that reaches other processes: what
Landlock does not know. ``seccomp(2)`` through ``ctypes``, since Python packages for it need a C
library that few machines have.
"""

import ctypes
import errno
import os
import struct
import sys
from collections.abc import Iterator

from opcheck.sandbox.calls import AUDIT_ARCH, EXEC, MODES, SYSTEM, TIMES, number
from opcheck.sandbox.limits import Filter

_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_SET_MODE_FILTER = 1
_ALL_THREADS = 1  # SECCOMP_FILTER_FLAG_TSYNC
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_ANY, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _MACHINE, _ARGUMENTS = 0, 4, 16
"""Where ``struct seccomp_data`` has the call, its machine, and its arguments of 8 bytes each."""
_X32 = 0x40000000
"""Numbers from here on are the calls of another interface of x86-64."""
_NAMESPACES = 0x7E020000
"""``CLONE_NEW…`` of all kinds."""
_THREAD = 0x00010000
"""``CLONE_THREAD``."""
_AF_UNIX = 1
_SETS_FLAGS = (0x40086602, 0x401C5820)
"""``FS_IOC_SETFLAGS`` and ``FS_IOC_FSSETXATTR``: modes of files, by another name."""


class _Program(ctypes.Structure):
    """``struct sock_fprog``."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def known() -> bool:
    """Whether filters can be made for this system."""
    return sys.platform == "linux" and os.uname().machine in AUDIT_ARCH


def install(wanted: Filter) -> None:
    """Have the kernel refuse what a filter says, to every thread and for good.

    Raises:
        OSError: the kernel takes no filters.
    """
    machine = os.uname().machine
    call = number(machine, "seccomp")
    code = b"".join(instructions(wanted, machine))
    program = _Program(len(code) // 8, code)
    libc = ctypes.CDLL(None, use_errno=True)
    refused = libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.syscall(
        ctypes.c_long(call or 0), _SECCOMP_SET_MODE_FILTER, _ALL_THREADS, ctypes.byref(program)
    )
    if refused:
        raise OSError(ctypes.get_errno(), "seccomp")


def instructions(wanted: Filter, machine: str) -> Iterator[bytes]:
    """The filter as the kernel takes it."""
    yield _instruction(_LOAD, _MACHINE)
    yield _instruction(_IF_EQUAL, AUDIT_ARCH[machine], 1, 0)
    yield _refusal(errno.EACCES)
    yield _instruction(_LOAD, _NUMBER)
    yield _instruction(_IF_AT_LEAST, _X32, 0, 1)
    yield _refusal(errno.EACCES)
    for names, code in _refused(wanted):
        for name in names:
            found = number(machine, name)
            if found is not None:
                yield _instruction(_IF_EQUAL, found, 0, 1)
                yield _refusal(code)
    yield from _by_argument(wanted, machine)
    yield _instruction(_RETURN, _ALLOW)


def _refused(wanted: Filter) -> Iterator[tuple[tuple[str, ...], int]]:
    """Calls that are refused whatever they are called with, and the error that they give."""
    yield SYSTEM, errno.EPERM
    yield ("io_uring_setup",), errno.EACCES  # its rings do what the filter never sees
    yield ("clone3",), errno.ENOSYS  # its flags are out of sight; the C library then has clone
    yield MODES, 0 if wanted.modes else errno.EPERM
    if not wanted.modes:
        yield TIMES, errno.EPERM
    if not wanted.programs:
        yield EXEC, errno.EACCES
    if not wanted.processes:
        yield ("fork", "vfork"), errno.EAGAIN
    if not wanted.local_sockets:
        yield ("socket",), errno.EACCES


def _by_argument(wanted: Filter, machine: str) -> Iterator[bytes]:
    """Calls that are refused with some arguments: a test jumps over its refusal if all is well.

    Each block is skipped whole for other calls, and leaves the number loaded.
    """
    yield from _block(machine, "clone", 0, (_IF_ANY, _NAMESPACES, False), errno.EPERM)
    yield from _block(machine, "prlimit64", 0, (_IF_EQUAL, 0, True), errno.EPERM)
    for command in _SETS_FLAGS:
        yield from _block(machine, "ioctl", 1, (_IF_EQUAL, command, False), errno.EPERM)
    if not wanted.processes:
        yield from _block(machine, "clone", 0, (_IF_ANY, _THREAD, True), errno.EAGAIN)
    if wanted.local_sockets:
        yield from _block(machine, "socket", 0, (_IF_EQUAL, _AF_UNIX, True), errno.EACCES)


def _block(
    machine: str, name: str, argument: int, test: tuple[int, int, bool], code: int
) -> Iterator[bytes]:
    """Refuse a call by the low half of one argument; a test that holds is fine, or is not."""
    found = number(machine, name)
    if found is None:
        return
    kind, value, fine = test
    yield _instruction(_IF_EQUAL, found, 0, 4)
    yield _instruction(_LOAD, _ARGUMENTS + 8 * argument)
    yield _instruction(kind, value, *((1, 0) if fine else (0, 1)))
    yield _refusal(code)
    yield _instruction(_LOAD, _NUMBER)


def _refusal(code: int) -> bytes:
    return _instruction(_RETURN, _ERRNO | code)


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """``struct sock_filter``."""
    return struct.pack("=HBBI", code, if_true, if_false, value)
