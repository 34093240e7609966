"""A run as ``torch.export`` runs a model: code that asks finds itself exported.

transformers, for one, leaves out the masks that values decide about. Private torch API used here,
checked on 2.6 to 2.13: ``torch.compiler._is_compiling_flag`` and, where there is one,
``_is_exporting_flag``, which ``torch._export.utils._compiling_state_context`` sets, too.
"""

import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree  # private: 2.6 to 2.13 have it, and no public one

from opcheck.model.kept_out import KeptOut, UnknownClass
from opcheck.trace.calls import constants
from opcheck.trace.calls.call_site import is_internal, shown
from opcheck.trace.calls.engine import Engine
from opcheck.trace.running.attention_views import AttentionViews

EXPORTED_TYPES = frozenset({"coreml", "executorch", "litert", "ort", "openvino"})
"""Device types of the vendors whose models leave PyTorch: ``kind: export`` in the database."""
Leaves = Sequence[Any]
"""What a model takes or gives, out of its containers."""
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
_NORMALISING = frozenset({"native_batch_norm", "native_group_norm", "native_layer_norm"})
"""Functions of PyTorch that give the statistics that they normalised by, after the result."""
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
        self.statistics = _Statistics()

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Call it, on the device in place of the CPU."""
        given = dict(kwargs or {})
        if func in _MAKING and str(given.get("device") or "cpu") == "cpu":
            given["device"] = self._device
        self.statistics.meet((args, given))
        made = func(*args, **given)
        self.views.look(func, args, given, made)
        if func not in _RANDOM:
            constants.made(pytree.tree_leaves((args, given)), pytree.tree_leaves(made))
        name = str(getattr(func, "__name__", "")).partition(".")[0]  # an overload has its own, too
        if name in _NORMALISING:
            self.statistics.keep(name, made)
        return made


class _Statistics:
    """The means and deviations that normalisations gave beside their results, and their use."""

    def __init__(self) -> None:
        self._kept: dict[int, tuple[object, str]] = {}
        """The tensors themselves, too: as long as they live, no other has their number."""
        self.used: set[str] = set()
        """Functions of which one was an argument of a later call."""

    def keep(self, name: str, result: Any) -> None:
        """Take what a function gave."""
        for each in result[1:]:
            self._kept[id(each)] = each, name

    def meet(self, arguments: object) -> None:
        """Look whether one of them is among the arguments of a call."""
        if self._kept:
            self.used |= self.names_of(pytree.tree_leaves(arguments))

    def names_of(self, leaves: Leaves) -> set[str]:
        """The functions that gave any of these."""
        return {self._kept[id(leaf)][1] for leaf in leaves if id(leaf) in self._kept}


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
        given = pytree.tree_leaves((args, kwargs))
        seen = {*self._unknown(given, KeptOut.GIVEN), *self._permuted(given)}
        watching = _MadeThere(engine.device)
        with watching, constants.followed(module, given):
            result = module(*args, **kwargs)
        returned = pytree.tree_leaves(result)
        seen |= {*self._unknown(returned, KeptOut.RETURNED), *self._repeated(returned, given)}
        seen |= {*self._complex(returned, given), *self._statistics(returned, watching.statistics)}
        self.found = tuple(sorted({*seen, *self._viewed(watching.views.refused)}))
        return result

    def _repeated(self, result: Leaves, given: Leaves) -> Iterator[UnknownClass]:
        """That a tensor stands at two places of the result, unless it is an input as it was."""
        places = Counter(id(leaf) for leaf in result if _tensor(leaf))
        inputs = {id(leaf) for leaf in given}
        if any(count > 1 for one, count in places.items() if one not in inputs):
            yield UnknownClass("Tensor", KeptOut.REPEATED, self._where)

    def _permuted(self, given: Leaves) -> Iterator[UnknownClass]:
        """The orders in memory of the dimensions of inputs that do not lie as they are counted."""
        for leaf in given:
            if isinstance(leaf, torch.Tensor) and leaf.layout is torch.strided:
                order = list(leaf.dim_order())
                if order != sorted(order):
                    yield UnknownClass(str(order), KeptOut.PERMUTED, self._where)

    def _viewed(self, shapes: Iterable[tuple[int, ...]]) -> Iterator[UnknownClass]:
        """The shapes of what attention gave that a view joins the batch of with the positions."""
        for shape in shapes:
            yield UnknownClass(str(list(shape)), KeptOut.VIEWED, self._where)

    def _complex(self, result: Leaves, given: Leaves) -> Iterator[UnknownClass]:
        """The complex dtypes of the result, if no input is of one."""
        if not any(map(_is_complex, given)):
            for leaf in filter(_is_complex, result):
                name = str(leaf.dtype).removeprefix("torch.")
                yield UnknownClass(name, KeptOut.COMPLEX, self._where)

    def _statistics(self, result: Leaves, noted: "_Statistics") -> Iterator[UnknownClass]:
        """The normalisations whose statistics were used, or are part of the result."""
        for name in sorted({*noted.used, *noted.names_of(result)}):
            yield UnknownClass(name, KeptOut.STATISTICS, self._where)

    def _unknown(self, leaves: Leaves, what: KeptOut) -> Iterator[UnknownClass]:
        known = KNOWN if what is KeptOut.RETURNED else (*KNOWN, nn.Module)
        for leaf in leaves:
            if not isinstance(leaf, known):
                yield UnknownClass(self._named(type(leaf)), what, self._where)

    def _named(self, kind: type) -> str:
        """As the model's own file has it: other classes by their modules, too."""
        own = kind.__module__ in ("builtins", self._module)
        return kind.__qualname__ if own else f"{kind.__module__}.{kind.__qualname__}"


def _tensor(leaf: object) -> bool:
    return isinstance(leaf, torch.Tensor)


def _is_complex(leaf: object) -> bool:
    return isinstance(leaf, torch.Tensor) and leaf.is_complex()


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
