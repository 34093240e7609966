"""Which call of the forward each step of the backward goes back to.

Private torch API used here, checked on 2.13.0: ``torch.autograd._get_sequence_nr`` (the number that
the next autograd node of this thread will have; other threads count for themselves),
``torch._C._current_autograd_node`` and ``Node._sequence_nr``. An autograd node is made just before
its call reaches the device, so that inside the call it is the last one made.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from opcheck.trace.place import NOWHERE, Site

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
