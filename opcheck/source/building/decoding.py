"""A call and one more token after it: the prefill of a generating model, and a step with its cache.

The step runs on a twin of the model, which has modules of its own and the same tensors, so that
reports tell the two apart.
"""

import copy
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from opcheck.closures import closures_copied
from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence
from opcheck.python_state import computed
from opcheck.source.building.example import Inputs, Signature
from opcheck.source.building.failures import brief
from opcheck.source.building.guess import probe

_CACHES = ("past_key_values", "cache_params", "past_buckets_states", "mems", "state")
"""Parameters that take what an earlier call left, under the name that its output has it by."""
_IDS = ("decoder_input_ids", "input_ids", "inputs_embeds")
"""Parameters that take a text, of which a step takes one token; else the first one does."""
_LENGTHENED = ("attention_mask", "decoder_attention_mask")
_ENCODED = "encoder_outputs"


class Decoding(nn.Module):
    """A model called on a prompt, and then on one token with the cache of that call."""

    def __init__(self, model: nn.Module, cache: str) -> None:
        super().__init__()
        self.prefill = model
        self.decode = _twin(model)
        self._cache = cache
        self._encodes = Signature.of(model).takes_exactly(_ENCODED)

    def forward(self, prompt: Mapping[str, Any], step: Mapping[str, Any]) -> tuple[Any, Any]:
        """Give the outputs of both calls."""
        first = self.prefill(**prompt)
        left = _left(first, self._cache)
        if left is None:
            raise LookupError(f"the call on the prompt gives no {self._cache} to decode with")
        handed = {self._cache: left}
        encoded = getattr(first, "encoder_last_hidden_state", None)
        if self._encodes and encoded is not None:
            handed[_ENCODED] = (encoded,)
        return first, self.decode(**step, **handed)


def decoding(module: nn.Module, inputs: Inputs, *, weights: bool) -> tuple[nn.Module, Inputs, str]:
    """Follow a call by a step of decoding; gives what to run, its inputs and a note.

    ``weights``: whether the model has its own.

    Raises:
        SourceError: the forward takes or gives no cache, or has no text to go on from.
    """
    signature = Signature.of(module)
    cache = next((name for name in _CACHES if signature.takes_exactly(name)), None)
    if cache is None:
        raise SourceError(
            Sentence(
                "{model} has no step of decoding: its forward takes none of {list}; it "
                "takes {text}",
                model=type(module).__name__,
                list=", ".join(_CACHES[:2]),
                text=signature,
            ),
            Sentence(
                "leave --decode out, or give the inputs of each call with --inputs FILE.py:NAME"
            ),
        )
    args, kwargs = inputs
    prompt = {**signature.by_name(args), **kwargs}
    ids = next((name for name in _IDS if name in prompt), next(iter(prompt), ""))
    text = prompt.get(ids)
    if not isinstance(text, Tensor) or text.dim() < 2 or text.shape[1] < 1:
        raise SourceError(
            Sentence(
                "{model} has no step of decoding: {name} is no text",
                model=type(module).__name__,
                name=ids or "nothing",
            ),
            Sentence("give it with --input input_ids=1x128:int64"),
        )
    if signature.takes_exactly("use_cache"):
        prompt["use_cache"] = True
    if not weights:
        _require_cache(module, prompt, cache)
    step = {ids: text[:, -1:].clone(), **_going_on(prompt, text.shape[1])}
    shown = "x".join(map(str, text.shape[:2]))
    note = Sentence(
        "prefill is the call on {count} tokens, decode that on one more with its {name}: modules "
        "are shown under the two",
        count=shown,
        name=cache,
    )
    return Decoding(module, cache), ((prompt, step), {}), note


def _going_on(prompt: Mapping[str, Any], length: int) -> dict[str, Any]:
    """What else a step is given: switches as before, masks that are longer by one, positions."""
    step = {
        name: value
        for name, value in prompt.items()
        if isinstance(value, bool | str) or (name == "use_cache")
    }
    for name in _LENGTHENED:
        mask = prompt.get(name)
        if isinstance(mask, Tensor) and mask.dim() == 2:
            step[name] = torch.cat((mask, mask.new_ones(mask.shape[0], 1)), 1)
    positions = prompt.get("position_ids")
    if isinstance(positions, Tensor):
        step["position_ids"] = positions[..., -1:] + 1
    if isinstance(prompt.get("cache_position"), Tensor):
        step["cache_position"] = torch.tensor([length])
    return step


def _require_cache(module: nn.Module, prompt: Mapping[str, Any], cache: str) -> None:
    """Refuse a model that leaves none; one that fails here will fail where it is reported."""
    try:
        output = probe(module, weights=False, **prompt)
    except Exception:  # the user's forward
        return
    if _left(output, cache) is None:
        raise SourceError(
            Sentence(
                "{model} has no step of decoding: its output has no {name}",
                model=type(module).__name__,
                name=cache,
            ),
            Sentence("leave --decode out, or have the forward give its cache"),
        )


def _left(output: Any, cache: str) -> Any:
    """The cache in an output, of a pair the second; None where there is none."""
    if isinstance(output, Mapping):
        return output.get(cache)
    if isinstance(output, tuple) and len(output) == 2:
        return output[1]
    return getattr(output, cache, None)


def _twin(model: nn.Module) -> nn.Module:
    """A copy with modules of its own and the same tensors."""
    shared = computed(*model.modules())
    shared |= {id(tensor): tensor for tensor in (*model.parameters(), *model.buffers())}
    try:
        with closures_copied(model.modules(), shared):
            return copy.deepcopy(model, shared)
    except Exception as error:  # holds something that cannot be copied: a lock, a handle
        raise SourceError(
            Sentence(
                "{model} cannot be copied for a step of decoding: {text}",
                model=type(model).__name__,
                text=brief(error),
            ),
            Sentence("leave --decode out"),
        ) from error
