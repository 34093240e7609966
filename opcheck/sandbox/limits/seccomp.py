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
from collections.abc import Iterator, Mapping

from opcheck.model.limits import Filter

X86_64, AARCH64 = "x86_64", "aarch64"
AUDIT_ARCH: Mapping[str, int] = {X86_64: 0xC000003E, AARCH64: 0xC00000B7}
"""``AUDIT_ARCH_…`` of ``linux/audit.h``."""

_NUMBERS: Mapping[str, tuple[int | None, int | None]] = {
    # name: (x86-64, the generic table, which aarch64 has); None: there is no such call
    "socket": (41, 198), "io_uring_setup": (425, 425),
    "execve": (59, 221), "execveat": (322, 281),
    "clone": (56, 220), "clone3": (435, 435), "fork": (57, None), "vfork": (58, None),
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "chown": (92, None), "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "setxattrat": (463, 463),
    "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
    "removexattrat": (466, 466), "file_setattr": (469, 469),
    "utime": (132, None), "utimes": (235, None), "futimesat": (261, None), "utimensat": (280, 88),
    "mount": (165, 40), "umount2": (166, 39), "move_mount": (429, 429), "fsopen": (430, 430),
    "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433), "open_tree": (428, 428),
    "mount_setattr": (442, 442), "pivot_root": (155, 41), "chroot": (161, 51),
    "setns": (308, 268), "unshare": (272, 97), "open_by_handle_at": (304, 265),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438), "prlimit64": (302, 261), "bpf": (321, 280),
    "perf_event_open": (298, 241), "userfaultfd": (323, 282), "keyctl": (250, 219),
    "add_key": (248, 217), "request_key": (249, 218), "init_module": (175, 105),
    "finit_module": (313, 273), "delete_module": (176, 106), "kexec_load": (246, 104),
    "kexec_file_load": (320, 294), "reboot": (169, 142), "swapon": (167, 224),
    "swapoff": (168, 225), "acct": (163, 89), "quotactl": (179, 60), "quotactl_fd": (443, 443),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "clock_adjtime": (305, 266),
    "adjtimex": (159, 171), "sethostname": (170, 161), "setdomainname": (171, 162),
    "iopl": (172, None), "ioperm": (173, None), "fanotify_init": (300, 262), "syslog": (103, 116),
    "shmget": (29, 194), "msgget": (68, 186), "semget": (64, 190), "mq_open": (240, 180),
    "ioctl": (16, 29), "seccomp": (317, 277),
}  # fmt: skip
"""Of ``asm/unistd_64.h`` and ``asm-generic/unistd.h`` of Linux 6.18."""

MODES = (
    "chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat",
    "setxattr", "lsetxattr", "fsetxattr", "setxattrat", "removexattr", "lremovexattr",
    "fremovexattr", "removexattrat", "file_setattr",
)  # fmt: skip
"""They change modes, owners and attributes of files, which Landlock does not know."""
TIMES = ("utime", "utimes", "futimesat", "utimensat")
"""They change times of files, which Landlock does not know either."""
EXEC = ("execve", "execveat")
SYSTEM = (
    "mount", "umount2", "move_mount", "fsopen", "fsconfig", "fsmount", "fspick", "open_tree",
    "mount_setattr", "pivot_root", "chroot", "setns", "unshare", "open_by_handle_at", "ptrace",
    "process_vm_readv", "process_vm_writev", "pidfd_getfd", "bpf", "perf_event_open",
    "userfaultfd", "keyctl", "add_key", "request_key", "init_module", "finit_module",
    "delete_module", "kexec_load", "kexec_file_load", "reboot", "swapon", "swapoff", "acct",
    "quotactl", "quotactl_fd", "settimeofday", "clock_settime", "clock_adjtime", "adjtimex",
    "sethostname", "setdomainname", "iopl", "ioperm", "fanotify_init", "syslog", "shmget",
    "msgget", "semget", "mq_open",
)  # fmt: skip
"""They reach the whole system, other processes or kernel code; no model needs one."""


def number(machine: str, name: str) -> int | None:
    """The number of a call; None where the machine has no such call."""
    return _NUMBERS[name][0 if machine == X86_64 else 1]


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
