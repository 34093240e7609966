"""Rules for single numbers: each number of a dtype's range, in results and in gradients."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from msgspec import Struct
from torch import Tensor

from benchmarks.labels.near import Function, as_the_operator
from benchmarks.labels.numbers import numbers
from opcheck.model.plan import Label
from opcheck.rewrite.base import Pointwise, Rule, rules
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import FLOATS, INTEGERS, RandomDraw
from opcheck.rewrite.rules.pointwise.activations import LogSigmoidByLog
from opcheck.rewrite.variants import serving
from opcheck.trace.torch_internals.dispatcher import overload_named
from tests.rewrite.elements import LOWEST, REDUCED, called, filled, spaced

_VECTOR = 64
"""Numbers that no vector of the host's is longer than."""
_DRAWS = 40
_DIFFERENTIATED = 3
"""Sets of other arguments of which gradients are taken."""


class Break(Struct, frozen=True):
    """A promise that does not hold."""

    rule: str
    op: str
    what: str
    """The dtype, and what is off: results or gradients."""
    count: int
    example: str


def is_single(rule: Rule) -> bool:
    """Whether each number of a rule's result is made of one of each argument."""
    return isinstance(rule, (Pointwise, LogSigmoidByLog))


def cases() -> list[tuple[Rule, str]]:
    """Rules for single numbers that promise something of each."""
    return [
        (rule, op)
        for rule in rules()
        if is_single(rule) and not rule.random and rule.label is not Label.APPROXIMATE
        for op in rule.replaces
        if op not in REDUCED
    ]


def breaks(rule: Rule, op: str, count: int, seed: int) -> Iterator[Break]:
    """What a rule promises of an overload and does not keep.

    Args:
        rule: one of those that ``cases`` gives.
        op: one of what it replaces.
        count: numbers drawn of each dtype of more than 16 bits.
        seed: of what is drawn.
    """
    known = rule.dtypes if isinstance(rule, Pointwise) else FLOATS
    for dtype in dict.fromkeys((*known, *FLOATS, *INTEGERS)):
        for order, drawn, named in _settings(rule, op, dtype):
            given = _given(op, drawn, dtype, count, seed)
            original = partial(called, overload_named(op), drawn, named)
            replaced = partial(called, serving(op, rule.function(op)), drawn, named)
            try:
                wanted = original(*given)
            except (RuntimeError, NotImplementedError):  # no kernel of this dtype on the host
                continue
            if not wanted.is_complex():
                what = _What(rule, op, dtype, (drawn, named), given)
                yield from _off(what, original, replaced, "results")
                if dtype.is_floating_point and order < _DIFFERENTIATED:
                    yield from _off_gradients(what, original, replaced)


class _What(Struct, frozen=True):
    """What is compared."""

    rule: Rule
    op: str
    dtype: torch.dtype
    drawn: tuple[Sequence[Any], Mapping[str, Any]]
    given: Sequence[Tensor]


def _off(
    what: _What, original: Function, replaced: Function, kind: str, floor: float = 0.0
) -> Iterator[Break]:
    units = what.rule.tolerance if what.rule.label is Label.TOLERANCE else 0.0
    found = replaced(*what.given)
    far = (~as_the_operator(original, what.given, found, units, floor)).nonzero().flatten().tolist()
    if far:
        wanted = original(*what.given)
        others = [value for value in what.drawn[0] if not isinstance(value, Tensor)]
        numbers = [float(x[far[0] % len(x)]) for x in what.given]
        example = f"{numbers} {others} {dict(what.drawn[1])}: {float(wanted[far[0]])!r}, not "
        label = f"{str(what.dtype).removeprefix('torch.')} {kind}"
        shown = f"{example}{float(found[far[0]])!r}"
        yield Break(what.rule.name, what.op, label, len(far), shown)


def _off_gradients(what: _What, original: Function, replaced: Function) -> Iterator[Break]:
    floor = 1.0 if what.rule.cancels else 0.0
    for index in range(len(what.given)):
        wanted = partial(_gradient, original, index)
        try:
            if not original(*_leaves(what.given)).requires_grad:
                return
            wanted(*what.given)
        except (RuntimeError, NotImplementedError):  # the operator has none by this argument
            continue
        yield from _off(what, wanted, partial(_gradient, replaced, index), "gradients", floor)


def _leaves(given: Sequence[Tensor]) -> list[Tensor]:
    return [x.detach().clone().requires_grad_(x.is_floating_point()) for x in given]


def _gradient(function: Function, index: int, *given: Tensor) -> Tensor:
    """Of one argument, laid out as it is given; zeros where nothing leads back to it."""
    leaves = _leaves(given)
    strided = [
        spaced(leaf) if x.stride() != leaf.stride() else leaf
        for leaf, x in zip(leaves, given, strict=True)
    ]
    result = function(*strided)
    if not result.requires_grad:
        return torch.zeros_like(leaves[index])
    (found,) = torch.autograd.grad(result.sum(), [leaves[index]], allow_unused=True)
    # a zero's sign is autograd's, which adds to zeros
    return torch.zeros_like(leaves[index]) if found is None else found + 0.0


def _given(
    op: str, drawn: Sequence[Any], dtype: torch.dtype, count: int, seed: int
) -> list[Tensor]:
    every = numbers(dtype, count, seed)
    if op in LOWEST:
        every = torch.where(every < LOWEST[op], every.abs(), every)
    every = torch.cat([every, torch.ones(_VECTOR, dtype=dtype)])  # no vector is left half full
    places = sum(isinstance(value, Tensor) for value in drawn)
    if places == 1:
        return [every]
    random = torch.Generator().manual_seed(seed)
    drawn_places = [torch.randint(0, len(every), (count,), generator=random) for _ in range(places)]
    last = torch.full((_VECTOR,), len(every) - 1)
    return [every[torch.cat([picked, last])] for picked in drawn_places]


def _settings(
    rule: Rule, op: str, dtype: torch.dtype
) -> Iterator[tuple[int, Sequence[Any], Mapping[str, Any]]]:
    """Every set of other arguments that is drawn for a rule that takes numbers of a dtype."""
    seen: list[object] = []
    for seed in range(_DRAWS):
        drawn, named = rule.example(op, RandomDraw(seed))
        empty = torch.empty(3, dtype=dtype, device="meta")
        call = Call(overload_named(op), filled(drawn, [empty] * len(drawn)), named)
        others = ([x for x in drawn if not isinstance(x, Tensor)], named)
        if others not in seen and not rule.refuses(call):
            seen.append(others)
            yield len(seen) - 1, drawn, named
