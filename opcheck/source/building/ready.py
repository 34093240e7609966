"""The last step of every source - a module and its inputs become ``Loaded`` - and live modules."""

import contextlib
import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.dropout import _DropoutNd
from torch.nn.parameter import is_lazy
from torch.utils._pytree import tree_leaves

from opcheck.errors import SourceError, UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.trace import Gap
from opcheck.source.base import Loaded, LoadOptions
from opcheck.source.building.build import build, make, shed, shed_values
from opcheck.source.building.decoding import decoding
from opcheck.source.building.example import (
    Inputs,
    Signature,
    image_of,
    override,
    require,
    valued,
    vocabulary,
)
from opcheck.source.building.fill import fill
from opcheck.source.building.guess import guess
from opcheck.source.building.huggingface.transformers_inputs import inputs_of
from opcheck.source.building.huggingface.transformers_labels import with_labels
from opcheck.source.building.several import repeated, sets_named
from opcheck.source.building.torchscript import script_signature, traced_inputs
from opcheck.source.model_folder import quantised_modules

_BUILT_BY_USER = frozenset({"python", "pickle", "torchscript", "live"})
"""Kinds whose model comes as the user's own code left it."""


def in_training(module: nn.Module, kind: str) -> tuple[str, ...]:
    """Each such layer with its kind, sorted; none of a model that a library builds by name."""
    if kind not in _BUILT_BY_USER:
        return ()
    found = (
        f"{path or '(the model)'} ({type(part).__name__})"
        for path, part in module.named_modules()
        if _differs(part) and part.training  # a frozen script has none
    )
    return tuple(sorted(found))


def mode_note(module: nn.Module, kind: str) -> tuple[str, ...]:
    """What to say of a model that comes in training mode, and is run in evaluation mode.

    Nothing of one that computes the same in both.
    """
    found = in_training(module, kind)
    if kind in _BUILT_BY_USER:
        asks = (
            f"{path or '(the model)'} ({type(part).__name__})"
            for path, part in module.named_modules()
            if getattr(part, "training", False) and _asks(type(part))  # a frozen script has none
        )
        found = tuple(dict.fromkeys((*found, *asks)))
    if not found:
        return ()
    first, count = found[0], len(found)
    which = (
        first if count == 1 else Sentence("{list} and {count} more", list=first, count=count - 1)
    )
    return (
        Sentence(
            "given in training mode, run in evaluation mode: {part} may compute otherwise",
            part=which,
        ),
    )


def _asks(cls: type[nn.Module]) -> bool:
    """Whether the forward of a class that is not PyTorch's own reads the mode."""
    code = getattr(inspect.getattr_static(cls, "forward", None), "__code__", None)
    own = not cls.__module__.startswith("torch.")
    return own and code is not None and "training" in code.co_names


def _differs(part: nn.Module) -> bool:
    match part:
        case _DropoutNd():
            return part.p > 0
        case _BatchNorm():
            return part.track_running_stats
        case nn.RNNBase() | nn.MultiheadAttention():
            return part.dropout > 0
        case _:
            return False


_ONE_OF_TWO = Sentence("give one of the two")


def ready(
    module: nn.Module,
    inputs: Inputs | list[Inputs] | None,
    options: LoadOptions,
    *,
    kind: str,
    digest: str,
    notes: tuple[str, ...] = (),
    unseen: tuple[Gap, ...] | None = None,
) -> Loaded:
    """Put ``module`` in eval mode and settle its inputs; large tensors on meta, or all filled.

    A list of ``inputs`` is one of sets, each for a call. ``unseen`` is what the source's own
    config says of its weights; where that is None, the modules' configs are asked.
    """
    if isinstance(module, nn.DataParallel):
        module = module.module
    modes = in_training(module, kind)
    unseen = quantised_modules(module) if unseen is None else unseen
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
            raise UsageError(
                Sentence("--decode follows one call, and --inputs gives several"), _ONE_OF_TWO
            )
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
        return sets, _counted(sets, options.calls.input_sets)
    if isinstance(inputs, list):
        return inputs, _counted(inputs, "")
    note, told = "", inputs is None
    if inputs is None:
        inputs, note = _inputs_of_module(module, options)
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
    if len(sets) <= 1:
        return ()
    called = "called on {count} sets of inputs"
    if of:
        called = "called on {count} sets of inputs of {text}"
    return (Sentence(called, count=len(sets), text=of),)


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
                Sentence(
                    "the input {name} is a nested tensor: only tensors of one size in each "
                    "dimension are followed",
                    name=name,
                ),
                Sentence("pad it to one size (torch.nested.to_padded_tensor), and give a mask"),
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
    what = Sentence("the first forward, which gives lazy layers their sizes")
    call = make if options.weights else build
    call(what, lambda: module(*args, **kwargs))


def _inputs_of_module(module: nn.Module, options: LoadOptions) -> tuple[Inputs | None, str]:
    """Inputs that a trace or the module's own config tells, and a note; None if neither does."""
    if isinstance(module, torch.jit.ScriptModule):
        return traced_inputs(module), ""
    given = frozenset(spec.name for spec in options.inputs)
    inputs, note = inputs_of(module, given, weights=options.weights)
    return inputs or image_of(module), note


KIND = "live"


def load_live(module: Any, inputs: Any, options: LoadOptions | None = None) -> Loaded:
    """Make a copy of ``module`` ready to be run; the module itself is left as it is.

    ``inputs`` is a tensor, a tuple of arguments, a dict of named ones, or (tuple, dict); or an
    iterator over such; None where ``options`` or the first layer tells.
    """
    from torch import nn

    from opcheck.source.building.build import light_copy, whole_copy
    from opcheck.source.building.example import normalise
    from opcheck.source.building.several import sets_of

    if not isinstance(module, nn.Module):
        raise UsageError(
            Sentence("not a model: {text}", text=type(module).__name__),
            Sentence(
                "give a torch.nn.Module, or a text that names a source, as on the command line"
            ),
        )
    options = options or LoadOptions()
    given: Any = None
    if isinstance(inputs, Iterator):
        given = list(sets_of("the call", inputs))
    elif inputs is not None:
        given = normalise("the call", inputs)
    copied = whole_copy(module) if options.weights else light_copy(module)
    return ready(copied, given, options, kind=KIND, digest="")
