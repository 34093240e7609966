"""Inputs for a module that came without any, by its first layer and by asking for shapes."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from opcheck.kernel_code.launching import ignored, listening
from opcheck.lang.sentence import Sentence
from opcheck.python_state import left_as_found
from opcheck.source.building.example import Inputs, Signature, example, needed, valued
from opcheck.source.building.failures import brief
from opcheck.source.building.fill import seeded
from opcheck.source.building.weightless import weightless


def probe(function: Callable[..., Any], *args: Any, weights: bool, **kwargs: Any) -> Any:
    """Call ``function`` without gradients, and without computing where that is possible.

    What the call leaves in caches would be of another device than the run that comes after it, and
    is taken out. A model with ``weights`` computes: what it gives must have values too.
    """
    with left_as_found(holds_tensors, *_parts(function)), listening(ignored):
        if not weights:
            with weightless(), torch.no_grad():
                return function(*args, **kwargs)
        args, kwargs = valued((args, kwargs))
        with seeded(), torch.no_grad():
            return function(*args, **kwargs)


def _parts(function: Callable[..., Any]) -> tuple[nn.Module, ...]:
    """The modules that a call may keep something in; none of a model that it gives its sizes."""
    owner = function if isinstance(function, nn.Module) else getattr(function, "__self__", None)
    if not isinstance(owner, nn.Module) or isinstance(owner, torch.jit.ScriptModule):
        return ()
    lazy = any(is_lazy(parameter) for parameter in owner.parameters())
    return () if lazy else tuple(owner.modules())


def holds_tensors(value: Any) -> bool:
    """Whether a value is a tensor, or has one in it."""
    if isinstance(value, (tuple, list, frozenset)):
        return any(map(holds_tensors, value))
    if isinstance(value, dict):
        return any(map(holds_tensors, value.values()))
    return isinstance(value, torch.Tensor)


_SIDES = (224, 32, 28, 64, 96, 128, 256, 299, 384, 512)
_LENGTHS = (128, 1024, 16000, 16, 77, 512)
_Shapes = Callable[[Any], Iterator[tuple[int, ...]]]


def guess(module: nn.Module, signature: Signature, *, weights: bool = False) -> tuple[Inputs, str]:
    """Find one tensor that the forward accepts, and say what was chosen.

    Only for a forward with one parameter; candidates are tried on the model's shapes, or for real
    on one that has its ``weights``.
    """
    if len(signature.required or signature.names) != 1:
        raise needed(Sentence("cannot infer inputs for this model"), signature)
    problem = Sentence("no layer tells its input")
    for layer, candidate in _candidates(module):
        try:
            probe(module, candidate, weights=weights)
        except Exception as error:  # the user's forward: this candidate is not for it
            problem = Sentence(
                "{text_shape} was refused: {text}",
                text_shape=list(candidate.shape),
                text=brief(error),
            )
            continue
        shape = "x".join(map(str, candidate.shape))
        dtype = str(candidate.dtype).removeprefix("torch.")
        note = Sentence(
            "no inputs given: {text}, as {text_layer} wants",
            text=f"{shape}:{dtype}",
            text_layer=layer,
        )
        return ((candidate,), {}), note
    raise needed(Sentence("cannot infer inputs for this model ({said})", said=problem), signature)


def _candidates(module: nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    """Give what the first layer of each kind takes, in the order in which they are registered."""
    left = dict(_LAYERS)
    for name, part in module.named_modules():
        # in TorchScript, a layer is known by its original name
        kinds = [k for k in left if isinstance(part, k) or _kind_name(part) == k.__name__]
        for kind in kinds:
            layer = f"{name or 'the module'} ({_kind_name(part)})"
            ids = getattr(part, "num_embeddings", 2)
            for shape in _shapes_of_layer(left.pop(kind), part):
                yield layer, example("", shape, _dtype(part), ids)


def _shapes_of_layer(shapes: _Shapes, part: nn.Module) -> tuple[tuple[int, ...], ...]:
    """The shapes that a layer tells; none by one that is such a layer in name alone."""
    try:
        found = tuple(shapes(part))
    except (AttributeError, TypeError):
        return ()
    return tuple(s for s in found if all(isinstance(size, int) and size > 0 for size in s))


def _kind_name(part: nn.Module) -> str:
    return str(getattr(part, "original_name", type(part).__name__))


def _dtype(part: nn.Module) -> torch.dtype:
    if _kind_name(part) == "Embedding" or isinstance(part, nn.Embedding):
        return torch.int64
    return next((p.dtype for p in part.parameters() if p.is_floating_point()), torch.float32)


def _recurrent(part: Any) -> Iterator[tuple[int, ...]]:
    yield (1, 32, part.input_size) if part.batch_first else (32, 1, part.input_size)


def _attention(part: Any) -> Iterator[tuple[int, ...]]:
    attention = part.self_attn
    width = attention.embed_dim
    yield (1, 32, width) if attention.batch_first else (32, 1, width)


def _linear(part: Any) -> Iterator[tuple[int, ...]]:
    yield (1, part.in_features)
    yield (1, 16, part.in_features)
    for side in _SIDES:  # a flattened image
        if part.in_features == side * side:
            yield (1, 1, side, side)
        if part.in_features == 3 * side * side:
            yield (1, 3, side, side)


def _sequence(part: Any) -> Iterator[tuple[int, ...]]:
    yield from ((1, part.in_channels, length) for length in _LENGTHS)


def _image(part: Any) -> Iterator[tuple[int, ...]]:
    yield from ((1, part.in_channels, side, side) for side in _SIDES)


def _volume(part: Any) -> Iterator[tuple[int, ...]]:
    yield from ((1, part.in_channels, 16, side, side) for side in (112, 224, 32, 64))


def _ids(part: Any) -> Iterator[tuple[int, ...]]:
    yield from ((1, length) for length in _LENGTHS[:1] + _LENGTHS[3:4])
    yield (16,)


_LAYERS: dict[type[nn.Module], _Shapes] = {
    nn.Conv1d: _sequence,
    nn.Conv2d: _image,
    nn.Conv3d: _volume,
    nn.Linear: _linear,
    nn.Embedding: _ids,
    nn.RNNBase: _recurrent,
    nn.TransformerEncoderLayer: _attention,
}
"""Layers that say what they take, each with the shapes to try."""
