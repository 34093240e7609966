"""Errors and warnings in the vendor's own words, where they are known."""

import sys
import warnings
from types import FrameType

from opcheck.emulate.overload import Overload
from opcheck.model.matrix import SupportMatrix
from opcheck.model.report import Reason
from opcheck.resolve import resolution as codes
from opcheck.trace.place import is_internal

BOTH_DEVICES = (
    "Expected all tensors to be on the same device, but found at least two devices, {device} and "
    "cpu!"
)
"""What PyTorch says where host tensors meet device tensors."""


class Wording:
    """Says once what is said once."""

    def __init__(self, matrix: SupportMatrix, device: str) -> None:
        self._matrix = matrix
        self._device = device
        self._said: set[tuple[str, str]] = set()

    def no_kernel(self, overload: Overload) -> Exception:
        """What the dispatcher raises: on the device, or on the host where the fallback looks."""
        where = "CPU" if self._matrix.fallback.to_cpu else self._device.partition(":")[0]
        return NotImplementedError(
            f"Could not run '{overload.name}' with arguments from the '{where}' backend."
        )

    def refusal(self, overload: Overload, reason: Reason) -> Exception:
        """What the vendor's runtime raises; the reason is a note of the exception's."""
        if reason.code == codes.HOST_TENSOR:
            return RuntimeError(BOTH_DEVICES.format(device=self._device))
        message = self._matrix.messages.get(reason.code)
        if message is None or not message.raises:
            return RuntimeError(reason.text)
        text = message.text.replace("{op}", overload.op.base)
        error = RuntimeError(f"{text}\n{message.number}" if message.number else text)
        error.add_note(f"{overload.name} on {self._matrix.target}: {reason.text}")
        return error

    def fell_back(self, overload: Overload) -> None:
        """Warn, once for each overload, that it runs on the host."""
        self._warn("fallback", overload.name, self._matrix.fallback.text)

    def caution(self, overload: Overload, reason: Reason) -> None:
        """Warn as the vendor does, if it does, once for each overload."""
        message = self._matrix.messages.get(reason.code)
        if message is not None and not message.raises:
            self._warn(reason.code, overload.name, message.text)

    def _warn(self, code: str, name: str, text: str) -> None:
        if (code, name) not in self._said:
            self._said.add((code, name))
            warnings.warn(text.replace("{op}", name), stacklevel=_to_user())


def _to_user() -> int:
    """How many frames above the caller the first one is that is neither torch's nor ours."""
    frame: FrameType | None = sys._getframe(1)
    level = 1
    while frame is not None and is_internal(frame.f_code):
        frame, level = frame.f_back, level + 1
    return level if frame is not None else 1
