"""Build a model, without its weights where they are not asked for and that is possible."""

import copy
from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import nn
from torch.nn.parameter import is_lazy
from torch.utils._pytree import tree_leaves, tree_map_only  # private; checked with torch 2.13

from opcheck.closures import closures_copied
from opcheck.errors import OpcheckError
from opcheck.lang.sentence import NOTHING, Sentence
from opcheck.model.trace import COMPILED, GIVEN_BACKEND, Compilation
from opcheck.python_state import computed
from opcheck.source.building.failures import brief, failed
from opcheck.source.building.fill import Marked, fill_unwritten, seeded
from opcheck.source.building.weightless import check_room, is_large, weight_bytes, weightless

T = TypeVar("T")

_NEEDS_VALUES = ("meta", "data-dependent", "no data")
"""Words of errors that only a tensor without values can cause."""


def build(
    what: Sentence,
    factory: Callable[[], T],
    hint: Sentence = NOTHING,
    *,
    weights: bool = False,
    stored: Callable[[], T] | None = None,
) -> tuple[T, tuple[str, ...]]:
    """Call ``factory`` without making weights, or for real if it needs their values.

    With ``weights``, that measures them; if there is room, they are made by ``stored``, which
    reads them from files, or by ``factory``. Gives what it returned and the notes; ``what`` names
    the factory in errors, and ``hint`` is for one that has no better.
    """
    note = ""
    try:
        with weightless():
            light = factory()
    except OpcheckError:
        raise
    except (Exception, SystemExit) as error:
        if not any(word in str(error).lower() for word in _NEEDS_VALUES):
            raise failed(what, error, hint) from error
        note = Sentence(
            "{said} needs the values of its weights ({text}): built with them",
            said=what,
            text=brief(error),
        )
    else:
        if not weights:
            return light, ()
        check_room(what, weight_bytes(light))
        del light
    made = make(what, stored or factory, hint)
    filled = _made_whole(made)
    return made, filled if weights else (note,)


def make(what: Sentence, factory: Callable[[], T], hint: Sentence = NOTHING) -> T:
    """Call ``factory`` once and for real, its random numbers the same on every run."""
    try:
        with seeded(), Marked():  # type: ignore[no-untyped-call]  # torch leaves it untyped
            return factory()
    except OpcheckError:
        raise
    except (Exception, SystemExit) as error:
        raise failed(what, error, hint) from error


def shed(module: nn.Module) -> None:
    """Replace what is large in ``module`` by tensors without values, sharing kept."""
    memo: dict[int, torch.Tensor] = {}
    for part in module.modules():
        for store in (part._parameters, part._buffers):
            for name, tensor in store.items():
                if tensor is not None:
                    store[name] = _light(tensor, memo)  # type: ignore[assignment]  # same kind


def shed_values(value: T) -> T:
    """Give ``value``, any nesting of containers, with what is large in it on meta."""
    memo: dict[int, torch.Tensor] = {}
    lighter: T = tree_map_only(torch.Tensor, lambda tensor: _light(tensor, memo), value)
    return lighter


def light_copy(module: nn.Module) -> nn.Module:
    """Copy ``module`` without copying what is large in it; the original is left as it is."""
    memo: dict[int, torch.Tensor] = computed(*module.modules())
    for tensor in (*module.parameters(), *module.buffers()):
        if _is_heavy(tensor):
            memo[id(tensor)] = _light(tensor, {})
    return _copied(module, memo)


def whole_copy(module: nn.Module) -> nn.Module:
    """Copy ``module`` with its weights, if there is room for a second set of them."""
    check_room(Sentence("a copy of {name}", name=type(module).__name__), weight_bytes(module))
    return _copied(module, computed(*module.modules()))


def _copied(module: nn.Module, memo: dict[int, Any]) -> nn.Module:
    """A copy that knows what is compiled: ``Module.compile`` leaves that to the original alone.

    ``Module._compiled_call_impl`` is private; checked on torch 2.13.0.
    """
    with closures_copied(module.modules(), memo):
        made = copy.deepcopy(module, memo)
    for before, after in zip(module.modules(), made.modules(), strict=True):
        if before._compiled_call_impl is not None:
            vars(after)[COMPILED] = Compilation(GIVEN_BACKEND)
    return made


def _made_whole(value: Any) -> tuple[str, ...]:
    """Fill what the code that made ``value`` left unwritten; gives the notes."""
    modules = [leaf for leaf in tree_leaves(value) if isinstance(leaf, nn.Module)]
    return tuple(note for module in modules for note in fill_unwritten(module))


def _is_heavy(tensor: torch.Tensor) -> bool:
    return not is_lazy(tensor) and not tensor.is_meta and is_large(tensor.numel(), tensor.dtype)


def _light(tensor: torch.Tensor, memo: dict[int, torch.Tensor]) -> torch.Tensor:
    if not _is_heavy(tensor):
        return tensor
    if id(tensor) not in memo:
        bare = torch.empty_like(tensor, device="meta")
        is_parameter = isinstance(tensor, nn.Parameter)
        memo[id(tensor)] = nn.Parameter(bare, tensor.requires_grad) if is_parameter else bare
    return memo[id(tensor)]
