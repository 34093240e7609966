"""Code that comes with a trusted file has no network."""

import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from opcheck.model.request import ScanRequest
from opcheck.model.target import TargetSpec
from opcheck.pipeline.scan import scan
from opcheck.worker.offline import GUARD_ALONE, instructions

MACHINE, OTHER = 0xC000003E, 0x40000003
ALLOWED, REFUSED = 0x7FFF0000, 0x0005000D
TRIES = """
import asyncio, ctypes, socket, subprocess, sys, threading
from opcheck.worker.offline import cut_off

found = []
native = ctypes.CDLL(None)
ready, go = threading.Event(), threading.Event()
def later():
    ready.set(); go.wait(); found.append(native.socket(2, 1, 0))
thread = threading.Thread(target=later); thread.start(); ready.wait()
assert cut_off() == cut_off() == ""
go.set(); thread.join()
found.append(native.socket(2, 1, 0))
try:
    socket.create_connection(("127.0.0.1", int(sys.argv[1])))
except PermissionError:
    found.append("refused")
child = "import socket; socket.socket()"
found.append(subprocess.run([sys.executable, "-c", child], stderr=-3).returncode)
asyncio.run(asyncio.sleep(0))
print(found)
"""
CALLS_OUT = """
import socket, torch
from torch import nn

class Net(nn.Linear):
    def __setstate__(self, state):
        super().__setstate__(state)
        try:
            socket.create_connection(("127.0.0.1", int(open("port").read())), 1)
            print("connected")
        except OSError as error:
            print("refused", type(error).__name__)
"""


def answer(code: bytes, machine: int, number: int) -> int:
    """What the kernel does with a call, as ``struct seccomp_data`` shows it."""
    data = struct.pack("=II", number, machine)
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
            case _:
                return int(value)


@pytest.mark.parametrize(
    ("machine", "number", "expected"),
    [
        (MACHINE, 0, ALLOWED),
        (MACHINE, 40, ALLOWED),
        (MACHINE, 41, REFUSED),
        (MACHINE, 42, ALLOWED),
        (MACHINE, 53, ALLOWED),
        (MACHINE, 425, REFUSED),
        (MACHINE, 0x40000000 + 41, REFUSED),
        (MACHINE, 0x40000000, REFUSED),
        (OTHER, 0, REFUSED),
        (OTHER, 102, REFUSED),
    ],
)
def test_the_filter_refuses_sockets_and_other_interfaces(
    machine: int, number: int, expected: int
) -> None:
    assert answer(b"".join(instructions(MACHINE, (41, 425))), machine, number) == expected


@pytest.fixture
def port() -> Iterator[int]:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield server.getsockname()[1]


linux = pytest.mark.skipif(sys.platform != "linux", reason="the filter is Linux's")


@linux
def test_no_code_of_the_process_gets_a_socket(port: int) -> None:
    done = subprocess.run([sys.executable, "-c", TRIES, str(port)], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[-1, -1, 'refused', 1]\n", "")


@linux
def test_a_trusted_pickle_cannot_call_out(
    port: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    Path("port").write_text(str(port))
    Path("net_out.py").write_text(CALLS_OUT)
    import net_out  # type: ignore[import-not-found]  # written above

    torch.save(net_out.Net(2, 2), "net.pt")
    said: list[str] = []
    request = ScanRequest("net.pt", (TargetSpec.parse("ascend-910b"),), trust=True)
    report = scan(request, output=said.append)
    assert {*said} == {"refused PermissionError"}
    assert [finding.op for finding in report.targets[0].findings] == ["aten::linear"]
    assert GUARD_ALONE not in report.trace.notes
