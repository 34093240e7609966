"""One forward or one training step, on the host and on the emulated device."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from msgspec import Struct, field
from torch import Tensor, nn

from opcheck.emulate.collectives import collecting_on_host
from opcheck.emulate.compare import Named, gradients, named_tensors
from opcheck.emulate.computing import keeps_values
from opcheck.emulate.device import Device
from opcheck.emulate.record import Record
from opcheck.emulate.session import Emulator
from opcheck.errors import EmulationError, OpcheckError, out_of_memory
from opcheck.lang.sentence import Sentence, sentence_of
from opcheck.model.emulation import after_step, gradient_of
from opcheck.model.trace import Phase
from opcheck.python_state import left_as_found
from opcheck.source.building.guess import holds_tensors
from opcheck.trace.calls.call_site import from_error
from opcheck.trace.calls.modules import ModuleStack, reason_of
from opcheck.trace.device.containers import with_tensors
from opcheck.trace.device.tensors import Spec
from opcheck.trace.run import reproducible
from opcheck.trace.running.eager import OtherAsDevice, asks_for_other, mark_compiled
from opcheck.trace.running.model_state import copied, dense_copy
from opcheck.trace.running.parallel import in_parts_of
from opcheck.trace.running.training_step import TrainingStep


class Placing:
    """Puts host tensors on a device, each once, so that what is shared stays shared.

    ``Module.to`` would not keep parameters shared: PyTorch gives a PrivateUse1 device new ones.
    """

    def __init__(self, device: Device, values: bool) -> None:
        self._memory = device.memory
        self._values = values
        self._placed: dict[int, tuple[Tensor, Tensor]] = {}

    def module(self, module: nn.Module) -> None:
        """Put every parameter and buffer of a module on the device, in place.

        Raises:
            EmulationError: other processes hold parts of them.
        """
        if in_parts_of(module):
            raise EmulationError(
                Sentence(
                    "other processes hold parts of the parameters of {module}, which the emulated "
                    "device does not follow",
                    module=type(module).__name__,
                ),
                Sentence("scan records what this process calls and sends"),
            )
        for part in module.modules():
            tables: tuple[dict[str, Any], ...] = (part._parameters, part._buffers)
            for table in tables:
                for name, tensor in table.items():
                    if tensor is not None:
                        table[name] = self._once(tensor)

    def inputs(self, value: Any) -> Any:
        """Give nested inputs with their tensors on the device."""
        return with_tensors(self._once, value)

    def _once(self, tensor: Tensor) -> Tensor:
        if id(tensor) not in self._placed:
            # the tensor is kept, so that its id stays its own
            self._placed[id(tensor)] = (tensor, self._on_device(tensor))
        return self._placed[id(tensor)][1]

    def _on_device(self, tensor: Tensor) -> Tensor:
        if tensor.device.type not in ("cpu", "meta") or tensor.layout is not torch.strided:
            return tensor
        made = self._moved(tensor.detach())
        if isinstance(tensor, nn.Parameter):
            return nn.Parameter(made, tensor.requires_grad)
        return made.requires_grad_(tensor.requires_grad)

    def _moved(self, tensor: Tensor) -> Tensor:
        spec = Spec.like(tensor)
        if tensor.is_meta or not (self._values or keeps_values(spec)):
            return self._memory.blank(spec.dtype, spec.shape, spec.stride)
        return self._memory.adopt(dense_copy(tensor))


class Job(Struct, frozen=True):
    """What is to be run, wherever."""

    module: nn.Module
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    step: TrainingStep | None = None
    """The training step to run; None: a forward."""
    gradients: bool = False
    """Whether gradients of the results are wanted instead of the results."""
    off: Mapping[str, float] = field(default_factory=dict)
    """Gradient -> how far it is moved, up or down by chance, before the optimizer sees it."""
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
    module = _copy(job.module)
    try:
        with left_as_found(holds_tensors), reproducible(module), collecting_on_host():
            args, kwargs = job.args, dict(job.kwargs)
            return _play(job, module, args, kwargs, lambda _: None, nullcontext, values=True)
    except (OpcheckError, MemoryError):
        raise
    except Exception as error:
        if out_of_memory(error):
            raise MemoryError from error
        fails = Sentence(
            "{module} fails on the host, without any device: {text}",
            module=type(module).__name__,
            text=reason_of(error),
        )
        hint = "there is nothing to compare with; leave --values out to see how far it gets"
        raise EmulationError(_at(error, fails), Sentence(hint)) from error


def _at(error: BaseException, said: Sentence) -> Sentence:
    """A sentence with the user's line that an exception passed in front of it."""
    file, line = from_error(error)
    return Sentence("{text}: {said}", text=f"{file}:{line}", said=said) if file else said


def _placed(refused: EmulationError) -> EmulationError:
    """What is not emulated, with the line of the model that asks for it."""
    return EmulationError(_at(refused, sentence_of(refused)), refused.hint)


def on_device(job: Job, make: Callable[[], Emulator]) -> Ran:
    """Run on a device that ``make`` makes; once more as if it were CUDA if the model insists."""
    ran = _on_device(job, make(), as_cuda=False)
    if ran.error is not None and asks_for_other(ran.error):
        return _on_device(job, make(), as_cuda=True)
    return ran


def _on_device(job: Job, emulator: Emulator, as_cuda: bool) -> Ran:
    with emulator as torch_device:
        device = emulator.device
        module = _copy(job.module)
        placing = Placing(device, emulator.values)
        placing.module(module)
        args, kwargs = placing.inputs((job.args, dict(job.kwargs)))
        mark_compiled(job.module, module)
        device.modules = modules = ModuleStack(module)
        modules.met_compiled = device.met_compiled
        job.begun(device.record)
        named: set[str] = set()
        pretending = OtherAsDevice(torch_device, named.add) if as_cuda else nullcontext()
        error: Exception | None = None
        results: Named = {}
        try:
            with reproducible(module), modules.watching(), pretending:
                results = _play(
                    job, module, args, kwargs, device.record.begin, device.quiet,
                    values=emulator.values,
                )  # fmt: skip
        except EmulationError as refused:
            raise _placed(refused) from refused
        except (OpcheckError, MemoryError):
            raise
        except Exception as raised:  # the user's model failed, and the report says so
            error = raised
        return Ran(
            emulator, error, _brought_back(device, results, emulator.values), tuple(sorted(named))
        )


def _copy(module: nn.Module) -> nn.Module:
    """A copy to run, so that neither the user's model nor the next run sees what this one leaves.

    Raises:
        EmulationError: the model, or what a config has put into it, cannot be copied.
    """
    try:
        return copied(module)
    except MemoryError:
        raise
    except Exception as error:  # of the model's own code, or of whatever it holds
        if out_of_memory(error):
            raise MemoryError from error
        raise EmulationError(
            Sentence(
                "{module} cannot be copied: {text}",
                module=type(module).__name__,
                text=reason_of(error),
            ),
            Sentence(
                "every run is of a fresh copy (copy.deepcopy): keep locks, handles and the like "
                "out of the module's attributes"
            ),
        ) from error


def _play(
    job: Job,
    module: nn.Module,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    begins: Callable[[Phase], None],
    quiet: Callable[[], AbstractContextManager[None]],
    *,
    values: bool,
) -> Named:
    if job.gradients:
        return gradients(module, args, kwargs, begins)
    if job.step is None:
        with torch.no_grad():
            return named_tensors(module(*args, **kwargs), "output")
    before: Named = {}

    def keep() -> None:
        with quiet(), torch.no_grad():  # some optimizers write to gradients
            for name, parameter in module.named_parameters():
                if parameter.grad is not None:
                    _shift(parameter.grad, job.off.get(gradient_of(name), 0.0))
                    before[gradient_of(name)] = parameter.grad.detach().to("cpu", copy=True)

    ready = keep if values else lambda: None
    output = job.step.run(module, args, kwargs, begins, ready=ready)
    updated = {after_step(name): parameter for name, parameter in module.named_parameters()}
    return {**named_tensors(output, "output"), **before, **updated}


def _shift(gradient: Tensor, far: float) -> None:
    if far and gradient.layout is torch.strided:
        up = torch.randint(0, 2, gradient.shape, generator=torch.Generator().manual_seed(0))
        gradient.add_(((2 * up - 1) * far).to(gradient.dtype))


def _brought_back(device: Device, results: Named, values: bool) -> Named:
    if not values:
        return {}
    with device.quiet(), torch.no_grad():
        return {name: tensor.detach().cpu() for name, tensor in results.items()}
