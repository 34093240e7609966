"""Values that autograd keeps copies of, and the forward call of each step of the backward.

Private torch API used here, checked on 2.13.0: ``torch._C._storage_address`` and
``torch._C._functorch.is_functorch_wrapped_tensor``.

Private torch API used here, checked on 2.13.0: ``torch.autograd._get_sequence_nr`` (the number that
the next autograd node of this thread will have; other threads count for themselves),
``torch._C._current_autograd_node`` and ``Node._sequence_nr``. An autograd node is made just before
its call reaches the device, so that inside the call it is the last one made.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from opcheck.trace.calls.call_site import NOWHERE, Site

LOST = "_opcheck_lost"
"""Marks the storage of values of which some were overwritten with others that nobody knows."""
_C: Any = torch._C  # its stubs leave this out
address: Callable[[Tensor], int] = _C._storage_address
"""Where a tensor's storage is; to ask for the storage itself would keep it in use."""
_wrapped: Callable[[Tensor], bool] = _C._functorch.is_functorch_wrapped_tensor


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
        if _wrapped(bare):  # by torch.func, around another that may be wrapped again
            return None
        found = (self.values or {}).get(address(bare))
        if found is None or bare.dtype != found.dtype or bare.is_conj() or bare.is_neg():
            return None
        if LOST in found.untyped_storage().__dict__:
            return None
        return found.as_strided(bare.shape, bare.stride(), bare.storage_offset())


HELD = Held()


_next_number: Any = getattr(torch.autograd, "_get_sequence_nr")  # noqa: B009  # not exported


class Forwards:
    """Places of the forward's calls, by the number of their autograd node."""

    def __init__(self) -> None:
        self._places: dict[int, tuple[str, Site]] = {}

    def note(self, place: tuple[str, Site]) -> None:
        """A call is made at ``place``: (module, line of the user's)."""
        self._places.setdefault(_next_number() - 1, place)

    def gone_back_to(self) -> tuple[str, Site]:
        """The place whose gradient is being computed on this thread; nowhere if none is known."""
        node = torch._C._current_autograd_node()
        number = None if node is None else node._sequence_nr()
        return ("", NOWHERE) if number is None else self._places.get(number, ("", NOWHERE))


def differentiated(
    names: Sequence[str], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> frozenset[str]:
    """The arguments of a call that a gradient is wanted of, while gradients are followed."""
    if not torch.is_grad_enabled():
        return frozenset()
    return frozenset(_needing({**dict(zip(names, args, strict=False)), **kwargs}))


def _needing(given: Mapping[str, Any]) -> Iterator[str]:
    for name, value in given.items():
        if any(isinstance(part, Tensor) and part.requires_grad for part in tree_leaves(value)):
            yield name
