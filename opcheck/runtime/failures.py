"""What goes wrong on a device, in words that say what to do."""

from collections.abc import Iterator
from contextlib import contextmanager

from opcheck.errors import InferenceError
from opcheck.runtime.device import DetectedDevice
from opcheck.runtime.memory import ran_out, release

_LESS = (
    "give a smaller max_batch or shorter inputs, precision='bfloat16' or 'float16' where the chip "
    "has it, end other processes on the device, or take one with more memory"
)


@contextmanager
def told(device: DetectedDevice, where: str) -> Iterator[None]:
    """Say what to do where a device has no memory or no kernel; other errors stay as they are.

    Raises:
        InferenceError: in the place of such an error.
    """
    try:
        yield
    except Exception as error:
        if ran_out(error):
            release(device)
            text = f"{device} has not enough memory {where}: {_line(error)}"
            raise InferenceError(text, _LESS) from error
        if isinstance(error, NotImplementedError) and "Could not run" in str(error):
            raise InferenceError(
                f"{device} has no kernel for what the model calls: {_line(error)}",
                f"opcheck plan MODEL -t {device.target or 'TARGET'} says what to change; "
                "shim='auto' with allow='tolerance' may do",
            ) from error
        raise


def _line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:200]
