"""Composites that a vendor overrides with autograd on - whole on the device, with a gradient.

A vendor's kernel at AutogradPrivateUse1 takes a CompositeImplicitAutograd overload before autograd
takes it apart. Python cannot know that kernel's own gradient; PyTorch's formula of the composite
stands in for it, so that no gradient is missing.

Private torch API used here, checked on 2.13.0: ``OpOverload._op_dk`` (also with the alias key
``Autograd``, PyTorch's own formula), ``torch._C._AutoDispatchBelowAutograd``,
``torch._C._dispatch_dump``, ``torch._C._dispatch_has_kernel``, ``OpOverload.redispatch``,
``torch._C._are_functorch_transforms_active`` and ``Library._destroy``.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import Any, Protocol

import torch
from msgspec import Struct
from torch import Tensor
from torch.utils._pytree import TreeSpec, tree_flatten, tree_leaves, tree_unflatten

from opcheck.model.trace import Composite
from opcheck.trace.torch_internals.dispatcher import (
    SHALLOW_COPY,
    at_key,
    composite_kind,
    function_modes_off,
    implicit_composites,
    overload_named,
    override,
    takes_calls_over,
)
from opcheck.trace.torch_internals.modes import followed

_ATEN = "aten::"
_KEYS: Any = torch._C.DispatchKey  # its stubs know only some
_AUTOCAST = torch._C.DispatchKeySet(_KEYS.AutocastPrivateUse1)

_TRANSFORMED = torch._C.DispatchKeySet(_KEYS.AutogradCPU).add(_KEYS.FuncTorchDynamicLayerBackMode)
"""Leads to PyTorch's own autograd kernel, and from there to functorch's next transform."""


class Gradient(Protocol):
    """The vendor's own gradient of one overload, where it depends on the call."""

    def kernels(
        self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any], needed: frozenset[str]
    ) -> tuple[str, ...] | None:
        """What the backward of this call runs; None where PyTorch differentiates the call.

        ``needed`` holds the schema names of the arguments that need a gradient.
        """


class Listener(Protocol):
    """The device that kernels are registered for: told what it is asked to run."""

    def kernel_ran(self, op: str) -> None:
        """The vendor's own kernel ``op`` runs now; inside :meth:`quiet` that counts no more."""

    def quiet(self) -> AbstractContextManager[None]:
        """Inside, on this thread, is a vendor's kernel: what it runs as is not counted."""

    @property
    def generator(self) -> torch.Generator:
        """What the device draws random numbers from."""


@contextmanager
def overriding(
    ops: Iterable[str], gradients: Mapping[str, tuple[str, ...] | Gradient], device: Listener
) -> Iterator[None]:
    """Register a kernel at AutogradPrivateUse1 for each overload, inside the block.

    Args:
        ops: overloads that the vendor registers there; those that the running torch lacks, or that
            are not CompositeImplicitAutograd, are left as they are.
        gradients: overload -> the overloads that the vendor's own backward of it runs, or what
            finds them for each call. Here an overload need not be composite; one that writes to
            its arguments keeps PyTorch's gradient.
        device: told what these kernels and backwards ask for.
    """
    library = torch.library.Library("aten", "IMPL")
    try:
        for name in sorted({*ops, *gradients}):
            rule = _rule(name, gradients.get(name), device)
            if rule is not None:
                kernel = partial(_kernel, rule)
                library.impl(name.removeprefix(_ATEN), kernel, "AutogradPrivateUse1")
        yield
    finally:
        library._destroy()


def kept_whole(
    ops: Collection[str], answer: Callable[[Any, Any, Any], Any]
) -> AbstractContextManager[None]:
    """Have the dispatcher know of device kernels for composites, inside the block.

    Autograd then leaves them whole, as it does where the device really registers them. ``answer``
    gets the overload, its arguments and the named ones.
    """
    return _composites(ops, partial(_answered, answer), "PrivateUse1")


def taken_apart(
    ops: Collection[str], heard: Callable[[Any, Any, Any, Any], Any]
) -> AbstractContextManager[None]:
    """Have composites tell that autograd takes them apart, inside the block.

    ``heard`` gets the overload, its arguments, the named ones, and what runs it.
    """
    return _composites(ops, partial(_heard, heard), "AutogradPrivateUse1")


@contextmanager
def _composites(ops: Collection[str], kernel: Callable[..., Any], key: str) -> Iterator[None]:
    """Register a kernel for composites that autograd takes apart, inside the block.

    It gets the overload before its arguments.
    """
    library = torch.library.Library("aten", "IMPL")
    try:
        for name in sorted(implicit_composites().intersection(ops) - {SHALLOW_COPY}):
            if _in_aten(name):
                called = partial(kernel, overload_named(name))
                override(library, name.removeprefix(_ATEN), called, key)
        yield
    finally:
        library._destroy()


def _heard(heard: Callable[[Any, Any, Any, Any], Any], func: Any, *args: Any, **kwargs: Any) -> Any:
    __tracebackhide__ = True
    return heard(
        func, args, kwargs, partial(at_key, func, _KEYS.CompositeImplicitAutograd, *args, **kwargs)
    )


def _in_aten(name: str) -> bool:
    """Whether the running torch has an aten overload of this schema name."""
    return name.startswith(_ATEN) and overload_named(name) is not None


def _answered(answer: Callable[[Any, Any, Any], Any], func: Any, *args: Any, **kwargs: Any) -> Any:
    return answer(func, args, kwargs)


class _Rule(Struct, frozen=True):
    """How one overridden overload runs, and how its gradient is found."""

    func: Any
    formula: Callable[..., Any]
    """PyTorch's own way to compute it such that autograd follows."""
    gradient: tuple[str, ...] | Gradient | None
    device: Listener
    composite: bool
    """CompositeImplicitAutograd; else PyTorch's own autograd kernel is the formula."""
    aliases: bool
    """Whether it returns, or writes to, its own arguments."""
    random: bool

    def own_gradient(self, args: Any, kwargs: Any) -> tuple[str, ...] | None:
        """What the vendor's backward of this call runs; None where PyTorch's formula does."""
        if self.gradient is None or isinstance(self.gradient, tuple):
            return self.gradient
        names = (argument.name for argument in self.func._schema.arguments)
        named = dict(zip(names, args, strict=False)) | kwargs
        needed = (n for n, value in named.items() if any(map(_needs_gradient, tree_leaves(value))))
        return self.gradient.kernels(self.func, args, kwargs, frozenset(needed))


def _rule(name: str, gradient: tuple[str, ...] | Gradient | None, device: Listener) -> _Rule | None:
    if not _in_aten(name):
        return None
    func = overload_named(name)
    aliases = any(argument.alias_info is not None for argument in func._schema.arguments)
    composite = composite_kind(name) is Composite.IMPLICIT
    if composite:
        key = _KEYS.CompositeImplicitAutograd
    elif gradient is not None and not aliases and has_formula(name):
        key = _KEYS.Autograd
    else:
        return None
    random = torch.Tag.nondeterministic_seeded in func.tags
    return _Rule(func, partial(at_key, func, key), gradient, device, composite, aliases, random)


def has_formula(name: str) -> bool:
    """Whether PyTorch has a gradient of its own for an overload, of any device."""
    return "\nAutograd[alias]:" in torch._C._dispatch_dump(name)


def _kernel(rule: _Rule, *args: Any, **kwargs: Any) -> Any:
    """What runs at AutogradPrivateUse1."""
    flat, spec = tree_flatten((args, kwargs))
    if not (torch.is_grad_enabled() and any(map(_needs_gradient, flat))):
        with torch._C._AutoDispatchBelowAutograd():
            return rule.func(*args, **kwargs)
    if torch._C._are_functorch_transforms_active() and not rule.composite:
        with function_modes_off() if takes_calls_over() else nullcontext():
            return rule.func.redispatch(_TRANSFORMED, *args, **kwargs)
    if rule.aliases or torch._C._are_functorch_transforms_active():
        rule.device.kernel_ran(rule.func.name())
        with rule.device.quiet():
            return rule.formula(*args, **kwargs)
    own = rule.own_gradient(args, kwargs)
    if own is None and not rule.composite:
        return rule.formula(*args, **kwargs)
    shape: list[TreeSpec] = []
    outputs = _Differentiable.apply(rule, own, spec, shape, *flat)  # type: ignore[no-untyped-call]  # torch
    return tree_unflatten(outputs, shape[0])


def _needs_gradient(value: Any) -> bool:
    return isinstance(value, Tensor) and value.requires_grad


class _Differentiable(torch.autograd.Function):
    """The overload run whole; its backward differentiates PyTorch's formula, computed again."""

    @staticmethod
    def forward(
        ctx: Any,
        rule: _Rule,
        own: tuple[str, ...] | None,
        spec: TreeSpec,
        shape: list[TreeSpec],
        *flat: Any,
    ) -> tuple[Any, ...]:
        """Run it below autograd; append to ``shape`` how its outputs are nested."""
        ctx.set_materialize_grads(False)  # zeros would be asked of the device
        ctx.rule, ctx.own, ctx.spec = rule, own, spec
        ctx.random_state = rule.device.generator.get_state() if rule.random else None
        ctx.save_for_backward(*(value for value in flat if isinstance(value, Tensor)))
        ctx.rest = [None if isinstance(value, Tensor) else (value,) for value in flat]
        args, kwargs = tree_unflatten(flat, spec)
        with torch._C._AutoDispatchBelowAutograd(), followed():
            outputs, made = tree_flatten(rule.func(*args, **kwargs))
        shape.append(made)
        ctx.mark_non_differentiable(
            *(v for v in outputs if isinstance(v, Tensor) and not _continuous(v))
        )
        return tuple(outputs)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> tuple[Any, ...]:
        """Give the gradient of each flat argument, and none for what is not one."""
        device: Listener = ctx.rule.device
        for name in ctx.own or ():
            device.kernel_ran(name)
        with device.quiet():
            inputs, outputs = _again(ctx)
        with nullcontext() if ctx.own is None else device.quiet():
            found = _gradients(ctx, inputs, outputs, grads)
        return (*[None] * _BEFORE, *found)


_WRITTEN = frozenset({"running_mean", "running_var"})
"""Arguments of norms that are written to, of which their schemas say nothing."""
_BEFORE = 4
"""Arguments of ``forward`` that stand before the overload's own."""


def _again(ctx: Any) -> tuple[list[Any], list[Any]]:
    """Compute PyTorch's formula from the saved arguments; give what it took and gave, flat."""
    saved = iter(ctx.saved_tensors)
    inputs = [
        _own(next(saved), needed) if kept is None else kept[0]
        for kept, needed in zip(ctx.rest, ctx.needs_input_grad[_BEFORE:], strict=True)
    ]
    args, kwargs = _with_copies(ctx.rule.func, *tree_unflatten(inputs, ctx.spec))
    with (
        torch.enable_grad(),
        torch._C._ExcludeDispatchKeyGuard(_AUTOCAST),  # casts came before
        _random_from(ctx.rule.device.generator, ctx.random_state),
    ):
        return inputs, tree_flatten(ctx.rule.formula(*args, **kwargs))[0]


def _with_copies(func: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """The arguments with copies of statistics, which were written when the call was first made."""
    names = [argument.name for argument in func._schema.arguments]
    copied = [_copy(name, value) for name, value in zip(names, args, strict=False)]
    return copied, {name: _copy(name, value) for name, value in kwargs.items()}


def _copy(name: str, value: Any) -> Any:
    return value.clone() if name in _WRITTEN and isinstance(value, Tensor) else value


def _own(tensor: Tensor, needed: bool) -> Tensor:
    """The tensor as an end of the formula's graph; part of the outer graph if that is followed.

    An argument may be computed from another, so the arguments themselves cannot be those ends.
    """
    if not needed:
        return tensor
    if torch.is_grad_enabled():
        return torch.ops.aten.alias.default(tensor)  # type: ignore[no-any-return]  # untyped ops
    return tensor.detach().requires_grad_()


def _gradients(
    ctx: Any, inputs: Sequence[Any], outputs: Sequence[Any], grads: Sequence[Tensor | None]
) -> list[Tensor | None]:
    """The gradient of each input that needs one, in their order; None for all others."""
    wanted = [i for i, needed in enumerate(ctx.needs_input_grad[_BEFORE:]) if needed]
    given = [
        (output, grad)
        for output, grad in zip(outputs, grads, strict=True)
        if grad is not None and output.requires_grad
    ]
    found: list[Tensor | None] = [None] * len(inputs)
    if not given:
        return found
    computed = torch.autograd.grad(
        [output for output, _ in given],
        [inputs[i] for i in wanted],
        [grad for _, grad in given],
        create_graph=torch.is_grad_enabled(),
        allow_unused=True,
    )
    for i, gradient in zip(wanted, computed, strict=True):
        found[i] = gradient
    return found


def _continuous(tensor: Tensor) -> bool:
    return tensor.is_floating_point() or tensor.is_complex()


@contextmanager
def _random_from(generator: torch.Generator, state: Tensor | None) -> Iterator[None]:
    """Draw the same random numbers as at ``state`` inside the block, and go on as before it."""
    if state is None:
        yield
        return
    before = generator.get_state()
    generator.set_state(state)
    try:
        yield
    finally:
        generator.set_state(before)
