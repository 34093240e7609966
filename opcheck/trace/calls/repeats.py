"""Layers that are alike ask for the same: the third and all later ones are not run.

A layer that says so (``opcheck_alike``) computes by operators that depend on nothing but what it
says, the specs of its own tensors and that of what comes in. Of a model with hundreds of packed
layers these are most of the calls. The first one is run, as its operators are taken apart then; the
second is run as well, and what it asked for and how much lived meanwhile are kept.

Private torch API used here, checked on 2.13.0: ``_forward_hooks`` and ``_forward_pre_hooks`` of
modules and ``torch.nn.modules.module._global_forward_hooks`` and ``_global_forward_pre_hooks``;
``tests/trace/test_repeats.py`` fails when they move.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn.modules import module as hooks

from opcheck.trace.calls.call_site import Site, from_stack
from opcheck.trace.calls.constants import is_constant
from opcheck.trace.calls.tree import CallTreeRecorder
from opcheck.trace.costs.account import Account, BookedTree
from opcheck.trace.device.tensors import DeviceTensor, Spec, device_tensor
from opcheck.trace.torch_internals.modes import modes_of

Key = tuple[Any, ...]


class _Asked(NamedTuple):
    """What one layer asked for."""

    calls: tuple[tuple[int, Site | None], ...]
    """The node of each, and its line; None: the one that called the layer."""
    live: tuple[int, ...]
    """Bytes beyond what lived before, after each call; none where nobody keeps account."""
    result: Spec


class Repeats:
    """Records further calls of layers by what an earlier one, which is alike, asked for."""

    def __init__(self, tree: CallTreeRecorder) -> None:
        self._tree = tree
        self._account = tree.account if isinstance(tree, BookedTree) else None
        self._seen: set[Key] = set()
        self._asked: dict[Key, _Asked] = {}

    def __call__(
        self, module: nn.Module, run: Callable[..., Any], args: Any, kwargs: Mapping[str, Any]
    ) -> Any:
        """Give what the layer gives for ``args``; ``run`` calls it."""
        key = self._key(module, args, kwargs)
        if key is None or key not in self._seen:
            result = run(module, *args, **kwargs)
            if key is not None:
                self._seen.add(key)
            return result
        asked = self._asked.get(key)
        return self._watched(key, module, run, args) if asked is None else self._again(asked)

    def _key(self, module: nn.Module, args: Any, kwargs: Mapping[str, Any]) -> Key | None:
        """What calls with the same answer share; None where more than this decides it."""
        tree = self._tree
        given = args[0] if len(args) == 1 and not kwargs else None
        if type(given) is not DeviceTensor or not _plain(given) or _hooked(module):
            return None
        if tree.occupied or tree.training or tree.casting or torch.is_grad_enabled():
            return None
        if is_constant(given):
            return None
        alike: Any = module
        own = {**module._parameters, **module._buffers}
        specs: list[Any] = []
        for name, tensor in own.items():
            if tensor is not None and type(tensor) is not DeviceTensor:
                return None
            known = tensor is not None and (tensor.spec, tensor.value is None, _offset(tensor))
            specs.append((name, known))
        return type(module), alike.opcheck_alike(), given.spec, tuple(specs), modes_of()

    def _state(self) -> tuple[int, ...]:
        """How much was noted beside calls so far."""
        tree = self._tree
        noted = len(tree.gaps), len(tree.notes), len(tree.compiled), len(tree.modules.gaps)
        return (tree.assumptions, tree.launches.total(), *noted, len(tree.apart))

    def _watched(self, key: Key, module: nn.Module, run: Callable[..., Any], args: Any) -> Any:
        """Run the layer, and keep what it asks for if another one can be answered by that."""
        tree, account = self._tree, self._account
        start, state = len(tree.sequence), self._state()
        live = account.live if account is not None else 0
        result = run(module, *args)
        here, uses, site = (tree.modules.current, tree.phase), tree.keys, from_stack(1, tree.until)
        asked = [uses[use] for use in tree.sequence[start:]]
        if (
            state == self._state()
            and all((path, phase) == here for _, path, _, phase in asked)
            and type(result) is DeviceTensor and _plain(result)
            and all(result is not tensor for tensor in (*args, *module.buffers()))
            and (account is None or self._is_only(account, result, start, live))
        ):  # fmt: skip
            there = [] if account is None else account.after[start:]
            after = tuple(lives - live for lives in there)
            calls = tuple((node, None if line == site else line) for node, _, line, _ in asked)
            self._asked[key] = _Asked(calls, after, result.spec)
        return result

    def _is_only(self, account: Account, result: DeviceTensor, start: int, live: int) -> bool:
        """Whether what a layer gives is all that still lives of what it made."""
        made = account.is_new(result, start) and account.live - live == result.spec.nbytes
        return made and len(account.after) == len(self._tree.sequence)

    def _again(self, asked: _Asked) -> DeviceTensor:
        """Record the same calls here, and make what they give."""
        tree, account = self._tree, self._account
        module, site = tree.modules.current, from_stack(1, tree.until)
        for node, line in asked.calls:
            tree.used(node, module, line or site)
        result = device_tensor(asked.result, None, tree.device)
        if account is not None:
            account.after += [account.live + beyond for beyond in asked.live]
            account.took((), result, view=False, inside=0)
        if tree.told is not None:
            tree.told(tree)
        return result


def _plain(tensor: DeviceTensor) -> bool:
    """Whether a tensor has no values, and begins where its memory does."""
    return tensor.value is None and not tensor.spec.lazy and not _offset(tensor)


def _offset(tensor: DeviceTensor) -> int:
    return int(tensor.storage_offset())


def _hooked(module: nn.Module) -> bool:
    """Whether more than the layer is called."""
    return bool(
        module._forward_hooks or module._forward_pre_hooks
        or hooks._global_forward_hooks or hooks._global_forward_pre_hooks
    )  # fmt: skip
