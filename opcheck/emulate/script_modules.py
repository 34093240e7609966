"""The module of a script's that is running, named from its outermost one: ``GPT.blocks.*.mlp``.

A script makes its modules itself and tells nobody which one is the model. Each module that is
called outside of all others is taken for a root: its class names it, and all that it holds.
"""

import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torch import nn
from torch.nn.modules.module import (
    register_module_forward_hook,
    register_module_forward_pre_hook,
)

from opcheck.model.trace import Compilation
from opcheck.trace.calls.modules import COMPILED, pattern
from opcheck.trace.running.eager import compilation_of

_PARALLEL = (nn.DataParallel, nn.parallel.DistributedDataParallel)
_Named = tuple["weakref.ref[nn.Module]", str]


@contextmanager
def module_calls(entered: Callable[..., None], left: Callable[..., None]) -> Iterator[None]:
    """Call ``entered`` and ``left`` around each call of any module inside the block."""
    hooks = (
        register_module_forward_pre_hook(entered),
        register_module_forward_hook(left, always_call=True),
    )
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


class ScriptModules:
    """Follows calls of all modules of the process, by torch's own hooks.

    Args:
        met_compiled: given how a called module was to be compiled, and its path.
    """

    def __init__(self, met_compiled: Callable[[Compilation, str], None]) -> None:
        self._met_compiled = met_compiled
        self._names: dict[int, _Named] = {}
        """By the module's id; the reference says whether it is still that one."""
        self._outer: list[tuple[str, BaseException | None]] = []
        """Of each module that is running: what ran before it, and what was being handled."""
        self.current = ""
        """Path of the innermost running module, layer numbers as ``*``; "" outside of any."""
        self.failed = ""
        """Path of the innermost module that the last exception left."""
        self._error: BaseException | None = None

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Follow every module call inside the block."""
        with module_calls(self._entered, self._left):
            yield

    def failed_with(self, error: BaseException) -> str:
        """Path of the innermost module that this exception left; "" where it left none."""
        return self.failed if self._error is error else ""

    def _entered(self, module: nn.Module, *_: Any) -> None:
        self._outer.append((self.current, sys.exc_info()[1]))
        name = self._name(module)
        if not name and len(self._outer) == 1:
            self._add(module)
            name = self._name(module)
        self.current = name or self.current
        if how := compilation_of(module):
            self._met_compiled(how, self.current)

    def _left(self, *_: Any) -> None:
        if not self._outer:  # another hook raised before this one was asked
            return
        error = sys.exc_info()[1]
        outer, handled = self._outer.pop()
        if error is not None and error is not handled and error is not self._error:
            self._error, self.failed = error, self.current
        self.current = outer

    def _name(self, module: nn.Module) -> str:
        known, name = self._names.get(id(module), (None, ""))
        return name if known is not None and known() is module else ""

    def _add(self, root: nn.Module) -> None:
        """Name a module and all that it holds; what was a root before is a part from here on."""
        held, wrappers = _unwrapped(root)
        top = type(held).__name__
        for wrapper in wrappers:
            self._names[id(wrapper)] = weakref.ref(wrapper), top
        for path, module in held.named_modules():
            parts = [pattern(part) for part in path.split(".") if part and part != COMPILED]
            self._names[id(module)] = weakref.ref(module), ".".join([top, *parts])


def _unwrapped(module: nn.Module) -> tuple[nn.Module, list[nn.Module]]:
    """What ``torch.compile`` and data parallelism wrap, and the wrappers, outermost first."""
    wrappers: list[nn.Module] = []
    while True:
        wrapped = (
            module.module if isinstance(module, _PARALLEL) else getattr(module, COMPILED, None)
        )
        if not isinstance(wrapped, nn.Module):
            return module, wrappers
        wrappers.append(module)
        module = wrapped
