"""Errors in backward, brought from autograd's thread to the user's call of ``backward``.

An exception that a Python kernel raises there would end the process: while it unwinds, C++ asks
Python for the stream that was current before, and does not expect that to fail with an exception
set. So the kernel keeps the exception and gives a result that C++ refuses.

Private torch API used here, checked on 2.13.0: ``torch.autograd._engine_run_backward``, through
which every backward goes, and ``torch._C._current_graph_task_id``.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from opcheck.errors import EmulationError

_NO_RESULT = object()
_NO_QUEUE = "device_ready_queues_"
"""What torch's assertion names when its engine was started without the device."""


class Backward:
    """Keeps the first error of a backward until the thread that called it can raise it."""

    def __init__(self) -> None:
        self._error: Exception | None = None

    def keep(self, error: Exception) -> Any:
        """Raise ``error``, or in backward keep it and give what C++ refuses as a result."""
        if torch._C._current_graph_task_id() == -1:
            raise error
        self._error = self._error or error
        return _NO_RESULT

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Raise from every backward inside the block what happened in it."""
        original: Any = torch.autograd._engine_run_backward  # type: ignore[attr-defined]  # private

        def run(*args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            if torch._C._current_graph_task_id() != -1:  # a backward inside of another
                return original(*args, **kwargs)
            self._error = None
            try:
                return original(*args, **kwargs)
            except Exception as error:
                raise self._instead_of(error) from None

        torch.autograd._engine_run_backward = run  # type: ignore[attr-defined]  # restored below
        try:
            yield
        finally:
            torch.autograd._engine_run_backward = original  # type: ignore[attr-defined]  # as it was

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
