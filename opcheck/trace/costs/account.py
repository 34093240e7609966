"""Which of a run's tensors live at once: bytes from a storage's birth to its death.

What knows of a tensor is kept with its storage, and goes when the storage does; views that share
the memory of another tensor keep that one's.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from opcheck.trace.costs.traffic import distinct_bytes
from opcheck.trace.device import KEPT, DeviceTensor, carry


class Block:
    """Bytes that live as long as this does."""

    __slots__ = ("_account", "born", "nbytes")

    def __init__(self, account: "Account", nbytes: int) -> None:
        self._account, self.nbytes = account, nbytes
        self.born = len(account.after)
        """How many calls there were before."""
        account.add(nbytes)

    def __del__(self) -> None:
        self._account.add(-self.nbytes)


_WEIGHT = object()
"""Stands for the memory of a parameter or buffer, which is there before and after the run."""


class Account:
    """Counts the bytes that live, as calls make tensors and Python and C++ drop them."""

    def __init__(self, model: nn.Module) -> None:
        self.live = 0
        self.after: list[int] = []
        """Bytes alive right after each call."""
        self.states = self.trained = 0
        self.gradients: tuple[tuple[int, int], ...] = ()
        """How many calls were made before one that made a gradient, and its bytes."""
        self._most = 0
        parameters = {id(one): one for one in model.parameters()}
        buffers = {id(one): one for one in model.buffers() if id(one) not in parameters}
        self.weights = _begun(parameters.values())
        self.buffers = _begun(buffers.values())

    def add(self, nbytes: int) -> None:
        """Bytes were born, or died where there are fewer than none."""
        self.live += nbytes
        self._most = max(self._most, self.live)

    def took(self, given: Iterable[Tensor], result: Any, *, view: bool, inside: int) -> None:
        """A call gave ``result``; ``inside`` bytes more lived while it ran part by part."""
        for tensor in tree_leaves(result):
            if type(tensor) is DeviceTensor:
                kept = _kept_of(tensor)
                if KEPT not in kept:
                    self._enter(kept, tensor, given if view else ())
        self._most = max(self._most, self.live + inside)

    def _enter(self, kept: dict[str, Any], made: DeviceTensor, given: Iterable[Tensor]) -> None:
        viewed = next((tensor for tensor in given if isinstance(tensor, DeviceTensor)), None)
        if viewed is not None:
            carry(made, viewed)
            return
        kept[KEPT] = Block(self, made.spec.nbytes)

    @contextmanager
    def inside(self) -> Iterator[Callable[[], int]]:
        """Give, once the block is over, how many bytes more than before it lived in it at most."""
        before, outer = self.live, self._most
        self._most = self.live
        found: list[int] = []
        try:
            yield lambda: found[0]
        finally:
            found.append(self._most - before)
            self._most = max(outer, self.live)

    def note(self, calls: int) -> None:
        """So many calls were made by now."""
        self.after += [self.live] * (calls - len(self.after))

    def stepped(self, optimizer: Any) -> None:
        """A training step is over."""
        parameters = [p for group in optimizer.param_groups for p in group["params"]]
        self.trained = _bytes(parameters)
        self.gradients = tuple(_births(p.grad for p in parameters))
        self.states = _bytes(tree_leaves([dict(held) for held in optimizer.state.values()]))


@contextmanager
def accounted() -> Iterator[None]:
    """Have tensors of one memory keep one account of it inside the block."""
    before, DeviceTensor.accounted = DeviceTensor.accounted, True
    try:
        yield
    finally:
        DeviceTensor.accounted = before


def _births(tensors: Iterable[Tensor | None]) -> Iterator[tuple[int, int]]:
    for tensor in tensors:
        kept = _kept_of(tensor).get(KEPT) if isinstance(tensor, DeviceTensor) else None
        if isinstance(kept, Block):
            yield kept.born, kept.nbytes


def weight_bytes(tensors: Iterable[Tensor]) -> int:
    """Bytes of those tensors whose memory is a parameter's or a buffer's."""
    ours = [tensor for tensor in tensors if isinstance(tensor, DeviceTensor)]
    weights = [tensor for tensor in ours if _kept_of(tensor).get(KEPT) is _WEIGHT]
    return sum(distinct_bytes(tensor.spec.meta) for tensor in weights)


def _kept_of(tensor: DeviceTensor) -> dict[str, Any]:
    kept: dict[str, Any] = tensor.untyped_storage().__dict__
    return kept


def _begun(tensors: Iterable[Tensor]) -> int:
    """Mark what is there before the run, and give its bytes."""
    found = [tensor for tensor in tensors if isinstance(tensor, DeviceTensor)]
    for tensor in found:
        _kept_of(tensor)[KEPT] = _WEIGHT
    return _bytes(found)


def _bytes(values: Iterable[Any]) -> int:
    return sum(value.spec.nbytes for value in values if isinstance(value, DeviceTensor))
