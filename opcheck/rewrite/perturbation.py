"""A model's own overloads perturbed by as much as what replaces them may be off."""

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.library import Library
from torch.utils._pytree import tree_map
from torch.utils.hooks import RemovableHandle

from opcheck.model.emulation import is_gradient
from opcheck.model.jobs import Tolerance
from opcheck.model.trace import OpName
from opcheck.rewrite.variants import functional
from opcheck.trace.torch_internals.dispatcher import overload_named

HEADROOM = 4.0
"""How many times its stated tolerance an overload is moved: that is of other values and sizes."""
DRAWS = 3
"""How often a model is moved: once all values up, and otherwise each up or down by chance."""
CAN_MOVE = hasattr(torch.library, "get_kernel")
"""Whether this torch gives the kernels that are taken the place of: 2.9 and later do."""
_KEYS = ("CPU", "AutogradCPU")

Kernel = Callable[..., Any]


class Perturbation:
    """Moves what some overloads give, and the gradients that go back through them."""

    def __init__(self, tolerances: Mapping[str, float], draw: int) -> None:
        """Take what to move, and how.

        Args:
            tolerances: overload -> how far its results are moved, in ``eps`` of the largest; what
                goes back through it is moved by a rounding at least, since what replaces it has
                autograd add up in another order.
            draw: which way, from 0.
        """
        self._far = {n: far * HEADROOM for op, far in tolerances.items() for n in forms(op)}
        self._bases = {functional(name) for name in self._far}
        self._random = torch.Generator().manual_seed(draw) if draw else None
        self._inside: set[str] = set()
        self._hooks: list[RemovableHandle] = []
        self._quiet = False
        self.met: set[str] = set()
        """Overloads that were called, all of an operator's forms under its functional one."""
        self.without: set[tuple[str, str]] = set()
        """Of those, a call and another overload that was not called inside of it."""
        self._within: list[set[str]] = [set()]

    def kernel(self, name: str, original: Any) -> Kernel:
        """The kernel to register in place of an overload's own."""
        func = overload_named(name)

        def moved(keys: Any, *args: Any, **kwargs: Any) -> Any:
            args, kwargs = _boxed(func, args, kwargs)
            if self._quiet or name in self._inside:
                return original.call_boxed(keys, *args, **kwargs)
            self._inside.add(name)
            self._within.append(set())
            try:
                if func._schema.is_mutable:
                    result = original.call_boxed(keys, *args, **kwargs)
                    return self._each(result, self._written, name)
                self._each((args, kwargs), self._hooked, name)
                return self._each(original.call_boxed(keys, *args, **kwargs), self._result, name)
            finally:
                self._inside.discard(name)
                self._ended(functional(name))

        return moved

    def _ended(self, call: str) -> None:
        """Note what was called inside of a call that has ended."""
        within = self._within.pop()
        self.without |= {(call, other) for other in self._bases - within - {call}}
        self._within[-1] |= within | {call}
        self.met.add(call)

    @property
    def names(self) -> tuple[str, ...]:
        """Every overload that is moved."""
        return tuple(self._far)

    def end(self) -> None:
        """Leave gradients alone from now on."""
        for hook in self._hooks:
            hook.remove()

    def _moved(self, tensor: Tensor, far: float) -> Tensor:
        """The tensor moved by so many ``eps`` of its largest value, up or down."""
        before, self._quiet = self._quiet, True
        try:
            return tensor + self._drawn(tensor.detach(), far)
        finally:
            self._quiet = before

    def _drawn(self, tensor: Tensor, far: float) -> Tensor:
        limits = torch.finfo(tensor.dtype)
        sizes = tensor.abs()
        told = sizes[sizes < limits.max / 2]  # not NaN, infinity or the lowest number, which masks
        largest = float(told.max()) if told.numel() else 0.0
        size = far * limits.eps * largest
        if self._random is None:
            return torch.full_like(tensor, size)
        up = torch.randint(0, 2, tensor.shape, generator=self._random)
        return ((2 * up - 1) * size).to(tensor.dtype)

    def _each(self, value: Any, change: Callable[[Tensor, str], Tensor], name: str) -> Any:
        def changed(leaf: Any) -> Any:
            if isinstance(leaf, Tensor) and (leaf.is_floating_point() or leaf.is_complex()):
                return change(leaf, name)
            return leaf

        return tree_map(changed, value)

    def _result(self, result: Tensor, name: str) -> Tensor:
        return self._moved(result, self._far[name]) if self._far[name] else result

    def _written(self, result: Tensor, name: str) -> Tensor:
        # autograd keeps what the kernel wrote
        result.data.copy_(self._moved(result.detach(), self._far[name]))
        return result

    def _hooked(self, tensor: Tensor, name: str) -> Tensor:
        """Have the whole gradient of an argument moved, whatever else it comes from."""
        far = max(self._far[name], HEADROOM)
        if tensor.requires_grad and torch.is_grad_enabled():
            hook = tensor.register_hook(lambda gradient: self._moved(gradient, far))
            self._hooks.append(hook)
        return tensor


@contextmanager
def moving(tolerances: Mapping[str, float], draw: int) -> Iterator[Perturbation]:
    """Have the host's kernels of overloads, in all their forms, moved inside the block."""
    moving = Perturbation(tolerances, draw)
    libraries: dict[str, Library] = {}
    kernels = [(name, key, torch.library.get_kernel(name, key)) for name, key in _there(moving)]
    try:
        with warnings.catch_warnings():
            # torch tells that a kernel takes the place of another
            warnings.filterwarnings("ignore", message="Warning only once for all operators")
            for name, key, original in kernels:
                op = OpName.parse(name)
                library = libraries.setdefault(op.namespace, Library(op.namespace, "IMPL"))
                kernel = moving.kernel(name, original)
                library.impl(name.partition("::")[2], kernel, key, with_keyset=True)
        yield moving
    finally:
        moving.end()
        for library in libraries.values():
            library._destroy()  # private, checked on 2.13.0


def places(run: Callable[[], object], tolerances: Mapping[str, Tolerance]) -> Mapping[str, float]:
    """What is to be moved on the host: where it runs as something else, the model's own call.

    Args:
        run: runs the model.
        tolerances: overload that is replaced -> how far off, and the calls that it is inside of.
    """
    calls = {call for tolerance in tolerances.values() for call in tolerance.calls}
    known = sorted(call for call in calls if functional(call))
    with moving(dict.fromkeys((*tolerances, *known), 0.0), 0) as seen:
        run()
    far: dict[str, float] = {}
    for op, tolerance in tolerances.items():
        apart = {call for call, other in seen.without if other == functional(op)}
        there = {call for call in tolerance.calls if functional(call) in apart}
        if functional(op) in seen.met:
            there.add(op)
        for name in there or tolerance.calls:
            far[name] = max(far.get(name, 0.0), tolerance.eps)
    return far


def roundings(backward: Mapping[str, Tensor]) -> Mapping[str, float]:
    """How far gradients may be off whatever is replaced: by one rounding of the largest.

    What is far less is left of terms that cancel, such as the sum behind a norm, and other
    roundings leave something else of them. A perturbation of so little shows nothing.
    """
    found = {name: t for name, t in backward.items() if is_gradient(name) and t.numel()}
    kept = {name: t for name, t in found.items() if t.is_floating_point() or t.is_complex()}
    sizes = [float(tensor.abs().nan_to_num(0.0, 0.0).max()) for tensor in kept.values()]
    largest = max(sizes, default=0.0)
    return {name: torch.finfo(t.dtype).eps * largest for name, t in kept.items()}


def _there(moving: Perturbation) -> Iterator[tuple[str, str]]:
    has = torch._C._dispatch_has_computed_kernel_for_dispatch_key  # private, checked on 2.13.0
    for name in moving.names:
        yield from ((name, key) for key in _KEYS if has(name, key))


def _boxed(func: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """Arguments with tensors for the numbers that stand for some: Python's caller gave those."""
    known = func._schema.arguments
    single = {argument.name for argument in known if str(argument.type) == "Tensor"}

    def boxed(name: str, value: Any) -> Any:
        return torch.tensor(value) if name in single and not isinstance(value, Tensor) else value

    return (
        tuple(boxed(argument.name, value) for argument, value in zip(known, args, strict=False)),
        {name: boxed(name, value) for name, value in kwargs.items()},
    )


def forms(op: str) -> tuple[str, ...]:
    """Overloads that compute the same as one: itself, and its in-place and ``out=`` forms."""
    base = functional(op) or op
    name = OpName.parse(base)
    found = {op, base}
    for packet_name in (name.base, f"{name.base}_"):
        packet = getattr(getattr(torch.ops, name.namespace), packet_name, None)
        for overload in () if packet is None else packet.overloads():
            form = str(OpName.parse(getattr(packet, overload).name()))
            if functional(form) == base:
                found.add(form)
    return tuple(sorted(found))
