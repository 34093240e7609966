"""The module that is running, which modules never ran, and what to do when one fails."""

import re
import sys
import traceback
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from opcheck.errors import OpcheckError
from opcheck.lang.sentence import Sentence
from opcheck.model.trace import MODULE_FAILED, Compilation, Gap
from opcheck.trace.calls.call_site import from_error
from opcheck.trace.outputs.unknown import UnknownResult
from opcheck.trace.running.eager import compilation_of

COMPILED = "_orig_mod"
"""The name that ``torch.compile`` puts between a module and what it wraps."""
_ALIKE = "opcheck_alike"
"""The method of a layer that gives all that its operators depend on beside tensors."""
_HERE = str(Path(__file__).resolve().parents[1])
_NUMBER = re.compile(r"(?<=\.)\d+(?=\.|$)|^\d+(?=\.|$)")


def pattern(path: str) -> str:
    """A module path with its numbers as ``*``: ``layers.3.attn`` -> ``layers.*.attn``."""
    return _NUMBER.sub("*", path)


class Followed(Protocol):
    """What follows the modules of a model or of a script."""

    current: str
    """Path of the innermost running module, layer numbers as ``*``; "" outside of any."""
    failed: str
    """Path of the innermost module that an exception left."""


class ModuleStack:
    """Follows calls of a model's modules; with ``recover`` a failing one does not end the run."""

    def __init__(self, model: nn.Module, recover: bool = False) -> None:
        self._paths: dict[int, str] = {}
        for path, module in model.named_modules(remove_duplicate=True):
            inside_script = path and isinstance(module, torch.jit.ScriptModule)
            if not inside_script:  # the script's interpreter calls those, unseen
                self._paths[id(module)] = ".".join(p for p in path.split(".") if p != COMPILED)
        self._names = {path: pattern(path) for path in self._paths.values()}
        self._model = weakref.ref(model)  # what was recorded of it outlives it
        self._recover = recover
        self._called: set[int] = set()
        self._told: set[int] = set()
        self.current = ""
        """Path of the innermost running module, layer numbers as ``*``."""
        self.failed = ""
        """Path of the innermost module that the first exception left."""
        self.gaps: list[Gap] = []
        self.met_compiled: Callable[[Compilation, str], None] = lambda how, path: None
        """Is told of each module that was to be compiled, how, and its path."""
        self.repeat: Callable[..., Any] | None = None
        """Calls modules that say what is alike in them, see ``repeats.py``."""

    @property
    def model(self) -> nn.Module:
        """The one whose modules are followed, for as long as something else holds it."""
        model = self._model()
        assert model is not None
        return model

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Follow every module call inside the block."""
        original: Callable[..., Any] = nn.Module.__call__

        def call(module: nn.Module, *args: Any, **kwargs: Any) -> Any:
            path = self._paths.get(id(module))
            if how := compilation_of(module):
                self.met_compiled(how, "" if path is None else self._names[path])
            if path is None:
                return original(module, *args, **kwargs)
            self._called.add(id(module))
            outer = self.current
            self.current = self._names[path]
            try:
                if self.repeat is not None and not how and hasattr(type(module), _ALIKE):
                    return self.repeat(module, original, args, kwargs)
                return original(module, *args, **kwargs)
            except Exception as error:
                self.failed = self.failed or path
                if not self._recover or isinstance(error, (OpcheckError, MemoryError)):
                    raise
                if isinstance(module, nn.TransformerEncoder) and is_of_nested(error):
                    self._note(path, error, WITHOUT_NESTED)
                    with _without_nested(module):
                        return original(module, *args, **kwargs)
                return self._instead(path, args, kwargs, error)
            finally:
                self.current = outer

        loaded = [*sys.modules]
        nn.Module.__call__ = call  # type: ignore[method-assign]  # restored below
        try:
            yield
        finally:
            nn.Module.__call__ = original  # type: ignore[method-assign]  # as it was
            if [*sys.modules] != loaded:  # sets of them would take most of a small call's time
                for name in sys.modules.keys() - {*loaded}:  # Dynamo notes the one that it finds
                    _put_back(sys.modules[name], call, original)

    def not_called(self) -> tuple[str, ...]:
        """Outermost modules whose forward never ran, sorted; containers of called ones excluded."""
        reached = {""}
        for key in self._called:
            path = self._paths[key]
            while path not in reached:
                reached.add(path)
                path = path.rpartition(".")[0]
        idle = sorted(path for path in self._paths.values() if path not in reached)
        outermost: list[str] = []
        for path in idle:
            if not outermost or not path.startswith(outermost[-1] + "."):
                outermost.append(path)
        return tuple(outermost)

    def _instead(self, path: str, args: Any, kwargs: Any, error: Exception) -> Any:
        """Note the failure and let the first tensor through, so that the rest is still seen."""
        raise_if_bug(error)
        self._note(path, error, reason_of(error))
        for value in (*args, *kwargs.values()):
            found = _first_tensor(value)
            if found is not None:
                return found
        raise error

    def _note(self, path: str, error: Exception, reason: str) -> None:
        """Note what failed, and each error once."""
        if len(self.gaps) >= _MOST_GAPS:
            raise error
        if id(error) not in self._told:
            self._told.add(id(error))
            self.gaps.append(Gap(path or "(the model)", reason, MODULE_FAILED))


@contextmanager
def _without_nested(encoder: nn.TransformerEncoder) -> Iterator[None]:
    """Have it keep the padding inside the block."""
    before, encoder.use_nested_tensor = encoder.use_nested_tensor, False
    try:
        yield
    finally:
        encoder.use_nested_tensor = before


_MOST_GAPS = 50


def reason_of(error: BaseException) -> str:
    """An exception as one sentence."""
    if is_of_nested(error):
        file, line = from_error(error)
        text = f"at {{file}}:{{line}}, {MAKES_NESTED}"
        return Sentence(text, file=file, line=line) if file else MAKES_NESTED
    if isinstance(error, UnknownResult):
        return error.reason
    if _NO_GRADIENT in str(error):
        return TAKES_GRADIENTS
    name, text = type(error).__name__, first_said(error)
    return Sentence("{error}: {text}", error=name, text=text) if text else name


def first_said(error: BaseException) -> str:
    """The first line of an error, without the dispatcher's list of all that has a kernel."""
    return str(error).strip().partition("\n")[0].partition(_MAYBE)[0].strip()


def is_of_nested(error: BaseException) -> bool:
    """Whether PyTorch's nested tensors failed on what a trace gives them."""
    frames = traceback.walk_tb(error.__traceback__)
    inside = any(f.f_globals.get("__name__", "").startswith("torch.nested") for f, _ in frames)
    said = str(error).partition(_OTHER_BACKENDS)[0]
    return inside or any(name in said for name in _NESTED)


def _first_tensor(value: Any) -> Tensor | None:
    if isinstance(value, Tensor):
        return value
    if isinstance(value, (list, tuple)):
        items: Any = value
    elif isinstance(value, dict):
        items = value.values()
    else:
        return None
    return next((t for t in map(_first_tensor, items) if t is not None), None)


MAKES_NESTED = (
    "it makes a nested tensor, and only tensors of one size in each dimension are followed; "
    "pad to one size and give a mask"
)
WITHOUT_NESTED = Sentence(
    "it makes a nested tensor of what is not padding, which is not followed; traced as with "
    "enable_nested_tensor=False, which avoids that"
)
_FROM_MASK = "_nested_tensor_from_mask:"
_NESTED = ("NestedTensorImpl", "NestedIntNode", "nested tensor", "NestedTensor", _FROM_MASK)
"""What is in PyTorch's messages then."""
TAKES_GRADIENTS = (
    "its forward takes gradients, which are off in evaluation mode here; scan a training step, "
    "where they are on (--train)"
)
_NO_GRADIENT = "does not require grad and does not have a grad_fn"
"""What autograd says of what was computed without gradients."""
_MAYBE = " This could be because "
"""Before what the dispatcher says of a missing kernel in general."""
_OTHER_BACKENDS = "is only available for these backends"
"""Before the names of all that have a kernel, those of nested tensors among them."""

_FOR_THE_MODEL = ("dispatcher.py", "device/tensors.py", "device/devices.py")
"""Where C++ is called with the model's own arguments, and where a device's refusals are said."""
_OURS = (AttributeError, KeyError, NameError, AssertionError, TypeError)


def raise_if_bug(error: Exception) -> None:
    """Let a fault of this package through as what it is, instead of calling it the model's."""
    if not isinstance(error, _OURS) or isinstance(error, UnknownResult):
        return
    step = error.__traceback__
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    raised_in = step.tb_frame.f_code.co_filename if step is not None else ""
    if raised_in.startswith(_HERE) and not raised_in.endswith(_FOR_THE_MODEL):
        raise error


def _put_back(module: object, ours: object, original: object) -> None:
    """Give variables of a module that were filled with ours what they would else have had."""
    for name, value in [*getattr(module, "__dict__", {}).items()]:
        if value is ours:
            setattr(module, name, original)
