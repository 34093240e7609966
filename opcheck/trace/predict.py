"""What a device with one target's registrations is asked for, without a tree of calls.

One :func:`predicting` block serves any number of runs: whole models in inference or in training,
and single calls with their gradients.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import torch
from msgspec import Struct
from torch import nn

from opcheck.model.trace import Gap, Kernel, Phase
from opcheck.trace.calls.kernel_counter import KernelCounter
from opcheck.trace.calls.modules import ModuleStack
from opcheck.trace.device.tensors import DeviceTensor, prepare
from opcheck.trace.run import as_module, dtypes, reproducible
from opcheck.trace.running.attempt import RunModel, attempt, forward
from opcheck.trace.running.model_state import forget, on_device, swapped
from opcheck.trace.running.training import Heard, Registrations, follow, registered, training_play
from opcheck.trace.running.training_step import TrainingStep, backward_from, taken_as_plain
from opcheck.trace.torch_internals.autocast import autocasting
from opcheck.trace.torch_internals.kernels import Kernels


class Prediction(Struct, frozen=True):
    """What one run asks for."""

    kernels: tuple[Kernel, ...]
    gaps: tuple[Gap, ...]


class Predictor:
    """Answers for one target's device; made by :func:`predicting`."""

    def __init__(self, device: torch.device, registrations: Registrations, heard: Heard) -> None:
        self._device = device
        self._heard = heard
        self._kernels = registrations.kernels
        self._casts = dtypes(registrations.casts)
        self._device_kernels = Kernels()
        self._calls = self._engine(ModuleStack(nn.Module()))

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
        play = training_play(step or TrainingStep(), model, (args, dict(kwargs)))
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
        engine = self._heard.engine = self._calls
        engine.start_over()
        engine.training = backward
        given = (args, dict(kwargs))
        placed = on_device(given, self._device)
        follow(placed, given)
        with engine.running():
            output = function(*placed[0], **placed[1])
            if backward:
                engine.begin(Phase.BACKWARD)
                backward_from(output)
        return Prediction(engine.kernels, tuple(sorted(engine.gaps)))

    def kernels_kept(self) -> AbstractContextManager[None]:
        """Inside, one call after another does not register the device's kernels anew."""
        return self._device_kernels.kept()

    def _run(
        self,
        module: nn.Module,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        play: RunModel,
        make: Callable[[ModuleStack], KernelCounter],
    ) -> Prediction:
        forget()
        with reproducible(module), swapped(module, self._device):
            engine: KernelCounter = attempt(module, args, kwargs, make, play)
        return Prediction(engine.kernels, tuple(sorted({*engine.gaps, *engine.modules.gaps})))

    def _engine(self, modules: ModuleStack) -> KernelCounter:
        engine = KernelCounter(self._device, self._casts, self._kernels, {}, modules)
        engine.device_kernels = self._device_kernels
        self._heard.engine = engine
        return engine

    def _with_gradients(self, modules: ModuleStack) -> KernelCounter:
        engine = self._engine(modules)
        engine.training = True
        return engine


@contextmanager
def predicting(device_type: str, registrations: Registrations) -> Iterator[Predictor]:
    """Have the dispatcher treat composites as on the target's device, for runs in the block.

    Raises:
        TraceError: the process already uses PrivateUse1 under another name.
    """
    device = prepare(device_type)
    with autocasting(registrations.autocast), registered(registrations) as heard:
        predictor = Predictor(device, registrations, heard)
        with predictor.kernels_kept():
            yield predictor
