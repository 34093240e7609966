"""Which kernels a device with just one target's registrations is called on, and how often.

To C++ its tensors are plain, as a real device's are, in composites as in gradients: what is asked
of it comes through the dispatcher, see ``kernels.py``. In inference a dispatch mode answers what
Python itself calls; C++ never runs under it.
"""

import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from types import CodeType
from typing import Any

import torch
from torch.utils._pytree import tree_map

from opcheck.model.trace import Composite, Kernel, OpName, Phase
from opcheck.trace.calls.engine import Engine
from opcheck.trace.calls.higher_order import branches
from opcheck.trace.calls.modules import ModuleStack
from opcheck.trace.calls.signature import Call
from opcheck.trace.device.tensors import DeviceTensor
from opcheck.trace.outputs.plan import Plan, plan_of
from opcheck.trace.torch_internals.dispatcher import (
    ALIASES,
    LazyResolution,
    OverloadFacts,
    copied_as_they_are,
    facts,
    known_to_cpu,
    leaving_lazy,
)

_DETACH = torch.ops.aten.detach.default

_Key = tuple[OpName, bool, bool]
"""(overload, missing on the target, known to the CPU)"""


class _Open(threading.local):
    """Where this thread's calls are counted; backward runs on a thread of its own."""

    counts: Counter[_Key] | None = None
    """None: in the phase's total."""


class KernelCounter(Engine):
    """Walks the dispatcher's rule while the model runs: registered, else composite, else missing.

    A composite really runs in place of its kernel, so what follows sees its strides. What one
    signature runs as is remembered, unless values decide it.
    """

    def __init__(
        self,
        device: torch.device,
        casts: Mapping[torch.dtype, torch.dtype],
        registered: frozenset[str],
        learned: Mapping[tuple[Any, ...], Plan],
        modules: ModuleStack,
    ) -> None:
        super().__init__(device, casts, modules)
        self.leaves.learned.update(learned)
        self._registered = registered
        self._totals: dict[Phase, Counter[_Key]] = {phase: Counter() for phase in Phase}
        self._open = _Open()
        self._lazy = LazyResolution()
        self._memo: dict[tuple[Any, ...], tuple[Counter[_Key], Plan]] = {}

    @contextmanager
    def running(self, until: CodeType | None = None) -> Iterator[None]:
        """Answer for the target's device inside the block."""
        lazily = nullcontext() if self.training else leaving_lazy()
        with copied_as_they_are(self._registered), lazily, super().running(until):
            yield

    def resolving(self, kind: Composite) -> AbstractContextManager[None]:
        """How C++ takes lazy conjugates in a composite kernel of this kind."""
        return super().resolving(kind) if self.training else self._lazy.inside(kind)

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """Overloads that reach the device or are missing on it, sorted within each phase."""
        return tuple(
            Kernel(op, count, missing, runs_on_cpu, phase)
            for phase, counts in self._totals.items()
            for (op, missing, runs_on_cpu), count in sorted(counts.items())
        )

    def kernel_ran(self, op: str) -> None:
        """Count one call of a kernel that the target is known to run here."""
        self._count(OpName.parse(op), False, known_to_cpu(op))

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """Count nothing of what this thread asks for inside the block."""
        with self._counting_in(Counter()):
            yield

    def start_over(self) -> None:
        """Forget counts and gaps, and keep what was learned of signatures."""
        for counts in self._totals.values():
            counts.clear()
        self.gaps.clear()
        self.begin(Phase.FORWARD)

    def _count(self, op: OpName, missing: bool, runs_on_cpu: bool) -> None:
        self._counts[(op, missing, runs_on_cpu)] += 1

    @property
    def _counts(self) -> Counter[_Key]:
        counts = self._open.counts
        return self._totals[self.phase] if counts is None else counts

    @contextmanager
    def _counting_in(self, counts: Counter[_Key]) -> Iterator[None]:
        outer, self._open.counts = self._open.counts, counts
        try:
            yield
        finally:
            self._open.counts = outer

    def answer(self, call: Call) -> Any:
        """Run the call as the target would, with lazy arguments resolved where C++ does that."""
        if self._lazy.sent:
            return self._lazy.receive(partial(self._answer, call))
        if call.lazy and self._lazy.due and self._has_kernel(call.func):
            with self:
                return self._lazy.send(partial(call.func, *call.args, **call.kwargs))
        return self._answer(call)

    def _has_kernel(self, func: Any) -> bool:
        """Whether C++ gets from a call of it to one kernel, not above autograd to several."""
        implicit = facts(func).composite is Composite.IMPLICIT
        return not self.training and (not implicit or func.name() in self._registered)

    def _answer(self, call: Call) -> Any:
        known = facts(call.func)
        result = self._found(call, known)
        implicit = known.composite is Composite.IMPLICIT  # may copy, and its parts were asked
        if self._views_here and not implicit and _views_differentiable(call, known):
            tree_map(_marked_differentiable, result)
        if implicit and known.noted_view and not (self.training or self._views_here):
            return tree_map(_unmarked, result)  # autograd notes it, and wants to be the first
        return result

    @property
    def _views_here(self) -> bool:
        """Whether autograd would note a view here, if a mode did not answer in its place.

        It would inside composites that run above it. Views that the model makes itself it does note
        under a mode.
        """
        return not self.training and self._inner.depth > 0 and not self._lazy.below

    def _found(self, call: Call, known: OverloadFacts) -> Any:
        asked = call.ours or _by_device_argument(call, known)
        if asked and str(known.name) in self._registered:
            self._count(known.name, False, known.cpu_kernel)
            return self._whole(call, known)
        if call.func in ALIASES:
            return self.leaves.run(call)
        if known.composite is not None:
            return self._composite(call, known)
        if asked:
            self._count(known.name, True, known.cpu_kernel)
        return self.leaves.run(call)

    def _whole(self, call: Call, known: OverloadFacts) -> Any:
        """Run a registered overload; its composite kernel may be all that tells what it returns."""
        try:
            return self.leaves.run(call)
        except Exception:  # Unseen, or meta refuses what the composite takes
            if known.composite is None or call.func in ALIASES:
                raise
            with self.quiet():  # not learnt for later calls: the values would get lost
                return self.inside(call.func, known.composite, call.args, call.kwargs)

    def _composite(self, call: Call, known: OverloadFacts) -> Any:
        key = (call.key, tuple(tensor.requires_grad for tensor in call.tensors))
        remembered = self._memo.get(key)
        if remembered is not None and not call.known:
            counts, plan = remembered
            self._counts.update(counts)
            return self.leaves.replay(plan, call)
        assert known.composite is not None
        inner: Counter[_Key] = Counter()
        assumptions = self.assumptions
        try:
            with self._counting_in(inner):
                result = self.inside(call.func, known.composite, call.args, call.kwargs)
        except NotImplementedError:
            if inner:
                raise
            inner[(known.name, True, known.cpu_kernel)] += 1
            result = self.leaves.run(call)
        finally:
            self._counts.update(inner)
        if isinstance(result, bool) and self.assumptions != assumptions:
            return self.leaves.run(call)  # what is assumed of ``allclose``, not of a number in it
        if (
            not (call.known or _views_differentiable(call, known))
            and self.assumptions == assumptions
        ):
            self._memo[key] = (inner, plan_of(result, call))
        return result

    def higher_order(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run what the operator holds."""
        with self:
            return branches(self, func, args, kwargs)

    def called_by_python(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run what the operator holds, where autograd sees it."""
        return branches(self, func, args, kwargs)


def _views_differentiable(call: Call, known: OverloadFacts) -> bool:
    """Whether a call may give views of what requires a gradient.

    Such views say that they do, too, also with gradients off, and ``matmul`` asks its arguments.
    """
    views = known.view and call.func is not _DETACH
    return views and any(tensor.requires_grad for tensor in call.tensors)


def _marked_differentiable(value: Any) -> None:
    if isinstance(value, DeviceTensor) and (value.is_floating_point() or value.is_complex()):
        value.requires_grad_()


def _unmarked(value: Any) -> Any:
    return value.data if isinstance(value, DeviceTensor) else value


def _by_device_argument(call: Call, known: OverloadFacts) -> bool:
    """Whether a ``device`` argument brings a call here that has no tensor of the device.

    A composite with a host tensor is taken apart under the host's autograd before that counts.
    """
    taken_apart = known.composite is Composite.IMPLICIT and call.tensors
    return known.backend_select and not taken_apart
