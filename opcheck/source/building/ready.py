"""The last step of every source: a module and what is known of its inputs become ``Loaded``."""

import contextlib

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from opcheck.source.base import Loaded, LoadOptions
from opcheck.source.building.build import build, shed, shed_values
from opcheck.source.building.example import Inputs, image_of, override, require, vocabulary
from opcheck.source.building.guess import guess
from opcheck.source.building.hf_inputs import inputs_of
from opcheck.source.building.script import script_signature, traced_inputs
from opcheck.source.building.signature import Signature


def ready(
    module: nn.Module,
    inputs: Inputs | None,
    options: LoadOptions,
    *,
    kind: str,
    digest: str,
    notes: tuple[str, ...] = (),
) -> Loaded:
    """Put ``module`` in eval mode, its weights on meta, and settle its inputs."""
    if isinstance(module, nn.DataParallel):
        module = module.module
    with contextlib.suppress(NotImplementedError):  # an exported module has no modes
        module.eval()
    scripted = isinstance(module, torch.jit.ScriptModule)
    signature = script_signature(module) if scripted else Signature.of(module)
    shed(module)
    note = ""
    if inputs is None:
        inputs, note = _told(module, options)
    if inputs is None and not options.inputs:
        inputs, note = guess(module, signature)
    args, kwargs = override(inputs or ((), {}), options.inputs, signature, vocabulary(module))
    require((args, kwargs), signature)
    args, kwargs = shed_values((args, kwargs))
    if any(is_lazy(parameter) for parameter in module.parameters()):
        build(
            "the first forward, which gives lazy layers their sizes",
            lambda: module(*args, **kwargs),
        )
        shed(module)
    return Loaded(module, args, kwargs, kind, digest, (*notes, *filter(None, (note,))))


def _told(module: nn.Module, options: LoadOptions) -> tuple[Inputs | None, str]:
    """Inputs that a trace or the module's own config tells, and a note; None if neither does."""
    if isinstance(module, torch.jit.ScriptModule):
        return traced_inputs(module), ""
    inputs, note = inputs_of(module, frozenset(spec.name for spec in options.inputs))
    return inputs or image_of(module), note
