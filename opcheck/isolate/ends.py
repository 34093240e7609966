"""How a process ended, by what it or the system says."""

import signal
from collections.abc import Mapping

from opcheck import errors
from opcheck.errors import OpcheckError

ERRORS: Mapping[str, type[OpcheckError]] = {
    name: value
    for name, value in vars(errors).items()
    if isinstance(value, type) and issubclass(value, OpcheckError)
}
"""The errors that a process may tell of, by name."""


def signal_name(number: int) -> str:
    """``SIGABRT``; of a signal without a name ``signal 40``."""
    try:
        return signal.Signals(number).name
    except ValueError:  # most of those for real time have no name
        return f"signal {number}"
