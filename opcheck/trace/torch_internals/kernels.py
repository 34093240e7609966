"""The traced device's kernels, through which C++ asks an engine as it asks a vendor's plugin.

What answers where a dispatch key has no kernel for an overload: the last of those who said so.
PyTorch takes one fallback a key in a process, and raises where a second one comes.

PyTorch's C++ takes a tensor for a subclass where it has a Python key, or while a dispatch mode is
on (``isTensorSubclassLike`` in ``aten/src/ATen/TensorSubclassLikeUtils.h``), and then runs
otherwise than on a device: ``linalg.svdvals`` asks for vectors (``BatchLinearAlgebra.cpp``),
``reshape`` for ``view`` (``TensorShape.cpp``), ``topk``'s gradient for no ``scatter_``
(``value_selecting_reduction_backward_symint`` in ``ReduceOps.cpp``). So the tensors of a trace have
no Python key (see ``tensors.py``), and no mode is on where C++ runs: what it calls arrives here.

Private torch API used here, checked on 2.13.0: ``Library.fallback``, ``Library._destroy``,
``torch._C._dispatch_get_all_op_names`` and ``torch._C._get_privateuse1_backend_name``.
"""

import warnings
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from typing import Any

import torch
from torch.library import Library

from opcheck.model.trace import Composite
from opcheck.trace.device.module import DeviceModule
from opcheck.trace.running.distributed import FULLY_SHARDED
from opcheck.trace.torch_internals.dispatcher import (
    ALIASES,
    SHALLOW_COPY,
    at_key,
    implicit_composites,
    overload_named,
    override,
    registered_at,
)

Kernel = Callable[..., Any]
"""Called with the overload and its arguments."""

_KEY = "PrivateUse1"
_AUTOGRAD = "AutogradPrivateUse1"
_IMPLICIT = torch._C.DispatchKey.CompositeImplicitAutograd
LAYOUTS = tuple(f"{kind}{_KEY}" for kind in ("Sparse", "SparseCsr", "Quantized", "NestedTensor"))
"""Dispatch keys of the device's tensors that are not strided."""

_answer_named: dict[str, list[Kernel]] = {}  # the dispatcher's tables are the process's own
_libraries: dict[str, Library] = {}


@contextmanager
def falling_back(kernel: Kernel, keys: Collection[str]) -> Iterator[None]:
    """Have ``kernel`` be the fallback of these dispatch keys inside the block.

    PyTorch goes through all its operators to take one fallback or to drop it. So those of
    :data:`LAYOUTS` stay and raise as PyTorch does where nothing falls back, unless a plugin has
    named the device, which brings its own: none can be loaded any more once it is named here.
    """
    for key in keys:
        _answer_named.setdefault(key, []).append(kernel)
        if key not in _libraries:
            _libraries[key] = Library("_", "IMPL")
            _libraries[key].fallback(_last(key), key)
    try:
        yield
    finally:
        for key in keys:
            _answer_named[key].remove(kernel)
            if not _answer_named[key] and (key not in LAYOUTS or not _named_here()):
                _libraries.pop(key)._destroy()


def _named_here() -> bool:
    """Whether the device has its name from here, and not from a plugin."""
    name = torch._C._get_privateuse1_backend_name()
    return isinstance(getattr(torch, name, None), DeviceModule)


def _last(key: str) -> Kernel:
    def kernel(func: Any, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        if not _answer_named[key]:
            raise NotImplementedError(
                f"Could not run '{func.name()}' with arguments from the '{key}' backend."
            )
        return _answer_named[key][-1](func, *args, **kwargs)

    return kernel


_ATEN = "aten::"
_NOT_OTHERS = ("aten", FULLY_SHARDED)
"""Namespaces of overloads that have all their kernels here, or that C++ is to take apart."""
_ALIASES = tuple(sorted(func.name() for func in ALIASES))
Answer = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]
"""Gives what an overload returns for its arguments."""


class Kernels:
    """A kernel of the device for every overload; engines that run in turn may share them."""

    def __init__(self) -> None:
        self._answer: Answer = _nobody
        self._kept = False
        self._libraries: list[Library] = []
        self._fallbacks = ExitStack()
        self._implicit: Library | None = None
        self._aliases: Library | None = None

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Leave what is registered inside the block as it is between runs."""
        self._kept = True
        try:
            yield
        finally:
            self._kept = False
            self.close()

    @contextmanager
    def shared(self, *, implicit: bool) -> Iterator["Kernels"]:
        """Have them registered from here on, for traces one after the other and in copies."""
        with self.kept():
            self._open(implicit)
            yield self

    def stay(self, *, implicit: bool) -> "Kernels":
        """Have them registered for as long as the process lives; taking them away takes time."""
        self._kept = True
        self._open(implicit)
        return self

    @contextmanager
    def registered(self, answer: Answer, *, implicit: bool) -> Iterator[None]:
        """Have the dispatcher ask ``answer`` inside the block.

        With ``implicit`` for such composites, too. With autograd on they are taken apart above the
        device, unless it registers them.
        """
        before, self._answer = self._answer, answer
        self._open(implicit)
        try:
            yield
        finally:
            self._answer = before
            if not self._kept:
                self.close()

    @contextmanager
    def views_left_to_cpp(self) -> Iterator[None]:
        """Have C++ make aliases inside the block, as of tensors that only stand for the device's.

        What a FakeTensor holds is on meta and has the device's key; C++ takes an alias of it for a
        new tensor that Python has not seen.
        """
        closed = self._aliases is not None
        self._destroy_aliases()
        try:
            yield
        finally:
            if closed:
                self._aliases = self._aten(_ALIASES)

    def _open(self, implicit: bool) -> None:
        if self._aliases is None:
            self._aliases = self._aten(_ALIASES)
        if not self._libraries:
            hidden = _hidden_from_fallbacks()
            self._libraries.append(self._aten(filter(hidden.__contains__, _below_autograd())))
            self._libraries += self._others(hidden)
            self._fallbacks.enter_context(falling_back(self._unknown, (_KEY, *LAYOUTS)))
        if implicit and self._implicit is None:
            self._implicit = self._aten(_above_autograd())
            _take_apart(self._implicit)
        elif not implicit:
            self._destroy_implicit()

    def close(self) -> None:
        """Take every kernel away."""
        self._destroy_implicit()
        self._destroy_aliases()
        for library in self._libraries:
            library._destroy()
        self._libraries = []
        self._fallbacks.close()

    def _destroy_implicit(self) -> None:
        if self._implicit is not None:
            self._implicit._destroy()
            self._implicit = None

    def _destroy_aliases(self) -> None:
        if self._aliases is not None:
            self._aliases._destroy()
            self._aliases = None

    def _aten(self, names: Iterable[str]) -> Library:
        library = Library("aten", "IMPL")
        for name in names:
            kernel = _compatible if name == SHALLOW_COPY else self._kernel(name)
            override(library, name.removeprefix(_ATEN), kernel, _KEY)
        return library

    def _others(self, hidden: Collection[str]) -> Iterable[Library]:
        """Overloads outside aten that no fallback would be asked for."""
        libraries: dict[str, Library] = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch's own kernels, which are back afterwards
            for name in sorted(hidden):
                namespace, _, rest = name.partition("::")
                if namespace not in _NOT_OTHERS:
                    library = libraries.setdefault(namespace, Library(namespace, "IMPL"))
                    override(library, rest, self._kernel(name), _KEY)
        return libraries.values()

    def _kernel(self, name: str) -> Callable[..., Any]:
        return partial(self._answer_named, name)

    def _answer_named(self, name: str, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        return self._answer(_overload(name), args, kwargs)

    def _unknown(self, func: Any, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        return self._answer(func, args, kwargs)


_overload = cache(overload_named)


def _take_apart(library: Library) -> None:
    """Have autograd take composites apart as ever: ``torch.func.grad`` has it on everywhere."""
    own = registered_at(_AUTOGRAD)
    for name in _above_autograd():
        if name not in own:
            kernel = partial(_taken_apart, name)
            override(library, name.removeprefix(_ATEN), kernel, _AUTOGRAD)


def _taken_apart(name: str, *args: Any, **kwargs: Any) -> Any:
    __tracebackhide__ = True
    return at_key(_overload(name), _IMPLICIT, *args, **kwargs)


def _nobody(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    raise AssertionError(f"{func} is asked of the device while no engine runs")


def _compatible(tensor: torch.Tensor, other: torch.Tensor) -> bool:
    return True


def _hidden_from_fallbacks() -> frozenset[str]:
    """Overloads for which the dispatcher has what comes before a fallback of the device.

    To be asked of these, too, a kernel of each takes as long as all the others together.
    """
    explicit = registered_at(Composite.EXPLICIT.value) | registered_at(
        Composite.NON_FUNCTIONAL.value
    )
    return registered_at(_KEY) | (explicit - implicit_composites())


@cache
def _above_autograd() -> tuple[str, ...]:
    """Composites that autograd takes apart before a device is asked."""
    return tuple(filter(implicit_composites().__contains__, _aten()))


@cache
def _below_autograd() -> tuple[str, ...]:
    return tuple(sorted({*_aten()}.difference(_above_autograd(), _ALIASES)))


@cache
def _aten() -> tuple[str, ...]:
    names: Iterable[str] = torch._C._dispatch_get_all_op_names()
    return tuple(sorted(name for name in names if name.startswith(_ATEN)))
