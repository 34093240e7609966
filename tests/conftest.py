"""What every test of one process shares."""

import os
import subprocess
from typing import NoReturn

import pytest

os.environ["OPCHECK_LANG"] = "en"  # whatever language the machine speaks


@pytest.fixture(scope="session", autouse=True)
def device_is_known() -> None:
    """Name the device before any test runs a backward: autograd learns of devices only then."""
    from opcheck.trace.device import prepare

    prepare("npu")


@pytest.fixture
def no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail the test where a process is started."""

    def started(*_: object, **__: object) -> NoReturn:
        pytest.fail("a process was started")

    monkeypatch.setattr(subprocess, "Popen", started)
