"""A run as ``torch.export`` runs a model: code that asks finds itself exported.

transformers, for one, leaves out the masks that values decide about. Private torch API used here,
checked on 2.6 to 2.13: ``torch.compiler._is_compiling_flag`` and, where there is one,
``_is_exporting_flag``, which ``torch._export.utils._compiling_state_context`` sets, too.
"""

import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree  # private: 2.6 to 2.13 have it, and no public one

from opcheck.model.trace import UnknownClass
from opcheck.trace.calls import constants
from opcheck.trace.calls.call_site import is_internal, shown
from opcheck.trace.calls.engine import Engine
from opcheck.trace.running.attention_views import AttentionViews

EXPORTED_TYPES = frozenset({"coreml", "executorch", "ort", "openvino"})
"""Device types of the vendors whose models leave PyTorch: ``kind: export`` in the database."""
KNOWN = (
    torch.Tensor, int, str, float, bool, type(None),
    torch.SymInt, torch.SymFloat, torch.SymBool, torch.ScriptObject,
)  # fmt: skip
"""What ``torch.export`` takes and gives, within containers that pytree knows."""
_MAKING = frozenset({
    torch.arange, torch.bartlett_window, torch.blackman_window, torch.empty, torch.empty_strided,
    torch.eye, torch.full, torch.hamming_window, torch.hann_window, torch.linspace,
    torch.logspace, torch.ones, torch.rand, torch.randint, torch.randn, torch.randperm,
    torch.range, torch.tril_indices, torch.triu_indices, torch.zeros,
})  # fmt: skip
"""Functions of PyTorch that make a tensor of no other."""
_RANDOM = frozenset({torch.rand, torch.randint, torch.randn, torch.randperm})
_FLAGS = ("_is_compiling_flag", "_is_exporting_flag")


@contextmanager
def as_exported(device_type: str) -> Iterator[None]:
    """Have code in the block find what it finds in ``torch.export``, if the type is of those."""
    names = vars(torch.compiler)
    flags = _FLAGS if device_type in EXPORTED_TYPES else ()
    with patch.dict(names, {flag: True for flag in flags if flag in names}):
        yield


class _MadeThere(TorchFunctionMode):
    """Has what a model makes on no device or the CPU be on the traced one: a graph is one place.

    Not what it makes of Python's numbers: ``torch.export`` knows the values of those.
    """

    def __init__(self, device: torch.device) -> None:
        super().__init__()
        self._device = device
        self.views = AttentionViews()

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Call it, on the device in place of the CPU."""
        given = dict(kwargs or {})
        if func in _MAKING and str(given.get("device") or "cpu") == "cpu":
            given["device"] = self._device
        made = func(*args, **given)
        self.views.look(func, args, given, made)
        if func not in _RANDOM:
            constants.made(pytree.tree_leaves((args, given)), pytree.tree_leaves(made))
        return made


class NotingClasses:
    """Has a module compute its output, and notes which classes keep it from ``torch.export``.

    ``model``: whose code the user knows.
    """

    def __init__(self, model: Callable[..., Any]) -> None:
        function = code_of(model)
        self._where, self._module = _where(function), getattr(function, "__module__", "")
        self.found: tuple[UnknownClass, ...] = ()
        """Those of the last run that ended."""

    def __call__(
        self, module: nn.Module, engine: Engine, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> object:
        """Run it as :data:`opcheck.trace.running.attempt.RunModel` says."""
        self.found = ()
        given = {*self._unknown((args, kwargs), returned=False), *self._permuted((args, kwargs))}
        weights = constants.followed(module, pytree.tree_leaves((args, kwargs)))
        with _MadeThere(engine.device) as there, weights:
            result = module(*args, **kwargs)
        returned = {*self._unknown(result, returned=True), *self._repeated(result, (args, kwargs))}
        self.found = tuple(sorted({*given, *returned, *self._viewed(there.views.refused)}))
        return result

    def _repeated(self, result: object, inputs: object) -> Iterator[UnknownClass]:
        """That a tensor stands at two places of the result, unless it is an input as it was."""
        places = Counter(id(leaf) for leaf in pytree.tree_leaves(result) if _tensor(leaf))
        given = {id(leaf) for leaf in pytree.tree_leaves(inputs)}
        if any(count > 1 for one, count in places.items() if one not in given):
            yield UnknownClass("Tensor", returned=True, where=self._where, repeated=True)

    def _permuted(self, inputs: object) -> Iterator[UnknownClass]:
        """The orders in memory of the dimensions of inputs that do not lie as they are counted."""
        for leaf in pytree.tree_leaves(inputs):
            if isinstance(leaf, torch.Tensor) and leaf.layout is torch.strided:
                order = list(leaf.dim_order())
                if order != sorted(order):
                    yield UnknownClass(str(order), False, self._where, permuted=True)

    def _viewed(self, shapes: Iterable[tuple[int, ...]]) -> Iterator[UnknownClass]:
        """The shapes of what attention gave that a view joins the batch of with the positions."""
        for shape in shapes:
            yield UnknownClass(str(list(shape)), False, self._where, viewed=True)

    def _unknown(self, value: object, *, returned: bool) -> Iterator[UnknownClass]:
        known = KNOWN if returned else (*KNOWN, nn.Module)
        for leaf in pytree.tree_leaves(value):
            if not isinstance(leaf, known):
                yield UnknownClass(self._named(type(leaf)), returned, self._where)

    def _named(self, kind: type) -> str:
        """As the model's own file has it: other classes by their modules, too."""
        own = kind.__module__ in ("builtins", self._module)
        return kind.__qualname__ if own else f"{kind.__module__}.{kind.__qualname__}"


def _tensor(leaf: object) -> bool:
    return isinstance(leaf, torch.Tensor)


def code_of(model: Callable[..., Any]) -> Callable[..., Any]:
    """The function that the user wrote."""
    written: Callable[..., Any] = model.forward if isinstance(model, nn.Module) else model
    found: Callable[..., Any] = inspect.unwrap(written)
    return found


def _where(function: Callable[..., Any]) -> str:
    """Where the code of a function begins; "" where it is none of the user's."""
    code = getattr(function, "__code__", None)
    if code is None or is_internal(code):
        return ""
    return f"{shown(code.co_filename)}:{code.co_firstlineno}"
