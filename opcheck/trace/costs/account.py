"""What the calls of a run cost, and which of its tensors live at once.

Which of a run's tensors live at once: bytes from a storage's birth to its death. What knows of a
tensor is kept with its storage, and goes when the storage does; views that share the memory of
another tensor keep that one's.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import CodeType
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from opcheck.model.costs import Costs, NodeCost
from opcheck.model.trace import Composite, Node
from opcheck.trace.calls.modules import ModuleStack
from opcheck.trace.calls.signature import Call
from opcheck.trace.calls.tree import CallTreeRecorder
from opcheck.trace.costs import formulas
from opcheck.trace.costs.formulas import Traffic, distinct_bytes, gives_a_view, traffic
from opcheck.trace.device.tensors import KEPT, DeviceTensor, copy_memory_tag
from opcheck.trace.torch_internals.dispatcher import facts


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
        for tensor in (result,) if type(result) is DeviceTensor else tree_leaves(result):
            if type(tensor) is DeviceTensor:
                kept = _kept_of(tensor)
                if KEPT not in kept:
                    self._enter(kept, tensor, given if view else ())
        self._most = max(self._most, self.live + inside)

    def _enter(self, kept: dict[str, Any], made: DeviceTensor, given: Iterable[Tensor]) -> None:
        viewed = next((tensor for tensor in given if isinstance(tensor, DeviceTensor)), None)
        if viewed is not None:
            copy_memory_tag(made, viewed)
            return
        kept[KEPT] = Block(self, made.spec.nbytes)

    def is_new(self, tensor: DeviceTensor, since: int) -> bool:
        """Whether the memory of a tensor was born after so many calls."""
        block = _kept_of(tensor).get(KEPT)
        return isinstance(block, Block) and block.born >= since

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


class BookedTree(CallTreeRecorder):
    """A tree of calls that knows, too, what they take of the weights and what lives at once."""

    def __init__(
        self,
        device: torch.device,
        casts: Mapping[torch.dtype, torch.dtype],
        modules: ModuleStack,
    ) -> None:
        super().__init__(device, casts, modules)
        self.account = Account(modules.model)
        self.weights: dict[int, int] = {}
        """Node -> bytes of parameters and buffers among what it takes, for those that take any."""
        self.inside_of: dict[int, int] = {}
        """Node -> bytes beyond what it gives that live while PyTorch runs it part by part."""
        self.grad_enabled: set[int] = set()
        """Uses that the model makes with gradients switched on where it is to infer."""
        self.passes_on: set[int] = set()
        """Nodes that give no more than what they take, as a dropout does that drops nothing."""
        self._views: dict[int, bool] = {}

    @contextmanager
    def running(self, until: CodeType | None = None) -> Iterator[None]:
        """Answer inside the block; gradients are summed out of place, as storages are held."""
        with accounted(), super().running(until):
            yield

    def answer(self, call: Call) -> Any:
        """Run the call whole and record it; enter what it gives in the account."""
        new = call.key not in self._index
        weights = weight_bytes(call.tensors) if new else 0
        result = super().answer(call)
        index = self._index.get(call.key)
        if index is None:
            return result
        if weights:
            self.weights[index] = weights
        if new:
            self._look(index, call, result)
        inside = self.inside_of.get(index, 0)
        self.account.took(call.tensors, result, view=self.is_view(index), inside=inside)
        if not self._open:
            self.account.note(len(self.sequence))
        return result

    def _look(self, index: int, call: Call, result: Any) -> None:
        """Take note of what a signature gives, the first time that it is seen."""
        given = [t for t in tree_leaves(result) if isinstance(t, DeviceTensor)]
        if index in self.inside_of:
            beyond = self.inside_of[index] - sum(tensor.spec.nbytes for tensor in given)
            self.inside_of[index] = max(beyond, 0)
        taken = {id(tensor) for tensor in call.tensors}
        known = facts(call.func)
        whole = known.composite is None or self._drafts[index].children or known.written
        if given and not whole and all(id(tensor) in taken for tensor in given):
            self.passes_on.add(index)

    def inside(self, func: Any, kind: Composite, args: Any, kwargs: Any) -> Any:
        """Run a composite kernel, and see how much lives meanwhile."""
        index = self._expanding[-1]
        with self.account.inside() as most:
            result = super().inside(func, kind, args, kwargs)
        self.inside_of[index] = most()
        return result

    def is_view(self, index: int) -> bool:
        """Whether a call, down to all that it runs as, makes no more than another view."""
        if index not in self._views:
            self._views[index] = False  # one that asks for itself adds nothing
            draft = self._drafts[index]
            if draft.composite is not None and draft.children:
                self._views[index] = all(self.is_view(child) for child in draft.children)
            else:
                self._views[index] = gives_a_view(draft.op)
        return self._views[index]

    def stepped(self, optimizer: torch.optim.Optimizer) -> None:
        """Enter what a step keeps."""
        self.account.stepped(optimizer)

    def _record(self, index: int) -> None:
        calls = len(self.sequence)
        super()._record(index)
        if len(self.sequence) > calls and not self.training and torch.is_grad_enabled():
            self.grad_enabled.add(self.sequence[-1])


def costs_of(
    tree: BookedTree, nodes: Sequence[Node], order: Mapping[int, int], inputs: Any
) -> Costs:
    """The costs of ``nodes``, renumbered by ``order`` from the tree's; ``inputs`` as given."""
    account = tree.account
    account.note(len(tree.sequence))
    named, given = inputs
    return Costs(
        nodes=tuple(_node_costs(tree, nodes, order)),
        live=tuple(account.after),
        weights=account.weights,
        trained=account.trained,
        buffers=account.buffers,
        inputs=sum(_nbytes(value) for value in tree_leaves(inputs)),
        gradients=account.gradients,
        states=account.states,
        batch=_batch([*named, *given.values()]),
        grad_enabled=tuple(sorted(tree.grad_enabled)),
    )


def _node_costs(
    tree: BookedTree, nodes: Sequence[Node], order: Mapping[int, int]
) -> Iterator[NodeCost]:
    flops: dict[int, int | None] = {}
    for old, new in sorted(order.items(), key=lambda pair: pair[1]):
        node = nodes[new]
        idle = tree.is_view(old) or old in tree.passes_on
        moved = Traffic() if idle else traffic(node)
        operations = _flops(new, nodes, flops)
        yield NodeCost(
            flops=operations,
            elements=0 if operations else moved.elements,
            read=moved.read,
            written=moved.written,
            weights=min(tree.weights.get(old, 0), moved.read),
            inside=tree.inside_of.get(old, 0),
        )
    for _ in nodes[len(order) :]:  # composites that autograd took apart: their parts have all of it
        yield NodeCost(flops=0, elements=0, read=0, written=0, weights=0, inside=0)


def _flops(index: int, nodes: Sequence[Node], known: dict[int, int | None]) -> int | None:
    """Operations of a call by its formula, else of all that it runs as."""
    if index not in known:
        node = nodes[index]
        found = formulas.by_formula(node)
        if found is None and node.children:
            parts = [(_flops(child, nodes, known), count) for child, count in node.children]
            sure = [part * count for part, count in parts if part is not None]
            found = sum(sure) if len(sure) == len(parts) else None
        elif found is None and node.children is not None and formulas.has_none(node):
            found = 0
        known[index] = found
    return known[index]


def _nbytes(value: Any) -> int:
    return value.numel() * value.element_size() if isinstance(value, torch.Tensor) else 0


def _batch(values: Sequence[Any]) -> int | None:
    """The first size that all tensors share, of which none is in a list or has but one size."""
    tensors = [value for value in values if isinstance(value, torch.Tensor)]
    held = [leaf for leaf in tree_leaves(values) if isinstance(leaf, torch.Tensor)]
    sizes = {tensor.shape[0] if tensor.dim() > 1 else None for tensor in tensors}
    return sizes.pop() if len(sizes) == 1 and len(held) == len(tensors) else None
