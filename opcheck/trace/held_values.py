"""Values of a step's tensors that autograd keeps copies of.

Private torch API used here, checked on 2.13.0: ``torch._C._storage_address``.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

LOST = "_opcheck_lost"
"""Marks the storage of values of which some were overwritten with others that nobody knows."""
_C: Any = torch._C  # its stubs leave this out
address: Callable[[Tensor], int] = _C._storage_address
"""Where a tensor's storage is; to ask for the storage itself would keep it in use."""


class Held:
    """Values by the address of their tensor's storage, during a run with gradients.

    Autograd saves a result as a copy of it that is no Python object, and shares its storage alone.
    To ask for that as a Python object would keep gradients from being summed in place.
    """

    def __init__(self) -> None:
        self.values: dict[int, Tensor] | None = None
        """None: not in such a run."""

    def note(self, tensor: Tensor, value: Tensor | None) -> None:
        """Note values of a tensor, or that nobody knows those at its storage's address."""
        if self.values is None:
            return
        if value is None or value.is_conj() or value.is_neg():
            self.values.pop(address(tensor), None)
        else:
            self.values[address(tensor)] = value

    def of(self, bare: Tensor) -> Tensor | None:
        """The values of a tensor that C++ made of one of ours; None: not known."""
        found = (self.values or {}).get(address(bare))
        if found is None or bare.dtype != found.dtype or bare.is_conj() or bare.is_neg():
            return None
        if LOST in found.untyped_storage().__dict__:
            return None
        return found.as_strided(bare.shape, bare.stride(), bare.storage_offset())


HELD = Held()
