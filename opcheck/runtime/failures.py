"""The device's queue and memory, and what goes wrong there, in words that say what to do."""

import gc
import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from opcheck.errors import InferenceError, out_of_memory
from opcheck.lang.sentence import Sentence
from opcheck.runtime.device import DetectedDevice

_SAID = ("out of memory", "RESOURCE_EXHAUSTED", "MemoryError")
"""How vendors' allocators say that there is no more; CUDA's and XPU's have a class besides."""


def synchronize(device: DetectedDevice) -> None:
    """Wait until the device has done all that was asked of it."""
    kind = device.device.type
    if kind == "xla":
        torch_xla: Any = importlib.import_module("torch_xla")
        torch_xla.sync(wait=True)
    else:
        _call(kind, "synchronize")


def release(device: DetectedDevice) -> None:
    """Give memory that nothing uses back to the device, for other processes."""
    if device.device.type != "cpu":
        gc.collect()
        _call(device.device.type, "empty_cache")


def ran_out(error: BaseException) -> bool:
    """Whether an error says that memory ran out, of the device or of the host."""
    if isinstance(error, torch.OutOfMemoryError) or out_of_memory(error):
        return True
    return isinstance(error, RuntimeError) and any(said in str(error) for said in _SAID)


def _call(kind: str, function: str) -> None:
    """Call what the device's module has under that name: not every device needs it."""
    getattr(getattr(torch, kind, None), function, lambda: None)()


_LESS = Sentence(
    "give a smaller max_batch or shorter inputs, precision='bfloat16' or "
    "'float16' where the chip has it, end other processes on the device, "
    "or take one with more memory"
)


@contextmanager
def told(device: DetectedDevice, where: Sentence) -> Iterator[None]:
    """Say what to do where a device has no memory or no kernel; other errors stay as they are.

    ``where``: at what it was when there was no memory.

    Raises:
        InferenceError: in the place of such an error.
    """
    try:
        yield
    except Exception as error:
        if ran_out(error):
            release(device)
            text = Sentence(
                "{text_device} has not enough memory {said_where}: {text}",
                text_device=device,
                said_where=where,
                text=_line(error),
            )
            raise InferenceError(text, _LESS) from error
        if isinstance(error, NotImplementedError) and "Could not run" in str(error):
            raise InferenceError(
                Sentence(
                    "{text_device} has no kernel for what the model calls: {text}",
                    text_device=device,
                    text=_line(error),
                ),
                Sentence(
                    "opcheck plan MODEL -t {target} says what to change; shim='auto' with "
                    "allow='tolerance' may do",
                    target=device.target or "TARGET",
                ),
            ) from error
        raise


def _line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:200]
