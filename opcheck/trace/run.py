"""Runs a model on the traced device and gives its trace."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import torch
from msgspec.structs import replace
from torch import nn

from opcheck.lang.sentence import Sentence
from opcheck.model.trace import Gap, Trace
from opcheck.trace.calls.engine import Engine
from opcheck.trace.calls.kernel_counter import KernelCounter
from opcheck.trace.calls.modules import TAKES_GRADIENTS, ModuleStack
from opcheck.trace.calls.repeats import Repeats
from opcheck.trace.calls.tree import CallTreeRecorder
from opcheck.trace.costs.account import BookedTree
from opcheck.trace.device.alias import ALIASED_TYPES, device_for
from opcheck.trace.device.tensors import DeviceTensor, require_backward
from opcheck.trace.exact import Apart, Counts, Progress
from opcheck.trace.results import Journal, finished
from opcheck.trace.running.attempt import RunModel, attempt, forward
from opcheck.trace.running.device_asked import DeviceAsked
from opcheck.trace.running.device_in_place import taking_place
from opcheck.trace.running.exported import EXPORTED_TYPES, NotingClasses
from opcheck.trace.running.lightning import NOTE
from opcheck.trace.running.model_state import forget, here, swapped
from opcheck.trace.running.training import (
    Differentiated,
    Heard,
    Registrations,
    Training,
    WithGradients,
    registered,
)
from opcheck.trace.running.training_step import taken_as_plain
from opcheck.trace.torch_internals.kernels import Kernels


def trace_model(
    model: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    *,
    device_type: str,
    exact: Mapping[str, frozenset[str]] | None = None,
    casts: Mapping[str, str] | None = None,
    autocast: Mapping[str, Collection[str]] | None = None,
    training: Training | Differentiated | WithGradients | None = None,
    gradients: Callable[[], Registrations | None] = lambda: None,
    inputs_given: bool = False,
    costs: bool = False,
    progress: Progress = lambda _: None,
    journal: Journal | None = None,
    device_kernels: Kernels | None = None,
    unseen: Sequence[Gap] = (),
    apart: Apart = here,
    asked: DeviceAsked | None = None,
) -> Trace:
    """Record every overload that one forward, or one training step, asks of a device.

    Args:
        model: a module, or any callable on tensors.
        args: positional inputs; tensors of any device, those on meta have no values.
        kwargs: keyword inputs.
        device_type: what tensors say they are on: ``npu``, or a type that this torch cannot have
            such as ``cuda``, which a stand-in then says it is.
        exact: for each target (its text), the overloads that it registers; the trace then holds
            the exact kernels asked of it, or a note why not. In training these targets must share
            the registrations that ``training`` has.
        casts: dtype that a cast on the device asks for -> the dtype that it gives instead.
        autocast: policy of ``torch.autocast`` -> overloads; empty: those of torch for CUDA.
        training: the step, and the registrations of the targets that it is recorded for; None for
            a forward in evaluation mode.
        gradients: gives the registrations for a forward that takes gradients itself; None where
            the targets' differ, and then such a forward is a gap.
        inputs_given: the user chose these inputs, so an operator that refuses them is an error,
            not a gap.
        costs: whether to say what the calls cost, and what lives at once.
        progress: told one short line per step.
        journal: follows what is recorded while the model runs.
        device_kernels: those that traces share; to register them anew takes a quarter of a second.
        unseen: what no run of this model can see, whatever it calls.
        apart: how the runs for ``exact`` are kept from what the others leave in caches.
        asked: notes what the code that runs could tell device types apart by.

    Raises:
        TraceError: the inputs do not fit: the model fails before it computes anything, or, with
            ``inputs_given``, an operator refuses what they became; or there is nothing to train.
    """
    device = device_for(device_type)
    module = as_module(model)
    changed = dtypes(casts or {})
    mode = "inference" if training is None or isinstance(training, WithGradients) else "train"
    if training is not None:
        require_backward()
    with ExitStack() as stack:
        stack.enter_context(taking_place(device_type, autocast or {}))
        shared = device_kernels
        if device_kernels is None:
            device_kernels = Kernels()
            stack.enter_context(device_kernels.kept())
        attempts = _Attempts(module, args, kwargs, training, device_kernels, stack)
        classes = NotingClasses(model)
        if device_type in EXPORTED_TYPES and training is None:
            attempts.play = classes
        if asked is not None:
            attempts.play = asked.during(attempts.play)
        stack.enter_context(swapped(module, device))
        progress("recording the operators")

        def planted(modules: ModuleStack) -> CallTreeRecorder:
            made = (BookedTree if costs else CallTreeRecorder)(device, changed, modules)
            modules.repeat = Repeats(made)
            made.gaps.update(dict.fromkeys(unseen))
            if journal is not None:
                journal.begin(made, device_type, mode)
            return made

        counts = Counts(partial(KernelCounter, device, changed), attempts.run, exact or {}, apart)
        tree = attempts.run(planted, inputs_given=inputs_given)
        takes_gradients = training is None and any(
            gap.reason == TAKES_GRADIENTS for gap in tree.modules.gaps
        )
        kernels, failures = counts.beside(tree, progress)
        stood_in, own_step = _stood_in(device, device_type), _own_step(training, module)
        notes = (*stood_in, *tree.notes, *own_step, *failures)
    alike = gradients() if takes_gradients else None
    if alike is None:
        found = finished(tree, device_type, mode, kernels, notes, (args, kwargs))
        return replace(found, unknown_classes=classes.found)
    forget()
    return trace_model(
        model, args, kwargs, device_type=device_type, exact=exact, casts=casts, autocast=autocast,
        training=WithGradients(alike), inputs_given=inputs_given, costs=costs, progress=progress,
        journal=journal, device_kernels=shared, unseen=unseen, apart=apart, asked=asked,
    )  # fmt: skip


class _Attempts:
    """Runs of one model on one set of inputs, forward alone or with the rest of a step."""

    def __init__(
        self,
        module: nn.Module,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        training: Training | Differentiated | WithGradients | None,
        kernels: Kernels,
        stack: ExitStack,
    ) -> None:
        """Enter on ``stack`` what holds for all of them."""
        self._module, self._args, self._kwargs = module, args, kwargs
        self.play: RunModel = forward
        self._heard: Heard | None = None
        stack.enter_context(reproducible(module))
        self._device_kernels = kernels
        if training is not None:
            self.play = training.play(module, (args, dict(kwargs)))
            self._heard = stack.enter_context(registered(training.registrations))
            stack.enter_context(taken_as_plain(DeviceTensor))

    def run(self, make: Callable[[ModuleStack], Engine], *, inputs_given: bool = False) -> Any:
        """Give the engine, one that ``make`` makes, that the run ended with."""

        def made(modules: ModuleStack) -> Engine:
            engine = make(modules)
            engine.device_kernels = self._device_kernels
            if self._heard is not None:
                engine.training = True
                self._heard.engine = engine
            return engine

        return attempt(self._module, self._args, self._kwargs, made, self.play, inputs_given)


def _own_step(
    training: Training | Differentiated | WithGradients | None, module: nn.Module
) -> list[str]:
    """Say that a model brings the step that it is trained by."""
    own = isinstance(training, Training) and training.step.takes_own_step(module)
    return [NOTE] if own else []


def _stood_in(device: torch.device, device_type: str) -> list[str]:
    """Say where Python saw another name than the device's own: torch has one a process."""
    if device_type in ALIASED_TYPES or device.type == device_type:
        return []
    return [
        Sentence(
            "traced under the name {device}, which this process has given its device: code that "
            "asks for {device_asked} by name was not followed",
            device=repr(device.type),
            device_asked=repr(device_type),
        )
    ]


def as_module(model: Callable[..., Any]) -> nn.Module:
    """The model itself, or a plain callable as a module."""
    return model if isinstance(model, nn.Module) else _Function(model)


def dtypes(casts: Mapping[str, str]) -> dict[torch.dtype, torch.dtype]:
    """A table of dtypes by name as one of torch's."""
    return {getattr(torch, asked): getattr(torch, given) for asked, given in casts.items()}


class _Function(nn.Module):
    """A plain callable as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self._function = function

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)


@contextmanager
def reproducible(module: nn.Module) -> Iterator[None]:
    """Evaluation mode and fixed random numbers inside the block; both as before after it."""
    modes = [(m, m.training) for m in module.modules()]
    module.eval()
    try:
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(0)
            yield
    finally:
        for part, training in modes:
            part.training = training
