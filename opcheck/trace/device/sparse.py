"""A sparse tensor of the traced device: it is on the host, with its values, and says otherwise.

Where the values of a model's sparse buffer or input are known, so is what becomes of it. Without
values nothing tells how many elements it has.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import _disable_current_modes

from opcheck.trace.device.state import now
from opcheck.trace.device.tensors import DeviceTensor

SPARSE = frozenset(
    {torch.sparse_coo, torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc}
)
"""Layouts."""


class SparseTensor(torch.Tensor):
    """A tensor of a sparse layout that is taken to be on the device."""

    host: Tensor
    """The tensor itself."""
    key: tuple[Any, ...]
    """Dtype, shape, layout and number of elements: what the shape of a result can depend on."""
    place: torch.device
    """The device that C++ would know."""

    @property
    def device(self) -> torch.device:  # type: ignore[override]  # torch says it can be written
        """The device that Python is told of."""
        return DeviceTensor.shown or self.place

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]  # torch leaves out the first argument
        cls,
        func: Any,
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Have the engine answer; outside a run, what is on the host does."""
        engine = now()
        if engine is not None:
            return engine.__torch_dispatch__(func, types, args, kwargs)
        return func(*map(_host, args), **{name: _host(v) for name, v in (kwargs or {}).items()})

    def __repr__(self, **_: Any) -> str:  # type: ignore[override]  # torch passes contents
        return f"tensor(..., device='{self.device}', size={self.shape}, layout={self.layout})"


def _host(value: Any) -> Any:
    return value.host if isinstance(value, SparseTensor) else value


def sparse_tensor(host: Tensor, device: torch.device) -> SparseTensor:
    """Take a sparse tensor on the host as one of the device."""
    host = host.detach()
    made = torch.Tensor._make_subclass(SparseTensor, host)
    made.host, made.place = host, device
    with _disable_current_modes():
        made.key = (host.dtype, host.shape, host.layout, host._nnz())
    return made
