"""What a device with one target's registrations is asked for, without a tree of calls.

One :func:`predicting` block serves any number of runs: whole models in inference or in training,
and single calls with their gradients.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from opcheck.errors import TraceError
from opcheck.model.trace import Gap, Kernel, Phase
from opcheck.trace.autocast import autocasting
from opcheck.trace.caches import forget
from opcheck.trace.device import DeviceTensor, prepare
from opcheck.trace.engine import Engine
from opcheck.trace.exact import Exact
from opcheck.trace.modules import ModuleStack
from opcheck.trace.overrides import Gradient, kept_whole, overriding
from opcheck.trace.run import Play, as_module, attempt, dtypes, forward, reproducible
from opcheck.trace.step import TrainingStep, backward_from, taken_as_plain
from opcheck.trace.swap import on_device, swapped


@dataclass(frozen=True, slots=True)
class Registrations:
    """What one target registers for its device."""

    kernels: frozenset[str]
    """Overloads with a kernel of the device."""
    overrides: frozenset[str] = frozenset()
    """Those of them that are registered with autograd, too."""
    gradients: Mapping[str, tuple[str, ...] | Gradient] = field(default_factory=dict)
    """Overload -> what the vendor's own backward of it runs, where that is known."""
    casts: Mapping[str, str] = field(default_factory=dict)
    """dtype that a cast on the device asks for -> the dtype that it gives instead."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """What one run asks for."""

    kernels: tuple[Kernel, ...]
    gaps: tuple[Gap, ...]


class Predictor:
    """Answers for one target's device; made by :func:`predicting`."""

    def __init__(self, device: torch.device, registrations: Registrations) -> None:
        self._device = device
        self._kernels = registrations.kernels
        self._casts = dtypes(registrations.casts)
        self._calls = self._engine(ModuleStack(nn.Module()))
        self._now = self._calls

    def inference(
        self, model: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Prediction:
        """Predict one forward of ``model`` in evaluation mode, without gradients."""
        return self._run(as_module(model), args, kwargs, forward, self._engine)

    def training(
        self,
        model: nn.Module,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        step: TrainingStep | None = None,
    ) -> Prediction:
        """Predict one training step of ``model``.

        Raises:
            TraceError: there is nothing to train.
        """
        play = _training(step or TrainingStep(), model, (args, dict(kwargs)))
        with taken_as_plain(DeviceTensor):
            return self._run(model, args, kwargs, play, self._with_gradients)

    def call(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        *,
        backward: bool = False,
    ) -> Prediction:
        """Predict one call of ``function``; with ``backward`` its gradients as well.

        Gradients start from everything in its output that has one. Whatever ``function`` raises
        passes through.
        """
        engine = self._now = self._calls
        engine.start_over()
        engine.training = backward
        given = (args, dict(kwargs))
        placed = on_device(given, self._device)
        _follow(placed, given)
        with engine.running():
            output = function(*placed[0], **placed[1])
            if backward:
                engine.begin(Phase.BACKWARD)
                backward_from(output)
        return Prediction(engine.kernels, tuple(sorted(engine.gaps)))

    @property
    def generator(self) -> torch.Generator:
        """The host's own: nothing is drawn on a device that computes nothing."""
        return torch.default_generator

    def asked(self, op: str) -> None:
        """The vendor's own kernel ``op`` runs now."""
        self._now.asked(op)

    def quiet(self) -> AbstractContextManager[None]:
        """Inside is a vendor's kernel."""
        return self._now.quiet()

    def _run(
        self,
        module: nn.Module,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        play: Play,
        make: Callable[[ModuleStack], Exact],
    ) -> Prediction:
        forget()
        with reproducible(module), swapped(module, self._device):
            engine: Exact = attempt(module, args, kwargs, make, play)
        return Prediction(engine.kernels, tuple(sorted({*engine.gaps, *engine.modules.gaps})))

    def _engine(self, modules: ModuleStack) -> Exact:
        self._now = Exact(self._device, self._casts, self._kernels, {}, modules)
        return self._now

    def _with_gradients(self, modules: ModuleStack) -> Exact:
        engine = self._engine(modules)
        engine.training = True
        return engine


@contextmanager
def predicting(device_type: str, registrations: Registrations) -> Iterator[Predictor]:
    """Have the dispatcher treat composites as on the target's device, for runs in the block.

    Raises:
        TraceError: the process already uses PrivateUse1 under another name.
    """
    predictor = Predictor(prepare(device_type), registrations)
    kernels = registrations.kernels
    gradients = {op: own for op, own in registrations.gradients.items() if op in kernels}
    with (
        autocasting({}),
        kept_whole(kernels),
        overriding(registrations.overrides & kernels, gradients, predictor),
    ):
        yield predictor


def _training(step: TrainingStep, model: nn.Module, given: Any) -> Play:
    """Train whatever stands for ``model`` with what stands for the inputs ``given``."""
    trained = {name for name, p in _parameters(model) if p.requires_grad}

    def play(
        module: nn.Module, engine: Engine, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> object:
        assert isinstance(engine, Exact)
        for name, parameter in _parameters(module):
            parameter.requires_grad_(name in trained)
        _follow((args, kwargs), given)
        try:
            return step.run(module, args, kwargs, engine.begin)
        except TraceError:
            if engine.modules.gaps:  # a module that failed passed its input on: no wonder
                return None
            raise

    return play


def _parameters(module: nn.Module) -> Iterator[tuple[str, nn.Parameter]]:
    return module.named_parameters(remove_duplicate=False)


def _follow(placed: Any, given: Any) -> None:
    """Have inputs on the device require a gradient where the given ones do."""
    for ours, theirs in zip(tree_leaves(placed), tree_leaves(given), strict=True):
        if isinstance(theirs, Tensor) and theirs.requires_grad:
            ours.requires_grad_()
