"""``pytest --opcheck-device ascend-910b``: a whole test suite on an emulated device.

pytest imports this module in every run of everybody who has opcheck, so it imports nothing slow
and does nothing unless it is asked.
"""

from typing import TYPE_CHECKING

import pytest

from opcheck.pytest_plugin import options

if TYPE_CHECKING:
    import torch

_PLUGIN = "opcheck-device"
_MARKER = "opcheck_no_fallback: fail if the test runs an operator on the host (emulated device)"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options, and the same ones for the configuration file."""
    options.declare(parser)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Open the device before anything of the user's is imported."""
    _open(early_config)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Open the device if this module was loaded too late for the hook above."""
    config.addinivalue_line("markers", _MARKER)
    _open(config)


@pytest.fixture(scope="session")
def opcheck_device(pytestconfig: pytest.Config) -> "torch.device":
    """The emulated ``torch.device``; without one, what asks for it is skipped."""
    from opcheck.pytest_plugin.run import DeviceRun

    run = pytestconfig.pluginmanager.get_plugin(_PLUGIN)
    if not isinstance(run, DeviceRun):
        pytest.skip("needs an emulated device: pytest --opcheck-device TARGET")
    return run.device


def _open(config: pytest.Config) -> None:
    if config.pluginmanager.has_plugin(_PLUGIN):
        return
    chosen = options.chosen(config)
    if chosen is not None:
        from opcheck.pytest_plugin.run import DeviceRun

        run = DeviceRun(chosen, config)
        config.pluginmanager.register(run, _PLUGIN)
