"""Values for tensors that have none - plausible, the same on every run, and a seeded build."""

import contextlib
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch._ops import OpOverload
from torch.nn.parameter import is_lazy
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import (
    tree_any,  # private; checked with torch 2.13
    tree_map_only,  # private; checked with torch 2.13
)

from opcheck.lang.sentence import Sentence
from opcheck.source.base import RANDOM_WEIGHTS
from opcheck.source.draws import numpy_random

# The last two imports are private; checked with torch 2.13. The tests of this module build with
# them, so a move shows there.

_aten = torch.ops.aten
_UNWRITTEN = frozenset(
    (_aten.empty.memory_format, _aten.empty_strided.default, _aten.empty_like.default,
     _aten.empty_permuted.default, _aten.new_empty.default, _aten.new_empty_strided.default)
)  # fmt: skip
"""Factories that leave in a tensor whatever memory held."""


@contextmanager
def seeded() -> Iterator[None]:
    """Within it, every usual source of random numbers starts afresh; after it, as before."""
    drawn = numpy_random()
    states = torch.get_rng_state(), random.getstate(), drawn and drawn.get_state()
    torch.default_generator.manual_seed(0)
    random.seed(0)
    if drawn:
        drawn.seed(0)
    try:
        yield
    finally:
        torch.set_rng_state(states[0])
        random.setstate(states[1])
        if drawn:
            drawn.set_state(states[2])


class Marked(TorchDispatchMode):
    """Within it, a new tensor that nobody wrote holds NaN, or zero where its dtype has no NaN.

    Code that expects its weights from a file makes parameters by ``torch.empty``.
    """

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Keep torch from wrapping the method below, which would import its whole compiler."""
        return False

    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Run the call, and mark what it left unwritten."""
        made = func(*args, **(kwargs or {}))
        if not isinstance(func, OpOverload) or func not in _UNWRITTEN or made.is_meta:
            return made
        if made.dtype.is_floating_point or made.dtype.is_complex:
            return made.fill_(float("nan"))
        return made if made.is_quantized else made.zero_()


_SHOWN = 3
_ADDED = ("bias", "beta", "mean", "shift", "offset")
"""In names of tensors that are added; most others multiply or divide, so one does no harm."""
_STORES = frozenset(("_parameters", "_buffers", "_modules"))


def fill(module: nn.Module) -> tuple[str, ...]:
    """Put values wherever ``module`` has a tensor on meta; gives the note that says so.

    What a layer or its model can initialise is initialised so; sharing is kept.
    """
    if isinstance(module, torch.jit.ScriptModule):
        return ()  # its tensors come from the file
    filling = _Filling()
    filled = []
    for path, part in module.named_modules():
        names = filling.own(part)
        filling.attributes(part)
        filled += [f"{path}.{name}" if path else name for name in names]
        if names:
            _initialise(module, part, frozenset(names))
    return notes_on(module, filled)


def fill_unwritten(module: nn.Module) -> tuple[str, ...]:
    """Put values where ``module`` has NaN, the mark of what nobody wrote; gives the note."""
    generator = torch.Generator().manual_seed(0)
    filled = []
    for path, tensor in (*module.named_parameters(), *module.named_buffers()):
        if is_lazy(tensor) or tensor.is_meta or not _has_nan(tensor):
            continue
        value = tensor.detach()
        new = plausible(path, value, generator, weight=isinstance(tensor, nn.Parameter))
        value.copy_(torch.where(value.isnan(), new, value))
        filled.append(path)
    return notes_on(module, filled)


def notes_on(module: nn.Module, filled: Sequence[str]) -> tuple[str, ...]:
    """Say which tensors of ``module`` were made up, in one note; none if none were."""
    if not filled:
        return ()
    if {name for name, _ in module.named_parameters()} <= set(filled):
        return (RANDOM_WEIGHTS,)
    shown = [*filled[:_SHOWN], *(["…"] if len(filled) > _SHOWN else [])]
    return (
        Sentence(
            "the source has no values for {text} ({text_names}): they are made up",
            text=", ".join(shown),
            text_names=len(filled),
        ),
    )


def plausible(
    name: str, like: Tensor, generator: torch.Generator, *, weight: bool = True
) -> Tensor:
    """Make values that keep activations near one; ``weight``: not a buffer, whose use is unknown.

    Integers are zero, which indexes anything.
    """
    made = torch.empty_strided(like.shape, like.stride(), dtype=like.dtype, device="cpu")
    if not (like.dtype.is_floating_point or like.dtype.is_complex):
        return made.zero_()
    if weight and like.dim() > 1:
        scale = 1 / math.sqrt(max(like.numel() // max(like.shape[0], 1), 1))
        return made.copy_(normal(like.shape, like.dtype, generator) * scale)
    leaf = name.rpartition(".")[2]
    return made.fill_(0 if any(word in leaf for word in _ADDED) else 1)


def normal(shape: Sequence[int], dtype: torch.dtype, generator: torch.Generator) -> Tensor:
    """Draw from the normal distribution, in a dtype that it can be drawn in."""
    drawn = torch.complex64 if dtype.is_complex else torch.float32
    return torch.randn(tuple(shape), dtype=drawn, generator=generator)


class _Filling:
    """What was made for which tensor on meta, so that shared ones stay shared."""

    def __init__(self) -> None:
        self._generator = torch.Generator().manual_seed(0)
        self._made: dict[int, tuple[Tensor, Tensor]] = {}
        """id -> (what was on meta, kept so that its id stays taken; what stands for it)."""

    def own(self, part: nn.Module) -> list[str]:
        """Fill the parameters and buffers of one module, and give their names."""
        names = []
        for store in (part._parameters, part._buffers):
            for name, tensor in store.items():
                if _lacks_values(tensor):
                    store[name] = self._replace(name, tensor)  # type: ignore[assignment]  # same kind
                    names.append(name)
        return names

    def attributes(self, part: nn.Module) -> None:
        """Fill tensors that a module holds in plain attributes."""
        for name, value in [*vars(part).items()]:
            if name not in _STORES and tree_any(_lacks_values, value):

                def replaced(tensor: Tensor, name: str = name) -> Tensor:
                    return self._replace(name, tensor) if _lacks_values(tensor) else tensor

                vars(part)[name] = tree_map_only(Tensor, replaced, value)

    def _replace(self, name: str, tensor: Any) -> Tensor:
        if id(tensor) not in self._made:
            is_weight = isinstance(tensor, nn.Parameter)
            value = plausible(name, tensor, self._generator, weight=is_weight)
            made = nn.Parameter(value, tensor.requires_grad) if is_weight else value
            self._made[id(tensor)] = (tensor, made)
        return self._made[id(tensor)][1]


def _initialise(module: nn.Module, part: nn.Module, blank: frozenset[str]) -> None:
    """Run what ``part``, and the model for it, initialise tensors with; what had values keeps it.

    ``_init_weights(part)`` is a method by custom: transformers, timm and many others have it.
    """
    ways: list[Callable[[], Any]] = []
    if callable(reset := getattr(part, "reset_parameters", None)):
        ways.append(reset)
    if callable(of_model := getattr(module, "_init_weights", None)):
        ways.append(lambda: of_model(part))
    kept = [(t, t.detach().clone()) for name, t in _tensors(part) if name not in blank]
    for way in ways:
        # what these methods want is up to their authors; values are there already
        with seeded(), torch.no_grad(), contextlib.suppress(Exception):
            way()
    for tensor, value in kept:
        tensor.detach().copy_(value)


def _tensors(part: nn.Module) -> Iterator[tuple[str, Tensor]]:
    yield from part.named_parameters(recurse=False)
    yield from part.named_buffers(recurse=False)


def _lacks_values(value: Any) -> bool:
    return isinstance(value, Tensor) and not is_lazy(value) and value.is_meta


def _has_nan(tensor: Tensor) -> bool:
    number = tensor.dtype.is_floating_point or tensor.dtype.is_complex
    return number and bool(tensor.detach().isnan().any())
