"""What a process may do, put in force: Landlock for files, seccomp for everything else.

A profile is a value. :func:`confine` enforces it on the process for good; what this system cannot
enforce is known before, by :func:`missing`.
"""

import contextlib
import ctypes
import errno
import os
import struct
import sys
from collections.abc import Sequence

from opcheck.lang.sentence import Sentence
from opcheck.model.limits import Filter, Profile
from opcheck.sandbox.limits import landlock, seccomp, system_files
from opcheck.sandbox.limits.landlock import READ, WRITE, Access, Ruleset

_SOCKETS = frozenset(
    ("socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo")
)
_CAPABILITIES_3 = 0x20080522
_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH = 1, 2
_FILES = Access.READ_FILE | Access.WRITE_FILE | Access.TRUNCATE


def confine(profile: Profile) -> None:
    """Put a profile in force, for this thread and all that comes from it, and for good.

    What this system lacks is left out: see :func:`missing`.
    """
    if sys.platform == "linux":
        _drop_capabilities()
    if landlock.abi():
        with contextlib.suppress(OSError):  # switched off when the kernel was started
            _restrict(profile)
    allow(profile.filter)


def allow(wanted: Filter) -> None:
    """Have the kernel refuse what a filter says to this process, for good.

    Where it cannot, Python's own sockets are refused.
    """
    if seccomp.known():
        with contextlib.suppress(OSError):  # a kernel without filters
            seccomp.install(wanted)
            return
    sys.addaudithook(_refuse_sockets)


def _refuse_sockets(event: str, arguments: tuple[object, ...]) -> None:
    if event in _SOCKETS:
        raise PermissionError(errno.EACCES, "the process of a model has no network")


def _drop_capabilities() -> None:
    """Have nothing of root's but to read and write files of other users.

    With ``CAP_PERFMON`` a process sees the memory and the environment of others.
    """
    kept = 1 << _CAP_DAC_OVERRIDE | 1 << _CAP_DAC_READ_SEARCH
    libc = ctypes.CDLL(None)
    header = struct.pack("=Ii", _CAPABILITIES_3, 0)
    held = ctypes.create_string_buffer(24)
    if libc.capget(header, held) == 0:
        effective, permitted, *_ = struct.unpack("=6I", held.raw)
        libc.capset(header, struct.pack("=6I", effective & kept, permitted & kept, 0, 0, 0, 0))


def _restrict(profile: Profile) -> None:
    handled = WRITE
    if profile.reads is not None:
        handled |= READ
    if profile.interpreter or not profile.filter.programs:
        handled |= Access.EXECUTE
    rules = Ruleset(handled, network=False)
    if profile.reads is not None:
        own = system_files.existing((*system_files.SYSTEM, *system_files.interpreter()))
        rules.allow((*own, *profile.reads), READ)
        rules.allow(system_files.listed(), Access.READ_DIR)
    if profile.interpreter:
        rules.allow(system_files.existing(system_files.programs()), Access.EXECUTE)
    rules.allow((*system_files.DEVICES, *profile.writes), _FILES)
    if profile.empties:
        rules.allow([profile.empties], Access.REMOVE_DIR)
    shared = ["/dev/shm"] if profile.shared_memory else []
    rules.allow_use([profile.scratch, *shared, *profile.overlaid, *profile.writable])
    rules.restrict()


def missing() -> Sequence[str]:
    """What is not enforced on this system, a sentence each; none where all of it is."""
    if sys.platform != "linux":
        return (
            Sentence(
                "on {name} a model's process has its limits of time alone: files, network and "
                "processes are not kept from it",
                name=sys.platform,
            ),
        )
    found = []
    version = landlock.abi()
    if not version:
        found.append("this kernel has no Landlock: files are not kept from a model's process")
    elif version < landlock.SCOPE_ABI:
        found.append(
            Sentence(
                "Landlock of this kernel is of version {count_version}, not {count}: a model's "
                "process could send signals to others of yours",
                count_version=version,
                count=landlock.SCOPE_ABI,
            )
        )
    if not seccomp.known():
        found.append(
            Sentence(
                "no filter of system calls is known for {name}: the network and other programs "
                "are not kept from a model's process",
                name=os.uname().machine,
            )
        )
    return tuple(found)


def scratch_environment(folder: str) -> dict[str, str]:
    """What makes libraries use a folder as home, for caches and for temporary files."""
    inside = {
        "HOME": "", "TMPDIR": "tmp", "XDG_CACHE_HOME": "cache", "XDG_CONFIG_HOME": "config",
        "XDG_DATA_HOME": "data", "HF_HOME": "huggingface", "TORCH_HOME": "torch",
        "MPLCONFIGDIR": "matplotlib", "YOLO_CONFIG_DIR": "ultralytics",
        "TRITON_CACHE_DIR": "triton", "TORCHINDUCTOR_CACHE_DIR": "inductor",
    }  # fmt: skip
    return {name: os.path.join(folder, part) if part else folder for name, part in inside.items()}


_OF_TOOLS = (
    "TMPDIR", "MPLCONFIGDIR", "YOLO_CONFIG_DIR", "TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR"
)  # fmt: skip


def tools_environment(folder: str) -> dict[str, str]:
    """What makes libraries write there on import, while home and caches are still the user's."""
    inside = scratch_environment(folder)
    return {name: inside[name] for name in _OF_TOOLS}
