"""The last step of every source: a module and what is known of its inputs become ``Loaded``."""

import contextlib

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from opcheck.source.base import Loaded, LoadOptions
from opcheck.source.building.build import build, make, shed, shed_values
from opcheck.source.building.example import Inputs, image_of, override, require, vocabulary
from opcheck.source.building.fill import fill
from opcheck.source.building.guess import guess
from opcheck.source.building.hf_inputs import inputs_of
from opcheck.source.building.script import script_signature, traced_inputs
from opcheck.source.building.signature import Signature
from opcheck.source.building.values import valued


def ready(
    module: nn.Module,
    inputs: Inputs | None,
    options: LoadOptions,
    *,
    kind: str,
    digest: str,
    notes: tuple[str, ...] = (),
) -> Loaded:
    """Put ``module`` in eval mode and settle its inputs; large tensors on meta, or all filled."""
    if isinstance(module, nn.DataParallel):
        module = module.module
    with contextlib.suppress(NotImplementedError):  # an exported module has no modes
        module.eval()
    scripted = isinstance(module, torch.jit.ScriptModule)
    signature = script_signature(module) if scripted else Signature.of(module)
    notes = (*notes, *_settle(module, options))
    note = ""
    if inputs is None:
        inputs, note = _told(module, options)
    if inputs is None and not options.inputs:
        inputs, note = guess(module, signature, weights=options.weights)
    ids = vocabulary(module)
    args, kwargs = override(inputs or ((), {}), options.inputs, signature, ids)
    require((args, kwargs), signature)
    if options.weights:
        args, kwargs = valued((args, kwargs), signature, ids)
    else:
        args, kwargs = shed_values((args, kwargs))
    if any(is_lazy(parameter) for parameter in module.parameters()):
        _first_forward(module, (args, kwargs), options)
        notes = (*notes, *_settle(module, options))
    return Loaded(module, args, kwargs, kind, digest, (*notes, *filter(None, (note,))))


def _settle(module: nn.Module, options: LoadOptions) -> tuple[str, ...]:
    """Give every tensor values on the CPU, or take them from the large ones; gives the notes."""
    if not options.weights:
        shed(module)
        return ()
    notes = fill(module)
    tensors = (*module.parameters(), *module.buffers())
    if any(tensor.device.type != "cpu" for tensor in tensors):
        module.cpu()
    return notes


def _first_forward(module: nn.Module, inputs: Inputs, options: LoadOptions) -> None:
    args, kwargs = inputs
    what = "the first forward, which gives lazy layers their sizes"
    call = make if options.weights else build
    call(what, lambda: module(*args, **kwargs))


def _told(module: nn.Module, options: LoadOptions) -> tuple[Inputs | None, str]:
    """Inputs that a trace or the module's own config tells, and a note; None if neither does."""
    if isinstance(module, torch.jit.ScriptModule):
        return traced_inputs(module), ""
    given = frozenset(spec.name for spec in options.inputs)
    inputs, note = inputs_of(module, given, weights=options.weights)
    return inputs or image_of(module), note
