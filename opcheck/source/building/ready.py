"""The last step of every source: a module and what is known of its inputs become ``Loaded``."""

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy
from torch.utils._pytree import tree_leaves

from opcheck.errors import SourceError, UsageError
from opcheck.model.trace import Gap
from opcheck.source.base import Loaded, LoadOptions
from opcheck.source.building.build import build, make, shed, shed_values
from opcheck.source.building.decoding import decoding
from opcheck.source.building.example import Inputs, image_of, override, require, vocabulary
from opcheck.source.building.fill import fill
from opcheck.source.building.guess import guess
from opcheck.source.building.hf_inputs import inputs_of
from opcheck.source.building.hf_labels import with_labels
from opcheck.source.building.input_sets import sets_named
from opcheck.source.building.modes import in_training, mode_note
from opcheck.source.building.script import script_signature, traced_inputs
from opcheck.source.building.several import repeated
from opcheck.source.building.signature import Signature
from opcheck.source.building.values import valued
from opcheck.source.quantised import quantised_modules

_ONE_OF_TWO = "give one of the two"


def ready(
    module: nn.Module,
    inputs: Inputs | list[Inputs] | None,
    options: LoadOptions,
    *,
    kind: str,
    digest: str,
    notes: tuple[str, ...] = (),
    unseen: tuple[Gap, ...] = (),
) -> Loaded:
    """Put ``module`` in eval mode and settle its inputs; large tensors on meta, or all filled.

    A list of ``inputs`` is one of sets, each for a call. ``unseen`` is what the source's own
    config says of its weights; without it the modules' configs are asked.
    """
    if isinstance(module, nn.DataParallel):
        module = module.module
    modes, unseen = in_training(module, kind), unseen or quantised_modules(module)
    notes = notes if options.train else (*notes, *mode_note(module, kind))
    with contextlib.suppress(NotImplementedError):  # an exported module has no modes
        module.eval()
    scripted = isinstance(module, torch.jit.ScriptModule)
    signature = script_signature(module) if scripted else Signature.of(module)
    notes = (*notes, *_settle(module, options))
    if options.uncalled:
        return Loaded(module, (), {}, kind, digest, notes, unseen=unseen)
    given, said = _given(module, inputs, options, signature)
    notes = (*notes, *said)
    ids = vocabulary(module)
    sets = [_settled(one, options, signature, ids) for one in given]
    if any(is_lazy(parameter) for parameter in module.parameters()):
        _first_forward(module, sets[0], options)
        notes = (*notes, *_settle(module, options))
    if options.calls.decode:
        if len(sets) > 1:
            raise UsageError("--decode follows one call, and --inputs gives several", _ONE_OF_TWO)
        module, (args, kwargs), note = decoding(module, sets[0], weights=options.weights)
        return Loaded(module, args, kwargs, kind, digest, (*notes, note), modes, unseen)
    module, (args, kwargs) = repeated(module, sets)
    return Loaded(module, args, kwargs, kind, digest, notes, modes, unseen)


def _given(
    module: nn.Module,
    inputs: Inputs | list[Inputs] | None,
    options: LoadOptions,
    signature: Signature,
) -> tuple[Sequence[Inputs], tuple[str, ...]]:
    """The inputs of each call before the user's own are put into them, and the notes."""
    if options.calls.input_sets:
        sets = sets_named(options.calls.input_sets, values=options.weights)
        return sets, _counted(sets, f" of {options.calls.input_sets}")
    if isinstance(inputs, list):
        return inputs, _counted(inputs, "")
    note, told = "", inputs is None
    if inputs is None:
        inputs, note = _told(module, options)
    if inputs is None and not options.inputs:
        inputs, note = guess(module, signature, weights=options.weights)
    notes = tuple(filter(None, (note,)))
    if inputs is None:
        return (((), {}),), notes
    if options.own_loss and told:
        settled = _settled(inputs, options, signature, vocabulary(module))
        inputs, said = with_labels(module, settled, weights=options.weights)
        notes = (*notes, *filter(None, (said,)))
    return (inputs,), notes


def _counted(sets: Sequence[Inputs], of: str) -> tuple[str, ...]:
    return (f"called on {len(sets)} sets of inputs{of}",) if len(sets) > 1 else ()


def _settled(inputs: Inputs, options: LoadOptions, signature: Signature, ids: int) -> Inputs:
    """One set of inputs with the user's own in it; large tensors on meta, or all filled."""
    args, kwargs = override(inputs, options.inputs, signature, ids)
    require((args, kwargs), signature)
    _require_plain(args, kwargs)
    if options.weights:
        return valued((args, kwargs), signature, ids)
    return shed_values((args, kwargs))


def _require_plain(args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Refuse nested tensors, which are followed neither on a device nor without values."""
    given = [*((f"number {n}", value) for n, value in enumerate(args, 1)), *kwargs.items()]
    for name, value in given:
        if any(isinstance(leaf, torch.Tensor) and leaf.is_nested for leaf in tree_leaves(value)):
            raise SourceError(
                f"the input {name} is a nested tensor: only tensors of one size in each "
                "dimension are followed",
                "pad it to one size (torch.nested.to_padded_tensor), and give a mask",
            )


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
