"""Runs with gradients - a step with the target's autograd kernels, or one function's.

What a run with gradients needs: the target's autograd kernels, and a step to play. A trace in
training is of one set of registrations: a composite that the target registers, or differentiates
itself, stays whole, and any other is taken apart before autograd.

A function recorded with the gradients of some of its arguments, but for those made of nothing. What
surrounds it in a model is no part of it: neither the gradients that reach its results nor what adds
up those of one tensor that is used elsewhere, too.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch
from msgspec import Struct, field
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves, tree_map

from opcheck.errors import TraceError
from opcheck.model.trace import Phase
from opcheck.trace.calls.engine import Engine
from opcheck.trace.outputs.half_transforms import TRANSFORMS, in_half
from opcheck.trace.running.attempt import RunModel
from opcheck.trace.running.parallel import holds_parts
from opcheck.trace.running.training_step import TrainingStep, differentiable
from opcheck.trace.torch_internals.overrides import Gradient, kept_whole, overriding, taken_apart


class Registrations(Struct, frozen=True):
    """What one target registers for its device."""

    kernels: frozenset[str]
    """Overloads with a kernel of the device."""
    overrides: frozenset[str] = frozenset()
    """Those of them that are registered with autograd, too."""
    gradients: Mapping[str, tuple[str, ...] | Gradient] = field(default_factory=dict)
    """Overload -> what the vendor's own backward of it runs, where that is known."""
    asked_of: frozenset[str] = frozenset()
    """Composites of which the target asks something beside what they run as."""
    casts: Mapping[str, str] = field(default_factory=dict)
    """dtype that a cast on the device asks for -> the dtype that it gives instead."""
    autocast: Mapping[str, Collection[str]] = field(default_factory=dict)
    """Policy of ``torch.autocast`` -> overloads, where the vendor has lists of its own."""


class Training(Struct, frozen=True):
    """A step, for targets with these registrations."""

    step: TrainingStep
    registrations: Registrations

    def play(self, model: nn.Module, given: Any) -> RunModel:
        """Train whatever stands for ``model`` with what stands for the inputs ``given``."""
        return training_play(self.step, model, given)


class Heard:
    """What the vendor's autograd kernels tell, passed on to the engine that answers now."""

    engine: Engine | None = None

    @property
    def generator(self) -> torch.Generator:
        """The host's own: nothing is drawn on a device that computes nothing."""
        return torch.default_generator

    def answer(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Answer a composite that the target registers a kernel for."""
        assert self.engine is not None, "asked outside a run"
        return self.engine.called_by_dispatcher(func, args, kwargs)

    def taken_apart(
        self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], run: Callable[[], Any]
    ) -> Any:
        """Run a composite as what it is made of, having noted that it was called."""
        if self.engine is None or holds_parts(args, kwargs):
            return run()
        run = in_half(func, args, kwargs) or run
        return self.engine.taken_apart(func, args, kwargs, run)

    def kernel_ran(self, op: str) -> None:
        """The vendor's own kernel ``op`` runs now."""
        if self.engine is not None:
            self.engine.kernel_ran(op)

    def quiet(self) -> AbstractContextManager[None]:
        """Inside is a vendor's kernel."""
        return nullcontext() if self.engine is None else self.engine.quiet()


@contextmanager
def registered(registrations: Registrations) -> Iterator[Heard]:
    """Have autograd and the dispatcher leave composites whole as on the target, in the block."""
    heard = Heard()
    kernels = registrations.kernels
    gradients = {op: own for op, own in registrations.gradients.items() if op in kernels}
    with (
        kept_whole(kernels, heard.answer),
        taken_apart((registrations.asked_of | TRANSFORMS) - kernels, heard.taken_apart),
        overriding(registrations.overrides & kernels, gradients, heard),
    ):
        try:
            yield heard
        finally:
            heard.engine = None  # PyTorch keeps kernels for a while after they are taken back


def training_play(step: TrainingStep, model: nn.Module, given: Any) -> RunModel:
    """Train whatever stands for ``model`` with what stands for the inputs ``given``."""
    trained = _trained(model)

    def play(
        module: nn.Module, engine: Engine, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> object:
        _train(module, trained)
        follow((args, kwargs), given)
        try:
            return step.run(module, args, kwargs, engine.begin, engine.stepped)
        except TraceError:
            if engine.modules.gaps:  # a module that failed passed its input on: no wonder
                return None
            raise

    return play


def _trained(model: nn.Module) -> frozenset[str]:
    """Names of the parameters that require a gradient."""
    return frozenset(name for name, p in _parameters(model) if p.requires_grad)


def _train(module: nn.Module, trained: frozenset[str]) -> None:
    """Have just these parameters of what stands for a model require a gradient."""
    for name, parameter in _parameters(module):
        parameter.requires_grad_(name in trained)


def _parameters(module: nn.Module) -> Iterator[tuple[str, nn.Parameter]]:
    return module.named_parameters(remove_duplicate=False)


def follow(placed: Any, given: Any) -> None:
    """Have inputs on the device require a gradient where the given ones do."""
    for ours, theirs in zip(tree_leaves(placed), tree_leaves(given), strict=True):
        if isinstance(theirs, Tensor) and theirs.requires_grad:
            ours.requires_grad_()


class WithGradients(Struct, frozen=True):
    """A forward that takes gradients itself, for targets with these registrations."""

    registrations: Registrations

    def play(self, model: nn.Module, given: Any) -> RunModel:
        """Run whatever stands for ``model`` with gradients on, as eager PyTorch has them."""
        trained = _trained(model)

        def play(
            module: nn.Module, engine: Engine, args: tuple[Any, ...], kwargs: dict[str, Any]
        ) -> object:
            _train(module, trained)
            follow((args, kwargs), given)
            return module(*args, **kwargs)

        return play


class Differentiated(Struct, frozen=True):
    """A forward and its backward, for targets with these registrations."""

    registrations: Registrations

    def play(self, model: nn.Module, given: Any) -> RunModel:
        """Differentiate by the inputs of which ``given`` require a gradient."""

        def play(
            module: nn.Module, engine: Engine, args: tuple[Any, ...], kwargs: dict[str, Any]
        ) -> object:
            follow((args, kwargs), given)
            leaves = [t for t in tree_leaves((args, kwargs)) if _wanted(t)]
            with engine.quiet():
                args, kwargs = tree_map(_passed, (args, kwargs))
            engine.begin(Phase.FORWARD)
            results = differentiable(module(*args, **kwargs))
            with engine.quiet():
                seeds = [torch.ones_like(result) for result in results]
            engine.begin(Phase.BACKWARD)
            if results and leaves:
                torch.autograd.grad(results, leaves, seeds, allow_unused=True)
            return None

        return play


def _wanted(value: Any) -> bool:
    return isinstance(value, Tensor) and value.requires_grad


def _passed(value: Any) -> Any:
    """An input as a model's call gets it: no leaf, so that it may be written to."""
    return _Passed.apply(value) if _wanted(value) else value  # type: ignore[no-untyped-call]  # torch


class _Passed(torch.autograd.Function):
    """A copy whose gradient is handed on as it is."""

    @staticmethod
    def forward(ctx: Any, tensor: Tensor) -> Tensor:
        return tensor.clone()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        return gradients[0]
