"""The same script on the host and on emulated devices of three vendors gives the same values.

A process has one device, so each has its own.
"""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "infer.py"
TARGETS = {"ascend-910b": "npu:0", "cambricon-mlu370": "mlu:0", "moorethreads-s4000": "musa:0"}
CASES = Path(__file__).parent / "on_device.py"


def ran(file: Path, target: str, device: str = "") -> subprocess.CompletedProcess[str]:
    from os import environ

    command = [sys.executable, str(file), *([target] if target else [])]
    environment = {**environ, "OPCHECK_DEVICE": device}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def test_one_script_gives_the_same_everywhere() -> None:
    host = ran(EXAMPLE, "", "cpu")
    assert (host.returncode, host.stdout.count("\n")) == (0, 4), host.stderr
    for target, device in TARGETS.items():
        done = ran(EXAMPLE, target)
        assert done.stdout == host.stdout, done.stderr
        assert done.stderr.startswith(f"on {device} (")


@pytest.mark.parametrize("target", TARGETS)
def test_a_device_does_all_that_the_host_does(target: str) -> None:
    done = ran(CASES, target)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
