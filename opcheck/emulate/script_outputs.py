"""What a script's run gives: outputs of outermost modules, losses, and parameters after each step.

They are told apart by what gave them and by how often that was called, so that two runs of one
script can be compared. Where the script sets no seed, each run begins with the same one.

Private torch API used here, checked on 2.13.0: ``torch._C._current_graph_task_id`` and that
``Tensor.backward`` calls ``torch.autograd.backward`` by its name.
"""

import random
import weakref
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.optimizer import register_optimizer_step_post_hook
from torch.utils.weak import WeakIdKeyDictionary, WeakTensorKeyDictionary

from opcheck.emulate.compare import named_tensors
from opcheck.emulate.kept_outputs import MOST, KeptOutputs
from opcheck.emulate.patches import set_until
from opcheck.emulate.script_modules import ScriptModules, module_calls
from opcheck.model.comparison import Kind, Moment
from opcheck.source.draws import numpy_random
from opcheck.trace.calls.call_site import from_stack

_LEAST = 16
"""Values that are kept of each parameter, however many there are."""
_WITHIN = 256
"""Values that are kept of each output of a module within another."""
_SEED = 20_240_229
"""What no script is expected to set."""


def seed() -> None:
    """Have this run draw what another one draws that begins so; the device is open."""
    random.seed(_SEED)
    torch.manual_seed(_SEED)
    if numpy := numpy_random():
        numpy.seed(_SEED)


def seeded() -> bool:
    """Whether torch's random numbers have been seeded since."""
    return torch.initial_seed() != _SEED


class ScriptOutputs:
    """Follows what a script computes, by torch's own hooks.

    Args:
        modules: names the modules, and follows their calls already.
        kept: gets every tensor.
    """

    def __init__(self, modules: ScriptModules, kept: KeptOutputs) -> None:
        self._modules = modules
        self._kept = kept
        self._calls: Counter[tuple[Kind, str]] = Counter()
        self._roots: weakref.WeakSet[nn.Module] = weakref.WeakSet()
        self._parameters = WeakTensorKeyDictionary()
        """Parameter of a module that was called -> its name."""
        self._parts = WeakIdKeyDictionary()
        """Module within one that was called -> its whole path."""
        self._depth = 0
        self._outermost = ""
        self._begun = False
        """Whether a backward of the script's is under way."""

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Keep what is computed inside the block."""
        with ExitStack() as undo:
            undo.enter_context(module_calls(self._entered, self._left))
            undo.callback(register_optimizer_step_post_hook(self._stepped).remove)
            set_until(undo, torch.autograd, "backward", self._noting(torch.autograd.backward))
            yield

    def _entered(self, module: nn.Module, *_: Any) -> None:
        self._depth += 1
        if self._depth == 1:
            self._outermost = self._modules.current
            self._name_parts(module)

    def _left(self, module: nn.Module, args: Any, output: Any) -> None:
        self._depth = max(self._depth - 1, 0)
        if _in_backward():
            return
        if self._depth == 0:
            self._add(Kind.OUTPUT, self._outermost, output)
        elif self._kept.has_room(within=True) and (name := self._parts.get(module)):
            self._add(Kind.WITHIN, name, output, _WITHIN)

    def _noting(self, backward: Any) -> Any:
        """``torch.autograd.backward`` with what it is called on kept."""

        @wraps(backward)
        def call(tensors: Any, *args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            if self._begun or _in_backward():  # modes of torch functions are asked by its name
                return backward(tensors, *args, **kwargs)
            self._add(Kind.LOSS, "", tensors)
            self._begun = True
            try:
                return backward(tensors, *args, **kwargs)
            finally:
                self._begun = False

        return call

    def _stepped(self, optimizer: torch.optim.Optimizer, *_: Any) -> None:
        named: dict[str, Tensor] = {}
        for i, group in enumerate(optimizer.param_groups):
            for j, parameter in enumerate(group["params"]):
                name = self._parameters.get(parameter)
                if name is None or name in named:  # of two models of one class
                    name = f"param_groups[{i}].params[{j}]"
                named[name] = parameter
        most = max(MOST // max(len(named), 1), _LEAST)
        self._add(Kind.STEP, type(optimizer).__name__, named, most)

    def _add(self, kind: Kind, name: str, value: Any, most: int = MOST) -> None:
        tensors = value if kind is Kind.STEP else named_tensors(value, "")
        if not tensors:
            return
        self._calls[kind, name] += 1
        moment = Moment(kind, name, self._calls[kind, name])
        place = from_stack(2, None)
        for path, tensor in tensors.items():
            self._kept.add(moment, path, tensor, place, most)

    def _name_parts(self, root: nn.Module) -> None:
        if root in self._roots:
            return
        self._roots.add(root)
        for path, parameter in root.named_parameters():
            self._parameters[parameter] = f"{self._outermost}.{path}"
        for path, module in root.named_modules():
            if path:
                self._parts[module] = f"{self._outermost}.{path}"


def _in_backward() -> bool:
    """Whether backward computes a checkpointed part once more."""
    return torch._C._current_graph_task_id() >= 0
