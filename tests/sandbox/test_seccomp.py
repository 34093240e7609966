"""The filter of system calls, read as the kernel reads it."""

import errno
import struct

import pytest

from opcheck.model.limits import Filter
from opcheck.sandbox.limits.seccomp import (
    AARCH64,
    AUDIT_ARCH,
    MODES,
    SYSTEM,
    X86_64,
    instructions,
    number,
)

ALLOWED = None
AF_UNIX, AF_INET = 1, 2
NEW_USER, THREAD, SIGCHLD = 0x10000000, 0x00010000, 17
MACHINES = (X86_64, AARCH64)
every_machine = pytest.mark.parametrize("machine", MACHINES)


def answer(wanted: Filter, machine: str, call: int, *arguments: int, arch: int = 0) -> int | None:
    """The error that the kernel gives for a call, as ``struct seccomp_data`` shows it."""
    six = (*arguments, *(0,) * (6 - len(arguments)))
    data = struct.pack("=iIQ6Q", call, arch or AUDIT_ARCH[machine], 0, *six)
    code = b"".join(instructions(wanted, machine))
    program = [struct.unpack_from("=HBBI", code, place) for place in range(0, len(code), 8)]
    held, at = 0, 0
    while True:
        kind, if_true, if_false, value = program[at]
        at += 1
        match kind:
            case 0x20:
                (held,) = struct.unpack_from("=I", data, value)
            case 0x15:
                at += if_true if held == value else if_false
            case 0x35:
                at += if_true if held >= value else if_false
            case 0x45:
                at += if_true if held & value else if_false
            case 0x06:
                return ALLOWED if value == 0x7FFF0000 else value - 0x00050000
            case _:
                raise AssertionError(kind)


def named(wanted: Filter, machine: str, name: str, *arguments: int) -> int | None:
    call = number(machine, name)
    assert call is not None
    return answer(wanted, machine, call, *arguments)


@every_machine
@pytest.mark.parametrize("name", [*SYSTEM, "socket", "io_uring_setup", "clone3", "execve"])
def test_what_reaches_other_processes_is_refused(machine: str, name: str) -> None:
    if number(machine, name) is not None:
        assert named(Filter(), machine, name) not in (ALLOWED, 0)


@every_machine
def test_other_interfaces_are_refused(machine: str) -> None:
    (other,) = {*MACHINES} - {machine}
    assert answer(Filter(), machine, 0, arch=AUDIT_ARCH[other]) == errno.EACCES
    assert answer(Filter(), machine, 0x40000000) == errno.EACCES
    assert answer(Filter(), machine, 0x40000000 + 41) == errno.EACCES


@every_machine
def test_what_any_process_needs_is_allowed(machine: str) -> None:
    refused = {number(machine, name) for name in (*SYSTEM, *MODES)}
    for call in {0, 1, 2, 3, 9, 10, 11, 12, 40, 62, 63, 64} - refused:  # read, write, mmap, …
        assert answer(Filter(), machine, call) is ALLOWED


@every_machine
def test_sockets_of_the_machine_itself_are_told_from_others(machine: str) -> None:
    code = Filter(local_sockets=True)
    assert named(code, machine, "socket", AF_UNIX) is ALLOWED
    assert named(code, machine, "socket", AF_INET) == errno.EACCES
    assert named(code, machine, "socket", 16) == errno.EACCES  # AF_NETLINK
    assert named(Filter(), machine, "socket", AF_UNIX) == errno.EACCES
    assert named(code, machine, "socket", AF_UNIX + (AF_INET << 32)) is ALLOWED  # an int to Linux


@every_machine
def test_threads_are_told_from_processes(machine: str) -> None:
    alone = Filter(processes=False)
    assert named(alone, machine, "clone", THREAD) is ALLOWED
    assert named(alone, machine, "clone", SIGCHLD) == errno.EAGAIN
    assert named(Filter(), machine, "clone", SIGCHLD) is ALLOWED
    assert named(Filter(), machine, "clone", SIGCHLD | NEW_USER) == errno.EPERM


@every_machine
def test_limits_of_others_and_flags_of_files_are_left_alone(machine: str) -> None:
    assert named(Filter(), machine, "prlimit64", 0) is ALLOWED
    assert named(Filter(), machine, "prlimit64", 1) == errno.EPERM
    assert named(Filter(), machine, "ioctl", 3, 0x5401) is ALLOWED  # TCGETS
    assert named(Filter(), machine, "ioctl", 3, 0x40086602) == errno.EPERM  # FS_IOC_SETFLAGS


@every_machine
def test_modes_are_refused_or_not_changed(machine: str) -> None:
    for name in MODES:
        if number(machine, name) is not None:
            assert named(Filter(), machine, name) == errno.EPERM
            assert named(Filter(modes=True), machine, name) == 0
    assert named(Filter(modes=True), machine, "utimensat") is ALLOWED
    assert named(Filter(), machine, "utimensat") == errno.EPERM


def test_the_numbers_are_the_kernels(machine_header: dict[str, int]) -> None:
    for name in (*SYSTEM, *MODES, "socket", "clone", "clone3", "execve", "ioctl", "seccomp"):
        if name in machine_header:
            assert number(X86_64, name) == machine_header[name], name


@pytest.fixture
def machine_header() -> dict[str, int]:
    """Numbers as the headers of this machine's C library have them."""
    from pathlib import Path

    header = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")
    if not header.exists():
        pytest.skip("this machine has no headers of x86-64 Linux")
    rows = [line.split() for line in header.read_text().splitlines()]
    found = {row[1].removeprefix("__NR_"): int(row[2]) for row in rows if len(row) == 3}
    assert len(found) > 300
    return found
