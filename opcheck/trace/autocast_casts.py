"""The casts of autocast and its cache of weights, after ``aten/src/ATen/autocast_mode.cpp``.

Checked on torch 2.13.0: ``torch.autocast`` calls ``torch.clear_autocast_cache`` when its outermost
region ends, and finds it by that name.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Any

import torch
from torch import Tensor


class Casts:
    """Casts the device's floating-point tensors, weights once for each autocast region."""

    def __init__(self, device_type: str) -> None:
        self._device_type = device_type
        self._weights: dict[int, tuple[Tensor, Tensor]] = {}
        self._lock = RLock()

    def takes(self, tensor: Tensor) -> bool:
        """Whether autocast concerns itself with it."""
        return (
            tensor.device.type == self._device_type
            and tensor.is_floating_point()
            and tensor.dtype != torch.float64
        )

    def region(self) -> torch.dtype:
        """What the autocast region computes in."""
        return torch.get_autocast_dtype(self._device_type)

    def cast(self, value: Any, to: torch.dtype) -> Any:
        """Cast a tensor, or the tensors of a list; anything else stays as it is."""
        if isinstance(value, list | tuple):
            return [self.cast(item, to) for item in value]
        if not isinstance(value, Tensor) or not self.takes(value) or value.dtype == to:
            return value
        return self._weight(value, to) if self._is_kept(value, to) else value.to(to)

    def _is_kept(self, tensor: Tensor, to: torch.dtype) -> bool:
        return (
            to == self.region()
            and tensor.dtype == torch.float32
            and tensor.requires_grad
            and tensor.is_leaf
            and not tensor._is_view()
            and torch.is_autocast_cache_enabled()
            and not torch.is_inference_mode_enabled()
        )

    def _weight(self, tensor: Tensor, to: torch.dtype) -> Tensor:
        with self._lock:
            kept = self._weights.get(id(tensor))
            if kept is None:
                with torch.enable_grad():  # a later use may want the gradient
                    # the weight is kept as well: its id must not be given to another tensor
                    kept = self._weights[id(tensor)] = (tensor, tensor.to(to))
            return kept[1]

    @contextmanager
    def cleared_with_torchs(self) -> Iterator[None]:
        """Forget the weights whenever torch forgets those that its own kernels cast."""
        clear = torch.clear_autocast_cache

        def clear_both() -> None:
            self._weights.clear()
            clear()

        torch.clear_autocast_cache = clear_both
        try:
            yield
        finally:
            torch.clear_autocast_cache = clear
            self._weights.clear()
