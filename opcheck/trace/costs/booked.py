"""The tree of calls, with an account of what each call makes live."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import CodeType
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from opcheck.model.trace import Composite
from opcheck.trace.costs.account import Account, accounted, weight_bytes
from opcheck.trace.costs.traffic import gives_a_view
from opcheck.trace.device import DeviceTensor
from opcheck.trace.dispatcher import facts
from opcheck.trace.modules import ModuleStack
from opcheck.trace.signature import Call
from opcheck.trace.tree import Tree


class BookedTree(Tree):
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
