"""The proof of a rule: random calls, beside the operators that it replaces.

Values are compared within ``Rule.tolerance``, and random results by their distribution.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import torch
from msgspec import Struct
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map

from opcheck.lang.sentence import Sentence, sentence_of
from opcheck.model.plan import Difference, Label, RuleCheck
from opcheck.rewrite.base import Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import Draw, RandomDraw
from opcheck.rewrite.measure import UnmeasuredError, compared
from opcheck.rewrite.variants import serving
from opcheck.trace.torch_internals.dispatcher import overload_named

FEW = 30
"""Draws that tell a wrong shape, dtype, sign or scale."""
_PROJECTIONS = 4
_ODDS = 1e-7
"""How often a right function may be taken for a wrong one, for each distribution compared."""


def unlike(call: Call, function: Callable[..., Any], draws: int = FEW) -> str:
    """Say how ``function`` is unlike the overload of a call; "" where no difference is seen.

    Shapes and dtypes must be the same. Every element of the results, and sums of them with
    random signs, must be distributed alike (two-sample Kolmogorov-Smirnov): by the theorem of
    Cramér and Wold the sums tell whether elements depend on each other as they should.

    Args:
        call: of an overload that draws.
        function: takes what the overload takes.
        draws: how often either is called; 2,000 see a difference of 0.1 in probability.
    """
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(1)
        try:
            wanted = [_drawn(call, call.func) for _ in range(draws)]
        except (RuntimeError, NotImplementedError):
            return ""  # nothing to be like
        torch.default_generator.manual_seed(2)
        try:
            found = [_drawn(call, function) for _ in range(draws)]
        except Exception as error:
            return Sentence("the stand-in fails on the host: {text}", text=error)
    for a, b in zip(wanted[0], found[0], strict=True):
        if (a.shape, a.dtype) != (b.shape, b.dtype):
            return f"{b.dtype}{list(b.shape)} instead of {a.dtype}{list(a.shape)}"
    pairs = zip(zip(*wanted, strict=True), zip(*found, strict=True), strict=True)
    distance = max((_distance(_flat(a), _flat(b)) for a, b in pairs), default=0.0)
    allowed = math.sqrt(-math.log(_ODDS / 2) / draws)
    return (
        Sentence("distributions are {figure} apart", figure=f"{distance:.2f}")
        if distance > allowed
        else ""
    )


def _drawn(call: Call, function: Callable[..., Any]) -> list[Tensor]:
    def copied(value: object) -> object:
        return value.clone() if isinstance(value, Tensor) else value

    args, kwargs = tree_map(copied, (tuple(call.args), dict(call.kwargs)))
    return [r for r in tree_leaves(function(*args, **kwargs)) if isinstance(r, Tensor)]


def _flat(draws: Sequence[Tensor]) -> Tensor:
    """Draws by elements, with some sums of elements beside them."""
    drawn = torch.stack(list(draws)).reshape(len(draws), -1).double()
    signs = torch.randint(
        0, 2, (drawn.size(1), _PROJECTIONS), generator=torch.Generator().manual_seed(0)
    )
    return torch.cat([drawn, drawn.nan_to_num() @ (signs.double() * 2 - 1)], 1)


def _distance(a: Tensor, b: Tensor) -> float:
    """The largest distance between the distribution functions of two samples, by columns."""
    if not a.numel():
        return 0.0
    both = torch.cat([a, b]).t().contiguous()
    below = [
        torch.searchsorted(sample.t().contiguous().sort(-1).values, both, right=True)
        for sample in (a, b)
    ]
    return float((below[0] - below[1]).abs().max()) / len(a)


class Trial(Struct, frozen=True):
    """What came of one call."""

    call: str
    """The call as text."""
    skipped: str = ""
    """Why nothing was compared: the overload itself, or the rule, refuses."""
    wrong: str = ""
    """What is wrong with the rule; "" if nothing is."""
    size: int = 0
    """Elements that it was given."""


def attempt(rule: Rule, op: str, draw: Draw) -> Trial:
    """Draw one call of an overload and compare what the rule gives with what the overload gives."""
    func = overload_named(op)
    args, kwargs = rule.example(op, draw)
    call = Call(func, args, kwargs)
    tried = partial(Trial, shown(call), size=_size(call))
    refused = rule.refuses(_on_meta(call))
    if refused:
        return tried(skipped=refused)
    if rule.random:
        return tried(wrong=unlike(call, serving(op, rule.function(op))))
    try:
        forward, backward = compared(
            call, serving(op, rule.function(op)), rule.canonical, rule.unique
        )
    except UnmeasuredError as error:
        if str(error).startswith("the original"):
            return tried(skipped=sentence_of(error))
        return tried(wrong=sentence_of(error))
    for found, kind in ((forward, "results"), (backward, "gradients")):
        if found is not None and not _close(found, rule, call):
            off = Sentence(
                f"{kind} are off by {{figure}} ({{figure_relative}})",
                figure=f"{found.absolute:g}",
                figure_relative=f"{found.relative:g}",
            )
            return tried(wrong=off)
    return tried()


def shown(call: Call) -> str:
    """A call as text, tensors by dtype, sizes and strides, and few values as they are."""

    def short(value: object) -> str:
        if isinstance(value, Tensor):
            dtype = str(value.dtype).removeprefix("torch.")
            values = f" {value.tolist()}" if value.numel() <= _FEW else ""
            return f"{dtype}{list(value.shape)} strides {list(value.stride())}{values}"
        return repr(value)

    args = map(short, call.args)
    return ", ".join([*args, *(f"{name}={short(v)}" for name, v in call.kwargs.items())])


_FEW = 6
"""Elements of a tensor that are shown."""


def _size(call: Call) -> int:
    given = tree_leaves((call.args, dict(call.kwargs)))
    return sum(value.numel() for value in given if isinstance(value, Tensor))


def _close(found: Difference, rule: Rule, call: Call) -> bool:
    if found.absolute == 0.0:
        return True
    if rule.label is Label.EXACT or math.isinf(found.absolute):
        return False
    return rule.label is Label.APPROXIMATE or found.relative <= rule.tolerance * _eps(call)


def _eps(call: Call) -> float:
    """The coarsest ``eps`` among floating-point arguments."""
    tensors = [t for t in tree_leaves((call.args, dict(call.kwargs))) if isinstance(t, Tensor)]
    known = [t.dtype for t in tensors if t.dtype.is_floating_point or t.dtype.is_complex]
    return max((torch.finfo(dtype).eps for dtype in known), default=torch.finfo(torch.float32).eps)


def _on_meta(call: Call) -> Call:
    def moved(value: object) -> object:
        return value.to("meta") if isinstance(value, Tensor) else value

    args, kwargs = tree_map(moved, (tuple(call.args), dict(call.kwargs)))
    return Call(call.func, args, kwargs)


CALLS = 200
"""Calls of each overload."""


def checked(rules: Iterable[Rule], calls: int = CALLS) -> Iterator[RuleCheck]:
    """Try every overload that each rule replaces; the same calls every time."""
    for rule in rules:
        for op in rule.replaces:
            yield _checked(rule, op, calls)


def _checked(rule: Rule, op: str, calls: int) -> RuleCheck:
    compared = 0
    wrong: list[Trial] = []
    for seed in range(calls):
        trial = attempt(rule, op, RandomDraw(seed))
        compared += not trial.skipped
        if trial.wrong:
            wrong.append(trial)
    small = min(wrong, key=lambda trial: trial.size, default=None)
    text = f"{small.call}: {small.wrong}" if small else ""
    return RuleCheck(rule.name, op, calls, compared, len(wrong), text)
