"""The same script on the host and on emulated devices of three vendors gives the same values.

A process has one device, so each has its own.
"""

import os
import subprocess
from pathlib import Path

import pytest

from opcheck.runtime.device import VARIABLE
from tests.preloaded import python

EXAMPLE = Path(__file__).parents[2] / "examples" / "infer.py"
TARGETS = ("ascend-910b", "cambricon-mlu370", "moorethreads-s4000")
pytestmark = pytest.mark.slow
CASES = Path(__file__).parent / "on_device.py"


def ran(file: Path, target: str) -> subprocess.CompletedProcess[str]:
    """Run on the emulated device of a target; on the host where none is named."""
    command = [*python("torch", "torch._dynamo"), str(file), *([target] if target else [])]
    environment = {**os.environ, VARIABLE: "" if target else "cpu"}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def test_one_script_gives_the_same_everywhere() -> None:
    host = ran(EXAMPLE, "")
    first, *numbers = host.stdout.splitlines()
    assert (host.returncode, first, len(numbers)) == (0, "on cpu", 4), host.stderr
    for target in TARGETS:
        done = ran(EXAMPLE, target)
        assert done.stdout.splitlines() == [f"on {target}", *numbers], done.stderr


@pytest.mark.parametrize("target", TARGETS)
def test_a_device_does_all_that_the_host_does(target: str) -> None:
    done = ran(CASES, target)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
