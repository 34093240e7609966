"""One forward or one training step, on the host and on the emulated device."""

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any

import torch
from msgspec import Struct
from torch import nn

from opcheck.emulate.collectives import collecting_on_host
from opcheck.emulate.compare import Named, named_tensors
from opcheck.emulate.cotangents import gradients
from opcheck.emulate.device import Device
from opcheck.emulate.placing import Placing
from opcheck.emulate.record import Record
from opcheck.emulate.session import Emulator
from opcheck.errors import EmulationError, OpcheckError, out_of_memory
from opcheck.model.emulation import after_step, gradient_of
from opcheck.model.trace import Phase
from opcheck.python_state import left_as_found
from opcheck.source.building.guess import holds_tensors
from opcheck.trace.compiled import mark_compiled
from opcheck.trace.eager import OtherAsDevice, asks_for_other
from opcheck.trace.fresh import copied
from opcheck.trace.modules import ModuleStack, reason_of
from opcheck.trace.run import reproducible
from opcheck.trace.step import TrainingStep


class Job(Struct, frozen=True):
    """What is to be run, wherever."""

    module: nn.Module
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    step: TrainingStep | None = None
    """The training step to run; None: a forward."""
    gradients: bool = False
    """Whether gradients of the results are wanted instead of the results."""
    begun: Callable[[Record], None] = lambda _: None
    """Given what each run on the device is recorded in, before it begins."""


class Ran(Struct, frozen=True):
    """How a run on the device ended."""

    emulator: Emulator
    error: Exception | None
    """What ended it early."""
    results: Named
    """Outputs, and in training gradients and parameters, on the host; empty without values."""
    named: tuple[str, ...]
    """Types of hard-coded devices that were taken for the emulated one."""


def on_host(job: Job) -> Named:
    """Give what the host computes, by name.

    Raises:
        EmulationError: the model fails there too.
    """
    module = copied(job.module)
    try:
        with left_as_found(holds_tensors), reproducible(module), collecting_on_host():
            return _play(job, module, job.args, dict(job.kwargs), lambda _: None)
    except (OpcheckError, MemoryError):
        raise
    except Exception as error:
        if out_of_memory(error):
            raise MemoryError from error
        raise EmulationError(
            f"{type(module).__name__} fails on the host, without any device: {reason_of(error)}",
            "there is nothing to compare with; leave --values out to see how far it gets",
        ) from error


def on_device(job: Job, make: Callable[[], Emulator]) -> Ran:
    """Run on a device that ``make`` makes; once more as if it were CUDA if the model insists."""
    ran = _on_device(job, make(), as_cuda=False)
    if ran.error is not None and asks_for_other(ran.error):
        return _on_device(job, make(), as_cuda=True)
    return ran


def _on_device(job: Job, emulator: Emulator, as_cuda: bool) -> Ran:
    with emulator as torch_device:
        device = emulator.device
        module = copied(job.module)
        placing = Placing(device, emulator.values)
        placing.module(module)
        args, kwargs = placing.inputs((job.args, dict(job.kwargs)))
        mark_compiled(job.module, module)
        device.modules = ModuleStack(module)
        device.modules.met_compiled = device.met_compiled
        job.begun(device.record)
        named: set[str] = set()
        pretending = OtherAsDevice(torch_device, named.add) if as_cuda else nullcontext()
        error: Exception | None = None
        results: Named = {}
        try:
            with reproducible(module), device.modules.watching(), pretending:
                results = _play(job, module, args, kwargs, device.record.begin)
        except (OpcheckError, MemoryError):
            raise
        except Exception as raised:  # the user's model failed, and the report says so
            error = raised
        return Ran(
            emulator, error, _brought_back(device, results, emulator.values), tuple(sorted(named))
        )


def _play(
    job: Job,
    module: nn.Module,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    begins: Callable[[Phase], None],
) -> Named:
    if job.gradients:
        return gradients(module, args, kwargs, begins)
    if job.step is None:
        with torch.no_grad():
            return named_tensors(module(*args, **kwargs), "output")
    output = job.step.run(module, args, kwargs, begins)
    found = named_tensors(output, "output")
    for name, parameter in module.named_parameters():
        if parameter.grad is not None:
            found[gradient_of(name)] = parameter.grad
        found[after_step(name)] = parameter
    return found


def _brought_back(device: Device, results: Named, values: bool) -> Named:
    if not values:
        return {}
    with device.quiet(), torch.no_grad():
        return {name: tensor.detach().cpu() for name, tensor in results.items()}
