"""What PyTorch's dispatcher says of an overload, and when it resolves lazy conjugates.

When lazy conjugates and negatives are resolved in a run below autograd. Everywhere else C++ takes a
composite apart under autograd's keys, and only what it becomes meets the keys that resolve:
``matmul`` of a lazy conjugate is an ``mm`` of it. Below autograd those keys would come first, so
they are off, and a call is sent through them when it has got to a kernel.

Copies of lazy conjugates and negatives on a device that copies by ``_copy_from``. PyTorch resolves
such a tensor before any kernel reads it, by a clone; only ``copy_`` takes it as it is. Where
neither ``clone`` nor ``copy_`` is the device's own, both come to ``_copy_from``, which would have
its argument cloned again, for ever, unless the device registers it at the keys that say what to do
with lazy tensors, as torch_musa does. That is taken to be so wherever it must be.

Private torch API used here, checked on 2.13.0: ``torch._C._dispatch_dump`` (for alias keys, which
not every torch answers for otherwise), ``torch._C._dispatch_has_kernel_for_dispatch_key``, that
alias keys are taken, too, by ``torch._C._dispatch_get_registrations_for_dispatch_key``,
``torch._C._dispatch_has_computed_kernel_for_dispatch_key``, ``torch._C._ForceDispatchKeyGuard``,
``torch._C._functorch.peek_interpreter_stack``, ``torch._C._functorch.is_functorch_wrapped_tensor``
and ``torch._functorch.pyfunctorch.temporarily_clear_interpreter_stack``.
``OpOverload.has_kernel_for_dispatch_key`` is no substitute: it counts Python decompositions, which
the dispatcher never runs.

Private torch API used here, checked on 2.6.0, 2.10.0 and 2.13.0: ``Library._destroy``,
``Library.m``, ``OpOverload._op_dk`` and the stack of modes of torch functions in ``torch._C``.
"""

import re
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache, partial
from typing import Any

import torch
from msgspec import Struct
from torch._C import (
    _get_function_stack_at,
    _len_torch_function_stack,
    _pop_torch_function_stack,
    _push_on_torch_function_stack,
)
from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack
from torch.library import Library, fallthrough_kernel
from torch.utils._pytree import tree_leaves

from opcheck.model.trace import Composite, OpName

_ALIAS = re.compile(r"^(Composite\w+)\[alias\]:", re.MULTILINE)
_KEYS = torch._C.DispatchKey
_RESOLVING = (
    torch._C.DispatchKeySet(_KEYS.Conjugate)
    | torch._C.DispatchKeySet(_KEYS.Negative)
    | torch._C.DispatchKeySet(_KEYS.ZeroTensor)
)
_ORDER = (Composite.IMPLICIT, Composite.EXPLICIT, Composite.NON_FUNCTIONAL)


_TO_COPY = torch.ops.aten._to_copy.default
"""A composite that copies into pinned host memory where it need not wait for the copy. Of that
memory C++ asks the device, and Python cannot give it."""
ALIASES = frozenset((torch.ops.aten.detach.default, torch.ops.aten.alias.default))
"""Composites that only make another view of a tensor, without any device work.

They are not taken apart: under a mode, C++ asks Python for ``detach`` from inside them.
"""
SHALLOW_COPY = "aten::_has_compatible_shallow_copy_type"
"""Asked by ``tensor.data = other``, inside our own kernels too: it is no work of the device's."""
RAISING = frozenset(
    {"aten::convolution_overrideable", "aten::convolution_backward_overrideable",
     "aten::_scaled_dot_product_fused_attention_overrideable",
     "aten::_scaled_dot_product_fused_attention_overrideable_backward"}
)  # fmt: skip
"""Their composite kernel only says "replace me", on every device: to have no other is to have none.
"""


class OverloadFacts(Struct, frozen=True):
    """The registrations of one overload in the running torch."""

    name: OpName
    composite: Composite | None
    cpu_kernel: bool
    """A CPU tensor reaches some kernel that computes, its own or a composite."""
    backend_select: bool
    """A ``device`` argument decides where it runs although no tensor is there."""
    view: bool
    """Gives another view of its argument's storage, or changes its sizes in place."""
    noted_view: bool
    """A view that autograd notes by itself: of composites ``chunk`` and ``narrow`` alone."""
    argument_names: tuple[str, ...]
    tensors: tuple[bool, ...]
    """Whether each argument is to be one tensor."""
    returned: tuple[str, ...]
    """For each output the argument that it is; "" for a new one. () where all are new."""
    written: tuple[str, ...]
    """Arguments whose values it writes."""
    defaults: tuple[Any, ...]
    """Default of each argument; an unset one is ``...``."""


@cache
def facts(func: Any) -> OverloadFacts:
    """Look one ``torch._ops.OpOverload`` up in the dispatcher."""
    name = func.name()
    arguments = func._schema.arguments
    return OverloadFacts(
        name=OpName.parse(name),
        composite=None if name in RAISING else composite_kind(name),
        cpu_kernel=name not in RAISING
        and torch._C._dispatch_has_computed_kernel_for_dispatch_key(name, "CPU"),
        backend_select=torch._C._dispatch_has_kernel_for_dispatch_key(name, "BackendSelect"),
        view=_is_view(func),
        noted_view=_is_view(func)
        and torch._C._dispatch_has_kernel_for_dispatch_key(name, "ADInplaceOrView"),
        argument_names=tuple(a.name for a in arguments),
        tensors=tuple(str(a.type) == "Tensor" for a in arguments),
        returned=_returned(func._schema),
        written=() if torch.Tag.inplace_view in func.tags else _written(func._schema),
        defaults=tuple(a.default_value if a.has_default_value() else ... for a in arguments),
    )


def overload_named(name: str) -> Any:
    """The ``torch._ops.OpOverload`` of a schema name; None where the running torch has none."""
    namespace, _, rest = name.partition("::")
    base, _, overload = rest.partition(".")
    packet = getattr(getattr(torch.ops, namespace), base, None)
    return None if packet is None else getattr(packet, overload or "default", None)


@cache
def known_to_cpu(op: str) -> bool:
    """Whether a CPU can run the overload of this schema name; False of one that torch lacks."""
    func = overload_named(op)
    return func is not None and facts(func).cpu_kernel


def _is_view(func: Any) -> bool:
    if torch.Tag.inplace_view in func.tags:
        return func._schema.name not in ("aten::resize_", "aten::resize_as_", "aten::set_")
    returned = any(r.alias_info and not r.alias_info.is_write for r in func._schema.returns)
    return returned and not func._schema.is_mutable


def _returned(schema: Any) -> tuple[str, ...]:
    if not schema.is_mutable:
        return ()
    written = {
        alias: argument.name
        for argument in schema.arguments
        if argument.alias_info is not None and argument.alias_info.is_write
        for alias in argument.alias_info.before_set
    }
    return tuple(
        next((written[a] for a in r.alias_info.before_set if a in written), "")
        if r.alias_info is not None
        else ""
        for r in schema.returns
    )


def _written(schema: Any) -> tuple[str, ...]:
    arguments = schema.arguments if schema.is_mutable else ()
    return tuple(a.name for a in arguments if a.alias_info is not None and a.alias_info.is_write)


def composite_kind(name: str) -> Composite | None:
    """Which alias-key kernel the overload has; the implicit one wins, as in the dispatcher."""
    kinds = set(_ALIAS.findall(torch._C._dispatch_dump(name)))
    return next((kind for kind in _ORDER if kind.value in kinds), None)


def registered_at(key: str) -> frozenset[str]:
    """Overloads with a kernel for a dispatch key or an alias key; to ask for each takes longer."""
    return frozenset(torch._C._dispatch_get_registrations_for_dispatch_key(key))


def implicit_composites() -> frozenset[str]:
    """Those of which :func:`composite_kind` says so; for a few, that is as quick."""
    return registered_at(Composite.IMPLICIT.value)


def run_composite(func: Any, kind: Composite, args: Any, kwargs: Any) -> Any:
    """Run the composite kernel itself; what it calls goes through the dispatcher as usual."""
    key = getattr(torch._C.DispatchKey, kind.value)
    if func is _TO_COPY and kwargs.get("non_blocking"):
        kwargs = {**kwargs, "non_blocking": False}
    if torch._C._functorch.peek_interpreter_stack() is None or _in_transform(args, kwargs):
        return _run(func, key, args, kwargs)
    # Below vmap tensors are plain already; its layers would batch the inner calls again.
    with temporarily_clear_interpreter_stack():
        return _run(func, key, args, kwargs)


CALLS_ANEW = "calls_anew"
"""The attribute that marks such a mode."""


def at_key(func: Any, key: Any, *args: Any, **kwargs: Any) -> Any:
    """Run the kernel that an overload has at a dispatch key.

    A mode of torch functions that is on, as in a backward that a mode runs, would be handed the
    overload without the key, and call whatever kernel comes first. Tensors go on to hear what a
    kernel in Python does with them.
    """
    __tracebackhide__ = True
    if not takes_calls_over():
        return func._op_dk(key, *args, **kwargs)
    with function_modes_off():
        return func._op_dk(key, *args, **kwargs)


def takes_calls_over() -> bool:
    """Whether a mode of ours is on that calls functions anew; those of an export hear of them."""
    stack = range(_len_torch_function_stack())
    return any(hasattr(_get_function_stack_at(place), CALLS_ANEW) for place in stack)


@contextmanager
def function_modes_off() -> Iterator[None]:
    """Have no mode of torch functions be on inside the block, as inside of what a mode calls."""
    modes = [_pop_torch_function_stack() for _ in range(_len_torch_function_stack())]
    try:
        yield
    finally:
        for mode in reversed(modes):
            _push_on_torch_function_stack(mode)


def _run(func: Any, key: Any, args: Any, kwargs: Any) -> Any:
    """Run the kernel of a key; of tensors that C++ made of numbers, most overloads take those."""
    run = partial(at_key, func) if takes_calls_over() else func._op_dk
    try:
        return run(key, *args, **kwargs)
    except RuntimeError as error:
        refused = f"{func._schema.name}() Expected a value of type 'Tensor'"
        if not str(error).startswith(refused):
            raise
    return run(key, *_as_tensors(func, args), **kwargs)


def _as_tensors(func: Any, args: Any) -> list[Any]:
    """The arguments with tensors for numbers, of the dtypes that numbers have beside the others."""
    found = next((value for value in args if isinstance(value, torch.Tensor)), None)
    # one of the host stands for it: to ask one of the device would be seen
    other = 0 if found is None else torch.empty((1,) * found.dim(), dtype=found.dtype)
    wanted = [*facts(func).tensors, *[False] * len(args)]
    return [
        torch.tensor(value, dtype=torch.result_type(other, value))
        if tensor and isinstance(value, int | float | complex)
        else value
        for tensor, value in zip(wanted, args, strict=False)
    ]


def _in_transform(args: Any, kwargs: Any) -> bool:
    """Whether functorch's transforms are still to come for a call's tensors."""
    wrapped = torch._C._functorch.is_functorch_wrapped_tensor
    return any(isinstance(t, torch.Tensor) and wrapped(t) for t in tree_leaves((args, kwargs)))


def resolving_lazy() -> AbstractContextManager[None]:
    """Have C++ resolve lazy conjugates and negatives inside, as it does everywhere else.

    What answers in Python for the dispatcher runs with the keys that do so switched off.
    """
    return _switched_off(torch._C._dispatch_tls_local_exclude_set() - _RESOLVING)


def leaving_lazy() -> AbstractContextManager[None]:
    """Have C++ hand lazy conjugates and negatives on as they are."""
    return _switched_off(torch._C._dispatch_tls_local_exclude_set() | _RESOLVING)


def _switched_off(keys: torch._C.DispatchKeySet) -> AbstractContextManager[None]:
    return torch._C._ForceDispatchKeyGuard(torch._C._dispatch_tls_local_include_set(), keys)


class LazyResolution(threading.local):
    """How far a thread is with the call that it answers."""

    def __init__(self) -> None:
        self.below = False
        """Inside a kernel that C++ runs below autograd: the keys are on."""
        self.sent = False
        """What arrives now has passed the keys."""

    @property
    def due(self) -> bool:
        """Whether a call that gets to a kernel is still to be sent through the keys."""
        return not (self.below or self.sent)

    def send(self, call: Callable[[], Any]) -> Any:
        """Have C++ resolve the arguments of ``call``; each call that comes of it arrives sent."""
        with self._at(self.below, sent=True), resolving_lazy():
            return call()

    def receive(self, answer: Callable[[], Any]) -> Any:
        """Answer a call that was sent; those that it makes are not."""
        with self._at(self.below, sent=False):
            return answer()

    @contextmanager
    def inside(self, kind: Composite) -> Iterator[None]:
        """Inside is a composite kernel, which C++ runs above autograd or below."""
        below = self.below or kind is not Composite.IMPLICIT
        with self._at(below, sent=False), resolving_lazy() if below else leaving_lazy():
            yield

    @contextmanager
    def _at(self, below: bool, *, sent: bool) -> Iterator[None]:
        before = self.below, self.sent
        self.below, self.sent = below, sent
        try:
            yield
        finally:
            self.below, self.sent = before


def override(library: Library, name: str, kernel: Callable[..., Any], key: str) -> None:
    """Register a kernel, over another that Python has registered before, too.

    By default torch's own ``impl`` refuses the second one until 2.10, and 2.6 does so always; what
    it keeps a record for is not needed here.
    """
    assert library.m is not None, "the library was destroyed"
    library.m.impl(name, key, kernel, False)


_COPIES = "aten::_copy_from"
_INSTEAD = ("aten::clone", "aten::copy_")
_LAZY = ("Conjugate", "Negative")


@contextmanager
def copied_as_they_are(registered: Collection[str]) -> Iterator[None]:
    """Have ``_copy_from`` take lazy tensors inside the block, on a device with these kernels."""
    if any(op in registered for op in _INSTEAD):
        yield
        return
    library = Library("aten", "IMPL")
    try:
        for key in _LAZY:
            library.impl(_COPIES.removeprefix("aten::"), fallthrough_kernel, key)
        yield
    finally:
        library._destroy()
