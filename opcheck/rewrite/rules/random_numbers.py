"""Distributions drawn from uniform and normal numbers."""

import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.lang.sentence import Sentence
from opcheck.model.plan import Label
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import FLOATS, Draw

_STREAM = "the same seed gives other numbers of the same distribution"


def _uniform(like: Tensor, generator: Any) -> Tensor:
    """Numbers from 0 up to but without 1, in float32 at least."""
    wide = torch.float64 if like.dtype == torch.float64 else torch.float32
    return torch.empty(like.shape, dtype=wide, device=like.device).uniform_(generator=generator)


def _normal(like: Tensor, generator: Any) -> Tensor:
    """Standard normal numbers, in float32 at least."""
    wide = torch.float64 if like.dtype == torch.float64 else torch.float32
    return torch.empty(like.shape, dtype=wide, device=like.device).normal_(generator=generator)


def cauchy(
    self: Tensor, median: float = 0.0, sigma: float = 1.0, *, generator: Any = None
) -> Tensor:
    """Tangent of a uniform angle."""
    angle = (_uniform(self, generator) - 0.5) * math.pi
    return (median + sigma * (angle.sin() / angle.cos())).to(self.dtype)


def bernoulli(self: Tensor, p: float = 0.5, *, generator: Any = None) -> Tensor:
    """Ask which uniform numbers are below ``p``."""
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p}")
    return (_uniform(self, generator) < p).to(self.dtype)


def geometric(self: Tensor, p: float, *, generator: Any = None) -> Tensor:
    """Round the logarithm of a uniform number up, to base ``1 - p``."""
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p}")
    trials = (1 - _uniform(self, generator)).log() / math.log1p(-p)
    return trials.ceil().clamp(min=1).to(self.dtype)


def log_normal(
    self: Tensor, mean: float = 1.0, std: float = 2.0, *, generator: Any = None
) -> Tensor:
    """Exponential of a normal number."""
    if std <= 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std}")
    return (mean + std * _normal(self, generator)).exp().to(self.dtype)


def exponential(self: Tensor, lambd: float = 1.0, *, generator: Any = None) -> Tensor:
    """Logarithm of a uniform number."""
    if lambd <= 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd}")
    return (-(1 - _uniform(self, generator)).log() / lambd).to(self.dtype)


def normal(mean: Any, std: Any = 1.0, *, generator: Any = None) -> Tensor:
    """Move and stretch standard normal numbers."""
    parts = [p.detach() for p in (mean, std) if isinstance(p, Tensor)]
    like = parts[0] if len(parts) == 1 else parts[0] + parts[1]
    move = mean.detach() if isinstance(mean, Tensor) else mean
    stretch = std.detach() if isinstance(std, Tensor) else std
    return (move + stretch * _normal(like, generator)).to(parts[0].dtype)


def multinomial(
    self: Tensor, num_samples: int, replacement: bool = False, *, generator: Any = None
) -> Tensor:
    """Take the places that uniform numbers fall in, or those that come first in a race."""
    weights = self.detach()
    weights = weights.float() if weights.dtype in (torch.float16, torch.bfloat16) else weights
    if not replacement:
        race = -(1 - _uniform(weights, generator)).log()
        # a weight of 0 never comes in before one that is more
        speed = torch.where(weights > 0, weights / race, torch.full_like(weights, -1.0))
        return speed.topk(num_samples, -1).indices
    ends = weights.cumsum(-1)
    shape = [*weights.shape[:-1], num_samples]
    at = _uniform(weights.new_empty(shape), generator) * ends.narrow(-1, ends.size(-1) - 1, 1)
    return (ends.unsqueeze(-2) <= at.unsqueeze(-1)).sum(-1)


def rrelu_in_training(
    self: Tensor,
    lower: float = 0.125,
    upper: float = 1.0 / 3,
    training: bool = False,
    generator: Any = None,
) -> Tensor:
    """Multiply what is not positive by uniform numbers."""
    slope = lower + (upper - lower) * _uniform(self, generator)
    return torch.where(self > 0, self, self * slope.to(self.dtype))


def rrelu_in_use(
    self: Tensor,
    lower: float = 0.125,
    upper: float = 1.0 / 3,
    training: bool = False,
    generator: Any = None,
) -> Tensor:
    """Multiply what is not positive by the middle of the range."""
    return torch.nn.functional.leaky_relu(self, (lower + upper) / 2)


def cauchy_(
    self: Tensor, median: float = 0.0, sigma: float = 1.0, *, generator: Any = None
) -> Tensor:
    """Fill with the tangent of uniform angles."""
    return self.copy_(cauchy(self, median, sigma, generator=generator))


def geometric_(self: Tensor, p: float, *, generator: Any = None) -> Tensor:
    """Fill with the logarithm of uniform numbers rounded up, to base ``1 - p``."""
    return self.copy_(geometric(self, p, generator=generator))


def log_normal_(
    self: Tensor, mean: float = 1.0, std: float = 2.0, *, generator: Any = None
) -> Tensor:
    """Fill with the exponential of normal numbers."""
    return self.copy_(log_normal(self, mean, std, generator=generator))


def exponential_(self: Tensor, lambd: float = 1.0, *, generator: Any = None) -> Tensor:
    """Fill with the logarithm of uniform numbers."""
    return self.copy_(exponential(self, lambd, generator=generator))


def rrelu_drawn(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """Multiply what is not positive by uniform numbers in training."""
    if not training:
        return torch.nn.functional.rrelu(input, lower, upper, training, inplace)
    made = rrelu_in_training(input, lower, upper)
    return input.copy_(made) if inplace else made


def rrelu_halfway(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """Multiply what is not positive by the middle of the range out of training."""
    if training:
        return torch.nn.functional.rrelu(input, lower, upper, training, inplace)
    return torch.nn.functional.leaky_relu(input, (lower + upper) / 2, inplace)


class _Drawn(Rule):
    """Results that every call draws anew."""

    label = Label.APPROXIMATE
    random = True
    gives_up = _STREAM
    references: ClassVar[tuple[str, ...]] = (
        "https://github.com/pytorch/pytorch/blob/main/torch/_refs/__init__.py",
    )


class CauchyByTangent(_Drawn):
    """The tangent of an angle that is uniform between -90 and 90 degrees is Cauchy distributed.

    It is taken as sine over cosine, which more targets have than the tangent.
    """

    name = "cauchy-by-tangent"
    replaces = ("aten::cauchy",)
    summary = "Take the tangent of a uniform angle"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {"Tensor.cauchy_": cauchy_}
    replace = staticmethod(cauchy)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Any width and place."""
        x = draw.tensor(draw.shape(high=2, largest=3))
        return (x, draw.choose((0.0, -3.0)), draw.choose((1.0, 0.25))), {}


class BernoulliByUniform(_Drawn):
    """A uniform number from 0 to 1 is below ``p`` with that probability.

    Dropout asks for this where the device has no kernel of its own for it.
    """

    name = "bernoulli-by-uniform"
    replaces = ("aten::bernoulli.p",)
    summary = "Ask which uniform numbers are below the probability"
    replace = staticmethod(bernoulli)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Any probability, the certain ones too."""
        x = draw.tensor(draw.shape(high=2, largest=3))
        return (x, draw.choose((0.5, 0.1, 0.0, 1.0))), {}


class GeometricByLogarithm(_Drawn):
    """How many trials it takes is a uniform number's logarithm to base ``1 - p``, rounded up."""

    name = "geometric-by-logarithm"
    replaces = ("aten::geometric",)
    summary = "Round the logarithm of a uniform number up"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {"Tensor.geometric_": geometric_}
    replace = staticmethod(geometric)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Floating point and integers."""
        x = draw.tensor(draw.shape(high=2, largest=3), (*FLOATS, torch.int64, torch.int32))
        return (x, draw.choose((0.5, 0.1, 0.9))), {}


class LogNormalByExponential(_Drawn):
    """The exponential of a normal number is log-normally distributed by definition."""

    name = "log-normal-by-exponential"
    replaces = ("aten::log_normal",)
    summary = "Take the exponential of a normal number"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {"Tensor.log_normal_": log_normal_}
    replace = staticmethod(log_normal)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Any mean and spread."""
        x = draw.tensor(draw.shape(high=2, largest=3))
        return (x, draw.choose((1.0, -2.0)), draw.choose((2.0, 0.25))), {}


class ExponentialByLogarithm(_Drawn):
    """The negative logarithm of a uniform number is exponentially distributed."""

    name = "exponential-by-logarithm"
    replaces = ("aten::exponential",)
    summary = "Take the negative logarithm of a uniform number"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {"Tensor.exponential_": exponential_}
    replace = staticmethod(exponential)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Any rate."""
        return (draw.tensor(draw.shape(high=2, largest=3)), draw.choose((1.0, 0.25, 3.0))), {}


class NormalByStandardNormal(_Drawn):
    """Standard normal numbers are stretched by ``std`` and moved by ``mean``.

    As with the operator, no gradient goes through: for that write ``mean + std * randn_like``.
    """

    name = "normal-by-standard-normal"
    replaces = (
        "aten::normal.Tensor_float",
        "aten::normal.float_Tensor",
        "aten::normal.Tensor_Tensor",
    )
    summary = "Stretch and move standard normal numbers"
    spellings = ("torch.normal",)
    replace = staticmethod(normal)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Means and spreads that broadcast."""
        dtype = (draw.choose(FLOATS),)
        shape = draw.shape(high=2, largest=3)
        mean = draw.tensor(shape, dtype, edges=False)
        std = draw.tensor(shape, dtype, edges=False).abs()
        if op.endswith("Tensor_float"):
            return (mean, draw.choose((1.0, 0.25))), {}
        if op.endswith("float_Tensor"):
            return (draw.choose((0.0, -2.0)), std), {}
        return (mean, std), {}


class MultinomialByUniform(_Drawn):
    """Places of a multinomial are where uniform numbers fall, or who is first in a race.

    With replacement, uniform numbers fall between the running sums of the weights; without, each
    place draws an exponential number over its weight, and the first ones are taken. Both are how
    PyTorch's own kernels draw. With replacement a table of ``num_samples * categories``
    comparisons is made.
    """

    name = "multinomial-by-uniform"
    replaces = ("aten::multinomial",)
    summary = "Compare uniform numbers with running sums of the weights"
    spellings = ("torch.multinomial", "Tensor.multinomial")
    replace = staticmethod(multinomial)

    def refuses(self, call: Call) -> str:
        """Decline a table of comparisons that is too large."""
        weights, count = call.given("self"), call.given("num_samples")
        if call.given("replacement", False) and weights.numel() * count > 1 << 26:
            return Sentence(
                "it would compare {count} times, more than {count_most}",
                count=f"{weights.numel() * count:,}",
                count_most=f"{1 << 26:,}",
            )
        return ""

    def example(self, op: str, draw: Draw) -> Arguments:
        """Some weights are 0."""
        shape = draw.shape(1, 2, smallest=1, largest=4)
        weights = draw.tensor(shape, FLOATS[:2], edges=False).abs()
        weights = torch.where(weights < 0.3, torch.zeros_like(weights), weights) + 0
        weights.select(-1, 0).add_(0.5)
        replacement = draw.flag()
        most = 4 if replacement else int((weights > 0).sum(-1).min())
        return (weights, draw.integer(1, most), replacement), {}


class RreluByUniform(_Drawn):
    """In training each element that is not positive is multiplied by a number of its own."""

    name = "rrelu-by-uniform"
    replaces = ("aten::rrelu",)
    summary = "Multiply what is not positive by uniform numbers"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {"torch.nn.functional.rrelu": rrelu_drawn}
    replace = staticmethod(rrelu_in_training)

    def refuses(self, call: Call) -> str:
        """Leave evaluation to the exact rule."""
        return "" if call.given("training", False) else "out of training nothing is drawn"

    def example(self, op: str, draw: Draw) -> Arguments:
        """In training, and sometimes not."""
        x = draw.tensor(draw.shape(high=2, largest=3), FLOATS[:2], edges=False)
        return (x, 0.125, draw.choose((0.5, 0.125)), draw.integer(0, 4) < 4), {}


class RreluByLeakyRelu(Rule):
    """Out of training ``rrelu`` is ``leaky_relu`` with the middle of its range as slope."""

    name = "rrelu-by-leaky-relu"
    replaces = ("aten::rrelu",)
    summary = "Use leaky_relu with the middle of the range as slope"
    references = ("https://docs.pytorch.org/docs/stable/generated/torch.nn.RReLU.html",)
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.nn.functional.rrelu": rrelu_halfway
    }
    replace = staticmethod(rrelu_in_use)

    def refuses(self, call: Call) -> str:
        """In training slopes are random."""
        return "in training the slopes are random" if call.given("training", False) else ""

    def example(self, op: str, draw: Draw) -> Arguments:
        """Out of training, and sometimes in it."""
        x = draw.tensor(dtypes=FLOATS)
        return (x, 0.125, draw.choose((0.5, 0.125)), draw.integer(0, 4) == 4), {}
