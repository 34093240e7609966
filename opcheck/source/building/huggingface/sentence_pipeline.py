"""The modules that sentence-transformers runs after a transformers model.

They compute what those of the library compute, sentence-transformers 6.2.0
(``sentence_transformer/modules/pooling.py``, ``base/modules/dense.py``, ``normalize.py``), on
sentences that are padded to one length.
"""

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence
from opcheck.model.trace import Gap
from opcheck.source.building.example import Inputs, Signature
from opcheck.source.building.huggingface.transformers_inputs import inputs_of
from opcheck.source.sentence_folder import Part

Features = dict[str, Tensor]
_EMBEDDING, _TOKENS, _MASK = "sentence_embedding", "token_embeddings", "attention_mask"
_LEAST = 1e-9
_ACTIVATIONS = frozenset(nn.modules.activation.__all__)
_HALF = frozenset({torch.float16, torch.bfloat16})
_OLD_MODES = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}
"""How configs said it before there was ``pooling_mode``."""


class Pooling(nn.Module):
    """One vector of the tokens of each sentence; of several modes, one after the other."""

    def __init__(self, modes: Sequence[str]) -> None:
        super().__init__()
        self.modes = tuple(modes)

    def forward(self, features: Features) -> Features:
        """Pool ``token_embeddings``, ``[sentences, tokens, width]``."""
        pooled = [_MODES[mode](features[_TOKENS], features[_MASK]) for mode in self.modes]
        return {**features, _EMBEDDING: torch.cat(pooled, -1)}


class Dense(nn.Module):
    """A linear layer with an activation."""

    def __init__(self, linear: nn.Linear, activation: nn.Module) -> None:
        super().__init__()
        self.linear, self.activation_function = linear, activation

    def forward(self, features: Features) -> Features:
        """Project the embedding."""
        made = self.activation_function(self.linear(features[_EMBEDDING]))
        return {**features, _EMBEDDING: made}


class Normalize(nn.Module):
    """Embeddings of length one."""

    def forward(self, features: Features) -> Features:
        """Normalise the embedding."""
        return {**features, _EMBEDDING: F.normalize(features[_EMBEDDING], p=2, dim=1)}


class LayerNorm(nn.Module):
    """A layer norm of the embedding."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)

    def forward(self, features: Features) -> Features:
        """Norm the embedding."""
        return {**features, _EMBEDDING: self.norm(features[_EMBEDDING])}


class Pipeline(nn.Module):
    """A transformers model and the modules after it, called with the inputs of the model."""

    def forward(self, **inputs: Tensor) -> Tensor:
        """Give ``sentence_embedding``, ``[sentences, width]``."""
        model, *parts = self.children()
        if _MASK not in inputs:
            inputs[_MASK] = torch.ones_like(inputs["input_ids"])
        features: Features = {_TOKENS: model(**inputs)[0], _MASK: inputs[_MASK]}
        for part in parts:
            features = part(features)
        return features.get(_EMBEDDING, features[_TOKENS])


def pipeline(model: nn.Module, parts: Sequence[Part]) -> tuple[nn.Module, tuple[Gap, ...]]:
    """Put the modules of a pipeline behind its model; with what is not known of them.

    Raises:
        SourceError: a config lacks what its module is made of.
    """
    whole, gaps = Pipeline(), []
    whole.add_module("0", getattr(model, "base_model", model))  # the library runs it without head
    for part in parts:
        made = _made(part)
        if made is None:
            text = Sentence(
                "a pipeline of sentence-transformers goes on with {kind}, which is not known here",
                kind=part.kind,
            )
            gaps.append(Gap(part.name, text))
            break
        whole.add_module(part.name, made)
    return whole, tuple(gaps)


def inputs_for(model: nn.Module, given: frozenset[str]) -> Inputs | None:
    """The inputs of a pipeline's model; a mask as its tokenizer gives it."""
    inputs, _ = inputs_of(model, given)
    if inputs is None or "input_ids" not in inputs[1]:
        return inputs
    args, named = inputs
    if not given and Signature.of(model).takes(_MASK):
        named = {**named, _MASK: torch.ones_like(named["input_ids"])}
    return args, named


def _made(part: Part) -> nn.Module | None:
    match part.kind:
        case "Pooling":
            return Pooling(_modes(part))
        case "Dense":
            return _dense(part)
        case "Normalize":
            return Normalize()
        case "LayerNorm":
            return LayerNorm(_size(part, "dimension"))
        case "Dropout":
            return nn.Identity()
        case _:
            return None


def _modes(part: Part) -> tuple[str, ...]:
    said = part.config.get("pooling_mode")
    modes = [said] if isinstance(said, str) else said
    if modes is None:
        modes = [mode for key, mode in _OLD_MODES.items() if part.config.get(key)] or ["mean"]
    if not (isinstance(modes, list) and modes and all(mode in _MODES for mode in modes)):
        raise _lacking(part, "pooling_mode", ", ".join(_MODES))
    return tuple(modes)


def _dense(part: Part) -> nn.Module | None:
    name = str(part.config.get("activation_function", "torch.nn.modules.activation.Tanh"))
    home, _, kind = name.rpartition(".")
    known = (*nn.modules.activation.__all__, "Identity")
    if (
        not f"{home}.".startswith("torch.nn.")
        or kind not in known
        or part.config.get("use_residual")
    ):
        return None
    sizes = (_size(part, "in_features"), _size(part, "out_features"))
    return Dense(nn.Linear(*sizes, bias=bool(part.config.get("bias", True))), getattr(nn, kind)())


def _size(part: Part, key: str) -> int:
    size = part.config.get(key)
    if not isinstance(size, int) or isinstance(size, bool) or not 0 < size < 2**31:
        raise _lacking(part, key, Sentence("a number above zero"))
    return size


def _lacking(part: Part, key: str, wanted: str) -> SourceError:
    return SourceError(
        Sentence(
            "the config of module {name} ({kind}) says {key}={text}, want {said}",
            name=part.name, kind=part.kind, key=key, text=repr(part.config.get(key)), said=wanted,
        ),
        Sentence("was it saved completely?"),
    )  # fmt: skip


def _sum_of(tokens: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """The sum of the tokens and their number, in float32 where they are of 16 bits."""
    dtype = torch.float32 if tokens.dtype in _HALF else tokens.dtype
    kept = mask.unsqueeze(-1).to(tokens.dtype)
    total = (tokens * kept).sum(dim=1, dtype=dtype)
    return total, torch.clamp(kept.sum(dim=1, dtype=dtype), min=_LEAST)


def _mean(tokens: Tensor, mask: Tensor) -> Tensor:
    total, count = _sum_of(tokens, mask)
    return (total / count).to(tokens.dtype)


def _mean_by_root(tokens: Tensor, mask: Tensor) -> Tensor:
    total, count = _sum_of(tokens, mask)
    return (total / torch.sqrt(count)).to(tokens.dtype)


def _weighted_mean(tokens: Tensor, mask: Tensor) -> Tensor:
    dtype = torch.float32 if tokens.dtype in _HALF else tokens.dtype
    places = torch.arange(1, tokens.shape[1] + 1, device=tokens.device, dtype=dtype)
    before = mask.to(torch.int32).argmax(dim=1).view(-1, 1, 1)
    weights = mask.unsqueeze(-1).to(dtype) * (places.view(1, -1, 1) - before)
    total = (tokens * weights).sum(dim=1)
    return (total / torch.clamp(weights.sum(dim=1), min=_LEAST)).to(tokens.dtype)


def _first(tokens: Tensor, mask: Tensor) -> Tensor:
    return _at(tokens, mask.to(torch.int).argmax(dim=1))


def _last(tokens: Tensor, mask: Tensor) -> Tensor:
    found, behind = mask.flip(1).max(1)
    behind = torch.where(found == 0, tokens.shape[1] - 1, behind)
    kept = mask.unsqueeze(-1).expand_as(tokens).to(tokens.dtype)
    return _at(tokens * kept, tokens.shape[1] - behind - 1)


def _at(tokens: Tensor, places: Tensor) -> Tensor:
    index = places.unsqueeze(-1).unsqueeze(1).expand(-1, 1, tokens.shape[-1])
    return torch.gather(tokens, 1, index).squeeze(1)


def _largest(tokens: Tensor, mask: Tensor) -> Tensor:
    kept = mask.unsqueeze(-1).expand_as(tokens).to(tokens.dtype)
    return tokens.masked_fill(kept == 0, float("-inf")).max(dim=1).values


_MODES: Mapping[str, Callable[[Tensor, Tensor], Tensor]] = {
    "cls": _first,
    "max": _largest,
    "mean": _mean,
    "mean_sqrt_len_tokens": _mean_by_root,
    "weightedmean": _weighted_mean,
    "lasttoken": _last,
}
