"""Build a model without its weights, and whether its weights would fit into memory."""

import contextlib
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch
from torch import Tensor, nn
from torch._ops import OpOverload
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import (
    tree_any,
    tree_leaves,  # private; checked with torch 2.13
    tree_map,
)

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence

SHARE = 0.5
"""Part of what this process may use that weights may take: a comparison holds them twice."""
_GIB = 2**30


def weight_bytes(value: Any) -> int:
    """Bytes of the parameters and buffers of every module in ``value``, shared ones once."""
    tensors: dict[int, Tensor] = {}
    for leaf in tree_leaves(value):
        if isinstance(leaf, nn.Module):
            tensors |= {id(tensor): tensor for tensor in (*leaf.parameters(), *leaf.buffers())}
    return sum(_nbytes(tensor) for tensor in tensors.values())


def check_room(what: str, nbytes: int) -> None:
    """Refuse weights of ``nbytes`` where there is no room for them."""
    room = int(_usable() * SHARE)
    if nbytes > room:
        raise SourceError(
            Sentence(
                "{said} needs {figure} GiB for its weights, and may take {figure_room} GiB here",
                said=what,
                figure=f"{nbytes / _GIB:.1f}",
                figure_room=f"{room / _GIB:.1f}",
            ),
            Sentence(
                "without --values only shapes are followed, and no memory is needed "
                "for weights; or give more with --memory, where the machine has it"
            ),
        )


def _nbytes(tensor: Tensor) -> int:
    try:
        return tensor.numel() * tensor.element_size()
    except (RuntimeError, ValueError):  # a lazy parameter has no size yet
        return 0


def _usable() -> int:
    """Bytes that this process may allocate."""
    sizes = []
    with contextlib.suppress(AttributeError, OSError, ValueError):  # Windows has none of it
        sizes.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    with contextlib.suppress(ImportError):
        import resource

        limit = resource.getrlimit(resource.RLIMIT_DATA)[0]
        sizes += [limit] if limit != resource.RLIM_INFINITY else []
    return min(sizes, default=2**62)


# The last three imports are private; checked with torch 2.13. The tests of this module build with
# them, so a move shows there.

LARGE_FLOATS = 2**16
"""Floating-point and complex tensors of more elements have no values."""
LARGE_INTEGERS = 2**20
"""Integers and booleans steer Python code, so they keep their values much longer."""

_aten = torch.ops.aten
_META = torch.device("meta")
_SIZED = frozenset(
    (_aten.empty.memory_format, _aten.zeros.default, _aten.ones.default,
     _aten.rand.default, _aten.randn.default)
)  # fmt: skip
"""Factories whose first argument is the size: asked without a trial on meta."""
_VALUES_ONLY = frozenset(
    (_aten.zero_.default, _aten.fill_.Scalar, _aten.fill_.Tensor, _aten.copy_.default,
     _aten.normal_.default, _aten.uniform_.default, _aten.mul_.Scalar, _aten.add_.Scalar,
     _aten.clamp_.default, _aten.erfinv_.default, _aten.bernoulli_.float)
)  # fmt: skip
"""In-place operators that change nothing but values: nothing to do on meta."""


_MOST = ContextVar("_MOST", default=(LARGE_INTEGERS, LARGE_FLOATS))


@contextmanager
def weightless(integers: int = LARGE_INTEGERS, floats: int = LARGE_FLOATS) -> Iterator[None]:
    """Within it, a new large tensor is on meta, a small one real and the same on every run.

    Integers and booleans of up to ``integers`` elements are real, others of up to ``floats``.
    """
    most = _MOST.set((integers, floats))
    state = torch.get_rng_state()
    torch.default_generator.manual_seed(0)
    try:
        with _Weightless():  # type: ignore[no-untyped-call]  # torch leaves it untyped
            yield
    finally:
        torch.set_rng_state(state)
        _MOST.reset(most)


def is_large(numel: int, dtype: torch.dtype) -> bool:
    """Whether a tensor of that many elements is made without values."""
    integers, floats = _MOST.get()
    return numel > (floats if dtype.is_floating_point or dtype.is_complex else integers)


class _Weightless(TorchDispatchMode):
    """Sends to meta every call that makes, or is given, a large tensor."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Keep torch from wrapping the method below, which would import its whole compiler."""
        return False

    def __torch_dispatch__(
        self,
        func: "OpOverload[..., Any]",
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Run the call where its result belongs."""
        kwargs = kwargs or {}
        if not isinstance(func, OpOverload):  # a higher-order operator: no schema to go by
            return func(*args, **kwargs)
        if func in _VALUES_ONLY and args[0].is_meta:
            return args[0]
        if func in _SIZED:
            return _sized(func, args, kwargs)
        if not tree_any(_is_tensor, (args, kwargs)):
            return _factory(func, args, kwargs)
        if tree_any(_is_meta, (args, kwargs)):
            return _mixed(func, args, kwargs)
        return _real(func, args, kwargs)


def _is_tensor(value: Any) -> bool:
    return isinstance(value, torch.Tensor)


def _is_meta(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_meta


def _sized(func: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    dtype = kwargs.get("dtype") or torch.get_default_dtype()
    if is_large(math.prod(args[0]), dtype):
        return func(*args, **{**kwargs, "device": _META})
    made = func(*args, **kwargs)
    # whatever memory held would make two runs differ
    return made.zero_() if func is _aten.empty.memory_format else made


def _factory(func: "OpOverload[..., Any]", args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    if "device" in kwargs or any(arg.name == "device" for arg in func._schema.arguments):
        trial = func(*args, **{**kwargs, "device": _META})
        if is_large(trial.numel(), trial.dtype):
            return trial
    return func(*args, **kwargs)


def _mixed(func: "OpOverload[..., Any]", args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Run on meta; a real tensor written in place stays as it is, its new values unknown."""
    if args and not _is_meta(args[0]) and _writes_first(func):
        return args[0]
    args, kwargs = tree_map(_to_meta, (args, dict(kwargs)))
    if "device" in kwargs:
        kwargs = {**kwargs, "device": _META}
    return func(*args, **kwargs)


def _real(func: "OpOverload[..., Any]", args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Run for real, unless the result would be large: an outer product, a repeat."""
    if func.is_view or func._schema.is_mutable:
        return func(*args, **kwargs)
    try:
        trial = _mixed(func, args, kwargs)
    except Exception:  # no shape rule, or one that needs values: whatever it raises, try for real
        return func(*args, **kwargs)
    if tree_any(_is_large_tensor, trial):
        return trial
    return func(*args, **kwargs)


def _writes_first(func: "OpOverload[..., Any]") -> bool:
    alias = func._schema.arguments[0].alias_info
    return alias is not None and alias.is_write


def _is_large_tensor(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and is_large(value.numel(), value.dtype)


def _to_meta(value: Any) -> Any:
    """Give the same shape on meta; a zero-dimensional tensor stays, as PyTorch allows."""
    if not isinstance(value, torch.Tensor) or value.is_meta or value.dim() == 0:
        return value
    return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device=_META)
