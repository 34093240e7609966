"""Numbers of Linux system calls, by machine: what a seccomp filter compares."""

from collections.abc import Mapping

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
