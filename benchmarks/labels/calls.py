"""Rules for whole calls: drawn with values of every size, forward and backward."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map

from benchmarks.labels.numbers import WideDraw
from benchmarks.labels.single import Break
from benchmarks.labels.single import cases as single_cases
from opcheck.model.plan import Label
from opcheck.rewrite.base import Rule, rules
from opcheck.rewrite.call import Call, Outcome
from opcheck.rewrite.measure import difference
from opcheck.rewrite.trial import attempt
from opcheck.rewrite.variants import serving
from opcheck.source.building import torchvision_operators
from opcheck.trace.torch_internals.dispatcher import overload_named

ELSEWHERE = (
    "torchvision::deform_conv2d", "apex::fused_layer_norm_affine", "apex::fused_rms_norm_affine",
    "causal_conv1d::causal_conv1d_fn", "flash_attn::flash_attn_func",
    "xformers::memory_efficient_attention",
)  # fmt: skip
"""Without a kernel on the host: compared with plain loops in ``tests/rewrite``."""


def cases() -> list[tuple[Rule, str]]:
    """Rules that promise something of whole results."""
    torchvision_operators.prepare()
    import torchvision  # noqa: F401  # brings the shape rules of its operators

    torchvision_operators.compute()
    single = {(rule.name, op) for rule, op in single_cases()}
    return [
        (rule, op)
        for rule in rules()
        if not rule.random and rule.label is not Label.APPROXIMATE
        for op in rule.replaces
        if op not in ELSEWHERE and (rule.name, op) not in single
    ]


def breaks(rule: Rule, op: str, draws: int, seed: int) -> Iterator[Break]:
    """What a rule promises of an overload and does not keep, in so many drawn calls."""
    told: list[tuple[int, str]] = []
    for number in range(seed, seed + draws):
        trial = attempt(rule, op, _draw(rule, number))
        if trial.wrong and not _as_in_float64(rule, op, number):
            told.append((trial.size, f"{trial.call}: {trial.wrong}"))
    if told:
        yield Break(rule.name, op, "drawn calls", len(told), min(told)[1])


def _draw(rule: Rule, seed: int) -> WideDraw:
    return WideDraw(seed, any_bits=rule.label is Label.EXACT)


def _as_in_float64(rule: Rule, op: str, seed: int) -> bool:
    """Whether the rule gives what the operator gives of float64: then that lost digits.

    Of the smallest results digits are lost in any dtype.
    """
    if rule.label is not Label.TOLERANCE:
        return False
    args, kwargs = rule.example(op, _draw(rule, seed))
    call = Call(overload_named(op), args, kwargs)
    narrow = [x.dtype for x in tree_leaves((args, kwargs)) if _is_float(x)]
    if not narrow:
        return False
    try:
        wanted = rule.canonical(call, _outcome(call, _widened(call.func)))
        found = rule.canonical(call, _outcome(call, serving(op, rule.function(op))))
    except (RuntimeError, NotImplementedError):  # none of this dtype on the host
        return False
    units = rule.tolerance * max(torch.finfo(dtype).eps for dtype in narrow)
    pairs = [(a, b) for a, b in zip(wanted, found, strict=True) if a is not None]
    return all(_is_near(a, b, units) for a, b in pairs)


def _is_near(wanted: Any, found: Any, units: float) -> bool:
    """Within so much of the largest, or of the smallest normal number."""
    for a, b in zip(wanted, found or [], strict=True):
        far = difference([a.to(b.dtype)], [b], zeros=False)
        least = torch.finfo(b.dtype).smallest_normal if b.is_floating_point() else 0.0
        if far.absolute > units * least and far.relative > units:
            return False
    return True


def _is_float(value: object) -> bool:
    return isinstance(value, Tensor) and value.is_floating_point()


def _widened(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same, computed in float64."""

    def wide(value: Any) -> Any:
        return value.double() if _is_float(value) else value

    return lambda *args, **kwargs: function(*tree_map(wide, args), **tree_map(wide, kwargs))


def _outcome(call: Call, function: Callable[..., Any]) -> Outcome:
    """Results, and gradients of all arguments; the same seeds for each function."""
    leaves: list[Tensor] = []

    def leaf(value: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        copy = value.detach().clone()
        if _is_float(copy):
            leaves.append(copy.requires_grad_())
        return copy

    args, kwargs = tree_map(leaf, (tuple(call.args), dict(call.kwargs)))
    results = [r for r in tree_leaves(function(*args, **kwargs)) if isinstance(r, Tensor)]
    back = [result for result in results if result.requires_grad]
    random = torch.Generator().manual_seed(1)
    seeds = [torch.randn(r.shape, generator=random, dtype=torch.float64).to(r.dtype) for r in back]
    detached = [result.detach() for result in results]
    if not back:
        return detached, None
    found = torch.autograd.grad(back, leaves, seeds, allow_unused=True)
    pairs = zip(found, leaves, strict=True)
    return detached, [torch.zeros_like(x) if grad is None else grad for grad, x in pairs]
