"""What every test of one process shares."""

import os

import pytest

os.environ["OPCHECK_LANG"] = "en"  # whatever language the machine speaks


@pytest.fixture(scope="session", autouse=True)
def device_is_known() -> None:
    """Name the device before any test runs a backward: autograd learns of devices only then."""
    from opcheck.trace.device import prepare

    prepare("npu")
