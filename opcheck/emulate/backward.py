"""Errors in backward, brought from autograd's thread to the user's call of ``backward``.

An exception that leaves Python there would end the process: while it unwinds, C++ asks Python for
the stream that was current before, and does not expect that to fail with an exception set. So what
C++ calls there, kernels and hooks of tensors, keeps the exception and gives a result that C++
refuses.

Private torch API used here, checked on 2.13.0: ``torch.autograd._engine_run_backward``, through
which every backward goes, ``torch._C._current_graph_task_id`` and
``torch._C._autograd._push_saved_tensors_default_hooks``, through which checkpointing goes.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from typing import Any

import torch

from opcheck.errors import EmulationError

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
            "this process ran a backward before the emulated device was first opened, and torch's "
            "autograd knows only the devices that were there then",
            "open the device once before the first backward: with opcheck.emulate(target): pass",
        )
