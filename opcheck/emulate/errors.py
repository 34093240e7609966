"""Errors in the vendor's own words, raised where the user's own code called for them.

Errors in backward, brought from autograd's thread to the user's call of ``backward``. An exception
that leaves Python there would end the process: while it unwinds, C++ asks Python for the stream
that was current before, and does not expect that to fail with an exception set. So what C++ calls
there, kernels and hooks of tensors, keeps the exception and gives a result that C++ refuses.

Private torch API used here, checked on 2.13.0: ``torch.autograd._engine_run_backward``, through
which every backward goes, ``torch._C._current_graph_task_id`` and
``torch._C._autograd._push_saved_tensors_default_hooks``, through which checkpointing goes.
"""

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from types import FrameType
from typing import Any

import torch

from opcheck.emulate.overload import Overload
from opcheck.errors import EmulationError
from opcheck.lang.sentence import Sentence
from opcheck.model.matrix import SupportMatrix
from opcheck.model.report import Reason
from opcheck.resolve import resolution as codes
from opcheck.trace.calls.call_site import is_internal

_NO_RESULT = object()
_RUN = "_engine_run_backward"
_HOOKS: tuple[tuple[Any, str, Any], ...] = (
    (torch.Tensor, "register_hook", None),
    (torch.Tensor, "register_post_accumulate_grad_hook", None),
    (torch._C._autograd, "_push_saved_tensors_default_hooks", _NO_RESULT),
)
"""Owner and name of functions whose second argument backward calls, and what that gives when it
fails: None goes on, since C++ would look at another result with an exception of its own."""
_NO_QUEUE = "device_ready_queues_"
"""What torch's assertion names when its engine was started without the device."""


class Backward:
    """Keeps the first error of a backward until the thread that called it can raise it."""

    def __init__(self) -> None:
        self._error: Exception | None = None

    def keep(self, error: Exception) -> Any:
        """Raise ``error``, or where only C++ would catch it keep it and give no result.

        To be called by the function that C++ calls.
        """
        called_by_python = sys._getframe(1).f_back is not None
        if called_by_python or torch._C._current_graph_task_id() == -1:
            raise error
        self._error = self._error or error
        return _NO_RESULT

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Raise from every backward inside the block what happened in it."""
        with ExitStack() as stack:
            stack.callback(setattr, torch.autograd, _RUN, getattr(torch.autograd, _RUN))
            setattr(torch.autograd, _RUN, self._running(getattr(torch.autograd, _RUN)))
            for owner, name, instead in _HOOKS:
                original = getattr(owner, name)
                stack.callback(setattr, owner, name, original)
                setattr(owner, name, self._taking(original, instead))
            yield

    def _running(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            if torch._C._current_graph_task_id() != -1:  # a backward inside of another
                return original(*args, **kwargs)
            self._error = None
            try:
                result = original(*args, **kwargs)
            except Exception as error:
                raise self._instead_of(error) from None
            if self._error is not None:
                raise self._error
            return result

        return run

    def _taking(self, original: Callable[..., Any], instead: Any) -> Callable[..., Any]:
        """A function whose second argument is a hook, and which makes that do no harm."""

        @wraps(original)
        def take(owner: Any, hook: Callable[..., Any]) -> Any:
            return original(owner, self._harmless(hook, instead))

        return take

    def _harmless(self, hook: Callable[..., Any], instead: Any) -> Callable[..., Any]:
        @wraps(hook)
        def call(*args: Any) -> Any:
            __tracebackhide__ = True
            try:
                return hook(*args)
            except Exception as error:
                self.keep(error)
                return instead

        return call

    def _instead_of(self, error: Exception) -> Exception:
        if self._error is not None:
            return self._error
        if _NO_QUEUE not in str(error):
            return error
        return EmulationError(
            Sentence(
                "this process ran a backward before the emulated device was first "
                "opened, and torch's autograd knows only the devices that were there "
                "then"
            ),
            Sentence(
                "open the device once before the first backward: with opcheck.emulate(target): pass"
            ),
        )


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
