"""A process that is cut off from the network, for good: by the kernel where it can, or by Python.

Linux filters the system calls of the process, its threads and all that it starts (seccomp), so
that no code in them, native or not, gets a socket. Elsewhere an audit hook refuses the sockets of
Python alone.
"""

import ctypes
import platform
import struct
import sys
from collections.abc import Iterator
from functools import cache

_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_SET_MODE_FILTER = 1
_ALL_THREADS = 1  # SECCOMP_FILTER_FLAG_TSYNC
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | 13  # with EACCES
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER, _MACHINE = 0, 4
"""Where ``struct seccomp_data`` has the call and the machine that it is a call of."""
_X32 = 0x40000000
"""Numbers from here on are the calls of another interface of x86-64."""
_CALLS = {
    # machine -> (AUDIT_ARCH, number of seccomp, numbers of socket and io_uring_setup)
    "x86_64": (0xC000003E, 317, (41, 425)),
    "aarch64": (0xC00000B7, 277, (198, 425)),
}
GUARD_ALONE = (
    "this system cannot cut a process off from the network: Python's own sockets alone are refused "
    "to the code in the file"
)
_REFUSED_EVENTS = frozenset(
    ("socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo")
)


class _Program(ctypes.Structure):
    """``struct sock_fprog``."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


@cache
def cut_off() -> str:
    """Refuse every socket to this process from now on; gives a note where only Python's are."""
    if _filtered():
        return ""
    sys.addaudithook(_refuse)
    return GUARD_ALONE


def _refuse(event: str, arguments: tuple[object, ...]) -> None:
    if event in _REFUSED_EVENTS:
        raise PermissionError(13, "code in a trusted file has no network")


def _filtered() -> bool:
    """Have the kernel refuse sockets; whether it does."""
    known = _CALLS.get(platform.machine())
    if sys.platform != "linux" or known is None:
        return False
    machine, seccomp, refused = known
    code = b"".join(instructions(machine, refused))
    program = _Program(len(code) // 8, code)
    libc = ctypes.CDLL(None)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        return False
    found = libc.syscall(
        ctypes.c_long(seccomp), _SECCOMP_SET_MODE_FILTER, _ALL_THREADS, ctypes.byref(program)
    )
    return bool(found == 0)


def instructions(machine: int, refused: tuple[int, ...]) -> Iterator[bytes]:
    """A filter of the kernel's: refuse some calls, and all of another machine's interface."""
    last = len(refused) + 3
    """Jumps over what is left of the tests, to the refusal."""
    yield _instruction(_LOAD, _MACHINE)
    yield _instruction(_IF_EQUAL, machine, 0, last)
    yield _instruction(_LOAD, _NUMBER)
    yield _instruction(_IF_AT_LEAST, _X32, len(refused) + 1, 0)
    for place, number in enumerate(refused):
        yield _instruction(_IF_EQUAL, number, len(refused) - place, 0)
    yield _instruction(_RETURN, _ALLOW)
    yield _instruction(_RETURN, _REFUSE)


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """``struct sock_filter``."""
    return struct.pack("=HBBI", code, if_true, if_false, value)
