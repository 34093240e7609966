"""What every test of one process shares."""

import pytest


@pytest.fixture(scope="session", autouse=True)
def device_is_known() -> None:
    """Name the device before any test runs a backward: autograd learns of devices only then."""
    from opcheck.trace.device import prepare

    prepare("npu")
