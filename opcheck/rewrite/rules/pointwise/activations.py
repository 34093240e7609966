"""Activations and pointwise losses of exponentials and logarithms, from ``exp`` and ``log``."""

import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.model.plan import Label
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call, Outcome
from opcheck.rewrite.draw import FLOATS, Draw


def _widened(x: Tensor) -> Tensor:
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


def _grown(x: Tensor) -> Tensor:
    """``exp(x) - 1``; the first terms of its series where subtracting would leave few digits."""
    small = (x > -0.1) & (x < 0.1)
    y = torch.where(small, x, torch.zeros_like(x))
    series = torch.ones_like(y)
    for term in range(10, 1, -1):
        series = 1 + y / term * series
    series = y * series
    return torch.where(small, series, torch.where(small, torch.zeros_like(x), x).exp() - 1)


def _log_of_more(x: Tensor) -> Tensor:
    """The logarithm of 1 + x, by as much more as x is than what was added to 1."""
    added = ((1 + x) - 1).detach()
    nothing = added == 0
    scale = torch.where(nothing, torch.ones_like(x), x / torch.where(nothing, x + 1, added))
    found = (1 + x).log()
    missing = (found * (scale - 1)).detach()  # apart, so that the gradient stays 1 / (1 + x)
    return torch.where(nothing, x, found + missing)


def log_sigmoid(self: Tensor) -> Tensor:
    """The smaller of x and 0, less the logarithm of 1 + exp(-|x|)."""
    x = _widened(self)
    decay = torch.where(x < 0, x, -x).exp()
    smaller = torch.where(x < 0, x, torch.zeros_like(x))
    smaller = torch.where(x == 0, x / 2, smaller)  # half of its gradient belongs to each side
    decay = torch.where(x == 0, decay.detach(), decay)
    return (smaller - _log_of_more(decay)).to(self.dtype)


def log_sigmoid_forward(self: Tensor) -> tuple[Tensor, Tensor]:
    """The same, and exp(-|x|) beside it."""
    x = _widened(self)
    decay = torch.where(x < 0, x, -x).exp()
    return log_sigmoid(self), decay.detach().to(self.dtype)


def elu(self: Tensor, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> Tensor:
    """``alpha * (exp(x) - 1)`` below 0, x above."""
    x = _widened(self)
    below = torch.where(x <= 0, x, torch.zeros_like(x)) * input_scale
    return torch.where(x <= 0, _grown(below) * (alpha * scale), x * scale).to(self.dtype)


def elu_here(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """``elu``, written into ``input`` where that is asked for."""
    found = elu(input, alpha)
    return input.copy_(found) if inplace else found


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """``elu`` with the slope and the scale that keep mean and variance."""
    found = elu(input, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946)
    return input.copy_(found) if inplace else found


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """``elu`` whose slope has no step at 0."""
    found = elu(input, alpha, 1.0, 1 / alpha)
    return input.copy_(found) if inplace else found


def softshrink(self: Tensor, lambd: float = 0.5) -> Tensor:
    """Nearer to 0 by lambd, and 0 from there on."""
    kept = torch.where(self > lambd, self - lambd, self + lambd)
    zero = torch.where(self != self, self, torch.zeros_like(self))
    inside = (self >= -lambd) & (self <= lambd)
    return torch.where(inside | (self != self), zero, kept)


def hardshrink(self: Tensor, lambd: float = 0.5) -> Tensor:
    """0 where x is near it."""
    inside = (self >= -lambd) & (self <= lambd)
    return torch.where(inside, torch.zeros_like(self), self)


def logit(self: Tensor, eps: float | None = None) -> Tensor:
    """The logarithm of x less that of 1 - x."""
    x = _widened(self)
    if eps is not None:
        inside = (x >= eps) & (x <= 1 - eps)
        low = torch.where(x < eps, torch.full_like(x, eps), torch.full_like(x, 1 - eps))
        x = torch.where(inside | (x != x), x, low)
    else:  # no probability, and no gradient
        outside = (x < 0) | (x > 1)
        x = x * torch.where(outside, torch.full_like(x, math.nan), torch.ones_like(x))
    return (x.log() - (1 - x).log()).to(self.dtype)


def binary_cross_entropy(
    self: Tensor, target: Tensor, weight: Tensor | None = None, reduction: int = 1
) -> Tensor:
    """``-(t log x + (1 - t) log(1 - x))``, each logarithm at least -100."""
    x, wanted = _widened(self), _widened(target)
    yes, no = _at_least(x.log()), _at_least((1 - x).log())
    loss = -(wanted * yes + (1 - wanted) * no)
    loss = loss if weight is None else loss * weight
    if reduction == 1:
        loss = loss.mean()
    return (loss.sum() if reduction == 2 else loss).to(self.dtype)


def _reduction(size_average: bool | None, reduce: bool | None, reduction: str) -> int:
    """The number of a reduction, by its name or by the flags that it had once."""
    if size_average is None and reduce is None:
        return ("none", "mean", "sum").index(reduction)
    if reduce is not None and not reduce:
        return 0
    return 1 if size_average is None or size_average else 2


def binary_cross_entropy_by_name(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """``binary_cross_entropy`` as users call it."""
    how = _reduction(size_average, reduce, reduction)
    return binary_cross_entropy(input, target, weight, how)


def _at_least(x: Tensor) -> Tensor:
    return torch.where(x < -100, torch.full_like(x, -100), x)


def kl_div(self: Tensor, target: Tensor, reduction: int = 1, *, log_target: bool = False) -> Tensor:
    """``t (log t - x)``, where t is 0 nothing."""
    if log_target:
        loss = target.exp() * (target - self)
    else:
        known = target != 0
        logarithm = torch.where(known, target, torch.ones_like(target)).log()
        loss = torch.where(known, target * logarithm, target * 0) - target * self
    if reduction == 1:
        return loss.mean()
    return loss.sum() if reduction == 2 else loss


def kl_div_by_name(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
    reduction: str = "mean", log_target: bool = False,
) -> Tensor:  # fmt: skip
    """``kl_div`` as users call it: the sum may be one for each row of the batch."""
    if reduction == "batchmean" and size_average is None and reduce is None:
        total = kl_div(input, target, 2, log_target=log_target)
        return total / input.size(0) if input.dim() else total
    how = _reduction(size_average, reduce, reduction)
    return kl_div(input, target, how, log_target=log_target)


def rrelu_with_noise(
    self: Tensor,
    noise: Tensor,
    lower: float = 0.125,
    upper: float = 0.3333333333333333,
    training: bool = False,
    generator: Any = None,
) -> Tensor:
    """Below 0, x by the middle of both slopes."""
    return torch.where(self > 0, self, self * ((lower + upper) / 2))


def rrelu(
    input: Tensor, lower: float = 0.125, upper: float = 0.3333333333333333,
    training: bool = False, inplace: bool = False,
) -> Tensor:  # fmt: skip
    """Below 0, x by the middle of both slopes; in training PyTorch draws them."""
    if training:
        return torch.nn.functional.rrelu(input, lower, upper, training, inplace)
    found = rrelu_with_noise(input, input, lower, upper)
    return input.copy_(found) if inplace else found


class LogSigmoidByLog(Rule):
    """``min(x, 0) - log(1 + exp(-|x|))``, which never overflows.

    ``log1p`` is not asked for: what the sum with 1 loses of exp(-|x|) is given back by a factor, so
    that large x keep all their digits.
    """

    name = "log-sigmoid-by-log"
    label = Label.TOLERANCE
    tolerance = 16.0
    replaces: ClassVar[tuple[str, ...]] = ("aten::log_sigmoid",)
    summary = "Write min(x, 0) - log(1 + exp(-|x|))"
    spellings: ClassVar[tuple[str, ...]] = ("torch.nn.functional.logsigmoid",)
    replace: ClassVar[Callable[..., Any]] = staticmethod(log_sigmoid)

    def refuses(self, call: Call) -> str:
        """Decline everything but real floating-point numbers."""
        return "" if call.args[0].is_floating_point() else "the values are not real floating-point"

    def example(self, op: str, draw: Draw) -> Arguments:
        """Any values."""
        return (draw.tensor(edges=False),), {}


class LogSigmoidForwardByLog(LogSigmoidByLog):
    """``min(x, 0) - log(1 + exp(-|x|))``; ``exp(-|x|)`` is given beside it, for the gradient.

    ``logsigmoid`` comes down to it. The second result is the CPU's; other devices may leave it
    empty, and their gradients do not ask for it.
    """

    name = "log-sigmoid-forward-by-log"
    replaces = ("aten::log_sigmoid_forward",)
    spellings = ()
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.nn.functional.logsigmoid": log_sigmoid
    }
    replace = staticmethod(log_sigmoid_forward)


class EluByExp(LogSigmoidByLog):
    """``alpha * (exp(x) - 1)`` below 0 and ``x`` above.

    Near 0, where the subtraction would leave few digits, the first terms of the series of
    ``exp(x) - 1`` are added instead.
    """

    name = "elu-by-exp"
    replaces = ("aten::elu",)
    summary = "Write alpha * (exp(x) - 1) below 0 and x above"
    spellings = ()
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.nn.functional.elu": elu_here,
        "torch.nn.functional.selu": selu,
        "torch.nn.functional.celu": celu,
    }
    replace = staticmethod(elu)

    def example(self, op: str, draw: Draw) -> Arguments:
        """With several slopes and scales."""
        x = draw.tensor(edges=False)
        return (x, draw.choose((1.0, 0.5)), draw.choose((1.0, 1.05))), {}


class SoftshrinkByWhere(LogSigmoidByLog):
    """``x - lambd`` above ``lambd``, ``x + lambd`` below ``-lambd``, 0 between.

    NaN stays NaN; its gradient is PyTorch's for single values, which its vectors do not share.
    Between, PyTorch's vectors give 0.0, as here, and its single values a 0 with the sign of ``x``.
    """

    name = "softshrink-by-where"
    label = Label.EXACT
    tolerance = 0.0
    replaces: ClassVar[tuple[str, ...]] = ("aten::softshrink",)
    summary = "Choose between x - lambd, x + lambd and 0"
    spellings: ClassVar[tuple[str, ...]] = ("torch.nn.functional.softshrink",)
    replace: ClassVar[Callable[..., Any]] = staticmethod(softshrink)

    def canonical(self, call: Call, outcome: Outcome) -> Outcome:
        """A zero's sign is left open: PyTorch's own depends on where the number lies in memory."""
        results, gradients = outcome
        return [torch.where(r == 0, torch.zeros_like(r), r) for r in results], gradients

    def example(self, op: str, draw: Draw) -> Arguments:
        """With and without a width."""
        return (draw.tensor(dtypes=FLOATS[:2], edges=False), draw.choose((0.5, 0.0, 1.0))), {}


class HardshrinkByWhere(SoftshrinkByWhere):
    """``x`` outside ``-lambd ... lambd``, 0 inside."""

    name = "hardshrink-by-where"
    replaces = ("aten::hardshrink",)
    summary = "Choose between x and 0"
    spellings = ("torch.nn.functional.hardshrink",)
    replace = staticmethod(hardshrink)


class LogitByLog(LogSigmoidByLog):
    """``log(x) - log(1 - x)`` of ``x`` kept between ``eps`` and ``1 - eps``.

    Of the quotient's logarithm the gradient would be NaN at 0 and 1, where it is infinite.
    """

    name = "logit-by-log"
    tolerance = 64.0
    replaces = ("aten::logit",)
    summary = "Write log(x) - log(1 - x)"
    spellings = ("torch.logit", "Tensor.logit", "torch.special.logit")
    replace = staticmethod(logit)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Probabilities, with and without eps; a few lie outside."""
        x = draw.tensor(dtypes=FLOATS[:2], edges=False)
        eps = draw.choose((None, 0.125, 0.25))
        return (x.sigmoid() * draw.choose((1.0, 1.2)), eps), {}


class BinaryCrossEntropyByLog(LogSigmoidByLog):
    """``-(t log x + (1 - t) log(1 - x))`` with logarithms of at least -100, as in PyTorch.

    ``log(1 - x)`` stands for ``log1p(-x)``: for tiny x it is off by a unit in the last place of 1.
    """

    name = "binary-cross-entropy-by-log"
    tolerance = 64.0
    replaces = ("aten::binary_cross_entropy",)
    summary = "Write -(t log x + (1 - t) log(1 - x))"
    spellings = ()
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.nn.functional.binary_cross_entropy": binary_cross_entropy_by_name
    }
    replace = staticmethod(binary_cross_entropy)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Probabilities, with and without weights, every reduction."""
        dtype, shape = draw.choose(FLOATS[:2]), draw.shape(1, 3, smallest=1)
        x, t, w = (draw.tensor(shape, (dtype,), edges=False).sigmoid() for _ in range(3))
        return (x, t.round(decimals=1), w if draw.flag() else None, draw.integer(0, 2)), {}


class KlDivByLog(LogSigmoidByLog):
    """``t (log t - x)``, or ``exp(t) (t - x)`` of a target that is a logarithm itself.

    Where t is 0 it adds nothing.
    """

    name = "kl-div-by-log"
    tolerance = 128.0
    replaces = ("aten::kl_div",)
    summary = "Write t * (log t - x)"
    spellings = ("torch.kl_div",)
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.nn.functional.kl_div": kl_div_by_name
    }
    replace = staticmethod(kl_div)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Distributions as probabilities or as logarithms, every reduction."""
        dtype, shape = draw.choose(FLOATS[:2]), draw.shape(1, 3, smallest=1)
        x, t = (draw.tensor(shape, (dtype,), edges=False).sigmoid() for _ in range(2))
        log = draw.flag()
        return (x.log(), t.log() if log else t, draw.integer(0, 2)), {"log_target": log}


class RreluByWhere(SoftshrinkByWhere):
    """Outside training, ``x`` above 0 and ``x`` by the middle of both slopes below."""

    name = "rrelu-by-where"
    replaces = ("aten::rrelu_with_noise",)
    summary = "Choose between x and x by the middle of both slopes"
    spellings = ()
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {"torch.nn.functional.rrelu": rrelu}
    replace = staticmethod(rrelu_with_noise)

    def refuses(self, call: Call) -> str:
        """Decline training, where the slope is random."""
        return "in training the slope is random" if call.given("training") else ""

    def example(self, op: str, draw: Draw) -> Arguments:
        """With several slopes."""
        x = draw.tensor(dtypes=FLOATS[:2])
        return (x, torch.zeros_like(x), draw.choose((0.125, 0.25)), 0.375, draw.flag()), {}
