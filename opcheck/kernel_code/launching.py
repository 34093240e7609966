"""Launches of kernels while a model runs, told to whoever listens; no kernel is run.

The code of a kernel is read from the file of its function, with the functions that it calls in
other files.
"""

import inspect
import linecache
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from msgspec.structs import replace

from opcheck.kernel_code.triton_reader import read_kernels
from opcheck.model.launches import ANY_STAGES, KernelCode, Operation

Listener = Callable[[KernelCode, Mapping[str, Any], tuple[Any, ...]], None]
"""Is told of a launch: the kernel's code, its arguments by parameter, and its grid."""

STAGES, WARPS, CLUSTERS = "num_stages", "num_warps", "num_ctas"
"""The options of a launch that are told among its arguments."""
_listening: list[Listener] = []
_choosing: list[int] = []
_AT_MOST = 64
"""Functions that are read for one kernel."""
_SEVERAL = 2


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Tell ``listener`` of every launch inside the block, and no other.

    Where Triton is installed and the model has imported it, its own classes tell.
    """
    _listening.append(listener)
    try:
        with _installed():
            yield
    finally:
        _listening.remove(listener)


@contextmanager
def one_of(configurations: Sequence[Any]) -> Iterator[None]:
    """Tell of launches inside that an autotuner takes another configuration where one is too large.

    Nothing is measured here: the launch is that of the first.
    """
    if len(configurations) < _SEVERAL:
        yield
        return
    _choosing.append(len(configurations))
    try:
        yield
    finally:
        _choosing.pop()


def ignored(code: KernelCode, given: Mapping[str, Any], grid: tuple[Any, ...], /) -> None:
    """A listener that takes no note: where only shapes are asked for."""


@contextmanager
def _installed() -> Iterator[None]:
    """Have Triton's own classes tell of launches, and compile nothing; checked on 3.2 and 3.7.

    ``run`` is what ``kernel[grid](...)`` calls, of a function and of an autotuner; heuristics call
    that of the function below them.
    """
    classes = {
        "triton.runtime.jit": ("JITFunction", _run),
        "triton.runtime.autotuner": ("Autotuner", _run_first),
    }
    before = []
    for module, (name, run) in classes.items():
        kind = getattr(sys.modules.get(module), name, None)
        if kind is not None and getattr(sys.modules[module], "__file__", None):
            before.append((kind, kind.run))
            kind.run = run
    try:
        yield
    finally:
        for kind, run in before:
            kind.run = run


def _run(kernel: Any, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> None:
    """What stands for ``JITFunction.run``."""
    __tracebackhide__ = True
    signature = inspect.signature(kernel.fn)
    own = {name: value for name, value in kwargs.items() if name in signature.parameters}
    bound = signature.bind(*args, **own)
    bound.apply_defaults()
    given = bound.arguments
    if not warmup:
        launched(kernel.fn, given, grid, {**given, **kwargs})


def _run_first(kernel: Any, *args: Any, **kwargs: Any) -> None:
    """What stands for ``Autotuner.run``: the first configuration, as nothing is measured."""
    __tracebackhide__ = True
    chosen = kernel.configs[0]
    if chosen.pre_hook is not None:
        named = dict(zip(kernel.arg_names, args, strict=False))
        chosen.pre_hook({**named, **kwargs, **chosen.all_kwargs()})
    with one_of(kernel.configs):
        kernel.fn.run(*args, **{**chosen.all_kwargs(), **kwargs})


def launched(
    function: Callable[..., Any], given: Mapping[str, Any], grid: Any, meta: Mapping[str, Any]
) -> None:
    """Tell of a launch.

    Args:
        function: the Python function under ``@triton.jit``.
        given: its arguments by parameter.
        grid: the sizes, or a function that gives them for ``meta``.
        meta: what such a function is given.

    Raises:
        RuntimeError: nobody listens: there is no device.
    """
    __tracebackhide__ = True
    if not _listening:
        raise RuntimeError("0 active drivers ([]). There should only be one.")
    sizes = grid(dict(meta)) if callable(grid) else grid
    sizes = tuple(sizes) if isinstance(sizes, tuple | list) else (sizes,)
    stages = ANY_STAGES if _choosing else meta.get(STAGES, 0)
    options = {STAGES: stages, WARPS: meta.get(WARPS, 0), CLUSTERS: meta.get(CLUSTERS, 0)}
    _listening[-1](code_of(function, given), {**given, **options}, sizes)


def called(code: KernelCode, given: Mapping[str, Any]) -> None:
    """Tell of a call of an extension's function, of which the source alone is known.

    Raises:
        RuntimeError: nobody listens: somebody wants its values.
    """
    __tracebackhide__ = True
    if not _listening:
        raise RuntimeError(f"{code.operator} was not built, and nothing computes it here")
    _listening[-1](code, given, ())


def code_of(function: Callable[..., Any], given: Mapping[str, Any]) -> KernelCode:
    """What the source of a kernel says, with that of what it calls in other files.

    A function that is handed to the kernel as an argument is read as well.
    """
    found = _own(function)
    pending = [(function, name) for name in found.unread]
    seen: set[Any] = {function}
    unread: set[str] = set()
    while pending:
        caller, name = pending.pop()
        other = _function(given.get(name) if name in given else _named(caller, name))
        if other is None or len(seen) >= _AT_MOST:
            unread.add(name)
        elif other not in seen:
            seen.add(other)
            code = _own(other)
            pending += [(other, inner) for inner in code.unread]
            found = _with(found, code, name)
    return replace(found, unread=tuple(sorted(unread)))


def _with(found: KernelCode, other: KernelCode, name: str) -> KernelCode:
    """A kernel's code with that of a function that it calls by a name."""
    passed_on = other.passed_on if found.always_calls(name) else frozenset()
    more = {Operation(each.name, found.line) for each in other.operations}
    return replace(
        found,
        operations=tuple(sorted({*found.operations, *more})),
        dtypes=tuple(sorted({*found.dtypes, *other.dtypes})),
        calls=tuple(sorted({*found.calls, *passed_on})),
    )


def _named(function: Any, name: str) -> Any:
    """What a name means where a function was written."""
    first, *rest = name.split(".")
    closure = inspect.getclosurevars(function) if inspect.isfunction(function) else None
    found = None
    if closure is not None:
        found = closure.nonlocals.get(first) or function.__globals__.get(first)
    for part in rest:
        found = getattr(found, part, None)
    return found


def _function(value: Any) -> Callable[..., Any] | None:
    """The Python function of what ``@triton.jit`` made; None for anything else."""
    inner = getattr(value, "fn", None)
    while inner is not None and hasattr(inner, "fn"):
        inner = inner.fn
    return inner if inspect.isfunction(inner) else None


def _own(function: Callable[..., Any]) -> KernelCode:
    code = function.__code__
    read = _in_file(code.co_filename).get(function.__name__)
    if read is None:
        return KernelCode(function.__name__, "", 0, parameters=tuple(_parameters(function)))
    return read


def _parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    return tuple(inspect.signature(function).parameters)


@cache
def _in_file(file: str) -> Mapping[str, KernelCode]:
    """The kernels of a file; none where it cannot be read."""
    text = "".join(linecache.getlines(file))
    try:
        return read_kernels(text, file)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
