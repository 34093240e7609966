"""Ranges that a profiler of the vendor shows: counted as nested, and shown nowhere.

Named after torch_mlu r2.4, ``torch_mlu/mlu/cnpx.py``, and torch_npu 26.1.0,
``torch_npu/npu/mstx.py``.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

from opcheck.trace.device.state import DeviceState, Part

CNPX = "cnpx"


class Cnpx(Part):
    """``torch.mlu.cnpx``, which stands for ``torch.cuda.nvtx`` there."""

    def __init__(self, host: Callable[[], DeviceState]) -> None:
        super().__init__(host)
        self._depth, self._numbers = 0, count(1)

    def range_push(self, msg: str) -> int:
        """Begin a range inside those that are open: how many those are."""
        self._depth += 1
        return self._depth - 1

    def range_pop(self) -> int:
        """End the innermost range: how many are left; negative where none was open."""
        self._depth = max(self._depth - 1, -1)
        return self._depth

    def range_start(self, msg: str) -> int:
        """Begin a range that may overlap others: its number."""
        return next(self._numbers)

    def range_end(self, range_id: int) -> None:
        """End the range of that number."""

    def mark(self, msg: str) -> None:
        """Note an event."""

    @contextmanager
    def range(self, msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
        """A range around what is in the block; ``msg`` is formatted with the arguments."""
        self.range_push(msg.format(*args, **kwargs))
        yield
        self.range_pop()


class Mstx(Part):
    """``torch.npu.mstx``: as above, with a stream and a domain."""

    def __init__(self, host: Callable[[], DeviceState]) -> None:
        super().__init__(host)
        self._ranges = Cnpx(host)

    def mark(self, message: str, stream: Any = None, domain: str = "default") -> None:
        """Note an event."""

    def range_push(self, message: str, stream: Any = None, domain: str = "default") -> int:
        """Begin a range inside those that are open: how many those are."""
        return self._ranges.range_push(message)

    def range_pop(self, domain: str = "default") -> int:
        """End the innermost range: how many are left."""
        return self._ranges.range_pop()

    def range_start(self, message: str, stream: Any = None, domain: str = "default") -> int:
        """Begin a range that may overlap others: its number."""
        return self._ranges.range_start(message)

    def range_end(self, range_id: int, domain: str = "default") -> None:
        """End the range of that number."""

    def mstx_range(
        self, message: str, stream: Any = None, domain: str = "default"
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """A decorator: a range around each call, which nothing shows."""
        return lambda function: function
