"""How far a stand-in is off: both computed on the host, forward and backward, on random values."""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from msgspec import Struct
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map

from opcheck.lang.sentence import Sentence
from opcheck.model.plan import Difference, Label, Measured
from opcheck.model.trace import Node, TensorMeta
from opcheck.rewrite.call import Call, Outcome, call_of

Canonical = Callable[[Call, Outcome], Outcome]
"""Takes from an outcome what the operator promises."""
Valid = Callable[[Call], Call]
"""Makes of a call on random values one that the operator has an answer for."""
Unique = Callable[[Call, Sequence[Tensor]], Sequence[Tensor]]
"""Makes of results what does not depend on a choice that the operator leaves open."""

LARGEST = 1 << 22
"""Elements of all arguments and results together beyond which nothing is computed."""
_NO_GRADIENT = re.compile(r"is not differentiable with respect to argument '(\w+)'")
_NO_AUTOGRAD = "Autograd not support dtype"  # of an operator for inference only, torch 2.13.0
_NEVER_FAR = Difference(0.0, 0.0)
_OTHER_ZERO = Difference(math.ulp(0.0), math.ulp(0.0))
"""Zeros of other signs: nearer to each other than any other two numbers, and not the same bits."""


class UnmeasuredError(Exception):
    """It cannot be computed here; the text says why."""


class NoGradientError(UnmeasuredError):
    """It gives results, and its gradient cannot be computed."""

    def __init__(self, text: str, results: Sequence[Tensor]) -> None:
        super().__init__(text)
        self.results = results
        """What it gives."""
        self.forward = _NEVER_FAR
        """How far that is off, once it was compared."""


def everything(call: Call, outcome: Outcome) -> Outcome:
    """Give all of an outcome."""
    return outcome


def as_drawn(call: Call) -> Call:
    """Take any values for valid ones."""
    return call


def as_given(call: Call, results: Sequence[Tensor]) -> Sequence[Tensor]:
    """Take results for the only ones that there are."""
    return results


def measured(
    node: Node,
    func: Any,
    function: Callable[..., Any],
    canonical: Canonical = everything,
    valid: Valid = as_drawn,
    unique: Unique = as_given,
    *,
    largest: int = LARGEST,
    originals: "Originals | None" = None,
) -> Measured:
    """Compute one recorded call both ways, unless it has more than so many elements.

    ``originals``: shared by what is measured of the same calls, one after the other.

    Raises:
        NoGradientError: the stand-in computes, and has no gradient where the original has one.
        UnmeasuredError: the original, or the stand-in, cannot be computed on the host.
    """
    tensors = [tensor for _, tensor in node.tensors()]
    size = sum(tensor.numel for tensor in (*tensors, *node.output_tensors()))
    if size > largest:
        raise UnmeasuredError(
            Sentence("too large to compute beside the scan: {count} elements", count=f"{size:,}")
        )
    original = (originals or Originals()).of(func, node, valid, unique)
    forward, backward = _compared(original, function, canonical, unique)
    return Measured(inputs(node), forward, backward)


class _Original(Struct, frozen=True):
    """One call, and what its own overload gives for it."""

    call: Call
    still: frozenset[str]
    """Arguments that have no gradient."""
    have: tuple[int, ...]
    """Results that have one."""
    outcome: Outcome


class Originals:
    """What recorded calls give by themselves; that of the last is kept for what else is compared.

    Its values are the same for each, as they are drawn from the same seed.
    """

    def __init__(self) -> None:
        self._last: tuple[object, _Original] | None = None

    def of(self, func: Any, node: Node, valid: Valid, unique: Unique) -> _Original:
        """Compute a recorded call, unless it is the one before.

        Raises:
            UnmeasuredError: it cannot be computed on the host.
        """
        key = node.op, node.arguments, valid, unique
        if self._last is None or self._last[0] != key:
            self._last = None  # its tensors are let go before others are made
            random = torch.Generator().manual_seed(0)
            tensors = [tensor for _, tensor in node.tensors()]
            smallest = min((s for t in tensors for s in t.shape if s), default=1)
            call = call_of(func, node, lambda _, meta: _values(meta, smallest, random))
            self._last = key, _original(valid(call), unique)
        return self._last[1]


def inputs(node: Node) -> tuple[str, ...]:
    """The tensors that a recorded call was given, as a measurement names them."""
    return tuple(f"{name}: {tensor}" for name, tensor in node.tensors())


def compared(
    call: Call,
    function: Callable[..., Any],
    canonical: Canonical = everything,
    unique: Unique = as_given,
) -> tuple[Difference, Difference | None]:
    """Say how far ``function`` is off for one call, in its results and in their gradients.

    Raises:
        UnmeasuredError: either cannot be computed on the host.
    """
    return _compared(_original(call, unique), function, canonical, unique)


def _compared(
    original: _Original, function: Callable[..., Any], canonical: Canonical, unique: Unique
) -> tuple[Difference, Difference | None]:
    call = original.call
    with _reproducible():
        try:
            replaced, _ = _ran(
                call, function, "the stand-in", original.still, unique, original.have
            )
        except NoGradientError as error:
            results, _ = canonical(call, original.outcome)
            error.forward = difference(results, canonical(call, (error.results, None))[0])
            raise
    wanted, gradients = canonical(call, original.outcome)
    found, others = canonical(call, replaced)
    forward = difference(wanted, found)
    if gradients is None:
        return forward, None
    if others is None:  # nothing of the stand-in leads back to its arguments
        others = [torch.zeros_like(gradient) for gradient in gradients]
    return forward, difference(gradients, others, zeros=False)


@contextmanager
def _reproducible() -> Iterator[None]:
    """Random numbers as before after the block, and gradients inside of it."""
    with torch.random.fork_rng(devices=[]), torch.enable_grad():
        yield


def label(best: Label, found: Measured) -> Label:
    """The label that what was measured leaves."""
    differences = [d for d in (found.forward, found.backward) if d is not None]
    if best is Label.EXACT and any(d.absolute for d in differences):
        return Label.TOLERANCE
    return best


def difference(
    wanted: Sequence[Tensor], found: Sequence[Tensor], *, zeros: bool = True
) -> Difference:
    """The largest difference over pairs of tensors; inf where they do not match.

    ``zeros``: whether 0.0 and -0.0 differ. Of a gradient that sign means nothing: autograd takes
    zeros for what has none, and adds to them.
    """
    if len(wanted) != len(found):
        return Difference(math.inf, math.inf)
    worst = _NEVER_FAR
    for a, b in zip(wanted, found, strict=True):
        here = _difference(a, b, zeros)
        worst = max(worst, here, key=lambda d: d.absolute)
    return worst


def _difference(a: Tensor, b: Tensor, zeros: bool) -> Difference:
    if a.shape != b.shape or a.dtype != b.dtype:
        return Difference(math.inf, math.inf)
    if _same_bits(a, b):
        return _NEVER_FAR
    if a.dtype.is_complex:
        a, b = torch.view_as_real(a.resolve_conj()), torch.view_as_real(b.resolve_conj())
    if not a.dtype.is_floating_point:
        wrong = float((a != b).sum())
        return Difference(wrong, wrong) if wrong else _NEVER_FAR
    a, b = a.double(), b.double()
    gap = (a - b).abs_()
    absolute = float(gap.amax()) if gap.numel() else 0.0
    if 0.0 < absolute < math.inf:  # all are numbers: where one is none, so is the largest
        largest = float(a.abs().amax())
        return Difference(absolute, absolute / largest if largest else math.inf)
    same = (a == b) | (a.isnan() & b.isnan())
    if bool(same.all()):
        other = zeros and bool((a.signbit() != b.signbit())[a == 0].any())
        return _OTHER_ZERO if other else _NEVER_FAR
    gap = gap[~same]
    if not bool(gap.isfinite().all()):
        return Difference(math.inf, math.inf)
    finite = a[a.isfinite()].abs()
    largest = float(finite.max()) if finite.numel() else 0.0
    absolute = float(gap.max())
    return Difference(absolute, absolute / largest if largest else math.inf)


_BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def _same_bits(a: Tensor, b: Tensor) -> bool:
    """Whether two tensors are the same to the last bit, which is most often so and fast to see."""
    bits = _BITS.get(a.element_size())
    if bits is None or a.dtype.is_complex or a.dim() == 0:
        return False
    return torch.equal(a.view(bits), b.view(bits))


def _ran(
    call: Call,
    function: Callable[..., Any],
    who: str,
    still: frozenset[str],
    unique: Unique,
    differentiable: Sequence[int] | None = None,
) -> tuple[Outcome, tuple[int, ...]]:
    """Results, what was written beside them, and gradients of all arguments but ``still`` ones.

    Those are of the ``differentiable`` results; of all that have one where that is None. Which
    have one comes last.
    """
    leaves: list[Tensor] = []
    written: list[Tensor] = []
    read: list[tuple[Tensor, Tensor]] = []

    def copied(name: str, value: Any) -> Any:
        def leaf(tensor: Any) -> Any:
            if not isinstance(tensor, Tensor):
                return tensor
            copy = tensor.detach().clone(memory_format=torch.preserve_format)
            if name in _written(call.func):
                written.append(copy)
                return copy
            read.append((tensor, copy))
            if name not in still and (copy.is_floating_point() or copy.is_complex()):
                leaves.append(copy.requires_grad_())
            return copy

        return tree_map(leaf, value)

    names = [argument.name for argument in call.func._schema.arguments]
    args = [copied(name, value) for name, value in zip(names, call.args, strict=False)]
    kwargs = {name: copied(name, value) for name, value in call.kwargs.items()}
    torch.default_generator.manual_seed(0)
    try:
        given = [r for r in tree_leaves(function(*args, **kwargs)) if isinstance(r, Tensor)]
        if any(difference([before], [after.detach()]).absolute for before, after in read):
            raise ValueError("it writes to an argument")  # noqa: TRY301  # told as the others
        results = unique(call, given)
        have = tuple(i for i, result in enumerate(results) if result.requires_grad)
        chosen = have if differentiable is None else differentiable
        beside = unique(call, written) if _only_outs(call.func) else written
        detached = [r.detach() for r in (*results, *beside)]
    except Exception as error:
        raise UnmeasuredError(
            Sentence(f"{who} fails on the host: {{text}}", text=_one_line(error))
        ) from error
    try:
        return (detached, _gradients(results, leaves, chosen)), have
    except Exception as error:
        raise NoGradientError(
            Sentence(f"{who} has no gradient: {{text}}", text=_one_line(error)), detached
        ) from error


def _one_line(error: Exception) -> str:
    """An exception in one line, not all of it where it is long."""
    what = " ".join(str(error).split())
    return f"{type(error).__name__}: {what if len(what) <= _LONG else f'{what[:_LONG]}…'}"


_LONG = 160


def _only_outs(func: Any) -> bool:
    """Whether all that is written to are ``out=`` arguments, in the order of the results."""
    arguments = [a for a in func._schema.arguments if a.name in _written(func)]
    return bool(arguments) and all(a.is_out for a in arguments)


def _written(func: Any) -> frozenset[str]:
    """Arguments that an overload writes to."""
    arguments = func._schema.arguments
    return frozenset(a.name for a in arguments if a.alias_info and a.alias_info.is_write)


def _original(call: Call, unique: Unique) -> _Original:
    """What the overload itself gives.

    PyTorch tells of some only when it is asked for their gradient.
    """
    schema = call.func._schema
    in_place = schema.is_mutable and all(r.alias_info for r in schema.returns)
    still = frozenset(a.name for a in schema.arguments) if in_place else frozenset()
    while True:
        try:
            with _reproducible():
                outcome, have = _ran(call, call.func, "the original", still, unique)
        except UnmeasuredError as error:
            if _NO_AUTOGRAD in str(error) and not still:
                still = frozenset(a.name for a in schema.arguments)
                continue
            told = _NO_GRADIENT.search(str(error))
            if told is None or told[1] in still:
                raise
            still |= {told[1]}
        else:
            return _Original(call, still, have, outcome)


def _gradients(
    results: Sequence[Tensor], leaves: Sequence[Tensor], chosen: Sequence[int]
) -> list[Tensor] | None:
    """Gradients of the chosen results; None where none of them has one."""
    random = torch.Generator().manual_seed(1)
    differentiable: list[Tensor] = []
    seeds: list[Tensor] = []
    for result in (results[index] for index in chosen if index < len(results)):
        wide = torch.complex128 if result.is_complex() else torch.float64
        seed = torch.randn(result.shape, generator=random, dtype=wide).to(result.dtype)
        if result.requires_grad:
            differentiable.append(result)
            seeds.append(seed)
    if not differentiable or not leaves:
        return None
    try:
        found = torch.autograd.grad(differentiable, leaves, seeds, allow_unused=True)
    except (RuntimeError, NotImplementedError) as error:
        known = ("not implemented", "not differentiable", "Could not run")
        if any(text in str(error) for text in known):
            return None
        raise
    return [
        torch.zeros_like(leaf) if grad is None else grad
        for grad, leaf in zip(found, leaves, strict=True)
    ]


def _values(meta: TensorMeta, below: int, random: torch.Generator) -> Tensor:
    """Values that most operators take: numbers around 0, and integers that can be indices."""
    dtype = getattr(torch, meta.dtype)
    if dtype is torch.bool:
        made = torch.randint(0, 2, meta.shape, generator=random).bool()
    elif dtype.is_floating_point or dtype.is_complex:
        wide = torch.complex128 if dtype.is_complex else torch.float64
        made = torch.randn(meta.shape, generator=random, dtype=wide).to(dtype)
    else:
        made = torch.randint(0, below, meta.shape, generator=random).to(dtype)
    return torch.empty_strided(meta.shape, _distinct(meta), dtype=dtype).copy_(made)


def _distinct(meta: TensorMeta) -> Sequence[int]:
    """The strides; plain ones where elements share memory and cannot be written one by one."""
    shared = any(step == 0 and size > 1 for step, size in zip(meta.stride, meta.shape, strict=True))
    return torch.empty(meta.shape, device="meta").stride() if shared else meta.stride
